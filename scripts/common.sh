# Shared by the scripts of this folder: source it, it does nothing by itself.
# shellcheck shell=bash
set -euo pipefail

script_name=$(basename "$0")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv_python=$root/.venv/bin/python

say() { printf '%s: %s\n' "$script_name" "$*" >&2; }
die() { say "error: $*"; exit 1; }

# as_root CMD...: runs CMD as root, through sudo when we are someone else.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# quietly WHAT CMD...: runs CMD with its output kept in out/setup.log; shows the end of it when CMD fails.
quietly() {
  local what=$1
  shift
  mkdir -p "$root/out"
  local log=$root/out/setup.log
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    die "$what failed (all of its output: $log)"
  fi
}

# Is an NVIDIA driver loaded?
have_nvidia_driver() { [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; }

# Is there a CUDA toolkit where cmake/cuda_headers.cmake looks? CUPTI's range profiler came with CUDA 12.6.
have_cuda_toolkit() {
  local base
  for base in "${CUDA_HOME:-}" /usr/local/cuda /usr/local/cuda/targets/x86_64-linux; do
    [ -n "$base" ] || continue
    if [ -e "$base/include/cuda.h" ] && [ -e "$base/include/nvrtc.h" ] && [ -e "$base/include/cublasLt.h" ] &&
      { [ -e "$base/include/cupti_range_profiler.h" ] || [ -e "$base/extras/CUPTI/include/cupti_range_profiler.h" ]; }; then
      return 0
    fi
  done
  return 1
}

# Those of a toolkit, or the ones that scripts/cuda-wheels brought (contents.txt is the last thing it writes).
have_cuda_headers() { have_cuda_toolkit || [ -e "$root/.cuda/contents.txt" ]; }
