"""From the rows of CSV files to groups of them that one figure may hold: only like is drawn with like."""

import pathlib
from dataclasses import dataclass

import pandas as pd

from attnprof_rows import RowsError as PlotError, read_rows

TEXT = ["status", "message", "impl", "pass", "dtype", "fill", "cache", "device", "device_name", "device_uuid", "hostname", "tool_version",
        "bytes_source", "library", "throttle"]
NAMES = ["threads", "seed", "rest"]  # numbers that only tell rows apart
COUNTS = ["batch", "heads", "kv_heads", "seqlen_q", "seqlen_kv", "head_dim", "causal", "window"]
NUMBERS = ["scale", "time_us", "time_lo_us", "time_hi_us", "tflops", "hbm_read_bytes", "hbm_write_bytes", "model_hbm_bytes", "min_hbm_bytes",
           "model_flops", "executed_flops", "tensor_flops", "exp_count", "workspace_bytes", "available_bytes", "tile_m", "tile_n", "gaps_us",
           "idle_us", "sm_clock_mhz", "ceiling_copy_gbps", "ceiling_matrix_tflops", "ceiling_exp_gops"]


@dataclass(frozen=True)
class Options:
    """What the command line says beyond which rows."""

    baseline: str = "naive"  # what speed-ups refer to
    copy_gbps: float | None = None  # roof, where the file has none
    matrix_tflops: float | None = None


def line_name(impl: str, file: str) -> str:
    """What a legend calls the rows of one implementation; `file` is "" where one file alone is drawn."""
    return f"{impl} ({file})" if file else impl


def read_files(paths: list[str]) -> pd.DataFrame:
    """The rows about whole launches, with every column that figures read. Raises PlotError."""
    rows = pd.DataFrame(read_rows(paths, "--repeats", "median"))
    rows = rows.reindex(columns=list(dict.fromkeys([*TEXT, *NAMES, *COUNTS, *NUMBERS, "file", "kernel", *rows.columns])))  # of older versions some are missing
    rows = rows[rows["kernel"].isna()].copy()  # rows about one kernel of a launch are parts of a case
    what = ", ".join(paths)
    if rows.empty:
        raise PlotError(f"{what}: has only rows about single kernels, none about a whole launch")
    for column in [*TEXT, "file"]:
        rows[column] = rows[column].astype(object).fillna("")
    for column in NAMES:
        rows[column] = rows[column].map(lambda value: "" if pd.isna(value) else str(int(value) if value == int(value) else value))
    rows[COUNTS] = rows[COUNTS].astype("int64")
    rows[NUMBERS] = rows[NUMBERS].astype(float)
    short = rows["file"].map(lambda path: pathlib.PurePath(path).name)
    if short.nunique() == rows["file"].nunique():
        rows["file"] = short
    default = (rows["scale"] * rows["head_dim"] ** 0.5 - 1).abs() < 1e-7
    return require_ok(rows.assign(line=list(map(line_name, rows["impl"], rows["file"])), host=rows["hostname"].where(rows["device_uuid"] == "", ""),
                                  own_scale=rows["scale"].map("{:.9g}".format).where(~default, "")), what)


def size(text: str) -> str:
    """'4k' -> '4096', as the command line of attnprof takes sizes; anything else as it is."""
    number, unit = text[:-1], text[-1:].lower()
    return str(int(number) * {"k": 1024, "m": 1024**2}[unit]) if number.isdigit() and unit in {"k", "m"} else text


def select(rows: pd.DataFrame, conditions: list[str]) -> pd.DataFrame:
    """Rows that meet every COLUMN=VALUE[,VALUE...]."""
    for condition in conditions:
        column, equals, values = condition.partition("=")
        if not equals or column not in rows.columns:
            raise PlotError(f"--where '{condition}': give COLUMN=VALUE[,VALUE...] with a column of the file")
        wanted = values.split(",")
        if pd.api.types.is_numeric_dtype(rows[column]):
            try:
                keep = rows[column].isin([float(size(value)) for value in wanted])
            except ValueError:
                raise PlotError(f"--where '{condition}': column '{column}' holds numbers") from None
        else:
            keep = rows[column].fillna("").isin(wanted)
        if not keep.any():
            there = ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in sorted(rows[column].dropna().unique())[:8])
            raise PlotError(f"--where '{condition}': no such row; there are: {there or 'only empty cells'}")
        rows = rows[keep]
    return rows


def require_ok(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    if not (rows["status"] == "ok").any():
        counts = ", ".join(f"{count} {status}" for status, count in rows["status"].value_counts().items())
        raise PlotError(f"{what}: no row with status ok ({counts}): nothing to draw")
    return rows


@dataclass
class Group:
    """Rows that one figure may hold: one device, and one problem for each (head_dim, causal, seqlen_q)."""

    rows: pd.DataFrame
    title: str  # "NVIDIA H200, fwd bf16"
    suffix: str  # for the file name; "" when the input gives only one group


PROBLEM = ["batch", "heads", "kv_heads", "seqlen_kv"]
PANEL = ["head_dim", "causal", "seqlen_q"]


SPLIT = ["device_name", "device_uuid", "pass", "dtype", "host", "threads", "window", "own_scale", "fill", "seed", "cache", "rest"]


def _ambiguous(rows: pd.DataFrame, split: list[str]) -> bool:
    """Does some point of a panel stand for two different problems?"""
    distinct = rows.drop_duplicates(PANEL + split + PROBLEM)
    return bool(distinct.duplicated(PANEL + split).any())


def group_rows(rows: pd.DataFrame) -> list[Group]:
    """Splits by device and by everything else that would put two problems on one point."""
    split = list(SPLIT)
    for column in ["heads", "kv_heads", "batch", "seqlen_kv"]:
        if _ambiguous(rows, split):
            split.append(column)
    groups = []
    varying = [column for column in split if rows[column].nunique() > 1]
    for key, part in rows.groupby(split, sort=True):
        if not (part["status"] == "ok").any():
            continue
        values = dict(zip(split, key))
        title = f"{values['device_name']}, {values['pass']} {values['dtype']}"
        for column in split[4:]:
            if column in varying or (column == "window" and values[column]):
                title += _said(column, values[column])
        suffix = "".join(f"-{slug(str(values[column]))}" for column in varying)
        same = sum(1 for group in groups if group.suffix.split("~")[0] == suffix)  # names that differ in signs alone
        suffix += f"~{same + 1}" if same else ""
        groups.append(Group(part, title, suffix))
    return groups


def _said(column: str, value) -> str:
    """Part of a title: ", heads 8"."""
    if column == "rest":
        return f", {rest_text(value)}"
    name = column.removeprefix("own_").replace("_", " ")
    return f", {name} {value}" if value != "" else ", default scale" if name == "scale" else ""


def rest_text(rest: str) -> str:
    """Of the column `rest`: '3' is a pause before each sample of three times its duration."""
    return f"rests of {rest}x" if rest else "no rests"


def slug(text: str) -> str:
    """As a part of a file's name."""
    return "".join(c if c.isalnum() else "-" for c in text.lower()).strip("-")[:40].strip("-") or "none"  # a file's name has an end


def footer(rows: pd.DataFrame) -> str:
    """Tool versions and what else must be known to read a figure of these rows."""
    versions = sorted({v if not v[:1].isdigit() else f"attnprof {v}" for v in rows["tool_version"] if v})
    versions += sorted({v for v in rows["library"] if v and not v.startswith("PyTorch")})  # a row's tool_version names that
    shapes = rows["heads"].unique()
    tokens = (rows["batch"] * rows["seqlen_q"]).unique()
    parts = [", ".join(versions)]
    if len(shapes) == 1:
        parts.append(f"{shapes[0]} head{'s' if shapes[0] > 1 else ''}")
    elif (rows["heads"] * rows["head_dim"]).nunique() == 1:
        parts.append(f"heads x head_dim = {rows['heads'].iloc[0] * rows['head_dim'].iloc[0]}")
    if len(tokens) == 1 and rows["batch"].nunique() > 1:
        parts.append(f"{size_label(int(tokens[0]))} tokens (batch = tokens / seqlen)")
    elif rows["batch"].nunique() == 1:
        parts.append(f"batch {rows['batch'].iloc[0]}")
    cache = [c for c in rows["cache"].unique() if c]
    if len(cache) == 1:
        parts.append(f"{cache[0]} cache")
    if rows["rest"].nunique() == 1 and rows["rest"].iloc[0]:
        parts.append(rest_text(rows["rest"].iloc[0]))
    return "   ·   ".join(part for part in parts if part)


THROTTLES = {"sw_power_cap": "power cap", "hw_power_brake": "power brake", "sw_thermal": "heat", "hw_thermal": "heat",
             "hw_slowdown": "hardware slowdown", "sync_boost": "sync boost"}


def throttled(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows whose clock was held down while they were measured: their times are longer than on a cooler chip."""
    return rows[rows["throttle"] != ""]


def throttle_notes(points: pd.DataFrame, noun: str = "points", mark: str = "dot inside") -> list[str]:
    """"12 of 36 points ran below the boost clock (power cap): dot inside."; none when no clock was held down. Rows of which
    nobody read the clock (other tools wrote them) are counted apart: they may have been held down too."""
    held = throttled(points)
    if held.empty:
        return []
    why = dict.fromkeys(THROTTLES.get(name, name) for text in held["throttle"] for name in text.split("|"))
    read = int(((points["throttle"] != "") | points["sm_clock_mhz"].notna()).sum())
    others = f" The clock of {len(points) - read} other{'s' if len(points) - read > 1 else ''} was not read." if read < len(points) else ""
    return [f"{len(held)} of {read} {noun} ran below the boost clock ({', '.join(why)}){mark and ': ' + mark}.{others}"]


def with_bytes(rows: pd.DataFrame) -> pd.DataFrame:
    """Adds hbm_bytes, read plus written, and bytes_from: cupti, counted, or model where nothing else is known."""
    known = (rows["hbm_read_bytes"] + rows["hbm_write_bytes"]).astype(float)
    return rows.assign(hbm_bytes=known.fillna(rows["model_hbm_bytes"]),
                       bytes_from=rows["bytes_source"].where(known.notna(), "model"))


def best_rows(rows: pd.DataFrame, by: str, smallest: bool = True) -> pd.DataFrame:
    """Rows with status ok and a value in `by`; of several tiles of one point the best."""
    ok = rows[(rows["status"] == "ok") & rows[by].notna()]
    return ok.sort_values(by, ascending=smallest).drop_duplicates(["line", *PANEL]).sort_values("seqlen_q")


def size_label(n: int) -> str:
    """1024 -> '1k', 1536 -> '1.5k', 512 -> '512'."""
    if n >= 1 << 20 and n % (1 << 18) == 0:
        return f"{n / (1 << 20):g}m"
    return f"{n / 1024:g}k" if n >= 1024 and n % 256 == 0 else str(n)
