"""What torch_peers.py needs beside PyTorch: problems out of an attnprof CSV, statistics, rows back into its schema."""

import csv
import math
import statistics
from dataclasses import dataclass

from attnprof_rows import RowsError as PeerError, read_rows

PROBLEM_COLUMNS = ["pass", "dtype", "batch", "heads", "kv_heads", "seqlen_q", "seqlen_kv", "head_dim", "causal", "window",
                   "scale", "fill", "seed", "cache"]
# Functions of the problem alone: copied from a row that attnprof wrote for it.
OF_THE_PROBLEM = ["schema", "model_flops", "min_hbm_bytes", "min_hbm_read_bytes", "min_hbm_write_bytes"]
FALLBACK_TOLERANCE = {"bf16": 2.0**-7, "fp16": 2.0**-10, "fp32": 2.0**-10}  # one step of the type (TF32 for fp32)


@dataclass
class Problem:
    """One distinct problem of the file, with the cells that identify it and one row to copy from."""

    cells: dict[str, str]
    example: dict[str, str]
    done: set[str]  # implementations that the file has a row for
    tolerance: float

    def __getattr__(self, name: str) -> int:
        """problem.seqlen_q and the like: the numbers among the cells."""
        if name.startswith("_") or name not in self.cells:
            raise AttributeError(name)
        return int(self.cells[name])

    @property
    def scale_factor(self) -> float:
        return float(self.cells["scale"] or 0) or self.head_dim**-0.5

    def describe(self) -> str:
        c = self.cells
        return (f"{c['pass']} {c['dtype']} B{c['batch']} H{c['heads']}/{c['kv_heads']} Nq{c['seqlen_q']} Nkv{c['seqlen_kv']} "
                f"d{c['head_dim']}{' causal' if c['causal'] == '1' else ''}")


def read_problems(path: str) -> tuple[list[str], list[Problem]]:
    """Header and distinct problems of a CSV, in order. Rows that attnprof skipped make no sense and are left out."""
    records = [{column: _text(value) for column, value in row.items()} for row in read_rows([path], "--repeats", "keep")]
    header = list(records[0])
    for column in ("device_name", "device_uuid"):
        if column not in header:
            raise PeerError(f"{path}: no column '{column}'; is it a CSV that attnprof wrote?")
    problems: dict[tuple, Problem] = {}
    for record in records:
        if record["status"] == "skipped":
            continue
        key = tuple(record[column] for column in PROBLEM_COLUMNS)
        if key not in problems:
            cells = {column: record[column] for column in PROBLEM_COLUMNS}
            problems[key] = Problem(cells, record, set(), FALLBACK_TOLERANCE.get(record["dtype"], 2.0**-10))
        problem = problems[key]
        problem.done.add(record["impl"])
        if not record["impl"].startswith("torch-") and record.get("tolerance"):
            problem.tolerance = max(float(record["tolerance"]), problem.tolerance)
    if not problems:
        raise PeerError(f"{path}: holds no problem to run")
    return header, list(problems.values())


def refusal(problem: Problem, backend: str) -> str:
    """Why a backend of torch's scaled_dot_product_attention cannot run the same problem; "" when it can."""
    if problem.cells["pass"] != "fwd":
        return f"this script times the forward pass, not {problem.cells['pass']}"
    if problem.cells["fill"] != "normal":
        return f"this script fills with normal values, not {problem.cells['fill']}"
    if problem.window and backend != "math":
        return f"torch's {backend} backend takes no window"
    if problem.causal and problem.seqlen_q != problem.seqlen_kv and backend != "math":
        return (f"torch's is_causal is aligned to the top left, attnprof's to the bottom right: they differ at "
                f"seqlen_q {problem.seqlen_q}, seqlen_kv {problem.seqlen_kv}")
    return ""


def needs_mask(problem: Problem) -> bool:
    """Is is_causal not enough to say which keys are visible?"""
    return bool(problem.window) or bool(problem.causal and problem.seqlen_q != problem.seqlen_kv)


def visible_keys(problem: Problem, i: int) -> tuple[int, int]:
    """Keys [begin, end) that query i sees; bottom-right aligned, as attnprof's visible_keys."""
    center = i + problem.seqlen_kv - problem.seqlen_q
    begin, end = 0, problem.seqlen_kv
    if problem.window:
        begin, end = max(begin, center - problem.window + 1), min(end, center + problem.window)
    if problem.causal:
        end = min(end, center + 1)
    return begin, max(begin, end)


def median_interval(samples: list[float]) -> tuple[float, float]:
    """Distribution-free 95% interval of the median from order statistics; [min, max] below 6 samples.

    The k-th smallest and k-th largest values enclose the median with probability 1 - 2 P(Bin(n, 1/2) < k)
    (Conover, Practical Nonparametric Statistics, section 3.2); k is the largest that keeps 95%.
    """
    ordered = sorted(samples)
    n = len(ordered)
    if n < 6:
        return ordered[0], ordered[-1]
    if n > 1000:
        k = max(1, math.floor(n / 2 - 1.959963984540054 * math.sqrt(n) / 2))
        return ordered[k - 1], ordered[n - k]
    k, below = 0, 0  # below = sum of C(n, j), j < k
    while (below + math.comb(n, k)) * 40 <= 2**n:  # 2 P <= 1/20
        below += math.comb(n, k)
        k += 1
    return ordered[k - 1], ordered[n - k]


def settled(samples: list[float], half_width: float) -> bool:
    if len(samples) < 10:
        return False
    low, high = median_interval(samples)
    return (high - low) / 2 <= half_width * statistics.median(samples)


def peer_row(header: list[str], problem: Problem, impl: str, environment: dict[str, str], **values) -> dict[str, str]:
    """A row of the file's own schema. Values for columns that the file lacks are dropped, the rest stays empty."""
    row = dict.fromkeys(header, "")
    row.update({column: problem.example.get(column, "") for column in OF_THE_PROBLEM if column in row})
    known = {**problem.cells, **environment, "impl": impl, **values}
    row.update({column: _text(value) for column, value in known.items() if column in row})
    return row


def _text(value) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def time_values(samples: list[float], half_width: float, model_flops: str) -> dict:
    median = statistics.median(samples)
    low, high = median_interval(samples)
    return {"time_us": median, "time_lo_us": low, "time_hi_us": high, "time_min_us": min(samples),
            "time_max_us": max(samples), "samples": len(samples), "converged": int(settled(samples, half_width)),
            "tflops": float(model_flops) / median * 1e-6 if model_flops and median > 0 else None}


def append_rows(path: str, header: list[str], rows: list[dict[str, str]]) -> None:
    """Adds whole rows at the end, in place of a last line without line end: no reader counts that one."""
    with open(path, "rb") as file:
        content = file.read()
    end = content.rfind(b"\n") + 1
    while content.count(b'"', 0, end) % 2:  # that line end is part of a cell
        end = content.rfind(b"\n", 0, end - 1) + 1
    with open(path, "r+", newline="", encoding="utf-8") as file:
        file.truncate(end)
        file.seek(0, 2)
        csv.DictWriter(file, header, lineterminator="\n").writerows(rows)
