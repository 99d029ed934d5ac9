"""CLAP of random weights: what it computes against the library's own processor, and what becomes of vectors."""

from __future__ import annotations

import io
import os
import pickle
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from baselines.audio_text.checkpoints import find_checkpoint
from baselines.audio_text.vectors import ClipExcerpt, ClipVectors, TextVectors, normalise
from baselines.data import Data, as_references
from baselines.launch import build_system
from baselines.system import Context, Task
from baselines.systems.clap import Clap, ClapEncoder
from musicrs_dataset.records import Clip, Thread
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import read_predictions
from musicrs_metric.runs.run_card import Modality
from tests.baselines.tiny_models import save_clap
from tests.baselines.tiny_towers import MODALITIES, few_threads, noise, run_in_processes, run_on_few, scores
from tests.baselines.toys import run_toy, thread

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
soundfile = pytest.importorskip("soundfile")

RATE = 48_000
TEXTS = ["Slow", "a longer name, of a dozen tokens or so, and then some more", "", "ノストス", "Slow dance"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_clap(tmp_path_factory.mktemp("clap"))


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Vectors of the few threads, which several tests share."""
    return tmp_path_factory.mktemp("vectors")


def encoder(folder: Path) -> ClapEncoder:
    return ClapEncoder(find_checkpoint(str(folder)), Context(modality="audio_query"))


def system(folder: Path, modality: Modality, *arguments: str, cache: Path | None = None) -> Clap:
    made = build_system("clap", modality, ["--weights", str(folder), *arguments], cache=cache)
    assert isinstance(made, Clap)
    return made


def clip(*parts: Any, name: str = "clip") -> Clip:
    """A clip of noise: each part is a number of seconds, or the seed of one second."""
    samples = np.concatenate([noise(1, RATE, seed) for seed in parts])
    file = io.BytesIO()
    soundfile.write(file, samples, RATE, format="WAV", subtype="FLOAT")
    return Clip(file.getvalue(), name, "AAAAAAAAAAA", 0.0, len(parts))


def of_library(folder: Path) -> tuple[Any, Any]:
    model = transformers.ClapModel.from_pretrained(folder).eval()
    return model, transformers.ClapProcessor.from_pretrained(folder)


def test_vectors_are_those_of_the_library(folder: Path) -> None:
    """Windows of exactly 10 s and texts through its own processor and model give the same."""
    model, processor = of_library(folder)
    windows = [noise(10, RATE, seed) for seed in range(2)]
    with torch.inference_mode():
        sound = processor(audio=windows, sampling_rate=RATE, return_tensors="pt")
        words = processor(text=TEXTS, return_tensors="pt", padding=True, truncation=True)
        found = model(**words, **sound)
    assert np.allclose(encoder(folder).embed_audio(windows), found.audio_embeds, atol=1e-5)
    assert np.allclose(encoder(folder).embed_text(TEXTS), found.text_embeds, atol=1e-5)


@pytest.mark.parametrize("seconds", [0.1, 3.3, 5.0, 9.99, 10.0])
def test_spectrograms_are_those_of_the_library(folder: Path, seconds: float) -> None:
    """Whatever the length: a short window is repeated as often as it fits in, and silence follows."""
    window = noise(seconds, RATE)
    expected = of_library(folder)[1](audio=[window], sampling_rate=RATE, return_tensors="pt")["input_features"]
    assert np.allclose(encoder(folder).log_mel([window]), expected, atol=1e-3)  # dB


def test_a_batch_is_as_good_as_one_by_one(folder: Path) -> None:
    """Texts of many lengths, and windows of several."""
    model = encoder(folder)
    windows = [noise(seconds, RATE) for seconds in (10, 3, 10, 0.5, 7)]
    assert np.allclose(model.embed_audio(windows), [model.embed_audio([w])[0] for w in windows], atol=1e-5)
    assert np.allclose(model.embed_text(TEXTS), [model.embed_text([text])[0] for text in TEXTS], atol=1e-5)


def test_a_vector_does_not_depend_on_its_neighbours(folder: Path) -> None:
    """Alone, together or backwards: the same bits, or two processes would not rank as one does."""
    context = Context(modality="audio_query")
    clips = [ClipExcerpt(clip(*seeds)) for seeds in ([1] * 12, [2] * 3, [3], [4] * 21)]
    together = ClipVectors(encoder(folder), context)(clips)
    alone = [ClipVectors(encoder(folder), context)([one])[0] for one in clips]
    backwards = ClipVectors(encoder(folder), context)(clips[::-1])[::-1]
    assert np.array_equal(together, alone)
    assert np.array_equal(together, backwards)
    texts = TextVectors(encoder(folder), context)(TEXTS)
    assert np.array_equal(texts, [TextVectors(encoder(folder), context)([text])[0] for text in TEXTS])


def test_long_texts_are_cut(folder: Path) -> None:
    """The model takes 32 tokens; what follows changes nothing, and nothing fails."""
    short, long, longer = encoder(folder).embed_text(["reverb", "reverb " * 200, "reverb " * 300])
    assert np.array_equal(long, longer)
    assert not np.array_equal(short, long)


def test_a_thread_is_the_mean_of_its_windows(folder: Path) -> None:
    """35 s in one clip and 4 s in another: windows from 0, 10, 20, 25 s and one of 4 s; normalise, mean, normalise."""
    long, short = clip(*range(35)), clip(*range(50, 54))
    samples, other = (np.concatenate([noise(1, RATE, seed) for seed in seeds]) for seeds in (range(35), range(50, 54)))
    model, processor = of_library(folder)
    windows = [samples[start * RATE : (start + 10) * RATE] for start in (0, 10, 20, 25)]
    with torch.inference_mode():
        inputs = processor(audio=[*windows, other], sampling_rate=RATE, return_tensors="pt")
        rows = torch.nn.functional.normalize(model.get_audio_features(**inputs).pooler_output, dim=-1)
        expected = torch.nn.functional.normalize(rows.mean(0), dim=-1)
    used_audio = system(folder, "audio_only")._thread_vectors([thread("t0", ["A"], clips=(long, short))])
    assert np.allclose(used_audio[0], expected, atol=1e-5)


def test_only_the_budget_is_heard(folder: Path) -> None:
    """With --seconds 20 the model gets 10 s of each of two clips. Later audio makes no difference."""
    one, other = clip(*range(12)), clip(*range(20, 29))
    changed = clip(*range(10), 90, 91)
    limited = system(folder, "audio_only", "--seconds", "20")
    first, second = (thread("t0", ["A"], clips=clips) for clips in ((one, other), (changed, other)))
    assert limited.audio_used(first) == [10.0, 9.0]
    assert np.array_equal(limited._thread_vectors([first]), limited._thread_vectors([second]))
    whole = system(folder, "audio_only")
    assert whole.audio_used(first) == [12.0, 9.0]
    assert not np.array_equal(whole._thread_vectors([first]), whole._thread_vectors([second]))


def test_three_modalities_rank_by_the_cosine(folder: Path, vectors: Path, tmp_path: Path) -> None:
    """audio_query is normalise(0.5 a + 0.5 t): its scores follow from those of clips and query alone."""
    found = {m: run_on_few("clap", m, tmp_path, "--weights", str(folder), cache=vectors) for m in MODALITIES}
    for modality, result in found.items():
        assert result.card.modality == modality
        assert result.card.outcomes == {"ok": len(few_threads())}
        assert result.card.missing_audio == {"audio_query": "text", "query_only": None, "audio_only": "zero"}[modality]
    made = system(folder, "audio_query", cache=vectors)
    for place, one in enumerate(few_threads()):
        used_audio, asked = made._audio_vectors([one]), made._texts([one.query or ""])
        length = np.linalg.norm(0.5 * used_audio + 0.5 * asked)
        by_name = {modality: scores(result.predictions[place]) for modality, result in found.items()}
        assert set(by_name["audio_query"]) == set(one.candidates)
        for name, score in by_name["audio_query"].items():
            halves = 0.5 * by_name["audio_only"][name] + 0.5 * by_name["query_only"][name]
            assert score == pytest.approx(halves / length, abs=1e-5)
        assert list(by_name["audio_query"].values()) == sorted(by_name["audio_query"].values(), reverse=True)


@pytest.mark.parametrize(("weight", "alone"), [("1", "audio_only"), ("0", "query_only")])
def test_the_weight_goes_from_words_to_sound(
    folder: Path, vectors: Path, tmp_path: Path, weight: str, alone: Modality
) -> None:
    """At either end the ranking is that of one side alone."""
    mixed, other = (
        run_on_few("clap", modality, tmp_path, "--weights", str(folder), "--audio-weight", weight, cache=vectors)
        for modality in (MODALITIES[0], alone)
    )
    for both, one in zip(mixed.predictions, other.predictions, strict=True):
        assert scores(both) == pytest.approx(scores(one), abs=1e-6)


class Counting(ClapEncoder):
    """Counts what is embedded."""

    done: ClassVar[Counter[str]] = Counter()

    def embed_audio(self, windows: Any) -> Any:
        self.done["windows"] += len({window.tobytes() for window in windows})
        return super().embed_audio(windows)

    def embed_text(self, texts: Any) -> Any:
        self.done["texts"] += len(texts)
        return super().embed_text(texts)


def test_each_text_and_clip_is_embedded_once(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not again in another batch, for a clip of the same content, in another modality, or in a later run."""
    monkeypatch.setattr(Clap, "Model", Counting)
    Counting.done.clear()
    same, other = clip(1, 2), clip(3)
    threads = [
        thread("t0", ["A", "B"], clips=(same, other)),
        thread("t1", ["B", "C"], clips=(replace(same, name="copy", video_id="BBBBBBBBBBB"),)),
        thread("t2", ["C", "A"], query="query of t0", clips=(other,)),
    ]
    for modality in MODALITIES:
        for one in threads:  # batches of one
            made = system(folder, modality, cache=tmp_path)
            made.rank([Task(one.without_labels())])
            made.close()
    assert Counting.done == {"windows": 2, "texts": 5}  # A, B, C and two queries


def test_cached_vectors_need_no_model(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run loads no weights; other weights find nothing that these left."""
    task = Task(thread("t0", ["A", "B"], clips=(clip(1),)))
    first = system(folder, "audio_query", cache=tmp_path / "vectors")
    ranked = first.rank([task])
    first.close()
    with monkeypatch.context() as patch:
        patch.setattr(transformers.ClapModel, "from_pretrained", lambda *_: pytest.fail("loaded"))
        assert system(folder, "audio_query", cache=tmp_path / "vectors").rank([task]) == ranked
    save_clap(tmp_path / "other", seed=1)
    changed = system(tmp_path / "other", "audio_query", cache=tmp_path / "vectors").rank([task])
    assert changed[0].scores != ranked[0].scores


@pytest.mark.figures
def test_two_processes_write_what_one_writes(
    folder: Path, vectors: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    """Other batches, another number of threads, an empty cache: the same bytes."""
    weights = ("--weights", str(folder))
    run_on_few("clap", "audio_query", tmp_path, *weights, cache=vectors)
    written = (tmp_path / "clap audio_query 0/predictions.jsonl").read_bytes()
    assert run_in_processes(2, "clap", tmp_path, environment, *weights) == written


def test_a_clip_that_cannot_be_decoded_fails_its_thread_alone(folder: Path, tmp_path: Path) -> None:
    """The log names the clip; the other threads are ranked as without it."""
    broken = Clip(b"no sound", "broken.flac", "AAAAAAAAAAA", 0.0, 1.0)
    threads = [thread(f"t{i}", ["A", "B"], clips=(clip(i), broken) if i == 1 else (clip(i),)) for i in range(3)]
    data = Data(threads, as_references(threads, "toy", "audio_only"))
    result = run_toy(system(folder, "audio_only"), data, tmp_path / "run")
    assert [p.outcome for p in read_predictions(tmp_path / "run/predictions.jsonl").predictions] == [
        None,
        "failed",
        None,
    ]
    assert result.card.outcomes == {"failed": 1, "ok": 2}
    assert "broken.flac: cannot be decoded" in (tmp_path / "run/failures.log").read_text()


def test_weights_as_published_load(folder: Path, tmp_path: Path) -> None:
    """The published ones are a pickle of tensors; the same weights give the same vectors, under a name of their own."""
    pickled = save_clap(tmp_path / "pickled", safe=False)
    assert (pickled / "pytorch_model.bin").exists()
    assert np.array_equal(encoder(pickled).embed_text(TEXTS), encoder(folder).embed_text(TEXTS))
    assert encoder(pickled).revision != encoder(folder).revision


class Payload:
    def __init__(self, file: Path) -> None:
        self._file = file

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self._file}",)


def test_code_in_weights_is_not_run(folder: Path, tmp_path: Path) -> None:
    """A pickle that would run a program is refused."""
    pickled = save_clap(tmp_path / "pickled", safe=False)
    torch.save({"logit_scale_a": Payload(tmp_path / "owned")}, pickled / "pytorch_model.bin")
    with pytest.raises(pickle.UnpicklingError):
        encoder(pickled).embed_text(TEXTS)
    assert not (tmp_path / "owned").exists()


def test_a_model_with_fusion_is_refused(tmp_path: Path) -> None:
    """It would want four spectrograms at once, one of them chosen at random."""
    fused = save_clap(tmp_path / "fused", fusion=True)
    with pytest.raises(UserError, match=r"expected .*: a CLAP model without fusion, such as laion/larger_clap"):
        encoder(fused).embed_audio([noise(1, RATE)])


def test_weights_that_lack_some_are_refused(folder: Path, tmp_path: Path) -> None:
    """Random numbers would take their place, with a warning at most."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, tmp_path / "model")
    weights = load_file(folder / "model.safetensors")
    del weights["text_projection.linear1.weight"]
    save_file(weights, tmp_path / "model/model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match=r"lacks text_projection\.linear1\.weight; expected a CLAP model"):
        encoder(tmp_path / "model").embed_text(TEXTS)


def test_the_card_names_the_model_that_was_chosen(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Another one of the Hub is not passed off as the published choice, nor its licence."""
    found = find_checkpoint(str(folder))
    monkeypatch.setattr("baselines.audio_text.dual.find_checkpoint", lambda _: found)
    declared = build_system("clap", "audio_only", ["--weights", "laion/clap-htsat-unfused@main"]).declaration
    assert (declared.model_id, declared.licence) == ("laion/clap-htsat-unfused", None)
    assert build_system("clap", "audio_only").declaration.model_id == "laion/larger_clap_music_and_speech"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--audio-weight", "1.5"], r"--audio-weight 1\.5: expected a number from 0 to 1"),
        (["--seconds", "0"], r"--seconds 0\.0: expected a positive number"),
        (["--seconds", "nan"], "--seconds nan: expected a positive number"),
        (["--seconds", "inf"], "--seconds inf: expected a positive number"),
        (["--weights", "/no/such"], "--weights /no/such: no such folder; expected a Hub id"),
    ],
)
def test_mistakes_end_in_one_line(folder: Path, arguments: list[str], message: str) -> None:
    """Before anything is loaded."""
    with pytest.raises(UserError, match=message):
        system(folder, "audio_query", *arguments)


def test_rows_are_brought_to_length_one() -> None:
    """(3, 4) becomes (0.6, 0.8); zeros stay zeros, without a warning."""
    assert normalise(np.array([[3, 4], [0, 0]], dtype=np.float32)).tolist() == [
        pytest.approx([0.6, 0.8]), [0, 0],
    ]  # fmt: skip


def test_a_thread_of_the_mini_dataset_is_heard_whole(folder: Path) -> None:
    """Its two clips of 8 to 12 s fit in the budget of 300 s."""
    one: Thread = few_threads()[0]
    assert system(folder, "audio_only").audio_used(one) == [clip.duration_s for clip in one.clips or ()]
