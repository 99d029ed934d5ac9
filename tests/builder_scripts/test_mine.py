"""Stage `mine` on whole dumps: the truth comes out, whatever happens on the way."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest
import zstandard
from typer.testing import CliRunner

from builder_scripts.cli import app
from builder_scripts.layout import Work
from builder_scripts.manifest import StageManifest
from builder_scripts.mine import ingest as ingest_module
from builder_scripts.mine.dumps import find_dumps, unnamed
from builder_scripts.mine.executors import default_workers, memory_per_worker
from builder_scripts.mine.ingest import ingest
from builder_scripts.mine.rows import bronze_schema
from builder_scripts.mine.run import Mining
from musicrs_metric.errors import UserError

from .conftest import Done, Made, mine
from .dump_lines import encode, submission
from .dumps import WANTED, write_dump

ROOT = Path(__file__).parents[2]


def rows(work: Work, kind: str) -> list[dict[str, Any]]:
    """All mined rows of a kind."""
    files = sorted((work.bronze / kind).glob("*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


def hashes(work: Work) -> dict[str, str]:
    """What the stage made, by file."""
    return {file.path: file.sha256 for file in StageManifest.read(work.bronze, "mine").outputs}


def posts(*names: str, subreddit: str = "jazz") -> list[bytes]:
    rng = random.Random(0)
    fields = {"subreddit": subreddit, "created_utc": 1_559_347_200, "title": "t"}
    return [encode(submission("2019-06", rng, id=name, **fields), "2019-06") + b"\n" for name in names]


# The truth


def test_every_line_is_accounted_for(made: Made, done: Done) -> None:
    """Lines kept, elsewhere, broken and malformed are those that were written as such."""
    for kind, counts in done.mined.counts().items():
        assert {"kept": counts.kept, **counts.dropped} == dict(made.truth.lines[kind])
        assert counts.add_up()
    assert done.mined.damaged == []


def test_rows_are_typed(done: Done) -> None:
    """Every file of a kind has the one schema, dumps of all years alike."""
    for kind in ("submissions", "comments"):
        files = list((done.work.bronze / kind).glob("*.parquet"))
        assert files
        assert all(pq.read_schema(file).equals(bronze_schema(kind)) for file in files)


def test_a_row_names_its_line(made: Made, done: Done, tmp_path: Path) -> None:
    """Dump and place lead back to the line that a row was made of."""
    import zstandard

    path = next(path for path in made.files if path.name.startswith("RC_2012-03"))
    text = zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(path.read_bytes()).read(-1)
    found = [row for row in rows(done.work, "comments") if row["dump"] == "RC_2012-03"]
    for row in (found[0], found[len(found) // 2], found[-1]):
        line = text[row["at"] : text.index(b"\n", row["at"] + 1)].decode(errors="replace")
        assert f"t1_{json.loads(line, strict=False)['id']}" == row["comment_id"]


def test_no_author_is_named(made: Made, done: Done) -> None:
    """No name of an author is in what is made, and each has one pseudonym."""
    made_of = rows(done.work, "submissions") + rows(done.work, "comments")
    assert len(made.truth.names) > 100
    for row in made_of:
        assert not made.truth.names.intersection(str(value) for value in row.values())
    assert len({row["author"] for row in made_of} - {None}) >= len(made.truth.names)


def test_manifest(made: Made, done: Done) -> None:
    """The manifest names every dump with its hash, as sha256sum has it, and what was made of it."""
    manifest = StageManifest.read(done.work.bronze, "mine")
    assert {file.path for file in manifest.inputs} == {path.as_posix() for path in made.files}
    first = manifest.inputs[0]
    printed = subprocess.run(["sha256sum", first.path], capture_output=True, text=True, check=True).stdout
    assert printed.split()[0] == first.sha256
    assert manifest.parameters["subreddits"] == sorted(WANTED)
    assert all((done.work.bronze / file.path).stat().st_size == file.bytes for file in manifest.outputs)


# Stopped and taken up again


def test_a_second_run_does_nothing(made: Made, done: Done) -> None:
    """What is mined is left as it is, manifest included."""
    before = {path: path.stat().st_mtime_ns for path in done.work.bronze.rglob("*")}
    again = mine([made.folder], done.work)
    assert again.n_new == 0
    assert {path: path.stat().st_mtime_ns for path in done.work.bronze.rglob("*")} == before


def test_what_has_changed_is_mined_again(tmp_path: Path) -> None:
    """A dump that was replaced, and rows that are gone, are mined again, and nothing else."""
    dumps, work = tmp_path / "dumps", Work(tmp_path / "work")
    for name in ("RS_1.zst", "RS_2.zst", "RS_3.zst"):
        write_dump(dumps / name, posts("a"))
    assert mine([dumps], work).n_new == 3
    write_dump(dumps / "RS_1.zst", posts("a", "b"))
    (work.submissions / "RS_2.parquet").unlink()
    again = mine([dumps], work)
    assert (again.n_new, len(rows(work, "submissions"))) == (2, 4)
    assert mine([dumps], work, ["metal"]).n_new == 3


def test_killed_at_any_point(made: Made, done: Done, tmp_path: Path) -> None:
    """Runs that are killed at twenty points end with the same files as one that was left alone."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    started = time.monotonic()
    _mine_alone(made.files, tmp_path / "unhurried", done.work)
    alone = time.monotonic() - started
    rng = random.Random(3)
    killed = 0
    for turn in range(4):
        work = Work(tmp_path / str(turn))
        while killed < 5 * (turn + 1):
            process = context.Process(target=_mine_alone, args=(made.files, work.root, done.work))
            process.start()
            process.join(rng.uniform(0, alone / 3))
            killed += process.is_alive()
            process.kill()
            process.join()
            for report in work.bronze.glob("*/_*.json"):  # what is said to be done is done
                pq.read_table(report.with_name(f"{report.stem[1:]}.parquet"))
            if len(list(work.bronze.glob("*/_*.json"))) == len(made.files):
                shutil.rmtree(work.root)
        _mine_alone(made.files, work.root, done.work)
        assert mine([made.folder], work).n_new == 0
        assert hashes(work) == hashes(done.work)
        assert not list(work.root.rglob("*.tmp"))


def _mine_alone(files: Sequence[Path], root: Path, salted_as: Work) -> None:
    """Mine dump by dump in this process, with pseudonyms as in another folder."""
    work = Work(root)
    work.salt.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(salted_as.salt, work.salt)
    for job in Mining(find_dumps(files), work, WANTED).jobs:
        ingest(job)


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    """A command that is killed leaves no process behind that still writes."""
    many = b"".join(posts(*map(str, range(1_000))))
    for name in ("RS_1.zst", "RS_2.zst"):
        write_dump(tmp_path / "dumps" / name, [many] * 200)
    options = [str(tmp_path / "dumps"), "--work", str(tmp_path / "work"), "--workers", "2"]
    command = [sys.executable, "-m", "builder_scripts", "mine", *options]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True) as parent:
        partial = _wait_for(lambda: list((tmp_path / "work").rglob("*.tmp")))
        worker = int(partial[0].name.split(".")[-2])
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert worker != parent.pid
    _wait_for(lambda: not Path(f"/proc/{worker}").exists())


def _wait_for(condition: Any) -> Any:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.01)
    pytest.fail("waited for 30 s in vain")


# Damaged dumps


def test_damaged_dumps(tmp_path: Path) -> None:
    """A dump cut short, one that is no zstd and an empty one are named; the rest is mined; the exit code says so."""
    dumps, work = tmp_path / "dumps", tmp_path / "work"
    noise = random.Random(5)
    lines = [
        line[:-2] + b',"x":"%b"}\n' % noise.randbytes(2_000).hex().encode() for line in posts(*map(str, range(99)))
    ]
    whole = write_dump(dumps / "RS_cut.zst", lines)
    whole.write_bytes(whole.read_bytes()[:-1_000])
    (dumps / "RS_html.zst").write_text("<html>404</html>")
    (dumps / "RS_empty.zst").touch()
    write_dump(dumps / "RS_good.zst", posts("a", "b"))
    run = CliRunner().invoke(app, ["mine", str(dumps), "--work", str(work), "--workers", "2"])
    assert run.exit_code == 1
    size = whole.stat().st_size
    assert f"DAMAGED {whole}: is cut short: it ends inside a frame at compressed byte {size:,}" in run.output
    assert f"DAMAGED {dumps / 'RS_html.zst'}: does not decode before compressed byte 16" in run.output
    assert f"DAMAGED {dumps / 'RS_empty.zst'}: is cut short" in run.output
    found = rows(Work(work), "submissions")
    assert {row["thread_id"] for row in found if row["dump"] == "RS_good"} == {"t3_a", "t3_b"}
    cut = [row["thread_id"] for row in found if row["dump"] == "RS_cut"]
    assert 0 < len(cut) < 99
    assert cut == [f"t3_{n}" for n in range(len(cut))]
    manifest = StageManifest.read(Work(work).bronze, "mine")
    assert manifest.counts["submissions"].to_dict() == {"in": len(cut) + 3, "kept": len(cut) + 2, "dropped": {"cut": 1}}
    assert len(manifest.notes) == 3
    assert CliRunner().invoke(app, ["mine", str(dumps), "--work", str(work)]).exit_code == 1
    for path in (dumps / "RS_html.zst", dumps / "RS_empty.zst"):
        path.unlink()
    write_dump(whole, lines)
    mended = CliRunner().invoke(app, ["mine", str(dumps), "--work", str(work)])
    assert (mended.exit_code, len(rows(Work(work), "submissions"))) == (0, 101)


def test_many_broken_lines(tmp_path: Path) -> None:
    """A few broken lines are a crawler's accident; very many are a damaged file."""
    broken = [b'{"subreddit":"jazz", oh\n'] * 101
    write_dump(tmp_path / "RS_1.zst", [*posts("a"), *broken])
    write_dump(tmp_path / "RS_2.zst", [*posts("a"), *broken[:100]])
    mined = mine([tmp_path], Work(tmp_path / "work"))
    assert [report.damage for report in mined.reports] == [
        "holds 101 broken lines among 102 of the wanted subreddits",
        "",
    ]


# What may be asked


def test_any_subreddit(tmp_path: Path) -> None:
    """Any community can be mined, in any case, and names with special characters mean themselves."""
    lines = posts("a", subreddit="r.b") + posts("b", subreddit="rxb") + posts("c", subreddit="Metal")
    write_dump(tmp_path / "RS_1.zst", lines)
    mine([tmp_path], Work(tmp_path / "work"), ["R.B", "r/metal"])
    assert [row["thread_id"] for row in rows(Work(tmp_path / "work"), "submissions")] == ["t3_a", "t3_c"]


def test_a_misspelt_subreddit(tmp_path: Path) -> None:
    """It is told with what was meant, rows that make way are told before, and the exit code is 1."""
    write_dump(tmp_path / "RS_1.zst", posts("a", "b") + posts("c", subreddit="Baroque"))
    write_dump(tmp_path / "RS_2.zst", posts("d", subreddit="jazz"))

    def run(*subreddits: str) -> tuple[int, str]:
        options = [word for name in subreddits for word in ("--subreddit", name)]
        done = CliRunner().invoke(app, ["mine", str(tmp_path), "--work", str(tmp_path / "work"), *options])
        return done.exit_code, done.stderr

    assert run("jazz")[0] == 0
    code, told = run("jaz", "baroq", "polka")
    assert code == 1
    assert "in place of 3 rows of jazz, which an earlier run has mined; to keep them, take another work folder" in told
    assert "no row of the subreddit jaz is in the dumps; did you mean jazz?" in told
    assert "no row of the subreddit baroq is in the dumps; did you mean baroque?" in told
    assert "no row of the subreddit polka is in the dumps; they begin with posts of baroque, jazz\n" in told
    code, told = run("jazz")
    assert (code, "in place of" in told) == (0, False)  # of nothing


def test_a_misspelt_subreddit_ends_a_whole_run(tmp_path: Path) -> None:
    """Before any later stage, also where it has a genre; the message says where to mend it."""
    write_dump(tmp_path / "RS_1.zst", posts("a"))
    write_dump(tmp_path / "RC_1.zst", [])
    settings = tmp_path / "run.yaml"
    settings.write_text(
        "work: work\nmine: {dumps: [RS_1.zst, RC_1.zst], subreddits: [jaz]}\n"
        "refine: {genres: {jaz: Jazz}}\nrelease: {name: x}\n"
    )
    with pytest.raises(UserError, match=r"no row of the subreddit jaz .* did you mean jazz\?; fix mine.subreddits"):
        CliRunner().invoke(app, ["all", "--config", str(settings)], catch_exceptions=False)
    assert not (tmp_path / "work" / "silver").exists()


def test_dumps_need_not_hold_all_subreddits_of_the_paper(tmp_path: Path) -> None:
    """Where none was named, one that is there will do, and none at all will not."""
    write_dump(tmp_path / "some" / "RS_1.zst", posts("a"))
    write_dump(tmp_path / "none" / "RS_1.zst", posts("a", subreddit="cooking"))
    done = [
        CliRunner().invoke(app, ["mine", str(tmp_path / name), "--work", str(tmp_path / "work" / name)])
        for name in ("some", "none")
    ]
    assert [each.exit_code for each in done] == [0, 1]
    assert "no row of any subreddit of the paper is in the dumps; they begin with posts of cooking" in done[1].stderr


def test_which_files(tmp_path: Path) -> None:
    """Folders are searched at any depth, and the largest dump comes first."""
    small, large = tmp_path / "a" / "RC_2012-03.zst", tmp_path / "b" / "c" / "jazz_submissions.zst"
    for path, size in ((small, 10), (large, 20)):
        path.parent.mkdir(parents=True)
        path.write_bytes(bytes(size))
    assert [(dump.path, dump.kind) for dump in find_dumps([tmp_path, small])] == [
        (large, "submissions"),
        (small, "comments"),
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("RS_2023-01.zst", "submissions"), ("rc_2023-01.ZST", "comments"), ("jazz_submissions.zst", "submissions"),
        ("r_Jazz_posts.jsonl", "submissions"), ("r_Jazz_comments.jsonl", "comments"), ("Jazz_posts.zst", "submissions"),
        ("r_Jazz_posts (1).jsonl", "submissions"), ("jazz_comments.jsonl.zst", "comments"),
        ("RC_2011.ndjson", "comments"),
        ("comments.jsonl", None), ("r_Jazz.jsonl", None), ("RS_2023-01.txt", None), ("answers.jsonl", None),
    ],
)  # fmt: skip
def test_names(tmp_path: Path, name: str, kind: str | None) -> None:
    """Each source of dumps has its names; a single file without a kind in its name is refused."""
    (tmp_path / name).write_bytes(b"x")
    if kind is None:
        with pytest.raises(UserError, match="neither submissions nor comments; expected RS_"):
            find_dumps([tmp_path / name])
    else:
        assert [dump.kind for dump in find_dumps([tmp_path])] == [kind]


def test_plain_and_compressed_dumps(tmp_path: Path) -> None:
    """A plain file gives the same rows as a compressed one; other plain files in a folder are named and skipped."""
    lines = b"".join(posts("a", "b"))
    write_dump(tmp_path / "zst" / "r_jazz_posts.zst", [lines])
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "r_jazz_posts.jsonl").write_bytes(b"\xef\xbb\xbf" + lines)
    (tmp_path / "plain" / "Jazz.jsonl").write_bytes(lines)
    found = []
    for name in ("zst", "plain"):
        arguments = ["mine", str(tmp_path / name), "--work", str(tmp_path / "work" / name), "--subreddit", "jazz"]
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
        assert ("skipped Jazz.jsonl: expected RS_*" in " ".join(done.stderr.split())) is (name == "plain")
        mined = rows(Work(tmp_path / "work" / name), "submissions")
        found.append([{key: row[key] for key in ("thread_id", "title", "created_utc")} for row in mined])
    assert found[0] == found[1]
    assert len(found[0]) == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: b"<html>404</html>",
        lambda lines: lines.decode().encode("utf-16"),
        lambda lines: json.dumps([json.loads(line) for line in lines.splitlines()]).encode(),
        lambda lines: b"".join(json.dumps(json.loads(line), indent=1).encode() + b"\n" for line in lines.splitlines()),
        lambda lines: json.dumps({"data": [json.loads(line) for line in lines.splitlines()]}).encode(),
        zstandard.ZstdCompressor().compress,
    ],
    ids=["page", "UTF-16", "array", "indented", "wrapped", "compressed"],
)
def test_files_that_are_no_dumps(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    """A file of another form is damaged, although the dump next to it is good; an empty one is a dump without lines."""
    (tmp_path / "r_jazz_posts.jsonl").write_bytes(change(b"".join(posts("a", "b"))))
    (tmp_path / "r_folk_posts.jsonl").write_bytes(b"".join(posts("c")))
    (tmp_path / "r_rock_posts.jsonl").touch()
    mined = mine([tmp_path], Work(tmp_path / "work"))
    damage = {Path(report.path).stem: report.damage for report in mined.reports}
    assert damage["r_jazz_posts"].startswith("is no dump: expected one JSON object per line with its subreddit, found ")
    assert (damage["r_folk_posts"], damage["r_rock_posts"]) == ("", "")


def test_dumps_in_another_form_are_named(tmp_path: Path) -> None:
    """Other compressions, unfinished downloads and tables are skipped with a message, in folders of good dumps."""
    write_dump(tmp_path / "RS_2019-06.zst", posts("a"))
    others = ["RC_2019-06.xz", "RC_2019-07.zst.part", "r_jazz_comments.csv"]
    for name in (*others, "README.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in unnamed([tmp_path])] == others


def test_a_file_of_the_other_kind(tmp_path: Path) -> None:
    """A dump whose name tells the wrong kind is damaged, and the message says what may be wrong."""
    line = {"subreddit": "jazz", "created_utc": 1_559_347_200, "link_id": "t3_a", "parent_id": "t3_a", "body": "x"}
    write_dump(tmp_path / "RS_1.zst", [json.dumps(line | {"id": f"c{n}"}).encode() + b"\n" for n in range(150)])
    mined = mine([tmp_path], Work(tmp_path / "work"))
    assert mined.counts()["submissions"].to_dict() == {"in": 150, "kept": 0, "dropped": {"malformed": 150}}
    assert "does its name say submissions where it holds comments" in mined.reports[0].damage


@pytest.mark.parametrize(
    ("names", "place", "message"),
    [
        ([], "nowhere", "no such file"),
        (["x.txt"], ".", "it holds x.txt"),
        (["reddit.zst"], ".", "neither submissions nor comments"),
        (["a/RS_1.zst", "b/RS_1.zst"], ".", "same name"),
    ],
)
def test_no_dumps(tmp_path: Path, names: Sequence[str], place: str, message: str) -> None:
    """Each mistake in what is given is told in one line."""
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(UserError, match=message):
        find_dumps([tmp_path / place])


def test_memory_is_known_beforehand(tmp_path: Path) -> None:
    """The window in a dump's header decides how many dumps fit into memory at once."""
    paths = [write_dump(tmp_path / f"RS_{log}.zst", posts("a"), window_log=log) for log in (20, 31)]
    small, large = (find_dumps([path]) for path in paths)
    assert memory_per_worker(large) - memory_per_worker(small) == (1 << 31) - (1 << 20)
    assert 2.0 < memory_per_worker(large) / 2**30 < 2.5
    assert default_workers(small * 999) == os.cpu_count()


@pytest.mark.figures
def test_memory_does_not_grow_with_the_dump(tmp_path: Path) -> None:
    """Eight times the lines take no more memory."""
    block = b"".join(posts(*map(str, range(1_000))))
    peaks = []
    for name, blocks in (("RS_small", 8), ("RS_large", 64)):
        path = write_dump(tmp_path / f"{name}.zst", [block] * blocks, window_log=20)
        process = multiprocessing.get_context("spawn").Process(target=_mine_in_small_groups, args=(path, tmp_path))
        process.start()
        process.join()
        peaks.append(json.loads((tmp_path / "bronze" / "submissions" / f"_{name}.json").read_text())["peak_rss"])
    assert peaks[1] < 1.1 * peaks[0]


def _mine_in_small_groups(path: Path, work: Path) -> None:
    with patch.object(ingest_module, "ROWS_PER_GROUP", 2_000):
        mine([path], Work(work))


@pytest.mark.parametrize("executor", ["ray", "dask"])
def test_absent_executor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: str) -> None:
    """An executor that is not installed is told with the command that brings it."""
    for module in ("ray", "dask", "dask.distributed"):
        monkeypatch.setitem(sys.modules, module, None)
    path = write_dump(tmp_path / "RS_1.zst", posts("a"))
    with pytest.raises(UserError, match=f"pip install '{executor}"):
        Mining(find_dumps([path]), Work(tmp_path / "work"), WANTED).run(1, executor)  # type: ignore[arg-type]
