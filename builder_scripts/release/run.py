"""Stage `release` on a work folder: dataset, card, datasheet, and the files of the pipeline that may be published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from musicrs_dataset.audio.clip_plan import ClipPlan
from musicrs_dataset.audio.fetch.cache import AudioCache
from musicrs_dataset.audio.folder import AudioFolder
from musicrs_dataset.describe import describe
from musicrs_dataset.loading import iter_threads, richest_config
from musicrs_dataset.personal import personal_data
from musicrs_dataset.pools import Design
from musicrs_dataset.records import Thread
from musicrs_dataset.repo.build import build
from musicrs_dataset.repo.folders import replacing_folder
from musicrs_metric.base.files import write_text
from musicrs_metric.errors import UserError, some

from ..layout import Work, require
from ..manifest import StageManifest, hash_files, manifest_path
from ..mine.authors import Pseudonyms, author_salt
from ..mine.rows import VERSION
from ..mine.run import outdated
from ..pipeline.stage import StageOutput, StageResult, run_stage
from ..pools.run import pool_file
from .answers import write_answers
from .cleaning import Clean, cleaning, without_names
from .datasheet import STAGES, DatasheetInputs, datasheet
from .funnel import funnel
from .licences import licences
from .options import ReleaseOptions
from .provenance import about, draw_figures, write_authors, write_labels, write_manifests, write_merges
from .records import Corpus, read_released
from .takedown import Takedown, read_takedown

STAGE = "release"
Track = Callable[[Sequence[Thread]], Iterable[Thread]]


def folder_of(work: Work, options: ReleaseOptions) -> Path:
    """Return the folder of a release. It has the name of the release, like a dataset on the Hub."""
    return work.release / options.name


def run(work: Work, options: ReleaseOptions, track: Track = iter) -> StageResult:
    """Make the folder of the release, unless it is finished. It replaces an older one in one step.

    Args:
        work: The work folder, with pools.
        options: Name and description of the release.
        track: Shows progress over the threads.

    Returns:
        The manifest, and whether it is new.

    Raises:
        UserError: An earlier stage is missing, the threads are no valid dataset, or the folder holds other files.
    """
    target = folder_of(work, options)
    takedown = _listed(work, options)
    manifests = _manifests(work)
    inputs = hash_files(_inputs(work, manifests), below=work.root)

    @contextmanager
    def open_folder(folder: Path) -> Iterator[Path]:
        _refuse_strangers(folder)
        with replacing_folder(folder) as partial:
            yield partial

    return run_stage(
        STAGE, target, inputs, options.parameters(),
        lambda folder: _write(folder, work, options, manifests, takedown, track),
        packages=("pyarrow", "datasets", "matplotlib", "soundfile", "soxr", "av"), open_folder=open_folder,
    )  # fmt: skip


def _write(
    folder: Path,
    work: Work,
    options: ReleaseOptions,
    manifests: Mapping[str, StageManifest],
    takedown: Takedown,
    track: Track,
) -> StageOutput:
    pseudonyms = Pseudonyms(author_salt(work.salt))
    takedown = takedown.with_authored(work, pseudonyms)
    clean = cleaning(takedown, pseudonyms, redacting=options.redact)
    corpus = read_released(work, manifests, takedown, clean, partial(without_names, pseudonyms=pseudonyms))
    published = takedown.published(pseudonyms)
    steps = funnel(manifests, corpus.counts["threads"])
    _write_dataset(folder, work, corpus, options, manifests, track)
    answers = _write_making(folder / "making", work, corpus, manifests, takedown, clean)
    published.write(folder / "takedown.txt")
    personal = personal_data(corpus.records).in_words()
    description = describe(list(iter_threads(folder, richest_config(folder), audio=False)))
    inputs = DatasheetInputs(
        options, manifests, steps, corpus.counts, description, answers, len(published.ids), personal
    )  # fmt: skip
    draw_figures(folder, steps, options.display_title)
    write_text(folder / "datasheet.md", [datasheet(inputs)])
    write_text(folder / "LICENCES.md", [licences(options, inputs.models)])
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return StageOutput(files, corpus.counts, _notes(published, corpus, personal, options))


def _listed(work: Work, options: ReleaseOptions) -> Takedown:
    """Return the list of the work folder, with the new ids of the user's list. The work folder keeps them."""
    if options.takedown is not None and not options.takedown.is_file():
        raise UserError(f"{options.takedown}: no such file; expected a list of ids to remove")
    takedown = read_takedown(work.takedown, *([options.takedown] if options.takedown else []))
    if takedown.ids:
        takedown.write(work.takedown)
    return takedown


def _manifests(work: Work) -> dict[str, StageManifest]:
    """Return the manifests of the stages. `audio` and `annotate` are optional."""
    optional = {"audio", "annotate"}
    present = [stage for stage in STAGES if stage not in optional or _manifest_file(work, stage).is_file()]
    manifests = {stage: StageManifest.read(_manifest_file(work, stage).parent, stage) for stage in present}
    if manifests["mine"].parameters.get("rows") != VERSION:
        raise UserError(f"{outdated(work, manifests['mine'])}; run all stages again before you release")
    _refuse_outdated(manifests)
    if manifests["pools"].parameters["unjudged"]:
        manifests.pop("annotate", None)  # of an earlier run, not of this corpus
    return manifests


def _refuse_outdated(manifests: Mapping[str, StageManifest]) -> None:
    """Refuse a corpus of older rows, because more texts may have been withdrawn since."""
    makers = {Path(file.path).name: (stage, file.sha256) for stage, one in manifests.items() for file in one.outputs}
    for stage, manifest in manifests.items():
        for file in manifest.inputs:
            maker, sha256 = makers.get(Path(file.path).name, (stage, file.sha256))
            if maker in ("mine", "threads") and sha256 != file.sha256:
                raise UserError(
                    f"{stage} was run on an older {Path(file.path).name} than {maker} has made since; run {stage} and "
                    "the stages after it again"
                )


def _manifest_file(work: Work, stage: str) -> Path:
    return manifest_path({"mine": work.bronze, "threads": work.silver}.get(stage, work.gold), stage)


def _inputs(work: Work, manifests: Mapping[str, StageManifest]) -> list[Path]:
    pools = [pool_file(work, design) for design in Design if pool_file(work, design).is_file()]
    optional = (work.videos, work.labels, work.takedown, work.cache / "answers.jsonl")
    return [
        *require((work.settled, *pools), "pools"),
        *require((work.threads, work.replies, work.merges), "refine"),
        *(_manifest_file(work, stage) for stage in manifests),
        *(path for path in optional if path.is_file()),
    ]


def _refuse_strangers(target: Path) -> None:
    """Refuse a folder with other files, because a release replaces its folder as a whole."""
    if not target.exists():
        return
    known = {manifest_path(target, STAGE).name}
    if manifest_path(target, STAGE).is_file():
        known |= {file.path for file in StageManifest.read(target, STAGE).outputs}
    names = sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if not path.is_dir())
    strangers = [name for name in names if name not in known]
    if strangers or not target.is_dir():
        raise UserError(
            f"{target}: holds {some(strangers, 3) or 'no folder'}, which no release has written and this one would "
            "delete; move it away, or give another --name"
        )


def _write_dataset(
    folder: Path,
    work: Work,
    corpus: Corpus,
    options: ReleaseOptions,
    manifests: Mapping[str, StageManifest],
    track: Track,
) -> None:
    """Build the dataset into the folder itself."""
    plan = ClipPlan(total_s=options.budget, seed=options.seed)
    audio = AudioFolder(work.audio, plan) if AudioCache(work.audio).videos() else None
    built = build(
        corpus.records, folder, about=about(options, manifests), pools=corpus.pools,
        add_clips=None if audio is None else audio.add_clips, clip_plan=None if audio is None else plan, track=track,
    )  # fmt: skip
    for part in built.iterdir():
        part.rename(folder / part.name)
    built.rmdir()


def _write_making(
    folder: Path,
    work: Work,
    corpus: Corpus,
    manifests: Mapping[str, StageManifest],
    takedown: Takedown,
    clean: Clean,
) -> int:
    """Write the files of the pipeline that may be published, and return the number of answers of models."""
    write_authors(folder / "authors.jsonl", work, corpus.threads)
    if not manifests["pools"].parameters["unjudged"]:
        write_labels(folder / "labels.jsonl", work, corpus.threads, takedown, clean)
    write_merges(folder / "merges.csv", work, corpus.threads, clean)
    write_manifests(folder / "manifests", manifests)
    return write_answers(folder / "answers.jsonl", work, takedown, clean)


def _notes(listed: Takedown, corpus: Corpus, personal: str, options: ReleaseOptions) -> list[str]:
    notes = []
    if listed.ids:
        removed = sum(corpus.counts["threads"].dropped.values())
        notes.append(f"{len(listed.ids)} ids to remove; {removed} threads removed")
    if personal:
        notes.append(f"personal data in texts: {personal}" + ("" if options.redact else "; --redact replaces it"))
    return notes
