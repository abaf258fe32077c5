"""scripts/plot: reads attnprof CSV files and answers one question per figure."""

import argparse
import pathlib
import sys

try:
    from .figures import FIGURES
    from .rows import PlotError, group_rows, read_files
    from .style import plt
except ModuleNotFoundError as error:
    sys.exit(f"plot: error: the Python package {error.name} is missing; run scripts/setup")

QUESTIONS = """
  bytes     how many HBM bytes does each implementation move, against its model and the compulsory minimum?
  time      how long does one launch take?
  speedup   how much faster than the baseline?
  tflops    how close to the machine's arithmetic? (bars, as in the FlashAttention papers)
  memory    how much workspace does it need, and what does not fit?
  overview  bytes, time and speed-up of one shape side by side
"""


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/plot", formatter_class=argparse.RawDescriptionHelpFormatter, epilog="kinds:" + QUESTIONS,
        description="Draws attnprof CSV files. Rows that failed or were not verified are never drawn; devices, dtypes and\n"
                    "passes get figures of their own.")
    parser.add_argument("files", nargs="+", metavar="FILE.csv")
    parser.add_argument("-o", "--out", default="out", help="folder for KIND.png and KIND.svg, or, for one kind, a .png or "
                                                           ".svg file (default: out)")
    parser.add_argument("--kind", default="all", help="bytes, time, speedup, tflops, memory, overview, several joined by "
                                                      "commas, or all (default)")
    parser.add_argument("--baseline", default="naive", help="implementation that speed-ups refer to (default: naive)")
    return parser.parse_args(arguments)


def chosen_kinds(text: str) -> list[str]:
    kinds = list(FIGURES) if text == "all" else list(dict.fromkeys(text.split(",")))
    for kind in kinds:
        if kind not in FIGURES:
            raise PlotError(f"--kind '{kind}' is unknown; choose from {', '.join(FIGURES)}, all")
    return kinds


def output_paths(out: str, kind: str, suffix: str) -> list[pathlib.Path]:
    path = pathlib.Path(out)
    if path.suffix in {".png", ".svg"}:
        return [path.with_name(path.stem + suffix + path.suffix)]
    return [path / f"{kind}{suffix}{extension}" for extension in (".png", ".svg")]


def run(options: argparse.Namespace) -> None:
    kinds = chosen_kinds(options.kind)
    if pathlib.Path(options.out).suffix in {".png", ".svg"} and len(kinds) > 1:
        raise PlotError(f"-o {options.out} is one file, but --kind names {len(kinds)} figures; give a folder")
    groups = group_rows(read_files(options.files, kinds))
    drawn = 0
    for kind in kinds:
        for group in groups:
            figure = FIGURES[kind](group, options.baseline)
            if figure is None:
                print(f"plot: {kind}: nothing to draw for {group.title}", file=sys.stderr)
                continue
            for path in output_paths(options.out, kind, group.suffix):
                path.parent.mkdir(parents=True, exist_ok=True)
                # No date inside: the same rows give the same file.
                figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
                print(path)
            plt.close(figure)
            drawn += 1
    if drawn == 0:
        raise PlotError("no figure could be drawn from these rows")


def main() -> int:
    options = parse(sys.argv[1:])
    try:
        run(options)
    except PlotError as error:
        print(f"plot: error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"plot: error: cannot write {error.filename or options.out}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


sys.exit(main())
