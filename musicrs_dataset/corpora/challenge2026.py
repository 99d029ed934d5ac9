"""Reader of the RecSys Challenge 2026 (TalkPlayData-Challenge): one relevant track per turn of a session.

The truth is a JSON list of `session_id`, `user_id`, `turn_number` and `ground_truth_track_id`. Next to it may be
`conversations.jsonl` (one object per session: `session_id`, `conversations` with `turn_number`, `role` and `content`)
and `catalogue.jsonl` in the form of this project. Both come from the user's copy of the data on the Hub.
Source: github.com/nlp4musa/music-crs-evaluator. Its licence is not stated; the parent data is CC BY-NC-ND 4.0.
"""

from __future__ import annotations

from pathlib import Path

from musicrs_metric.catalogue.items import Catalogue, Item, read_catalogue
from musicrs_metric.errors import UserError, count, show, some
from musicrs_metric.runs.references import CATALOGUE

from ..jsonl import Fields, read_objects
from ..sources import About
from .files import read_rows, sha256_of
from .record import CatalogueSource, Turn

CONVERSATIONS = "conversations.jsonl"
_EXPECTED = "the truth of the challenge, with session_id, turn_number and ground_truth_track_id"


def read_challenge2026(path: Path) -> CatalogueSource:
    """Read the truth of the challenge, with the texts and the catalogue if they are in the same folder.

    Args:
        path: The JSON file of the truth, or a folder with one `.json` file.

    Raises:
        UserError: A file is not as published; the message names file, row and field.
    """
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if len(files) != 1:
        raise UserError(
            f"{path}: holds {len(files)} .json files ({some([file.name for file in files])}); name one of them"
        )
    rows = read_rows(files[0], _EXPECTED)
    conversations = files[0].with_name(CONVERSATIONS)
    texts = _conversations(conversations) if conversations.is_file() else {}
    catalogue_file = files[0].with_name(CATALOGUE)
    if catalogue_file.is_file():
        catalogue = read_catalogue(catalogue_file)
    else:
        ids = dict.fromkeys(fields.string("ground_truth_track_id") for fields in rows)
        catalogue = Catalogue(tuple(Item(name) for name in ids))
    names = {item.id: " by ".join([item.title, ", ".join(item.artists)]) for item in catalogue.items if item.title}
    turns = [_turn(fields, texts, names) for fields in rows]
    return CatalogueSource(turns, catalogue, _about(files[0], turns, catalogue, catalogue_file.is_file(), bool(texts)))


def _turn(fields: Fields, texts: dict[str, list[tuple[int, str, str]]], names: dict[str, str]) -> Turn:
    session, number = fields.string("session_id"), fields.values.get("turn_number")
    if not isinstance(number, int) or isinstance(number, bool):
        raise UserError(f"{fields.where}: turn_number is {show(number)}, expected a whole number")
    said = []
    for turn, role, content in texts.get(session, ()):
        # The rows of a turn come as user, music, assistant. What follows the user's text is the answer of the turn.
        if turn < number or (turn == number and role == "user"):
            said.append(names.get(content, content) if role == "music" else content)
    columns = {"user": user} if isinstance(user := fields.values.get("user_id"), str) else {}
    answer = fields.string("ground_truth_track_id")
    return Turn(f"{session}:{number}", session, str(number), "\n".join(said), (answer,), columns=columns)


def _conversations(path: Path) -> dict[str, list[tuple[int, str, str]]]:
    sessions: dict[str, list[tuple[int, str, str]]] = {}
    for fields in read_objects(path):
        said = []
        for row in fields.objects("conversations"):
            number = row.number("turn_number")
            if number is None:
                raise UserError(f"{row.where}: turn_number is null, expected a whole number")
            said.append((int(number), row.string("role"), str(row.values.get("content") or "")))
        sessions[fields.string("session_id")] = said
    return sessions


def _about(file: Path, turns: list[Turn], catalogue: Catalogue, has_file: bool, has_texts: bool) -> About:
    sessions = len({turn.dialogue for turn in turns})
    notes = [f"{count(sessions, 'session')}, {count(len(turns), 'turn')}, {count(len(catalogue), 'track')}"]
    if not has_file:
        notes.append(f"found no {CATALOGUE}: the catalogue is the answers alone, so chance and diversity are too high")
    if not has_texts:
        notes.append(f"found no {CONVERSATIONS}: queries are empty, so only systems that read no text are meaningful")
    return About(
        name=f"challenge2026:{file.name}",
        title="RecSys Challenge 2026",
        loads_as="challenge2026",
        license="other",
        license_name="not-stated",
        attribution=(
            "Truth: [nlp4musa/music-crs-evaluator](https://github.com/nlp4musa/music-crs-evaluator), which states no "
            "licence. Its parent data has the licence CC BY-NC-ND 4.0. Read from your copy. Do not share this folder."
        ),
        homepage="https://github.com/nlp4musa/music-crs-evaluator",
        sha256=sha256_of([file]),
        notes=tuple(notes),
        limits=tuple(notes[1:]),
    )
