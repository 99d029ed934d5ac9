"""The table of readers, and the reading of a file of any kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import get_args

from ..errors import UserError, count, plain, show
from ..matching import Pool
from ..runs.kinds import HEAD, Kind, kind_of
from ..runs.prediction_line import Prediction, check_prediction
from ..runs.predictions import PREDICTIONS, contradictions, rankings_for, read_prediction_lines
from ..runs.read import card_of, check_data
from ..runs.references import References
from .rankings import Rankings, text_of, titles_of_ids

# Kind of file to the module with its `read(path, references) -> Rankings`, relative to this folder.
READERS: dict[Kind, str] = {
    "csv": ".csv_file",
    "trec": ".trec",
    "json": ".json_file",
    "parquet": ".parquet_file",
    "mteb": ".mteb",
    "inspect": "..inspect.log",
}
KINDS: tuple[str, ...] = get_args(Kind)
_FILES: dict[str, Kind] = {"run.trec": "trec", "*_predictions.json": "mteb", "*.eval": "inspect"}  # of folders


def read_rankings(path: Path, references: References, kind: str | None = None) -> Rankings:
    """Read the rankings of a file of any kind.

    Args:
        path: A file, a run folder, or the folder of another program.
        references: The dataset that was ranked.
        kind: Its kind, one of `KINDS`. None: the first bytes decide.

    Returns:
        The rankings of titles, checked as a prediction file is.

    Raises:
        UserError: The file is of no known kind, has a fault, or was made on other threads.
    """
    kind = kind or detect(path)
    if kind == "run":
        rankings = _read_run(path, references)
    elif kind in READERS:
        rankings = import_module(READERS[kind], __package__).read(path, references)
    else:
        raise UserError(f"{path}: found the kind {show(kind)}, expected one of {', '.join(['run', *READERS])}")
    if not rankings.predictions:
        raise UserError(f"{path}: found no ranking in it, expected at least one")
    predictions = titles_of_ids(rankings.predictions, references)
    for prediction in predictions:
        check_prediction(prediction)
    try:
        rankings_for(predictions, references)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    notes = [*rankings.notes, *_contradicting(predictions, path), *_unknown(predictions, references, path)]
    return rankings._replace(predictions=predictions, notes=notes)


def detect(path: Path) -> str:
    """Recognise the kind of a file or folder.

    Args:
        path: The file or folder.

    Returns:
        One of `KINDS`.

    Raises:
        UserError: It does not exist, or is of no known kind. The message names the kinds.
    """
    if path.is_dir():
        if (path / PREDICTIONS).exists() or (path / "parts").is_dir():
            return "run"
        for pattern, kind in _FILES.items():
            if any(path.glob(pattern)):
                return kind
        raise UserError(f"{path}: no file of rankings in this folder; expected {PREDICTIONS} or {', '.join(_FILES)}")
    if not path.exists():
        raise UserError(f"{path}: no such file; expected a file of rankings or a run folder")
    if not path.is_file():  # a pipe could be read once only
        raise UserError(f"{path}: is a pipe or a device; name its kind with --from, or give - to read standard input")
    with path.open("rb") as file:
        head = file.read(HEAD)
    found = kind_of(head)
    if found.kind is not None:
        return found.kind
    if found.is_result:
        raise UserError(f"{path}: found {found.about}, and no ranking; expected a file of rankings")
    if found.about:
        raise UserError(f"{path}: found {found.about}; unpack it first")
    start = plain(head[:40].decode(errors="replace").splitlines()[0]) if head.strip() else "nothing"
    raise UserError(f"{path}: of no known kind, found {start}; expected {', '.join(KINDS)} (--from names the kind)")


def _read_run(path: Path, references: References) -> Rankings:
    """Read a run folder or a prediction file, in UTF-8 or UTF-16."""
    from ..runs.read import read_run

    card = card_of(path)
    if card is not None:
        check_data(card, references, str(path))
    if not path.is_dir() and path.is_file() and not kind_of(path.read_bytes()[:HEAD]).encoding.startswith("utf-8"):
        lines = text_of(path).encode().splitlines(keepends=True)
        file = read_prediction_lines(lines, str(path), references)
    else:
        file = read_run(path, references).predictions
    facts = {} if card is None else asdict(card)
    against = tuple(warning for warning in file.warnings if not warning.startswith("scores contradict"))
    return Rankings(list(file.predictions), facts, [f"Warning: {warning}." for warning in against])


def _unknown(predictions: Sequence[Prediction], references: References, path: Path) -> Iterator[str]:
    """Yield a sentence on the titles that count as misses because they name no candidate."""
    unknown = []
    for prediction in predictions:
        pool = Pool(references.candidates[references.position[prediction.thread_id]])
        unknown += [(prediction.thread_id, title) for title in prediction.ranking if pool.resolve(title) is None]
    if unknown:
        n_ranked = sum(len(prediction.ranking) for prediction in predictions)
        thread, title = unknown[0]
        yield (
            f"Warning: {path}: {len(unknown)} of {count(n_ranked, 'ranked title')} name no candidate of their thread "
            f"and count as misses, such as {show(title)} ({plain(thread)})."
        )


def _contradicting(predictions: Sequence[Prediction], path: Path) -> Iterator[str]:
    against = contradictions(predictions)
    if against:
        yield (
            f"Warning: {path}: in {len(against)} threads, such as {plain(against[0])}, a title has a higher score than "
            "one before it. The ranking counts."
        )
