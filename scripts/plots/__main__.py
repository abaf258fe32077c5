"""scripts/plot: reads attnprof CSV files and answers one question per figure."""

import argparse
import difflib
import pathlib
import sys
import warnings

try:
    from .figures import FIGURES, draw
    from .rows import Options, PlotError, group_rows, read_files, require_ok, select
    from .style import plt, save
except ModuleNotFoundError as error:
    sys.exit(f"plot: error: the Python package {error.name} is missing; run scripts/setup")

QUESTIONS = """
  bytes     how many HBM bytes does each implementation move, against its model and the compulsory minimum?
  time      how long does one launch take?
  speedup   how much faster than the baseline?
  tflops    how close to the machine's arithmetic? (bars, as in the FlashAttention papers)
  roofline  is it memory or arithmetic that limits? (roof: the file's ceilings, or --copy-gbps and --matrix-tflops)
  tiles     which tile is best? (time and bytes of one implementation and problem, tile_m x tile_n)
  memory    how much memory does it need, how much was free, and what does not fit?
  stacked   what would memory, matrix units, exponentials and launches each take of the time? (bars side by side)
  io-bound  do bytes follow the papers' bounds as tile size varies?
  overview  bytes, time and speed-up of one shape side by side

examples:
  scripts/plot bytes a.csv -o plots
  scripts/plot roofline a.csv --copy-gbps 4281 --matrix-tflops 804 --where head_dim=128 --where causal=0
  scripts/plot tiles tiles.csv --where seqlen_q=8k -o plots --format svg
"""


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/plot", formatter_class=argparse.RawDescriptionHelpFormatter, epilog="questions:" + QUESTIONS,
        usage="%(prog)s [QUESTION] FILE.csv [FILE.csv ...] [options]",
        description="Draws attnprof CSV files; without QUESTION, every figure that the rows can give. Rows that failed or were\n"
                    "not verified are never drawn; devices, dtypes and passes get figures of their own.")
    parser.add_argument("files", nargs="+", metavar="FILE.csv", help="files of rows; a QUESTION may stand before them")
    parser.add_argument("-o", "--out", default="out", help="folder for QUESTION.png and QUESTION.svg, or, for one question, a "
                                                           ".png or .svg file (default: out)")
    parser.add_argument("--format", default="png,svg", help="png, svg or png,svg (default), when -o is a folder")
    parser.add_argument("--kind", help="the same as QUESTION; several joined by commas, or all")
    parser.add_argument("--where", action="append", default=[], metavar="COLUMN=VALUE[,VALUE]",
                        help="draw only such rows: --where head_dim=64,128 --where seqlen_q=4k (may be repeated)")
    parser.add_argument("--baseline", default="naive", help="implementation that speed-ups refer to (default: naive)")
    parser.add_argument("--copy-gbps", type=positive, metavar="GB/s",
                        help="roof: copy bandwidth, in place of what the file says was measured")
    parser.add_argument("--matrix-tflops", type=positive, metavar="TFLOP/s",
                        help="roof: matrix rate, in place of what the file says was measured")
    options = parser.parse_args(arguments)
    if options.files[0] in FIGURES:
        if options.kind:
            parser.error(f"'{options.files[0]}' and --kind both name what to draw; give one")
        options.kind = options.files.pop(0)
        if not options.files:
            parser.error(f"which file? scripts/plot {options.kind} FILE.csv")
    first = options.files[0]
    near = difflib.get_close_matches(first, FIGURES, 1)
    if near and not pathlib.Path(first).exists():
        parser.error(f"'{first}' is neither a file nor a question; did you mean {near[0]}?")
    return options


def positive(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"'{text}' is no rate")
    return value


def chosen_kinds(text: str | None) -> list[str]:
    kinds = list(FIGURES) if text in {None, "all"} else list(dict.fromkeys(text.split(",")))
    for kind in kinds:
        if kind not in FIGURES:
            raise PlotError(f"--kind '{kind}' is unknown; choose from {', '.join(FIGURES)}, all")
    return kinds


def chosen_formats(text: str) -> list[str]:
    formats = list(dict.fromkeys(text.split(",")))
    for name in formats:
        if name not in {"png", "svg"}:
            raise PlotError(f"--format '{name}' is unknown; choose from png, svg")
    return formats


OTHER_FORMATS = {".pdf", ".eps", ".ps", ".jpg", ".jpeg", ".gif", ".webp", ".tif", ".tiff", ".bmp", ".svgz", ".html"}


def output_paths(out: str, kind: str, suffix: str, formats: list[str]) -> list[pathlib.Path]:
    path = pathlib.Path(out)
    if path.suffix in {".png", ".svg"}:
        return [path.with_name(path.stem + suffix + path.suffix)]
    return [path / f"{kind}{suffix}.{name}" for name in formats]


def run(arguments: argparse.Namespace) -> None:
    kinds, formats = chosen_kinds(arguments.kind), chosen_formats(arguments.format)
    if pathlib.Path(arguments.out).suffix in {".png", ".svg"} and len(kinds) > 1:
        raise PlotError(f"-o {arguments.out} is one file, but there are {len(kinds)} figures to draw; give a folder or one QUESTION")
    if pathlib.Path(arguments.out).suffix.lower() in OTHER_FORMATS:
        raise PlotError(f"-o {arguments.out}: figures are .png or .svg; name such a file, or a folder")
    rows = select(read_files(arguments.files), arguments.where)
    if arguments.where:
        require_ok(rows, " ".join(f"--where {condition}" for condition in arguments.where))
    options = Options(arguments.baseline, arguments.copy_gbps, arguments.matrix_tflops)
    groups = group_rows(rows)
    drawn = 0
    for kind in kinds:
        before = drawn
        for group in groups:
            for suffix, figure in draw(kind, group, options):
                for path in output_paths(arguments.out, kind, suffix, formats):
                    path.parent.mkdir(parents=True, exist_ok=True)
                    save(figure, path)
                    print(path)
                plt.close(figure)
                drawn += 1
        if drawn == before:
            nothing = f"{kind}: these rows have {LACKING[kind]}"
            if len(kinds) == 1:
                raise PlotError(nothing)
            print(f"plot: {nothing}", file=sys.stderr)
    if drawn == 0:
        raise PlotError("no figure could be drawn from these rows")


LACKING = {  # why a question has no figure, after "these rows have"
    "bytes": "no HBM bytes, measured or counted", "time": "no times", "speedup": "no verified baseline to compare with (--baseline)",
    "tflops": "no rates", "roofline": "no rates with bytes, measured, counted or modelled", "tiles": "no two tiles of one problem",
    "memory": "no workspace_bytes", "stacked": "no launch gaps, and no ceilings (attnprof ceilings measures them, or --copy-gbps, --matrix-tflops give them)",
    "io-bound": "no two tile_m of one problem", "overview": "no times",
}


def main(words: list[str]) -> int:
    arguments = parse(words)
    warnings.filterwarnings("ignore", message="Glyph .* missing")  # a name in letters that no font here has: boxes, no noise
    try:
        run(arguments)
    except PlotError as error:
        print(f"plot: error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"plot: error: cannot write {error.filename or arguments.out}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
