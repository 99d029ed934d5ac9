"""Where answers are kept: one append-only file of JSON lines per annotator, in which the last line on a thread holds.

A line is on disk before `save` returns. A process killed while it writes leaves half a line at the end; the next one
is then written below it, and the half is passed over. Nothing is ever changed or removed, so a file can be copied,
merged with another (one below the other) and read at any moment.
"""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from musicrs_metric.base.files import to_json
from musicrs_metric.base.jsonl_log import JsonlLog, read_log
from musicrs_metric.errors import UserError, show

from ..lines import parse_line
from .answers import Answers

_NAME = re.compile(r"\w[\w .'-]{0,39}")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file.

    Attributes:
        annotator: Whose file it is.
        at: When it was written: UTC, ISO 8601.
        answers: What was answered; None where the annotator has only joined.
    """

    annotator: str
    at: str
    answers: Answers | None


@dataclass
class _File:
    annotator: str = ""
    answers: dict[str, Answers] = field(default_factory=dict)
    read: int = 0


def tidy_name(name: str) -> str:
    """Return an annotator's name without needless blanks.

    Raises:
        UserError: It is empty, too long, or holds more than letters, digits and a little punctuation.
    """
    tidied = " ".join(unicodedata.normalize("NFC", name).split())
    if not _NAME.fullmatch(tidied):
        raise UserError(f"the name {show(name)}; expected 1 to 40 letters, digits, blanks, or . - _ ' after a letter")
    return tidied


class AnnotationStore:
    """The answers of all annotators; safe to use from several threads.

    Args:
        folder: Where the files lie; made with the first of them. Files are named by a hash, never by what people typed.

    Attributes:
        damaged: How many lines were passed over so far, because they are no answers: halves left by a kill.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damaged = 0
        self._lock = threading.RLock()
        self._files: dict[Path, _File] = {}

    def join(self, name: str) -> str:
        """Let an annotator in, known or new.

        Returns:
            The name as it was first written; case and blanks make no other person.

        Raises:
            UserError: The name is not fit to be one.
        """
        tidied = tidy_name(name)
        path = self._path(tidied)
        with self._lock:
            self._refresh()
            if path not in self._files:
                self._append(path, Line(tidied, _now(), None))
                self._refresh()
            return self._files[path].annotator

    def annotators(self) -> list[str]:
        """Everybody who has joined, in a fixed order."""
        with self._lock:
            self._refresh()
            return sorted(file.annotator for file in self._files.values())

    def answers(self, annotator: str) -> Mapping[str, Answers]:
        """The last answers of an annotator, by thread; empty for a stranger."""
        with self._lock:
            self._refresh()
            return dict(self._files.get(self._path(annotator), _File()).answers)

    def save(self, annotator: str, answers: Answers) -> None:
        """Keep answers; they are on disk when this returns. What is kept already is not written again.

        Args:
            annotator: Who has joined.
            answers: All answers of one thread.

        Raises:
            UserError: Nobody of that name has joined.
            OSError: They could not be written; what was kept before still is.
        """
        path = self._path(annotator)
        with self._lock:
            self._refresh()
            if path not in self._files:
                raise UserError(f"nobody named {show(annotator)} has joined; expected one of {self.annotators()}")
            if self._files[path].answers.get(answers.thread_id) != answers:
                self._append(path, Line(self._files[path].annotator, _now(), answers))

    def _path(self, name: str) -> Path:
        return self.folder / f"{hashlib.sha256(tidy_name(name).casefold().encode()).hexdigest()[:16]}.jsonl"

    def _append(self, path: Path, line: Line) -> None:
        # Opened anew each time: a copy may have taken the place of the file since.
        with JsonlLog(path, fsync="append") as log:
            log.append([to_json(asdict(line))])

    def _refresh(self) -> None:
        """Read the lines that this process or another has written since the last time."""
        for path in sorted(self.folder.glob("*.jsonl")):
            file = self._files.get(path, _File())
            if path.stat().st_size < file.read:  # put back from a copy
                file = _File()
            for line in read_log(path, file.read):
                if not line.complete:
                    break  # still being written, or cut short
                file.read = line.end
                self._take(file, line.data, path)
            if file.annotator:
                self._files[path] = file

    def _take(self, file: _File, line: bytes, path: Path) -> None:
        try:
            entry = parse_line(line, Line, str(path))
        except UserError:
            self.damaged += 1
            return
        file.annotator = file.annotator or entry.annotator
        if entry.answers is not None:
            file.answers[entry.answers.thread_id] = entry.answers


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
