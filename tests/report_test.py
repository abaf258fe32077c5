"""Tests of `attnprof report` in a real browser: what the page shows, and that it reacts. Run by ctest, after the build.

ATTNPROF_BINARY names the program. Without a browser the tests are skipped, unless ATTNPROF_REQUIRE_BROWSER is set.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest

sys.dont_write_bytecode = True

from browser import Browser, find_browser  # noqa: E402
from made_rows import COLUMNS, ROOT, pair, row, write  # noqa: E402

BINARY = os.environ.get("ATTNPROF_BINARY") or str(ROOT / "build/attnprof")
NASTY = """<script>alert("x")</script>, 'a' & "b" {{data}} </script>"""


@pytest.fixture(scope="module")
def started():
    path = find_browser()
    if path is None:
        assert not os.environ.get("ATTNPROF_REQUIRE_BROWSER"), "no browser, and ATTNPROF_REQUIRE_BROWSER is set"
        pytest.skip("no browser: apt-get install chromium-headless-shell (or chromium)")
    browser = Browser(path)
    yield browser
    browser.close()


@pytest.fixture
def browser(started):
    started.size(1280, 900)
    started.dark(False)
    yield started
    assert started.errors == []
    assert all(re.match(r"file:///|data:,$", url) for url in started.requests) and len(started.requests) <= 2, started.requests


def report(*arguments):
    return subprocess.run([BINARY, "report", *map(str, arguments)], capture_output=True, text=True)


def page(tmp_path, rows, *options):
    """Writes the page of these rows (or of a file) and returns its path."""
    csv = rows if isinstance(rows, pathlib.Path) else write(tmp_path / "rows.csv", [checked(r) for r in rows])
    result = report(csv, "-o", tmp_path / "page.html", *options)
    assert result.returncode == 0, result.stderr
    return tmp_path / "page.html"


def checked(r):
    """Verified, and with an interval that holds its median."""
    t = r["time_us"]
    return r | {"rel_err": r["rel_err"] or 0.001, "time_lo_us": t and t * 0.99, "time_hi_us": t and t * 1.01}


def drawn(browser, chart, mark=".point"):
    """Rows whose points stand in a chart."""
    return sorted(set(browser.run(f"[...document.querySelectorAll('#chart-{chart} {mark}')].map((n) => Number(n.dataset.row))")))


def test_the_page_is_one_file_that_asks_for_nothing(tmp_path, browser):
    for csv in sorted(f for f in (ROOT / "docs/results").glob("*.csv") if not f.stem.endswith("-ceilings")):
        path = page(tmp_path, csv)
        assert path.stat().st_size < 1_000_000
        text = path.read_text()
        assert not re.search(r"""(src|href)\s*=\s*(?!["']?data:)|@import|url\(|https?:(?!//www\.w3\.org/2000/svg)""", text)
        browser.open(path)
        assert browser.texts("#chart-time .point") and browser.errors == []
        assert len(browser.requests) == 1 and browser.requests[0].startswith("file:///")


def test_points_are_the_rows_with_their_figures_and_sources(tmp_path, browser):
    browser.open(page(tmp_path, pair((512, 1024))))
    for chart in ("bytes", "time", "roofline"):
        assert drawn(browser, chart) == [0, 1, 2, 3]
    assert drawn(browser, "speedup") == [1, 3]
    browser.hover("#chart-bytes .point[data-row='2']")
    tip = browser.texts("#tip > *")
    assert tip[0] == "naive, seqlen 1k" and "bytes 4.1 kB, measured (cupti)" in tip and "model 4.1 kB" in tip
    assert "time 4.1 ms (4.06 ms to 4.14 ms)" in tip
    browser.hover("#chart-speedup .point[data-row='3']")
    assert "4x the speed of naive" in browser.texts("#tip > *")
    assert "measured (cupti)" in browser.texts("#chart-bytes .from")[0]
    browser.hover("#title")
    assert browser.run("document.getElementById('tip').hidden")


def test_points_stand_where_their_values_are(tmp_path, browser):
    browser.open(page(tmp_path, [row("naive", n) for n in (512, 1024, 2048)]))
    places = "[...document.querySelectorAll('#chart-time .point')].map((n) => { const b = n.getBBox(); return [b.x + b.width / 2, b.y + b.height / 2]; })"
    (x0, y0), (x1, y1), (x2, y2) = browser.run(places)
    assert x1 - x0 == pytest.approx(x2 - x1) and y0 - y1 == pytest.approx(y1 - y2) and x1 > x0 and y1 < y0  # doubling, on log axes
    browser.click("#chart-time label:nth-of-type(2) input")
    (_, y0), (_, y1), (_, y2) = browser.run(places)
    assert y1 - y2 == pytest.approx(2 * (y0 - y1))


def test_counted_and_modelled_bytes_are_told_apart(tmp_path, browser):
    counted = row("naive", 512, bytes_source="counted")
    modelled = row("fused", 512, hbm_read_bytes="", hbm_write_bytes="", bytes_source="")
    browser.open(page(tmp_path, [counted, modelled]))
    assert drawn(browser, "bytes") == [0] and drawn(browser, "roofline") == [0, 1]
    look = "((n) => [n.getAttribute('fill'), n.getAttribute('fill-opacity')])(document.querySelector('#chart-roofline .point[data-row=\"%d\"]'))"
    assert browser.run(look % 0) == ["var(--paper)", "1"] and browser.run(look % 1)[1] == "0.3"
    assert "Bytes counted, modelled." in browser.texts("#chart-roofline .from")[0]


def test_the_legend_switches_a_series_off_and_on_in_every_chart(tmp_path, browser):
    browser.open(page(tmp_path, pair()))
    browser.click("#legend button[data-impl=fused]")
    assert browser.run("document.querySelector('#legend button[data-impl=fused]').getAttribute('aria-pressed')") == "false"
    assert drawn(browser, "time") == [0, 2] and drawn(browser, "bytes") == [0, 2]
    assert browser.run("document.querySelectorAll('svg [data-impl=fused]').length") == 0
    browser.click("#legend button[data-impl=fused]")
    assert drawn(browser, "time") == [0, 1, 2, 3]
    browser.click("#legend button[data-impl=naive]")
    assert drawn(browser, "speedup") == [1, 3]  # the reference counts even when it is not shown


def test_selectors_choose_the_rows_and_never_mix_devices(tmp_path, browser):
    rows = pair() + [r | {"head_dim": 128} for r in pair()] + [r | {"device_name": "Other GPU", "device_uuid": "GPU-2", "causal": 1} for r in pair()]
    browser.open(page(tmp_path, rows))
    assert {"choose-device", "choose-head_dim", "choose-causal"} == set(browser.run("[...document.querySelectorAll('#choices select')].map((s) => s.id)"))
    assert drawn(browser, "time") == [0, 1, 2, 3]
    browser.choose("#choose-head_dim", "128")
    assert drawn(browser, "time") == [4, 5, 6, 7]
    browser.choose("#choose-device", "Other GPU")  # has only causal rows of head_dim 64: the rest follows
    assert drawn(browser, "time") == [8, 9, 10, 11]
    assert browser.run("document.getElementById('choose-head_dim').value") == "64" and browser.run("document.getElementById('choose-causal').value") == "1"


def test_rows_with_rests_are_a_choice_of_their_own(tmp_path, browser):
    browser.open(page(tmp_path, pair() + [r | {"rest": 3} for r in pair()]))
    assert browser.texts("#choose-rest option") == ["none", "3"]
    assert drawn(browser, "time") == [0, 1, 2, 3]
    browser.choose("#choose-rest", "3")
    assert drawn(browser, "time") == [4, 5, 6, 7]


def test_two_devices_of_one_name_are_two_choices(tmp_path, browser):
    rows = pair() + [r | {"device_uuid": "GPU-2"} for r in pair()]
    browser.open(page(tmp_path, rows))
    assert browser.texts("#choose-device option") == ["Test GPU (GPU-1)", "Test GPU (GPU-2)"]
    assert drawn(browser, "time") == [0, 1, 2, 3]


def test_the_table_sorts_both_ways_and_filters(tmp_path, browser):
    rows = [row("fused", 512, time_us=30), row("fused", 1024, time_us=7), row("naive", 2048, time_us=100), row("naive", 4096, time_us="", status="failed", message="boom")]
    browser.open(page(tmp_path, rows))
    order = "[...document.querySelectorAll('#table tbody tr')].map((r) => Number(r.dataset.row))"
    assert browser.run(order) == [0, 1, 2, 3]
    browser.click("#table th[data-column=time_us] button")
    assert browser.run(order) == [1, 0, 2, 3]  # as numbers; the empty cell last
    assert browser.run("document.querySelector('#table th[data-column=time_us]').getAttribute('aria-sort')") == "ascending"
    browser.click("#table th[data-column=time_us] button")
    assert browser.run(order) == [2, 0, 1, 3]
    browser.click("#filter")
    browser.write("fused seqlen_q>=1k")
    assert browser.run(order) == [1] and browser.texts("#count") == ["1 of 4 rows"]
    browser.run("(() => { const f = document.getElementById('filter'); f.value = 'status=failed'; f.dispatchEvent(new Event('input')); })()")
    assert browser.run(order) == [3]
    assert browser.run("document.querySelector('#table tr.unverified').title") == "boom"


def test_a_single_row_has_its_figures_in_the_table(tmp_path, browser):
    browser.open(page(tmp_path, [row("fused", 512)]))
    shown = browser.run("[...document.querySelectorAll('#table th')].map((t) => t.dataset.column)")
    assert {"impl", "seqlen_q", "time_us", "hbm_read_bytes"} <= set(shown) and browser.texts("#count") == ["1 row"]


def test_all_columns_can_be_seen(tmp_path, browser):
    browser.open(page(tmp_path, pair()))
    assert "scale" not in browser.run("[...document.querySelectorAll('#table th')].map((t) => t.dataset.column)")
    browser.click("#all-columns")
    shown = browser.run("[...document.querySelectorAll('#table th')].map((t) => t.dataset.column)")
    assert "scale" in shown and set(shown) <= set(COLUMNS)


def test_rows_without_a_verified_result_are_said_and_never_drawn(tmp_path, browser):
    wrong = row("fused", 1024, status="verify-failed", message="rel_err 0.5 above tolerance 0.004", rel_err=0.5)
    lying = row("fused", 2048, rel_err=0.5)  # says ok, but its own error says no
    browser.open(page(tmp_path, [row("naive", 512), row("fused", 512), row("naive", 1024), wrong, row("naive", 2048), lying]))
    for chart in ("bytes", "time", "roofline"):
        assert drawn(browser, chart) == [0, 1, 2, 4]
    assert drawn(browser, "speedup") == [1]
    assert browser.texts("#undrawn") == ["Not drawn: 1 verify-failed, 1 not verified; see the rows without a result below."]
    listed = browser.texts("#missing-rows tbody tr")
    assert len(listed) == 2 and "rel_err 0.5 above tolerance 0.004" in listed[0] and "verify-failed" in listed[0] and "not verified" in listed[1]


def test_rows_about_one_kernel_of_a_launch_are_in_the_table_by_name_and_never_drawn(tmp_path, browser):
    parts = [checked(row("naive", 512, time_us=t)) | {"kernel": name, "rel_err": "", "tile_m": 8, "tile_n": n, "threads": 3}
             for name, t, n in (("softmax", 1, 8), ("gemm", 2, 16))]
    browser.open(page(tmp_path, pathlib.Path(write(tmp_path / "k.csv", [*map(checked, pair((512,))), *parts]))))
    assert drawn(browser, "time") == [0, 1] and drawn(browser, "bytes") == [0, 1]
    column = "[...document.querySelectorAll('#table th')].map((t) => t.dataset.column).indexOf('kernel')"
    assert browser.run(f"[...document.querySelectorAll('#table tbody tr')].map((r) => r.cells[{column}].textContent)") == ["", "", "softmax", "gemm"]
    assert browser.run("document.getElementById('chart-tiles').hidden") and browser.texts("#choices select") == []
    assert "2 rows of" in browser.texts("#summary")[0] and "2 ok" in browser.texts("#summary")[0]
    assert "2 more rows about single kernels" in browser.texts("#summary")[0]
    assert browser.run("document.getElementById('missing').hidden") and browser.texts("#undrawn") == [""]
    browser.open(page(tmp_path, pair()))
    assert browser.run(column) == -1 and "kernels" not in browser.texts("#summary")[0]


def test_what_does_not_fit_is_a_cross_in_the_memory_chart_alone(tmp_path, browser):
    oom = row("naive", 4096, status="oom", message="needs 5 bytes", time_us="", tflops="", hbm_read_bytes="", hbm_write_bytes="", available_bytes=2**24)
    browser.open(page(tmp_path, [row("naive", 512, available_bytes=""), oom]))
    assert drawn(browser, "memory") == [0] and drawn(browser, "memory", ".cross") == [1] and drawn(browser, "time") == [0]
    assert "free: 16 MiB" in browser.texts("#chart-memory text")
    browser.hover("#chart-memory .cross")
    assert "does not fit: not run" in browser.texts("#tip > *")


@pytest.mark.parametrize("column", ["device_name", "impl", "library", "message", "hostname"])
def test_whatever_stands_in_a_cell_is_shown_as_text(tmp_path, browser, column):
    rows = pair() + [row("flash2", 512, status="failed", time_us="")]
    rows[-1 if column == "message" else 1][column] = NASTY
    browser.open(page(tmp_path, rows, "--title", NASTY))
    assert browser.run("document.title") == NASTY and browser.texts("#title") == [NASTY]
    assert browser.run("document.scripts.length") == 2
    browser.click("#all-columns")
    assert any(NASTY in text for text in browser.texts("#table td"))
    if column == "impl":
        browser.click("#legend button:last-child")
        assert drawn(browser, "time") == [0, 2, 3]


def test_odd_column_names_are_text_too(tmp_path, browser):
    odd = 'x"]<b>'
    path = write(tmp_path / "odd.csv", [checked(r) | {odd: i} for i, r in enumerate(pair())], header=[*COLUMNS, odd])
    browser.open(page(tmp_path, pathlib.Path(path)))
    browser.click("#all-columns")
    browser.click("#table th:last-child button")
    browser.click("#table th:last-child button")
    assert browser.texts("#table tbody tr td:last-child") == ["3", "2", "1", "0"]


def test_the_roof_says_where_it_came_from(tmp_path, browser):
    browser.open(page(tmp_path, pair()))
    assert "No roof" in browser.texts("#chart-roofline .from")[0]
    assert browser.run("document.querySelectorAll('#chart-roofline .guide').length") == 0
    browser.open(page(tmp_path, pair(), "--copy-gbps", 4000, "--matrix-tflops", 800))
    assert "4000 GB/s (--copy-gbps), 800 TFLOP/s (--matrix-tflops)" in browser.texts("#chart-roofline .from")[0]
    assert browser.run("document.querySelectorAll('#chart-roofline .guide').length") == 2


def bars(browser, chart):
    """(x, y, width, height) of each."""
    return browser.run(f"[...document.querySelectorAll('#chart-{chart} .bar')].map((n) => ['x', 'y', 'width', 'height'].map((name) => Number(n.getAttribute(name))))")


def attributed(**changes):
    return row("fused", 1024, time_us=100, gaps_us=5, hbm_read_bytes=3e6, hbm_write_bytes=1e6, executed_flops=6e9, exp_count=8e9, min_hbm_bytes=1,
               ceiling_copy_gbps=100, ceiling_matrix_tflops=100, ceiling_exp_gops=200000, **changes)


def test_parts_of_the_time_stand_side_by_side_in_a_box_as_high_as_the_time(tmp_path, browser):
    browser.open(page(tmp_path, [attributed()]))
    parts = bars(browser, "parts")
    box = browser.run("Number(document.querySelector('#chart-parts .box').getAttribute('height'))")
    assert [height / box for *_, height in parts] == [pytest.approx(share) for share in (0.4, 0.6, 0.4, 0.05)]
    assert len({round(y + height, 3) for _, y, _, height in parts}) == 1  # all of them stand on the axis
    assert all(x + width < right for (x, _, width, _), (right, *_) in zip(parts, parts[1:]))
    assert browser.texts("#chart-parts .key > span") == ["HBM", "matrix units", "exponentials", "no kernel ran", "100%: the time measured"]
    assert "shares do not add up" in browser.texts("#chart-parts .from")[0] and "Not known" not in browser.texts("#chart-parts .from")[0]
    browser.hover("#chart-parts .bar")
    assert {"HBM: 40 \u00b5s, 40% of the time", "exponentials: 40 \u00b5s, 40% of the time"} <= set(browser.texts("#tip > *"))


def test_parts_and_rates_of_a_cpu_have_their_own_names(tmp_path, browser):
    browser.open(page(tmp_path, [attributed() | {"device": "cpu", "ceiling_matrix_tflops": 0.1}]))
    assert browser.texts("#chart-parts .key > span")[:2] == ["main memory", "arithmetic"]
    assert "100 GB/s, 100 GFLOP/s (from the file)" in browser.texts("#chart-roofline .from")[0]


def test_a_band_stays_inside_its_axes(tmp_path, browser):
    wide = [checked(row("naive", n)) | {"time_hi_us": 40 * n, "time_lo_us": n / 2} for n in (512, 1024)]
    browser.open(page(tmp_path, pathlib.Path(write(tmp_path / "w.csv", wide))))
    band, top = browser.run("['.band', '.axis'].map((s) => Math.min(...document.querySelector(`#chart-time ${s}`).getAttribute('points').split(' ').map((p) => Number(p.split(',')[1]))))")
    assert band >= top


def test_idle_time_of_a_chip_whose_clock_was_held_down_is_what_the_gaps_say(tmp_path, browser):
    for throttle, share in (("", 0.3), ("sw_power_cap", 0.05)):
        browser.open(page(tmp_path, [attributed(idle_us=30, throttle=throttle)]))
        box = browser.run("Number(document.querySelector('#chart-parts .box').getAttribute('height'))")
        assert bars(browser, "parts")[3][3] / box == pytest.approx(share)


def test_without_ceilings_the_page_says_what_is_known_and_which_command_gives_the_rest(tmp_path, browser):
    browser.open(page(tmp_path, [row("fused", 1024, gaps_us=51.2), row("naive", 1024, gaps_us=409.6)]))
    (said,) = browser.texts("#chart-parts .empty")
    assert said.startswith("Not known: HBM, matrix units, exponentials. attnprof ceilings measures") and said.endswith("no kernel ran in 5% to 10% of the time.")
    assert browser.texts("#chart-parts .empty code") == ["attnprof ceilings"] and not browser.run("document.querySelector('#chart-parts svg')")
    browser.open(page(tmp_path, pair(), "--copy-gbps", 4000))
    assert "Not known: matrix units, exponentials. attnprof ceilings" in browser.texts("#chart-parts .from")[0]
    assert browser.texts("#chart-parts .key > span") == ["HBM", "100%: the time measured"]


def test_many_parts_take_more_lines_on_a_phone(tmp_path, browser):
    path = page(tmp_path, ROOT / "docs/results/h200.csv")
    narrowest = "Math.min(...[...document.querySelectorAll('#chart-parts .bar')].map((b) => b.getBoundingClientRect().width))"
    browser.size(360, 740, phone=True)
    browser.open(path)
    assert browser.run(narrowest) >= 3


def test_tiles_have_a_map_with_the_best_framed_and_holes_explained(tmp_path, browser):
    tiles = [row("fused", tile_m=m, tile_n=n, time_us=t) for m, n, t in ((64, 32, 9), (64, 64, 5), (128, 32, 7))]
    tiles.append(row("fused", tile_m=128, tile_n=64, status="unsupported", message="needs 300000 bytes of shared memory", time_us=""))
    browser.open(page(tmp_path, [row("naive"), *tiles]))
    assert browser.texts("#chart-tiles table:first-child td") == ["9 \u00b5s", "5 \u00b5s", "7 \u00b5s", "unsupported"]
    assert browser.texts("#chart-tiles table:first-child td.best") == ["5 \u00b5s"]
    assert browser.run("document.querySelector('#chart-tiles td.hole').title") == "needs 300000 bytes of shared memory"
    assert browser.texts("#chart-tiles table:nth-child(2) td.best") == []  # the bytes are all the same
    assert drawn(browser, "io-bound") == [1, 2, 3]
    assert [t.split(":")[0] for t in browser.texts("#chart-io-bound .key span")] == ["bound", "naive"]
    browser.open(page(tmp_path, pair()))
    assert browser.run("document.getElementById('chart-tiles').offsetHeight + document.getElementById('chart-io-bound').offsetHeight") == 0


def test_reasons_of_holes_are_read_without_a_pointer(tmp_path, browser):
    def hole(m, n, status, message):
        return row("fused", tile_m=m, tile_n=n, status=status, message=message, time_us="")
    tiles = [row("fused", tile_m=m, tile_n=32, time_us=m) for m in (64, 128, 256)]
    tiles += [hole(64, 64, "unsupported", "needs 300000 bytes of shared memory"), hole(128, 64, "unsupported", "needs 400000 bytes of shared memory"),
              hole(128, 128, "failed", "spilled <b>"), row("fused", tile_m=64, tile_n=64, time_us=9, stages=3)]
    browser.open(page(tmp_path, tiles))
    assert browser.texts("#chart-tiles .holes li") == ["128x64 (unsupported): needs 400000 bytes of shared memory", "128x128 (failed): spilled <b>",
                                                       "Hatched without a word: not in the file."]
    browser.open(page(tmp_path, [*tiles[:-1], hole(256, 64, "unsupported", "something new")]))
    assert browser.texts("#chart-tiles .holes li")[0] == "64x64, 128x64 (unsupported): e.g. needs 300000 bytes of shared memory"
    browser.open(page(tmp_path, tiles[:3]))
    assert not browser.run("document.querySelector('#chart-tiles .holes').offsetHeight")


def test_points_whose_clock_was_held_down_are_marked_and_counted(tmp_path, browser):
    rows = [r | {"sm_clock_mhz": 1980} for r in pair()] + [r | {"throttle": "sw_power_cap|hw_thermal", "sm_clock_mhz": 1500} for r in pair((2048,))]
    browser.open(page(tmp_path, rows))
    dots = {chart: browser.run(f"document.querySelectorAll('#chart-{chart} .held').length") for chart in ("bytes", "time", "speedup", "tflops", "roofline", "memory")}
    assert dots == {"bytes": 0, "time": 2, "speedup": 1, "tflops": 2, "roofline": 2, "memory": 0}  # what a clock changes
    assert "2 of 6 points ran below the boost clock (power cap, heat): dot inside." in browser.texts("#chart-time .from")[0]
    assert "1 of 3 points" in browser.texts("#chart-speedup .from")[0] and "2 of 6 bars" in browser.texts("#chart-tflops .from")[0]
    browser.hover("#chart-time .point[data-row='4']")
    assert "clock held down: sw_power_cap|hw_thermal, 1500 MHz" in browser.texts("#tip > *")
    browser.open(page(tmp_path, [rows[0], rows[1] | {"sm_clock_mhz": ""}, *rows[2:]]))
    assert "2 of 5 points ran below the boost clock (power cap, heat): dot inside. The clock of 1 other was not read." in browser.texts("#chart-time .from")[0]
    browser.open(page(tmp_path, pair()))
    assert "boost" not in " ".join(browser.texts(".from")) and browser.run("document.querySelectorAll('.held').length") == 0


def test_tiles_whose_clock_was_held_down_are_marked_and_counted(tmp_path, browser):
    browser.open(page(tmp_path, [row("fused", tile_m=m, tile_n=32, time_us=m, throttle=t, sm_clock_mhz=1980) for m, t in ((64, ""), (128, "sw_power_cap"))]))
    assert browser.texts("#chart-tiles table:first-child td") == ["64 \u00b5s", "128 \u00b5s\u2009\u00b0"]
    assert browser.texts("#chart-tiles .holes li") == ["1 of 2 tiles ran below the boost clock (power cap): \u00b0."]
    browser.open(page(tmp_path, [row("fused", tile_m=m, tile_n=32, time_us=m, throttle="sw_thermal") for m in (64, 128)]))
    assert browser.texts("#chart-tiles table:first-child td") == ["64 \u00b5s", "128 \u00b5s"]  # all alike: nothing to mark
    assert browser.texts("#chart-tiles .holes li") == ["2 of 2 tiles ran below the boost clock (heat)."]


def test_everything_can_be_reached_with_the_keyboard(tmp_path, browser):
    browser.open(page(tmp_path, pair()))
    browser.run("document.querySelector('#chart-time svg').focus()")
    for _ in range(3):
        browser.key("ArrowRight", 39)
    assert browser.texts("#tip b") == ["fused, seqlen 512"] and not browser.run("document.getElementById('tip').hidden")
    browser.key("ArrowLeft", 37)
    assert browser.texts("#tip b") == ["naive, seqlen 1k"]
    browser.key("Escape", 27)
    assert browser.run("document.getElementById('tip').hidden")
    reached = set()
    browser.run("document.activeElement.blur()")
    for _ in range(60):
        browser.key("Tab", 9)
        reached.add(browser.run("(document.activeElement.closest('[id]') || document.body).id"))
    assert {"legend", "chart-bytes", "chart-time", "chart-roofline", "filter", "all-columns", "table"} <= reached


@pytest.mark.parametrize("dark", [False, True])
def test_text_stands_out_in_light_and_dark(tmp_path, browser, dark):
    browser.dark(dark)
    browser.open(page(tmp_path, pair()))
    def light(css):
        parts = [int(x) / 255 for x in re.findall(r"\d+", css)[:3]]
        r, g, b = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b
    def contrast(a, b):
        low, high = sorted((light(a), light(b)))
        return (high + 0.05) / (low + 0.05)
    ground = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (light(ground) < 0.1) == dark
    for selector, least in (("#title", 7), ("#summary", 4.5), ("#table td", 7), ("#chart-time .from", 4.5)):
        assert contrast(browser.run(f"getComputedStyle(document.querySelector('{selector}')).color"), ground) >= least
    for series in browser.run("[...document.querySelectorAll('#chart-time .point')].map((n) => getComputedStyle(n).stroke)"):
        assert contrast(series, ground) >= 3


def test_a_phone_needs_no_sideways_scrolling(tmp_path, browser):
    browser.size(360, 740, phone=True)
    browser.open(page(tmp_path, ROOT / "docs/results/h200.csv"))
    assert browser.run("document.documentElement.scrollWidth") <= 360
    assert browser.run("[...document.querySelectorAll('.plot svg')].every((s) => s.getBoundingClientRect().right <= 360)")


def test_paper_holds_every_row_in_its_width_light_and_without_what_needs_a_pointer(tmp_path, browser):
    browser.open(page(tmp_path, ROOT / "docs/results/h200.csv"))
    browser.size(720, 1000)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert browser.run("document.documentElement.scrollWidth") <= 720
        assert browser.run("(() => { const t = document.querySelector('.long'); return t.scrollHeight <= t.clientHeight + 1 && t.scrollWidth <= t.clientWidth + 1; })()")
        assert browser.run("document.querySelectorAll('#table tbody tr').length") == 144
        assert not browser.run("[...document.querySelectorAll('#filter, figcaption input')].some((n) => n.offsetHeight)")
        assert browser.run("Number(document.querySelector('#chart-parts .plot svg').getAttribute('width'))") == 720
    finally:
        browser.call("Emulation.setEmulatedMedia", media="", features=[])
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run("Number(document.querySelector('#chart-parts .plot svg').getAttribute('width'))") < 720


def test_a_short_axis_has_two_labels_at_least(tmp_path, browser):
    browser.open(page(tmp_path, [row("naive", 512, time_us=90), row("naive", 1024, time_us=130)]))
    assert len([t for t in browser.texts("#chart-time text") if t.endswith("\u00b5s")]) >= 2


def test_zeros_have_no_place_on_a_log_axis_and_that_is_said(tmp_path, browser):
    zero = {"hbm_read_bytes": 0, "hbm_write_bytes": 0, "model_hbm_bytes": 0, "min_hbm_bytes": 0}
    browser.open(page(tmp_path, [row("naive", 512), row("fused", 512, **zero), row("naive", 1024)]))
    assert drawn(browser, "bytes") == [0, 2] and "1 point at 0 has no place on a log axis." in browser.texts("#chart-bytes .from")[0]
    browser.click("#chart-bytes label:nth-of-type(2) input")
    assert drawn(browser, "bytes") == [0, 1, 2] and "no place" not in browser.texts("#chart-bytes .from")[0]
    browser.open(page(tmp_path, [row(impl, n, ceiling_copy_gbps=0, gaps_us=0, tflops=0, **zero) for impl in ("naive", "fused") for n in (512, 1024)]))
    assert drawn(browser, "bytes") == [0, 1, 2, 3]
    assert not browser.run("/NaN|Infinity|undefined/.test(document.querySelector('main').innerHTML)")


def test_endless_names_do_not_widen_the_page(tmp_path, browser):
    rows = [row("x" * 200, 512, tile_m=m, tile_n=32, message="z" * 3000) for m in (64, 128)] + [row("naive", 512) | {"device_name": "Y" * 300}]
    for width in (1280, 360):
        browser.size(width, 900)
        browser.open(page(tmp_path, rows))
        assert browser.run("document.documentElement.scrollWidth") <= width


def test_many_unknown_implementations_look_different(tmp_path, browser):
    browser.open(page(tmp_path, [row(f"mine-{i}", 512) for i in range(15)]))
    looks = browser.run("[...document.querySelectorAll('#legend path')].map((p) => p.getAttribute('stroke') + p.getAttribute('d'))")
    assert len(set(looks)) == 15


def test_five_thousand_rows_are_on_the_screen_at_once(tmp_path, browser):
    names = ("naive", "flash2", "flash3", "cudnn", "torch-flash")
    rows = [row(name, n, batch=b, heads=h, kv_heads=h, head_dim=d, causal=c) for name in names for n in (512, 1024, 2048, 4096, 8192)
            for b in (1, 2, 4, 8, 16) for h in (4, 8, 16, 32, 64) for d in (64, 128, 256, 512) for c in (0, 1)]
    browser.open(page(tmp_path, rows))
    took = browser.run("(() => { const t = performance.getEntriesByType('navigation')[0]; return t.loadEventEnd - t.responseEnd; })()")
    assert browser.texts("#count") == ["5000 rows"] and len(browser.texts("#table tbody tr")) == 500
    assert browser.texts("#cut") == ["The first 500 of 5000 rows."]
    assert 0 < took < 3000  # a few hundred ms on two slow cores


def test_commands_in_sentences_are_set_as_code(tmp_path, browser):
    browser.open(page(tmp_path, pair()))
    assert browser.texts("#comparison-hint code") == ["attnprof compare"] and "`" not in browser.texts("#comparison-hint")[0]


def test_the_environment_is_on_the_page(tmp_path, browser):
    browser.open(page(tmp_path, [r | {"driver": "580.1", "hostname": "box", "sm_clock_mhz": 1500 + i} for i, r in enumerate(pair())]))
    machine = browser.texts("#machines tbody td")
    assert {"580.1", "box", "1500 .. 1503", "GPU-1", "0.1.0"} <= set(machine) and browser.texts("#machines th") == ["device", "Test GPU"]
    assert browser.texts("#summary")[0].endswith("4 ok. Test GPU. attnprof 0.1.0.")
    assert any("by hardware counters" in text for text in browser.texts("#sources li"))


def test_the_sentences_of_compare_are_on_the_page(tmp_path, browser):
    path = page(tmp_path, pair((512, 1024)) + [row("naive", 2048), row("fused", 2048, rel_err=0.5)])
    browser.open(path)
    said = subprocess.run([BINARY, "compare", tmp_path / "rows.csv"], capture_output=True, text=True).stdout
    (mean, *_) = browser.texts("#sentences li")
    assert mean.startswith("fused against naive, geometric mean: 4.00x as fast (4.00x to 4.00x, 2 pairs)") and mean in " ".join(said.split())
    assert browser.texts("#pairs summary") == ["fused against naive: 3 pairs"]
    assert not browser.run("document.querySelector('#pairs details').open")
    browser.click("#pairs summary")
    assert browser.run("document.querySelector('#pairs details').open")
    lines = browser.texts("#pairs li")
    assert len(lines) == 3 and "faster" in lines[0] and "4.1 ms" in lines[1].replace("4.10 ms", "4.1 ms") and "faster" not in lines[2]


# --- the command line: needs no browser -------------------------------------------------------------------------------


def test_stdin_and_stdout(tmp_path):
    csv = pathlib.Path(write(tmp_path / "a.csv", [checked(r) for r in pair()]))
    result = subprocess.run([BINARY, "report", "-", "-o", "-"], input=csv.read_text(), capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout.startswith("<!doctype html>") and result.stdout.rstrip().endswith("</html>")


def test_bad_input_is_one_line_exit_2_and_no_page(tmp_path):
    bad = pathlib.Path(write(tmp_path / "bad.csv", [row(time_us="fast")]))
    good = write(tmp_path / "good.csv", pair())
    for arguments in ([bad], [tmp_path / "none.csv"], [good, "--reference", "nobody"], [good, "--copy-gbps", "-3"]):
        result = report(*arguments, "-o", tmp_path / "page.html")
        assert result.returncode == 2 and len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert not (tmp_path / "page.html").exists()
    assert "bad.csv:2" in report(bad).stderr and "naive" in report(good, "--reference", "nobody").stderr
