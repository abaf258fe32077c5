"""The papers' IO bound over points: bytes against on-chip memory M as tile size varies.

Dao et al. 2022 (arXiv:2205.14135), theorem 2: standard attention needs Theta(N d + N^2) accesses to main memory and
FlashAttention Theta(N^2 d^2 / M), for d <= M <= N d. A Theta has no constant, so the constants are fitted and printed: the
largest with which no tile lies below the line, and the one that the baseline's bytes give.
"""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from .roofline import SOURCE
from .rows import Group, Options, footer, with_bytes
from .style import COMPULSORY, binary_bytes_label, bytes_label, face, finish, look, plt, value_axis

ELEMENT_BYTES = {"fp32": 4, "fp16": 2, "bf16": 2}


def onchip_elements(rows: pd.DataFrame) -> pd.Series:
    """What a tile_m x tile_n schedule keeps on chip: Q and O rows, K and V rows, and the scores of one tile."""
    m, n, d = rows["tile_m"], rows["tile_n"], rows["head_dim"]
    return 2 * m * d + 2 * n * d + m * n


def bounds(problem: pd.Series, elements: np.ndarray) -> tuple[float, np.ndarray]:
    """Bytes by the two formulas with constant 1: standard N d + N^2, FlashAttention N^2 d^2 / M."""
    pairs = float(problem["seqlen_q"]) * problem["seqlen_kv"]
    size = ELEMENT_BYTES[problem["dtype"]] * problem["batch"] * problem["heads"]
    standard = size * (problem["seqlen_q"] * problem["head_dim"] + pairs)
    return float(standard), size * pairs * float(problem["head_dim"]) ** 2 / elements


def io_bound_figure(group: Group, options: Options, untiled: pd.DataFrame):
    """`untiled`: the rows of the same problem among which the baseline is looked for."""
    rows = with_bytes(group.rows)
    ok = rows[(rows["status"] == "ok") & (rows["hbm_bytes"] > 0)]
    if ok["tile_m"].nunique() < 2:
        return None
    ok = ok.assign(onchip=onchip_elements(ok))
    problem = ok.iloc[0]
    size = ELEMENT_BYTES[problem["dtype"]]
    constant = float((ok["hbm_bytes"] / bounds(problem, ok["onchip"].to_numpy())[1]).min())
    figure, axes = plt.subplots(figsize=(8.8, 4.6))
    xs = np.geomspace(ok["onchip"].min() / 1.3, ok["onchip"].max() * 1.3, 50)
    color, _ = look(problem["line"], [problem["line"]])
    axes.plot(xs * size, constant * bounds(problem, xs)[1], color=color, linestyle=(0, (5, 2)), linewidth=1.6)
    handles = [Line2D([], [], color=color, linestyle=(0, (5, 2)), label=f"FlashAttention: {constant:.2g} × N²d²/M")]

    base = with_bytes(untiled)
    base = base[(base["impl"] == options.baseline) & (base["status"] == "ok") & base["hbm_bytes"].notna()]
    if not base.empty:
        height = float(base["hbm_bytes"].min())
        shade, _ = look(base["line"].iloc[0], [problem["line"], base["line"].iloc[0]])
        axes.axhline(height, color=shade, linestyle=(0, (1, 1)), linewidth=2)
        handles.append(Line2D([], [], color=shade, linestyle=(0, (1, 1)), linewidth=2,
                              label=f"standard: {height / bounds(problem, xs)[0]:.2g} × (Nd + N²), {options.baseline}'s bytes"))
    least = ok["min_hbm_bytes"].dropna()
    if not least.empty:
        axes.axhline(least.iloc[0], color=COMPULSORY, linewidth=7, alpha=0.25)
        handles.append(Line2D([], [], color=COMPULSORY, linewidth=7, alpha=0.25, label="compulsory"))

    heights = sorted(ok["tile_m"].unique())
    shades = plt.get_cmap("cividis")(np.linspace(0, 0.92, len(heights)))
    for shade, tile_m in zip(shades, heights):
        for source, part in ok[ok["tile_m"] == tile_m].groupby("bytes_from"):
            axes.plot(part["onchip"] * size, part["hbm_bytes"], marker="o", linestyle="none", color=shade, markersize=7,
                      markerfacecolor=face(shade, source), markeredgecolor=shade, markeredgewidth=2)
        part = ok[ok["tile_m"] == tile_m]
        last = part.loc[part["onchip"].idxmax()]
        axes.annotate(f"tile_m {tile_m:.0f}", (last["onchip"] * size, last["hbm_bytes"]), xytext=(8, 0), fontsize=8.5,
                      textcoords="offset points", va="center", color="#444444", zorder=4,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})  # over the lines of the bounds
    for source in sorted(set(ok["bytes_from"])):
        handles.append(Line2D([], [], color=COMPULSORY, marker="o", linestyle="none", markeredgewidth=1.6,
                              markerfacecolor=face(COMPULSORY, source), markeredgecolor=COMPULSORY,
                              label=f"one tile, bytes {SOURCE[source]}"))
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda v, _: binary_bytes_label(v))
    axes.set_xlim(xs[0] * size, xs[-1] * size * 1.25)
    axes.set_xlabel("M: on-chip memory of the tile (Q, O, K, V and scores)")
    value_axis(axes, "bytes read + written", bytes_label)
    finish(figure, "Bytes against on-chip memory: the papers' IO bound over tiles", group.title, footer(ok), handles,
           notes=["Constants are fitted (a Θ has none): the largest with which no tile lies below the line, and the baseline's bytes."])
    return figure
