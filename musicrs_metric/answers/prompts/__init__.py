"""Prompts as data: a TOML file per protocol, with a version, the words, and how the request is put in each modality.

The words are this project's own; `titles` follows the published idea (all candidates, titles between commas). How
answers are read is next door, in `musicrs_metric.answers`.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

NAMES = ("listwise", "titles", "constrained", "pointwise", "generate_then_match")


@dataclass(frozen=True, kw_only=True)
class PromptTemplate:
    """A prompt, not yet filled in.

    Attributes:
        name: The protocol that it belongs to.
        version: Raised by whoever changes the words.
        text: The whole, with `$request`, and `$candidates` and `$count` where candidates are shown.
        candidate: One candidate, with `$title` and perhaps `$number`, which counts from 1.
        between: What stands between two candidates.
        request: What is asked for, with `$query` and `$clips` where they are known: by "audio_query", "query_only",
            "audio_only" and "neither".
        clips: The clips in words, by "one" and "several", the latter with `$count`.
        sha256: Hash of the file in hexadecimal.
    """

    name: str
    version: int
    text: str
    candidate: str
    between: str
    request: Mapping[str, str]
    clips: Mapping[str, str]
    sha256: str

    def render(self, *, query: str | None, candidates: Sequence[str], n_clips: int) -> str:
        """Fill in one thread. Sound is spoken of where there is sound, and a query where there is a query.

        Args:
            query: The request in words; None where the model is not given any.
            candidates: The titles in the order in which they are shown.
            n_clips: Clips that the person linked and the model is given, however they are cut or joined for it; 0 for
                none.
        """
        kind = "audio_query" if n_clips else "query_only"
        if query is None:
            kind = "audio_only" if n_clips else "neither"
        clips = Template(self.clips["one" if n_clips == 1 else "several"]).substitute(count=n_clips)
        request = Template(self.request[kind]).substitute(query=query, clips=clips).strip()
        shown = self.between.join(
            Template(self.candidate).substitute(number=number, title=" ".join(title.split()))
            for number, title in enumerate(candidates, 1)
        )
        # What was filled in is not searched again, so that a `$` in a title is only a `$`.
        whole = Template(self.text).substitute(request=request, candidates=shown, count=len(candidates))
        return whole.strip()


@cache
def load(name: str) -> PromptTemplate:
    """Read a prompt.

    Args:
        name: One of `NAMES`.

    Raises:
        KeyError: There is no such prompt.
    """
    if name not in NAMES:
        raise KeyError(f"no prompt {name!r}; expected one of {', '.join(NAMES)}")
    data = files(__name__).joinpath(f"{name}.toml").read_bytes()
    # titles.toml keeps the bytes, and so the hash on the cards of older runs, that it had as paper.toml.
    values = tomllib.loads(data.decode()) | {"name": name}
    return PromptTemplate(**values, sha256=hashlib.sha256(data).hexdigest())
