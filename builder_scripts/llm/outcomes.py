"""What became of many questions, as counts and as a line for the manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..manifest import Counts, StageManifest, is_done
from .ask import FAILURES, Outcome


def count_outcomes(outcomes: Sequence[Outcome]) -> Counts:
    """Count questions: those with a result are kept, the others dropped by the reason of their failure."""
    dropped = Counter(outcome.failure for outcome in outcomes if outcome.failure is not None)
    return Counts(len(outcomes), len(outcomes) - dropped.total(), dict(sorted(dropped.items())))


def has_failures(manifest: StageManifest) -> bool:
    """Tell whether a stage ended although questions had failed, so that they are to be asked again."""
    return any(counts.dropped.get(reason) for counts in manifest.counts.values() for reason in FAILURES)


def record(folder: Path, manifest: StageManifest) -> tuple[StageManifest, bool]:
    """Write the manifest of a stage, unless failures were asked again in vain.

    Args:
        folder: Of the stage's output.
        manifest: What the stage did now.

    Returns:
        The manifest, and whether anything is new: where parameters, inputs and output are those of the last run, its
        manifest stays, so that no later stage runs again.
    """
    if is_done(folder, manifest.stage, manifest.parameters, manifest.inputs):
        last = StageManifest.read(folder, manifest.stage)
        if tuple(last.outputs) == tuple(manifest.outputs):
            return last, False
    manifest.write(folder)
    return manifest, True


def describe_outcomes(outcomes: Sequence[Outcome]) -> str:
    """Say by which rung of the ladder the answers were read, and how often a question was put again."""
    rungs = Counter(outcome.rung for outcome in outcomes if outcome.rung is not None)
    told = ", ".join(f"{rung} {n:,}" for rung, n in rungs.most_common()) or "none"
    return f"answers read: {told}; asked twice: {sum(outcome.asked == 2 for outcome in outcomes):,}"
