#!/usr/bin/env python3
"""Runs the problems of an attnprof CSV through PyTorch's attention backends and appends rows in the same schema.

  scripts/torch_peers.py h200.csv                         flash, cudnn and math on the GPU
  scripts/torch_peers.py cpu.csv --device cpu --backends math

Rows get impl torch-flash, torch-cudnn and torch-math. Measured as attnprof does it: cold L2 (a buffer of three times its
size is read before each launch), backends interleaved, CUDA events, the median with its 95% interval, and a sample of
rows checked against float64. Inputs are standard normal from torch's generator, so not the very numbers attnprof used.
Problems that the file has torch rows for already are not run again.
"""

import argparse
import datetime
import os
import random
import socket
import sys
import time
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peer_rows import (PeerError, append_rows, needs_mask, peer_row, read_problems, refusal, settled,  # noqa: E402
                       time_values, visible_keys)

try:
    import torch
    import torch.nn.functional as functional
    from torch.nn.attention import SDPBackend, sdpa_kernel
except ImportError as error:
    sys.exit(f"torch_peers: error: PyTorch 2.5 or newer is needed ({error})")

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION, "math": SDPBackend.MATH}
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}


class Machine:
    """The device: its identity, cold cache, and one timed launch."""

    def __init__(self, name: str):
        self.gpu = name != "cpu"
        if self.gpu and not torch.cuda.is_available():
            raise PeerError("no CUDA device; --device cpu runs the smoke test")
        self.device = torch.device(name if self.gpu else "cpu")
        cache_bytes = 64 << 20
        if self.gpu:
            properties = torch.cuda.get_device_properties(self.device)
            cache_bytes = properties.L2_cache_size
            self.name = properties.name
            self.uuid = f"GPU-{getattr(properties, 'uuid', '')}".replace("GPU-GPU-", "GPU-")
            self.capability = f"{properties.major}.{properties.minor}"
        self.flush_buffer = torch.ones(3 * cache_bytes // 4, dtype=torch.float32, device=self.device)

    def environment(self, example: dict[str, str]) -> dict[str, str]:
        """Columns about the machine. The file's own spelling is kept where it is the same device."""
        values = {"tool_version": f"torch {torch.__version__.split('+')[0]}", "hostname": socket.gethostname(),
                  "counters_status": "off"}
        if self.gpu:
            if example["device_name"] != self.name:
                raise PeerError(f"the file is from '{example['device_name']}', this machine has '{self.name}'")
            same = example.get("device_uuid", "").lower().removeprefix("gpu-") == self.uuid.lower().removeprefix("gpu-")
            copied = ["driver", "ecc", "power_limit_w"] if same else []
            values |= {column: example.get(column, "") for column in copied}
            values |= {"device": "gpu", "device_name": self.name, "compute_capability": self.capability,
                       "device_uuid": example["device_uuid"] if same else self.uuid, "cuda": torch.version.cuda}
        else:
            values |= {"device": "cpu", "device_name": example["device_name"] if example["device"] == "cpu" else "cpu"}
        return values

    def sample(self, work, cold: bool):
        """Enqueues one launch; returns a function that waits and gives its microseconds."""
        if not self.gpu:
            if cold:
                self.flush_buffer.sum()
            start = time.perf_counter()
            work()
            elapsed = (time.perf_counter() - start) * 1e6
            return lambda: elapsed
        # The device idles first, so that everything below is queued before it runs: no time of the host is measured.
        torch.cuda._sleep(600_000)
        if cold:
            self.flush_buffer.sum()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()

        def wait() -> float:
            end.synchronize()
            return start.elapsed_time(end) * 1000

        return wait


def make_operands(problem, machine: Machine):
    generator = torch.Generator(machine.device).manual_seed(problem.seed)
    dtype = DTYPES[problem.cells["dtype"]]

    def normal(heads: int, length: int):
        return torch.randn(problem.batch, heads, length, problem.head_dim, generator=generator, device=machine.device,
                           dtype=dtype)

    return (normal(problem.heads, problem.seqlen_q), normal(problem.kv_heads, problem.seqlen_kv),
            normal(problem.kv_heads, problem.seqlen_kv))


def make_mask(problem, device):
    """Boolean [seqlen_q, seqlen_kv] for what is_causal cannot say; None otherwise."""
    if not needs_mask(problem):
        return None
    center = torch.arange(problem.seqlen_q, device=device)[:, None] + problem.seqlen_kv - problem.seqlen_q
    key = torch.arange(problem.seqlen_kv, device=device)[None, :]
    mask = torch.ones(problem.seqlen_q, problem.seqlen_kv, dtype=torch.bool, device=device)
    if problem.causal:
        mask &= key <= center
    if problem.window:
        mask &= (center - key).abs() < problem.window
    return mask


def make_work(problem, backend: str, operands):
    """A function that runs the attention once with `backend` and no other."""
    q, k, v = operands
    mask = make_mask(problem, q.device)

    def work():
        with sdpa_kernel(BACKENDS[backend]):
            return functional.scaled_dot_product_attention(
                q, k, v, attn_mask=mask, is_causal=bool(problem.causal) and mask is None, scale=problem.scale_factor,
                enable_gqa=problem.heads != problem.kv_heads)

    return work


def verify(problem, operands, output, rows: int = 64) -> dict:
    """Compares a sample of rows with attention in float64. Returns the error columns, status and message."""
    q, k, v = operands
    pick = random.Random(7)
    places = {(0, 0, 0), (problem.batch - 1, problem.heads - 1, problem.seqlen_q - 1)}
    while len(places) < min(rows, problem.batch * problem.heads * problem.seqlen_q):
        places.add((pick.randrange(problem.batch), pick.randrange(problem.heads), pick.randrange(problem.seqlen_q)))
    error_square = reference_square = largest = 0.0
    for b, h, i in sorted(places):
        kv = h // (problem.heads // problem.kv_heads)
        begin, end = visible_keys(problem, i)
        reference = torch.zeros(problem.head_dim, dtype=torch.float64, device=q.device)
        if end > begin:
            scores = k[b, kv, begin:end].double() @ q[b, h, i].double() * problem.scale_factor
            reference = torch.softmax(scores, 0) @ v[b, kv, begin:end].double()
        difference = output[b, h, i].double() - reference
        error_square += float(difference.square().sum())
        reference_square += float(reference.square().sum())
        largest = max(largest, float(difference.abs().max()))
    relative = (error_square / reference_square) ** 0.5 if reference_square > 0 else error_square**0.5
    good = bool(torch.isfinite(output).all()) and relative <= problem.tolerance  # NaN compares false
    return {"status": "ok" if good else "verify-failed", "max_abs_err": largest, "rel_err": relative,
            "tolerance": problem.tolerance, "rows_checked": len(places),
            "message": "" if good else f"rel_err {relative:.3g} against a tolerance of {problem.tolerance:.3g}"}


def try_once(problem, backend: str, work, operands, machine: Machine) -> dict:
    """First launch: does it run, is it right, what memory does it take. A failure becomes the row's status."""
    reasons: list = []
    try:
        if machine.gpu:
            torch.cuda.empty_cache()  # what an earlier backend held, or ran out of
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
        with warnings.catch_warnings(record=True) as reasons:  # torch says as warnings why a backend will not do
            warnings.simplefilter("always")
            output = work()
        values = {}
        if machine.gpu:
            torch.cuda.synchronize()
            values["workspace_bytes"] = max(
                0, torch.cuda.max_memory_allocated() - before - output.numel() * output.element_size())
        return values | verify(problem, operands, output)
    except torch.cuda.OutOfMemoryError as error:
        return {"status": "oom", "message": first_line(error), "available_bytes": torch.cuda.mem_get_info()[0]}
    except RuntimeError as error:
        if "not enough memory" in str(error) or "DefaultCPUAllocator" in str(error):
            return {"status": "oom", "message": first_line(error)}
        refused = "No available kernel" in str(error) or "No viable backend" in str(error)
        why = "; ".join(dict.fromkeys(first_line(w.message).split(" (Triggered")[0] for w in reasons)) if refused else ""
        return {"status": "unsupported" if refused else "failed",
                "message": f"torch's {backend} backend: {why or first_line(error)}"}


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def time_interleaved(works: dict, machine: Machine, cold: bool, options) -> dict[str, list[float]]:
    """Rounds of one launch of each until all intervals are narrow enough or the time is up."""
    for work in list(works.values()) * 2:
        work()
    samples: dict[str, list[float]] = {impl: [] for impl in works}
    deadline = time.monotonic() + options.max_time * len(works)
    while works:
        for _ in range(10):
            pending = [(impl, machine.sample(work, cold)) for impl, work in works.items()]
            for impl, wait in pending:
                samples[impl].append(wait())
        enough = all(settled(values, options.precision) for values in samples.values())
        if enough or time.monotonic() > deadline or min(map(len, samples.values())) >= options.max_samples:
            return samples
    return samples


def library(backend: str) -> str:
    """The column: cuDNN is a library of its own, with its own version; the other backends are PyTorch's code."""
    if backend == "cudnn" and (version := torch.backends.cudnn.version()):
        return f"cuDNN {version // 10000}.{version // 100 % 100}.{version % 100}"
    return f"PyTorch {torch.__version__.split('+')[0]}"


def run_problem(problem, header: list[str], machine: Machine, options) -> list[dict[str, str]]:
    environment = machine.environment(problem.example)
    environment["timestamp"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    environment["command"] = f"scripts/torch_peers.py {options.file} --backends {','.join(options.backends)}"
    wanted = [backend for backend in options.backends if f"torch-{backend}" not in problem.done]
    outcomes = {backend: {"status": "unsupported", "message": refusal(problem, backend)} for backend in wanted}
    able = [backend for backend in wanted if not outcomes[backend]["message"]]
    works = {}
    try:
        operands = make_operands(problem, machine) if able else None
        for backend in able:
            work = make_work(problem, backend, operands)
            outcomes[backend] = try_once(problem, backend, work, operands, machine)
            if outcomes[backend]["status"] == "ok":
                works[backend] = work
    except torch.cuda.OutOfMemoryError as error:  # not even the operands fit
        outcomes |= {backend: {"status": "oom", "message": first_line(error)} for backend in able}
    samples = time_interleaved(works, machine, problem.cells["cache"] == "cold", options)
    for backend, values in samples.items():
        outcomes[backend] |= time_values(values, options.precision, problem.example.get("model_flops", ""))
        outcomes[backend] |= {"warmups": 3, "library": library(backend)}
    return [peer_row(header, problem, f"torch-{backend}", environment, **values) for backend, values in outcomes.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE.csv", help="an attnprof CSV; rows are appended to it")
    parser.add_argument("--device", default="cuda:0", help="cuda:N or cpu (default: cuda:0)")
    parser.add_argument("--backends", default="flash,cudnn,math", type=lambda text: text.split(","))
    parser.add_argument("--max-time", type=float, default=2.0, help="seconds for one case (default: 2)")
    parser.add_argument("--max-samples", type=int, default=1000)
    parser.add_argument("--precision", type=float, default=0.005, help="relative half width of the interval (0.005)")
    options = parser.parse_args()
    try:
        for backend in options.backends:
            if backend not in BACKENDS:
                raise PeerError(f"--backends '{backend}' is unknown; choose from {', '.join(BACKENDS)}")
        header, problems = read_problems(options.file)
        machine = Machine(options.device)
        for number, problem in enumerate(problems, 1):
            rows = run_problem(problem, header, machine, options)
            append_rows(options.file, header, rows)
            verdicts = ", ".join(f"{r['impl']} {r['status']}" + (f" {float(r['tflops']):.3g} TFLOP/s" if r.get("tflops") else "")
                                 for r in rows)
            print(f"[{number}/{len(problems)}] {problem.describe()}: {verdicts or 'in the file already'}", file=sys.stderr)
            if machine.gpu:
                torch.cuda.empty_cache()
    except PeerError as error:
        print(f"torch_peers: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
