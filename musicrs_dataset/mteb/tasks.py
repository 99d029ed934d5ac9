"""MusiCRS as three reranking tasks of mteb: a request, a sound, or both, against a pool of named music.

    import mteb
    from musicrs_dataset.mteb.tasks import MusiCRSQueryOnlyReranking

    mteb.evaluate(model, MusiCRSQueryOnlyReranking(), prediction_folder="predictions")

`local(task, folder)` reads a folder that `python -m musicrs_dataset mteb` wrote. The chance level of recall@20 is
0.2064 on the 472 queries. mteb orders equal scores by document id.
"""

from __future__ import annotations

import io
from typing import Any

import mteb
from mteb.abstasks import AbsTaskRetrieval

# The repository that `python -m musicrs_dataset mteb --push` wrote, and the revision that the command printed. A task
# that is sent to mteb needs a commit here.
REPO = "musicrs/musicrs-mteb"
REVISION = "main"
_CITATION = """\
@article{surana2025musicrs,
  author = {Surana, Rohan and Namburi, Amit and Mundada, Gagan and Lal, Abhay and Novack, Zachary and McAuley, Julian
and Wu, Junda},
  journal = {arXiv preprint arXiv:2509.19469},
  title = {MusiCRS: Benchmarking Audio-Centric Conversational Recommendation},
  year = {2025},
}
"""
_RANK = "Rank about 100 named songs, artists and albums for"
_SOUND = "one sound per query: the first clip of the thread, 16 kHz mono"


def _metadata(name: str, config: str, description: str, **fields: Any) -> mteb.TaskMetadata:
    return mteb.TaskMetadata(
        name=name,
        description=description,
        reference="https://arxiv.org/abs/2509.19469",
        dataset={"path": REPO, "revision": REVISION},
        eval_splits=["test"],
        eval_langs={config: ["eng-Latn"]},
        main_score="recall_at_20",
        # The published file holds no dates: from the first subreddits to the paper.
        date=("2008-01-01", "2025-09-30"),
        domains=["Music", "Social"],
        task_subtypes=["Conversational retrieval"],
        license="cc-by-4.0",
        annotations_creators="LM-generated and reviewed",
        dialect=[],
        sample_creation="found",
        bibtex_citation=_CITATION,
        prompt={"query": "Given a request for music, retrieve the songs, artists and albums that answer it."},
        **fields,
    )


class MusiCRSQueryOnlyReranking(AbsTaskRetrieval):
    """Text request to named music."""

    metadata = _metadata(
        "MusiCRSQueryOnlyReranking",
        "query_only",
        f"{_RANK} a request for music from a Reddit thread. 472 of 477 threads have a relevant candidate.",
        type="Reranking",
        category="t2t",
        modalities=["text"],
    )


class _AudioReranking(AbsTaskRetrieval):
    """Reranking with one sound per query, decoded with soundfile: torchcodec would need FFmpeg's libraries."""

    data_loaded: bool

    def load_data(self, num_proc: int | None = None, **kwargs: Any) -> None:  # noqa: ARG002
        """Load the tables, and decode the sounds of the queries."""
        from mteb.abstasks.retrieval_dataset_loaders import RetrievalDatasetLoader

        if self.data_loaded:
            return
        self.dataset: dict[str, Any] = {}
        for config in self.hf_subsets:
            for split in self.eval_splits:
                data = _loader(RetrievalDatasetLoader)(
                    self.metadata.dataset["path"], self.metadata.dataset["revision"], split=split, config=config
                ).load(num_proc=num_proc)
                data["queries"] = _decoded(data["queries"])
                self.dataset.setdefault(config, {})[split] = data
        self.data_loaded = True


class MusiCRSAudioOnlyReranking(_AudioReranking):
    """Sound to named music."""

    metadata = _metadata(
        "MusiCRSAudioOnlyReranking",
        "audio_only",
        f"{_RANK} the music that a Reddit post links to, {_SOUND}.",
        type="AudioReranking",
        category="a2t",
        modalities=["audio", "text"],
    )


class MusiCRSAudioQueryReranking(_AudioReranking):
    """Sound and text request to named music."""

    metadata = _metadata(
        "MusiCRSAudioQueryReranking",
        "audio_query",
        f"{_RANK} a request for music from a Reddit thread and the music that it links to, {_SOUND}.",
        type="AudioReranking",
        category="at2t",
        modalities=["audio", "text"],
    )


TASKS = {
    "query_only": MusiCRSQueryOnlyReranking,
    "audio_only": MusiCRSAudioOnlyReranking,
    "audio_query": MusiCRSAudioQueryReranking,
}


def local(task: type[AbsTaskRetrieval], folder: str, revision: str = "main") -> Any:
    """Return a task that reads a folder, or another repository on the Hub.

    Args:
        task: A class of this module.
        folder: Folder of `python -m musicrs_dataset mteb`, or `owner/name`.
        revision: Commit of the repository.

    Returns:
        The task, ready for `mteb.evaluate`.
    """
    metadata = task.metadata.model_copy(update={"dataset": {"path": str(folder), "revision": revision}})
    return type(task.__name__, (task,), {"metadata": metadata})()


def _loader(base: type) -> type:
    """Return a loader that reads sounds without decoding them."""

    class Undecoded(base):
        def _load_dataset_split(self, config: str, num_proc: int | None) -> Any:
            from datasets import Audio

            rows = super()._load_dataset_split(config, num_proc)
            return rows.cast_column("audio", Audio(decode=False)) if "audio" in rows.column_names else rows

    return Undecoded


def _decoded(queries: Any) -> Any:
    """Decode each sound when it is read, to the samples and their rate."""
    import soundfile

    def decode(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
        sounds = (soundfile.read(io.BytesIO(sound["bytes"]), dtype="float32") for sound in rows["audio"])
        return {"audio": [{"array": samples, "sampling_rate": rate} for samples, rate in sounds]}

    return queries.with_transform(decode, columns=["audio"], output_all_columns=True)
