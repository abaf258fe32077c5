"""Rows as attnprof writes them, with the figures of an invented machine. For the tests of scripts/."""

import csv
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/columns.md").read_text(), re.M)


def row(impl="naive", seqlen=1024, **changes):
    """A row as attnprof writes it, with the figures of an invented machine."""
    cells = dict.fromkeys(COLUMNS, "")
    time_us = changes.get("time_us", {"naive": 4.0, "fused": 1.0}.get(impl, 2.0) * seqlen)
    around = (time_us * 0.99, time_us * 1.01) if isinstance(time_us, (int, float)) else ("", "")
    cells |= {"schema": 1, "device": "gpu", "impl": impl, "pass": "fwd", "dtype": "bf16", "batch": 2, "heads": 8, "kv_heads": 8,
              "seqlen_q": seqlen, "seqlen_kv": seqlen, "head_dim": 64, "causal": 0, "window": 0, "scale": changes.get("head_dim", 64) ** -0.5,
              "fill": "normal", "seed": 1, "cache": "cold", "status": "ok", "time_us": time_us, "time_lo_us": around[0],
              "time_hi_us": around[1], "tflops": 100, "hbm_read_bytes": 3 * seqlen, "hbm_write_bytes": seqlen,
              "bytes_source": "cupti", "model_hbm_bytes": 4 * seqlen, "min_hbm_bytes": 2 * seqlen, "model_flops": 4e9,
              "workspace_bytes": 0 if impl == "fused" else seqlen**2, "available_bytes": 10**9, "device_name": "Test GPU",
              "device_uuid": "GPU-1", "tool_version": "0.1.0", "tolerance": 0.004}
    return cells | changes


def write(path, rows, header=COLUMNS, bom=False, end="\n"):
    with open(path, "w", newline="", encoding="utf-8-sig" if bom else "utf-8") as file:
        writer = csv.DictWriter(file, header, lineterminator=end, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def pair(lengths=(512, 1024)):
    return [row(impl, n) for n in lengths for impl in ("naive", "fused")]
