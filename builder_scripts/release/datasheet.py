"""The datasheet of a release (Gebru et al. 2021, doi:10.1145/3458723), filled in from the manifests of the stages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from musicrs_dataset.describe import Description
from musicrs_metric.base.files import to_json
from musicrs_metric.base.html import load_template
from musicrs_metric.base.renderers.markdown import markdown_grid
from musicrs_metric.base.text import escape_markdown

from ..manifest import Counts, StageManifest
from .funnel import Step, reasons, reported
from .options import ReleaseOptions

STAGES = ("mine", "threads", "extract", "queries", "refine", "audio", "annotate", "pools")
_LONGEST = 300  # characters of a parameter's value


@dataclass(frozen=True)
class DatasheetInputs:
    """Inputs of a datasheet.

    Attributes:
        options: Name and description of the release.
        manifests: Manifest by stage. `audio` and `annotate` may be missing.
        steps: Steps of the funnel.
        counts: Counts of threads, replies and links in the release.
        about: Statistics of the release.
        answers: Number of answers of models in the release.
        takedown: Number of ids that were removed on request.
        personal: Personal data in the texts, in words. "" for none.
    """

    options: ReleaseOptions
    manifests: Mapping[str, StageManifest]
    steps: Sequence[Step]
    counts: Mapping[str, Counts]
    about: Description
    answers: int
    takedown: int
    personal: str = ""

    @property
    def judged(self) -> bool:
        """True if annotators have judged the threads."""
        return not self.manifests["pools"].parameters["unjudged"]

    @property
    def models(self) -> dict[str, str]:
        """Model by stage."""
        return {stage: str(self.manifests[stage].parameters["model"]) for stage in ("extract", "queries")}


def datasheet(inputs: DatasheetInputs) -> str:
    """Write the datasheet, in Markdown."""
    about, manifests = inputs.about, inputs.manifests
    stages = [manifests[stage] for stage in STAGES if stage in manifests]
    genres = [(genre, f"{share.threads:,}", f"{100 * share.share:.1f} %") for genre, share in about.genres.items()]
    return load_template(__package__, "datasheet.md.j2").render(
        {field.name: getattr(inputs, field.name) for field in fields(inputs)},
        judged=inputs.judged,
        models=inputs.models,
        genres=genres,
        steps=[(step.name, f"{step.n:,}", reported(step), reasons(step)) for step in inputs.steps],
        statuses=", ".join(f"{n:,} {status}" for status, n in about.link_statuses.items()),
        dumps=[file.path.rsplit("/", 1)[-1] for file in manifests["mine"].inputs],
        signs=_signs(manifests["threads"]),
        notes=[(manifest.stage, note) for manifest in stages for note in manifest.notes],
        chance=", ".join(f"{name} {100 * value:.2f} %" for name, value in about.chance.items()),
        rows=[
            (manifest.stage, kind, f"{counts.seen:,}", f"{counts.kept:,}", _pairs(counts.dropped))
            for manifest in stages
            for kind, counts in manifest.counts.items()
        ],
        times=[
            (manifest.stage, f"{manifest.wall_s:,.1f}", manifest.created_at, _pairs(manifest.versions))
            for manifest in stages
        ],
        parameters=[
            (manifest.stage, name, _shown(value)) for manifest in stages for name, value in manifest.parameters.items()
        ],
        table=_table,
    )


def _signs(threads: StageManifest) -> str:
    """Return how many posts and replies were dropped by each sign, in brackets; "" for none."""
    parts = [
        f"{kind}: {_pairs(threads.counts[f'deleted {kind}'].dropped)}"
        for kind in ("submissions", "comments")
        if f"deleted {kind}" in threads.counts
    ]
    return f" ({'; '.join(parts)})" if parts else ""


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(
        f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}" for name, value in values.items()
    )


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else to_json(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return markdown_grid(heads, [[escape_markdown(cell) for cell in row] for row in rows])
