"""Questions of one stage: model, cache and progress bar."""

from __future__ import annotations

import math
import signal
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from musicrs_metric.errors import count, some

from ..pipeline.stage import StoppedError
from .answer_cache import AnswerCache
from .ask import CUT, EMPTY, NO_ANSWER, UNREADABLE, Outcome, is_failure
from .batches import BatchFiles
from .generate import Judge, generate, no_reader, stoppable
from .options import LlmOptions
from .request import Request, Response, content_key
from .server import PATIENCE
from .usage import UsageMeter, amount

if TYPE_CHECKING:
    from rich.console import Console


class Session:
    """Questions of a stage, with a progress bar. Use it as a context manager.

    Args:
        options: Model, backend, prices and accepted failures.
        folder: Folder of the cache `answers.jsonl` of all stages, and of the batch files of each.
        stage: Name of the stage.
        console: Console of the bar.
    """

    def __init__(self, options: LlmOptions, folder: Path, stage: str, console: Console) -> None:
        self.options = options
        self.usage = UsageMeter(options.prices)
        self._backend = options.open_backend(folder / f"batches-{stage}")
        self._cache = AnswerCache(folder / "answers.jsonl")
        self._left, self._useless = "", 0
        self._console = console

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cache.close()

    def recall(self, requests: Sequence[Request], judge: Judge) -> None:
        """See `builder_scripts.llm.generate.Answers`."""
        usable: dict[str, Response] = {}
        for position, request in enumerate(requests):
            key = content_key(request, self._backend.model)
            response = self._cache.get(key) or self._cache.failures.get(key)
            if response is not None and judge(position, response) is None:
                usable[key] = response
        for response in usable.values():
            self.usage.add(response)

    def generate(self, requests: Sequence[Request], judge: Judge = no_reader) -> list[Response]:
        """See `builder_scripts.llm.generate.generate`.

        Raises:
            StoppedError: The user stopped the stage, or none of the first answers can be used.
        """
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
            TextColumn("{task.fields[summary]}"),
        )  # fmt: skip
        usage = UsageMeter(self.options.prices)
        with stoppable() as stop, Progress(*columns, console=self._console) as progress:
            bar = progress.add_task(f"Asking {self.options.model}", total=None, summary="")

            def watch(response: Response, failure: str | None, total: int) -> None:
                self.usage.add(response, failure)
                usage.add(response, failure)
                progress.update(bar, completed=usage.done, total=total, summary=usage.line(total))
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
        """Write failed requests as batch files, if the backend is `BatchFiles`."""
        if isinstance(self._backend, BatchFiles):
            self._left = self._backend.leave({content_key(r, self._backend.model): r for r in requests})

    def _stop_if_nothing_works(self) -> None:
        if isinstance(self._backend, BatchFiles):  # all of them are paid for
            return
        if self._useless >= PATIENCE and not self.usage.answered and not self.usage.cached:
            raise StoppedError(
                f"none of the first {self._useless} answers of {self.options.model} can be used: "
                f"{self._reasons()}; {_advice(self.usage.failures)}",
                1,
            )

    def estimate(self, requests: Sequence[Request]) -> str:
        """Estimate requests, tokens and price in one line, without asking. A token counts as four bytes."""
        missing = {content_key(r, self._backend.model): r for r in requests}
        missing = {key: request for key, request in missing.items() if key not in self._cache}
        read = sum(len(request.prompt.encode()) for request in missing.values()) // 4
        written = sum(request.parameters.max_tokens for request in missing.values())
        cost = self.options.prices.of(read, written)
        return (
            f"{count(len(missing), 'request')} to {self._backend.model.name} ({len(requests):,} asked for, the others "
            f"repeat or are in the store): about {read:,} tokens to read, at most {written:,} to write"
            + (f", cost at most about {amount(cost)}" if cost else "")
        )

    def check(self, outcomes: Mapping[str, Sequence[Outcome]]) -> list[str]:
        """Stop if too large a share of the questions of one kind has failed.

        Args:
            outcomes: Outcomes by kind of question. The limit applies to each kind, so that many good replies do not
                hide that all posts failed.

        Returns:
            Notes on accepted failures.

        Raises:
            StoppedError: A share is above `max_failures`, or no answer of a kind can be used.
        """
        notes = []
        for kind, of_kind in outcomes.items():
            allowed = {NO_ANSWER} if self.options.skip_unanswered else set()
            counted = (outcome for outcome in of_kind if is_failure(outcome) and outcome.failure not in allowed)
            failed = Counter(outcome.failure or "" for outcome in counted)
            n, share = failed.total(), failed.total() / max(len(of_kind), 1)
            reasons = ", ".join(f"{reason} {number:,}" for reason, number in failed.most_common())
            line = f"{n:,} of {len(of_kind):,} {kind} failed ({100 * share:.3g} %): {reasons}"
            if share > self.options.max_failures:
                reported = f" ({self._reasons()})" if self.usage.failures else ""
                raise StoppedError(
                    f"{line}{reported}; at most {100 * self.options.max_failures:g} % may fail. Answers so far are "
                    f"kept: {self._left or 'run the same command again to ask for the failed ones'}; "
                    f"{_advice(failed)}, or accept the failures with --max-failures {math.ceil(100 * share) / 100:g}",
                    1,
                )
            if of_kind and all(outcome.failure for outcome in of_kind) and self.options.max_failures < 1:
                refused = Counter(outcome.failure for outcome in of_kind)
                reasons = ", ".join(f"{reason} {number:,}" for reason, number in refused.most_common())
                raise StoppedError(
                    f"no answer about {len(of_kind):,} {kind} is of use: {reasons}; take another model, or continue "
                    "without, with --max-failures 1",
                    1,
                )
            if n:
                notes.append(f"{line}; run the same command again to ask for them once more")
        return notes

    def _reasons(self) -> str:
        return some([f"{reason} ({n}x)" for reason, n in self.usage.failures.most_common()], 2)


def _advice(reasons: Collection[str]) -> str:
    """Suggest a remedy, by the reasons of failures."""
    if CUT in reasons or EMPTY in reasons:
        return "a model that thinks needs --thinking-tokens, or thinking switched off with --extra-body"
    if UNREADABLE in reasons:
        return "check that the server follows response_format (json_schema)"
    return "check the server and its options"
