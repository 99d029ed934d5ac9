"""Reader of CPCD: dialogues with a goal playlist, of which every turn ranks the catalogue.

Source: Chaganty et al. (2023), Beyond Single Items: Exploring User Preferences in Item Sets with the Conversational
Playlist Curation Dataset, arXiv:2303.06791; github.com/google-research-datasets/cpcd. The licence is CC BY 4.0.

At turn t the query is the user's turns 0 to t. Known are the first three liked tracks of each earlier turn. The ground
truth is the goal playlist.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from musicrs_metric.catalogue.items import Catalogue, Item
from musicrs_metric.errors import UserError, count, some

from ..jsonl import Fields, read_objects
from ..sources import About
from .files import json_files, sha256_of
from .record import CatalogueSource, Turn

KNOWN_PER_TURN = 3  # liked tracks of each earlier turn that their evaluation counts as known
TRACKS = "tracks.jsonl"
CITATION = """@inproceedings{chaganty2023cpcd,
  title = {Beyond Single Items: Exploring User Preferences in Item Sets with the Conversational Playlist Curation Dataset},
  author = {Chaganty, Arun Tejasvi and Leszczynski, Megan and Zhang, Shu and Ganti, Ravi and Balog, Krisztian and Radlinski, Filip},
  booktitle = {Proceedings of SIGIR},
  year = {2023}
}"""  # noqa: E501


def read_cpcd(path: str | Path) -> CatalogueSource:
    """Read dialogues of CPCD.

    Args:
        path: A file of dialogues, or a folder of such files. If `tracks.jsonl` is in the folder of the file, it is the
            catalogue. Else the catalogue is the tracks of these dialogues.

    Raises:
        UserError: A field is not as published; the message names file, line and field.
    """
    files = [file for file in json_files(path, "CPCD's dialogues") if file.name != TRACKS]
    dialogues = [fields for file in files for fields in read_objects(file)]
    if not dialogues:
        raise UserError(f"{path}: holds no dialogue; expected CPCD's dialogues, one JSON object per line")
    tracks: dict[str, Item] = {}
    canonical: dict[str, str] = {}
    everything = files[0].with_name(TRACKS)
    rows = read_objects(everything) if everything.is_file() else _tracks(dialogues)
    for row in rows:
        item = _item(row)
        tracks.setdefault(item.id, item)
        canonical.setdefault(row.string("track_canonical_ids"), item.id)
    turns: list[Turn] = []
    replaced, unreachable = set[str](), set[str]()
    seen: set[str] = set()
    for fields in dialogues:
        name = fields.string("id")
        if name in seen:
            raise UserError(f"{fields.where}: dialogue {name} appears twice, expected once; name one split")
        seen.add(name)
        goal = fields.strings("goal_playlist")
        replaced |= {track for track in goal if track not in tracks and track in canonical}
        unreachable |= {track for track in goal if track not in tracks and track not in canonical}
        turns += _turns(
            fields, name, tuple(track if track in tracks else canonical.get(track, track) for track in goal)
        )
    catalogue = "tracks.jsonl" if everything.is_file() else "the tracks that these dialogues saw"
    notes = (
        f"{count(len(dialogues), 'dialogue')}, {count(len(turns), 'turn')}, {count(len(tracks), 'track')}",
        f"the catalogue is {catalogue}",
        f"{count(len(replaced), 'goal track')} known by a canonical id only",
        f"{count(len(unreachable), 'goal track')} not in the catalogue: counted, and never reached",
    )
    return CatalogueSource(turns, Catalogue(tuple(tracks.values())), _about(path, files, notes))


def _tracks(dialogues: Sequence[Fields]) -> list[Fields]:
    return [track for fields in dialogues for track in _values(fields, "tracks")]


def _values(fields: Fields, name: str) -> list[Fields]:
    inner = fields.object(name)
    return [inner.object(key) for key in inner.values]


def _item(row: Fields) -> Item:
    return Item(
        id=row.string("track_ids"),
        title=_text(row, "track_titles"),
        artists=tuple(row.strings("track_artists")),
        album=_text(row, "track_release_titles"),
        cluster=row.string("track_cluster_ids"),
        link=row.string("track_ids"),
    )


def _text(row: Fields, name: str) -> str:
    value: Any = row.values.get(name)
    return value if isinstance(value, str) else row.string(name) if value is not None else ""


def _turns(fields: Fields, name: str, goal: tuple[str, ...]) -> list[Turn]:
    turns, said, known, liked = [], list[str](), list[str](), list[str]()
    for number, turn in enumerate(fields.objects("turns")):
        said.append(_text(turn, "user_query"))
        query, links = "\n".join(said), tuple(dict.fromkeys(liked))
        turns.append(Turn(f"{name}:{number}", name, str(number), query, goal, tuple(dict.fromkeys(known)), links))
        likes = turn.strings("liked_results")
        known += likes[:KNOWN_PER_TURN]
        liked += likes
    return turns


def _about(path: str | Path, files: Sequence[Path], notes: tuple[str, ...]) -> About:
    return About(
        name=f"cpcd:{Path(path).name}",
        title="CPCD",
        loads_as="cpcd",
        license="cc-by-4.0",
        attribution=(
            "Dialogues, tracks and goal playlists: Conversational Playlist Curation Dataset by Arun Tejasvi Chaganty, "
            "Megan Leszczynski, Shu Zhang, Ravi Ganti, Krisztian Balog and Filip Radlinski, published as "
            "[google-research-datasets/cpcd](https://github.com/google-research-datasets/cpcd) under "
            "[CC BY 4.0](https://creativecommons.org/licenses/by/4.0/). Changes: one row per turn; fields renamed."
        ),
        citation=CITATION,
        homepage="https://github.com/google-research-datasets/cpcd",
        sha256=sha256_of(files),
        notes=notes,
        limits=(
            "A catalogue of the tracks that some dialogues saw is smaller than `tracks.jsonl`. Scores on it are not "
            f"comparable with published scores. This build: {some(notes[1:2])}.",
            "One cluster of the source can hold unrelated songs. It is kept, because published scores have it too.",
        ),
    )
