"""Rows of CSV files as attnprof itself reads them: one reader and one set of rules, for the program and for scripts."""

import json
import os
import pathlib
import shutil
import subprocess
import sys


class RowsError(Exception):
    """One line for the user: which file, what is wrong."""


def binary() -> str:
    """The program: $ATTNPROF_BINARY, else the one built beside these scripts, else the one on PATH."""
    built = pathlib.Path(__file__).resolve().parent.parent / "build/attnprof"
    found = os.environ.get("ATTNPROF_BINARY") or (str(built) if built.is_file() else shutil.which("attnprof"))
    if not found:
        raise RowsError(f"CSV files are read by attnprof, which is neither {built} nor on PATH; build it, or set ATTNPROF_BINARY")
    return found


def read_rows(paths: list[str], *options: str) -> list[dict]:
    """A dict for each row: numbers as numbers, None for an empty cell, and `file` where there are several files. Warnings go
    to stderr. Raises RowsError with the program's own words."""
    program = binary()
    try:
        done = subprocess.run([program, "rows", "--format", "json", *options, "--", *paths], capture_output=True)
    except OSError as error:
        raise RowsError(f"ATTNPROF_BINARY: cannot run {program}: {error.strerror}") from None
    words = done.stderr.decode(errors="replace").strip()
    if done.returncode != 0:
        last = words.splitlines()[-1] if words else f"{program} ended with {done.returncode}"
        raise RowsError(last.removeprefix("attnprof: "))
    if words:
        print(words, file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]
