"""Disagreements of annotators, as a CSV file that a person settles in a spreadsheet.

| column | |
|---|---|
| `row` | id of the question with its votes; do not change it |
| `thread`, `title`, `question`, `subject` | the question |
| `choices` | the votes, numbered, with their counts |
| `settled` | to fill in: the number of a choice, or another answer |
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from musicrs_metric.base.files import replacing
from musicrs_metric.base.text import csv_line, unguarded
from musicrs_metric.base.text import guarded as guarded
from musicrs_metric.errors import UserError, show, some

from .judgement import canonical_url, read_entity
from .votes import LEAVE_OUT, Question, QuestionKind, QuestionVotes
from .worklist import CATEGORIES, MUSIC, WorkItem

COLUMNS = ("row", "thread", "title", "question", "subject", "choices", "settled")
_WORDS: Mapping[QuestionKind, tuple[str, ...]] = {
    "category": CATEGORIES,
    "link": ("valid", "invalid"),
    "added link": (LEAVE_OUT,),
    "entity": ("relevant", "irrelevant"),
    "added entity": (LEAVE_OUT,),
    "query": (),
}
_ALLOWED: Mapping[QuestionKind, str] = {
    "category": "music, pop culture or other",
    "link": "valid, invalid or a YouTube URL",
    "added link": f"{LEAVE_OUT} or a YouTube URL",
    "entity": "relevant or irrelevant",
    "added entity": f"{LEAVE_OUT} or an entity as kind: name",
    "query": "or a text",
}


class Disagreement(NamedTuple):
    """Question with more than one answer.

    Attributes:
        question: The question.
        choices: The different answers with their numbers, most frequent first.
    """

    question: Question
    choices: tuple[tuple[str, int], ...]

    @property
    def row(self) -> str:
        """Id of the question and its answers, so that a decision never applies to others."""
        digest = hashlib.sha256("\0".join((*self.question, *(answer for answer, _ in self.choices))).encode())
        return f"q-{digest.hexdigest()[:12]}"  # digits alone, or with an e, would be a number to a spreadsheet

    @property
    def majority(self) -> str | None:
        """The answer of more than half of the votes. None if there is none."""
        answer, most = self.choices[0]
        return answer if 2 * most > sum(n for _, n in self.choices) else None


def disagreements(all_votes: Iterable[QuestionVotes]) -> list[Disagreement]:
    """Find the questions with different answers.

    Args:
        all_votes: The votes on all questions.

    Returns:
        In the order of the votes. For threads without a vote for music, only the category counts: they are dropped.
    """
    entries = list(all_votes)
    music = {
        entry.question.thread_id
        for entry in entries
        if entry.question.about == "category" and MUSIC in entry.votes.values()
    }
    return [
        Disagreement(entry.question, tuple(choices))
        for entry in entries
        if len(choices := entry.choices()) > 1
        and (entry.question.about == "category" or entry.question.thread_id in music)
    ]


def write_disagreements(path: Path, rows: Iterable[Disagreement], items: Iterable[WorkItem]) -> None:
    """Write the file in one step, with no cell that a spreadsheet takes for a formula."""
    titles = {item.thread_id: item.title for item in items}
    with replacing(path) as file:
        file.write("\ufeff")  # without it a spreadsheet may take UTF-8 for something else
        file.write(csv_line(COLUMNS, end="\r\n"))
        for row in rows:
            choices = "\n".join(f"{n}: {answer} ({votes})" for n, (answer, votes) in enumerate(row.choices, 1))
            thread_id, about, subject = row.question
            cells = (row.row, thread_id, titles[thread_id], about, subject, choices, "")
            file.write(csv_line(cells, end="\r\n"))


def read_decisions(path: Path, current: Sequence[Disagreement]) -> dict[Question, str]:
    """Read a file with decisions.

    Args:
        path: The file, also after a spreadsheet has saved it.
        current: The current disagreements.

    Returns:
        Decision by question. Rows without a decision are skipped.

    Raises:
        UserError: The file or a column is missing, a row belongs to no disagreement or appears twice, or the question
            cannot have this decision.
    """
    known = {disagreement.row: disagreement for disagreement in current}
    decisions: dict[Question, str] = {}
    for where, row in _rows(path):
        settled, name = unguarded(row["settled"] or "").strip(), (row["row"] or "").strip()
        one = known.get(name)
        if not settled:
            continue
        if one is None:
            raise UserError(
                f"{where}: {show(name)} is no disagreement of the answers as they are now; run agree again and settle "
                "the file that it writes"
            )
        if one.question in decisions:
            raise UserError(f"{where}: {name} is settled twice; leave one of the rows")
        decisions[one.question] = _decision(one, settled, where)
    return decisions


def _rows(path: Path) -> list[tuple[str, Mapping[str, str | None]]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")  # with line ends unchanged: some are inside cells
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; expected disagreements.csv with the column settled filled in") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text; save it as CSV UTF-8") from error
    header = re.split(r"[\r\n]", text, maxsplit=1)[0]
    # If the comma is the decimal mark, spreadsheets separate cells with semicolons.
    delimiter = ";" if header.count(";") > header.count(",") else ","
    # Not `splitlines`, which also cuts at separators inside a title.
    lines = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    missing = [name for name in ("row", "settled") if name not in (lines.fieldnames or ())]
    if missing:
        raise UserError(f"{path}: no column {some(missing)}; expected {', '.join(COLUMNS)}")
    return [(f"{path}, line {lines.line_num}", row) for row in lines]


def _decision(one: Disagreement, settled: str, where: str) -> str:
    if settled.isdecimal() and 1 <= int(settled) <= len(one.choices):
        return one.choices[int(settled) - 1][0]
    answer = _own_answer(one.question.about, settled)
    if answer is None:
        raise UserError(
            f"{where}: settled is {show(settled)}, expected the number of a choice, {_ALLOWED[one.question.about]}"
        )
    return answer


def _own_answer(about: QuestionKind, settled: str) -> str | None:
    lower = settled.lower()
    if lower in _WORDS[about]:
        return lower
    if about in ("link", "added link"):
        return canonical_url(settled)
    if about == "added entity":
        entity = read_entity(settled)
        return None if entity is None else str(entity)
    return " ".join(settled.split()) if about == "query" else None
