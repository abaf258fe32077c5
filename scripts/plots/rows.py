"""From CSV files to rows that can be drawn: checked, numeric, and grouped so that only like is drawn with like."""

import pathlib
from dataclasses import dataclass

import pandas as pd


class PlotError(Exception):
    """One line for the user: which file, what is wrong."""


TEXT = ["status", "message", "impl", "pass", "dtype", "fill", "cache", "rest", "device", "device_name", "device_uuid", "tool_version", "bytes_source", "library", "throttle"]
COUNTS = ["batch", "heads", "kv_heads", "seqlen_q", "seqlen_kv", "head_dim", "causal", "window"]
ALWAYS = ["status", "impl", "pass", "dtype", "device_name", "tool_version", *COUNTS]
TIME = ["time_us", "time_lo_us", "time_hi_us"]
BYTES = ["hbm_read_bytes", "hbm_write_bytes", "bytes_source", "model_hbm_bytes", "min_hbm_bytes"]
NEEDED = {  # columns beyond ALWAYS that a figure reads
    "bytes": BYTES,
    "time": TIME,
    "speedup": TIME,
    "tflops": ["tflops"],
    "memory": ["workspace_bytes", "available_bytes"],
    "roofline": ["time_us", "tflops", "model_flops", *BYTES],
    "tiles": ["time_us", "tile_m", "tile_n", *BYTES],
    "stacked": ["time_us", "gaps_us", "executed_flops", *BYTES],
    "io-bound": ["tile_m", "tile_n", *BYTES],
    "overview": BYTES + TIME,
}
OPTIONAL = ["ceiling_copy_gbps", "ceiling_matrix_tflops", "ceiling_exp_gops", "exp_count", "idle_us", "tensor_flops", "sm_clock_mhz"]  # files of older versions do not have them


@dataclass(frozen=True)
class Options:
    """What the command line says beyond which rows."""

    baseline: str = "naive"  # what speed-ups refer to
    copy_gbps: float | None = None  # roof, where the file has none
    matrix_tflops: float | None = None


def read_file(path: str, kinds: list[str]) -> pd.DataFrame:
    """Reads one CSV as text, then makes numbers of the columns that are numbers. Raises PlotError."""
    if pathlib.Path(path).is_dir():
        raise PlotError(f"{path}: is a folder, not a CSV file")
    try:
        rows = pd.read_csv(path, dtype=str, encoding="utf-8-sig", keep_default_na=False, na_values=[""])
    except FileNotFoundError:
        raise PlotError(f"{path}: no such file") from None
    except pd.errors.EmptyDataError:
        raise PlotError(f"{path}: is empty") from None
    except (OSError, UnicodeDecodeError, pd.errors.ParserError) as error:
        raise PlotError(f"{path}: {str(error).strip().splitlines()[0]}") from None

    needed = ALWAYS + [column for kind in kinds for column in NEEDED[kind]]
    missing = [column for column in dict.fromkeys(needed) if column not in rows.columns]
    if missing:
        raise PlotError(f"{path}: no column '{missing[0]}'" + (f" (and {len(missing) - 1} more)" if missing[1:] else "")
                        + "; is it a CSV that attnprof wrote?")
    if rows.empty:
        raise PlotError(f"{path}: has a header but no rows")
    rows = rows[rows["status"].notna()].copy()  # a last line torn by a killed run ends before its status
    if "kernel" in rows.columns:
        rows = rows[rows["kernel"].isna()].copy()  # rows about one kernel of a launch are parts of a case
        if rows.empty:
            raise PlotError(f"{path}: has only rows about single kernels, none about a whole launch")
    for column in TEXT:
        rows[column] = rows[column].fillna("") if column in rows.columns else ""
    for column in OPTIONAL:
        if column not in rows.columns:
            rows[column] = None
    for column in dict.fromkeys(c for c in needed + OPTIONAL if c not in TEXT):
        numbers = pd.to_numeric(rows[column], errors="coerce")
        wrong = rows[column].notna() & (numbers.isna() | numbers.abs().eq(float("inf")))
        if wrong.any():
            raise PlotError(f"{path}: column '{column}' holds '{rows.loc[wrong, column].iloc[0]}', which is no number")
        rows[column] = numbers
    if "time_us" in needed and (rows["time_us"] <= 0).any():
        raise PlotError(f"{path}: column 'time_us' holds '{rows['time_us'].min():g}', which is no time; it must be above 0")
    for column in COUNTS:
        if rows[column].isna().any():
            raise PlotError(f"{path}: column '{column}' has an empty cell")
        rows[column] = rows[column].astype("int64")
    return rows


def read_files(paths: list[str], kinds: list[str]) -> pd.DataFrame:
    rows = pd.concat([read_file(path, kinds) for path in paths], ignore_index=True)
    return require_ok(rows, ", ".join(paths))


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


def _ambiguous(rows: pd.DataFrame, split: list[str]) -> bool:
    """Does some point of a panel stand for two different problems?"""
    distinct = rows.drop_duplicates(PANEL + split + PROBLEM)
    return bool(distinct.duplicated(PANEL + split).any())


def group_rows(rows: pd.DataFrame) -> list[Group]:
    """Splits by device and by everything else that would put two problems on one point."""
    split = ["device_name", "device_uuid", "pass", "dtype", "window", "fill", "cache", "rest"]
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
            if column == "rest":
                title += f", {rest_text(values[column])}" if column in varying else ""
            elif column in varying or (column == "window" and values[column]):
                title += f", {column.replace('_', ' ')} {values[column]}"
        suffix = "".join(f"-{_slug(str(values[column]))}" for column in varying)
        same = sum(1 for group in groups if group.suffix.split("~")[0] == suffix)  # names that differ in signs alone
        suffix += f"~{same + 1}" if same else ""
        groups.append(Group(part, title, suffix))
    return groups


def rest_text(rest: str) -> str:
    """Of the column `rest`: '3' is a pause before each sample of three times its duration."""
    return f"rests of {rest}x" if rest else "no rests"


def _slug(text: str) -> str:
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
    """Rows with status ok and a value in `by`; of several tiles or repeats of one point the best."""
    ok = rows[(rows["status"] == "ok") & rows[by].notna()]
    return ok.sort_values(by, ascending=smallest).drop_duplicates(["impl", *PANEL]).sort_values("seqlen_q")


def size_label(n: int) -> str:
    """1024 -> '1k', 1536 -> '1.5k', 512 -> '512'."""
    if n >= 1 << 20 and n % (1 << 18) == 0:
        return f"{n / (1 << 20):g}m"
    return f"{n / 1024:g}k" if n >= 1024 and n % 256 == 0 else str(n)
