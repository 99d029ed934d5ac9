"""The benchmark's seven genres: their subreddits and their macro-genres (MusiCRS paper, §3).

Other corpora may have genres of their own. Their macro-genres are in the column `macro_genre` of the dataset, if the
corpus states any.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

GENRE_OF_SUBREDDIT = {
    "classicalmusic": "Classical",
    "hiphopheads": "Hip-Hop",
    "popheads": "Pop",
    "electronicmusic": "Electronic",
    "metal": "Metal",
    "indieheads": "Indie",
    "postrock": "Indie",
    "jazz": "Jazz",
    "ambientmusic": "Jazz",
}

GENRES = ("Classical", "Hip-Hop", "Pop", "Electronic", "Metal", "Indie", "Jazz")

# Mainstream music, instrumental music, alternative and electronic.
MACRO_OF_GENRE = {
    "Hip-Hop": "MM",
    "Pop": "MM",
    "Classical": "IM",
    "Jazz": "IM",
    "Indie": "AE",
    "Metal": "AE",
    "Electronic": "AE",
}

MACRO_GENRES = ("MM", "IM", "AE")
MACRO_COLUMN = "macro_genre"  # column of the datasets that state macro-genres of their own
OTHER = "other"  # the macro-genre of a new genre that has none
_LONGEST = 40


def macro_of(genre: str, stated: str | None = None) -> str:
    """Return the macro-genre of a genre.

    Args:
        genre: A genre of the paper, or a new one.
        stated: The label of the column `macro_genre`. None or empty if the dataset states none.

    Returns:
        The stated macro-genre, else the paper's. `OTHER` for a new genre without one.
    """
    return stated or MACRO_OF_GENRE.get(genre, OTHER)


def in_order(genres: Iterable[str]) -> list[str]:
    """Return distinct genres: those of the paper in its order, then new ones by name."""
    return _in_order(genres, GENRES)


def macros_in_order(macros: Iterable[str]) -> list[str]:
    """Return distinct macro-genres: those of the paper in its order, then new ones by name, and `OTHER` last."""
    return sorted(_in_order(macros, MACRO_GENRES), key=OTHER.__eq__)


def _in_order(names: Iterable[str], known: Sequence[str]) -> list[str]:
    present = set(names)
    return [name for name in known if name in present] + sorted(present - set(known))


def genre_fault(genre: str, known: Iterable[str] = GENRES) -> str:
    """Return the reason why a text cannot name a genre or a macro-genre.

    Args:
        genre: A name of the paper, or a new one.
        known: The names of the paper: `GENRES` or `MACRO_GENRES`.

    Returns:
        The expectation that it breaks; empty for a valid name.
    """
    same = next((name for name in known if _folded(name) == _folded(genre)), genre)
    if same != genre:
        return f"expected {same}, as the benchmark spells it"
    if _folded(genre) in ("", "all", "overall", OTHER):
        return "expected the name of a genre; this word is not free"
    if genre != genre.strip() or not genre.isprintable() or len(genre) > _LONGEST:
        return f"expected at most {_LONGEST} printable characters without blanks at the ends"
    return ""


def _folded(genre: str) -> str:
    return "".join(letter for letter in genre.casefold() if letter.isalnum())
