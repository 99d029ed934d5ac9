"""Reader of a user's own corpus: one JSON object per line, over pools or over a catalogue.

| field | |
|---|---|
| `query` | required: the request |
| `ground_truth` | required: the relevant candidates, or ids of the catalogue |
| `candidates` | the pool; in all lines or in none |
| `catalogue` | without pools: path of the catalogue file, relative to this file; `catalogue.jsonl` if absent |
| `thread_id` | key; `<dialogue>:<turn>` or `line<number>` if absent |
| `dialogue`, `turn` | the dialogue, and the number of the turn in it; turns count from 0 if absent |
| `known` | with a catalogue: ids that the listener knows by then |
| `links` | URLs of videos |
| `genre`, `subreddit`, `post` | as in MusiCRS |

Every other field with a text, a number or a truth value is a column for `--by`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from musicrs_metric.catalogue.corpus import DIALOGUE, TURN
from musicrs_metric.catalogue.items import read_catalogue
from musicrs_metric.errors import UserError, count, plain, show, some
from musicrs_metric.runs.references import CATALOGUE, STANDARD_COLUMNS

from ..jsonl import Fields, read_objects
from ..records import Link, Thread
from ..sources import About
from ..youtube import start_seconds, video_id
from .files import sha256_of
from .record import UNLABELLED, CatalogueSource, PoolSource, Turn

_FIELDS = {"thread_id", "dialogue", "turn", "query", "ground_truth", "candidates", "catalogue", "known", "links"}
_TEXTS = {"genre", "subreddit", "post"}
_RESERVED = (set(STANDARD_COLUMNS) | {"macro"}) - _FIELDS - _TEXTS


def read_own(path: Path) -> CatalogueSource | PoolSource:
    """Read a corpus of the user.

    Args:
        path: The file, UTF-8, as described above.

    Returns:
        Threads with pools if every line has `candidates`; else turns with a catalogue.

    Raises:
        UserError: A line is not as described; the message names file, line and field.
    """
    if not path.is_file():
        raise UserError(f"{path}: {'a directory' if path.is_dir() else 'no such file'}; expected one JSONL file")
    rows = list(read_objects(path))
    if not rows:
        raise UserError(f'{path}: holds no thread; expected one object per line, {{"query": "...", ...}}')
    pooled = [fields for fields in rows if fields.values.get("candidates") is not None]
    if pooled and len(pooled) < len(rows):
        without = next(fields for fields in rows if fields.values.get("candidates") is None)
        raise UserError(f"{without.where}: no field 'candidates', expected it in all lines or in none")
    columns = _columns(rows)
    turns = _with_turns([_turn(fields, columns) for fields in rows], rows)
    name = re.sub(r"[^a-z0-9_]+", "_", path.stem.lower()).strip("_") or "own"
    about = About(
        name=path.name,
        license="other",
        attribution="Read from a file of the user. State authors and licence here before you share it.",
        title=path.stem,
        loads_as="own" if name in ("musicrs", "musicrs_mini") else name,
        sha256=sha256_of([path]),
    )
    if pooled:
        return _pools(turns, rows, about)
    return CatalogueSource(turns, read_catalogue(_catalogue_path(path, rows)), about)


def _turn(fields: Fields, columns: Sequence[str]) -> Turn:
    values = fields.values
    dialogue, turn = _label(fields, DIALOGUE), _label(fields, TURN)
    thread_id = fields.string("thread_id") if values.get("thread_id") is not None else ""
    if turn and not dialogue:
        dialogue, _, end = thread_id.rpartition(":")
        if not dialogue or end != turn:
            raise UserError(f"{fields.where}: turn is {show(turn)} without a dialogue; add the field 'dialogue'")
    return Turn(
        thread_id=thread_id,
        dialogue=dialogue,
        turn=turn,
        query=fields.string("query"),
        ground_truth=tuple(fields.strings("ground_truth")),
        known=tuple(fields.strings("known")) if values.get("known") is not None else (),
        links=tuple(fields.strings("links")) if values.get("links") is not None else (),
        columns={name: _label(fields, name) for name in columns},
    )


def _with_turns(turns: Sequence[Turn], rows: Sequence[Fields]) -> list[Turn]:
    """Number the turns that have no number, and name the threads that have no name."""
    from dataclasses import replace

    numbers: Counter[str] = Counter()
    seen: dict[tuple[str, str], str] = {}
    has_dialogues = any(turn.dialogue for turn in turns)
    numbered = []
    for line, (turn, fields) in enumerate(zip(turns, rows, strict=True), 1):
        dialogue = turn.dialogue
        number = turn.turn or (str(numbers[dialogue]) if dialogue else "0" if has_dialogues else "")
        numbers[dialogue] += 1
        name = turn.thread_id or (f"{dialogue}:{number}" if dialogue else f"line{line}")
        key = (dialogue or name, number)
        if has_dialogues and key in seen:
            raise UserError(f"{fields.where}: turn {plain(number)} of dialogue {plain(key[0])} is also on {seen[key]}")
        seen[key] = fields.where.rpartition(", ")[2]
        numbered.append(replace(turn, thread_id=name, dialogue=dialogue or name * has_dialogues, turn=number))
    return numbered


def _columns(rows: Sequence[Fields]) -> list[str]:
    names = list(dict.fromkeys(name for fields in rows for name in fields.values if name not in _FIELDS | _TEXTS))
    for fields in rows:
        taken = sorted(_RESERVED & set(fields.values))
        if taken:
            raise UserError(f"{fields.where}: the field {taken[0]!r} is a column of MusiCRS; give it another name")
    return names


def _label(fields: Fields, name: str) -> str:
    value: Any = fields.values.get(name)
    if value is None:
        return ""
    if isinstance(value, list | dict):
        raise UserError(f"{fields.where}: {name} is {show(value)}, expected a text, a number or a truth value")
    if isinstance(value, float) and value.is_integer():  # programs write whole numbers as 1.0 if a column has gaps
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _catalogue_path(path: Path, rows: Sequence[Fields]) -> Path:
    names = {fields.string("catalogue") for fields in rows if fields.values.get("catalogue") is not None}
    if len(names) > 1:
        raise UserError(f"{path}: the lines name {len(names)} catalogues ({some(sorted(names))}), expected one")
    file = path.with_name(CATALOGUE) if not names else path.parent / names.pop()
    if not file.is_file():
        raise UserError(
            f"{path}: found neither 'candidates' in its lines nor the catalogue {file}; expected one of them"
        )
    return file


def _pools(turns: Sequence[Turn], rows: Sequence[Fields], about: About) -> PoolSource:
    dropped = [link for turn in turns for link in turn.links if video_id(link) is None]
    known = next((turn for turn in turns if turn.known), None)
    if known is not None:
        raise UserError(
            f"thread {plain(known.thread_id)}: has 'known', which only a catalogue uses; leave it out of pools"
        )
    notes = (f"{count(len(dropped), 'link')} to no video dropped ({some(dropped, 3)})",) if dropped else ()
    has_dialogues = any(turn.dialogue for turn in turns)
    threads = [_thread(turn, fields, has_dialogues) for turn, fields in zip(turns, rows, strict=True)]
    return PoolSource(threads, About(**{**about.__dict__, "notes": notes}))


def _thread(turn: Turn, fields: Fields, has_dialogues: bool) -> Thread:
    given = {name: fields.string(name) for name in _TEXTS if fields.values.get(name) is not None}
    turns = ((DIALOGUE, turn.dialogue), (TURN, turn.turn)) if has_dialogues else ()
    return Thread(
        thread_id=turn.thread_id,
        subreddit=given.get("subreddit", "own"),
        genre=given.get("genre", UNLABELLED),
        query=turn.query,
        post=given.get("post", turn.query),
        submission_entities=(),
        comments=(),
        candidates=tuple(fields.strings("candidates")),
        ground_truth=turn.ground_truth,
        all_entities=(),
        links=tuple(Link(video, start_seconds(url), url) for url in turn.links if (video := video_id(url)) is not None),
        columns=(*turns, *turn.columns.items()),
    )
