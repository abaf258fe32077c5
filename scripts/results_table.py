#!/usr/bin/env python3
"""Prints Markdown tables of an attnprof CSV: rates, ratios against peers, bytes against their models.

  scripts/results_table.py docs/results/h200.csv --copy-gbps 4240

Only rows with status ok count; of several rows of one implementation and problem (tiles, repeats) the fastest. Rates are
TFLOP/s over exactly the unmasked query-key pairs, so a ratio of rates is the inverse ratio of the median times.
--copy-gbps is the copy bandwidth that `attnprof ceilings` measured; without it, naive is not held against it.
"""

import argparse
import math
import sys
from collections import Counter

from attnprof_rows import RowsError as TableError, read_rows

RATES = ["flash2", "flash3", "cudnn", "torch-flash", "torch-cudnn"]
# Each against one peer, or against the fastest of several: versions of one library differ by more than a tenth.
RATIOS = [("flash2", ["torch-flash"]), ("flash3", ["cudnn"]), ("flash3", ["torch-cudnn"]),
          ("flash3", ["cudnn", "torch-cudnn"])]
BYTES = ["naive", "flash2", "flash3", "cudnn"]
NEEDED = ["impl", "status", "seqlen_q", "head_dim", "causal", "time_us", "tflops", "hbm_read_bytes", "hbm_write_bytes",
          "bytes_source", "model_hbm_bytes"]
# One table holds one of each; batch and heads follow from the sizing that the paper uses.
SAME = ["device_name", "pass", "dtype", "window", "fill", "cache"]
SAME_IF_THERE = ["rest"]  # not in files of older versions
NOTHING = "–"


class Results:
    """The rows of one file that count, by implementation, head_dim, causal and seqlen."""

    def __init__(self, path: str):
        rows = [row for row in read_rows([path], "--repeats", "keep") if not row.get("kernel")]
        if not rows:
            raise TableError(f"{path}: no rows")
        for column in NEEDED + SAME:
            if column not in rows[0]:
                raise TableError(f"{path}: no column '{column}'; is it a CSV that attnprof wrote?")
        good = [row for row in rows if row["status"] == "ok" and row["time_us"]]
        if not good:
            raise TableError(f"{path}: no row with status ok")
        for column in SAME + SAME_IF_THERE:
            values = sorted({"none" if row.get(column) is None else str(row[column]) for row in good})
            if len(values) > 1:
                raise TableError(f"{path}: one table needs one {column}, the file has {', '.join(values)}")
        self.best: dict[tuple, dict] = {}
        problems: dict[tuple, tuple] = {}
        for row in good:
            panel = (row["head_dim"], row["causal"])
            seqlen = row["seqlen_q"]
            problem = tuple(row.get(column) for column in ("batch", "heads", "kv_heads", "seqlen_kv"))
            if problems.setdefault((panel, seqlen), problem) != problem:
                raise TableError(f"{path}: two problems with head_dim {panel[0]} and seqlen {seqlen} (batch, heads or "
                                 f"seqlen_kv differ); a table needs one")
            key = (row["impl"], panel, seqlen)
            if key not in self.best or row["time_us"] < self.best[key]["time_us"]:
                self.best[key] = row
        self.panels = sorted({panel for _, panel, _ in self.best})
        self.seqlens = sorted({seqlen for _, _, seqlen in self.best})
        self.impls = {impl for impl, _, _ in self.best}
        self.title = ", ".join(good[0][column] or "" for column in SAME[:3])
        self.bad = Counter((row["impl"], row["status"]) for row in rows if row["status"] != "ok")

    def number(self, impl: str, panel: tuple, seqlen: int, column: str) -> float | None:
        return self.best.get((impl, panel, seqlen), {}).get(column)

    def fastest(self, impls: list[str], panel: tuple, seqlen: int) -> float | None:
        """The highest rate of those that have one."""
        return max((rate for impl in impls if (rate := self.number(impl, panel, seqlen, "tflops"))), default=None)

    def with_library(self, impl: str) -> str:
        """'cudnn (cuDNN 9.19.0)'."""
        libraries = sorted({row.get("library") or "" for (name, _, _), row in self.best.items() if name == impl} - {""})
        return f"{impl} ({', '.join(libraries)})" if libraries else impl

    def measured_bytes(self, impl: str, panel: tuple, seqlen: int) -> float | None:
        """Read + written, where hardware counters measured them."""
        row = self.best.get((impl, panel, seqlen))
        if not row or row["bytes_source"] != "cupti" or None in (row["hbm_read_bytes"], row["hbm_write_bytes"]):
            return None
        return row["hbm_read_bytes"] + row["hbm_write_bytes"]


def size(n: int) -> str:
    return f"{n // 1024}k" if n >= 1024 and n % 1024 == 0 else str(n)


def over(a: float | None, b: float | None) -> float | None:
    return a / b if a is not None and b else None


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def table(header: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, ["---"] * len(header), *rows])


def panel_cells(panel: tuple) -> list[str]:
    return [str(panel[0]), "yes" if panel[1] else "no"]


def rates(results: Results) -> str:
    rows = [[*panel_cells(panel), impl,
             *(NOTHING if value is None else f"{value:.0f}"
               for value in (results.number(impl, panel, n, "tflops") for n in results.seqlens))]
            for panel in results.panels for impl in RATES if impl in results.impls]
    return table(["head_dim", "causal", "TFLOP/s", *map(size, results.seqlens)], rows) if rows else ""


def by_length(results: Results, value, digits: int, ends: bool = True) -> str:
    """A table of value(panel, seqlen), with each line's geometric mean and smallest, and those of all; "" when empty."""
    rows, everything = [], []
    for panel in results.panels:
        values = [value(panel, n) for n in results.seqlens]
        known = [v for v in values if v is not None]
        everything += known
        if known:
            rows.append([*panel_cells(panel), *(NOTHING if v is None else f"{v:.{digits}f}" for v in values),
                         *([f"{geometric_mean(known):.{digits}f}", f"{min(known):.{digits}f}"] if ends else [])])
    if not rows:
        return ""
    text = table(["head_dim", "causal", *map(size, results.seqlens), *(["geometric mean", "smallest"] if ends else [])], rows)
    if ends:
        text += (f"\n\nAll {len(everything)}: geometric mean {geometric_mean(everything):.{digits}f}, "
                 f"smallest {min(everything):.{digits}f}, largest {max(everything):.{digits}f}.")
    return text


def bytes_against_models(results: Results) -> str:
    """Lowest and highest over the lengths, a column for each implementation."""
    impls = [impl for impl in BYTES if impl in results.impls]
    rows, some = [], False
    for panel in results.panels:
        cells = []
        for impl in impls:
            ratios = [over(results.measured_bytes(impl, panel, n), results.number(impl, panel, n, "model_hbm_bytes"))
                      for n in results.seqlens]
            known = [r for r in ratios if r is not None]
            some = some or bool(known)
            cells.append(f"{min(known):.3f} .. {max(known):.3f}" if known else NOTHING)
        rows.append([*panel_cells(panel), *cells])
    return table(["head_dim", "causal", *impls], rows) if some else ""


def report(results: Results, copy_gbps: float | None) -> str:
    fused = next((impl for impl in ("flash3", "flash2") if impl in results.impls), "")
    parts = [(f"TFLOP/s ({results.title})", rates(results))]
    for ours, peers in RATIOS:
        if ours in results.impls and results.impls.issuperset(peers):
            names = " or ".join(map(results.with_library, peers)) + (", the faster at each point" if peers[1:] else "")
            parts.append((f"{ours} over {names}: ratio of TFLOP/s",
                          by_length(results, lambda p, n, a=ours, b=peers: over(results.number(a, p, n, "tflops"),
                                                                                results.fastest(b, p, n)), 3)))
    parts.append((f"How many times fewer bytes {fused} moves than naive (measured)",
                  by_length(results, lambda p, n: over(results.measured_bytes("naive", p, n),
                                                       results.measured_bytes(fused, p, n)), 1, ends=False)))
    parts.append((f"How many times faster {fused} is than naive",
                  by_length(results, lambda p, n: over(results.number("naive", p, n, "time_us"),
                                                       results.number(fused, p, n, "time_us")), 1, ends=False)))
    if copy_gbps:
        parts.append((f"Time of naive over (modelled bytes / {copy_gbps:g} GB/s, the copy bandwidth)",
                      by_length(results, lambda p, n: over(results.number("naive", p, n, "time_us"),
                                                           over(results.number("naive", p, n, "model_hbm_bytes"),
                                                                copy_gbps * 1e3)), 2)))
    parts.append(("HBM bytes, measured / modelled", bytes_against_models(results)))
    text = "\n\n".join(f"**{title}**\n\n{body}" for title, body in parts if body)
    if not text:
        raise TableError(f"nothing to tabulate: the tables are of {', '.join(RATES)}, and of naive against them")
    if results.bad:
        text += "\n\nNot ok, left out: " + ", ".join(f"{impl} {count} {status}"
                                                     for (impl, status), count in sorted(results.bad.items())) + "."
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE.csv")
    parser.add_argument("--copy-gbps", type=float, help="GB/s, read plus written")
    options = parser.parse_args()
    try:
        print(report(Results(options.file), options.copy_gbps))
    except TableError as error:
        print(f"results_table: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
