"""Figures from their data with matplotlib: PNG for slides, SVG for the page, PDF for LaTeX."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import UserError
from .document import Figure, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

# Okabe and Ito's palette separates groups for colour-blind readers. Hatches and markers do so in grey prints.
_HATCHES = ("", "////", "....", "xxxx")
_BAR_COLOURS = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7")
_MARKERS = {"audio": "^", "query": "s", "audio + query": "o"}

# Placeholders for the ink and the ground of a page. A page in dark mode replaces them.
INK = "#1b1b1f"
GROUND = "#fffffe"
# Colour and filling of the markers: orange, blue with an open middle, ink.
_PARADIGMS = {"generative": ("#D55E00", "#D55E00"), "retrieval": ("#0072B2", GROUND), "traditional": (INK, INK)}
_RULE = "#9a9aa0"
_INCH_PER_LINE = 0.17
_WIDTH = 7.6
_DPI = 200

_STYLE: dict[Any, Any] = {
    "font.size": 7.5,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
    "axes.edgecolor": _RULE,
    "axes.linewidth": 0.6,
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.size": 0,
    "hatch.linewidth": 0.5,
    "svg.fonttype": "none",
    "text.parse_math": False,  # a system may have a dollar sign in its name
}


def draw(figure: Figure) -> dict[str, bytes]:
    """Draw a figure.

    Args:
        figure: Its data.

    Returns:
        The encoded figure by format, "png" (200 dots per inch, white ground) and "svg" (no ground, text as text) and
        "pdf" (for LaTeX). The same data give the same bytes.

    Raises:
        UserError: matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError as error:
        raise UserError(
            "figures need matplotlib, which was not found; install it with `pip install 'musicrs[report]'`"
        ) from error
    with matplotlib.rc_context(_STYLE | {"svg.hashsalt": figure.name}):
        drawing = _drawing(figure)
        FigureCanvasAgg(drawing)
        return {
            "png": _encoded(drawing, "png", facecolor="white", metadata={"Software": None}),
            "svg": _encoded(drawing, "svg", transparent=True, metadata={"Date": None, "Creator": None}),
            "pdf": _encoded(drawing, "pdf", metadata={"CreationDate": None, "Creator": None, "Producer": None}),
        }


def inline_svg(svg: bytes, label: str) -> str:
    """Return an SVG file as part of a page: no prologue, no fixed size, the page's ink, a name for screen readers.

    Args:
        svg: A file as `draw` makes it.
        label: The name, already escaped for an attribute.
    """
    text = svg.decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # A style element inside an SVG would hold for the whole page.
    text = re.sub(r"<style[^>]*>.*?</style>", "", text, flags=re.DOTALL)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = text.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
    return text.replace(INK, "currentColor").replace(GROUND, "var(--paper)").strip()


def _encoded(drawing: Drawing, form: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    drawing.savefig(buffer, format=form, **options)
    return buffer.getvalue()


def _drawing(figure: Figure) -> Drawing:
    from matplotlib.figure import Figure as Drawing

    grid = [figure.panels[i : i + figure.columns] for i in range(0, len(figure.panels), figure.columns)]
    heights = [_INCH_PER_LINE * max(len(panel.labels) for panel in line) + 0.55 for line in grid]
    drawing = Drawing(figsize=(_WIDTH, sum(heights) + 0.45), dpi=_DPI, layout="constrained")
    drawing.get_layout_engine().set(w_pad=0.06, h_pad=0.06)  # type: ignore[call-arg, union-attr]
    rows = drawing.subplots(len(grid), figure.columns, squeeze=False, gridspec_kw={"height_ratios": heights})
    for line, axes_line in zip(grid, rows, strict=True):
        for i, axes in enumerate(axes_line):
            if i >= len(line):
                axes.set_axis_off()
                continue
            if figure.style == "bars":
                _draw_bars(axes, line[i], figure.legend)
            else:
                _draw_dots(axes, line[i], labelled=i == 0)
            # One scale for a row of panels, the first label on top.
            axes.set_ylim(max(len(panel.labels) for panel in line) - 0.4, -0.6)
    _legend(drawing, figure)
    _finish_layout(drawing)
    return drawing


def _finish_layout(drawing: Drawing) -> None:
    """Lay out once and round. The solver's last digits differ from run to run, and so would the files."""
    engine = drawing.get_layout_engine()
    if engine is not None:
        for _ in range(2):  # long labels need the second pass
            engine.execute(drawing)
    drawing.set_layout_engine("none")
    for axes in drawing.axes:
        axes.set_position(tuple(round(float(edge), 4) for edge in axes.get_position().bounds))  # type: ignore[arg-type]


def _frame(axes: Axes, panel: Panel, labels: Sequence[str]) -> None:
    axes.set_title(panel.title)
    axes.set_yticks(range(len(panel.labels)), labels)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _draw_bars(axes: Axes, panel: Panel, legend: Sequence[str]) -> None:
    series = panel.series[0]
    values = [value or 0.0 for value in series.values]
    groups = [legend.index(group) + 1 if group in legend else 0 for group in panel.groups] or [0] * len(values)
    bars = axes.barh(range(len(values)), values, height=0.72, edgecolor=INK, linewidth=0.5)
    for bar, group in zip(bars, groups, strict=True):
        bar.set_facecolor(_bar_colour(group))
        bar.set_hatch(_hatch(group))
    axes.bar_label(bars, labels=list(series.texts), padding=2, fontsize=7)
    axes.set_xlim(0, max([*values, 1]) * 1.22)
    _frame(axes, panel, panel.labels)
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


def _bar_colour(group: int) -> str:
    return "#b9bcc2" if group == 0 else _BAR_COLOURS[(group - 1) % len(_BAR_COLOURS)]


def _hatch(group: int) -> str:
    return "" if group == 0 else _HATCHES[(group - 1) % len(_HATCHES)]


def _draw_dots(axes: Axes, panel: Panel, *, labelled: bool) -> None:
    series = panel.series[0]
    if panel.line is not None:
        axes.axvline(panel.line, color=INK, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    for place, group in enumerate(panel.groups):
        value, low, high = series.values[place], series.low[place], series.high[place]
        if value is None:
            continue
        look = _look(group)
        if low is not None and high is not None:
            axes.plot([low, high], [place, place], color=look["color"], linewidth=1.1, solid_capstyle="butt", zorder=2)
        axes.plot([value], [place], linestyle="", markersize=4.2, markeredgewidth=1.0, zorder=3, **look)
    _frame(axes, panel, panel.labels if labelled else [""] * len(panel.labels))
    axes.set_xticks(panel.ticks, panel.tick_texts)
    axes.set_xlim(panel.ticks[0], panel.ticks[-1])
    axes.grid(axis="x", color=_RULE, linewidth=0.3, alpha=0.6)
    axes.set_axisbelow(True)


def _look(group: str) -> dict[str, Any]:
    """Return colour and filling for the paradigm, and the marker for the modality."""
    paradigm, _, modality = group.partition(", ")
    colour, middle = _PARADIGMS.get(paradigm, (INK, INK))
    marker = _MARKERS.get(modality, "D")
    return {"color": colour, "marker": marker, "markerfacecolor": middle, "markeredgecolor": colour}


def _legend(drawing: Drawing, figure: Figure) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any]
    if figure.style == "bars":
        handles = [
            Patch(facecolor=_bar_colour(i), hatch=_hatch(i), edgecolor=INK, linewidth=0.5, label=name)
            for i, name in enumerate(figure.legend, 1)
        ]
    else:
        handles = [Line2D([], [], linewidth=1.1, markersize=4.2, label=name, **_look(name)) for name in figure.legend]
        handles.append(Line2D([], [], color=INK, linewidth=0.9, linestyle=(0, (4, 2)), label="chance"))
    drawing.legend(handles=handles, loc="outside upper left", ncols=min(len(handles), 4), frameon=False)
