"""Requests and responses of language models, prompts, and the key of an answer."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.resources.abc import Traversable
from string import Template
from typing import Any, Literal, NamedTuple

from musicrs_metric.errors import UserError

Finish = Literal["stop", "length", "filtered"]


class UnansweredError(UserError):
    """No answer before the user acts: the server is down, or requests wait for a batch job."""


class Model(NamedTuple):
    """Model with all that can change its answers.

    Attributes:
        name: Hub id, a folder, or the name that a server gives the model.
        revision: Commit, tag or date of the weights. Empty if unknown: a newer model of the same name is then not
            noticed.
        extra_body: Extra fields of every request, as canonical JSON. Empty for none. They can change an answer (a
            mode without thinking, another sampler), so they are part of its key.
        thinking_tokens: Extra tokens per answer, for a model that thinks first.
    """

    name: str
    revision: str = ""
    extra_body: str = ""
    thinking_tokens: int = 0

    @property
    def further_fields(self) -> dict[str, Any]:
        """Extra fields of every request."""
        fields: dict[str, Any] = json.loads(self.extra_body or "{}")
        return fields


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters of decoding.

    Attributes:
        max_tokens: Largest number of tokens of an answer. A cut answer is a failure, never data.
        temperature: 0 is greedy decoding. On most servers it still varies with the load.
        top_p: Share of the probability mass for sampling.
        seed: Seed of sampling.
    """

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """Request: a single user turn, because Gemma's chat template has no system turn.

    Attributes:
        prompt: The text of the turn.
        template: Name, version and hash of the template of the prompt.
        schema: JSON schema of the answer, with the caps in it.
        parameters: Parameters of decoding.
    """

    prompt: str
    template: str
    schema: Mapping[str, Any]
    parameters: Parameters

    def again(self, sentence: str, *, longer: bool = False) -> Request:
        """Return the same question for a second attempt.

        Args:
            sentence: Description of the failure. Without it a greedy model would repeat its answer.
            longer: Allow twice the tokens.
        """
        parameters = self.parameters
        if longer:
            parameters = replace(parameters, max_tokens=2 * parameters.max_tokens)
        return replace(self, prompt=f"{self.prompt}\n\n{sentence}", parameters=parameters)


@dataclass(frozen=True, slots=True)
class Response:
    """Answer, or the reason of a missing answer.

    Attributes:
        text: Text of the model.
        finish: Reason of the end: "stop" as planned, "length" cut off, "filtered" withheld by the server. None without
            an answer.
        prompt_tokens: Tokens read, by the count of the backend. 0 if unknown.
        completion_tokens: Tokens written, by the count of the backend. 0 if unknown.
        error: Reason of a missing answer, in one line. None for an answer.
        cached: The answer came from the cache and cost nothing.
    """

    text: str
    finish: Finish | None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str | None = None
    cached: bool = False


def no_answer(error: str) -> Response:
    """Return a response without an answer."""
    return Response("", None, error=" ".join(error.split()))


def content_key(request: Request, model: Model) -> str:
    """Hash everything that decides an answer: model with options, revision, template, parameters, schema and prompt.

    The key does not depend on the backend, so that answers of a cluster also serve on a laptop.

    Args:
        request: The question.
        model: The model.

    Returns:
        sha256 in hexadecimal of the canonical JSON.
    """
    content: dict[str, Any] = {
        "model": model.name,
        "revision": model.revision,
        "template": request.template,
        "parameters": asdict(request.parameters),
        "schema": request.schema,
        "prompt": request.prompt,
    }
    # Only non-empty ones, so that answers of earlier versions are found.
    if model.extra_body:
        content["extra_body"] = model.further_fields
    if model.thinking_tokens:
        content["thinking_tokens"] = model.thinking_tokens
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True)
class Prompt:
    """Prompt template from a TOML file.

    Attributes:
        name: Name of the prompt.
        version: Number that grows with each change of the text.
        text: The user turn, with `$field` for each field.
        again: Sentence of a second question, by the reason of the failure.
        sha256: First twelve digits of the hash of the file. They reveal a change without a new version.
    """

    name: str
    version: int
    text: str
    again: Mapping[str, str]
    sha256: str

    @property
    def label(self) -> str:
        """Name, version and hash, for manifests and keys."""
        return f"{self.name}@{self.version}+{self.sha256}"

    def fill(self, **fields: str) -> str:
        """Fill in the fields.

        A field is never searched for other fields, so a `$` in a text is only a `$`.

        Raises:
            KeyError: A field of the template is missing.
        """
        return Template(self.text).substitute(fields)


def read_prompt(file: Traversable) -> Prompt:
    """Read a prompt from its TOML file."""
    data = file.read_bytes()
    return Prompt(**tomllib.loads(data.decode()), sha256=hashlib.sha256(data).hexdigest()[:12])
