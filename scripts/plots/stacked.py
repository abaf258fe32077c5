"""Where the time goes: what memory, the matrix units and launches would each take, as shares of the time measured."""

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MultipleLocator

from .roofline import SOURCE, Roof
from .rows import best_rows, size_label, with_bytes
from .style import INK, time_label

PARTS = [  # column, colour, hatch
    ("gaps_us", "#333333", ""), ("hbm_us", "#D55E00", "//"), ("matrix_us", "#0072B2", ""),
]


def part_rows(rows: pd.DataFrame, roof: Roof) -> pd.DataFrame:
    """Adds hbm_us (bytes over copy bandwidth) and matrix_us (executed FLOPs over the matrix rate); NaN where a rate is
    not known."""
    best = best_rows(with_bytes(rows), "time_us")
    nan = float("nan")
    return best.assign(hbm_us=best["hbm_bytes"] / ((roof.copy_gbps or nan) * 1e3),
                       matrix_us=best["executed_flops"] / ((roof.matrix_tflops or nan) * 1e6))


def draw_stacked(axes, rows: pd.DataFrame, impl: str, seqlens: list[int], roof: Roof) -> list[float]:
    """One bar a length: parts on top of each other, each as a share of time_us. The line at 100% is the time measured; a bar
    above it means that parts overlapped. Returns the heights."""
    points = part_rows(rows[rows["impl"] == impl], roof).set_index("seqlen_q")
    heights = []
    for place, seqlen in enumerate(seqlens):
        if seqlen not in points.index:
            continue
        row = points.loc[seqlen]
        at = 0.0
        for column, color, hatch in PARTS:
            if pd.isna(row[column]):
                continue
            share = 100 * row[column] / row["time_us"]
            axes.bar(place, share, 0.74, bottom=at, color=color, hatch=hatch, edgecolor="white", linewidth=0.4)
            at += share
        heights.append(at)
        axes.annotate(time_label(row["time_us"]), (place, max(at, 100)), xytext=(0, 3), textcoords="offset points", fontsize=7.5,
                      ha="center", va="bottom", rotation=90)
    axes.axhline(100, color=INK, linewidth=1.3)
    axes.set_xticks(range(len(seqlens)), [size_label(s) for s in seqlens])
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("sequence length")
    axes.yaxis.set_major_locator(MultipleLocator(50))
    axes.yaxis.set_major_formatter(lambda v, _: f"{v:.0f}%")
    axes.set_ylabel("share of time")
    return heights


def stacked_handles(points: pd.DataFrame) -> list:
    names = {"gaps_us": "launch gaps (gaps_us)", "matrix_us": "arithmetic: executed FLOPs / matrix rate",
             "hbm_us": "HBM: bytes " + ", ".join(SOURCE[s] for s in sorted(set(points["bytes_from"]))) + " / copy bandwidth"}
    handles = [Patch(facecolor=color, hatch=hatch, edgecolor="white", label=names[column]) for column, color, hatch in PARTS
               if points[column].notna().any()]
    handles.append(Line2D([], [], color=INK, linewidth=1.3, label="100%: the time measured, written above its bar"))
    return handles
