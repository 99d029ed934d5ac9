"""Where the conversations come from: the authors' file on disk or on the Hub, or the embedded mini dataset."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from musicrs_metric.base.hub_errors import missing_file_reason
from musicrs_metric.base.paths import is_repo_name
from musicrs_metric.citation import BIBTEX
from musicrs_metric.errors import UserError

from .records import Thread
from .upstream import import_upstream

HUB_ID = "rohan2810/MusiCRS"
HUB_FILE = "merged_final_cleaned_music_clean_queries_with_candidates_enhanced_v2_100_candidates.jsonl"
MINI = "mini"

_PUBLISHED_LIMITS = (
    "Wrong candidates were drawn from what other threads of the subreddit named. A title that is common in the pools, "
    "or right in another thread, is therefore less likely to be right here: ranking by popularity falls below chance, "
    "ranking by rarity rises above it.",
    "Titles were extracted from replies by a model and are not cleaned: some are artists or fragments, some carry HTML "
    "entities or markdown, and titles with a comma were cut at it.",
    "Requests were written by a model from the posts.",
    "Videos disappear: audio coverage differs between builds, and a score with audio must state it.",
)


@dataclass(frozen=True)
class About:
    """What must be said of a set of conversations wherever it goes.

    Attributes:
        name: Where it came from: "mini", a Hub id or a file name.
        license: Hub identifier of the licence of the data; "other" where parts have different terms.
        attribution: Who made it and under which terms, in Markdown.
        citation: BibTeX, or "" where there is nothing to cite.
        toy: Whether scores on it mean nothing.
        sha256: Hash of the file, or None where there is no file.
        notes: What the import repaired or left out, one line each.
        limits: What scores on it cannot say, one line each.
        title: What people call it.
        loads_as: What `load_dataset` calls it once it is installed or loaded; also the name of its folder.
        closing: Markdown that ends its card, or "".
        homepage: Its page on the web, or "".
        license_name: What to call the terms where `license` is "other", in lower case with dashes; "" for none.
        license_link: File or URL with these terms; "" for none.
        languages: ISO 639 codes of the languages of the texts.
    """

    name: str
    license: str
    attribution: str
    citation: str = ""
    toy: bool = False
    sha256: str | None = None
    notes: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    title: str = "MusiCRS"
    loads_as: str = "musicrs"
    closing: str = ""
    homepage: str = ""
    license_name: str = ""
    license_link: str = ""
    languages: tuple[str, ...] = ("en",)


class Source(NamedTuple):
    """A set of conversations, in dataset order, and what must be said of it."""

    threads: list[Thread]
    about: About


def resolve_source(source: str | Path, clips: bool = True) -> Source:
    """Read the conversations that `source` names.

    Args:
        source: A file, the Hub id of a dataset that holds the authors' file (such as "rohan2810/MusiCRS"), or "mini".
        clips: Whether the mini dataset is to synthesise its clips; the published file carries none.

    Returns:
        The source.

    Raises:
        UserError: No such file, a Hub that cannot be reached or lacks the file, or a file that is not as published.
    """
    if str(source) == MINI:
        return _mini(clips)
    if is_repo_name(str(source)) and not Path(source).exists():
        return _published(_download(str(source)), str(source))
    path = existing_file(source)
    return _published(path, path.name)


def existing_file(path: str | Path) -> Path:
    """Return the path of a file, or raise `UserError` where it is none."""
    file = Path(path).expanduser()
    if file.is_file():
        return file
    found = "a directory" if file.is_dir() else "no such file"
    raise UserError(f"{path}: {found}; expected the authors' JSONL file, a Hub id such as {HUB_ID}, or mini")


def content_sha256(source: str | Path) -> str:
    """Hash what a source on this machine holds.

    Args:
        source: The authors' file, or "mini".

    Returns:
        sha256 in hexadecimal; for "mini" over the files that it is made from.
    """
    if str(source) != MINI:
        return file_sha256(existing_file(source))
    files = sorted(Path(__file__).with_name(MINI).glob("*.*"))
    return hashlib.sha256("".join(file_sha256(file) for file in files).encode()).hexdigest()


def file_sha256(path: Path) -> str:
    """Hash a file in hexadecimal, reading it in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _published(path: Path, name: str) -> Source:
    threads, repairs = import_upstream(path)
    about = About(
        name=name,
        license="cc-by-4.0",
        attribution=(
            "Conversations, pools and labels: MusiCRS by Rohan Surana, Amit Namburi, Gagan Mundada, Abhay Lal, Zachary "
            f"Novack, Julian McAuley and Junda Wu, published as [{HUB_ID}](https://huggingface.co/datasets/{HUB_ID}) "
            "under [CC BY 4.0](https://creativecommons.org/licenses/by/4.0/). Changes: fields renamed, damaged links "
            "repaired, genres added; no query, pool or label was altered."
        ),
        citation=BIBTEX,
        homepage=f"https://huggingface.co/datasets/{HUB_ID}",
        sha256=file_sha256(path),
        notes=(str(repairs),),
        limits=_PUBLISHED_LIMITS,
    )
    return Source(threads, about)


def _mini(clips: bool) -> Source:
    from .mini import load_mini

    about = About(
        name=MINI,
        license="apache-2.0",
        attribution="Written for the tests and the demonstration of this project; every artist and title is invented.",
        toy=True,
        loads_as="musicrs_mini",
    )
    return Source(load_mini(clips=clips), about)


def _download(hub_id: str) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, LocalEntryNotFoundError

    by_hand = f"download {HUB_FILE} by hand and give its path to --from"
    try:
        return Path(hf_hub_download(hub_id, HUB_FILE, repo_type="dataset"))
    except LocalEntryNotFoundError as error:
        raise UserError(
            f"{hub_id}: not in the cache and not to be had from the Hub ({missing_file_reason(error)}); {by_hand}"
        ) from error
    except EntryNotFoundError as error:
        raise UserError(f"{hub_id}: holds no {HUB_FILE}; expected the authors' dataset, {HUB_ID}") from error
    except (HfHubHTTPError, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{hub_id}: cannot be fetched from the Hub ({reason}); {by_hand}") from error
