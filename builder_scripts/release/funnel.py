"""Funnel of a corpus: threads left after each step from the dumps to the release, reasons of dropped ones, figure."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten, wrap
from typing import TYPE_CHECKING, Any

from musicrs_metric.errors import UserError
from musicrs_metric.report.draw import INK

from ..manifest import Counts, StageManifest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REASONS = {
    "duplicate": "copies",
    "deleted": "deleted by author or moderator",
    "bot": "written by programs",
    "no_link": "no link to a video",
    "few_replies": "too few replies",
}
_OWN, _PAPER, _FAINT = "#0072B2", "#d8dade", "#6b6b73"
_STYLE: dict[Any, Any] = {
    "font.size": 8,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "hatch.linewidth": 0.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "funnel",
    "text.parse_math": False,
}
_HEIGHT, _GAP = 0.26, 1.25  # of a bar, and from step to step
_LEFT = 0.7  # where the logarithmic axis begins
_CHARACTERS = 108  # of a line of reasons


@dataclass(frozen=True)
class Step:
    """One step of the funnel.

    Attributes:
        name: Property of the threads that are left.
        n: Number of threads that are left.
        left_out: Threads dropped since the last step, by reason. The largest number comes first.
        paper: Number of threads in the paper (section 2 of arXiv:2509.19469), as reported.
    """

    name: str
    n: int
    left_out: Mapping[str, int]
    paper: int


def funnel(manifests: Mapping[str, StageManifest], released: Counts) -> list[Step]:
    """Return the steps.

    Args:
        manifests: Manifests of the stages `mine`, `threads`, `refine` and `pools`.
        released: Counts of threads in the release.

    Returns:
        Five steps. Each one's `n` and `left_out` add up to the `n` of the step before.
    """
    mined = manifests["mine"].counts["submissions"]
    filtered = manifests["threads"].counts["submissions"]
    refined, settled = manifests["refine"].counts["threads"], manifests["pools"].counts["threads"]
    rules, sizes = manifests["threads"].parameters, manifests["refine"].parameters
    few = filtered.dropped.get("few_replies", 0)
    no_link = {reason: n for reason, n in filtered.dropped.items() if reason != "few_replies"}
    dropped = (settled + released).dropped
    last = "released" if manifests["pools"].parameters["unjudged"] else "judged and released"
    return [
        Step("posts of the subreddits", mined.kept, {}, 2_700_000),
        Step("with a link to YouTube", filtered.kept + few, _by_size(no_link), 46_218),
        Step(
            f"with {rules['min_replies']} replies of {rules['min_chars']} characters"
            + ("" if rules.get("asker_counts", True) else ", not the asker's"),
            filtered.kept,
            _by_size({"few_replies": few}),
            10_167,
        ),
        Step(
            f"with a request and {sizes['min_answers']} to {sizes['max_answers']} answers",
            refined.kept,
            _by_size(refined.dropped),
            1_623,
        ),
        Step(last, released.kept, _by_size(dropped), 477),
    ]


def _by_size(reasons: Mapping[str, int]) -> dict[str, int]:
    largest_first = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return {_REASONS.get(reason, reason): n for reason, n in largest_first if n}


def draw_funnel(steps: Sequence[Step], title: str) -> dict[str, bytes]:
    """Draw the funnel next to that of the paper.

    Args:
        steps: Steps from all posts to the release.
        title: Name of the corpus in the legend.

    Returns:
        The encoded figure by format, "png" (200 dots per inch, white ground) and "svg" (text as text). The same steps
        give the same bytes.

    Raises:
        UserError: matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UserError(
            "the figures of a release need matplotlib; install it with `pip install 'musicrs[report]'`"
        ) from error
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(7.6, 0.78 * len(steps) + 0.7), dpi=200)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.235, 0.075, 0.735, 0.84))
        _draw(axes, steps, title)
        return {
            "png": _encoded(figure, "png", {"Software": None}),
            "svg": _encoded(figure, "svg", {"Date": None, "Creator": None}),
        }


def reasons(step: Step) -> str:
    """List the reasons of dropped threads in one line."""
    return "; ".join(f"{n:,}\u00a0{reason}" for reason, n in step.left_out.items())


def reported(step: Step) -> str:
    """Return the number of the paper, with the digits of the paper."""
    return f"{step.paper / 1e6:.1f} million" if step.paper >= 1_000_000 else f"{step.paper:,}"


def _draw(axes: Axes, steps: Sequence[Step], title: str) -> None:
    places = [_GAP * i for i in range(len(steps))]
    own, paper = [step.n for step in steps], [step.paper for step in steps]
    axes.barh(places, [max(n, 1) - _LEFT for n in own], _HEIGHT, left=_LEFT, color=_OWN, label=shorten(title, 50))
    axes.barh(
        [place + _HEIGHT + 0.03 for place in places], [n - _LEFT for n in paper], _HEIGHT, left=_LEFT,
        color=_PAPER, edgecolor=_FAINT, linewidth=0.5, hatch="////", label="the paper, as reported",
    )  # fmt: skip
    for place, step in zip(places, steps, strict=True):
        axes.text(max(step.n, 1) * 1.15, place, f"{step.n:,}", va="center", weight="bold")
        axes.text(step.paper * 1.15, place + _HEIGHT + 0.03, reported(step), va="center", color=_FAINT)
        lines = wrap(f"left out: {reasons(step)}", _CHARACTERS) if step.left_out else []
        if len(lines) > 2:
            lines = [lines[0], f"{lines[1][: _CHARACTERS - 4]} ..."]
        axes.text(0.75, place - _HEIGHT / 2 - 0.06, "\n".join(lines), va="bottom", fontsize=6.2, color=_FAINT)
    axes.set_xscale("log")
    axes.set_xlim(_LEFT, max(*own, *paper) * 12)
    axes.set_ylim(places[-1] + 2.2 * _HEIGHT, -0.75)
    names = ["\n".join(wrap(step.name, 26)) for step in steps]
    axes.set_yticks([place + _HEIGHT / 2 for place in places], names)
    axes.tick_params(length=0)
    axes.set_xticks([])
    axes.minorticks_off()
    for side in ("top", "right", "bottom", "left"):
        axes.spines[side].set_visible(False)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 0.985), ncols=2, frameon=False, borderaxespad=0)
    axes.text(
        1.0, -0.02, "length of the bars: logarithmic", transform=axes.transAxes, ha="right", va="top",
        fontsize=6.2, color=_FAINT,
    )  # fmt: skip


def _encoded(figure: Any, form: str, metadata: dict[str, None]) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, facecolor="white", metadata=metadata)
    return buffer.getvalue()
