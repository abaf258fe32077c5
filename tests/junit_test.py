"""The JUnit XML of `attnprof check`, read by another program's parser: totals, what failed, and that no text of a CSV can make
it anything but XML. Run by scripts/test."""

import os
import pathlib
import subprocess

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped
from made_rows import row, write

ROOT = pathlib.Path(__file__).resolve().parent.parent
ATTNPROF = os.environ.get("ATTNPROF", str(ROOT / "build/attnprof"))


def made(impl="flash3", **changes):
    """A verified row."""
    figures = {"time_us": 250, "time_lo_us": 249.5, "time_hi_us": 250.5, "rel_err": 0.001, "executed_flops": 10**6}
    return row(impl, 4096, **(figures | changes))


def checked(folder, before, after, code):
    """The parsed report of a check of two lists of rows; `after` may be the bytes of a file."""
    ref, new, junit = write(folder / "ref.csv", before), folder / "new.csv", folder / "check.xml"
    if isinstance(after, bytes):
        new.write_bytes(after)
    else:
        write(new, after)
    result = subprocess.run([ATTNPROF, "check", "--baseline", ref, str(new), "--junit", str(junit)], capture_output=True)
    assert result.returncode == code, result.stderr
    return JUnitXml.fromfile(str(junit))


def ends(suites, kind):
    """(case, quantity) of every test that ended so."""
    return [(case.classname.split()[0], case.name) for suite in suites for case in suite
            for result in case.result if isinstance(result, kind)]


def test_totals_are_those_of_the_tests_and_each_verdict_is_its_element(tmp_path):
    before = [made(), made(impl="flash2"), made(impl="naive"), made(impl="fused", below_resolution=1), made(impl="cudnn")]
    after = [made(time_us=300, time_lo_us=299, time_hi_us=301), made(impl="flash2", rel_err=0.5),
             made(impl="naive", time_us="", time_lo_us="", time_hi_us=""), made(impl="fused", below_resolution=1)]
    suites = checked(tmp_path, before, after, 4)
    cases = [case for suite in suites for case in suite]
    assert ends(suites, Failure) == [("flash3", "time_us"), ("flash2", "status"), ("cudnn", "missing")]
    assert ends(suites, Error) == [("naive", "time_us")]
    assert ends(suites, Skipped) == [("fused", "time_us")]
    assert [r.type for c in cases for r in c.result if isinstance(r, Failure)] == ["time", "verification", "missing"]
    assert "250 us -> 300 us (+20.0%)" in cases[1].result[0].message
    (suite,) = suites
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (len(cases), 3, 1, 1)
    assert (suites.tests, suites.failures, suites.errors) == (len(cases), 3, 1)
    suite.update_statistics()  # as the parser itself counts them
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (len(cases), 3, 1, 1)


def test_a_file_that_holds_has_tests_and_no_failure(tmp_path):
    suites = checked(tmp_path, [made()], [made()], 0)
    assert suites.tests > 3 and (suites.failures, suites.errors) == (0, 0) and not ends(suites, (Failure, Error, Skipped))


# What XML 1.0 cannot hold, or would read as its own: the message of a failed row is any program's text.
ODD = {
    "markup": (b"a<b>&amp;'\"\" ]]> <![CDATA[ --> <?x?>", "a<b>&amp;'\" ]]> <![CDATA[ --> <?x?>"),
    "control characters": (bytes(c for c in range(1, 32) if c not in b"\t\r\n") + b"\x7f", None),
    "line breaks": (b"first\nsecond\tthird", "first second third"),
    "no UTF-8": (b"caf\xe9 \xff\xfe \xc3", "caf? ?? ?"),
    "cut off inside a character": (b"3 \xe2\x82", "3 ??"),
    "overlong": (b"\xc0\xbc \xe0\x80\xbc", "?? ???"),
    "surrogates": (b"x \xed\xa0\x80\xed\xb0\x80", "x ??????"),
    "no characters": (b"\xef\xbf\xbe \xef\xbf\xbf", "? ?"),
    "beyond Unicode": (b"\xf4\x90\x80\x80 \xf5\x80\x80\x80", "???? ????"),
    "other scripts": ("\N{GREEK SMALL LETTER ALPHA}\N{EURO SIGN}\N{GRINNING FACE}".encode(), "\u03b1\u20ac\U0001f600"),
}


@pytest.mark.parametrize("odd", ODD)
def test_any_bytes_of_a_message_give_well_formed_xml(tmp_path, odd):
    raw, read = ODD[odd]
    path = write(tmp_path / "made.csv", [made(status="failed", message="MESSAGE")])
    text = pathlib.Path(path).read_bytes().replace(b"MESSAGE", b'"' + raw + b'"')
    suites = checked(tmp_path, [made()], text, 1)
    (failure,) = [r for suite in suites for case in suite for r in case.result if isinstance(r, Failure)]
    assert failure.message.startswith("status: ok -> failed; ")
    if read is not None:
        assert failure.message.endswith("; " + read)
