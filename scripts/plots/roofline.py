"""What a roof is and where it came from, and the roofline: TFLOP/s against FLOPs per byte."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from .rows import Group, Options, best_rows, size_label, throttled, with_bytes
from .style import COMPULSORY, INK, face, held_dots, look, rate_label, value_axis

SOURCE = {"cupti": "measured (cupti)", "counted": "counted", "model": "modelled"}


@dataclass(frozen=True)
class Roof:
    copy_gbps: float | None
    matrix_tflops: float | None
    source: str  # one phrase for the figure
    exp_gops: float | None = None  # of exponentials: no roof, but a part of the time

    def limit_tflops(self, intensity: float) -> float:
        """What can be reached at so many FLOPs per byte; both rates must be known."""
        return min(self.copy_gbps * intensity / 1000, self.matrix_tflops)


def roof_of(group: Group, options: Options) -> Roof:
    """The command line first, then the file. Of ceilings that differ between rows the highest: it was reached."""
    values, sources = {}, {}
    for name, unit in (("copy_gbps", "GB/s"), ("matrix_tflops", "TFLOP/s"), ("exp_gops", "Gexp/s")):
        flag, column = "--" + name.replace("_", "-"), "ceiling_" + name
        given, in_file = getattr(options, name, None), group.rows[column].max()
        values[name] = given if given is not None else float(in_file) if in_file > 0 else None
        if values[name] is not None:
            value = f"{values[name] * 1000:.4g} GFLOP/s" if unit == "TFLOP/s" and values[name] < 1 else f"{values[name]:.4g} {unit}"
            sources[name] = f"{value} ({flag if given is not None else 'ceiling in the file'})"
    exp = values["exp_gops"]
    sources.pop("exp_gops", None)
    if not sources:
        return Roof(None, None, "no roof: the file holds no ceilings (attnprof ceilings, or --copy-gbps and --matrix-tflops)", exp)
    missing = [what for name, what in (("copy_gbps", "copy bandwidth"), ("matrix_tflops", "matrix rate")) if values[name] is None]
    return Roof(values["copy_gbps"], values["matrix_tflops"],
                "roof: " + _joined(list(sources.values())) + "".join(f"; {what} not known" for what in missing), exp)


def _joined(sources: list[str]) -> str:
    """Ceilings that all came from the file say so once."""
    same = " (ceiling in the file)"
    if len(sources) > 1 and all(source.endswith(same) for source in sources):
        return " and ".join(source.removesuffix(same) for source in sources) + " (ceilings in the file)"
    return " and ".join(sources)


def intensity_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """The fastest row of each point with its FLOPs per byte. Where caches served the case (fewer than half of the compulsory
    bytes came from memory), there is no such figure."""
    rows = with_bytes(rows)
    rows = rows[(rows["hbm_bytes"] > 0) & ~(rows["hbm_bytes"] < rows["min_hbm_bytes"] / 2)]
    best = best_rows(rows[(rows["tflops"] > 0) & (rows["model_flops"] > 0)], "tflops", smallest=False)
    return best.assign(intensity=best["model_flops"] / best["hbm_bytes"])


def draw_roofline(axes, rows: pd.DataFrame, impls: list[str], roof: Roof, limits: tuple) -> tuple[list, list]:
    """`limits`: (x low, x high, y low, y high), the same in every panel. Returns the labels of curves' ends and what they must not
    cover, for place_labels once the layout is final."""
    points = intensity_rows(rows)
    axes.set_xscale("log", base=2)
    left, right, bottom, top = limits
    axes.set_xlim(left, right)
    if roof.copy_gbps:
        end = right if not roof.matrix_tflops else roof.matrix_tflops * 1000 / roof.copy_gbps
        axes.plot([left, end], [roof.copy_gbps * x / 1000 for x in (left, end)], color=INK, linewidth=1.6)
    if roof.matrix_tflops:
        start = left if not roof.copy_gbps else roof.matrix_tflops * 1000 / roof.copy_gbps
        axes.plot([start, right], [roof.matrix_tflops] * 2, color=INK, linewidth=1.6)
    labels: list[tuple] = []
    for impl in impls:
        mine = points[points["line"] == impl]
        color, marker = look(impl, impls)
        axes.plot(mine["intensity"], mine["tflops"], color=color, linewidth=0.9, alpha=0.7)
        for source, part in mine.groupby("bytes_from"):
            axes.plot(part["intensity"], part["tflops"], color=color, marker=marker, linestyle="none", markersize=6,
                      markerfacecolor=face(color, source), markeredgecolor=color, markeredgewidth=1.3)
        for source, part in throttled(mine).groupby("bytes_from"):
            held_dots(axes, part["intensity"], part["tflops"], color="white" if source == "cupti" else color)
        labels += [(row["intensity"], row["tflops"], size_label(int(row["seqlen_q"])), color)
                   for _, row in pd.concat([mine.head(1), mine.tail(1)]).drop_duplicates("seqlen_q").iterrows()]
    value_axis(axes, "model_flops / time", rate_label)
    axes.set_ylim(bottom, top)
    axes.set_xlabel("FLOPs per byte of main memory")
    axes.xaxis.set_major_formatter(lambda v, _: size_label(int(v)) if v >= 1 else f"{v:g}")
    marks = list(zip(points["intensity"], points["tflops"]))
    if roof.copy_gbps and roof.matrix_tflops:
        marks += [(x, roof.limit_tflops(x)) for x in np.geomspace(left, right, 80)]
    return labels, marks


def axis_limits(points: pd.DataFrame, roof: Roof) -> tuple:
    """Round the points, the ridge and the roof's flat part, with room for labels."""
    xs, ys = list(points["intensity"]), list(points["tflops"])
    if roof.copy_gbps and roof.matrix_tflops:
        xs.append(roof.matrix_tflops * 1000 / roof.copy_gbps)
    if roof.matrix_tflops:
        ys.append(roof.matrix_tflops)
    return min(xs) / 1.8, max(xs) * 1.8, min(ys) / 2, max(ys) * 1.7


def roofline_handles(points: pd.DataFrame, handles: list, roof: Roof) -> list:
    for source in sorted(set(points["bytes_from"])):
        handles.append(Line2D([], [], color=COMPULSORY, marker="o", linestyle="none", markerfacecolor=face(COMPULSORY, source),
                              markeredgecolor=COMPULSORY, label=f"bytes {SOURCE[source]}"))
    if roof.copy_gbps or roof.matrix_tflops:
        handles.append(Line2D([], [], color=INK, linewidth=1.6, label="roof"))
    return handles
