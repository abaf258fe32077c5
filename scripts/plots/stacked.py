"""Where the time goes: what memory, the matrix units, the exponentials and the launches would each take alone, as shares of
the time measured. They work at the same time, so the shares stand side by side and are never added up."""

import pandas as pd
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator

from .roofline import SOURCE, Roof
from .rows import best_rows, size_label, with_bytes
from .style import INK, time_label

PARTS = [  # column, colour; the order in which they stand
    ("hbm_us", "#D55E00"), ("matrix_us", "#0072B2"), ("exp_us", "#CC79A7"), ("no_kernel_us", "#333333"),
]
TIME = "#ECECEC"  # the box that the bars stand in: as high as the time measured, 100%
BOX = 0.86


def part_rows(rows: pd.DataFrame, roof: Roof) -> pd.DataFrame:
    """Adds hbm_us (bytes over copy bandwidth), matrix_us (FLOPs over the matrix rate: counted, else of the schedule), exp_us
    (exponentials over their rate) and no_kernel_us; NaN where a rate is not known. idle_us compares two runs: where the
    clock was held down in the timing run it says more about the clock than about launches, and the gaps seen stand for it."""
    best = best_rows(with_bytes(rows), "time_us")
    nan = float("nan")
    flops = best["tensor_flops"].astype(float).fillna(best["executed_flops"])
    return best.assign(hbm_us=best["hbm_bytes"] / ((roof.copy_gbps or nan) * 1e3),
                       matrix_us=flops / ((roof.matrix_tflops or nan) * 1e6),
                       exp_us=best["exp_count"].astype(float) / ((roof.exp_gops or nan) * 1e3),
                       no_kernel_us=best["idle_us"].astype(float).where(best["throttle"] == "").fillna(best["gaps_us"]))


def draw_stacked(axes, rows: pd.DataFrame, impl: str, seqlens: list[int], roof: Roof) -> list[float]:
    """A box for each length, as high as the time measured, and in it one bar for each part. Returns the bars' heights."""
    points = part_rows(rows[rows["line"] == impl], roof).set_index("seqlen_q")
    heights = []
    parts = [(column, color) for column, color in PARTS if points[column].notna().any()]
    width = 0.9 * BOX / max(len(parts), 1)
    for place, seqlen in enumerate(seqlens):
        if seqlen not in points.index:
            continue
        row = points.loc[seqlen]
        axes.bar(place, 100, BOX, color=TIME, zorder=1)
        shares = {column: 100 * row[column] / row["time_us"] for column, _ in parts if pd.notna(row[column])}
        for i, (column, color) in enumerate(parts):
            if column in shares:
                axes.bar(place + (i - (len(parts) - 1) / 2) * width, shares[column], 0.9 * width, color=color, zorder=2)
        heights += shares.values()
        axes.annotate(time_label(row["time_us"]), (place, max([100, *shares.values()])), xytext=(0, 3), textcoords="offset points",
                      fontsize=7.5, ha="center", va="bottom", rotation=90)
    axes.axhline(100, color=INK, linewidth=0.9)
    axes.set_xticks(range(len(seqlens)), [size_label(s) for s in seqlens])
    axes.grid(axis="x", visible=False)
    axes.set_xlabel("sequence length")
    axes.yaxis.set_major_locator(FixedLocator([0, 50, 100]))
    axes.yaxis.set_major_formatter(lambda v, _: f"{v:.0f}%")
    axes.set_ylabel("share of time")
    return heights


def _names(points: pd.DataFrame) -> tuple[str, str]:
    return ("main memory", "arithmetic") if set(points["device"]) == {"cpu"} else ("HBM", "matrix units")


def stacked_handles(points: pd.DataFrame) -> list:
    counted = points["tensor_flops"].notna()
    flops = "executed FLOPs" if not counted.any() else "counted FLOPs" if counted.all() else "counted or executed FLOPs"
    memory, arithmetic = _names(points)
    names = {"hbm_us": f"{memory}: bytes " + ", ".join(SOURCE[s] for s in sorted(set(points["bytes_from"]))) + " / copy bandwidth",
             "matrix_us": f"{arithmetic}: {flops} / {'matrix' if arithmetic != 'arithmetic' else 'its'} rate",
             "exp_us": "exponentials / their rate", "no_kernel_us": "no kernel ran (launches)"}
    handles = [Patch(facecolor=color, label=names[column]) for column, color in PARTS if points[column].notna().any()]
    handles.append(Patch(facecolor=TIME, label="100%: time measured, above"))
    return handles


def stacked_notes(points: pd.DataFrame) -> list[str]:
    """How to read the bars, and which part is missing and what would give it."""
    notes = ["Parts run at the same time: their shares do not add up. One near 100% limits; where none is, latency or waiting for each other does."]
    names = dict(zip(("hbm_us", "matrix_us", "exp_us"), (*_names(points), "exponentials")))
    missing = [name for column, name in names.items() if points[column].isna().all()]
    if missing:
        notes.append(f"Not known: {', '.join(missing)}. Run attnprof ceilings on the machine, then sweep: rows are held against them.")
    return notes
