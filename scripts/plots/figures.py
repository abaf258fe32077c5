"""One function per question; each takes a Group and the Options and returns a matplotlib figure, or None when there is
nothing to draw."""

from .io_bound import io_bound_figure
from .panels import (bytes_handles, draw_bytes, draw_memory, draw_speedup, draw_tflops, draw_time, impl_handles,
                     memory_handles, rate_unit)
from .roofline import axis_limits, draw_roofline, intensity_rows, roof_of, roofline_handles
from .rows import PANEL, Group, Options, best_rows, footer, size_label, throttle_notes
from .stacked import PARTS, draw_stacked, part_rows, stacked_handles, stacked_notes
from .style import WIDTH, end_labels, finish, order_impls, place_labels, plt
from .tiles import tile_parts, tiles_figure


def _panels(group: Group, panels: list[tuple], height: float, draw, stacked=False):
    """A grid, head_dim to the right and causal downwards (stacked: one panel in a line); draw(axes, rows of the panel)."""
    head_dims = sorted({d for d, _ in panels})
    causals = sorted({c for _, c in panels})
    places = [[(d, c)] for d in head_dims for c in causals] if stacked else [[(d, c) for d in head_dims] for c in causals]
    figure, grid = plt.subplots(len(places), len(places[0]), squeeze=False, sharey=True,
                                figsize=(WIDTH if stacked or len(places[0]) > 1 else 6.4, height * len(places) + 1.05))
    for row, line in enumerate(places):
        for column, (head_dim, causal) in enumerate(line):
            axes = grid[row][column]
            part = group.rows[(group.rows["head_dim"] == head_dim) & (group.rows["causal"] == causal)]
            draw(axes, part)
            axes.set_title(f"head_dim {head_dim}, {'causal' if causal else 'not causal'}", loc="left")
            if column > 0:
                axes.set_ylabel("")
            if row < len(places) - 1:
                axes.set_xlabel("")
    return figure


def _present(rows) -> list[tuple]:
    return sorted(set(zip(rows["head_dim"], rows["causal"])))


def bytes_figure(group: Group, _options: Options):
    points = group.rows[(group.rows["status"] == "ok") & (group.rows["hbm_read_bytes"] + group.rows["hbm_write_bytes"] > 0)]
    if points.empty:
        return None
    impls = order_impls(points["line"])
    figure = _panels(group, _present(points), 2.8, lambda axes, rows: draw_bytes(axes, rows, impls))
    measured = "cupti" in set(points["bytes_source"])
    finish(figure, "HBM bytes against sequence length" if measured else "Main-memory bytes (counted) against sequence length",
           group.title, footer(points), bytes_handles(points, impls))
    return figure


def time_figure(group: Group, _options: Options):
    points = best_rows(group.rows, "time_us")
    if points.empty:
        return None
    impls = order_impls(points["line"])
    figure = _panels(group, _present(points), 2.8, lambda axes, rows: draw_time(axes, rows, impls))
    finish(figure, "Time of one launch against sequence length", f"{group.title}; median, band: its 95% interval",
           footer(points), impl_handles(impls), notes=throttle_notes(points))
    return figure


def speedup_figure(group: Group, options: Options):
    points = best_rows(group.rows, "time_us")
    base = points[points["impl"] == options.baseline]
    compared = points[points["impl"] != options.baseline].merge(base[["file", *PANEL]].drop_duplicates())
    if compared.empty:
        return None
    impls = order_impls(compared["line"])
    labels: list[tuple] = []
    figure = _panels(group, _present(base), 2.7,
                     lambda axes, rows: labels.append((axes, draw_speedup(axes, rows, impls, options.baseline))))
    for axes, at_ends in labels:
        end_labels(axes, at_ends)
    finish(figure, f"Speed-up over {options.baseline}", group.title, footer(points), impl_handles(impls), notes=throttle_notes(compared))
    return figure


def tflops_figure(group: Group, _options: Options):
    points = best_rows(group.rows, "tflops", smallest=False)
    if points.empty or not (points["tflops"] > 0).any():
        return None
    impls = order_impls(points["line"])
    unit = rate_unit(points)
    wide = points["seqlen_q"].nunique() * len(impls) > 15  # numbers on bars need that room
    figure = _panels(group, _present(points), 1.95 if wide else 2.7, lambda axes, rows: draw_tflops(axes, rows, impls, unit),
                     stacked=wide)
    finish(figure, f"Throughput: {unit[0]} of the unmasked products", group.title, footer(points), impl_handles(impls, bars=True),
           notes=throttle_notes(points, "bars"))
    return figure


def memory_figure(group: Group, _options: Options):
    points = group.rows[group.rows["workspace_bytes"].notna() & group.rows["status"].isin(["ok", "oom"])]
    if points.empty:
        return None
    impls = order_impls(points["line"])
    # Memory does not depend on the mask: one row of panels.
    causal = points["causal"].min()
    part = Group(points[points["causal"] == causal], group.title, group.suffix)
    figure = _panels(part, [(d, causal) for d in sorted(part.rows["head_dim"].unique())], 3.1,
                     lambda axes, rows: draw_memory(axes, rows, impls))
    for axes in figure.axes:
        axes.set_title(axes.get_title(loc="left").split(",")[0], loc="left")
    finish(figure, "Memory needed, and what was free", group.title, footer(points), memory_handles(points, impls))
    return figure


def roofline_figure(group: Group, options: Options):
    points = intensity_rows(group.rows)
    if points.empty:
        return None
    impls = order_impls(points["line"])
    roof = roof_of(group, options)
    limits = axis_limits(points, roof)
    labels: list[tuple] = []
    figure = _panels(group, _present(points), 2.8,
                     lambda axes, rows: labels.append((axes, *draw_roofline(axes, rows, impls, roof, limits))))
    finish(figure, "Roofline", f"{group.title}; {roof.source}", footer(points),
           roofline_handles(points, impl_handles(impls), roof), notes=["Numbers at the ends of curves, where there is room, are sequence lengths.", *throttle_notes(points)])
    for axes, ends, marks in labels:
        place_labels(axes, ends, marks)
    return figure


def stacked_figure(group: Group, options: Options):
    roof = roof_of(group, options)
    points = part_rows(group.rows, roof)
    if points.empty or points[[column for column, _ in PARTS]].isna().all(axis=None):
        return None
    points = points[points[[column for column, _ in PARTS]].notna().any(axis=1)]
    impls = order_impls(points["line"])
    seqlens = sorted(points["seqlen_q"].unique())
    # One line of panels for each head_dim and mask; of many implementations, as many lines as titles and ticks need.
    across = min(len(impls), 4 if len(seqlens) <= 7 else 2)
    lines = [(panel, impls[first:first + across]) for panel in _present(points) for first in range(0, len(impls), across)]
    figure, grid = plt.subplots(len(lines), across, squeeze=False, sharey=True,
                                figsize=(WIDTH if across > 1 else 6.4, 2.0 * len(lines) + 1.4))
    tallest: list[float] = []
    for place, ((head_dim, causal), some) in enumerate(lines):
        for axes in grid[place][len(some):]:
            axes.set_visible(False)
        for axes, impl in zip(grid[place], some):
            tallest += draw_stacked(axes, points[(points["head_dim"] == head_dim) & (points["causal"] == causal)], impl, seqlens, roof)
            axes.set_title(f"{impl}, d {head_dim}{', causal' if causal else ''}", loc="left")
            if impl != some[0]:
                axes.set_ylabel("")
            if place < len(lines) - 1:
                axes.set_xlabel("")
    grid[0][0].set_ylim(0, 1.85 * max(100.0, max(tallest, default=0)))  # room for the times, upright
    exp = f"; {roof.exp_gops:.4g} Gexp/s" if roof.exp_gops else ""
    finish(figure, "Where the time goes: each part alone, against the time measured", f"{group.title}; {roof.source}{exp}", footer(points),
           stacked_handles(points), notes=stacked_notes(points))
    return figure


def overview_figure(group: Group, options: Options):
    """Bytes, time and speed-up of one panel side by side: the narrowest head, not causal where there is a choice."""
    panels = _present(best_rows(group.rows, "time_us"))
    if not panels:
        return None
    head_dim, causal = min(panels)
    rows = group.rows[(group.rows["head_dim"] == head_dim) & (group.rows["causal"] == causal)]
    points = best_rows(rows, "time_us")
    impls = order_impls(points["line"])
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.9))
    draw_bytes(left, rows, impls)
    left.set_title("HBM bytes" if "cupti" in set(points["bytes_source"]) else "Main-memory bytes", loc="left")
    draw_time(middle, rows, impls)
    middle.set_title("Time", loc="left")
    others = order_impls(points.loc[points["impl"] != options.baseline, "line"])
    end_labels(right, draw_speedup(right, rows, others, options.baseline))
    right.set_title(f"Speed-up over {options.baseline}", loc="left")
    longest = size_label(int(points["seqlen_q"].max()))
    finish(figure, f"Exact attention up to {longest} tokens, head_dim {head_dim}, {'causal' if causal else 'not causal'}",
           group.title, footer(points), bytes_handles(points, impls), notes=throttle_notes(points))
    return figure


FIGURES = {"bytes": bytes_figure, "time": time_figure, "speedup": speedup_figure, "tflops": tflops_figure,
           "roofline": roofline_figure, "tiles": tiles_figure, "memory": memory_figure, "stacked": stacked_figure,
           "io-bound": None, "overview": overview_figure}


def draw(kind: str, group: Group, options: Options):
    """Yields (suffix of the file name, figure) of one question about one group."""
    if kind not in {"tiles", "io-bound"}:
        figure = FIGURES[kind](group, options)
        if figure is not None:
            yield group.suffix, figure
        return
    for part in tile_parts(group):
        if kind == "tiles":
            figure = tiles_figure(part, options)
        else:
            key = ["head_dim", "causal", "seqlen_q", "file"]
            same = group.rows[(group.rows[key] == part.rows.iloc[0][key]).all(axis=1)]
            figure = io_bound_figure(part, options, same)
        if figure is not None:
            yield part.suffix, figure
