"""Cards: `text_encoder` with one line of knowledge per title, which a language model wrote before the run.

Bare titles say little to an encoder. `python -m baselines cards` lets any language model of this project write one line
per distinct title and subreddit into a file, and this system embeds `title: line` in place of the title. The file can
be published: runs with the same file have the same rankings. Its lines depend on title and subreddit only, never on a
query or on labels. The run card holds its sha256.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from musicrs_dataset.records import Thread
from musicrs_metric.answers.markup import plain
from musicrs_metric.answers.read import REFUSAL
from musicrs_metric.base.files import strict_json
from musicrs_metric.base.jsonl_log import read_log
from musicrs_metric.base.thinking import without_thinking
from musicrs_metric.errors import UserError, count, is_unicode, show
from musicrs_metric.runs.run_card import Reads

from ..options import option
from ..system import Context, RunFacts
from .text_encoder import TextEncoder, TextEncoderOptions

PROMPT = (
    "On r/{subreddit}, people recommend music. One recommendation is: {title}\n\nDescribe this music in one line of at "
    "most 25 words: artist, genre, period, mood and instruments. If you do not know it, describe the music that the "
    "title suggests. Answer with the line alone."
)
_LONGEST = 400  # characters of a line
_SPEAKS = re.compile(r"\W*(?:i|i['’]m|i['’]ve|sorry|unfortunately|as an ai|apolog\w+)\b|抱歉|无法", re.IGNORECASE)
_MOST_MISSING = 0.01  # share of titles; a model may refuse a few for good
_FIELDS = ("subreddit", "title", "card", "model")


class Key(NamedTuple):
    """Subject of a line.

    Attributes:
        subreddit: The subreddit, without r/.
        title: The candidate.
    """

    subreddit: str
    title: str

    @property
    def prompt(self) -> str:
        """Return the prompt that asks for the line."""
        before, after = PROMPT.split("{title}")
        return before.replace("{subreddit}", self.subreddit) + self.title + after


def keys_of(threads: Sequence[Thread]) -> list[Key]:
    """Return the distinct titles and subreddits of some pools, in order of appearance."""
    return list(dict.fromkeys(Key(thread.subreddit, name) for thread in threads for name in thread.candidates))


def read_card(answer: str, title: str, *, cut: bool) -> str | None:
    """Return the first line of an answer that says something; None for none, a refusal, or if the answer stops in it.

    Args:
        answer: The text that a language model wrote.
        title: The title, whose own words are no refusal.
        cut: Whether the model was stopped by its budget.
    """
    visible = without_thinking(answer, cut=cut)
    lines = [" ".join(line.split()).strip('*"“” ') for line in plain(visible.text, numbered=False).split("\n")]
    lines = [line for line in lines if any(map(str.isalpha, line))]
    if lines and lines[0].endswith(":"):  # "Here is the line:"
        del lines[0]
    if not lines or (cut and len(lines) == 1):
        return None
    words = lines[0].replace(title, "")
    return None if _SPEAKS.match(words) and REFUSAL.search(words) else lines[0][:_LONGEST]


def read_cards(path: Path) -> Iterator[tuple[Key, dict[str, str]]]:
    """Yield the lines of a file of cards. A torn line, left by a kill, is skipped: its title is asked for again.

    Args:
        path: The file, which need not exist.

    Raises:
        UserError: A line is no card.
    """
    for line in read_log(path):
        try:
            values = strict_json(line.data.decode())
        except ValueError:
            values = None
        if values is None and line.data.startswith(b"{"):
            continue
        if isinstance(values, dict) and all(_is_text(values.get(name)) for name in _FIELDS):
            yield Key(values["subreddit"], values["title"]), values
        else:
            raise UserError(
                f"{path}, line {line.number}: {show(line.data.decode(errors='replace'))[:80]}; expected an object with "
                f"the texts {', '.join(_FIELDS)}, as `python -m baselines cards` writes it; remove the line"
            )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and is_unicode(value) and bool(value.strip())


@dataclass(frozen=True)
class CardsOptions(TextEncoderOptions):
    """Options of `cards`."""

    cards: Path | None = option(  # noqa: RUF009
        None, "file that `python -m baselines cards` wrote; required", identity=False
    )

    def check(self) -> None:
        """Check as `text_encoder` does, and ask for the file."""
        super().check()
        if self.cards is None or not self.cards.is_file():
            found = "missing" if self.cards is None else f"{self.cards}: no such file"
            raise UserError(f"--cards: {found}; write one with `python -m baselines cards`")


class Cards(TextEncoder):
    """Ranks by the likeness of the query and the candidates with their lines."""

    declaration = replace(
        TextEncoder.declaration,
        name="cards",
        description="As text_encoder, with one line of knowledge per title that a language model wrote before.",
        note="Needs a file of lines; `python -m baselines cards` writes it.",
    )
    Options = CardsOptions

    def __init__(self, options: CardsOptions, context: Context) -> None:
        super().__init__(options, context)
        assert options.cards is not None  # noqa: S101 - `check` says so
        self._cards = {key: values["card"] for key, values in read_cards(options.cards)}
        lines = sorted("\0".join((*key, card)) for key, card in self._cards.items())
        self._missing = 0
        self._sha256 = hashlib.sha256("\n".join(lines).encode()).hexdigest()

    @property
    def reads(self) -> Reads:
        """Pools: the lines are those of all pools."""
        return "pools"

    def inspect_threads(self, threads: Sequence[Thread]) -> None:
        """Check that the titles have lines. At most 1 % may lack one; these are embedded alone, and counted.

        Raises:
            UserError: More titles have none.
        """
        wanted = keys_of(threads)
        missing = [key for key in wanted if key not in self._cards]
        self._missing = len(missing)
        if len(missing) > _MOST_MISSING * len(wanted):
            raise UserError(
                f"--cards {self.options.cards}: no line for {len(missing)} of {count(len(wanted), 'title')}, such as "
                f"{show(missing[0].title)} of r/{missing[0].subreddit}; run `python -m baselines cards` again for this "
                "dataset and these pools"
            )

    def run_facts(self) -> RunFacts:
        """Add the hash of the lines to the revision."""
        facts = super().run_facts()
        extra = {**facts.extra, "titles_without_line": self._missing}
        return replace(facts, model_revision=f"{facts.model_revision}, cards {self._sha256}", extra=extra)

    def prepare(self, threads: Sequence[Thread]) -> None:
        """Prepare as `text_encoder` does, and report titles without a line."""
        super().prepare(threads)
        if self._missing:
            self._warnings.append(f"{count(self._missing, 'title')} without a line of knowledge, embedded alone")

    def _names(self, thread: Thread) -> list[str]:
        cards = [self._cards.get(Key(thread.subreddit, name)) for name in thread.candidates]
        texts = zip(super()._names(thread), cards, strict=True)
        return [f"{name}: {card}" if card else name for name, card in texts]
