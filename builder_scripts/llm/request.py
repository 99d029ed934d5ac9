"""What is asked of a language model and what comes back, and the key under which an answer is kept."""

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
    """Nobody answers before the user has acted: the server is down, or requests wait for a batch job."""


class Model(NamedTuple):
    """Which weights answer.

    Attributes:
        name: Hub id, a folder, or the name that a server gives the model.
        revision: Commit, tag or date of the weights; empty where it is not known, and then a newer model behind the
            same name goes unnoticed.
        extra_body: Further fields of every request, as canonical JSON; empty for none. They can change an answer (a
            mode without thinking, another sampler), so they are part of its key.
        thinking_tokens: Tokens that a request allows in addition, for a model that thinks before it answers.
    """

    name: str
    revision: str = ""
    extra_body: str = ""
    thinking_tokens: int = 0

    @property
    def further_fields(self) -> dict[str, Any]:
        """The further fields of every request."""
        fields: dict[str, Any] = json.loads(self.extra_body or "{}")
        return fields


@dataclass(frozen=True, slots=True)
class Parameters:
    """How to decode.

    Attributes:
        max_tokens: The most tokens of an answer; one that reaches it counts as a failure, never as data.
        temperature: 0 takes the likeliest token each time, which on most servers still varies with what else runs.
        top_p: Share of the probability that sampling chooses from.
        seed: For sampling.
    """

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One question: a single user turn, for Gemma's chat template has no other.

    Attributes:
        prompt: The text of the turn.
        template: Name, version and hash of the template that the prompt was made from.
        schema: JSON schema of the answer, with the caps in it.
        parameters: How to decode.
    """

    prompt: str
    template: str
    schema: Mapping[str, Any]
    parameters: Parameters

    def again(self, sentence: str, *, longer: bool = False) -> Request:
        """The same question for a second time.

        Args:
            sentence: What was wrong; without it a model that decodes greedily would only repeat itself.
            longer: Allow the answer twice the tokens.
        """
        parameters = self.parameters
        if longer:
            parameters = replace(parameters, max_tokens=2 * parameters.max_tokens)
        return replace(self, prompt=f"{self.prompt}\n\n{sentence}", parameters=parameters)


@dataclass(frozen=True, slots=True)
class Response:
    """One answer, or the reason why there is none.

    Attributes:
        text: What the model wrote.
        finish: Why it ended: "stop" as it should, "length" cut off, "filtered" withheld by the server; None where no
            answer came.
        prompt_tokens: Tokens read, as the backend counts them; 0 where it does not say.
        completion_tokens: Tokens written, likewise.
        error: Why no answer came, in one line; None where one did.
        cached: It was in the store and cost nothing.
    """

    text: str
    finish: Finish | None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    error: str | None = None
    cached: bool = False


def no_answer(error: str) -> Response:
    """A response that holds nothing but the reason."""
    return Response("", None, error=" ".join(error.split()))


def content_key(request: Request, model: Model) -> str:
    """Hash all that decides an answer: model and its options, revision, template, parameters, schema and prompt.

    The backend is no part of it, so that answers of a cluster serve on a laptop.

    Args:
        request: The question.
        model: Who answers.

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
    # Only where they are there, so that answers of earlier versions are found.
    if model.extra_body:
        content["extra_body"] = model.further_fields
    if model.thinking_tokens:
        content["thinking_tokens"] = model.thinking_tokens
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


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
