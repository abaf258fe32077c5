"""Tile heat map: time and bytes of one implementation on one problem, tile_m down and tile_n across."""

import re

import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm
from matplotlib.patches import Patch, Rectangle

from .rows import Group, footer, size_label, slug, throttle_notes, throttled, with_bytes
from .style import COMPULSORY, bytes_label, finish, order_impls, plt, time_label

CLASSES = [  # what a message is about, in the order of looking, and the word that fits into a cell
    (r"shared memory", "smem"), (r"register|accumulator", "regs"), (r"scratch", "scratch"), (r"steps of|tile_[mn] of", "step"),
    (r"warps|stages", "warps"),
]
STATUS = {"oom": "oom", "failed": "failed", "verify-failed": "wrong", "no-samples": "no time", "skipped": "skipped"}


def reason_class(status: str, message: str) -> str:
    """Why a tile has no figures, in one word."""
    if status != "unsupported":
        return STATUS.get(status, status)
    return next((word for pattern, word in CLASSES if re.search(pattern, message)), "unsupported")


def tile_parts(group: Group) -> list[Group]:
    """One part for each implementation and problem of which at least two tiles were measured."""
    tiled = group.rows[group.rows["tile_m"].notna() & group.rows["tile_n"].notna()]
    keys = ["line", "head_dim", "causal", "seqlen_q"]
    parts = []
    for key, rows in tiled.groupby(keys, sort=True):
        ok = rows[rows["status"] == "ok"].drop_duplicates(["tile_m", "tile_n"])
        if len(ok) >= 2:
            parts.append((key, rows))
    parts.sort(key=lambda part: order_impls(tiled["line"]).index(part[0][0]))
    varying = [i for i in range(len(keys)) if len({key[i] for key, _ in parts}) > 1]
    names = [slug, lambda v: f"d{v}", lambda v: "causal" if v else "full", lambda v: size_label(v)]
    return [Group(rows, f"{group.title}; {key[0]}, seqlen {size_label(key[3])}, head_dim {key[1]}, "
                        f"{'causal' if key[2] else 'not causal'}",
                  group.suffix + "".join(f"-{names[i](key[i])}" for i in varying)) for key, rows in parts]


def _matrix(rows: pd.DataFrame, value: str, tile_ms: list, tile_ns: list) -> np.ndarray:
    """Smallest value of each tile (stages and warps may vary); NaN where there is none."""
    least = rows[(rows["status"] == "ok") & rows[value].notna()].groupby(["tile_m", "tile_n"])[value].min()
    return np.array([[least.get((m, n), np.nan) for n in tile_ns] for m in tile_ms], dtype=float)


def _fastest(rows: pd.DataFrame) -> pd.DataFrame:
    timed = rows[(rows["status"] == "ok") & rows["time_us"].notna()]
    return timed.sort_values("time_us").drop_duplicates(["tile_m", "tile_n"])


def _held(rows: pd.DataFrame) -> set[tuple]:
    """Tiles to mark: their clock was held down, that of others was not."""
    timed = _fastest(rows)
    held = throttled(timed)
    return set(zip(held["tile_m"], held["tile_n"])) if len(held) < len(timed) else set()


def _draw(axes, rows: pd.DataFrame, value: str, label, tile_ms: list, tile_ns: list) -> None:
    held = _held(rows) if value == "time_us" else set()
    values = _matrix(rows, value, tile_ms, tile_ns)
    low, high = np.nanmin(values), np.nanmax(values)
    level = high < 1.01 * low  # differences that nobody would act on: one colour, no best
    norm = LogNorm(low, 2 * low if level else high)
    axes.imshow(values, cmap="cividis_r", norm=norm, aspect="auto")
    size = 8.5 if len(tile_ns) <= 6 else 7
    for i, m in enumerate(tile_ms):
        for j, n in enumerate(tile_ns):
            if not np.isnan(values[i, j]):
                dark = norm(values[i, j]) > 0.55
                axes.text(j, i, label(values[i, j]).replace(" ", "\n" if len(tile_ns) > 5 else " ") + (" °" if (m, n) in held else ""), ha="center", va="center",
                          fontsize=size, color="white" if dark else "black", linespacing=0.95)
                continue
            axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor="#F2F2F2", edgecolor="#C8C8C8", hatch="////", linewidth=0))
            there = rows[(rows["tile_m"] == m) & (rows["tile_n"] == n) & (rows["status"] != "ok")]
            if not there.empty:
                word = reason_class(there["status"].iloc[0], there["message"].iloc[0])
                axes.text(j, i, word, ha="center", va="center", fontsize=size, color="#444444",
                          bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
    best = (values <= low * (1 + 1e-9)) & (not level)
    for i, j in zip(*np.nonzero(best)):
        axes.add_patch(Rectangle((j - 0.46, i - 0.46), 0.92, 0.92, fill=False, edgecolor="#D55E00", linewidth=2.6))
    axes.set_xticks(range(len(tile_ns)), [f"{n:.0f}" for n in tile_ns])
    axes.set_yticks(range(len(tile_ms)), [f"{m:.0f}" for m in tile_ms])
    axes.set_xlabel("tile_n (keys)")
    axes.set_ylabel("tile_m (query rows)")
    axes.grid(visible=False)


def bytes_title(rows: pd.DataFrame) -> str:
    source = set(rows.loc[rows["status"] == "ok", "bytes_from"])
    return {frozenset({"cupti"}): "HBM bytes (measured, cupti)", frozenset({"counted"}): "Main-memory bytes (counted)",
            frozenset({"model"}): "HBM bytes (modelled)"}.get(frozenset(source), "Bytes (" + ", ".join(sorted(source)) + ")")


def tiles_figure(group: Group, _options):
    rows = with_bytes(group.rows)
    tile_ms, tile_ns = (sorted(rows[c].unique()) for c in ("tile_m", "tile_n"))
    ok = rows[rows["status"] == "ok"]
    panels = [(c, t, f) for c, t, f in (("time_us", "Time (median)", time_label), ("hbm_bytes", bytes_title(rows), bytes_label))
              if ok[c].notna().any()]
    if len(ok.drop_duplicates(["tile_m", "tile_n"])) < 2 or not panels:
        return None
    figure, grid = plt.subplots(1, len(panels), squeeze=False, figsize=(8.8, 1.75 + 0.42 * max(len(tile_ms), 4)))
    for axes, (column, title, label) in zip(grid[0], panels):
        _draw(axes, rows, column, label, tile_ms, tile_ns)
        axes.set_title(title, loc="left")
    handles = [Patch(facecolor="none", edgecolor="#D55E00", linewidth=2.4, label="best")]
    holes = rows[rows["status"] != "ok"]
    if not holes.empty or len(tile_ms) * len(tile_ns) > len(rows.drop_duplicates(["tile_m", "tile_n"])):
        handles.append(Patch(facecolor="#F2F2F2", edgecolor="#C8C8C8", hatch="////", linewidth=0, label="not run"))
    explained = {reason_class(s, m): m for s, m in zip(holes["status"], holes["message"])}
    finish(figure, "Which tile?", group.title, footer(ok), handles,
           notes=[f"{word}: e.g. {message}" for word, message in sorted(explained.items()) if message] + throttle_notes(_fastest(rows), "tiles", "°" if _held(rows) else ""))
    return figure
