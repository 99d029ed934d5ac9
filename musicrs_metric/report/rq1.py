"""RQ1: the gain of another modality, and the gain of audio over the best text system of the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..base import numbers
from ..base.hashing import file_sha256
from ..base.tables import Cell, Column, Part, Row, Table, cell
from ..compare import Comparison, compare
from ..compare.results import Pair
from ..paper.findings import best_modality
from ..paper.tables import METRICS, table1
from ..runs.predictions import PREDICTIONS
from .document import Block, Section, Text
from .report_data import ReportData
from .runs import MODALITIES, ReportRun, results

# "A minus B" is shown for these pairs.
_SHORT = {"audio_query": "both", "query_only": "query", "audio_only": "audio"}
_GAINS = (("audio_query", "query_only"), ("audio_query", "audio_only"), ("query_only", "audio_only"))

Family = Mapping[str, ReportRun]


def modality_section(data: ReportData) -> Section:
    """Build the section."""
    return Section("rq1", "RQ1: does adding a modality help?", tuple(_blocks(data)))


def _blocks(data: ReportData) -> Iterator[Block]:
    families = _families(data)
    compared = {name: _compared(data, family) for name, family in families.items()}
    if families:
        yield from _sentences(data, families, compared)
        yield _table(data, families, compared)
    else:
        yield Text("No system of this report was run in more than one modality.")
    yield from _audio_gain(data)
    if data.reported:
        best = best_modality(table1())
        combined = [name for name, modality in best.items() if modality == "audio_query"]
        yield Text(
            f"Reported by the paper: {len(combined)} of {len(best)} multimodal systems have their highest overall "
            f"recall@20 with audio and query combined ({numbers.listing(combined)}). The paper gives no interval."
        )


def _audio_gain(data: ReportData) -> Iterator[Block]:
    """Compare each run with audio with the best text system: fusions with that system first."""
    texts = [
        run
        for run in data.runs
        if run.card.modality == "query_only" and run.card.reads != "labels" and not _control(run)
    ]
    audio = [run for run in data.runs if run.card.modality != "query_only" and run.card.reads != "labels"]
    if not texts or not audio:
        return
    in_fusion = [text for text in texts if any(_holds(run, text) for run in audio)]
    best = max(in_fusion or texts, key=lambda run: run.scores.values["recall@20"] or 0.0)
    fused = {run.label for run in audio if _holds(run, best)}
    n_fused = sum(run.label in fused and not _control(run) for run in audio)
    rows, gains = [], 0
    for run in sorted(audio, key=lambda run: run.label not in fused):
        compared = compare([run.system, best.system], METRICS, resamples=data.resamples, seed=data.seed)
        pairs = [next(iter(compared.metrics[metric].pairs)) for metric in METRICS]
        gains += run.label in fused and not _control(run) and pairs[0].significant and pairs[0].difference > 0
        place = "fused with the text system" if run.label in fused else numbers.modality_label(run.card.modality)
        rows.append(Row((cell(run.label), cell(place, _control(run)), *(_gain(pair) for pair in pairs))))
    yield Text(
        f"The best text system {'in a fusion ' if fused else ''}of this report by recall@20 is {best.label} "
        f"({numbers.percent(best.scores.values['recall@20'])}). "
        + (
            f"Fused with it, {gains} of {numbers.plural(n_fused, 'run')} on audio gain significantly on recall@20."
            if n_fused
            else "No run of this report is its fusion with a run on audio; `python -m baselines fuse` makes one."
        )
    )
    yield Table(
        f"Gain of audio over the best text system, {best.label}: paired differences in percentage points with 95 % "
        "intervals.",
        (Column("Run", "left"), Column("Audio", "left"), *(Column(numbers.measure_label(name)) for name in METRICS)),
        tuple(rows),
        (
            "▲ gain, ▼ loss by a paired t test per run. The text system was chosen on the same threads, which flatters "
            "it. Only a fusion with it shows what audio adds; a run without it also lacks the text. Audio adds nothing "
            "that its control run, with the audio of another thread, gains too.",
        ),
    )


def _control(run: ReportRun) -> str:
    """Return the input that another thread gave, such as shuffled-audio; empty for a run that is no control."""
    return str(run.card.extra.get("control") or "")


def _holds(run: ReportRun, part: ReportRun) -> bool:
    """Return whether a run is a fusion with another run of the report, by the hash of its predictions."""
    parts = run.card.extra.get("fused")
    hashes = [each.get("sha256") for each in parts if isinstance(each, dict)] if isinstance(parts, list) else []
    return bool(hashes) and file_sha256(part.folder / PREDICTIONS) in hashes


def _families(data: ReportData) -> dict[str, dict[str, ReportRun]]:
    """Return the systems with several modalities. Of two runs of one system in one modality the first counts."""
    families: dict[str, dict[str, ReportRun]] = {}
    for run in data.runs:
        families.setdefault(run.card.name, {}).setdefault(run.card.modality, run)
    return {name: family for name, family in families.items() if len(family) > 1}


def _sentences(data: ReportData, families: Mapping[str, Family], compared: Mapping[str, Comparison]) -> Iterator[Text]:
    best = best_modality(results(data.runs))
    if not best:
        return
    combined = [name for name, modality in best.items() if modality == "audio_query"]
    text = (
        f"{len(combined)} of {numbers.plural(len(best), 'multimodal system')} "
        f"{'has its' if len(combined) == 1 else 'have their'} highest overall recall@20 with audio and query combined"
    )
    if combined:
        sure = [name for name in combined if _surely_better(families[name], compared[name])]
        text += (
            f" ({numbers.listing(combined)}); for {len(sure)} of these the gain over the better single modality is "
            "significant"
        )
    yield Text(f"{text}.")


def _surely_better(family: Family, comparison: Comparison) -> bool:
    singles = [modality for modality in family if modality != "audio_query"]
    better = max(singles, key=lambda modality: family[modality].scores.values["recall@20"] or 0.0)
    pair = _pair(comparison, "recall@20", family, "audio_query", better)
    return pair.significant and pair.difference > 0


def _table(data: ReportData, families: Mapping[str, Family], compared: Mapping[str, Comparison]) -> Table:
    rows: list[Row] = []
    for name, family in families.items():
        comparison = compared[name]
        rows.append(Row((cell(name),), "heading"))
        rows += [_row(comparison, metric, family, numbers.measure_label(metric)) for metric in METRICS]
        if 0 < comparison.n_common < comparison.n:
            common = _compared(data, family, common_only=True)
            where = f"on the {numbers.plural(common.n, 'thread')} that all of them answered, with audio"
            rows += [_row(common, metric, family, numbers.measure_label(metric), where) for metric in METRICS]
    gains = [f"gain of {_SHORT[a]} over {_SHORT[b]}" for a, b in _GAINS]
    return Table(
        "Scores in per cent by modality, and paired gains in percentage points with 95 % intervals.",
        (
            Column("Measure", "left"), *(Column(numbers.modality_label(name)) for name in MODALITIES),
            *(Column(gain) for gain in gains), Column("Best in", "left"),
        ),
        tuple(rows),
        (
            "▲ gain, ▼ loss by a paired t test after Holm's correction over the pairs of the system. Threads without "
            "audio count in every mean with what the system predicted for them.",
        ),
    )  # fmt: skip


def _row(comparison: Comparison, metric: str, family: Family, measure: str, where: str = "") -> Row:
    means = {found.system: found.mean for found in comparison.metrics[metric].standings}
    values = {modality: means[run.label] for modality, run in family.items()}
    best = max((modality for modality in MODALITIES if modality in values), key=lambda modality: values[modality])
    scores = [
        Cell((Part(numbers.percent(values.get(modality)), "best" if modality == best else ""),))
        for modality in MODALITIES
    ]
    gains = [
        _gain(_pair(comparison, metric, family, a, b)) if a in family and b in family else cell(numbers.UNDEFINED)
        for a, b in _GAINS
    ]
    return Row((cell(measure, where), *scores, *gains, cell(numbers.modality_label(best))))


def _gain(pair: Pair) -> Cell:
    sign = "" if not pair.significant else "▲" if pair.difference > 0 else "▼"
    return Cell((Part(numbers.points(pair.difference), sign=sign),), numbers.points_bounds(pair.interval))


def _pair(comparison: Comparison, metric: str, family: Family, a: str, b: str) -> Pair:
    names = (family[a].label, family[b].label)
    return next(pair for pair in comparison.metrics[metric].pairs if (pair.a, pair.b) == names)


def _compared(data: ReportData, family: Family, *, common_only: bool = False) -> Comparison:
    """Compare the runs of one system, ordered so that each pair is "A minus B" of `_GAINS`."""
    order = ("audio_query", "query_only", "audio_only")
    systems = [family[modality].system for modality in order if modality in family]
    return compare(systems, METRICS, common_only=common_only, resamples=data.resamples, seed=data.seed)
