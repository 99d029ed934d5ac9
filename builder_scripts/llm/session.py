"""One stage's dealings with its model: what it asks whom, where answers are kept, and what it shows meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from musicrs_metric.errors import UserError, count, some

from .batches import BatchFiles
from .generate import Backend, generate
from .local import Local
from .meter import Meter, Prices, amount
from .request import Model, Request, Response, content_key
from .server import Server
from .store import Store

if TYPE_CHECKING:
    from rich.console import Console


class BackendName(StrEnum):
    """Where the model runs."""

    server = "server"
    local = "local"
    batch = "batch"


@dataclass(frozen=True)
class Settings:
    """Everything that the command line says about the model.

    Attributes:
        model: Who answers.
        backend: Where.
        url: Of the server.
        key_variable: Environment variable with the server's key.
        concurrency: Requests in flight at the server.
        timeout_s: Seconds for one attempt at the server.
        retries: Further attempts at the server.
        batch_size: Requests decoded together in this process.
        prices: Of tokens.
        skip_unanswered: Finish although requests got no answer.
    """

    model: Model
    backend: BackendName = BackendName.server
    url: str = Server.url
    key_variable: str = Server.key_variable
    concurrency: int = Server.concurrency
    timeout_s: float = Server.timeout_s
    retries: int = Server.retries
    batch_size: int = Local.batch_size
    prices: Prices = field(default_factory=Prices)
    skip_unanswered: bool = False

    def open(self, folder: Path) -> Backend:
        """Make the backend; nothing is loaded or reached before its first question.

        Args:
            folder: Where batch files go.
        """
        match self.backend:
            case BackendName.server:
                return Server(
                    self.model, self.url, self.key_variable, self.concurrency, self.timeout_s, self.retries
                )  # fmt: skip
            case BackendName.local:
                return Local(self.model, self.batch_size)
            case BackendName.batch:
                return BatchFiles(self.model, folder)

    def to_dict(self) -> dict[str, Any]:
        """What of this changes the output of a stage, as plain JSON types for its manifest."""
        return {
            "model": self.model.name,
            "revision": self.model.revision,
            "skip_unanswered": self.skip_unanswered,
        }


class Session:
    """A stage's questions, with a progress bar; use it as a context manager.

    Args:
        settings: Whom to ask and how.
        folder: Holds the store `answers.jsonl` of all stages, and a folder of batch files for each.
        stage: Name of the stage.
        console: Where the bar is shown.
    """

    def __init__(self, settings: Settings, folder: Path, stage: str, console: Console) -> None:
        self.settings = settings
        self.meter = Meter(settings.prices)
        self._backend = settings.open(folder / f"batches-{stage}")
        self._store = Store(folder / "answers.jsonl")
        self._console = console

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._store.close()

    def generate(self, requests: Sequence[Request]) -> list[Response]:
        """See `builder_scripts.llm.generate.generate`."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
            TextColumn("{task.fields[told]}"),
        )  # fmt: skip
        meter = Meter(self.settings.prices)
        with Progress(*columns, console=self._console) as progress:
            bar = progress.add_task(f"Asking {self.settings.model.name}", total=None, told="")

            def watch(response: Response, total: int) -> None:
                self.meter.add(response)
                meter.add(response)
                progress.update(bar, completed=meter.done, total=total, told=meter.line(total))

            return generate(requests, self._backend, self._store, watch)

    def estimate(self, requests: Sequence[Request]) -> str:
        """Say in a line what asking these would take, without asking; tokens are guessed at four bytes each."""
        missing = {content_key(r, self._backend.model): r for r in requests}
        missing = {key: request for key, request in missing.items() if key not in self._store}
        read = sum(len(request.prompt.encode()) for request in missing.values()) // 4
        written = sum(request.parameters.max_tokens for request in missing.values())
        cost = self.settings.prices.of(read, written)
        return (
            f"{count(len(missing), 'request')} to {self._backend.model.name} ({len(requests):,} asked for, the others "
            f"repeat or are in the store): about {read:,} tokens to read, at most {written:,} to write"
            + (f", cost at most about {amount(cost)}" if cost else "")
        )

    def check(self) -> None:
        """Refuse to go on where requests got no answer, unless the settings allow it.

        Raises:
            UserError: Some did not.
        """
        if self.meter.failed and not self.settings.skip_unanswered:
            reasons = some([f"{error} ({n}x)" for error, n in self.meter.errors.most_common()], 2)
            raise UserError(
                f"{count(self.meter.failed, 'request')} got no answer: {reasons}; {self.meter.answered:,} new answers "
                "are kept, so run again to ask for the rest, or go on without them with --skip-unanswered"
            )
