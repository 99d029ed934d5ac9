"""Card, figures, labels, merges and manifests of a release."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from musicrs_dataset.sources import About
from musicrs_metric.base.files import replacing, to_json, write_text
from musicrs_metric.base.html import load_template
from musicrs_metric.base.text import csv_line, unguarded
from musicrs_metric.matching import normalise
from musicrs_metric.report.coverage import coverage_section
from musicrs_metric.report.document import Figure
from musicrs_metric.report.draw import draw
from musicrs_metric.report.report_data import ReportData
from musicrs_metric.report.threads import Threads
from musicrs_metric.runs.references import load_references

from ..annotate.judgement import Judgement
from ..layout import Work
from ..lines import read_lines, write_lines
from ..manifest import FileHash, StageManifest
from ..parquet import read_rows
from ..refine.ranking import named
from ..refine.schema import CorpusThread
from .cleaning import Clean
from .funnel import Step, draw_funnel
from .licences import terms_in_words
from .options import ReleaseOptions
from .takedown import Takedown


def about(options: ReleaseOptions, manifests: Mapping[str, StageManifest]) -> About:
    """Return the description of the threads for card and manifest."""
    asked = {stage: manifests[stage].parameters["model"] for stage in ("extract", "queries")}
    limits = [
        f"Titles were extracted from replies by {asked['extract']}, requests written from the posts by "
        f"{asked['queries']}; what people changed of them stands in `making/labels.jsonl`.",
        "Right is what the replies of one community recommended, ordered by upvotes.",
        "Videos disappear: a score with audio must state the audio coverage that it had.",
    ]
    if manifests["pools"].parameters["unjudged"]:
        limits.insert(0, "No person has judged these threads: everything is as the models left it.")
    if manifests["pools"].parameters["designs"][0] == "paper":
        limits.append(
            "The plain configurations have pools by the published recipe, in which what is frequent is less likely "
            "right; those with a name behind them, such as `_balanced`, do not."
        )
    by = f"; {options.by}" if options.by else ""
    return About(
        name=options.name,
        license="other",
        attribution="Posts and replies: those who wrote them, on Reddit. Selection, requests, labels and pools: made "
        f"by the recipe of [MusiCRS](https://arxiv.org/abs/2509.19469){by}.\n\n{terms_in_words(options)}",
        limits=tuple(limits),
        title=options.display_title,
        loads_as=options.name,
        closing=load_template(__package__, "closing.md.j2").render(contact=options.contact).rstrip("\n"),
        license_name="reddit-and-youtube-terms",
        license_link="LICENCES.md",
        languages=options.languages,
    )


def draw_figures(folder: Path, steps: Sequence[Step], title: str) -> None:
    """Write `figures/funnel` and `figures/coverage` as SVG and PNG. The folder holds the dataset."""
    references = load_references(folder, "query_only")
    data = ReportData(references, Threads(references).rows(), (), None, reported=False, resamples=1, seed=0)
    coverage = next(block for block in coverage_section(data).blocks if isinstance(block, Figure))
    for name, forms in (("funnel", draw_funnel(steps, title)), ("coverage", draw(coverage))):
        for form, content in forms.items():
            path = folder / "figures" / f"{name}.{form}"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)


def write_labels(path: Path, work: Work, threads: Iterable[CorpusThread], takedown: Takedown, clean: Clean) -> None:
    """Write the labels of the released threads."""
    released = {thread.thread_id for thread in threads}

    def cleaned(label: Judgement) -> Judgement:
        links = tuple(one for one in label.links if one.video_id not in takedown and one.proposed not in takedown)
        entities = tuple(replace(one, name=clean(one.name)) for one in label.entities)
        return replace(label, query=clean(label.query), links=links, entities=entities)

    write_lines(path, (cleaned(label) for label in read_lines(work.labels, Judgement) if label.thread_id in released))


def write_merges(path: Path, work: Work, threads: Iterable[CorpusThread], clean: Clean) -> None:
    """Write the merges of titles in the released threads."""
    texts = [entities for t in threads for entities in (t.submission_entities, *(c.entities for c in t.comments))]
    known = {normalise(name) for entities in texts for _, name in named(entities)}
    with work.merges.open(encoding="utf-8", newline="") as source, replacing(path) as target:
        reader = csv.DictReader(source)
        columns = reader.fieldnames or ()
        target.write(csv_line(columns))
        for line in reader:
            cells = {column: unguarded(line[column] or "") for column in columns}
            if normalise(cells["as"]) in known:
                target.write(csv_line(map(clean, cells.values())))


def write_manifests(folder: Path, manifests: Mapping[str, StageManifest]) -> None:
    """Write the manifests of the stages, without the folders of their inputs."""
    for stage, manifest in manifests.items():
        inputs = [FileHash(Path(file.path).name, file.bytes, file.sha256) for file in manifest.inputs]
        write_text(folder / f"{stage}.json", [to_json(replace(manifest, inputs=inputs).to_dict(), indent=2), "\n"])


def write_authors(path: Path, work: Work, threads: Iterable[CorpusThread]) -> None:
    """Write `{"thread_id", "author", "comments": {id: author}}` per thread, null for a deleted account.

    A pseudonym is one account in the whole corpus. Users can keep the threads of one asker on one side of a split, or
    count the replies of one account.

    Args:
        path: File of JSON lines.
        work: The work folder, with the output of `threads`.
        threads: Released threads.
    """
    write_text(path, _author_lines(work, threads))


def _author_lines(work: Work, threads: Iterable[CorpusThread]) -> Iterator[str]:
    askers = {row["thread_id"]: row["author"] for row in read_rows(work.threads, ("thread_id", "author"), "threads")}
    writers: dict[str, dict[str, str | None]] = defaultdict(dict)
    for row in read_rows(work.replies, ("thread_id", "comment_id", "author"), "threads"):
        writers[row["thread_id"]][row["comment_id"]] = row["author"]
    for thread in threads:
        own = writers[thread.thread_id]
        comments = {comment.id: own.get(comment.id) for comment in thread.comments}
        line = {"thread_id": thread.thread_id, "author": askers.get(thread.thread_id), "comments": comments}
        yield to_json(line) + "\n"
