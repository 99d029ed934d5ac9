"""One stage's dealings with its model: what it asks whom, where answers are kept, and what it shows meanwhile."""

from __future__ import annotations

import math
import signal
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from musicrs_metric.base.chat import read_extra_body
from musicrs_metric.base.files import to_json
from musicrs_metric.errors import UserError, count, some

from .answer_cache import AnswerCache
from .ask import CUT, EMPTY, NO_ANSWER, UNREADABLE, Outcome, is_failure
from .batches import BatchFiles
from .generate import Backend, Judge, generate, no_reader
from .local import Local
from .request import Model, Request, Response, content_key
from .server import PATIENCE, Server
from .stopping import StoppedError, stoppable
from .usage import Prices, UsageMeter, amount

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
        skip_unanswered: Requests without an answer do not count as failures.
        max_failures: Share of questions that may fail, in [0, 1]; above it the stage stops.

    Raises:
        UserError: The model in this process cannot take one of the further fields.
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
    max_failures: float = 0.05

    def __post_init__(self) -> None:
        others = set(self.model.further_fields) - {"chat_template_kwargs"}
        if self.backend is BackendName.local and (others or self.model.thinking_tokens):
            raise UserError(
                f"--backend local takes no {', '.join(sorted(others)) or '--thinking-tokens'}; of further fields it "
                "knows chat_template_kwargs alone"
            )

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
        further = {"extra_body": self.model.further_fields, "thinking_tokens": self.model.thinking_tokens}
        return {
            "model": self.model.name,
            "revision": self.model.revision,
            "skip_unanswered": self.skip_unanswered,
        } | {name: value for name, value in further.items() if value}


def model_with(name: str, revision: str, extra_body: Path | None, thinking_tokens: int) -> Model:
    """Who answers, with further fields out of a file.

    Raises:
        UserError: The file cannot be read, or holds a field that the stage decides.
    """
    fields = read_extra_body(extra_body) if extra_body else {}
    return Model(name, revision, to_json(dict(sorted(fields.items()))) if fields else "", thinking_tokens)


def model_of(parameters: Mapping[str, Any]) -> Model:
    """Who answered, by the parameters in the manifest of a stage."""
    further = to_json(parameters["extra_body"]) if "extra_body" in parameters else ""
    return Model(parameters["model"], parameters["revision"], further, parameters.get("thinking_tokens", 0))


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
        self.usage = UsageMeter(settings.prices)
        self._backend = settings.open(folder / f"batches-{stage}")
        self._cache = AnswerCache(folder / "answers.jsonl")
        self._left, self._useless = "", 0
        self._console = console

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cache.close()

    def recall(self, requests: Sequence[Request], judge: Judge) -> None:
        """See `builder_scripts.llm.generate.Answers`."""
        usable: dict[str, Response] = {}
        for place, request in enumerate(requests):
            key = content_key(request, self._backend.model)
            response = self._cache.get(key) or self._cache.failures.get(key)
            if response is not None and judge(place, response) is None:
                usable[key] = response
        for response in usable.values():
            self.usage.add(response)

    def generate(self, requests: Sequence[Request], judge: Judge = no_reader) -> list[Response]:
        """See `builder_scripts.llm.generate.generate`.

        Raises:
            StoppedError: The user stopped it, or none of the first answers can be used.
        """
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
            TextColumn("{task.fields[told]}"),
        )  # fmt: skip
        usage = UsageMeter(self.settings.prices)
        with stoppable() as stop, Progress(*columns, console=self._console) as progress:
            bar = progress.add_task(f"Asking {self.settings.model.name}", total=None, told="")

            def watch(response: Response, failure: str | None, total: int) -> None:
                self.usage.add(response, failure)
                usage.add(response, failure)
                progress.update(bar, completed=usage.done, total=total, told=usage.line(total))
                self._useless += failure is not None and response.error is None
                self._stop_if_nothing_works()

            try:
                return generate(requests, self._backend, self._cache, judge, watch, stop)
            except KeyboardInterrupt:
                raise StoppedError(
                    f"stopped; {count(usage.answered, 'new answer')} kept, run the same command again to continue",
                    128 + (stop.signal or signal.SIGINT),
                ) from None

    def leave(self, requests: Sequence[Request]) -> None:
        """Write requests that failed as batch files, where the backend has such."""
        if isinstance(self._backend, BatchFiles):
            self._left = self._backend.leave({content_key(r, self._backend.model): r for r in requests})

    def _stop_if_nothing_works(self) -> None:
        if isinstance(self._backend, BatchFiles):  # all of them are paid for
            return
        if self._useless >= PATIENCE and not self.usage.answered and not self.usage.cached:
            raise StoppedError(
                f"none of the first {self._useless} answers of {self.settings.model.name} can be used: "
                f"{self._reasons()}; {_advice(self.usage.failures)}",
                1,
            )

    def estimate(self, requests: Sequence[Request]) -> str:
        """Say in a line what asking these would take, without asking; tokens are guessed at four bytes each."""
        missing = {content_key(r, self._backend.model): r for r in requests}
        missing = {key: request for key, request in missing.items() if key not in self._cache}
        read = sum(len(request.prompt.encode()) for request in missing.values()) // 4
        written = sum(request.parameters.max_tokens for request in missing.values())
        cost = self.settings.prices.of(read, written)
        return (
            f"{count(len(missing), 'request')} to {self._backend.model.name} ({len(requests):,} asked for, the others "
            f"repeat or are in the store): about {read:,} tokens to read, at most {written:,} to write"
            + (f", cost at most about {amount(cost)}" if cost else "")
        )

    def check(self, outcomes: Mapping[str, Sequence[Outcome]]) -> list[str]:
        """Stop where too large a share of the questions of one kind failed.

        Args:
            outcomes: By kind of question. Each kind is held against the limit by itself: that all posts failed must
                not drown in the replies.

        Returns:
            Notes on failures that are allowed.

        Raises:
            StoppedError: A share is above `max_failures`, or no answer of a kind was of use.
        """
        notes = []
        for kind, of_kind in outcomes.items():
            allowed = {NO_ANSWER} if self.settings.skip_unanswered else set()
            failed = Counter(one.failure or "" for one in of_kind if is_failure(one) and one.failure not in allowed)
            n, share = failed.total(), failed.total() / max(len(of_kind), 1)
            reasons = ", ".join(f"{reason} {number:,}" for reason, number in failed.most_common())
            line = f"{n:,} of {len(of_kind):,} {kind} failed ({100 * share:.3g} %): {reasons}"
            if share > self.settings.max_failures:
                said = f" ({self._reasons()})" if self.usage.failures else ""
                raise StoppedError(
                    f"{line}{said}; at most {100 * self.settings.max_failures:g} % may fail. Answers so far are kept: "
                    f"{self._left or 'run the same command again to ask for the failed ones'}; "
                    f"{_advice(failed)}, or accept the failures with --max-failures {_above(share):g}",
                    1,
                )
            if of_kind and all(one.failure for one in of_kind) and self.settings.max_failures < 1:
                refused = Counter(one.failure for one in of_kind)
                said = ", ".join(f"{reason} {number:,}" for reason, number in refused.most_common())
                raise StoppedError(
                    f"no answer about {len(of_kind):,} {kind} is of use: {said}; take another model, or continue "
                    "without, with --max-failures 1",
                    1,
                )
            if n:
                notes.append(f"{line}; run the same command again to ask for them once more")
        return notes

    def _reasons(self) -> str:
        return some([f"{reason} ({n}x)" for reason, n in self.usage.failures.most_common()], 2)


def _above(share: float) -> float:
    return math.ceil(100 * share) / 100


def _advice(reasons: Collection[str]) -> str:
    """What may help, by the reasons of failures."""
    if CUT in reasons or EMPTY in reasons:
        return "a model that thinks needs --thinking-tokens, or thinking switched off with --extra-body"
    if UNREADABLE in reasons:
        return "check that the server follows response_format (json_schema)"
    return "check the server and its options"
