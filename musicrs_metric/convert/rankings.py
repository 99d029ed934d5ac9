"""Rankings that a reader found in a file, and the checks that all kinds of files share."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import UserError
from ..matching import Pool
from ..runs.kinds import kind_of
from ..runs.prediction_line import Prediction
from ..runs.references import References

_ID_DIGITS = 12


class Rankings(NamedTuple):
    """Content of a file of rankings.

    Attributes:
        predictions: At most one per thread.
        facts: Fields of the run card that the file states, such as `model_id`.
        notes: Sentences that the user must see.
    """

    predictions: list[Prediction]
    facts: dict[str, Any]
    notes: list[str]


@cache
def title_id(title: str) -> str:
    """Return the id of a title in files of other programs: 12 hexadecimal digits of the sha256 of its UTF-8.

    It has no blank, and its order says nothing. Several programs order equal scores by id, so ids that are numbered
    would leak the order of the pool.
    """
    return hashlib.sha256(title.encode()).hexdigest()[:_ID_DIGITS]


def title_ids(titles: Mapping[str, Any] | set[str]) -> dict[str, str]:
    """Return the ids of distinct titles.

    Args:
        titles: The titles.

    Returns:
        Title to id.

    Raises:
        UserError: Two titles share an id. This happens once in 10 million data sets of 6,000 titles.
    """
    owner: dict[str, str] = {}
    for title in titles:
        other = owner.setdefault(title_id(title), title)
        if other != title:
            raise UserError(f"the titles {other!r} and {title!r} share the id {title_id(title)}; expected distinct ids")
    return {title: identity for identity, title in owner.items()}


def titles_of_ids(predictions: list[Prediction], references: References) -> list[Prediction]:
    """Replace ids of candidates by their titles. A text that names a candidate stays as it is.

    Args:
        predictions: Rankings of titles, of ids (`title_id`), or of both.
        references: The dataset.

    Returns:
        Rankings of titles.
    """
    result = []
    for prediction in predictions:
        position = references.position.get(prediction.thread_id)
        if position is not None:
            pool = Pool(references.candidates[position])
            title_of = {title_id(title): title for title in pool.place}
            if not title_of.keys().isdisjoint(prediction.ranking):
                ranking = (text if text in pool.place else title_of.get(text, text) for text in prediction.ranking)
                prediction = replace(prediction, ranking=tuple(ranking))
        result.append(prediction)
    return result


def text_of(path: Path) -> str:
    """Read a text file in UTF-8 or UTF-16. Line ends stay as they are.

    Raises:
        UserError: It is in another encoding.
    """
    data = path.read_bytes()
    encoding = kind_of(data).encoding
    try:
        return data.decode(encoding).removeprefix("\ufeff")  # a second mark, of a file that was converted
    except UnicodeDecodeError as error:
        place = f"byte {error.start + 1}"
        raise UserError(f"{path}: not {encoding.upper()} ({place}); expected text in UTF-8, save it as such") from None
