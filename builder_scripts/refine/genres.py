"""Genre of each subreddit and macro-genre of each genre: those of the paper, and those that the user adds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT, GENRES, MACRO_GENRES, MACRO_OF_GENRE, genre_fault
from musicrs_metric.errors import UserError, plain, show, some

_SUBREDDIT = re.compile(r"[a-z0-9_.-]{2,50}")


def subreddit_name(text: str) -> str:
    """Return the name of a subreddit in the form of the rows: `/r/Jazz/` is `jazz`.

    Raises:
        ValueError: The text is no name of a subreddit.
    """
    name = text.strip().strip("/").lower().removeprefix("r/")
    if not _SUBREDDIT.fullmatch(name):
        raise ValueError(f"found {show(text)}, expected the name of a subreddit, such as jazz")
    return name


def genre_table(further: Mapping[str, str], where: str) -> dict[str, str]:
    """Add genres to those of the paper.

    Args:
        further: Genre by subreddit. A genre may be new.
        where: The setting, for messages.

    Returns:
        Genre by subreddit.

    Raises:
        UserError: A name cannot be that of a subreddit or a genre, or two spellings may mean one genre.
    """
    genres, spelling = dict(GENRE_OF_SUBREDDIT), {genre.casefold(): genre for genre in GENRES}
    for text, genre in further.items():
        try:
            subreddit = subreddit_name(text)
        except ValueError as error:
            raise UserError(f"{where}: {error}") from None
        if fault := genre_fault(genre):
            raise UserError(f"{where}: {plain(subreddit)} has the genre {show(genre)}; {fault}")
        other = spelling.setdefault(genre.casefold(), genre)
        if other != genre:
            raise UserError(f"{where}: found the genres {show(other)} and {show(genre)}; write one of them throughout")
        genres[subreddit] = genre
    return genres


def macro_table(further: Mapping[str, str], genres: Mapping[str, str], where: str) -> dict[str, str]:
    """Check the macro-genres of new genres.

    Args:
        further: Macro-genre by new genre. A macro-genre may be new.
        genres: See `genre_table`.
        where: The setting, for messages.

    Returns:
        The same macro-genres.

    Raises:
        UserError: A genre is not a new genre of a subreddit, a name cannot be that of a macro-genre, or two spellings
            may mean one macro-genre.
    """
    spelling: dict[str, str] = {}
    for genre, macro in further.items():
        if genre in GENRES:
            raise UserError(f"{where}: {genre} has the macro-genre {MACRO_OF_GENRE[genre]} in the paper; remove it")
        if genre not in genres.values():
            similar = get_close_matches(genre, sorted(set(genres.values()) - set(GENRES)), n=1)
            hint = f"; did you mean {similar[0]}?" if similar else ""
            raise UserError(f"{where}: found {show(genre)}, expected the new genre of a subreddit{hint}")
        if fault := genre_fault(macro, MACRO_GENRES):
            raise UserError(f"{where}: {plain(genre)} has the macro-genre {show(macro)}; {fault}")
        other = spelling.setdefault(macro.casefold(), macro)
        if other != macro:
            raise UserError(
                f"{where}: found the macro-genres {show(other)} and {show(macro)}; write one of them throughout"
            )
    return dict(further)


def require_genres(subreddits: Iterable[str], genres: Mapping[str, str], where: str) -> None:
    """Check that every subreddit has a genre.

    Args:
        subreddits: Names as in the rows.
        genres: See `genre_table`.
        where: The option or setting of a genre, with `{}` in place of the subreddit.

    Raises:
        UserError: A subreddit has no genre.
    """
    unknown = sorted(set(subreddits) - set(genres))
    if not unknown:
        return
    similar = get_close_matches(unknown[0], genres, n=1, cutoff=0.8)
    hint = f"; did you mean the subreddit {similar[0]}?" if similar else ""
    raise UserError(
        f"no genre is known of {some(unknown)}; name it with {where.format(unknown[0])}, one of {', '.join(GENRES)} or "
        f"a new one{hint}"
    )


def new_genres(subreddits: Iterable[str], genres: Mapping[str, str]) -> list[str]:
    """Return the genres of these subreddits that the paper does not have."""
    return sorted({genres[name] for name in subreddits} - set(GENRES))
