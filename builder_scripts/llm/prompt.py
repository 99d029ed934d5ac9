"""Prompts as data: a TOML file with a name, a version, the text and what to say when asking again."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from string import Template


@dataclass(frozen=True)
class Prompt:
    """A prompt template.

    Attributes:
        name: What it asks for.
        version: Raised by whoever changes the words.
        text: The user turn, with `$field` where something is filled in.
        again: What to add to a question that is put again, by the reason of the failure.
        sha256: Hash of the file, the first twelve digits: a change without a new version is noticed all the same.
    """

    name: str
    version: int
    text: str
    again: Mapping[str, str]
    sha256: str

    @property
    def label(self) -> str:
        """Name, version and hash, as manifests and keys have it."""
        return f"{self.name}@{self.version}+{self.sha256}"

    def fill(self, **fields: str) -> str:
        """Fill in the fields.

        A field is never searched for further fields, so a `$` in a text is only a `$`.

        Raises:
            KeyError: A field of the template is missing.
        """
        return Template(self.text).substitute(fields)


def read_prompt(file: Traversable) -> Prompt:
    """Read a prompt from its TOML file."""
    data = file.read_bytes()
    return Prompt(**tomllib.loads(data.decode()), sha256=hashlib.sha256(data).hexdigest()[:12])
