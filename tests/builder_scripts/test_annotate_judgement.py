"""What finished answers mean, and what keeps a thread from being finished."""

from __future__ import annotations

from dataclasses import replace

import pytest

from builder_scripts.annotate.answers import EntityAnswer, LinkAnswer, fit, no_answers
from builder_scripts.annotate.judgement import judge, problems
from builder_scripts.annotate.worklist import Entity

from .annotate_toy import OTHER_VIDEO, answered, item, judged, video


def test_nothing_is_decided_beforehand() -> None:
    """An untouched form has no answer but the derived query."""
    blank = no_answers(item())
    assert blank.category is None
    assert {link.valid for link in blank.links} == {None}
    assert {entity.relevant for entity in blank.entities} == {None}
    assert problems(item(), blank)


def test_verdicts() -> None:
    """Valid, discarded, corrected and added links; relevant, removed and recovered entities."""
    thread = item(links=3, entities=2)
    found = judged(
        thread, links="yn", instead={2: f"see https://youtu.be/{OTHER_VIDEO}?t=1m5s"}, entities="ny",
        more_links=f"https://m.youtube.com/watch?v={video(999)}\n\n", more_entities="Album:  Kind of   Blue \n",
        query="  slow\n jazz ",
    )  # fmt: skip
    links = [(link.verdict, link.proposed, link.video_id, link.start_s) for link in found.links]
    assert links == [
        ("valid", video(0), video(0), 0.0),
        ("invalid", video(1), video(1), 90.0),
        ("corrected", video(2), OTHER_VIDEO, 65.0),
        ("added", None, video(999), 0.0),
    ]
    assert found.links[2].url == f"https://www.youtube.com/watch?v={OTHER_VIDEO}&t=65s"
    assert [(entity.verdict, entity.kind, entity.name) for entity in found.entities] == [
        ("irrelevant", "song", "Song 0.0"),
        ("relevant", "song", "Song 0.1"),
        ("added", "album", "Kind of Blue"),
    ]
    assert found.query == "slow jazz"
    assert [link.video_id for link in found.kept_links()] == [video(0), OTHER_VIDEO, video(999)]


def test_what_is_not_about_music_needs_no_more() -> None:
    """A thread about something else is finished with its category; what was not answered is not in the judgement."""
    thread = item()
    answers = replace(no_answers(thread), category="other", done=True)
    assert problems(thread, answers) == []
    assert judge(thread, answers).links == ()
    assert judge(thread, answers).entities == ()


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"query": "  "}, "the query is empty"),
        ({"instead": {0: "https://vimeo.com/1"}}, "link 1: 'https://vimeo.com/1' names no YouTube video"),
        ({"more_links": "https://youtu.be/short"}, "missing links: 'https://youtu.be/short' names no YouTube video"),
        ({"more_links": f"youtu.be/{video(1)}"}, f"missing links: the video {video(1)} is there already"),
        ({"more_links": f"youtu.be/{OTHER_VIDEO}\nyoutu.be/{OTHER_VIDEO}?t=3"}, "is there already"),
        ({"more_entities": "So What"}, "found 'So What', expected song, artist or album, a colon and the name"),
        ({"more_entities": "song: “SONG 0.1”"}, "is there already"),
        ({"more_entities": 'album: ""'}, "expected song, artist or album"),
    ],
)
def test_typed_answers_are_checked(said: dict[str, object], problem: str) -> None:
    """What cannot be used is told in words."""
    thread = item()
    found = problems(thread, answered(thread, **said))  # type: ignore[arg-type]
    assert len(found) == 1
    assert problem in found[0]


def test_open_questions_are_counted() -> None:
    """A music thread needs every answer."""
    thread = item(links=2, entities=3)
    assert problems(thread, replace(no_answers(thread), category="music")) == [
        "2 links without an answer",
        "3 entities without an answer",
    ]


def test_a_link_is_not_both_valid_and_replaced() -> None:
    """Two answers to one link contradict each other."""
    thread = item(links=1)
    answers = replace(answered(thread), links=(LinkAnswer(video(0), True, f"https://youtu.be/{OTHER_VIDEO}"),))
    assert problems(thread, answers) == ["link 1 is both valid and replaced"]
    with pytest.raises(ValueError, match="both valid and replaced"):
        judge(thread, answers)


def test_answers_outlive_a_new_work_list() -> None:
    """Answers stay with their entity when others come and go; a new question reopens the thread."""
    thread = item(entities=2)
    answers = answered(thread, entities="ny")
    fewer = replace(thread, entities=thread.entities[:1])
    assert fit(fewer, answers).entities == (EntityAnswer("song", "Song 0.0", False),)
    assert fit(fewer, answers).done
    more = replace(thread, entities=(Entity("album", "New"), *thread.entities))
    assert [entity.relevant for entity in fit(more, answers).entities] == [None, False, True]
    assert not fit(more, answers).done
