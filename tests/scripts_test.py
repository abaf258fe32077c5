"""Tests of scripts/: what they refuse, and that they draw and append what they should. Run by scripts/test."""

import csv
import importlib.machinery
import importlib.util
import math
import pathlib
import re
import statistics
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS))

import peer_rows  # noqa: E402
import results_table  # noqa: E402
from plots import figures, rows as plot_rows  # noqa: E402

COLUMNS = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/columns.md").read_text(), re.M)


def row(impl="naive", seqlen=1024, **changes):
    """A row as attnprof writes it, with the figures of an invented machine."""
    cells = dict.fromkeys(COLUMNS, "")
    time_us = {"naive": 4.0, "fused": 1.0}.get(impl, 2.0) * seqlen
    cells |= {"schema": 1, "device": "gpu", "impl": impl, "pass": "fwd", "dtype": "bf16", "batch": 2, "heads": 8, "kv_heads": 8,
              "seqlen_q": seqlen, "seqlen_kv": seqlen, "head_dim": 64, "causal": 0, "window": 0, "scale": 0.125,
              "fill": "normal", "seed": 1, "cache": "cold", "status": "ok", "time_us": time_us, "time_lo_us": time_us * 0.99,
              "time_hi_us": time_us * 1.01, "tflops": 100, "hbm_read_bytes": 3 * seqlen, "hbm_write_bytes": seqlen,
              "bytes_source": "cupti", "model_hbm_bytes": 4 * seqlen, "min_hbm_bytes": 2 * seqlen, "model_flops": 4e9,
              "workspace_bytes": 0 if impl == "fused" else seqlen**2, "available_bytes": 10**9, "device_name": "Test GPU",
              "device_uuid": "GPU-1", "tool_version": "0.1.0", "tolerance": 0.004}
    return cells | changes


def write(path, rows, header=COLUMNS, bom=False, end="\n"):
    with open(path, "w", newline="", encoding="utf-8-sig" if bom else "utf-8") as file:
        writer = csv.DictWriter(file, header, lineterminator=end, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def pair(lengths=(512, 1024)):
    return [row(impl, n) for n in lengths for impl in ("naive", "fused")]


def plot(*arguments):
    return subprocess.run([SCRIPTS / "plot", *map(str, arguments)], capture_output=True, text=True)


# --- scripts/plot ---------------------------------------------------------------------------------------------------


def test_every_column_that_plots_read_is_one_that_attnprof_writes():
    needed = set(plot_rows.ALWAYS) | set(plot_rows.TEXT) | {c for columns in plot_rows.NEEDED.values() for c in columns}
    assert needed <= set(COLUMNS)


def test_all_kinds_are_drawn_as_png_and_svg(tmp_path):
    result = plot(write(tmp_path / "a.csv", pair()), "-o", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert {p.name for p in (tmp_path / "out").iterdir()} == {f"{k}.{e}" for k in figures.FIGURES for e in ("png", "svg")}
    assert (tmp_path / "out/bytes.png").read_bytes().startswith(b"\x89PNG")


def test_one_kind_goes_to_the_file_named(tmp_path):
    result = plot(write(tmp_path / "a.csv", pair()), "--kind", "overview", "-o", tmp_path / "demo.png")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "demo.png").exists() and not (tmp_path / "demo.svg").exists()


@pytest.mark.parametrize("content, message", [
    ("", "is empty"),
    (",".join(COLUMNS) + "\n", "no rows"),
    ("impl,status\nnaive,ok\n", "no column"),
    (None, "no such file"),
])
def test_an_unusable_file_is_one_line_and_exit_2(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    if content is not None:
        path.write_text(content)
    result = plot(path, "-o", tmp_path)
    assert result.returncode == 2
    assert message in result.stderr and "bad.csv" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_cell_that_is_no_number_names_file_and_column(tmp_path):
    path = write(tmp_path / "a.csv", [row(time_us="fast")])
    with pytest.raises(plot_rows.PlotError, match="a.csv.*time_us.*fast"):
        plot_rows.read_files([path], ["time"])


def test_unknown_kind_and_many_kinds_in_one_file_are_refused(tmp_path):
    path = write(tmp_path / "a.csv", pair())
    assert "unknown" in plot(path, "--kind", "pie").stderr
    refused = plot(path, "-o", tmp_path / "x.png")
    assert refused.returncode == 2 and "one file" in refused.stderr


def test_only_ok_rows_count_and_a_file_without_any_is_refused(tmp_path):
    mixed = write(tmp_path / "a.csv", [row("naive", status="verify-failed"), row("fused", status="ok")])
    best = plot_rows.best_rows(plot_rows.read_files([mixed], ["time"]), "time_us")
    assert list(best["impl"]) == ["fused"]
    none = plot(write(tmp_path / "b.csv", [row(status="failed")]))
    assert none.returncode == 2 and "1 failed" in none.stderr


def test_no_speedup_against_a_baseline_that_failed_verification(tmp_path):
    path = write(tmp_path / "a.csv", [row("naive", status="verify-failed"), row("fused")])
    (group,) = plot_rows.group_rows(plot_rows.read_files([path], ["speedup"]))
    assert figures.speedup_figure(group, "naive") is None


def test_devices_and_dtypes_never_share_a_figure(tmp_path):
    first = write(tmp_path / "a.csv", pair())
    second = write(tmp_path / "b.csv", [r | {"device_name": "Other GPU", "device_uuid": "GPU-2"} for r in pair()])
    half = write(tmp_path / "c.csv", [r | {"dtype": "fp16"} for r in pair()])
    groups = plot_rows.group_rows(plot_rows.read_files([first, second, half], ["time"]))
    assert len(groups) == 3
    assert all(g.rows["device_name"].nunique() == 1 and g.rows["dtype"].nunique() == 1 for g in groups)
    assert len({g.suffix for g in groups}) == 3


def test_problems_of_other_size_at_the_same_length_are_split(tmp_path):
    rows = pair() + [r | {"heads": 16, "kv_heads": 16} for r in pair()]
    groups = plot_rows.group_rows(plot_rows.read_files([write(tmp_path / "a.csv", rows)], ["time"]))
    assert [sorted(g.rows["heads"].unique()) for g in groups] == [[8], [16]]


def test_batch_that_follows_tokens_stays_in_one_figure(tmp_path):
    rows = [r | {"batch": 4096 // r["seqlen_q"]} for r in pair()]
    groups = plot_rows.group_rows(plot_rows.read_files([write(tmp_path / "a.csv", rows)], ["time"]))
    assert len(groups) == 1 and "4k tokens" in plot_rows.footer(groups[0].rows)


def test_of_several_tiles_the_fastest_is_drawn(tmp_path):
    rows = [row("fused", tile_m=64, time_us=5), row("fused", tile_m=128, time_us=3), row("fused", tile_m=32, time_us=9)]
    best = plot_rows.best_rows(plot_rows.read_files([write(tmp_path / "a.csv", rows)], ["time"]), "time_us")
    assert list(best["time_us"]) == [3]


def test_files_from_spreadsheets_and_torn_files_are_read(tmp_path):
    spreadsheet = write(tmp_path / "a.csv", pair(), bom=True, end="\r\n")
    assert len(plot_rows.read_files([spreadsheet], ["bytes"])) == 4
    torn = pathlib.Path(write(tmp_path / "b.csv", pair()))
    torn.write_text(torn.read_text() + "1,gpu,naive,fwd")
    assert len(plot_rows.read_files([str(torn)], ["bytes"])) == 4


def test_reordered_and_unknown_columns_do_not_matter(tmp_path):
    path = write(tmp_path / "a.csv", [r | {"later": "x"} for r in pair()], header=["later", *reversed(COLUMNS)])
    assert len(plot_rows.read_files([path], list(figures.FIGURES))) == 4


@pytest.mark.parametrize("n, text", [(512, "512"), (1024, "1k"), (1536, "1.5k"), (16384, "16k"), (1 << 20, "1m"), (1000, "1000")])
def test_sizes_read_as_the_command_line_takes_them(n, text):
    assert plot_rows.size_label(n) == text


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


def test_appended_rows_start_on_a_line_of_their_own(tmp_path):
    path = write(tmp_path / "p.csv", [row()])
    pathlib.Path(path).write_text(pathlib.Path(path).read_text().rstrip("\n"))
    header, (problem,) = peer_rows.read_problems(path)
    message = 'no kernel, "really"'
    peer_rows.append_rows(path, header, [peer_rows.peer_row(header, problem, "torch-math", {}, status="unsupported",
                                                            message=message)])
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [r["impl"] for r in rows] == ["naive", "torch-math"] and rows[1]["message"] == message


def test_a_file_that_is_not_from_attnprof_is_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(peer_rows.PeerError, match="x.csv.*no column 'pass'"):
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


@pytest.mark.parametrize("second, message", [({"device_name": "Other GPU"}, "one device_name"), ({"dtype": "fp16"}, "one dtype"),
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


# --- figures: what crowds them ---------------------------------------------------------------------------------------


def test_many_implementations_keep_their_legend_inside_and_their_end_labels_apart(tmp_path):
    names = ["naive", "flash2", "flash3", "cudnn", "torch-flash", "torch-cudnn", "torch-math"]
    rows = [row(name, n, time_us=(10.0 if name == "naive" else 1.0) * n) for name in names for n in (512, 1024)]
    (group,) = plot_rows.group_rows(plot_rows.read_files([write(tmp_path / "a.csv", rows)], ["overview", "speedup"]))
    for figure in (figures.overview_figure(group, "naive"), figures.speedup_figure(group, "naive")):
        assert figure.legends[-1].get_window_extent().x1 <= figure.bbox.width
        labels = sorted(t.get_position()[1] for t in figure.axes[-1].texts)
        low, high = figure.axes[-1].get_ylim()
        assert len(labels) == 6 and labels[-1] <= high
        assert min(b - a for a, b in zip(labels, labels[1:])) > 0.07 * (high - low)


# --- shell scripts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("script", ["setup", "demo", "test", "gpu-check", "plot", "results", "common.sh", "../.ci/run"])
def test_shell_scripts_parse(script):
    assert subprocess.run(["bash", "-n", SCRIPTS / script]).returncode == 0


def test_results_without_a_binary_says_how_to_get_one(tmp_path):
    result = subprocess.run([SCRIPTS / "results", tmp_path / "none", tmp_path], capture_output=True, text=True)
    assert result.returncode == 1 and "build it first" in result.stderr


def test_gpu_check_without_a_test_program_says_how_to_get_one(tmp_path):
    result = subprocess.run([SCRIPTS / "gpu-check", tmp_path / "none"], capture_output=True, text=True)
    assert result.returncode == 1 and "build it first" in result.stderr
