"""How figures look: Okabe-Ito colours (safe for colour-blind readers), one colour and marker per implementation."""

import io
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_hex, to_rgb  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator  # noqa: E402
from matplotlib.transforms import Bbox, offset_copy  # noqa: E402
from PIL import Image  # noqa: E402  (matplotlib needs it too)

from .rows import size_label  # noqa: E402

IMPLS = {  # colour, marker
    "naive": ("#D55E00", "s"),
    "fused": ("#0072B2", "o"),
    "flash2": ("#0072B2", "o"),
    "flash3-tma": ("#B8C9D6", "<"),
    "flash3-roles": ("#8FA9BC", ">"),
    "flash3-turns": ("#66899F", "X"),
    "flash3": ("#56B4E9", "D"),
    "cudnn": ("#333333", "v"),
    "torch-flash": ("#009E73", "^"),
    "torch-cudnn": ("#E69F00", "v"),
    "torch-math": ("#CC79A7", "P"),
}
SPARE = (  # of names not known, and of lines of several files; when all colours are used, they come again paler
    ["#882255", "#8C8C00", "#777777", "#332288", "#117733", "#CC6677", "#AA7744", "#44AA99", "#9966CC", "#661100", "#DDCC77", "#6699CC"],
    ["p", "h", "*", "d", "8"])
COMPULSORY = "#555555"
WIDTH = 8.8  # inches: shown 830 pixels wide, as on a README, 10 points are 13 pixels
INK = "#222222"

plt.rcParams.update({
    "font.size": 10, "axes.titlesize": 10.5, "axes.labelsize": 10, "legend.fontsize": 9.5, "axes.edgecolor": "#888888",
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#E4E4E4",
    "grid.linewidth": 0.8, "axes.axisbelow": True, "lines.linewidth": 1.8, "lines.markersize": 6, "figure.dpi": 190,
    "svg.hashsalt": "attnprof", "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
    "text.parse_math": False,  # a $ in a name is a $
})


def face(color, bytes_from: str):
    """How full a marker is says where its bytes came from: measured, modelled (pale) or counted (open)."""
    if bytes_from == "cupti":
        return color
    return "white" if bytes_from == "counted" else tuple(0.35 * c + 0.65 for c in to_rgb(color))


def luminance(color) -> float:
    """Relative luminance, as contrast is reckoned by WCAG 2."""
    return sum(w * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4) for w, c in zip((0.2126, 0.7152, 0.0722), to_rgb(color)))


def words(color) -> tuple:
    """The colour, as dark as text on white needs it: a contrast of 4.5 and more."""
    rgb = to_rgb(color)
    while 1.05 / (luminance(rgb) + 0.05) < 4.5:
        rgb = tuple(0.95 * c for c in rgb)
    return rgb


def held_dots(axes, xs, ys, below: float = 0, color="white") -> None:
    """White dots inside marks (or `below` points under the top of bars) whose clock was held down."""
    if len(xs) == 0:
        return
    place = offset_copy(axes.transData, axes.figure, y=-below, units="points")
    axes.plot(xs, ys, color=color, marker="o", linestyle="none", markersize=2.4, markeredgewidth=0, zorder=5, transform=place, gid="held")


def order_impls(names) -> list[str]:
    """Baselines first, then ours, then peers: the order of IMPLS, unknown names after them by name; of one the files by name."""
    known = list(IMPLS)
    place = {name: known.index(impl) if (impl := name.split(" (")[0]) in known else len(known) for name in names}
    return sorted(place, key=lambda name: (place[name], name))


def look(impl: str, impls: list[str]) -> tuple[str, str]:
    if impl in IMPLS:
        return IMPLS[impl]
    place = [name for name in impls if name not in IMPLS].index(impl)
    colors, markers = SPARE
    fade = min(0.75, 0.3 * (place // len(colors)))
    return to_hex([fade + (1 - fade) * c for c in to_rgb(colors[place % len(colors)])]), markers[place % len(markers)]


def human(value: float, units: list[str], step: float) -> str:
    for unit in units[:-1]:
        if abs(value) < step:
            return f"{value:.3g} {unit}"
        value /= step
    return f"{value:.4g} {units[-1]}"


def bytes_label(value: float) -> str:
    return human(value, ["B", "kB", "MB", "GB", "TB", "PB"], 1000)


def binary_bytes_label(value: float) -> str:
    return "0" if value == 0 else human(value, ["B", "KiB", "MiB", "GiB", "TiB"], 1024)


def time_label(value_us: float) -> str:
    return f"{value_us * 1000:.3g} ns" if value_us < 1 else human(value_us, ["µs", "ms", "s"], 1000)


def rate_label(tflops: float) -> str:
    return human(tflops * 1000, ["GFLOP/s", "TFLOP/s", "PFLOP/s"], 1000)


def seqlen_axis(axes, seqlens) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(sorted(set(seqlens))))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: size_label(int(round(n)))))
    axes.set_xlabel("sequence length")


def value_axis(axes, label: str, formatter, log: bool = True) -> None:
    if log:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 2000 else (1,), numticks=20))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda v, _: formatter(v)))
    axes.set_ylabel(label)


def end_labels(axes, labels: list[tuple]) -> None:
    """Writes (y, text, colour) to the right of line ends on a linear y axis, pushed apart, and inside the axis' range."""
    low, high = axes.get_ylim()
    apart = (high - low) * 0.075
    places: list[float] = []
    for y, _, _ in sorted(labels):
        places.append(max(y, places[-1] + apart) if places else y)
    ceiling = high
    for i in reversed(range(len(places))):
        places[i] = min(places[i], ceiling)
        ceiling = places[i] - apart
    for at, (_, text, color) in zip(places, sorted(labels)):
        axes.text(1.02, at, text, transform=axes.get_yaxis_transform(), va="center", color=words(color), fontweight="bold",
                  fontsize=9.5)


PLACES = [(0, 6, "center", "bottom"), (0, -6, "center", "top"), (7, 0, "left", "center"), (-7, 0, "right", "center"),
          (5, 6, "left", "bottom"), (-5, 6, "right", "bottom"), (5, -6, "left", "top"), (-5, -6, "right", "top")]


def place_labels(axes, labels: list[tuple], marks: list[tuple], size: float = 8) -> None:
    """Writes (x, y, text, colour) beside its point where it covers no mark and no other label; else not at all. To be called
    when the figure's layout is final."""
    around = 3.6 * axes.figure.dpi / 72
    taken = [Bbox.from_bounds(x - around, y - around, 2 * around, 2 * around) for x, y in axes.transData.transform(marks)]
    for x, y, text, color in labels:
        for right, up, ha, va in PLACES:
            label = axes.annotate(text, (x, y), xytext=(right, up), textcoords="offset points", fontsize=size, color=words(color), ha=ha, va=va)
            box = label.get_window_extent()
            inside = axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 and axes.bbox.y0 <= box.y0 and box.y1 <= axes.bbox.y1
            if inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                break
            label.remove()


def save(figure, path: pathlib.Path) -> None:
    """A PNG has 256 colours: none is off by more than an eye can see, and the file is a third of the size. An SVG has no date
    inside: the same rows give the same file."""
    if path.suffix == ".svg":
        figure.savefig(path, metadata={"Date": None})
        return
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    few = Image.open(drawn).convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(path, optimize=True, dpi=(figure.dpi, figure.dpi))


def _legend(figure, handles, top: float) -> int:
    """As few lines as fit the figure's width; returns how many."""
    for lines in range(1, len(handles) + 1):
        legend = figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.004, top), ncol=-(-len(handles) // lines),
                               frameon=False, columnspacing=1.6, handlelength=2.2, borderaxespad=0.2)
        if legend.get_window_extent().x1 <= figure.bbox.width or lines == len(handles):
            return lines
        legend.remove()
    return 0


def _wrap(figure, text: str, size: float) -> list[str]:
    """Breaks at blanks, so that each line fits the figure."""
    probe = figure.text(0, 0, "", fontsize=size)
    lines = [""]
    for word in text.split(" "):
        probe.set_text(f"{lines[-1]} {word}".strip())
        if lines[-1] and probe.get_window_extent().width > 0.976 * figure.bbox.width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    probe.remove()
    return lines


def finish(figure, title: str, subtitle: str, footer: str, handles, notes: list[str] = ()) -> None:
    """Title above, legend below it, notes and footer at the bottom; panels fill what is between."""
    height = figure.get_size_inches()[1]
    figure.text(0.012, 1 - 0.10 / height, title, fontsize=13, fontweight="bold", va="top")
    below = _wrap(figure, subtitle, 10)
    figure.text(0.012, 1 - 0.36 / height, "\n".join(below), fontsize=10, color="#555555", va="top")
    more = 0.19 * (len(below) - 1)
    lines = _legend(figure, handles, 1 - (0.53 + more) / height)
    wrapped = [line for text in [*notes, footer] for line in _wrap(figure, text, 8.5)]
    figure.text(0.012, 0.06 / height, "\n".join(wrapped), fontsize=8.5, color="#666666", va="bottom", linespacing=1.25)
    figure.tight_layout(rect=(0, (0.08 + 0.148 * len(wrapped)) / height, 1, 1 - (0.58 + more + 0.24 * lines) / height), w_pad=1.6, h_pad=1.4)
