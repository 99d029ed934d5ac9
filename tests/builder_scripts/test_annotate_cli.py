"""The commands on a work folder: from the corpus to the labels that later stages read."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from builder_scripts.annotate.annotation_store import AnnotationStore
from builder_scripts.annotate.cli import annotate
from builder_scripts.annotate.judgement import Judgement
from builder_scripts.annotate.prepare import work_items
from builder_scripts.annotate.worklist import Entity, Reply, read_worklist
from builder_scripts.layout import Work
from builder_scripts.lines import read_lines, write_lines
from builder_scripts.manifest import StageManifest
from builder_scripts.refine.schema import Answer, CorpusThread, write_corpus
from musicrs_dataset.records import Comment, Entities, Link
from musicrs_metric.errors import UserError

from .annotate_toy import OTHER_VIDEO, answered, item, judged, video
from .silver import post, reply, write_silver


def run(*arguments: object) -> Result:
    return CliRunner().invoke(annotate, [str(argument) for argument in arguments])


def corpus_thread() -> CorpusThread:
    return CorpusThread(
        thread_id="t3_a", subreddit="jazz", genre="Jazz", created_utc=1, score=3, query="slow jazz", post="p",
        submission_entities=Entities(songs=("Naima",), artists=("Trane",)),
        comments=(
            Comment("t1_1", 7.0, Entities(songs=("So What", "naima"), albums=("Blue",))),
            Comment("t1_2", None, Entities(songs=("So What",))),
        ),
        answers=(Answer("song", "So What", 7.0, "t1_1"),), ground_truth=("So What",), all_entities=("So What",),
        links=(Link("jNQXAC9IVRw", 12.0, "https://youtu.be/jNQXAC9IVRw?t=12"), Link(OTHER_VIDEO, 0, "u")),
    )  # fmt: skip


@pytest.fixture
def corpus(tmp_path: Path) -> Work:
    """A corpus of one thread; one of its videos has been fetched."""
    posts = [post("a", "Slow &amp; low?", "Like Naima"), post("b", "left out by refine", "")]
    replies = [reply("1", "a", "So What! and\nnaima"), reply("2", "a", "so what"), reply("3", "b", "x")]
    work = write_silver(tmp_path, posts, replies)
    write_corpus(work.corpus, [corpus_thread()])
    fetched = work.audio / "audio" / OTHER_VIDEO[:2] / f"{OTHER_VIDEO}.webm"
    fetched.parent.mkdir(parents=True)
    fetched.write_bytes(b"sound")
    return work


def test_prepare(corpus: Work) -> None:
    """Threads with their texts, answers first, then other names of their kind; what was fetched is told."""
    assert run("prepare", "--work", corpus.root).exit_code == 0
    (found,) = read_worklist(corpus.worklist)
    assert (found.thread_id, found.title, found.text, found.query) == ("t3_a", "Slow & low?", "Like Naima", "slow jazz")
    assert found.entities == (
        Entity("song", "So What", ("t1_1", "t1_2")),
        Entity("song", "naima", ("t1_1", "t3_a")),
    )
    assert found.replies == (Reply("t1_1", 7, "So What! and\nnaima"), Reply("t1_2", None, "so what"))
    assert [(link.video_id, link.start_s, link.status) for link in found.links] == [
        ("jNQXAC9IVRw", 12.0, "new"),
        (OTHER_VIDEO, 0.0, "ok"),
    ]


def test_a_corpus_of_other_threads(corpus: Work) -> None:
    """A corpus that does not go with the silver layer is refused."""
    write_corpus(corpus.corpus, [replace(corpus_thread(), thread_id="t3_z")])
    with pytest.raises(UserError, match="no thread t3_z of the corpus; run refine again"):
        work_items(corpus)
    strange = replace(corpus_thread(), comments=(Comment("t1_9", 1.0, Entities()),))
    write_corpus(corpus.corpus, [strange])
    with pytest.raises(UserError, match="no text of reply t1_9 to t3_a"):
        work_items(corpus)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"thread_id": "t3_0001"}, "the thread t3_0001 appears twice"),
        ({"links": [{"video_id": "../../evil", "start_s": 0.0, "url": "u", "status": "new"}]}, "no id of a video"),
        ({"links": [asdict(item().links[0])] * 2}, f"the video {video(0)} appears twice"),
        ({"entities": [asdict(item().entities[0])] * 2}, "the entity song: Song 0.0 appears twice"),
        ({"category": "musik"}, "line 1, category: "),
        ({"entities": [{"kind": "song"}]}, "line 1, entities.0.name: Field required"),
    ],
)
def test_work_lists_that_are_none(tmp_path: Path, change: dict[str, object], message: str) -> None:
    """What a work list may not hold is told with its thread or line."""
    path = tmp_path / "worklist.jsonl"
    rows = [asdict(item(0)) | change, asdict(item(1))]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(UserError) as error:
        read_worklist(path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.fixture
def judging(tmp_path: Path) -> Work:
    """Three threads; two annotators differ on one entity, and one thread is not about music."""
    work = Work(tmp_path)
    items = [item(number) for number in range(3)]
    write_lines(work.worklist, items)
    store = AnnotationStore(work.annotations)
    for name, said in (("Ann", "yyn"), ("Bob", "yyy")):
        store.join(name)
        store.save(name, answered(items[0], entities=said, links="yn"))
        store.save(name, answered(items[1], "other"))
    store.save("Ann", answered(items[2], more_links=f"youtu.be/{OTHER_VIDEO}"))
    return work


def test_agree_then_settle(judging: Work) -> None:
    """Agree lists the one disagreement; settled, the labels are made, and a second run has nothing to do."""
    result = run("agree", "--work", judging.root, "--json", "--resamples", 50)
    assert result.exit_code == 0
    figures = json.loads(result.stdout)
    assert figures["disagreements"] == {"entity": 1}
    assert figures["threads_by_judgements"] == {"1": 1, "2": 2}
    refused = run("settle", "--work", judging.root)
    assert isinstance(refused.exception, UserError)
    assert "1 disagreement not settled, in t3_0000" in str(refused.exception)

    path = judging.agreement / "disagreements.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    path.write_text(f"row,settled\n{row['row']},irrelevant\n", encoding="utf-8")
    result = run("settle", "--work", judging.root, "--decisions", path)
    assert result.exit_code == 0, result.exception
    assert "made" in result.stdout
    labels = read_lines(judging.labels, Judgement)
    assert labels == [
        replace(judged(item(0), entities="yyn", links="yn"), judges=2),
        replace(judged(item(1), "other"), judges=2),
        judged(item(2), more_links=f"youtu.be/{OTHER_VIDEO}"),
    ]
    assert "nothing to do" in run("settle", "--work", judging.root, "--decisions", path).stdout


def test_every_row_is_accounted_for(judging: Work) -> None:
    """Threads, links and entities in = kept + dropped by reason; what people added came in."""
    AnnotationStore(judging.annotations).save("Bob", answered(item(0), entities="yyn", links="yn"))
    assert run("settle", "--work", judging.root).exit_code == 0
    counts = {name: found.to_dict() for name, found in StageManifest.read(judging.gold, "annotate").counts.items()}
    left_out = "of a thread that was left out"
    assert counts == {
        "threads": {"in": 3, "kept": 2, "dropped": {"other": 1}},
        "links": {"in": 7, "kept": 4, "dropped": {"invalid": 1, left_out: 2}},
        "entities": {"in": 9, "kept": 5, "dropped": {"irrelevant": 1, left_out: 3}},
    }
    notes = StageManifest.read(judging.gold, "annotate").notes
    assert "links discarded: 1 of 6 (16.7 %; the paper 41.3 %)" in notes


def test_threads_that_nobody_judged(judging: Work) -> None:
    """They are named and stop the stage, unless they may be left out; then they are counted."""
    write_lines(judging.worklist, [item(number) for number in range(5)])
    refused = run("settle", "--work", judging.root, "--majority")
    assert isinstance(refused.exception, UserError)
    AnnotationStore(judging.annotations).save("Bob", answered(item(0), entities="yyn", links="yn"))
    refused = run("settle", "--work", judging.root)
    assert "2 of 5 threads are not judged: t3_0003, t3_0004" in str(refused.exception)
    assert run("settle", "--work", judging.root, "--partial").exit_code == 0
    assert StageManifest.read(judging.gold, "annotate").counts["threads"].dropped == {"other": 1, "not judged": 2}


def test_labels_in_place_of_annotators(tmp_path: Path) -> None:
    """A labels file is checked against the work list and becomes the labels."""
    work, given = Work(tmp_path / "work"), tmp_path / "given.jsonl"
    write_lines(work.worklist, [item(0), item(1)])
    labels = [judged(item(0), links="yn"), judged(item(1), "other")]
    write_lines(given, reversed(labels))
    assert run("settle", "--work", work.root, "--labels", given).exit_code == 0
    assert read_lines(work.labels, Judgement) == labels
    assert "nothing to do" in run("settle", "--work", work.root, "--labels", given).stdout

    for wrong, message in (
        ([judged(item(7))], "t3_0007 not in the work list"),
        ([replace(labels[0], links=())], f"no annotator judged {video(0)}, {video(1)}"),
        ([replace(labels[0], entities=judged(item(1)).entities)], "judged, but not in the work list"),
        (labels[:1], "1 of 2 threads are not judged: t3_0001"),
    ):
        write_lines(given, wrong)
        assert message in str(run("settle", "--work", work.root, "--labels", given).exception)
    assert "takes the place of" in str(run("settle", "--work", work.root, "--labels", given, "--majority").exception)


def test_tables_for_people(judging: Work) -> None:
    """Without --json the figures are told in tables, a kappa that chance explains as undefined."""
    result = run("agree", "--work", judging.root, "--resamples", 20)
    assert result.exit_code == 0
    for part in ("Ann 2, Bob 2", "1 with 1, 2 with 2", "all (Fleiss)", "Ann - Bob", "links discarded", "41.3 %"):
        assert part in result.stdout.replace("Ann 3", "Ann 2")


def test_before_there_is_anything(tmp_path: Path) -> None:
    """Each command says what to run first; nobody having judged is no error for `agree`."""
    for command in ("serve", "agree", "settle"):
        refused = run(command, "--work", tmp_path)
        assert "run `python -m builder_scripts annotate prepare` first" in str(refused.exception)
    assert "run `python -m builder_scripts refine` first" in str(run("prepare", "--work", tmp_path).exception)
    write_lines(Work(tmp_path).worklist, [item()])
    result = run("agree", "--work", tmp_path)
    assert result.exit_code == 0, result.exception
    assert "Threads finished: none" in result.stdout
