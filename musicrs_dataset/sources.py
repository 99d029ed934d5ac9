"""Sources of threads: the authors' file on disk or on the Hub, or the embedded mini dataset."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from musicrs_metric.base.hashing import file_sha256
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
    "Distractors were drawn from titles that other threads of the subreddit name. A title that is frequent in the "
    "pools, or relevant in another thread, is therefore less likely to be relevant here. A ranking by popularity is "
    "below chance, a ranking by rarity above it.",
    "A model extracted the titles from replies. They are not cleaned: some are artists or fragments, some contain "
    "HTML entities or Markdown, and titles with a comma were cut at it.",
    "A model wrote the queries from the posts.",
    "Videos disappear, so audio coverage differs between builds. A score with audio must state its coverage.",
)


@dataclass(frozen=True)
class About:
    """Origin and terms of a set of threads.

    Attributes:
        name: Source: "mini", a Hub id or a file name.
        license: Hub identifier of the licence of the data; "other" if parts have different terms.
        attribution: Authors and terms, in Markdown.
        citation: BibTeX, or "".
        toy: True if scores on it mean nothing.
        sha256: Hash of the file; None without a file.
        notes: Repairs and omissions of the import, one line each.
        limits: Limits of scores on the data, one line each.
        title: Title of the dataset.
        loads_as: Name for `load_dataset`, and name of the folder.
        closing: Markdown at the end of the card, or "".
        homepage: Web page, or "".
        license_name: Name of the terms if `license` is "other", in lower case with dashes; "" for none.
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
    """Threads in dataset order, with their origin and terms."""

    threads: list[Thread]
    about: About


def resolve_source(source: str | Path, clips: bool = True) -> Source:
    """Read the threads of a source.

    Args:
        source: A file, the Hub id of a dataset with the authors' file (such as "rohan2810/MusiCRS", or
            "rohan2810/MusiCRS@COMMIT"), or "mini".
        clips: True to synthesise the clips of the mini dataset; the published file has none.

    Returns:
        The threads, with their origin and terms.

    Raises:
        UserError: The file is missing or not as published, or the Hub is unreachable or lacks the file.
    """
    if str(source) == MINI:
        return _mini(clips)
    name, _, revision = str(source).partition("@")
    if is_repo_name(name) and not Path(source).exists():
        return _published(_download(name, revision or None), str(source))
    path = existing_file(source)
    return _published(path, path.name)


def existing_file(path: str | Path) -> Path:
    """Return the path of a file, or raise `UserError` if it is no file."""
    file = Path(path).expanduser()
    if file.is_file():
        return file
    found = "a directory" if file.is_dir() else "no such file"
    raise UserError(
        f"{path}: {found}; expected the authors' JSONL file, a Hub id such as {HUB_ID}, mini, or "
        "another corpus such as jsonl:PATH"
    )


def content_sha256(source: str | Path) -> str:
    """Hash the content of a source on this machine.

    Args:
        source: The authors' file, or "mini".

    Returns:
        sha256 in hexadecimal; for "mini", over the files that it is made from.
    """
    if str(source) != MINI:
        return file_sha256(existing_file(source))
    files = sorted(Path(__file__).with_name(MINI).glob("*.*"))
    return hashlib.sha256("".join(file_sha256(file) for file in files).encode()).hexdigest()


def _published(path: Path, name: str) -> Source:
    try:
        threads, repairs = import_upstream(path)
    except UserError as error:
        if ": no field " not in str(error):
            raise
        raise UserError(f"{error}; a file with fields of your own is read with --from jsonl:{path}") from error
    about = About(
        name=name,
        license="cc-by-4.0",
        attribution=(
            "Threads, pools and labels: MusiCRS by Rohan Surana, Amit Namburi, Gagan Mundada, Abhay Lal, Zachary "
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
        attribution="Written for the tests and the demonstration of this project. Every artist and title is invented.",
        toy=True,
        loads_as="musicrs_mini",
    )
    return Source(load_mini(clips=clips), about)


def _download(hub_id: str, revision: str | None) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, LocalEntryNotFoundError

    by_hand = f"download {HUB_FILE} by hand and give its path to --from"
    try:
        return Path(hf_hub_download(hub_id, HUB_FILE, repo_type="dataset", revision=revision))
    except LocalEntryNotFoundError as error:
        raise UserError(
            f"{hub_id}: found neither in the cache nor on the Hub ({missing_file_reason(error)}); {by_hand}"
        ) from error
    except EntryNotFoundError as error:
        raise UserError(f"{hub_id}: has no {HUB_FILE}; expected the authors' dataset, {HUB_ID}") from error
    except (HfHubHTTPError, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{hub_id}: cannot be downloaded from the Hub ({reason}); {by_hand}") from error
