"""One function per question; each takes a Group and returns a matplotlib figure, or None when there is nothing to draw."""

from .panels import (bytes_handles, draw_bytes, draw_memory, draw_speedup, draw_tflops, draw_time, impl_handles,
                     memory_handles)
from .rows import Group, best_rows, footer, size_label
from .style import finish, order_impls, plt


def _panels(group: Group, panels: list[tuple], width: float, height: float, draw, transposed=False):
    """A grid, head_dim to the right and causal downwards (transposed: the other way); draw(axes, rows of the panel)."""
    head_dims = sorted({d for d, _ in panels})
    causals = sorted({c for _, c in panels})
    down, right = (head_dims, causals) if transposed else (causals, head_dims)
    figure, grid = plt.subplots(len(down), len(right), squeeze=False, sharey=True,
                                figsize=(max(width * len(right) + 0.6, 6.4), height * len(down) + 1.05))
    for row, first in enumerate(down):
        for column, second in enumerate(right):
            axes = grid[row][column]
            head_dim, causal = (first, second) if transposed else (second, first)
            part = group.rows[(group.rows["head_dim"] == head_dim) & (group.rows["causal"] == causal)]
            draw(axes, part)
            axes.set_title(f"head_dim {head_dim}, {'causal' if causal else 'not causal'}", loc="left")
            if column > 0:
                axes.set_ylabel("")
    return figure


def _present(rows) -> list[tuple]:
    return sorted(set(zip(rows["head_dim"], rows["causal"])))


def bytes_figure(group: Group, _baseline: str):
    points = group.rows[(group.rows["status"] == "ok") & group.rows["hbm_read_bytes"].notna()]
    if points.empty:
        return None
    impls = order_impls(points["impl"])
    figure = _panels(group, _present(points), 3.9, 3.1, lambda axes, rows: draw_bytes(axes, rows, impls))
    measured = "cupti" in set(points["bytes_source"])
    finish(figure, "HBM bytes against sequence length" if measured else "Main-memory bytes (counted) against sequence length",
           group.title, footer(points), bytes_handles(points, impls))
    return figure


def time_figure(group: Group, _baseline: str):
    points = best_rows(group.rows, "time_us")
    if points.empty:
        return None
    impls = order_impls(points["impl"])
    figure = _panels(group, _present(points), 3.9, 3.1, lambda axes, rows: draw_time(axes, rows, impls))
    finish(figure, "Time of one launch against sequence length", f"{group.title}; median, band: its 95% interval",
           footer(points), impl_handles(impls))
    return figure


def speedup_figure(group: Group, baseline: str):
    points = best_rows(group.rows, "time_us")
    base = points[points["impl"] == baseline]
    impls = [i for i in order_impls(points["impl"]) if i != baseline]
    if base.empty or not impls:
        return None
    figure = _panels(group, _present(base), 3.9, 3.0, lambda axes, rows: draw_speedup(axes, rows, impls, baseline))
    finish(figure, f"Speed-up over {baseline}", group.title, footer(points), impl_handles(impls))
    return figure


def tflops_figure(group: Group, _baseline: str):
    points = best_rows(group.rows, "tflops", smallest=False)
    if points.empty:
        return None
    impls = order_impls(points["impl"])
    bars = points["seqlen_q"].nunique() * len(impls)
    figure = _panels(group, _present(points), min(max(0.2 * bars, 4.2), 5.9), 2.7,
                     lambda axes, rows: draw_tflops(axes, rows, impls), transposed=True)
    finish(figure, "Throughput: TFLOP/s of the unmasked products", group.title, footer(points), impl_handles(impls, bars=True))
    return figure


def memory_figure(group: Group, _baseline: str):
    points = group.rows[group.rows["workspace_bytes"].notna() & group.rows["status"].isin(["ok", "oom"])]
    if points.empty:
        return None
    impls = order_impls(points["impl"])
    # Workspace does not depend on the mask: one row of panels.
    causal = points["causal"].min()
    figure = _panels(group, [(d, causal) for d in sorted(points["head_dim"].unique())], 3.9, 3.1,
                     lambda axes, rows: draw_memory(axes, rows, impls))
    for axes in figure.axes:
        axes.set_title(axes.get_title(loc="left").split(",")[0], loc="left")
    finish(figure, "Workspace: memory beyond Q, K, V, O and LSE", group.title, footer(points), memory_handles(points, impls))
    return figure


def overview_figure(group: Group, baseline: str):
    """Bytes, time and speed-up of one panel side by side: the narrowest head, not causal where there is a choice."""
    panels = _present(best_rows(group.rows, "time_us"))
    if not panels:
        return None
    head_dim, causal = min(panels)
    rows = group.rows[(group.rows["head_dim"] == head_dim) & (group.rows["causal"] == causal)]
    points = best_rows(rows, "time_us")
    impls = order_impls(points["impl"])
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 4.1))
    draw_bytes(left, rows, impls)
    left.set_title("HBM bytes" if "cupti" in set(points["bytes_source"]) else "Main-memory bytes", loc="left")
    draw_time(middle, rows, impls)
    middle.set_title("Time", loc="left")
    draw_speedup(right, rows, [i for i in impls if i != baseline], baseline)
    right.set_title(f"Speed-up over {baseline}", loc="left")
    longest = size_label(int(points["seqlen_q"].max()))
    finish(figure, f"Exact attention up to {longest} tokens, head_dim {head_dim}, {'causal' if causal else 'not causal'}",
           group.title, footer(points), bytes_handles(points, impls))
    return figure


FIGURES = {"bytes": bytes_figure, "time": time_figure, "speedup": speedup_figure, "tflops": tflops_figure,
           "memory": memory_figure, "overview": overview_figure}
