"""A CSV as the program wrote it, read unchanged by pandas, DuckDB and csvkit: the lines that docs/csv.md shows. Run by
scripts/test."""

import os
import pathlib
import shutil
import subprocess
import sys

import duckdb
import pandas
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
ATTNPROF = os.environ.get("ATTNPROF", str(ROOT / "build/attnprof"))
# Columns that hold a quantity, by the page that explains them.
WITH_UNIT = {line.split("`")[1] for line in (ROOT / "docs/columns.md").read_text().splitlines()
             if line.startswith("| `") and line.split("|")[2].strip()}
MEASURED = ["time_us", "hbm_read_bytes", "rel_err", "model_hbm_bytes"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Rows that are ok, one that is not possible, and a shard's: what a file of the program can hold."""
    folder = tmp_path_factory.mktemp("data")
    # 4 heads are no multiple of 3 KV heads: a row without figures.
    command = [ATTNPROF, "sweep", "--device", "cpu", "--threads", "1", "--seqlen", "64,128", "--heads", "4", "--kv-heads", "2,3",
               "--head-dim", "32", "--max-time", "0.02", "--min-samples", "6", "--shard", "1/1", "--quiet", "--csv",
               str(folder / "rows.csv")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return folder / "rows.csv"


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.fixture(scope="module")
def kinds(rows):
    """Of every column that is not empty: does its text say numbers?"""
    text = pandas.read_csv(rows, dtype=str, keep_default_na=False)
    cells = {column: [cell for cell in text[column] if cell] for column in text.columns}
    kinds = {column: all(map(is_number, filled)) for column, filled in cells.items() if filled}
    assert all(kinds[column] for column in WITH_UNIT & kinds.keys()) and {"time_us", "tflops", "causal"} <= WITH_UNIT & kinds.keys()
    assert not any(kinds[column] for column in ("impl", "plan", "shard", "tool_version", "timestamp", "command"))
    return kinds


def test_pandas_reads_numbers_as_numbers_and_empty_as_missing(rows, kinds):
    table = pandas.read_csv(rows)
    assert len(table) == 8 and list(table["status"]).count("ok") == 4
    for column in table.columns:
        assert table[column].isna().all() == (column not in kinds), column
        if column in kinds:
            assert pandas.api.types.is_numeric_dtype(table[column]) == kinds[column], column
    assert table.loc[table.status != "ok", MEASURED].isna().all(axis=None)
    assert (table.loc[table.status == "ok", MEASURED] > 0).all(axis=None)
    assert set(table["shard"]) == {"1 of 1"} and table["plan_rows"].eq(8).all()
    medians = table[table.status == "ok"].pivot_table(index="seqlen_q", columns="impl", values="time_us")
    assert medians.shape == (2, 2)


def test_duckdb_reads_numbers_as_numbers_and_empty_as_null(rows, kinds):
    types = {name: kind for name, kind, *_ in duckdb.sql(f"describe from '{rows}'").fetchall()}
    for name, kind in types.items():
        filled = duckdb.sql(f'select count("{name}") from \'{rows}\'').fetchall() != [(0,)]
        assert filled == (name in kinds), name
        if filled:
            assert (kind in ("BIGINT", "DOUBLE")) == kinds[name], (name, kind)
    assert types["timestamp"].startswith("TIMESTAMP") and types["time_us"] == "DOUBLE" and types["hbm_read_bytes"] == "BIGINT"
    assert not {"device_uuid", "l2_bytes"} & kinds.keys()
    missing = duckdb.sql(f"select count(*) from '{rows}' where status <> 'ok' and time_us is null and hbm_read_bytes is null")
    assert missing.fetchall() == [(4,)]


def test_both_see_the_same_values_as_the_text(rows):
    text = pandas.read_csv(rows, dtype=str, keep_default_na=False)
    table = pandas.read_csv(rows)
    duck = duckdb.sql(f"select time_us, hbm_read_bytes from '{rows}'").fetchall()
    for i, cells in text.iterrows():
        for j, column in enumerate(("time_us", "hbm_read_bytes")):
            if cells[column] == "":
                assert duck[i][j] is None and pandas.isna(table.at[i, column])
            else:
                assert duck[i][j] == table.at[i, column] == float(cells[column])


# As docs/csv.md has them.
LINES = [
    r"""python3 -c "import pandas; print(pandas.read_csv('rows.csv').pivot_table('time_us', 'seqlen_q', 'impl', 'min'))" """,
    r"""python3 -c "import duckdb; duckdb.sql('select impl, seqlen_q, min(time_us) from \'rows.csv\' group by all order by all').show()" """,
    r"""csvgrep -c status -m ok rows.csv | csvcut -c impl,seqlen_q,time_us,hbm_read_bytes | csvlook""",
]


@pytest.mark.parametrize("line", LINES, ids=["pandas", "duckdb", "csvkit"])
def test_one_line_of_shell_reads_the_file(rows, tmp_path, line):
    shutil.copy(rows, tmp_path / "rows.csv")
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    if shutil.which(line.split()[0], path=path) is None:
        pytest.skip(f"no {line.split()[0]} here: pip install csvkit")
    result = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert result.returncode == 0, result.stderr
    assert all(word in result.stdout for word in ("naive", "fused", "64", "128")), result.stdout
