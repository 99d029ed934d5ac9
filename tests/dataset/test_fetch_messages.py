"""Messages of YouTube and yt-dlp: final are removed, terminated, deleted, private and copyright, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musicrs_dataset.audio.fetch.failures import classify, shape
from musicrs_dataset.audio.fetch.kinds import kind_of, tidy

HINT = (
    ". Use --cookies-from-browser or --cookies for the authentication. See  https://github.com/yt-dlp/yt-dlp/wiki/FAQ"
    "#how-do-i-pass-cookies-to-yt-dlp  for how to manually pass cookies"
)
# Words that are final, or temporary, in a message of their own; here they are names of people, channels and levels.
NAMES = (
    "X",
    "Private Network Ltd",
    "Private video",
    "Deleted video. Removed",
    "This video has been removed by the uploader",
    "Try Again Later LLC",
    "Not A Bot Music",
    "Unavailable In Your Country Inc.",
    "HTTP Error 403",
    "Too Many Requests",
    "Terminated Tapes, Copyright & Sons",
)
FINAL = {
    "private": (
        f"Private video. Sign in if you've been granted access to this video{HINT}",
        "Private video. Sign in if you’ve been granted access to this video",
        "Video unavailable. This video is private",
        "This is a private video. Please sign in to verify that you may see it.",
        "PRIVATE VIDEO",
    ),
    "removed": (
        "This video has been removed by the uploader",
        "Video unavailable. This video has been removed by the uploader",
        "YouTube said: This video has been removed by the user.",
        "Sorry, this video has been removed",
        "This video has been removed for violating YouTube's Terms of Service",
        "This video has been removed for violating YouTube’s Community Guidelines",
        "This video has been removed for violating YouTube's policy on hate speech. Learn more about combating hate "
        "speech in your country.",
        "This video is no longer available because the YouTube account associated with this video has been terminated.",
        "This video is no longer available because the YouTube account associated with it has been terminated.",
        "The YouTube account associated with this video has been terminated due to multiple third-party notifications "
        "of copyright infringement.",
        "Video unavailable. This video is no longer available because the uploader has closed their YouTube account",
        "This video is no longer available because the YouTube account J. Doe Ltd. has been closed.",
        "This video has been deleted",
        "Video unavailable. This video was deleted by the user.",
        "Deleted video",
    ),
    "copyright": (
        *(f"This video is no longer available due to a copyright claim by {name}" for name in NAMES),
        *(
            f"Video unavailable. This video contains content from {name}, who has blocked it on copyright grounds"
            for name in NAMES
        ),
        '"9/11 The F..." This video is no longer available due to a copyright claim by Digital Rights Group Ltd.',
        "This video has been removed due to a copyright claim by X",
    ),
}
OPEN = {
    ("restricted", "region"): (
        "The uploader has not made this video available in your country",
        "This content is not available on this country domain due to a legal complaint",
        *(
            f"This video contains content from {name}, who has blocked it in your country on copyright grounds"
            for name in NAMES
        ),
        *(
            f"This video contains content from A and {name}, one or more of whom have blocked it in your country"
            for name in NAMES
        ),
        *(f"This video contains content from {name}. It is not available in your country." for name in NAMES),
    ),
    ("restricted", "members"): (
        "Join this channel to get access to members-only content like this video, and other exclusive perks.",
        "This video is only available to Music Premium members",
        *(
            f"This video is available to this channel's members on level: {name} (or any higher level)."
            for name in NAMES
        ),
    ),
    ("restricted", "age"): ("Sign in to confirm your age. This video may be inappropriate for some users.",),
    ("restricted", "payment"): ("This video requires payment to watch",),
    ("restricted", "protected"): ("This video is DRM protected",),
    ("restricted", "sign-in"): ("Please sign in", "This video is only available for registered users"),
    ("retry", "unavailable"): (
        "Video unavailable",
        "Video unavailable. This video is unavailable",
        "Video unavailable. This video is not available",
        "Video unavailable. This content isn’t available.",
        "Video unavailable. This video is no longer available",
        "This video isn't available anymore",
        "This video does not exist.",
    ),
    ("retry", "client"): (
        "Video unavailable. Playback on other websites has been disabled by the video owner",
        "The following content is not available on this app. Watch on the latest version of YouTube.",
        *(
            f"This video contains content from {name}, who has blocked it from display on this website or application"
            for name in NAMES
        ),
    ),
    ("retry", "address"): (
        "The playback of this video is not available from private networks",
        "All player responses are invalid. Your IP is likely being blocked by Youtube",
    ),
    ("retry", "rate limit"): (
        "Video unavailable. This content isn't available, try again later. The current session has been rate-limited "
        "by YouTube for up to an hour.",
        "This content isn’t available, try again later",
        "Unable to download API page: HTTP Error 429: Too Many Requests",
    ),
    ("retry", "bot check"): (
        f"Sign in to confirm you’re not a bot{HINT}",
        "Video unavailable. YouTube is requiring a captcha challenge before playback",
        "Private video. Sign in to confirm you're not a bot",  # two signs: the temporary one counts
    ),
    ("retry", "not yet"): (
        "Premieres in 4 hours",
        "Premiere will begin shortly",
        "This live event will begin in a few moments.",
        "We're processing this video. Check back later.",
    ),
    ("retry", "no format"): (
        "Requested format is not available. Use --list-formats for a list of available formats",
        "No video formats found!",
        '"Private video": Requested format is not available',
        "Private video: Requested format is not available",
    ),
    ("retry", "JavaScript"): ("nsig extraction failed: Some formats may be missing", "n challenge solving failed"),
    ("retry", "forbidden"): ("unable to download video data: HTTP Error 403: Forbidden",),
    ("retry", "not found"): ("HTTP Error 404: Not Found",),
    ("retry", "network"): ("HTTP Error 503: Service Unavailable", "Giving up after 3 retries"),
    ("retry", "other"): (
        "The page needs to be reloaded.",
        "Video unavailable. The page needs to be reloaded.",
        "Failed to extract any player response",
        "An error occurred. Please try again later. (Playback ID: abc)",
        "Dieses Video ist privat",
        "The title 'Private video' cannot be read",
    ),
}
ALL = [("gone", why, text) for why, texts in FINAL.items() for text in texts]
ALL += [(*kind, text) for kind, texts in OPEN.items() for text in texts]
OPENINGS = ("", "ERROR: ", "[youtube] okokokokokA: ", "\x1b[0;31mERROR:\x1b[0m [youtube] -lrVO3pPDP4: ", "  ")


@pytest.mark.parametrize(("status", "why", "text"), ALL)
def test_words(status: str, why: str, text: str) -> None:
    """Each message has its kind, with or without the parts that yt-dlp puts before it."""
    for opening in OPENINGS:
        kind = kind_of(tidy(opening + text))
        assert (kind.status, kind.why) == (status, why)
        assert kind.stops == (why == "rate limit")


@pytest.mark.parametrize(("status", "why", "text"), ALL)
def test_errors(status: str, why: str, text: str) -> None:
    """The stored reason of an error gives the same kind again, also where it is shortened."""
    from yt_dlp.utils import DownloadError, ExtractorError

    stated = ExtractorError(text, expected=True, video_id="okokokokokA")
    failure = classify(DownloadError(f"\x1b[0;31mERROR:\x1b[0m {stated}", (ExtractorError, stated, None)))
    assert (failure.kind.status, failure.kind.why) == (status, why)
    assert kind_of(failure.detail) == failure.kind
    assert len(failure.detail) <= 200


@given(st.sampled_from(NAMES) | st.text(min_size=1, max_size=300).filter(lambda text: "blocked it" not in text))
def test_names_decide_nothing(name: str) -> None:
    """Whatever a claimant, a channel or a title is called, the sentence around the name decides."""
    for sentence, status in [
        ("This video is no longer available due to a copyright claim by {}", "gone"),
        ("This video contains content from {}, who has blocked it on copyright grounds", "gone"),
        ("This video contains content from {}, who has blocked it in your country on copyright grounds", "restricted"),
        ("This video is available to this channel's members on level: {}", "restricted"),
    ]:
        assert kind_of(tidy(sentence.format(name))).status == status


@given(st.text(), st.sampled_from(NAMES))
def test_a_final_word_further_inside_decides_nothing(before: str, name: str) -> None:
    """Text of which the beginning is unknown is never final."""
    assert kind_of(tidy(f"The song xyz {before} {name}")).status != "gone"


def test_published_cases(cases: Path) -> None:
    """R07: words that come and go, or concern one client or network."""
    for line in (cases / "r07_messages.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        assert kind_of(tidy(case["says"])).status in case["right"], case


def test_equal_reasons() -> None:
    """Reasons are equal that differ in the id of the video and in numbers."""
    one, other = "okokokokokA", "-lrVO3pPDP4"
    assert shape(f"{one}: HTTP Error 403 after 12 s", one) == shape(f"{other}: HTTP Error 403 after 7 s", other)
    assert shape("no format", one) != shape("forbidden", other)
