"""The benchmark's seven genres: their subreddits and their macro-genres (MusiCRS paper, §3).

Other corpora may have genres of their own; these have no macro-genre.
"""

from __future__ import annotations

from collections.abc import Iterable

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

OTHER = "other"  # the macro-genre of every genre that the paper does not have
_LONGEST = 40


def macro_of(genre: str) -> str:
    """Return the macro-genre of a genre; `OTHER` for a genre that the paper does not have."""
    return MACRO_OF_GENRE.get(genre, OTHER)


def in_order(genres: Iterable[str]) -> list[str]:
    """Return distinct genres: those of the paper in its order, then new ones by name."""
    present = set(genres)
    return [genre for genre in GENRES if genre in present] + sorted(present - set(GENRES))


def genre_fault(genre: str) -> str:
    """Return the reason why a text cannot name a genre.

    Args:
        genre: A genre of the paper, or the name of a new one.

    Returns:
        The expectation that it breaks; empty for a valid name.
    """
    same = next((known for known in GENRES if _folded(known) == _folded(genre)), genre)
    if same != genre:
        return f"expected {same}, as the benchmark spells it"
    if _folded(genre) in ("", "all", "overall", OTHER):
        return "expected the name of a genre; this word is not free"
    if genre != genre.strip() or not genre.isprintable() or len(genre) > _LONGEST:
        return f"expected at most {_LONGEST} printable characters without blanks at the ends"
    return ""


def _folded(genre: str) -> str:
    return "".join(letter for letter in genre.casefold() if letter.isalnum())
