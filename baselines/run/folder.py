"""The folder of a run: empty, under way or finished, and always of one run only."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from musicrs_metric.errors import UserError, count, plain, some
from musicrs_metric.runs.predictions import PREDICTIONS, Prediction, read_predictions, write_predictions
from musicrs_metric.runs.run_card import RUN_CARD, RunCard, read_run_card, write_run_card

from .answer_log import merge_answer_logs
from .card import differences, identity_hash
from .missing_audio import AudioCoverage
from .shards import GATHERED, merge_shards, read_shards, shard_files


class RunFolder:
    """Where one run keeps its files.

    `parts/` holds the draft of the card and the part files while the run is under way; at its end `predictions.jsonl`
    and `run.json` take their place, beside them `audio.jsonl` where clips were heard and `answers.jsonl` where answers
    were read.

    Args:
        path: The folder.
        card: Draft of the run's card.
        thread_ids: The threads of the dataset.

    Attributes:
        card: The card as far as it is known.
        earlier: The card of the session before this one, or its draft; None where there was none.

    Raises:
        UserError: The folder holds another run, predictions that no card goes with, or a `parts/` that no run made.
    """

    def __init__(self, path: Path, card: RunCard, thread_ids: Collection[str]) -> None:
        if path.exists() and not path.is_dir():
            raise UserError(f"{path}: is a file, expected a folder for the run")
        self.path, self.card, self._thread_ids = path, card, thread_ids
        self.parts = path / "parts"
        self.config = identity_hash(card)
        self._draft, self._lock = self.parts / RUN_CARD, self.parts / "lock"
        self._check()
        cards = [read_run_card(file) for file in (self._draft, path / RUN_CARD) if file.exists()]
        self.earlier = next((earlier for earlier in cards if not any(differences(earlier, card))), None)

    def finished(self, retry_failed: bool = False) -> dict[str, Prediction]:
        """Read what earlier sessions finished.

        Args:
            retry_failed: Whether threads on which the system failed count as unfinished.

        Returns:
            Thread id to prediction.

        Raises:
            UserError: The predictions of a finished session hold a thread that the dataset does not have.
        """
        found = read_shards(self.parts, self.config, self._thread_ids).predictions
        if self._predictions.exists():
            found = self._earlier() | found
        return {key: p for key, p in found.items() if not (retry_failed and p.outcome == "failed")}

    def update(self, card: RunCard) -> None:
        """Put more on the card while the folder is held."""
        self.card = card
        write_run_card(self._draft, card)

    def set_aside(self) -> str | None:
        """Say which lines of the part files are not reused and why; None where all are."""
        why = read_shards(self.parts, self.config, self._thread_ids).set_aside
        reasons = ", ".join(f"{n} {reason}" for reason, n in why.items())
        return f"{self.parts}: {count(why.total(), 'line')} set aside: {reasons}" if why else None

    @property
    def is_complete(self) -> bool:
        """Whether a session has ended here and none has begun since."""
        return (self.path / RUN_CARD).exists() and self._predictions.exists() and not self._draft.exists()

    def read_card(self) -> RunCard:
        """The card of the finished run."""
        return read_run_card(self.path / RUN_CARD)

    @contextmanager
    def held(self, finished: dict[str, Prediction]) -> Iterator[None]:
        """Make the folder ready for part files, and keep other runs out of it meanwhile.

        Args:
            finished: What is finished already; it is kept, without lines that were cut short.

        Raises:
            UserError: Another run holds the folder.
        """
        from filelock import FileLock, Timeout

        self.parts.mkdir(parents=True, exist_ok=True)
        try:
            lock = FileLock(self._lock).acquire(timeout=0)
        except Timeout:
            raise UserError(f"{self.path}: another run is writing to it; wait for its end, or stop it") from None
        with lock:
            write_run_card(self._draft, self.card)
            merge_shards(self.parts, finished.values(), self.config)
            merge_answer_logs(self.path, self.parts, finished)
            yield

    def end(self, predictions: Sequence[Prediction], card: RunCard, heard: AudioCoverage | None) -> None:
        """Write the result in place of the parts; a kill in between loses nothing."""
        if heard is not None:
            heard.write(self.path)
        write_predictions(self._predictions, predictions)
        write_run_card(self.path / RUN_CARD, card)
        half_written = [file for name in (GATHERED, RUN_CARD) for file in self.parts.glob(f".{name}.*.part")]
        # The draft goes after the parts: as long as it is there, the run counts as under way.
        for file in (*half_written, *shard_files(self.parts), self._draft, self._lock):
            file.unlink(missing_ok=True)
        with suppress(OSError):  # somebody else's file lies there, and stays
            self.parts.rmdir()

    @property
    def _predictions(self) -> Path:
        return self.path / PREDICTIONS

    def _earlier(self) -> dict[str, Prediction]:
        found = {p.thread_id: p for p in read_predictions(self._predictions).predictions}
        foreign = [plain(thread_id) for thread_id in found if thread_id not in self._thread_ids]
        if foreign:
            missing = [thread_id for thread_id in self._thread_ids if thread_id not in found]
            lacks = f" and lacks {some(missing)}" if missing else ""
            raise UserError(
                f"{self._predictions}: was changed since the run: holds {some(foreign)}, which the dataset does not "
                f"have{lacks}; remove the file, or these lines of it, and run the same command again"
            )
        return found

    def _check(self) -> None:
        self._check_parts()
        # A session that ended before its first answer has left nothing that could be mixed up.
        begun = any(part.stat().st_size for part in shard_files(self.parts))
        drafts = [self._draft] if begun else []
        cards = [file for file in (*drafts, self.path / RUN_CARD) if file.exists()]
        if not cards and self._predictions.exists():
            raise UserError(f"{self.path}: holds {PREDICTIONS} but no {RUN_CARD}; name another folder for this run")
        for file in cards:
            found = list(differences(read_run_card(file), self.card))
            if found:
                raise UserError(
                    f"{self.path}: holds another run: {'; '.join(found)}; name another folder, or remove this one"
                )

    def _check_parts(self) -> None:
        """Refuse a folder of that name which somebody else made: its files could be taken for those of a run."""
        if self._draft.exists():
            read_run_card(self._draft)
        elif not self._lock.exists():
            names = [file.name for file in self.parts.glob("*")]
            if names:
                raise UserError(
                    f"{self.parts}: holds {plain(min(names))} and no {RUN_CARD}, so no run made it; name another "
                    "folder for this run, or move that one"
                )
