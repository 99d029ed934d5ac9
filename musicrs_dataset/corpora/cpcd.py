"""Reader of CPCD: dialogues with a goal playlist, of which every turn ranks the catalogue.

Source: Chaganty et al. (2023), Beyond Single Items: Exploring User Preferences in Item Sets with the Conversational
Playlist Curation Dataset, arXiv:2303.06791; github.com/google-research-datasets/cpcd. The licence is CC BY 4.0.

At turn t the query is the user's turns 0 to t. Known are the first three liked tracks of each earlier turn. The ground
truth is the goal playlist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from musicrs_metric.catalogue.corpus import DIALOGUE, TURN
from musicrs_metric.catalogue.items import Catalogue, Item
from musicrs_metric.errors import UserError, count, some
from musicrs_metric.matching import normalise

from ..jsonl import Fields, read_objects
from ..records import Link, Thread
from ..sources import About
from .files import json_files, sha256_of
from .record import UNLABELLED, CatalogueSource, PoolSource, Turn

KNOWN_PER_TURN = 3  # liked tracks of each earlier turn that their evaluation counts as known
TRACKS = "tracks.jsonl"
CITATION = """@inproceedings{chaganty2023cpcd,
  title = {Beyond Single Items: Exploring User Preferences in Item Sets with the Conversational Playlist Curation Dataset},
  author = {Chaganty, Arun Tejasvi and Leszczynski, Megan and Zhang, Shu and Ganti, Ravi and Balog, Krisztian and Radlinski, Filip},
  booktitle = {Proceedings of SIGIR},
  year = {2023}
}"""  # noqa: E501


class _Files(NamedTuple):
    """Dialogues of CPCD and their tracks, by id and by canonical id."""

    files: list[Path]
    dialogues: list[Fields]
    tracks: dict[str, Item]
    canonical: dict[str, str]
    catalogue: str

    def goal(self, fields: Fields) -> tuple[str, ...]:
        """Return the goal playlist of a dialogue, with the track for a canonical id that is no track."""
        goal = fields.strings("goal_playlist")
        return tuple(track if track in self.tracks else self.canonical.get(track, track) for track in goal)


def _read(path: str | Path) -> _Files:
    files = [file for file in json_files(path, "CPCD's dialogues") if not file.name.endswith(TRACKS)]
    dialogues = [fields for file in files for fields in read_objects(file)]
    if not dialogues:
        raise UserError(f"{path}: holds no dialogue; expected CPCD's dialogues, one JSON object per line")
    seen: set[str] = set()
    for fields in dialogues:
        name = fields.string("id")
        if name in seen:
            raise UserError(f"{fields.where}: dialogue {name} appears twice, expected once; name one split")
        seen.add(name)
    tracks: dict[str, Item] = {}
    canonical: dict[str, str] = {}
    everything = sorted(files[0].parent.glob(f"*{TRACKS}"))
    if len(everything) > 1:
        raise UserError(f"{files[0].parent}: holds {some([file.name for file in everything])}; expected one catalogue")
    for row in read_objects(everything[0]) if everything else _tracks(dialogues):
        item = _item(row)
        tracks.setdefault(item.id, item)
        canonical.setdefault(row.string("track_canonical_ids"), item.id)
    catalogue = everything[0].name if everything else "the tracks that these dialogues saw"
    return _Files(files, dialogues, tracks, canonical, catalogue)


def read_cpcd(path: str | Path) -> CatalogueSource:
    """Read dialogues of CPCD.

    Args:
        path: A file of dialogues, or a folder of such files. A file next to it whose name ends in `tracks.jsonl` is the
            catalogue. Else the catalogue is the tracks of these dialogues.

    Raises:
        UserError: A field is not as published; the message names file, line and field.
    """
    read = _read(path)
    turns = [turn for fields in read.dialogues for turn in _turns(fields, fields.string("id"), read.goal(fields))]
    unknown = {track for fields in read.dialogues for track in fields.strings("goal_playlist")} - read.tracks.keys()
    replaced = unknown & read.canonical.keys()
    notes = (
        f"{count(len(read.dialogues), 'dialogue')}, {count(len(turns), 'turn')}, {count(len(read.tracks), 'track')}",
        f"the catalogue is {read.catalogue}",
        f"{count(len(replaced), 'goal track')} known by a canonical id only",
        f"{count(len(unknown - replaced), 'goal track')} not in the catalogue: counted, and never reached",
    )
    limits = (
        "A catalogue of the tracks that some dialogues saw is smaller than that of CPCD. Scores on it are not "
        f"comparable with published scores. This build: {some(notes[1:2])}.",
        "One cluster of the source can hold unrelated songs. It is kept, because published scores have it too.",
    )
    catalogue = Catalogue(tuple(read.tracks.values()))
    return CatalogueSource(turns, catalogue, _about(f"cpcd:{Path(path).name}", "CPCD", read.files, notes, limits))


def read_cpcd_search(path: str | Path) -> PoolSource:
    """Read dialogues of CPCD with search pools: per turn, the clusters found by the searches up to that turn.

    Known clusters are removed. The ground truth is the part of the goal playlist that the pool holds. A turn without
    any is skipped and counted. A later pool would give away later turns, because it holds what they asked for.

    Args:
        path: As in `read_cpcd`.

    Raises:
        UserError: A field is not as published, or no turn has a relevant candidate.
    """
    read = _read(path)
    clusters = {item.id: item.cluster for item in read.tracks.values()}
    first = {item.cluster: item for item in reversed(read.tracks.values())}
    threads, n_turns, n_goal, n_found = [], 0, 0, 0
    for fields in read.dialogues:
        found: dict[str, None] = {}
        turns = _turns(fields, fields.string("id"), read.goal(fields))
        for turn, row in zip(turns, fields.objects("turns"), strict=True):
            results = row.values.get("search_results") or []
            found |= dict.fromkeys(clusters[track] for ids in results for track in ids if track in clusters)
            known = {clusters.get(track) for track in turn.known}
            pool = _texts([first[cluster] for cluster in found if cluster not in known])
            goal = {clusters.get(track, track) for track in turn.ground_truth} - known
            relevant = tuple(pool[cluster] for cluster in pool if cluster in goal)
            n_turns, n_goal, n_found = n_turns + 1, n_goal + len(goal), n_found + len(relevant)
            if relevant:
                threads.append(_thread(turn, tuple(pool.values()), relevant))
    if not threads:
        raise UserError(f"{path}: no turn has a relevant track among its search results; use cpcd:PATH")
    notes = (
        f"{count(len(read.dialogues), 'dialogue')}, {n_turns} turns, {len(threads)} of them with a relevant candidate",
        f"the pools hold {100 * n_found / n_goal:.1f} % of the goal clusters that are not known, over all turns",
    )
    limits = ("A search pool holds what the person who answered searched for. It gives away that person's reading.",)
    return PoolSource(threads, _about(f"cpcd-search:{Path(path).name}", "CPCD search pools", read.files, notes, limits))


def _texts(items: Sequence[Item]) -> dict[str, str]:
    """Return cluster to candidate text, sorted by text. Equal texts get the album, then the id."""
    forms = [
        [f"{item.title} by {', '.join(item.artists)}", f"{item.title} by {', '.join(item.artists)} ({item.album})"]
        for item in items
    ]
    for level in (0, 1):
        times = Counter(normalise(form[level]) for form in forms)
        forms = [form if times[normalise(form[level])] == 1 else [*form[1:], *form[1:]] for form in forms]
    times = Counter(normalise(form[0]) for form in forms)
    texts = {
        item.cluster: form[0] if times[normalise(form[0])] == 1 else f"{form[0]} [{item.id}]"
        for item, form in zip(items, forms, strict=True)
    }
    return dict(sorted(texts.items(), key=lambda pair: pair[1]))


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


def _thread(turn: Turn, candidates: tuple[str, ...], relevant: tuple[str, ...]) -> Thread:
    return Thread(
        thread_id=turn.thread_id, subreddit="cpcd", genre=UNLABELLED, query=turn.query, post=turn.query,
        submission_entities=(), comments=(), candidates=candidates, ground_truth=relevant, all_entities=relevant,
        links=tuple(Link(video, 0.0, f"https://youtu.be/{video}") for video in turn.links),
        columns=((DIALOGUE, turn.dialogue), (TURN, turn.turn)),
    )  # fmt: skip


def _about(name: str, title: str, files: Sequence[Path], notes: tuple[str, ...], limits: tuple[str, ...]) -> About:
    return About(
        name=name,
        title=title,
        loads_as=name.partition(":")[0].replace("-", "_"),
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
        limits=limits,
    )
