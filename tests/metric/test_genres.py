"""Names of genres: those of the benchmark, new ones, and what cannot be one."""

from __future__ import annotations

import pytest

from musicrs_metric.base.genres import GENRES, MACRO_GENRES, genre_fault, in_order, macro_of, macros_in_order


def test_order_and_macro_genre() -> None:
    """The paper's genres first, then new ones by name, which have no macro-genre."""
    assert in_order(["Folk", "Jazz", "Country", "Classical", "Jazz"]) == ["Classical", "Jazz", "Country", "Folk"]
    assert [macro_of(genre) for genre in ("Hip-Hop", "Classical", "Metal", "Country")] == ["MM", "IM", "AE", "other"]
    assert (macro_of("Country", "Roots"), macro_of("Country", "")) == ("Roots", "other")
    assert macros_in_order(["other", "Roots", "AE", "MM", "Air"]) == ["MM", "AE", "Air", "Roots", "other"]
    assert genre_fault("i.m.", MACRO_GENRES) == "expected IM, as the benchmark spells it"


@pytest.mark.parametrize("genre", [*GENRES, "Country", "R&B", "Música", "Jazz Fusion", "90s"])
def test_good_names(genre: str) -> None:
    """Those of the benchmark, and any other name."""
    assert genre_fault(genre) == ""


@pytest.mark.parametrize(
    ("genre", "expected"),
    [
        ("jazz", "expected Jazz"), ("Hip Hop", "expected Hip-Hop"), ("hip_hop", "expected Hip-Hop"),
        (" Metal", "expected Metal"), ("", "name of a genre"), (" - ", "name of a genre"), ("Other", "not free"),
        ("overall", "not free"), ("Country ", "without blanks"), ("a\nb", "printable"), ("x" * 41, "at most 40"),
    ],
)  # fmt: skip
def test_names_that_cannot_be(genre: str, expected: str) -> None:
    """Another spelling of a known genre, words that tables use themselves, and texts that fit no table."""
    assert expected in genre_fault(genre)
