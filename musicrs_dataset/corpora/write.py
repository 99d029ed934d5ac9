"""Write the folder of a corpus whose systems rank a catalogue: turns as Parquet, catalogue, card and manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from musicrs_metric.base.files import to_json, write_text
from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.base.html import load_template
from musicrs_metric.base.numbers import fine_percent, percent
from musicrs_metric.base.renderers.markdown import markdown_grid
from musicrs_metric.catalogue.corpus import DIALOGUE, TURN, Corpus
from musicrs_metric.catalogue.items import Catalogue, catalogue_lines
from musicrs_metric.catalogue.judge import judge_rankings
from musicrs_metric.catalogue.measures import catalogue_table
from musicrs_metric.catalogue.scores import DialogueScores, dialogue_scores
from musicrs_metric.errors import UserError, count, plain, show
from musicrs_metric.runs.references import CATALOGUE, DEFAULT_CONFIG

from ..repo.build import check_target
from ..repo.folders import replacing_folder
from ..repo.manifest import MANIFEST, content_hash, installed_versions, shards_of
from ..repo.parquet import ShardWriter
from ..schema import SPLIT, VERSION
from ..sources import About
from .record import CatalogueSource, Turn

_LISTS = ("ground_truth", "known", "links")
_SHOWN = ("recall@20", "ndcg@20", "mrr@20", "hit@20", "recall@100")


def write_corpus(source: CatalogueSource, out: str | Path) -> Path:
    """Write a corpus with a catalogue as a folder that `load_dataset` reads.

    Args:
        source: Turns, catalogue and origin.
        out: Parent directory of the folder, which has the name `about.loads_as`. An earlier build in it is replaced.

    Returns:
        The folder.

    Raises:
        UserError: The turns are no valid corpus, or the path of the folder holds other files.
    """
    turns, catalogue, about = source
    columns = _check(turns)
    target = Path(out) / about.loads_as
    check_target(target)
    corpus = as_corpus(turns, catalogue, about.loads_as, columns)
    try:
        with replacing_folder(target) as folder:
            write_text(folder / CATALOGUE, catalogue_lines(catalogue.items))
            with ShardWriter(folder / DEFAULT_CONFIG, _schema(columns)) as writer:
                for turn in turns:
                    writer.write(_row(turn, columns))
            shards = shards_of(folder, writer.files)
            statistics = _statistics(corpus, turns)
            entry = {
                "rows": len(turns),
                "fingerprint": corpus.fingerprint,
                "shards": [asdict(shard) for shard in shards],
            }
            manifest = {
                "protocol": "catalogue",
                "source": asdict(about),
                "configs": {DEFAULT_CONFIG: entry},
                "pools": {},
                "catalogue": {
                    "items": len(catalogue), "clusters": catalogue.n_clusters, "fingerprint": catalogue.fingerprint
                },
                "files": {CATALOGUE: file_sha256(folder / CATALOGUE)},
                "statistics": statistics,
                "versions": installed_versions(("musicrs", "pyarrow", "numpy")),
            }  # fmt: skip
            write_text(folder / MANIFEST, [to_json(manifest, indent=2), "\n"])
            write_text(folder / "README.md", [_card(about, corpus, statistics, columns, content_hash(shards))])
    except OSError as error:
        raise UserError(f"{target}: cannot be written ({error})") from error
    return target


def as_corpus(turns: Sequence[Turn], catalogue: Catalogue, name: str, columns: Sequence[str]) -> Corpus:
    """Make the labels that scoring uses from turns in memory."""
    groups = {DIALOGUE: [turn.dialogue for turn in turns], TURN: [turn.turn for turn in turns]}
    groups |= {column: [turn.columns.get(column, "") for turn in turns] for column in columns}
    return Corpus(
        name=name,
        config=DEFAULT_CONFIG,
        thread_ids=[turn.thread_id for turn in turns],
        candidates=[()] * len(turns),
        ground_truth=[turn.ground_truth for turn in turns],
        groups=groups,
        queries=[turn.query for turn in turns],
        known=[turn.known for turn in turns],
        catalogue=catalogue,
    )


def chance_scores(corpus: Corpus) -> DialogueScores:
    """Return scores whose `chance` and `ceiling` describe the corpus; their values are those of no run."""
    nothing: list[Sequence[str] | None] = [None] * len(corpus)
    judged = judge_rankings(nothing, corpus.ground_truth, corpus.known, corpus.catalogue)
    return dialogue_scores(catalogue_table(judged.hits), corpus.groups[DIALOGUE], confidence=None)


def _check(turns: Sequence[Turn]) -> list[str]:
    """Refuse turns that no folder may hold; returns the names of the further columns."""
    if not turns:
        raise UserError("found no turn to build from, expected at least one")
    repeated = [name for name, n in Counter(turn.thread_id for turn in turns).items() if n > 1]
    if repeated:
        raise UserError(f"turn {plain(repeated[0])} appears twice, expected once; {count(len(repeated), 'id')} repeat")
    columns = sorted({name for turn in turns for name in turn.columns})
    reserved = {"thread_id", DIALOGUE, TURN, "query", *_LISTS}
    if reserved & set(columns):
        raise UserError(f"column {show(min(reserved & set(columns)))}: a name of the format, expected another name")
    return columns


def _schema(columns: Sequence[str]) -> Any:
    import json

    import pyarrow

    text = {"dtype": "string", "_type": "Value"}
    names = ["thread_id", DIALOGUE, TURN, "query", *_LISTS, *columns]
    features = {name: {"feature": text, "_type": "Sequence"} if name in _LISTS else text for name in names}
    metadata = {"huggingface": json.dumps({"info": {"features": features}})}
    kinds = [(name, pyarrow.list_(pyarrow.string()) if name in _LISTS else pyarrow.string()) for name in names]
    return pyarrow.schema(kinds, metadata=metadata)


def _row(turn: Turn, columns: Sequence[str]) -> dict[str, Any]:
    row: dict[str, Any] = {"thread_id": turn.thread_id, DIALOGUE: turn.dialogue, TURN: turn.turn, "query": turn.query}
    row |= {name: list(getattr(turn, name)) for name in _LISTS}
    return row | {name: turn.columns.get(name, "") for name in columns}


def _statistics(corpus: Corpus, turns: Sequence[Turn]) -> dict[str, Any]:
    scores = chance_scores(corpus)
    sizes = Counter(turn.dialogue for turn in turns)
    return {
        "dialogues": scores.n_dialogues,
        "turns": scores.n_turns,
        "turns_per_dialogue": [min(sizes.values()), median(sizes.values()), max(sizes.values())],
        "empty_ground_truth": scores.n_empty,
        "unreachable": scores.n_unreachable,
        "chance": {"macro": scores.macro.chance, "micro": scores.micro.chance},
        "ceiling": {"macro": scores.macro.ceiling, "micro": scores.micro.ceiling},
    }


def _card(about: About, corpus: Corpus, statistics: dict[str, Any], columns: Sequence[str], content: str) -> str:
    import yaml

    front = {
        "license": about.license,
        **({"license_name": about.license_name} if about.license_name else {}),
        **({"license_link": about.license_link} if about.license_link else {}),
        "pretty_name": about.title,
        "language": list(about.languages),
        "task_categories": ["text-retrieval"],
        "tags": ["music", "recommendation", "conversational-recommendation", "ranking"],
        "configs": [
            {
                "config_name": DEFAULT_CONFIG,
                "default": True,
                "version": VERSION,
                # `datasets` computes the key of its cache from this block alone. The fingerprint has no queries.
                "description": f"fingerprint {corpus.fingerprint}, content sha256 {content}",
                "data_files": [{"split": SPLIT, "path": f"{DEFAULT_CONFIG}/{SPLIT}-*.parquet"}],
            }
        ],
    }
    low, middle, high = statistics["turns_per_dialogue"]
    facts = [
        ("dialogues", f"{statistics['dialogues']:,}"),
        ("turns", f"{statistics['turns']:,} ({low} to {high} per dialogue, median {middle:g})"),
        ("items of the catalogue", f"{len(corpus.catalogue):,} in {corpus.catalogue.n_clusters:,} clusters"),
        ("turns with an empty ground truth, without known items", f"{statistics['empty_ground_truth']:,}"),
        ("relevant items that the catalogue lacks, over all turns", f"{statistics['unreachable']:,}"),
    ]
    levels, ceilings = statistics["chance"], statistics["ceiling"]
    chance = [
        (name, *(fine_percent(levels[kind][name]) for kind in ("macro", "micro")), percent(ceilings["macro"][name]))
        for name in _SHOWN
    ]
    return load_template(__package__ or "", "card.md.j2").render(
        about=about,
        chance=markdown_grid(("measure", "chance, macro", "chance, micro", "ceiling, macro"), chance),
        columns=columns,
        facts=markdown_grid(("", ""), facts),
        fingerprint=corpus.fingerprint,
        catalogue_fingerprint=corpus.catalogue.fingerprint,
        front_matter=yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=120),
    )
