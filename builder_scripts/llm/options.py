"""Options of the stages that ask a language model: `extract` and `queries`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from musicrs_metric.base.chat import read_extra_body
from musicrs_metric.base.files import to_json
from musicrs_metric.errors import UserError

from ..pipeline.option_command import CommandLine, PathFrom, StageOptions
from .batches import BatchFiles
from .generate import Backend
from .local import Local
from .request import Model
from .server import Server
from .usage import Prices

_MODEL = "Hub id, a folder, or the name that the server gives the model."


class BackendName(StrEnum):
    """Place of the model."""

    server = "server"
    local = "local"
    batch = "batch"


class LlmOptions(StageOptions):
    """Model, backend, prices, and the failures that a stage accepts."""

    model: str = Field(description=_MODEL)
    revision: str = Field(default="", description="Commit of the weights. It is stored with every answer.")
    backend: BackendName = Field(
        default=BackendName.server,
        description="server: OpenAI-compatible, such as `vllm serve MODEL`. local: in this process, with transformers. "
        "batch: files for `vllm run-batch` or a batch service.",
    )
    url: str = Field(default=Server.url, description="URL of the server, with /v1 at its end.")
    key_variable: str = Field(
        default=Server.key_variable, description="Environment variable that holds the server's key."
    )
    concurrency: int = Field(default=Server.concurrency, ge=1, description="Requests in flight at the server.")
    timeout: float = Field(
        default=Server.timeout_s, ge=0.1, allow_inf_nan=False, description="Seconds for one attempt."
    )
    retries: int = Field(default=Server.retries, ge=0, description="Attempts after a failure.")
    batch_size: int = Field(default=Local.batch_size, ge=1, description="Requests per batch in this process.")
    price_read: float = Field(default=0.0, ge=0, allow_inf_nan=False, description="Price per million tokens read.")
    price_written: float = Field(
        default=0.0, ge=0, allow_inf_nan=False, description="Price per million tokens written."
    )
    skip_unanswered: bool = Field(default=False, description="Do not count requests without an answer as failures.")
    max_failures: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="Share of failed questions above which the stage stops with exit code 1.",
    )
    thinking_tokens: int = Field(default=0, ge=0, description="Extra tokens per answer, for a model that thinks first.")
    extra_body: Annotated[PathFrom | None, CommandLine("FILE")] = Field(
        default=None, description="JSON file of one object with extra fields of every request."
    )

    def check(self) -> None:
        """Check model and backend without loading or reaching them.

        Raises:
            UserError: The URL, the key or the extra fields cannot be used.
        """
        self.open_backend(Path())

    @cached_property
    def weights(self) -> Model:
        """The model with all that can change its answers.

        Raises:
            UserError: The file of extra fields cannot be read, or holds a field that the stage decides.
        """
        fields = read_extra_body(self.extra_body) if self.extra_body else {}
        extra_body = to_json(dict(sorted(fields.items()))) if fields else ""
        return Model(self.model, self.revision, extra_body, self.thinking_tokens)

    @property
    def prices(self) -> Prices:
        """Prices of tokens."""
        return Prices(self.price_read, self.price_written)

    def open_backend(self, folder: Path) -> Backend:
        """Make the backend. It loads and reaches nothing before its first question.

        Args:
            folder: Folder of batch files.

        Raises:
            UserError: The URL, the key or the extra fields cannot be used.
        """
        match self.backend:
            case BackendName.server:
                return Server(
                    self.weights, self.url, self.key_variable, self.concurrency, self.timeout, self.retries
                )  # fmt: skip
            case BackendName.local:
                others = set(self.weights.further_fields) - {"chat_template_kwargs"}
                if others or self.thinking_tokens:
                    raise UserError(
                        f"--backend local takes no {', '.join(sorted(others)) or '--thinking-tokens'}; the only "
                        "extra field that it knows is chat_template_kwargs"
                    )
                return Local(self.weights, self.batch_size)
            case BackendName.batch:
                return BatchFiles(self.weights, folder)

    def parameters(self) -> dict[str, Any]:
        """Return the options that change the output of a stage, as plain JSON types."""
        further = {"extra_body": self.weights.further_fields, "thinking_tokens": self.thinking_tokens}
        return {"model": self.model, "revision": self.revision, "skip_unanswered": self.skip_unanswered} | {
            name: value for name, value in further.items() if value
        }


class ExtractOptions(LlmOptions):
    """Options of `extract`."""

    model: str = Field(default="Qwen/Qwen2.5-7B-Instruct", description=_MODEL)


class QueriesOptions(LlmOptions):
    """Options of `queries`."""

    model: str = Field(default="google/gemma-3-12b-it", description=_MODEL)


def model_of(parameters: Mapping[str, Any]) -> Model:
    """Return the model that answered, by the parameters in the manifest of a stage."""
    further = to_json(parameters["extra_body"]) if "extra_body" in parameters else ""
    return Model(parameters["model"], parameters["revision"], further, parameters.get("thinking_tokens", 0))
