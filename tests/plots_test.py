"""Tests of scripts/plot: what it refuses, and that figures hold what the rows say. Run by scripts/test."""

import contextlib
import io
import os
import pathlib
import subprocess
import sys

import matplotlib.colors
import pytest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent / "scripts"
DATA = pathlib.Path(__file__).resolve().parent / "data"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS))

import attnprof_rows  # noqa: E402
from made_rows import COLUMNS, pair, row, write  # noqa: E402
from plots import figures, io_bound, roofline, rows as plot_rows, style, tiles  # noqa: E402
from plots.__main__ import main  # noqa: E402
from plots.rows import Options  # noqa: E402


def plot(*arguments):
    """As the command line, without the second that starting Python and pandas takes."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as exit:
            code = exit.code
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


@pytest.fixture(autouse=True)
def close_figures():
    yield
    style.plt.close("all")


def test_every_column_that_plots_read_is_one_that_attnprof_writes():
    assert {*plot_rows.TEXT, *plot_rows.NAMES, *plot_rows.COUNTS, *plot_rows.NUMBERS} <= set(COLUMNS)


def test_all_kinds_are_drawn_as_png_and_svg(tmp_path):
    result = plot(write(tmp_path / "a.csv", [r | {"gaps_us": 1} for r in pair()]), "-o", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    tiled = {"tiles", "io-bound"}  # these rows have none
    assert {p.name for p in (tmp_path / "out").iterdir()} == {f"{k}.{e}" for k in set(figures.FIGURES) - tiled for e in ("png", "svg")}
    assert all(f"plot: {kind}: " in result.stderr for kind in tiled)
    assert (tmp_path / "out/bytes.png").read_bytes().startswith(b"\x89PNG")


def test_one_kind_goes_to_the_file_named(tmp_path):
    command = [SCRIPTS / "plot", write(tmp_path / "a.csv", pair()), "--kind", "overview", "-o", tmp_path / "demo.png"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "demo.png").exists() and not (tmp_path / "demo.svg").exists()


@pytest.mark.parametrize("content, message", [
    ("", "is empty"),
    (",".join(COLUMNS) + "\n", "no rows"),
    ("impl,status\nnaive,ok\n", "no column"),
    (None, "no such file"),
    ("\ufeff" + ";".join(COLUMNS) + "\n" + ";" * 9, "separated by semicolons"),
    (b"\xff\xfe" + ",".join(COLUMNS).encode("utf-16-le"), "UTF-16 text; save it as UTF-8"),
])
def test_an_unusable_file_is_one_line_and_exit_2(tmp_path, content, message):
    path = tmp_path / "bad.csv"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = plot(path, "-o", tmp_path)
    assert result.returncode == 2
    assert message in result.stderr and "bad.csv" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("value, said", [("1e99", "at most 1e+13"), ("0", "no time"), ("-5", "no time"), ("fast", "not a number")])
def test_a_time_that_cannot_be_is_refused(tmp_path, value, said):
    result = plot("time", write(tmp_path / "a.csv", [*pair(), row(seqlen=4096, time_us=value)]), "-o", tmp_path)
    assert result.returncode == 2 and said in result.stderr and "a.csv:6: column 'time_us'" in result.stderr and value in result.stderr


def test_plot_refuses_what_attnprof_refuses_and_in_its_words(tmp_path):
    lines = pathlib.Path(write(tmp_path / "a.csv", pair())).read_text().splitlines()
    short = ",".join(lines[2].split(",")[:36])
    for content in ([*lines[:2], short, *lines[3:]], [*lines, *lines], [*lines, lines[1].replace("ok", "fine")]):
        (tmp_path / "b.csv").write_text("\n".join(content) + "\n")
        said = subprocess.run([attnprof_rows.binary(), "rows", "--repeats", "median", tmp_path / "b.csv"], capture_output=True, text=True)
        assert said.returncode == 2 and "b.csv:" in said.stderr
        result = plot("time", tmp_path / "b.csv", "-o", tmp_path / "o")
        assert (result.returncode, result.stderr) == (2, said.stderr.replace("attnprof: ", "plot: error: "))
    assert not (tmp_path / "o").exists()


def test_a_last_line_that_may_be_cut_is_not_drawn_and_that_is_said(tmp_path):
    header = [*(c for c in COLUMNS if c != "time_us"), "time_us"]
    path = pathlib.Path(write(tmp_path / "a.csv", [row(n, 512, time_us=2000, time_lo_us="") for n in ("naive", "fused")], header=header))
    path.write_text(path.read_text()[:-5])  # 2000 -> 20
    result = plot("time", path, "-o", tmp_path / "o")
    assert result.returncode == 0 and "a.csv: the last line has no line end" in result.stderr
    assert list(plot_rows.read_files([str(path)])["impl"]) == ["naive"]


def test_a_byte_that_is_no_text_is_drawn_as_such(tmp_path):
    path = pathlib.Path(write(tmp_path / "a.csv", pair()))
    path.write_bytes(path.read_bytes().replace(b"Test GPU", b"Test \xff GPU"))
    assert plot("time", path, "-o", tmp_path / "o").returncode == 0


def test_without_the_program_there_is_one_line_that_says_what_to_do(tmp_path, monkeypatch):
    path = write(tmp_path / "a.csv", pair())
    monkeypatch.setenv("ATTNPROF_BINARY", str(tmp_path / "none"))
    result = plot("time", path)
    assert result.returncode == 2 and result.stderr == f"plot: error: ATTNPROF_BINARY: cannot run {tmp_path}/none: No such file or directory\n"
    monkeypatch.delenv("ATTNPROF_BINARY")
    monkeypatch.setattr(attnprof_rows, "__file__", str(tmp_path / "scripts/attnprof_rows.py"))
    monkeypatch.setenv("PATH", str(tmp_path))
    result = plot("time", path)
    assert result.returncode == 2 and "build it, or set ATTNPROF_BINARY" in result.stderr and len(result.stderr.splitlines()) == 1
    (tmp_path / "attnprof").write_text("#!/bin/sh\necho '{}'\n")
    (tmp_path / "attnprof").chmod(0o755)
    assert attnprof_rows.read_rows([path]) == [{}]


def test_a_matplotlibrc_of_the_user_changes_nothing(tmp_path):
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\naxes.formatter.use_locale: True\nfont.family: Nope\n")
    path = write(tmp_path / "a.csv", pair())
    for folder, variables in ((tmp_path, {}), (SCRIPTS, {"MATPLOTLIBRC": str(tmp_path / "matplotlibrc")})):
        result = subprocess.run([SCRIPTS / "plot", "time", path, "-o", tmp_path / "o"], cwd=folder, capture_output=True, text=True,
                                env={**os.environ, "LC_ALL": "xx_YY.UTF-8", **variables})
        assert result.returncode == 0 and "Traceback" not in result.stderr, result.stderr


def test_a_format_that_is_not_drawn_and_a_question_misspelt_are_named(tmp_path):
    path = write(tmp_path / "a.csv", pair())
    result = plot("bytes", path, "-o", tmp_path / "x.pdf")
    assert result.returncode == 2 and "x.pdf: figures are .png or .svg" in result.stderr and not (tmp_path / "x.pdf").exists()
    result = plot("rofline", path, "-o", tmp_path)
    assert result.returncode == 2 and "did you mean roofline?" in result.stderr
    assert plot("bytes", path, "-o", tmp_path / "plots.v2").returncode == 0


# --- several files ----------------------------------------------------------------------------------------------------


def before_and_after(tmp_path):
    (tmp_path / "runs").mkdir()
    slower = [row(r["impl"], r["seqlen_q"], time_us=3 * r["time_us"]) for r in pair()]
    return [write(tmp_path / "runs/before.csv", pair()), write(tmp_path / "runs/after.csv", slower[1:])]


def test_each_file_has_lines_of_its_own_named_in_the_legend(tmp_path):
    (group,) = plot_rows.group_rows(plot_rows.read_files(before_and_after(tmp_path)))
    figure = figures.time_figure(group, Options())
    drawn = {tuple((float(x), float(y)) for x, y in zip(line.get_xdata(), line.get_ydata())) for line in figure.axes[0].lines
             if line.get_gid() is None and line.get_marker() not in ("", "None")}
    assert drawn == {((512, 2048), (1024, 4096)), ((512, 512), (1024, 1024)), ((1024, 12288),), ((512, 1536), (1024, 3072))}
    names = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert names == ["naive (after.csv)", "naive (before.csv)", "fused (after.csv)", "fused (before.csv)"]
    assert len({line.get_color() for line in figure.axes[0].lines}) == 4


def test_a_speedup_never_divides_rows_of_two_files(tmp_path):
    (group,) = plot_rows.group_rows(plot_rows.read_files(before_and_after(tmp_path)))
    figure = figures.speedup_figure(group, Options())
    ratios = {(float(x), float(y)) for line in figure.axes[0].lines if len(line.get_xdata()) and line.get_marker() not in ("", "None")
              for x, y in zip(line.get_xdata(), line.get_ydata())}
    assert ratios == {(512, 4), (1024, 4)}  # after: 12288 / 3072 at 1024, and nothing at 512
    after = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 1]
    assert [line.get_xdata().tolist() for line in after] == [[1024]]
    alone = write(tmp_path / "fused.csv", [row("fused", 512)])  # its file has no baseline
    (group,) = plot_rows.group_rows(plot_rows.read_files([alone, str(tmp_path / "runs/before.csv")]))
    assert [t.get_text() for legend in figures.speedup_figure(group, Options()).legends for t in legend.get_texts()] == ["fused (before.csv)"]


def test_files_of_one_name_are_named_by_their_folders_and_every_question_takes_several(tmp_path):
    paths = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        paths.append(write(tmp_path / folder / "r.csv", [r | {"gaps_us": 1} for r in pair()] + tile_rows()))
    rows = plot_rows.read_files(paths)
    assert set(rows["file"]) == set(paths)
    result = plot(*paths, "-o", tmp_path / "o", "--format", "png")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("change, said", [({"threads": 8}, "threads 8"), ({"scale": 0.3}, "scale 0.3"), ({"seed": 7}, "seed 7")])
def test_rows_of_other_threads_scale_or_seed_never_share_a_figure(tmp_path, change, said):
    groups = plot_rows.group_rows(plot_rows.read_files([write(tmp_path / "a.csv", pair() + [r | change for r in pair((2048,))])]))
    assert len(groups) == 2 and any(said in group.title for group in groups)
    assert sorted(sorted(set(group.rows["seqlen_q"])) for group in groups) == [[512, 1024], [2048]]


def test_default_scales_of_two_heads_share_a_figure_also_after_a_spreadsheet(tmp_path):
    rows = [row(seqlen=n, head_dim=d) for d in (64, 128) for n in (512, 1024)]
    rows[-1]["scale"] = "0.088388348"
    (group,) = plot_rows.group_rows(plot_rows.read_files([write(tmp_path / "a.csv", rows)]))
    assert "scale" not in group.title


def test_machines_with_one_processor_are_two_devices(tmp_path):
    rows = [r | {"device": "cpu", "device_uuid": "", "hostname": name} for name in ("node1", "node2") for r in pair()]
    groups = plot_rows.group_rows(plot_rows.read_files([write(tmp_path / "a.csv", rows)]))
    assert [group.title.rsplit(", ", 1)[1] for group in groups] == ["host node1", "host node2"]


def test_a_file_of_kernels_alone_says_so(tmp_path):
    result = plot("time", write(tmp_path / "a.csv", [row() | {"kernel": "softmax"}]), "-o", tmp_path)
    assert result.returncode == 2 and "only rows about single kernels" in result.stderr


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("name", ["$\\frac{$", "<script>alert(1)</script>", "Ünïcode 🚀", "a\nb", "../../up", "Y" * 300])
def test_any_name_of_a_device_is_drawn_as_it_is_into_a_file_of_its_own(tmp_path, name):
    rows = pair() + [r | {"device_name": name, "device_uuid": "GPU-2", "impl": name if r["impl"] == "fused" else "naive"} for r in pair()]
    result = plot("time", write(tmp_path / "a.csv", rows), "-o", tmp_path / "o", "--format", "png")
    assert result.returncode == 0, result.stderr
    assert len(list((tmp_path / "o").iterdir())) == 2 and result.stderr == ""


def test_names_that_differ_in_signs_alone_do_not_share_a_file(tmp_path):
    rows = [r | {"device_name": name} for name in ("a b", "a-b", "a/b") for r in pair()]
    groups = plot_rows.group_rows(plot_rows.read_files([write(tmp_path / "a.csv", rows)]))
    assert [g.suffix for g in groups] == ["-a-b", "-a-b~2", "-a-b~3"]


def test_unknown_implementations_have_colours_of_their_own():
    names = [*style.IMPLS, *(f"mine-{i}" for i in range(24))]
    colours = {matplotlib.colors.to_hex(style.look(name, names)[0]) for name in names if name != "fused"}
    assert len(colours) == len(names) - 1  # fused is flash2 on a GPU


@pytest.mark.filterwarnings("error")
def test_zeros_are_left_out_of_logarithmic_axes(tmp_path):
    zero = {"hbm_read_bytes": 0, "hbm_write_bytes": 0, "model_hbm_bytes": 0, "min_hbm_bytes": 0, "tflops": 0, "ceiling_copy_gbps": 0, "gaps_us": 0}
    made = drawn(tmp_path, "bytes", [*pair(), row("naive", 2048, **zero)])
    only(made).canvas.draw()
    assert points(only(made).axes[0], *NAIVE) == [(512, 2048), (1024, 4096)]
    rows = [r | zero for r in pair()]
    assert all(drawn(tmp_path, kind, rows) == {} for kind in ("bytes", "roofline", "tflops"))
    only(drawn(tmp_path, "stacked", rows)).canvas.draw()


def test_unknown_kind_and_many_kinds_in_one_file_are_refused(tmp_path):
    path = write(tmp_path / "a.csv", pair())
    assert "unknown" in plot(path, "--kind", "pie").stderr
    refused = plot(path, "-o", tmp_path / "x.png")
    assert refused.returncode == 2 and "one file" in refused.stderr


def test_only_ok_rows_count_and_a_file_without_any_is_refused(tmp_path):
    mixed = write(tmp_path / "a.csv", [row("naive", status="verify-failed"), row("fused", status="ok")])
    best = plot_rows.best_rows(plot_rows.read_files([mixed]), "time_us")
    assert list(best["impl"]) == ["fused"]
    none = plot(write(tmp_path / "b.csv", [row(status="failed")]))
    assert none.returncode == 2 and "1 failed" in none.stderr


def test_no_speedup_against_a_baseline_that_failed_verification(tmp_path):
    path = write(tmp_path / "a.csv", [row("naive", status="verify-failed"), row("fused")])
    (group,) = plot_rows.group_rows(plot_rows.read_files([path]))
    assert figures.speedup_figure(group, Options()) is None


def test_devices_and_dtypes_never_share_a_figure(tmp_path):
    first = write(tmp_path / "a.csv", pair())
    second = write(tmp_path / "b.csv", [r | {"device_name": "Other GPU", "device_uuid": "GPU-2"} for r in pair()])
    half = write(tmp_path / "c.csv", [r | {"dtype": "fp16"} for r in pair()])
    groups = plot_rows.group_rows(plot_rows.read_files([first, second, half]))
    assert len(groups) == 3
    assert all(g.rows["device_name"].nunique() == 1 and g.rows["dtype"].nunique() == 1 for g in groups)
    assert len({g.suffix for g in groups}) == 3


def test_rows_with_rests_have_a_figure_of_their_own(tmp_path):
    rows = pair() + [r | {"rest": 3} for r in pair()]
    groups = plot_rows.group_rows(plot_rows.read_files([write(tmp_path / "a.csv", rows)]))
    assert [g.title.rsplit(", ", 1)[1] for g in groups] == ["no rests", "rests of 3x"]
    assert "rests of 3x" in plot_rows.footer(groups[1].rows) and "rests" not in plot_rows.footer(groups[0].rows)
    older = write(tmp_path / "b.csv", pair(), header=[c for c in COLUMNS if c != "rest"])
    (group,) = plot_rows.group_rows(plot_rows.read_files([older]))
    assert "rests" not in group.title


def test_problems_of_other_size_at_the_same_length_are_split(tmp_path):
    rows = pair() + [r | {"heads": 16, "kv_heads": 16} for r in pair()]
    groups = plot_rows.group_rows(plot_rows.read_files([write(tmp_path / "a.csv", rows)]))
    assert [sorted(g.rows["heads"].unique()) for g in groups] == [[8], [16]]


def test_batch_that_follows_tokens_stays_in_one_figure(tmp_path):
    rows = [r | {"batch": 4096 // r["seqlen_q"]} for r in pair()]
    groups = plot_rows.group_rows(plot_rows.read_files([write(tmp_path / "a.csv", rows)]))
    assert len(groups) == 1 and "4k tokens" in plot_rows.footer(groups[0].rows)


def test_of_several_tiles_the_fastest_is_drawn(tmp_path):
    rows = [row("fused", tile_m=64, time_us=5), row("fused", tile_m=128, time_us=3), row("fused", tile_m=32, time_us=9)]
    best = plot_rows.best_rows(plot_rows.read_files([write(tmp_path / "a.csv", rows)]), "time_us")
    assert list(best["time_us"]) == [3]


def test_rows_about_one_kernel_of_a_launch_are_not_cases(tmp_path):
    rows = [row("naive", time_us=9), row("naive", time_us=1) | {"kernel": "softmax"}]
    path = write(tmp_path / "k.csv", rows, header=list(dict.fromkeys([*COLUMNS, "kernel"])))
    assert list(plot_rows.read_files([path])["time_us"]) == [9]


def test_files_from_spreadsheets_and_torn_files_are_read(tmp_path):
    spreadsheet = write(tmp_path / "a.csv", pair(), bom=True, end="\r\n")
    assert len(plot_rows.read_files([spreadsheet])) == 4
    torn = pathlib.Path(write(tmp_path / "b.csv", pair()))
    torn.write_text(torn.read_text() + "1,gpu,naive,fwd")
    assert len(plot_rows.read_files([str(torn)])) == 4


def test_reordered_and_unknown_columns_do_not_matter(tmp_path):
    path = write(tmp_path / "a.csv", [r | {"later": "x"} for r in pair()], header=["later", *reversed(COLUMNS)])
    assert len(plot_rows.read_files([path])) == 4


@pytest.mark.parametrize("n, text", [(512, "512"), (1024, "1k"), (1536, "1.5k"), (16384, "16k"), (1 << 20, "1m"), (1000, "1000")])
def test_sizes_read_as_the_command_line_takes_them(n, text):
    assert plot_rows.size_label(n) == text


def test_many_implementations_keep_their_legend_inside_and_their_end_labels_apart(tmp_path):
    names = ["naive", "flash2", "flash3", "cudnn", "torch-flash", "torch-cudnn", "torch-math"]
    rows = [row(name, n, time_us=(10.0 if name == "naive" else 1.0) * n) for name in names for n in (512, 1024)]
    (group,) = plot_rows.group_rows(plot_rows.read_files([write(tmp_path / "a.csv", rows)]))
    for figure in (figures.overview_figure(group, Options()), figures.speedup_figure(group, Options())):
        assert figure.legends[-1].get_window_extent().x1 <= figure.bbox.width
        labels = sorted(t.get_position()[1] for t in figure.axes[-1].texts)
        low, high = figure.axes[-1].get_ylim()
        assert len(labels) == 6 and labels[-1] <= high
        assert min(b - a for a, b in zip(labels, labels[1:])) > 0.07 * (high - low)


# --- what is drawn --------------------------------------------------------------------------------------------------


def drawn(tmp_path, kind, rows, options=Options()):
    """Figures of one question about these rows (a list, or a file of tests/data), by suffix of the file name."""
    path = str(DATA / rows) if isinstance(rows, str) else write(tmp_path / f"{kind}.csv", rows)
    made = {}
    for group in plot_rows.group_rows(plot_rows.read_files([path])):
        made |= dict(figures.draw(kind, group, options))
    return made


def only(made):
    (figure,) = made.values()
    return figure


def texts(figure):
    parts = [t.get_text() for t in figure.texts] + [t.get_text() for legend in figure.legends for t in legend.get_texts()]
    for axes in figure.axes:
        parts += [t.get_text() for t in axes.texts] + [axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()]
    return "\n".join(parts)


def points(axes, color, marker):
    """(x, y) of the lines of that colour and marker; "" is a line without markers."""
    lines = [line for line in axes.lines if matplotlib.colors.same_color(line.get_color(), color)
             and (line.get_marker() or "None").replace("None", "") == marker]
    return [(float(x), float(y)) for line in lines for x, y in zip(line.get_xdata(), line.get_ydata())]


NAIVE, FUSED = style.IMPLS["naive"], style.IMPLS["fused"]


def test_bytes_are_drawn_log_log_with_the_model_and_the_compulsory_line(tmp_path):
    figure = only(drawn(tmp_path, "bytes", pair((512, 1024, 2048))))
    (axes,) = figure.axes
    assert axes.get_xscale() == "log" and axes.get_yscale() == "log"
    assert points(axes, *NAIVE) == [(n, 4 * n) for n in (512, 1024, 2048)] == points(axes, *FUSED)
    assert points(axes, style.COMPULSORY, "") == [(n, 2 * n) for n in (512, 1024, 2048)]
    assert "compulsory" in texts(figure) and "HBM bytes" in texts(figure) and "Test GPU" in texts(figure)
    assert "attnprof 0.1.0" in texts(figure)


def test_counted_bytes_are_open_markers_and_say_so(tmp_path):
    figure = only(drawn(tmp_path, "bytes", "cpu-sweep.csv"))
    markers = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert markers and all(line.get_markerfacecolor() == "white" for line in markers)
    assert "counted" in texts(figure)


def test_times_and_speedups_are_those_of_the_rows(tmp_path):
    time = only(drawn(tmp_path, "time", pair()))
    assert points(time.axes[0], *NAIVE) == [(512, 2048), (1024, 4096)] and time.axes[0].get_yscale() == "log"
    speedup = only(drawn(tmp_path, "speedup", pair()))
    assert points(speedup.axes[0], *FUSED) == [(512, 4), (1024, 4)] and "4.00x" in texts(speedup)
    other = only(drawn(tmp_path, "speedup", pair(), Options(baseline="fused")))
    assert points(other.axes[0], *NAIVE) == [(512, 0.25), (1024, 0.25)]


def test_bars_have_the_height_of_the_rate_and_what_did_not_fit_says_oom(tmp_path):
    rows = [row("naive", 512, tflops=120), row("fused", 512, tflops=480), row("fused", 1024, tflops=500),
            row("naive", 1024, status="oom", tflops="", time_us="")]
    figure = only(drawn(tmp_path, "tflops", rows))
    (axes,) = figure.axes
    heights = {(bar.get_facecolor(), bar.get_height()) for bar in axes.patches}
    assert heights == {(matplotlib.colors.to_rgba(c), h) for c, h in ((NAIVE[0], 120), (FUSED[0], 480), (FUSED[0], 500))}
    assert [t.get_text() for t in axes.texts].count("OOM") == 1 and axes.get_ylabel() == "TFLOP/s"


def test_rates_of_a_cpu_are_in_gflops(tmp_path):
    figure = only(drawn(tmp_path, "tflops", [row("fused", 512, tflops=0.085)]))
    assert figure.axes[0].patches[0].get_height() == pytest.approx(85) and figure.axes[0].get_ylabel() == "GFLOP/s"


def test_the_roof_has_its_ridge_where_both_rates_meet(tmp_path):
    figure = only(drawn(tmp_path, "roofline", pair(), Options(copy_gbps=4000, matrix_tflops=800)))
    (axes,) = figure.axes
    (x0, y0), ridge, flat, (_, end) = points(axes, style.INK, "")
    assert y0 == pytest.approx(4 * x0) and ridge == flat == (200, 800) and end == 800
    assert "4000 GB/s (--copy-gbps)" in texts(figure) and "800 TFLOP/s (--matrix-tflops)" in texts(figure)
    # 4e9 FLOPs over 2048 and 4096 bytes
    assert points(axes, *NAIVE) == [(4e9 / 2048, 100), (4e9 / 4096, 100)]


def test_a_roof_in_the_file_is_used_and_the_command_line_comes_before_it(tmp_path):
    rows = [r | {"ceiling_copy_gbps": 3000, "ceiling_matrix_tflops": 700} for r in pair()]
    path = write(tmp_path / "r.csv", rows)
    (group,) = plot_rows.group_rows(plot_rows.read_files([path]))
    roof = roofline.roof_of(group, Options())
    assert (roof.copy_gbps, roof.matrix_tflops) == (3000, 700) and roof.source == "roof: 3000 GB/s and 700 TFLOP/s (ceilings in the file)"
    assert roof.limit_tflops(100) == 300 and roof.limit_tflops(1e6) == 700
    given = roofline.roof_of(group, Options(copy_gbps=1000))
    assert (given.copy_gbps, given.matrix_tflops) == (1000, 700) and "--copy-gbps" in given.source


def test_without_a_roof_there_are_points_only_and_the_figure_says_so(tmp_path):
    figure = only(drawn(tmp_path, "roofline", pair()))
    assert points(figure.axes[0], style.INK, "") == [] and len(points(figure.axes[0], *FUSED)) == 2
    assert "no roof" in texts(figure)


def test_cases_that_caches_served_have_no_intensity(tmp_path):
    served = row("fused", 2048, hbm_read_bytes=100, hbm_write_bytes=0)
    figure = only(drawn(tmp_path, "roofline", [*pair(), served]))
    assert len(points(figure.axes[0], *FUSED)) == 2


def test_points_of_the_roofline_say_where_their_bytes_came_from(tmp_path):
    figure = only(drawn(tmp_path, "roofline", [row("naive", bytes_source="counted"), row("fused")]))
    faces = {line.get_marker(): line.get_markerfacecolor() for line in figure.axes[0].lines if line.get_marker() in "so"}
    assert faces == {"s": "white", "o": FUSED[0]}
    assert "bytes counted" in texts(figure) and "bytes measured (cupti)" in texts(figure)


def test_modelled_bytes_are_never_shown_as_measured_ones(tmp_path):
    rows = [r | {"hbm_read_bytes": "", "hbm_write_bytes": "", "bytes_source": ""} for r in pair()]
    figure = only(drawn(tmp_path, "roofline", rows))
    assert "bytes modelled" in texts(figure) and "measured" not in texts(figure)
    assert drawn(tmp_path, "bytes", rows) == {}


def tile_rows():
    times = {(64, 32): 9.0, (64, 64): 5.0, (128, 32): 7.0}
    rows = [row("fused", tile_m=m, tile_n=n, time_us=t, hbm_read_bytes=100_000 // m, hbm_write_bytes=0, min_hbm_bytes=10)
            for (m, n), t in times.items()]
    message = "tile 128x64 at head_dim 64 with 2 stages needs 300000 bytes of shared memory, a block has 232448"
    return rows + [row("fused", tile_m=128, tile_n=64, status="unsupported", message=message, time_us="", hbm_read_bytes="",
                       hbm_write_bytes="", bytes_source="")]


def test_the_tile_map_shows_both_figures_marks_the_best_and_explains_holes(tmp_path):
    figure = only(drawn(tmp_path, "tiles", tile_rows()))
    time, traffic = figure.axes
    shown = time.images[0].get_array().filled(float("nan"))
    assert shown[0].tolist() == [9, 5] and shown[1][0] == 7 and shown[1][1] != shown[1][1]
    assert traffic.images[0].get_array()[:, 0].tolist() == [1562, 781]
    frames = [[(round(p.get_x() + 0.46), round(p.get_y() + 0.46)) for p in axes.patches if not p.get_fill()] for axes in figure.axes]
    assert frames == [[(1, 0)], [(0, 1)]]
    assert [t.get_text() for t in time.texts].count("smem") == 1 and "needs 300000 bytes of shared memory" in texts(figure)
    assert [t.get_text() for t in time.get_xticklabels()] == ["32", "64"] and "(measured, cupti)" in texts(figure)


@pytest.mark.parametrize("status, message, word", [
    ("unsupported", "tile 64x256 at head_dim 128 needs 256 registers a thread for S", "regs"),
    ("unsupported", "flash2 needs tile_n in steps of 16, not 7", "step"),
    ("unsupported", "something new", "unsupported"), ("oom", "needs 1 bytes", "oom"), ("verify-failed", "registers", "wrong")])
def test_a_hole_names_the_class_of_its_reason(status, message, word):
    assert tiles.reason_class(status, message) == word


def test_a_wrong_result_is_a_hole_and_never_the_best_tile(tmp_path):
    rows = tile_rows()
    rows[1] |= {"status": "verify-failed", "message": "rel_err 1 > 0.004"}
    figure = only(drawn(tmp_path, "tiles", rows))
    shown = figure.axes[0].images[0].get_array().filled(float("nan"))
    assert shown[0][1] != shown[0][1] and "wrong" in texts(figure)
    assert [(round(p.get_x() + 0.46), round(p.get_y() + 0.46)) for p in figure.axes[0].patches if not p.get_fill()] == [(0, 1)]


def test_each_problem_and_implementation_has_a_tile_map_of_its_own(tmp_path):
    rows = tile_rows() + [r | {"seqlen_q": 4096, "seqlen_kv": 4096} for r in tile_rows()]
    assert set(drawn(tmp_path, "tiles", rows)) == {"-1k", "-4k"}


def test_memory_is_operands_and_workspace_against_what_was_free(tmp_path):
    gib = 2**30
    rows = [row("naive", 1024, available_bytes=""), row("fused", 1024, available_bytes=""),
            row("naive", 4096, status="oom", workspace_bytes=4 * gib, available_bytes=3 * gib, time_us="")]
    figure = only(drawn(tmp_path, "memory", rows))
    (axes,) = figure.axes
    operands = 4 * 2 * 8 * 1024 * 64 * 2 + 4 * 2 * 8 * 1024  # Q, K, V, O in bf16; LSE in fp32
    assert points(axes, *FUSED) == [(1024, operands)]
    assert points(axes, *NAIVE) == [(1024, operands + 1024**2)]
    assert points(axes, NAIVE[0], "x") == [(4096, 4 * operands + 4 * gib)]
    assert axes.get_yscale() == "log" and axes.get_ylim()[1] > 4 * gib
    assert 3 * gib in [y for _, y in points(axes, style.COMPULSORY, "")] and "free: 3 GiB" in texts(figure)


def test_memory_needed_agrees_with_what_the_tool_said_when_it_refused():
    (oom,) = [r for _, r in plot_rows.read_files([str(DATA / "cpu-sweep.csv")]).query("status == 'oom' and causal == 0").iterrows()]
    from plots.panels import with_memory
    import pandas
    assert f"needs {int(with_memory(pandas.DataFrame([oom]))['needed_bytes'].iloc[0])} bytes" in oom["message"]


def test_parts_of_the_time_stand_side_by_side_in_a_box_as_high_as_the_time(tmp_path):
    rows = [row("fused", 1024, time_us=100, gaps_us=5, hbm_read_bytes=3e6, hbm_write_bytes=1e6, executed_flops=6e9, exp_count=8e9,
                ceiling_exp_gops=200000, min_hbm_bytes=1)]
    figure = only(drawn(tmp_path, "stacked", rows, Options(copy_gbps=100, matrix_tflops=100)))
    box, *bars = figure.axes[0].patches
    assert (box.get_y(), box.get_height()) == (0, 100)
    # 4e6 B at 100 GB/s, 6e9 FLOP at 100 TFLOP/s, 8e9 exponentials at 200 Texp/s, 5 us of gaps: none upon another
    assert [(bar.get_y(), bar.get_height()) for bar in bars] == [(0, pytest.approx(share)) for share in (40, 60, 40, 5)]
    edges = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars]
    assert all(left_end < right for (_, left_end), (right, _) in zip(edges, edges[1:]))
    assert box.get_x() < edges[0][0] and edges[-1][1] < box.get_x() + box.get_width()
    said = texts(figure)
    assert "100 µs" in said and "bytes measured (cupti) / copy bandwidth" in said and "2e+05 Gexp/s" in said
    assert "do not add up" in said and "Not known" not in said


def test_flops_that_were_counted_and_idle_time_come_before_what_the_schedule_and_gaps_say(tmp_path):
    made = row("fused", 1024, time_us=100, gaps_us=5, idle_us=12, executed_flops=6e9, tensor_flops=3e9, min_hbm_bytes=1)
    hot = made | {"throttle": "sw_power_cap"}  # idle_us is then a difference of clocks
    assert [bar.get_height() for bar in only(drawn(tmp_path, "stacked", [hot])).axes[0].patches] == [100, 5]
    figure = only(drawn(tmp_path, "stacked", [made], Options(matrix_tflops=100)))
    assert [bar.get_height() for bar in figure.axes[0].patches] == [100, pytest.approx(30), 12]
    assert "counted FLOPs" in texts(figure) and "Not known: HBM, exponentials. Run attnprof ceilings" in texts(figure)


def test_without_ceilings_the_gaps_alone_are_drawn_and_what_is_missing_is_said(tmp_path):
    figure = only(drawn(tmp_path, "stacked", [row("fused", 1024, time_us=100, gaps_us=5)]))
    assert [bar.get_height() for bar in figure.axes[0].patches] == [100, 5] and "no roof" in texts(figure)
    assert "Not known: HBM, matrix units, exponentials. Run attnprof ceilings" in texts(figure)


def test_parts_and_rates_of_a_cpu_have_their_own_names(tmp_path):
    figure = only(drawn(tmp_path, "stacked", [row("fused", device="cpu", bytes_source="counted", executed_flops=1e9)], Options(copy_gbps=17, matrix_tflops=0.2)))
    assert "main memory: bytes counted / copy bandwidth" in texts(figure)
    box, memory, arithmetic = figure.axes[0].patches  # in the middle of the box: there are no gaps to leave room for
    assert box.get_x() + box.get_width() / 2 == pytest.approx((memory.get_x() + arithmetic.get_x() + arithmetic.get_width()) / 2)
    assert "200 GFLOP/s (--matrix-tflops)" in texts(figure) and "arithmetic: executed FLOPs / its rate" in texts(figure)


def test_parts_of_many_implementations_take_more_lines_and_none_is_empty(tmp_path):
    names = [name for name in style.IMPLS if name != "fused"]
    rows = [row(name, n, gaps_us="" if name == "torch-math" else 1, causal=c) for name in names for n in (512, 1024, 2048) for c in (0, 1)]
    figure = only(drawn(tmp_path, "stacked", rows))
    figure.canvas.draw()
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == 2 * (len(names) - 1) and all(len(axes.patches) == 6 for axes in shown)
    boxes = [axes._left_title.get_window_extent() for axes in shown]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert max(box.x1 for box in boxes) <= figure.bbox.width


def test_no_tile_lies_below_the_papers_bound_and_one_lies_on_it(tmp_path):
    figure = only(drawn(tmp_path, "io-bound", "cpu-tiles.csv"))
    (axes,) = figure.axes
    (curve,) = [line for line in axes.lines if len(line.get_xdata()) == 50]
    xs, ys = curve.get_data()
    product = xs * ys
    assert product == pytest.approx([product[0]] * 50)  # bytes ~ 1 / M
    tiles_drawn = [(x, y) for line in axes.lines if line.get_marker() == "o" for x, y in zip(line.get_xdata(), line.get_ydata())]
    assert len(tiles_drawn) == 19
    above = [x * y / product[0] for x, y in tiles_drawn]
    assert min(above) == pytest.approx(1) and max(above) > 1.2
    assert "N²d²/M" in texts(figure) and "4 × (Nd + N²), naive's bytes" in texts(figure) and "counted" in texts(figure)


def test_bounds_and_on_chip_memory_are_the_formulas(tmp_path):
    made = plot_rows.read_files([write(tmp_path / "a.csv", [row("fused", 512, tile_m=32, tile_n=16)])])
    assert io_bound.onchip_elements(made).tolist() == [2 * 32 * 64 + 2 * 16 * 64 + 32 * 16]
    standard, flash = io_bound.bounds(made.iloc[0], 4096)
    assert standard == 2 * 16 * (512 * 64 + 512**2) and flash == 2 * 16 * 512**2 * 64**2 / 4096


@pytest.mark.parametrize("kind", list(figures.FIGURES))
def test_every_figure_can_be_read_where_a_readme_shows_it(tmp_path, kind):
    rows = "cpu-tiles.csv" if kind in {"tiles", "io-bound"} else "cpu-sweep.csv"
    figure = only(drawn(tmp_path, kind, rows, Options(copy_gbps=17, matrix_tflops=0.2)))
    figure.canvas.draw()
    scale = min(1, 830 / figure.bbox.width)
    sizes = [t.get_fontsize() * figure.dpi / 72 * scale for axes in figure.axes for t in [*axes.texts, *axes.get_xticklabels()]]
    sizes += [t.get_fontsize() * figure.dpi / 72 * scale for t in figure.texts]
    assert min(sizes) >= 9
    assert "AMD EPYC" in texts(figure) and "attnprof 0.1.0" in texts(figure)
    assert all(axes.get_xlabel() or axes is not figure.axes[-1] for axes in figure.axes)
    for text in figure.texts:
        assert text.get_window_extent().x1 <= figure.bbox.width + 1


def held(figure):
    """Places of the dots in marks whose clock was held down."""
    return sorted((float(x), float(y)) for axes in figure.axes for line in axes.lines if line.get_gid() == "held"
                  for x, y in zip(line.get_xdata(), line.get_ydata()))


def test_points_whose_clock_was_held_down_are_marked_and_counted(tmp_path):
    rows = [r | {"sm_clock_mhz": 1980} for r in pair()] + [r | {"throttle": "sw_power_cap|hw_thermal"} for r in pair((2048,))]
    assert held(only(drawn(tmp_path, "time", rows))) == [(2048, 2048), (2048, 8192)]
    assert held(only(drawn(tmp_path, "speedup", rows))) == [(2048, 4)]
    assert [y for _, y in held(only(drawn(tmp_path, "tflops", rows)))] == [100, 100]
    assert len(held(only(drawn(tmp_path, "roofline", rows)))) == 2
    assert held(only(drawn(tmp_path, "bytes", rows))) == []  # a clock does not change them
    assert len(held(only(drawn(tmp_path, "overview", rows)))) == 3
    for kind, count in (("time", "2 of 6 points"), ("speedup", "1 of 3 points"), ("tflops", "2 of 6 bars"), ("roofline", "2 of 6 points")):
        assert f"{count} ran below the boost clock (power cap, heat): dot inside." in texts(only(drawn(tmp_path, kind, rows)))
    some = only(drawn(tmp_path, "time", [rows[0], rows[1] | {"sm_clock_mhz": ""}, *rows[2:]]))
    assert "2 of 5 points ran below the boost clock (power cap, heat): dot inside. The clock of 1 other was not read." in texts(some)
    assert "boost" not in texts(only(drawn(tmp_path, "time", pair())))


def test_tiles_whose_clock_was_held_down_are_marked_and_counted(tmp_path):
    rows = [r | {"sm_clock_mhz": 1500} for r in tile_rows()]
    rows[0]["throttle"] = "sw_power_cap"
    figure = only(drawn(tmp_path, "tiles", rows))
    assert [t.get_text() for t in figure.axes[0].texts][:2] == ["9 µs °", "5 µs"]
    assert not any("°" in t.get_text() for t in figure.axes[1].texts)
    assert "1 of 3 tiles ran below the boost clock (power cap): °." in texts(figure)
    alike = only(drawn(tmp_path, "tiles", [r | {"throttle": "sw_thermal"} for r in tile_rows()]))
    assert "3 of 3 tiles ran below the boost clock (heat)." in texts(alike) and "°" not in texts(alike)


def test_labels_of_the_roofline_cover_no_mark_no_roof_and_no_other_label(tmp_path):
    names = ["naive", "flash2", "flash3", "cudnn"]
    rows = [row(name, n, tflops=rate * (1.02 + 0.1 * i)) for i, name in enumerate(names) for n, rate in ((512, 300), (1024, 500), (2048, 780))]
    figure = only(drawn(tmp_path, "roofline", rows, Options(copy_gbps=4000, matrix_tflops=800)))
    (axes,) = figure.axes
    boxes = [t.get_window_extent() for t in axes.texts]
    assert 4 <= len(boxes) <= 8 and {t.get_text() for t in axes.texts} == {"512", "2k"}
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    marks = [axes.transData.transform(p) for name in names for p in points(axes, *style.IMPLS[name])]
    assert len(marks) == 12 and not any(box.contains(*mark) for box in boxes for mark in marks)
    ridge, flat = axes.transData.transform([(200, 800), (1e9, 800)])
    assert not any(box.x1 > ridge[0] and box.y0 <= flat[1] <= box.y1 for box in boxes)


def test_coloured_words_are_dark_enough_to_read(tmp_path):
    names = [name for name in style.IMPLS if name != "naive"]
    figure = only(drawn(tmp_path, "speedup", [row(name, 512) for name in style.IMPLS]))
    colours = [t.get_color() for t in figure.axes[0].texts]
    assert len(colours) == len(names) and all(1.05 / (style.luminance(c) + 0.05) >= 4.5 for c in colours)
    assert style.words("#D55E00") != style.words("#0072B2") == matplotlib.colors.to_rgb("#0072B2")


def test_a_png_is_small_and_none_of_its_colours_is_off(tmp_path):
    import numpy
    from PIL import Image
    figure = only(drawn(tmp_path, "bytes", pair()))
    style.save(figure, tmp_path / "small.png")
    figure.savefig(tmp_path / "large.png")
    small, large = (Image.open(tmp_path / f"{name}.png").convert("RGB") for name in ("small", "large"))
    off = numpy.abs(numpy.asarray(small, dtype=int) - numpy.asarray(large, dtype=int))
    assert small.size == large.size and off.max() < 16
    assert (tmp_path / "small.png").stat().st_size < 0.5 * (tmp_path / "large.png").stat().st_size


def test_pictures_of_the_readme_are_small_and_as_sharp_as_screens_are():
    from PIL import Image
    pictures = sorted((SCRIPTS.parent / "docs/img").glob("*.png"))
    assert len(pictures) > 5
    for picture in pictures:
        assert picture.stat().st_size < 150_000, picture
        assert picture.name == "report.png" or Image.open(picture).width >= 2 * 830


# --- the command line -----------------------------------------------------------------------------------------------


def test_a_question_before_the_file_draws_that_one_in_the_formats_asked_for(tmp_path):
    result = plot("time", DATA / "cpu-sweep.csv", "-o", tmp_path / "o", "--format", "svg")
    assert result.returncode == 0, result.stderr
    assert [p.name for p in (tmp_path / "o").iterdir()] == ["time.svg"]
    assert plot("time", DATA / "cpu-sweep.csv", "--format", "gif").returncode == 2


def test_rows_are_chosen_by_column_and_an_empty_choice_is_one_line_and_exit_2(tmp_path):
    chosen = plot_rows.select(plot_rows.read_files([str(DATA / "cpu-sweep.csv")]), ["seqlen_q=1k,2k", "impl=fused"])
    assert set(chosen["seqlen_q"]) == {1024, 2048} and set(chosen["impl"]) == {"fused"}
    for where, said in (("head_dim=65", "there are: 64"), ("colour=red", "COLUMN=VALUE"), ("seqlen_q=128k", "2 oom"), ("causal=x", "numbers")):
        result = plot("time", DATA / "cpu-sweep.csv", "--where", where, "-o", tmp_path / "o")
        assert result.returncode == 2 and said in result.stderr, result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("kind, said", [("tiles", "no two tiles"), ("stacked", "no launch gaps"), ("speedup", "--baseline")])
def test_a_question_that_the_rows_cannot_answer_is_one_line_and_exit_2(tmp_path, kind, said):
    result = plot(kind, write(tmp_path / "a.csv", [row("fused", 512), row("fused", 1024)]), "-o", tmp_path / "o")
    assert result.returncode == 2 and said in result.stderr and len(result.stderr.strip().splitlines()) == 1


def test_two_devices_in_one_file_are_two_pictures(tmp_path):
    other = {"device_name": "Other GPU", "device_uuid": "GPU-2"}
    rows = pair() + [row(r["impl"], r["seqlen_q"], time_us=r["time_us"] * 3, **other) for r in pair()]
    made = drawn(tmp_path, "time", rows)
    assert len(made) == 2
    assert sorted(points(figure.axes[0], *FUSED) for figure in made.values()) == [[(512, 512), (1024, 1024)], [(512, 1536), (1024, 3072)]]
