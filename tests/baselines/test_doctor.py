"""What the doctor finds: of the environment, and of what keeps a system from running in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from baselines import registry
from baselines.commands import doctor
from baselines.commands.doctor import Device, environment_lines, lacks, missing_weights, systems_table
from baselines.registry import SYSTEMS

pytest.importorskip("torch")
pytest.importorskip("huggingface_hub")

SMALL, LARGE = Device("small GPU", 8.0, 2), Device("large GPU", 80.0, 2)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the Hub."""
    monkeypatch.setattr(doctor, "hub_cache", lambda: tmp_path)
    return tmp_path


def test_the_environment_fits_a_bug_report(cache: Path) -> None:
    """Python, packages, device with its memory, and room on the disk of the cache."""
    lines = list(environment_lines())
    assert lines[0].startswith("python 3.")
    assert "transformers " in lines[1]
    assert lines[2].startswith("device: ")
    assert str(cache) in lines[-1]
    assert lines[-1].endswith("GiB free on its disk")


NOT_NEEDED = "; this project reads clips without it, datasets needs Audio(decode=False)"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (None, "torchcodec 0.7.1"),
        (ModuleNotFoundError("No module named 'torchcodec'", name="torchcodec"), f"torchcodec 0.7.1{NOT_NEEDED}"),
        (
            RuntimeError("\nCould not load libtorchcodec.\nLikely causes:\n  1. FFmpeg"),
            f"torchcodec 0.7.1 does not load (Could not load libtorchcodec.){NOT_NEEDED}",
        ),
        (
            OSError("libavutil.so.58: cannot open shared object file"),
            f"torchcodec 0.7.1 does not load (libavutil.so.58: cannot open shared object file){NOT_NEEDED}",
        ),
    ],
)
def test_a_decoder_that_does_not_load_is_told(
    error: Exception | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the first line of the reason, and what follows from it."""

    def load(name: str) -> None:
        assert name == "torchcodec.decoders"
        if error is not None:
            raise error

    monkeypatch.setattr(doctor, "_version", lambda _package: "0.7.1")
    monkeypatch.setattr("baselines.commands.doctor.importlib.import_module", load)
    assert doctor.torchcodec_line() == expected


def test_every_system_has_a_row() -> None:
    """In the order of the registry."""
    assert [*systems_table().columns[0].cells] == list(SYSTEMS)


def test_memory_is_weighed_against_the_device() -> None:
    """15.6 GiB of weights in bfloat16 are twice that on a CPU; a system without a model takes nothing."""
    assert list(lacks("qwen2_audio", SMALL)) == ["memory: its weights take 15.6 GiB, small GPU has 8.0"]
    assert list(lacks("qwen2_audio", LARGE)) == []
    assert list(lacks("qwen2_audio", Device("CPU", 23.5, 4))) == ["memory: its weights take 31.2 GiB, CPU has 23.5"]
    assert list(lacks("qwen2_audio", Device("unknown", None, 2))) == []
    assert list(lacks("random", SMALL)) == []


def test_weights_are_looked_for_in_the_cache(cache: Path) -> None:
    """A snapshot with weights counts; one that holds no more than a configuration does not."""
    name = "Qwen/Qwen2-Audio-7B-Instruct"
    assert missing_weights("qwen2_audio") == [name]
    snapshot = cache / "models--Qwen--Qwen2-Audio-7B-Instruct/snapshots/abc"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    assert missing_weights("qwen2_audio") == [name]
    (snapshot / "model-00001-of-00005.safetensors").write_bytes(b"")
    assert missing_weights("qwen2_audio") == []
    assert missing_weights("popularity") == []


def test_packages_are_named_with_the_extra_that_brings_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `list` does."""
    monkeypatch.setattr(registry, "find_spec", lambda _name: None)
    assert next(lacks("lexical", LARGE)) == "packages bm25s: pip install 'musicrs[baselines]'"


def test_a_system_that_cannot_be_imported_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a row that says why, in the doctor's table and in that of `list`."""
    from baselines.commands import catalogue
    from baselines.recipes import shipped_recipes

    monkeypatch.setitem(SYSTEMS, "lexical", "baselines.systems.nowhere:Lexical")
    assert "No module named 'baselines.systems.nowhere'" in next(lacks("lexical", LARGE))
    table = catalogue.systems_table()
    assert [*table.columns[0].cells] == [*SYSTEMS, *shipped_recipes()]
    assert [*table.columns[5].cells][list(SYSTEMS).index("lexical")] == "broken"
