"""What stands inside one panel. Only rows with status ok become points; each function takes the rows of its panel."""

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .rows import best_rows, size_label, throttled
from .style import (COMPULSORY, INK, binary_bytes_label, bytes_label, held_dots, look, seqlen_axis, time_label,
                    value_axis)

FLOOR = {"linewidth": 7, "alpha": 0.25, "solid_capstyle": "round"}  # the line that nothing can go below


def _with_bytes(rows: pd.DataFrame) -> pd.DataFrame:
    rows = rows.assign(hbm_bytes=rows["hbm_read_bytes"] + rows["hbm_write_bytes"])
    best = best_rows(rows, "hbm_bytes")
    return best[best["hbm_bytes"] > 0]  # the axis is logarithmic


def draw_bytes(axes, rows: pd.DataFrame, impls: list[str]) -> None:
    """Points: measured (filled) or counted (open). Dashed: each implementation's model. Grey: compulsory."""
    points = _with_bytes(rows)
    least = points[points["min_hbm_bytes"] > 0].drop_duplicates("seqlen_q")
    axes.plot(least["seqlen_q"], least["min_hbm_bytes"], color=COMPULSORY, **FLOOR)
    for place, impl in enumerate(i for i in impls if i in set(points["line"])):
        mine = points[points["line"] == impl]
        color, marker = look(impl, impls)
        modelled = mine[mine["model_hbm_bytes"] > 0]
        axes.plot(modelled["seqlen_q"], modelled["model_hbm_bytes"], color=color, linestyle=(0, (5, 2)), linewidth=1.4)
        for source, part in mine.groupby("bytes_source"):
            # Fused kernels move the same bytes: each one's marker is smaller than the one under it, so that all are seen.
            axes.plot(part["seqlen_q"], part["hbm_bytes"], color=color, marker=marker, linestyle="none",
                      markersize=max(7.5 - 1.3 * place, 3), markerfacecolor=color if source == "cupti" else "white",
                      markeredgewidth=max(1.6 - 0.3 * place, 0.6))
    seqlen_axis(axes, points["seqlen_q"])
    value_axis(axes, "bytes read + written", bytes_label)
    _ratio_arrow(axes, points, impls)


def _ratio_arrow(axes, points: pd.DataFrame, impls: list[str]) -> None:
    """The factor between the most and the least bytes at the longest sequence that has two implementations."""
    counts = points.groupby("seqlen_q")["impl"].nunique()
    shared = counts[counts > 1].index
    if shared.empty or points["file"].nunique() > 1:
        return
    at = points[points["seqlen_q"] == shared.max()]
    high, low = at["hbm_bytes"].max(), at["hbm_bytes"].min()
    if low <= 0 or high / low < 1.5:
        return
    x = shared.max()
    axes.annotate("", xy=(x, low * 1.25), xytext=(x, high / 1.25), arrowprops={"arrowstyle": "->", "color": COMPULSORY})
    axes.annotate(f"{high / low:.{0 if high / low >= 10 else 1}f}x", xy=(x, (float(low) * float(high)) ** 0.5), xytext=(-5, 0), textcoords="offset points", ha="right",
                  va="center", fontweight="bold")


def draw_time(axes, rows: pd.DataFrame, impls: list[str]) -> None:
    points = best_rows(rows, "time_us")
    for impl in impls:
        mine = points[points["line"] == impl]
        color, marker = look(impl, impls)
        axes.plot(mine["seqlen_q"], mine["time_us"], color=color, marker=marker)
        axes.fill_between(mine["seqlen_q"], mine["time_lo_us"], mine["time_hi_us"], color=color, alpha=0.25, linewidth=0)
    held = throttled(points)
    held_dots(axes, held["seqlen_q"], held["time_us"])
    seqlen_axis(axes, points["seqlen_q"])
    value_axis(axes, "time", time_label)


def draw_speedup(axes, rows: pd.DataFrame, impls: list[str], baseline: str) -> list[tuple]:
    """Only lengths at which both the implementation and the baseline of the same file were measured and verified. Returns what
    stands at the ends of the curves, for end_labels once every panel is drawn and the shared axis is final."""
    best = best_rows(rows, "time_us").set_index("seqlen_q")
    bases = {file: part["time_us"] for file, part in best[best["impl"] == baseline].groupby("file")}
    if not bases:
        axes.text(0.5, 0.5, f"no verified rows of {baseline}", transform=axes.transAxes, ha="center")
        return []
    axes.axhline(1, color=COMPULSORY, linewidth=1)
    seqlens: list[int] = []
    labels = []
    top = 1.0
    for impl in impls:
        mine = best[best["line"] == impl]
        if mine.empty or mine["file"].iloc[0] not in bases:
            continue
        ratio = (bases[mine["file"].iloc[0]] / mine["time_us"]).dropna()
        if ratio.empty:
            continue
        color, marker = look(impl, impls)
        axes.plot(ratio.index, ratio.values, color=color, marker=marker)
        held = ratio[mine.loc[ratio.index, "throttle"] != ""]
        held_dots(axes, held.index, held.values)
        labels.append((ratio.iloc[-1], f"{ratio.iloc[-1]:.{2 if ratio.iloc[-1] < 10 else 1}f}x", color))
        seqlens += list(ratio.index)
        top = max(top, ratio.max())
    seqlen_axis(axes, seqlens)
    value_axis(axes, f"time of {baseline} / time", lambda v: f"{v:g}x", log=False)
    axes.set_ylim(0, max(axes.get_ylim()[1], top * 1.1))
    return labels


def rate_unit(rows: pd.DataFrame) -> tuple[str, float]:
    """Unit of a bar chart's axis, and how many of it one TFLOP/s is."""
    return ("TFLOP/s", 1) if rows["tflops"].max() >= 1 else ("GFLOP/s", 1000)


def draw_tflops(axes, rows: pd.DataFrame, impls: list[str], unit: tuple[str, float]) -> None:
    """Grouped bars, one group per length, the number on each bar; a case that did not fit says OOM in its place."""
    points = best_rows(rows, "tflops", smallest=False)
    oom = set(zip(*rows[rows["status"] == "oom"][["line", "seqlen_q"]].values.T)) if (rows["status"] == "oom").any() else set()
    seqlens = sorted(set(points["seqlen_q"]) | {s for _, s in oom})
    width = 0.86 / len(impls)
    crowded = len(impls) * len(seqlens) > 14  # numbers beside each other would touch: they stand upright
    text = {"textcoords": "offset points", "ha": "center", "va": "bottom", "fontsize": 8}
    for i, impl in enumerate(impls):
        mine = points[points["line"] == impl].set_index("seqlen_q")["tflops"]
        held = set(throttled(points[points["line"] == impl])["seqlen_q"])
        color, _ = look(impl, impls)
        for group, seqlen in enumerate(seqlens):
            x = group + (i - (len(impls) - 1) / 2) * width
            if seqlen in mine.index:
                value = float(mine[seqlen]) * unit[1]
                axes.bar(x, value, width * 0.94, color=color)
                if seqlen in held:
                    held_dots(axes, [x], [value], below=4)
                axes.annotate(f"{value:.0f}" if value >= 10 else f"{value:.2g}", (x, value), xytext=(0, 2),
                              rotation=90 if crowded else 0, **text)
            elif (impl, seqlen) in oom:
                axes.annotate("OOM", (x, 0), xytext=(0, 3), rotation=90, color=color, **text)
    axes.set_xticks(range(len(seqlens)), [size_label(s) for s in seqlens])
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("sequence length")
    axes.set_ylabel(unit[0])
    axes.margins(y=0.2 if crowded else 0.12)
    aside = 0.5 + max(0, 3 - len(seqlens)) / 2  # few lengths do not make broad bars
    axes.set_xlim(-aside, len(seqlens) - 1 + aside)


def with_memory(rows: pd.DataFrame) -> pd.DataFrame:
    """Adds needed_bytes: operands, results and workspace, what must fit into the memory that was free."""
    element = rows["dtype"].map({"fp32": 4, "fp16": 2, "bf16": 2})
    queries = rows["batch"] * rows["heads"] * rows["seqlen_q"]
    keys = rows["batch"] * rows["kv_heads"] * rows["seqlen_kv"]
    operands = 2 * (queries + keys) * rows["head_dim"] * element + 4 * queries  # Q, O, K, V; LSE in fp32
    return rows.assign(operand_bytes=operands, needed_bytes=operands + rows["workspace_bytes"])


def draw_memory(axes, rows: pd.DataFrame, impls: list[str]) -> None:
    """What each case needs (markers: it ran; crosses: it did not fit), the part that is operands, and what was free."""
    known = with_memory(rows[rows["workspace_bytes"].notna()]).sort_values(["seqlen_q", "status"], ascending=[True, False])
    operands = known.drop_duplicates("seqlen_q")
    axes.plot(operands["seqlen_q"], operands["operand_bytes"], color=COMPULSORY, **FLOOR)
    for place, impl in enumerate(impls):
        mine = known[known["line"] == impl].drop_duplicates("seqlen_q")
        ok, oom = mine[mine["status"] == "ok"], mine[mine["status"] == "oom"]
        color, marker = look(impl, impls)
        axes.plot(mine["seqlen_q"], mine["needed_bytes"], color=color, linewidth=1.4)
        axes.plot(ok["seqlen_q"], ok["needed_bytes"], color=color, marker=marker, linestyle="none",
                  markersize=max(7.5 - 1.3 * place, 3))
        axes.plot(oom["seqlen_q"], oom["needed_bytes"], color=color, marker="x", linestyle="none", markersize=9,
                  markeredgewidth=2.4)
    seqlen_axis(axes, known["seqlen_q"])
    axes.set_yscale("log", base=2)
    free = rows["available_bytes"].max()
    low, high = axes.get_ylim()
    if pd.notna(free):
        axes.axhline(free, color=COMPULSORY, linestyle="--", linewidth=1.2)
        axes.annotate(f"free: {binary_bytes_label(free)}", (0.01, free), xycoords=("axes fraction", "data"), xytext=(2, 3),
                      textcoords="offset points", fontsize=9, color=INK)
        high = max(high, free * 4)
    axes.set_ylim(low, high)
    step = 2 if high / low < 2**14 else 4
    axes.set_yticks([2.0**e for e in range(0, 63, step) if low <= 2.0**e <= high])
    value_axis(axes, "operands + workspace", binary_bytes_label, log=False)


def impl_handles(impls: list[str], bars: bool = False) -> list:
    if bars:
        return [Patch(color=look(i, impls)[0], label=i) for i in impls]
    return [Line2D([], [], color=look(i, impls)[0], marker=look(i, impls)[1], label=i) for i in impls]


def bytes_handles(points: pd.DataFrame, impls: list[str]) -> list:
    sources = set(points["bytes_source"])
    handles = impl_handles(impls)
    for handle in handles:
        if sources == {"counted"}:
            handle.set_markerfacecolor("white")
            handle.set_markeredgewidth(1.6)
    if sources == {"counted", "cupti"}:
        handles.append(Line2D([], [], color=COMPULSORY, marker="o", markerfacecolor="white", linestyle="none",
                              label="counted, not measured"))
    handles.append(Line2D([], [], color=COMPULSORY, linestyle=(0, (5, 2)), linewidth=1.4, label="model"))
    handles.append(Line2D([], [], color=COMPULSORY, label="compulsory (each operand once)", **FLOOR))
    return handles


def memory_handles(points: pd.DataFrame, impls: list[str]) -> list:
    handles = impl_handles(impls)
    handles.append(Line2D([], [], color=COMPULSORY, label="operands and results alone", **FLOOR))
    if (points["status"] == "oom").any():
        handles.append(Line2D([], [], color=COMPULSORY, marker="x", linestyle="none", markersize=8, markeredgewidth=2.2,
                              label="does not fit (status oom)"))
    return handles
