"""Tests of scripts/: what they refuse, and that they append what they should (figures: plots_test.py). Run by scripts/test."""

import csv
import importlib.machinery
import importlib.util
import math
import pathlib
import statistics
import subprocess
import sys
import zipfile

import pytest
import yaml

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent / "scripts"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS))

import peer_rows  # noqa: E402
import results_table  # noqa: E402
from made_rows import COLUMNS, pair, row, write  # noqa: E402


# --- scripts/torch_peers.py: its parts that need no PyTorch ----------------------------------------------------------


def problems_of(tmp_path, rows):
    return peer_rows.read_problems(write(tmp_path / "p.csv", rows))


def test_distinct_problems_are_read_once_with_their_tolerance(tmp_path):
    rows = [*pair(), row("torch-flash", 512), row("naive", 512, tile_m=64, tolerance=0.02), row(seqlen=2048, status="skipped")]
    header, problems = problems_of(tmp_path, rows)
    assert header == COLUMNS
    assert [p.seqlen_q for p in problems] == [512, 1024]
    assert problems[0].done == {"naive", "fused", "torch-flash"}
    assert problems[0].tolerance == 0.02


def test_causal_of_unequal_lengths_is_left_to_the_backend_that_takes_a_mask(tmp_path):
    _, (same, longer) = problems_of(tmp_path, [row(causal=1), row(causal=1, seqlen_kv=2048)])
    assert peer_rows.refusal(same, "flash") == "" and not peer_rows.needs_mask(same)
    assert "top left" in peer_rows.refusal(longer, "flash") and "top left" in peer_rows.refusal(longer, "cudnn")
    assert peer_rows.refusal(longer, "math") == "" and peer_rows.needs_mask(longer)


def test_backward_and_windows_are_refused_by_name(tmp_path):
    _, (backward, window) = problems_of(tmp_path, [row(**{"pass": "bwd"}), row(window=128)])
    assert "bwd" in peer_rows.refusal(backward, "math")
    assert "window" in peer_rows.refusal(window, "flash") and peer_rows.refusal(window, "math") == ""


def test_visible_keys_are_bottom_right_aligned(tmp_path):
    _, (p, w) = problems_of(tmp_path, [row(causal=1, seqlen_q=5, seqlen_kv=2), row(causal=1, window=2, seqlen_q=4, seqlen_kv=4)])
    sizes = [end - begin for begin, end in (peer_rows.visible_keys(p, i) for i in range(5))]
    assert sizes == [0, 0, 0, 1, 2]
    assert [peer_rows.visible_keys(w, i) for i in range(4)] == [(0, 1), (0, 2), (1, 3), (2, 4)]


def test_median_interval_has_the_tabulated_ranks():
    # Ranks of the 95% interval of a median: n=6 -> 1st and 6th, n=10 -> 2nd and 9th, n=20 -> 6th and 15th, n=100 -> 40th and 61st
    for n, low, high in [(6, 1, 6), (10, 2, 9), (20, 6, 15), (100, 40, 61)]:
        assert peer_rows.median_interval([float(x) for x in range(n, 0, -1)]) == (low, high)
    assert peer_rows.median_interval([3.0, 1.0, 2.0]) == (1.0, 3.0)


def test_median_interval_covers_its_share():
    for n in range(6, 60):
        low, high = peer_rows.median_interval([float(x) for x in range(1, n + 1)])
        inside = sum(math.comb(n, j) for j in range(int(low), int(high))) / 2**n
        assert inside >= 0.95
        tighter = sum(math.comb(n, j) for j in range(int(low) + 1, int(high) - 1)) / 2**n
        assert tighter < 0.95


def test_sampling_goes_on_until_the_interval_is_narrow():
    assert not peer_rows.settled([1.0] * 9, 0.005)
    assert peer_rows.settled([1.0] * 10, 0.005)
    assert not peer_rows.settled([1.0, 1.1] * 10, 0.005)


def test_a_peer_row_fits_the_schema_and_leaves_the_unknown_empty(tmp_path):
    header, (problem,) = problems_of(tmp_path, [row()])
    samples = [100.0, 101.0, 99.0, 100.0, 100.0, 100.5]
    values = peer_rows.time_values(samples, 0.005, problem.example["model_flops"])
    new = peer_rows.peer_row(header, problem, "torch-flash", {"tool_version": "torch 2.11.0", "nobody_has_this": 1},
                             status="ok", rel_err=float("nan"), **values)
    assert list(new) == header
    assert new["impl"] == "torch-flash" and new["seqlen_q"] == "1024" and new["min_hbm_bytes"] == "2048"
    assert float(new["time_us"]) == statistics.median(samples) and float(new["tflops"]) == pytest.approx(40.0)
    assert new["rel_err"] == "" and new["hbm_read_bytes"] == "" and new["tile_m"] == ""


@pytest.mark.parametrize("cut", [0, 1, 30])  # of the second row, in whose last cell is a line end
def test_appended_rows_take_the_place_of_a_last_line_that_may_be_cut(tmp_path, cut):
    header = [*(c for c in COLUMNS if c != "command"), "command"]
    path = write(tmp_path / "p.csv", [row(), row("flash2", command="attnprof\nsweep, and so on, and on")], header=header)
    if cut:
        pathlib.Path(path).write_bytes(pathlib.Path(path).read_bytes()[:-cut])
    header, (problem,) = peer_rows.read_problems(path)
    message = 'no kernel, "really"'
    peer_rows.append_rows(path, header, [peer_rows.peer_row(header, problem, "torch-math", {}, status="unsupported",
                                                            message=message)])
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [r["impl"] for r in rows] == ["naive", *(["flash2"] if cut == 0 else []), "torch-math"] and rows[-1]["message"] == message


def test_a_file_that_is_not_from_attnprof_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(peer_rows.PeerError, match="x.csv.*no column 'device'"):
        peer_rows.read_problems(str(path))


def test_torch_rows_on_the_cpu_verify(tmp_path):
    pytest.importorskip("torch")
    path = write(tmp_path / "p.csv", [row(device="cpu", dtype="fp32", seqlen=64, batch=1, heads=4, kv_heads=2, causal=1)])
    result = subprocess.run([sys.executable, SCRIPTS / "torch_peers.py", path, "--device", "cpu", "--backends", "math",
                             "--max-time", "0.2"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    with open(path, newline="") as file:
        last = list(csv.DictReader(file))[-1]
    assert last["impl"] == "torch-math" and last["status"] == "ok" and float(last["time_us"]) > 0


# --- scripts/cuda-wheels ---------------------------------------------------------------------------------------------


@pytest.fixture
def cuda_wheels():
    loader = importlib.machinery.SourceFileLoader("cuda_wheels", str(SCRIPTS / "cuda-wheels"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("cuda_wheels", loader))
    loader.exec_module(module)
    return module


def test_wheels_unpack_to_include_and_lib_with_plain_names(tmp_path, cuda_wheels):
    wheel = tmp_path / "w.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("nvidia/cu13/include/crt/host_config.h", "nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cu13/lib/libnvrtc.alt.so.13",
                     "nvidia/cu13/lib/libnvrtc_static.a", "nvidia/../../../escape.h", "w.dist-info/METADATA"):
            archive.writestr(name, name)
    cuda_wheels.extract(wheel, tmp_path / "cuda", ["libnvrtc.so.*"])
    files = {str(p.relative_to(tmp_path / "cuda")) for p in (tmp_path / "cuda").rglob("*") if not p.is_dir()}
    assert files == {"include/crt/host_config.h", "lib/libnvrtc.so.13", "lib/libnvrtc.so"}
    assert (tmp_path / "cuda/lib/libnvrtc.so").read_text() == "nvidia/cu13/lib/libnvrtc.so.13"


def test_cudnn_comes_for_running_only_and_without_its_headers(tmp_path, cuda_wheels):
    assert "nvidia-cudnn-cu13" not in {name for name, _, _ in cuda_wheels.chosen_wheels(False)}
    libraries = {name: files for name, _, files in cuda_wheels.chosen_wheels(True)}
    assert "libcublasLt.so.*" in libraries["nvidia-cublas"] and "libnvrtc.so.*" in libraries["nvidia-cuda-nvrtc"]
    assert len(libraries) == len(cuda_wheels.chosen_wheels(True))
    wheel = tmp_path / "w.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("nvidia/cudnn/include/cudnn.h", "nvidia/cudnn/lib/libcudnn.so.9", "nvidia/cudnn/lib/libcudnn_graph.so.9"):
            archive.writestr(name, name)
    cuda_wheels.extract(wheel, tmp_path / "cuda", libraries["nvidia-cudnn-cu13"], headers=False)
    files = {str(p.relative_to(tmp_path / "cuda")) for p in (tmp_path / "cuda").rglob("*.9")}
    assert files == {"lib/libcudnn.so.9", "lib/libcudnn_graph.so.9"} and not (tmp_path / "cuda/include").exists()


# --- scripts/results_table.py ----------------------------------------------------------------------------------------


def report(tmp_path, rows, copy_gbps=None):
    return results_table.report(results_table.Results(write(tmp_path / "r.csv", rows)), copy_gbps)


def table_line(text, title, *cells):
    """The line of the table under `title` that begins with these cells, without them."""
    body = text.split(f"**{title}")[1].split("**\n\n")[1].split("\n\n")[0]
    (line,) = [line for line in body.splitlines() if line.startswith("| " + " | ".join(cells) + " |")]
    return [cell.strip() for cell in line.split("|")[1 + len(cells):-1]]


def test_ratios_are_of_the_same_point_with_their_geometric_mean(tmp_path):
    rows = [row("flash3", 512, tflops=200), row("cudnn", 512, tflops=400), row("flash3", 1024, tflops=800),
            row("cudnn", 1024, tflops=400), row("flash3", 2048, tflops=900)]
    text = report(tmp_path, rows)
    assert table_line(text, "TFLOP/s", "64", "no", "flash3") == ["200", "800", "900"]
    assert table_line(text, "TFLOP/s", "64", "no", "cudnn") == ["400", "400", results_table.NOTHING]
    assert table_line(text, "flash3 over cudnn", "64", "no") == ["0.500", "2.000", results_table.NOTHING, "1.000", "0.500"]
    assert "All 2: geometric mean 1.000, smallest 0.500, largest 2.000." in text
    assert "torch" not in text and "GB/s" not in text


def test_two_versions_of_a_peer_are_named_and_the_faster_one_is_the_bar(tmp_path):
    rows = [row("flash3", n, tflops=500) for n in (512, 1024)]
    rows += [row("cudnn", n, tflops=t, library="cuDNN 9.14.0") for n, t in ((512, 1000), (1024, 250))]
    rows += [row("torch-cudnn", n, tflops=t, library="cuDNN 9.19.0") for n, t in ((512, 500), (1024, 500))]
    text = report(tmp_path, rows)
    assert table_line(text, "flash3 over cudnn (cuDNN 9.14.0): ", "64", "no")[:2] == ["0.500", "2.000"]
    assert table_line(text, "flash3 over torch-cudnn (cuDNN 9.19.0): ", "64", "no")[:2] == ["1.000", "1.000"]
    assert table_line(text, "flash3 over cudnn (cuDNN 9.14.0) or torch-cudnn (cuDNN 9.19.0), the faster", "64", "no")[:2] == [
        "0.500", "1.000"]


def test_naive_is_held_against_the_copy_bandwidth_and_bytes_against_their_model(tmp_path):
    rows = [row("naive", 1024, time_us=8, model_hbm_bytes=4000, hbm_read_bytes=2000, hbm_write_bytes=2100),
            row("flash2", 1024, time_us=2, model_hbm_bytes=400, hbm_read_bytes=300, hbm_write_bytes=110)]
    text = report(tmp_path, rows, copy_gbps=1)  # 4000 bytes at 1 GB/s: 4 us
    assert table_line(text, "Time of naive", "64", "no")[0] == "2.00"
    assert table_line(text, "HBM bytes", "64", "no") == ["1.025 .. 1.025", "1.025 .. 1.025"]
    assert table_line(text, "How many times fewer bytes flash2", "64", "no") == ["10.0"]
    assert table_line(text, "How many times faster flash2", "64", "no") == ["4.0"]


def test_tables_leave_out_what_failed_and_what_was_only_counted(tmp_path):
    rows = [row("naive", 1024), row("flash2", 1024, bytes_source="counted"), row("flash3", 1024, status="verify-failed"),
            row("flash2", 1024, tile_m=64, time_us=1, tflops=300)]
    text = report(tmp_path, rows)
    assert "Not ok, left out: flash3 1 verify-failed." in text and "| flash3 |" not in text
    assert table_line(text, "TFLOP/s", "64", "no", "flash2") == ["300"]  # the faster tile
    counted = report(tmp_path, [row("naive", 1024, bytes_source="counted"), row("flash2", 1024, bytes_source="counted")])
    assert "HBM bytes" not in counted and "fewer bytes" not in counted


@pytest.mark.parametrize("second, message", [({"device_name": "Other GPU"}, "one device_name"), ({"dtype": "fp16"}, "one dtype"), ({"rest": 3}, "one rest, the file has 3, none"),
                                             ({"impl": "flash2", "batch": 7}, "two problems")])
def test_unlike_rows_never_share_a_table(tmp_path, second, message):
    path = write(tmp_path / "r.csv", [row(), row(**second)])
    with pytest.raises(results_table.TableError, match=message):
        results_table.Results(path)


def test_a_file_without_an_implementation_of_the_tables_says_which_they_are(tmp_path):
    with pytest.raises(results_table.TableError, match="flash2"):
        report(tmp_path, [row("naive", bytes_source="counted"), row("fused", bytes_source="counted")])


def test_a_file_without_results_is_one_line_and_exit_2(tmp_path):
    for path in (write(tmp_path / "a.csv", [row(status="failed")]), str(tmp_path / "none.csv")):
        result = subprocess.run([SCRIPTS / "results_table.py", path], capture_output=True, text=True)
        assert result.returncode == 2 and path in result.stderr and len(result.stderr.strip().splitlines()) == 1


# --- shell scripts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("script", ["setup", "demo", "test", "gpu-check", "plot", "results", "slurm-sweep", "common.sh",
                                    "../.ci/run", "../tests/fuzz/run"])
def test_shell_scripts_parse(script):
    assert subprocess.run(["bash", "-n", SCRIPTS / script]).returncode == 0


def test_results_without_a_binary_says_how_to_get_one(tmp_path):
    result = subprocess.run([SCRIPTS / "results", tmp_path / "none", tmp_path], capture_output=True, text=True)
    assert result.returncode == 1 and "build it first" in result.stderr


def test_gpu_check_without_a_test_program_says_how_to_get_one(tmp_path):
    result = subprocess.run([SCRIPTS / "gpu-check", tmp_path / "none"], capture_output=True, text=True)
    assert result.returncode == 1 and "build it first" in result.stderr


# --- docs/ci --------------------------------------------------------------------------------------------------------


def test_the_example_workflow_is_yaml_whose_steps_are_shell():
    workflow = yaml.safe_load((SCRIPTS.parent / "docs/ci/attnprof-gate.yml").read_text())
    assert workflow[True] == "pull_request"  # YAML 1.1 reads the key "on" as true; GitHub does not
    assert set(workflow["jobs"]) == {"counted", "measured"}
    for job in workflow["jobs"].values():
        assert job["runs-on"] and job["timeout-minutes"]
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            if "run" in step:
                assert subprocess.run(["bash", "-n"], input=step["run"], text=True).returncode == 0
