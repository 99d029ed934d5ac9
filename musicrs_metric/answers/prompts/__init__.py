"""Prompts as data: a TOML file per protocol, with a version, the text, and the form of the request per modality.

This project wrote the texts. `titles` follows the published idea: all candidates, titles between commas.
`musicrs_metric.answers` reads the answers.
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
        version: Number that grows with each change of the text.
        text: The whole prompt, with `$request`, and with `$candidates` and `$count` if it shows candidates.
        candidate: One candidate, with `$title` and perhaps `$number`, which counts from 1.
        between: Text between two candidates.
        request: The request by input ("audio_query", "query_only", "audio_only" and "neither"), with `$query` and
            `$clips` if the input has them.
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
        """Fill in one thread. The prompt mentions clips only if there are clips, and a query only if there is one.

        Args:
            query: The request in words; None if the model gets none.
            candidates: The titles in the order of the prompt.
            n_clips: Number of linked clips that the model gets, before they are cut or joined for it; 0 for none.
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
        # Filled-in texts are not searched for fields, so that a `$` in a title is only a `$`.
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
