"""The folder of a run: empty, unfinished or finished, and always of one run only."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from musicrs_metric.base.files import to_json, write_text
from musicrs_metric.errors import UserError, count, plain, some
from musicrs_metric.runs.prediction_line import prediction_fields
from musicrs_metric.runs.predictions import PREDICTIONS, Prediction, read_predictions
from musicrs_metric.runs.run_card import RUN_CARD, RunCard, read_run_card, write_run_card

from .answer_log import merge_answer_logs
from .card import differences, identity_hash
from .missing_audio import AudioCoverage
from .shards import GATHERED, merge_shards, read_shards, shard_files


class RunFolder:
    """Files of one run.

    `parts/` holds the draft of the run card and the shards of an unfinished run. At the end, `predictions.jsonl` and
    `run.json` replace them. `audio.jsonl` is next to them if the system used clips, `answers.jsonl` if it read answers.

    Args:
        path: The folder.
        card: Draft of the run card.
        thread_ids: The threads of the dataset.

    Attributes:
        card: The run card, as far as it is known.
        earlier: Card or draft of the previous session; None if there was none.

    Raises:
        UserError: The folder holds another run, predictions without a card, or a `parts/` that no run made.
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

    def read_finished(self) -> tuple[dict[str, Prediction], str | None]:
        """Read the predictions of earlier sessions.

        Returns:
            Thread id to prediction, and a line about the lines of shards that are not reused; None if all are.

        Raises:
            UserError: The predictions of a finished session hold a thread that the dataset does not have.
        """
        predictions, set_aside = read_shards(self.parts, self.config, self._thread_ids)
        if self._predictions.exists():
            predictions = self._earlier() | predictions
        if not set_aside:
            return predictions, None
        reasons = ", ".join(f"{n} {reason}" for reason, n in set_aside.items())
        return predictions, f"{self.parts}: {count(set_aside.total(), 'line')} set aside: {reasons}"

    def read_shards(self) -> dict[str, Prediction]:
        """Read the predictions of all processes, and what `held` merged, at the end of a session."""
        return read_shards(self.parts, self.config, self._thread_ids).predictions

    def update(self, card: RunCard) -> None:
        """Replace the draft of the card while the folder is held."""
        self.card = card
        write_run_card(self._draft, card)

    @property
    def is_complete(self) -> bool:
        """True if a session has ended in this folder and none has begun since."""
        return (self.path / RUN_CARD).exists() and self._predictions.exists() and not self._draft.exists()

    def read_card(self) -> RunCard:
        """Read the card of the finished run."""
        return read_run_card(self.path / RUN_CARD)

    @contextmanager
    def held(self, finished: dict[str, Prediction]) -> Iterator[None]:
        """Prepare the folder for shards, and lock it against other runs.

        Args:
            finished: Finished predictions. They are kept, without torn lines.

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

    def end(self, predictions: Sequence[Prediction], card: RunCard, audio: AudioCoverage | None) -> None:
        """Replace the shards by the result. A kill in between loses nothing.

        Args:
            predictions: Valid predictions, one per thread, in dataset order.
            card: The complete card.
            audio: Audio used; None if the system uses no clips.
        """
        if audio is not None:
            audio.write(self.path)
        write_text(self._predictions, (to_json(prediction_fields(each)) + "\n" for each in predictions))
        write_run_card(self.path / RUN_CARD, card)
        partial = [file for name in (GATHERED, RUN_CARD) for file in self.parts.glob(f".{name}.*.part")]
        # The draft goes after the shards: as long as it exists, the run counts as unfinished.
        for file in (*partial, *shard_files(self.parts), self._draft, self._lock):
            file.unlink(missing_ok=True)
        with suppress(OSError):  # the folder holds a file of the user, and stays
            self.parts.rmdir()

    @property
    def _predictions(self) -> Path:
        return self.path / PREDICTIONS

    def _earlier(self) -> dict[str, Prediction]:
        predictions = {p.thread_id: p for p in read_predictions(self._predictions).predictions}
        foreign = [plain(thread_id) for thread_id in predictions if thread_id not in self._thread_ids]
        if foreign:
            missing = [thread_id for thread_id in self._thread_ids if thread_id not in predictions]
            lacks = f" and lacks {some(missing)}" if missing else ""
            raise UserError(
                f"{self._predictions}: was changed since the run: holds {some(foreign)}, which the dataset does not "
                f"have{lacks}; remove the file or these lines, and run the same command again"
            )
        return predictions

    def _check(self) -> None:
        self._check_parts()
        # A session that ended before its first prediction has left nothing that could be mixed up.
        begun = any(shard.stat().st_size for shard in shard_files(self.parts))
        drafts = [self._draft] if begun else []
        cards = [file for file in (*drafts, self.path / RUN_CARD) if file.exists()]
        if not cards and self._predictions.exists():
            raise UserError(f"{self.path}: holds {PREDICTIONS} but no {RUN_CARD}; name another folder for this run")
        for file in cards:
            changes = list(differences(read_run_card(file), self.card))
            if changes:
                raise UserError(
                    f"{self.path}: holds another run: {'; '.join(changes)}; name another folder, or remove this one"
                )

    def _check_parts(self) -> None:
        """Refuse a folder `parts` that no run made: its files could be taken for those of a run."""
        if self._draft.exists():
            read_run_card(self._draft)
        elif not self._lock.exists():
            names = [file.name for file in self.parts.glob("*")]
            if names:
                raise UserError(
                    f"{self.parts}: holds {plain(min(names))} and no {RUN_CARD}, so no run made it; name another "
                    "folder for this run, or move that one"
                )
