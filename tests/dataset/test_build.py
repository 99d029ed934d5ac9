"""The dataset folder: what is in it, that it appears as a whole, and what is refused."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import yaml

from baselines.data import as_references
from musicrs_dataset.checks import suspicious_rows
from musicrs_dataset.describe import describe
from musicrs_dataset.loading import load_threads
from musicrs_dataset.pools.files import NamedPools, read_named_pools
from musicrs_dataset.records import Clip, Thread
from musicrs_dataset.repo.build import build
from musicrs_dataset.schema import CONFIGS
from musicrs_dataset.sources import resolve_source
from musicrs_metric.errors import UserError
from musicrs_metric.runs.references import load_references

from .support import ABOUT, TINY, environment, thread, with_clips

OTHER_POOLS = {
    "t3_a": ("Elm", "Yew", "Birch"),
    "t3_b": ("Fir", "Yew"),
    "t3_c": ("Zinc", "Jet"),
    "t3_d": ("Moss", "Kelp"),
}


def tree(folder: Path) -> dict[str, str]:
    """Every file below a folder with its hash."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def front_matter(folder: Path) -> dict[str, Any]:
    """The YAML block of the card."""
    matter: dict[str, Any] = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    return matter


def test_macro_genres_of_new_genres(tmp_path: Path) -> None:
    """A stated macro-genre is in the data, and every reader groups by it; without one, nothing changes."""
    labels = {"t3_a": "IM", "t3_b": "IM", "t3_c": "Roots", "t3_d": "AE"}
    new = [
        replace(
            row,
            genre={"metal": "Folk"}.get(row.subreddit, row.genre),
            columns=(("macro_genre", labels[row.thread_id]),),
        )
        for row in TINY
    ]
    folder = build(new, tmp_path, about=ABOUT, configs=["query_only"])
    references = load_references(folder, "query_only")
    assert references.groups["macro"] == ["IM", "IM", "Roots", "AE"]
    assert as_references(load_threads(folder, "query_only"), "tiny", "query_only").groups == references.groups
    assert "| Folk | Roots | 1 | 25.0 % |" in (folder / "README.md").read_text(encoding="utf-8")
    about = describe(new)
    assert {name: share.threads for name, share in about.macro_genres.items()} == {"IM": 2, "AE": 1, "Roots": 1}
    assert about.to_dict()["stated_macro_genres"] == {"Jazz": "IM", "Indie": "AE", "Folk": "Roots"}
    assert "stated_macro_genres" not in describe(TINY).to_dict()
    contradiction = [replace(row, columns=(("macro_genre", row.thread_id),)) for row in new]
    odd = {finding.name: finding.where for finding in suspicious_rows(contradiction)}
    assert odd["several_macro_genres"] == ("t3_a", "t3_b")


def test_files(tiny: Path) -> None:
    """A folder per configuration, a card and a manifest; no script of the dataset's name, which `datasets` refuses."""
    shard = "test-00000-of-00001.parquet"
    assert set(tree(tiny)) == {
        "musicrs/README.md",
        "musicrs/manifest.json",
        f"musicrs/audio_query/{shard}",
        f"musicrs/query_only/{shard}",
        f"musicrs/audio_only/{shard}",
    }


def test_front_matter(tiny: Path) -> None:
    """The card names every configuration with its files, and audio_query as the default."""
    matter = front_matter(tiny / "musicrs")
    assert [config["config_name"] for config in matter["configs"]] == ["audio_query", "query_only", "audio_only"]
    assert [config["config_name"] for config in matter["configs"] if config.get("default")] == ["audio_query"]
    for config in matter["configs"]:
        assert config["data_files"] == [{"split": "test", "path": f"{config['config_name']}/test-*.parquet"}]
    assert matter["license"] == "cc0-1.0"


def test_configurations_share_a_fingerprint(tiny: Path) -> None:
    """Pools and labels are the same in all three; the manifest and the card say which they are."""
    prints = {load_references(tiny, config).fingerprint for config in CONFIGS}
    assert len(prints) == 1
    manifest = json.loads((tiny / "musicrs" / "manifest.json").read_text(encoding="utf-8"))
    assert {config["fingerprint"] for config in manifest["configs"].values()} == prints
    assert all(
        f"fingerprint {min(prints)}" in config["description"] for config in front_matter(tiny / "musicrs")["configs"]
    )


def test_manifest_holds_the_hash_of_every_shard(tiny: Path) -> None:
    """What the manifest says of a shard is what its bytes give."""
    manifest = json.loads((tiny / "musicrs" / "manifest.json").read_text(encoding="utf-8"))
    shards = {shard["path"]: shard["sha256"] for entry in manifest["configs"].values() for shard in entry["shards"]}
    assert shards == {path: found for path, found in tree(tiny / "musicrs").items() if path.endswith(".parquet")}
    assert all(entry["rows"] == len(TINY) for entry in manifest["configs"].values())


def test_same_input_same_bytes(tiny: Path, tmp_path: Path) -> None:
    """Building twice gives the same files to the byte."""
    build(TINY, tmp_path / "again", about=ABOUT)
    assert tree(tmp_path / "again") == tree(tiny)


def test_any_change_of_content_shows_in_the_card(tiny: Path) -> None:
    """`datasets` keys its cache by the card's front matter, so every configuration touched must change there."""
    before = {config["config_name"]: config["description"] for config in front_matter(tiny / "musicrs")["configs"]}
    build([*TINY[:3], replace(TINY[3], query="Another request?")], tiny, about=ABOUT)
    after = {config["config_name"]: config["description"] for config in front_matter(tiny / "musicrs")["configs"]}
    assert {name for name in CONFIGS if before[name] != after[name]} == {"audio_query", "query_only"}


def test_shards_and_row_groups(tmp_path: Path) -> None:
    """Audio is cut into shards by bytes, numbered in dataset order, and into row groups that a stream can hold."""
    threads = [with_clips(thread(f"t3_{i:02d}", "jazz", "Jazz", "Ash Elm", "Elm"), bytes(2**20)) for i in range(40)]
    folder = build(threads, tmp_path, about=ABOUT, configs=["audio_only"], shard_bytes=16 * 2**20)
    shards = sorted(path.name for path in (folder / "audio_only").iterdir())
    assert shards == [f"test-0000{i}-of-00002.parquet" for i in range(2)]
    groups = pyarrow.parquet.ParquetFile(folder / "audio_only" / shards[0]).metadata
    assert groups.row_group(0).num_rows == 32  # of a megabyte each
    assert [read.thread_id for read in load_threads(tmp_path, "audio_only")] == [read.thread_id for read in threads]


def test_audio_is_never_all_in_memory(tmp_path: Path) -> None:
    """Clips are let go once their row group is written."""
    alive = most = 0

    class Sound(bytes):
        def __new__(cls, content: bytes) -> Sound:
            nonlocal alive, most
            alive += 1
            most = max(most, alive)
            return super().__new__(cls, content)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def add_clips(of: Thread) -> Thread:
        return replace(of, clips=(Clip(Sound(bytes(2**20)), "0.flac", "AAAAAAAAAAA", 0.0, 1.0),))

    threads = [thread(f"t3_{i:03d}", "jazz", "Jazz", "Ash Elm", "Elm") for i in range(120)]
    build(threads, tmp_path, about=ABOUT, add_clips=add_clips)
    assert 32 <= most <= 40


def test_failing_build_leaves_the_old_dataset(tiny: Path) -> None:
    """An error half way changes nothing and leaves nothing behind."""
    before = tree(tiny)

    def fail(of: Thread) -> Thread:
        if of.thread_id == "t3_c":
            raise RuntimeError("no more audio")
        return of

    with pytest.raises(RuntimeError, match="no more audio"):
        build([*TINY, thread("t3_e", "jazz", "Jazz", "Ash Elm", "Elm")], tiny, about=ABOUT, add_clips=fail)
    assert tree(tiny) == before


def test_killed_build_leaves_the_old_dataset(tiny: Path, tmp_path: Path) -> None:
    """A build that is killed half way leaves the old dataset whole, and the next one clears its remains away."""
    before = tree(tiny)
    code = f"""
import os, signal
from musicrs_dataset.repo.build import build
from tests.dataset.support import ABOUT, TINY
def die(thread):
    if thread.thread_id == "t3_c":
        os.kill(os.getpid(), signal.SIGKILL)
    return thread
build(TINY[:3], {str(tiny)!r}, about=ABOUT, add_clips=die)
"""
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment(tmp_path / "home"))
    assert killed.returncode == -9
    assert {path: found for path, found in tree(tiny).items() if path.startswith("musicrs/")} == before
    assert load_references(tiny).thread_ids == [each.thread_id for each in TINY]
    build(TINY, tiny, about=ABOUT)
    assert tree(tiny) == before


def test_replacing_without_the_exchange_of_linux(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two folders cannot be swapped in one step the new dataset still takes the old one's place, alone."""

    def no_library(*arguments: object, **named: object) -> None:
        raise OSError

    monkeypatch.setattr("musicrs_dataset.repo.folders.ctypes.CDLL", no_library)
    build(TINY[:2], tiny, about=ABOUT)
    assert [each.thread_id for each in load_threads(tiny)] == ["t3_a", "t3_b"]
    assert [path.name for path in tiny.iterdir()] == ["musicrs"]


@pytest.mark.parametrize(
    ("threads", "told"),
    [
        ([], "no threads to build from"),
        ([TINY[0], TINY[0]], r"thread ids that appear more than once \(t3_a"),
        ([replace(TINY[0], ground_truth=("Oak",))], r"1 ground truth candidates that their pool lacks \(t3_a\)"),
        ([replace(TINY[0], candidates=("Elm", "Birch", "Elm"))], "1 candidates that appear twice in a pool"),
        ([replace(TINY[0], candidates=("Elm", "Birch", ' "" '))], "1 candidates that match nothing"),
        ([replace(TINY[0], genre="")], "1 threads without a genre, or with"),
    ],
)
def test_invalid_threads(tmp_path: Path, threads: Sequence[Thread], told: str) -> None:
    """Threads that no score could be computed on are refused, by name."""
    with pytest.raises(UserError, match=told):
        build(threads, tmp_path, about=ABOUT)


def test_nothing_else_is_replaced(tiny: Path, tmp_path: Path) -> None:
    """A folder that is no dataset is not replaced, and a dataset is not mistaken for the directory it lies in."""
    foreign = tmp_path / "work" / "musicrs"
    foreign.mkdir(parents=True)
    for name, text in (("thesis.txt", "precious"), ("manifest.json", '{"name": "another program"}')):
        (foreign / name).write_text(text)
        with pytest.raises(UserError, match="which no build wrote and this build would delete"):
            build(TINY, tmp_path / "work", about=ABOUT)
    assert (foreign / "thesis.txt").read_text() == "precious"
    with pytest.raises(UserError, match="give its parent directory"):
        build(TINY, tiny / "musicrs", about=ABOUT)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="a file, expected a directory"):
        build(TINY, tmp_path / "file", about=ABOUT)
    with pytest.raises(UserError, match=r"cannot be written .*Not a directory"):
        build(TINY, tmp_path / "file" / "below", about=ABOUT)


def test_what_a_user_adds_to_a_dataset_is_not_deleted(tmp_path: Path) -> None:
    """Notes or a git history inside a built dataset stop the next build; without them it replaces its own files."""
    folder = build(TINY, tmp_path, about=ABOUT)
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref")
    with pytest.raises(UserError, match=r"holds \.git/HEAD, which no build wrote"):
        build(TINY, tmp_path, about=ABOUT)
    assert (folder / ".git" / "HEAD").read_text() == "ref"
    (folder / ".git" / "HEAD").unlink()
    assert build(TINY, tmp_path, about=ABOUT, configs=["query_only"]) == folder


def test_only_leftovers_of_builds_are_cleared_away(tmp_path: Path) -> None:
    """A folder that looks like a leftover and names no process is somebody's own."""
    mine = tmp_path / ".musicrs.backup.part"
    mine.mkdir()
    build(TINY, tmp_path, about=ABOUT)
    assert mine.is_dir()


def test_a_link_is_not_built_over(tmp_path: Path) -> None:
    """A link in the place of the folder is refused, whether it leads anywhere or not."""
    (tmp_path / "musicrs").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UserError, match="a symbolic link, which a build would replace"):
        build(TINY, tmp_path, about=ABOUT)


def test_an_empty_folder_is_built_in(tmp_path: Path) -> None:
    """An empty folder holds nothing to lose."""
    (tmp_path / "musicrs").mkdir()
    assert load_threads(build(TINY, tmp_path, about=ABOUT), "query_only") == list(TINY)


def test_further_pools(tmp_path: Path) -> None:
    """Other pools stand beside the published ones under their own name, with a fingerprint of their own."""
    build(TINY, tmp_path, about=ABOUT, pools=[NamedPools("other", OTHER_POOLS)])
    plain, other = load_threads(tmp_path, "query_only"), load_threads(tmp_path, "query_only_other")
    assert plain == list(TINY)
    assert other == [replace(each, candidates=OTHER_POOLS[each.thread_id]) for each in TINY]
    names = [config["config_name"] for config in front_matter(tmp_path / "musicrs")["configs"]]
    assert names == [*CONFIGS, *(f"{name}_other" for name in CONFIGS)]
    prints = {load_references(tmp_path, f"{name}_other").fingerprint for name in CONFIGS}
    assert len(prints) == 1
    assert prints != {load_references(tmp_path).fingerprint}


@pytest.mark.parametrize(
    ("pools", "told"),
    [
        ([NamedPools("other", {"t3_a": ("Elm", "Birch")})], "3 threads have no pool"),
        ([NamedPools("other", OTHER_POOLS | {"t3_z": ("Elm",)})], "1 pools are for other threads"),
        ([NamedPools("other", OTHER_POOLS | {"t3_b": ("Elm",)})], "t3_b: its pool lacks 'Fir'"),
        ([NamedPools("other", OTHER_POOLS | {"t3_b": ("Fir", "Fir")})], "'other', .*appear twice in a pool"),
        ([NamedPools("o-t", OTHER_POOLS)], "pools named 'o-t'"),
        ([NamedPools("", OTHER_POOLS)], "pools named ''"),
        ([NamedPools("other", OTHER_POOLS), NamedPools("other", OTHER_POOLS)], "pools named 'other'"),
    ],
)
def test_wrong_pools(tmp_path: Path, pools: list[NamedPools], told: str) -> None:
    """Pools that do not belong to the threads, or have no name of their own, are refused before anything is written."""
    with pytest.raises(UserError, match=told):
        build(TINY, tmp_path / "out", about=ABOUT, pools=pools)
    assert not (tmp_path / "out").exists()


def test_pools_are_named_by_their_design(tmp_path: Path) -> None:
    """The design in the file or in the manifest beside it names the pools, unless the user does."""
    path = tmp_path / "p.jsonl"
    line = {"thread_id": "t3_a", "candidates": ["Elm"]}
    path.write_text(json.dumps(line), encoding="utf-8")
    with pytest.raises(UserError, match="found no pool design"):
        read_named_pools(path)
    path.with_suffix(".manifest.json").write_text('{"design": "balanced"}', encoding="utf-8")
    assert read_named_pools(path).name == "balanced"
    path.write_text(json.dumps({**line, "design": "fresh"}), encoding="utf-8")
    assert read_named_pools(path).name == "fresh"
    assert read_named_pools(path, "mine").name == "mine"


def test_progress_sees_every_thread(tmp_path: Path) -> None:
    """The loop that a progress bar wraps is the loop over threads."""
    seen: list[Thread] = []

    def track(threads: Sequence[Thread]) -> Iterable[Thread]:
        for each in threads:
            seen.append(each)
            yield each

    build(TINY, tmp_path, about=ABOUT, track=track)
    assert seen == list(TINY)


def test_card_of_a_toy(tmp_path: Path) -> None:
    """The card of the mini dataset says what it is before anything else, and claims nothing of the paper."""
    threads, about = resolve_source("mini", clips=False)
    card = (build(threads, tmp_path, about=about) / "README.md").read_text(encoding="utf-8")
    opening = card.split("---\n")[2].strip().splitlines()
    assert opening[0] == "# MusiCRS (toy)"
    assert opening[2].startswith("**A toy.**")
    assert "Table 1" not in card
    assert "2509.19469" not in card


def test_card_of_the_published_data(published: Path) -> None:
    """Licence, attribution, citation, statistics, chance and limits, with the figures of the reference."""
    card = (published / "musicrs" / "README.md").read_text(encoding="utf-8")
    matter = front_matter(published / "musicrs")
    assert (matter["license"], matter["size_categories"]) == ("cc-by-4.0", ["n<1K"])
    for told in (
        "CC BY 4.0",
        "Rohan Surana",
        "2509.19469",
        "3,589 in 3,829 places",
        "6,351 in 46,466 places",
        "| as published | 20.42 | 14.21 | 22.08 | 6.79 | 7.51 |",
        "23 are below the chance level of recall@20 and 24 below that of nDCG@20",
        "| distractors that the replies recommend (equal after normalisation) | 326 | 172 |",
        "| threads with an empty ground truth | 5 | 5 |",
        "70 doubled, 32 with a glued tail, 5 with a hidden id",
        "d41b77a08957276107f89402d7f15b423a45bd2739c6dca29ec039b50a4d4b08",
        "This build carries no audio",
    ):
        assert told in card, told
