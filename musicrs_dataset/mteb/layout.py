"""The tables that mteb reads: corpus, queries, relevance judgements and pools, for each configuration.

mteb breaks ties by document id, highest first. The ids carry no order (`musicrs_metric.convert.rankings.title_id`).
mteb drops queries without a relevant document, so the tables hold no thread whose pool has no relevant candidate.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from musicrs_metric.base.files import write_text
from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.convert.rankings import title_ids
from musicrs_metric.errors import UserError, count
from musicrs_metric.hub.yaml_edit import yaml_of

from ..loading import iter_threads
from ..records import Clip, Thread
from ..repo.folders import replacing_folder
from ..repo.push import RIGHTS
from ..schema import SPLIT

if TYPE_CHECKING:
    import datasets

TASKS = {
    "query_only": "MusiCRSQueryOnlyReranking",
    "audio_only": "MusiCRSAudioOnlyReranking",
    "audio_query": "MusiCRSAudioQueryReranking",
}
AUDIO_RATE = 16_000  # Hz; encoders of mteb take it, and speech models have it as their own rate


class Layout(NamedTuple):
    """Counts of one configuration in the tables.

    Attributes:
        threads: Threads of the dataset.
        queries: Threads in the tables.
        documents: Distinct candidates.
        silent: Threads that are absent because they have no clip.
    """

    threads: int
    queries: int
    documents: int
    silent: int = 0


def write_layout(dataset: str, folder: Path, configs: Sequence[str]) -> dict[str, Layout]:
    """Write the repository that mteb reads: Parquet, a card and `eval.yaml`. An earlier folder is replaced.

    Args:
        dataset: Directory or name of a dataset.
        folder: The folder to write.
        configs: Configurations among "query_only", "audio_only" and "audio_query".

    Returns:
        Configuration to its counts.

    Raises:
        UserError: The folder exists and is none of this kind, a configuration is missing, or no thread is left.
    """
    if folder.exists() and not (folder.is_dir() and (not any(folder.iterdir()) or (folder / "eval.yaml").exists())):
        raise UserError(f"{folder}: exists and holds other files; expected a new folder")
    layouts: dict[str, Layout] = {}
    with replacing_folder(folder) as part:
        files: dict[str, str] = {}
        for config in configs:
            threads = list(iter_threads(dataset, config))
            tables, layouts[config] = tables_of(threads, config)
            for name, table in tables.items():
                (part / f"{config}-{name}").mkdir()
                path = part / f"{config}-{name}" / f"{SPLIT}.parquet"
                table.to_parquet(path)
                # `datasets` caches a folder by its base name and by the names of its files. Without a hash in them, it
                # would return the rows of another folder of the same name.
                path = path.rename(path.with_stem(f"{SPLIT}-{file_sha256(path)[:12]}"))
                files[f"{config}-{name}"] = path.relative_to(part).as_posix()
        write_text(part / "README.md", [_card(files, layouts)])
        write_text(part / "eval.yaml", [eval_yaml(configs)])
    return layouts


def tables_of(threads: Sequence[Thread], config: str) -> tuple[dict[str, datasets.Dataset], Layout]:
    """Build the four tables of one configuration.

    Args:
        threads: The threads, with clips if the configuration has audio.
        config: "query_only", "audio_only" or "audio_query".

    Returns:
        The tables "corpus", "queries", "qrels" and "top_ranked", and their counts.

    Raises:
        UserError: No thread is left, or two titles share an id.
    """
    from datasets import Audio, Dataset, Features, Value

    judged = [thread for thread in threads if not set(thread.ground_truth).isdisjoint(thread.candidates)]
    kept = [thread for thread in judged if config == "query_only" or thread.clips]
    if not kept:
        raise UserError(f"{config}: no thread has a relevant candidate and a clip; build the dataset with audio")
    titles = sorted({title for thread in kept for title in thread.candidates})
    ids = title_ids(dict.fromkeys(titles))
    queries: dict[str, list[Any]] = {"id": [thread.thread_id for thread in kept]}
    features = {"id": Value("string")}
    if config != "audio_only":
        queries["text"] = [thread.query for thread in kept]
        features["text"] = Value("string")
    if config != "query_only":
        queries["audio"] = [{"bytes": _wav(clip), "path": f"{thread.thread_id}.wav"} for thread, clip in _first(kept)]
        features["audio"] = Audio(sampling_rate=AUDIO_RATE)
    pairs = [
        (thread.thread_id, ids[title])
        for thread in kept
        for title in dict.fromkeys(thread.ground_truth)
        if title in thread.candidates
    ]
    qrels = {"query-id": [pair[0] for pair in pairs], "corpus-id": [pair[1] for pair in pairs]}
    pools = [[ids[title] for title in dict.fromkeys(thread.candidates)] for thread in kept]
    return {
        "corpus": Dataset.from_dict({"id": [ids[title] for title in titles], "text": titles}),
        "queries": Dataset.from_dict(queries, features=Features(features)),
        "qrels": Dataset.from_dict(qrels | {"score": [1] * len(pairs)}),
        "top_ranked": Dataset.from_dict({"query-id": queries["id"], "corpus-ids": pools}),
    }, Layout(len(threads), len(kept), len(titles), len(judged) - len(kept))


def eval_yaml(configs: Sequence[str]) -> str:
    """Return `eval.yaml`, which makes the repository a benchmark on the Hub with the framework `mteb`.

    Each task appears twice, as mteb writes it: by its name, and with its subset and split.
    """
    tasks: list[dict[str, str]] = []
    for config in configs:
        tasks += [{"id": TASKS[config]}, {"id": f"{TASKS[config]}_{config}_{SPLIT}", "config": config, "split": SPLIT}]
    return yaml_of(
        {
            "name": "MusiCRS",
            "description": "Conversational music recommendation: rank about 100 named songs, artists and albums for "
            "a request from Reddit, for music, or for both.",
            "evaluation_framework": "mteb",
            "tasks": tasks,
        }
    )


def _first(threads: Sequence[Thread]) -> list[tuple[Thread, Clip]]:
    return [(thread, thread.clips[0]) for thread in threads if thread.clips]


def _wav(clip: Clip) -> bytes:
    """Return a clip as WAV, 16 kHz, mono, 16 bits."""
    import soundfile

    from ..audio.clips import load_clip

    file = io.BytesIO()
    soundfile.write(file, load_clip(clip, AUDIO_RATE), AUDIO_RATE, subtype="PCM_16", format="WAV")
    return file.getvalue()


def _card(files: Mapping[str, str], layouts: dict[str, Layout]) -> str:
    configs = [{"config_name": name, "data_files": [{"split": SPLIT, "path": path}]} for name, path in files.items()]
    front = yaml_of({"license": "cc-by-4.0", "tags": ["mteb", "music", "reranking"], "configs": configs})
    lines = [
        f"- `{config}`: {layout.queries} of {count(layout.threads, 'thread')}, {layout.documents} documents"
        + (f"; {layout.silent} threads have no clip" if layout.silent else "")
        for config, layout in layouts.items()
    ]
    sound = f"\nEach query has one sound: its first clip, 16 kHz mono. {RIGHTS}\n"
    return "".join(
        [
            f"---\n{front}---\n\n# MusiCRS for mteb\n\nTables of the MusiCRS benchmark for mteb: corpus, queries, ",
            "relevance judgements (qrels) and pools (top_ranked).\n\n",
            *[f"{line}\n" for line in lines],
            "\nmteb drops threads without a relevant candidate. The MusiCRS leaderboard counts them as 0.\n",
            "" if list(layouts) == ["query_only"] else sound,
        ]
    )
