"""Store of answers: one append-only file of JSON lines per annotator. The last line about a thread counts.

A line is on disk before `save` returns. A kill may leave a torn line, which readers skip. No line is ever changed or
removed, so a file can be copied, joined with another and read at any time.
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
        annotator: Name of the annotator.
        at: Time of writing, UTC, ISO 8601.
        answers: The answers. None for the line of joining.
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
    """Return the name of an annotator without superfluous blanks.

    Raises:
        UserError: The name is empty, too long, or has other characters than letters, digits and a little punctuation.
    """
    tidied = " ".join(unicodedata.normalize("NFC", name).split())
    if not _NAME.fullmatch(tidied):
        raise UserError(f"the name {show(name)}; expected 1 to 40 letters, digits, blanks, or . - _ ' after a letter")
    return tidied


class AnnotationStore:
    """Answers of all annotators. Safe to use from several threads.

    Args:
        folder: Folder of the files, created with the first one. File names are hashes, never typed names.

    Attributes:
        damaged: Number of skipped lines, such as those torn by a kill.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damaged = 0
        self._lock = threading.RLock()
        self._files: dict[Path, _File] = {}

    def join(self, name: str) -> str:
        """Register an annotator, known or new.

        Returns:
            The name in its first spelling. Case and blanks do not make a new annotator.

        Raises:
            UserError: The name is not valid.
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
        """Return all annotators, in a fixed order."""
        with self._lock:
            self._refresh()
            return sorted(file.annotator for file in self._files.values())

    def answers(self, annotator: str) -> Mapping[str, Answers]:
        """Return the last answers of an annotator, by thread. Empty for an unknown name."""
        with self._lock:
            self._refresh()
            return dict(self._files.get(self._path(annotator), _File()).answers)

    def save(self, annotator: str, answers: Answers) -> None:
        """Save answers. They are on disk when this returns. Equal answers are not written again.

        Args:
            annotator: A registered annotator.
            answers: All answers of one thread.

        Raises:
            UserError: No annotator has this name.
            OSError: The answers cannot be written. Earlier answers are kept.
        """
        path = self._path(annotator)
        with self._lock:
            self._refresh()
            if path not in self._files:
                raise UserError(f"no annotator named {show(annotator)} has joined; expected one of {self.annotators()}")
            if self._files[path].answers.get(answers.thread_id) != answers:
                self._append(path, Line(self._files[path].annotator, _now(), answers))

    def _path(self, name: str) -> Path:
        return self.folder / f"{hashlib.sha256(tidy_name(name).casefold().encode()).hexdigest()[:16]}.jsonl"

    def _append(self, path: Path, line: Line) -> None:
        # Opened again each time: a copy may have taken the place of the file since.
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
