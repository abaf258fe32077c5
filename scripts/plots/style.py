"""How figures look: Okabe-Ito colours (safe for colour-blind readers), one colour and marker per implementation."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator  # noqa: E402

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
SPARE = [("#882255", "p"), ("#F0E442", "h"), ("#999999", "*")]
COMPULSORY = "#555555"
INK = "#222222"

plt.rcParams.update({
    "font.size": 10, "axes.titlesize": 10.5, "axes.labelsize": 10, "legend.fontsize": 9.5, "axes.edgecolor": "#888888",
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.color": "#E4E4E4",
    "grid.linewidth": 0.8, "axes.axisbelow": True, "lines.linewidth": 1.8, "lines.markersize": 6, "figure.dpi": 150,
    "svg.hashsalt": "attnprof", "text.color": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
})


def order_impls(names) -> list[str]:
    """Baselines first, then ours, then peers: the order of IMPLS, unknown names after them by name."""
    known = list(IMPLS)
    return sorted(set(names), key=lambda n: (known.index(n) if n in known else len(known), n))


def look(impl: str, impls: list[str]) -> tuple[str, str]:
    if impl in IMPLS:
        return IMPLS[impl]
    unknown = [name for name in impls if name not in IMPLS]
    return SPARE[unknown.index(impl) % len(SPARE)]


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
        axes.text(1.02, at, text, transform=axes.get_yaxis_transform(), va="center", color=color, fontweight="bold",
                  fontsize=9.5)


def _legend(figure, handles, top: float) -> int:
    """As few lines as fit the figure's width; returns how many."""
    for lines in range(1, len(handles) + 1):
        legend = figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.004, top), ncol=-(-len(handles) // lines),
                               frameon=False, columnspacing=1.6, handlelength=2.2, borderaxespad=0.2)
        if legend.get_window_extent().x1 <= figure.bbox.width or lines == len(handles):
            return lines
        legend.remove()
    return 0


def finish(figure, title: str, subtitle: str, footer: str, handles) -> None:
    """Title above, legend below it, footer at the bottom; panels fill what is between."""
    height = figure.get_size_inches()[1]
    figure.text(0.012, 1 - 0.10 / height, title, fontsize=13, fontweight="bold", va="top")
    figure.text(0.012, 1 - 0.36 / height, subtitle, fontsize=10, color="#555555", va="top")
    lines = _legend(figure, handles, 1 - 0.53 / height)
    figure.text(0.012, 0.06 / height, footer, fontsize=8.5, color="#777777", va="bottom")
    figure.tight_layout(rect=(0, 0.22 / height, 1, 1 - (0.58 + 0.24 * lines) / height), w_pad=1.6, h_pad=1.4)
