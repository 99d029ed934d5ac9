"""A system that asks a language model: a protocol writes the prompt and turns the answer into a ranking."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from musicrs_dataset.audio.clips import load_clips
from musicrs_dataset.records import Thread
from musicrs_metric.errors import UserError, count, some
from musicrs_metric.runs.predictions import Prediction

from ..system import Context, RunFacts, System, Task
from .audio_fit import PromptClips, ThreadLoad, fit
from .language_model import LanguageModel, LocalModel, Prompt
from .memory import is_out_of_memory, release
from .protocols import Protocol, RankedAnswer, RankingRequest, make_protocol
from .settings import GenerativeOptions

# Field of the run card that lists the differences from the published runs.
UNLIKE_PUBLISHED = "unlike_published"


class Generative(System):
    """Ranks by asking a language model.

    A subclass needs only a declaration, its options and its model. The declaration has a batch size of 1: in larger
    batches, padding and the shapes of matrices change last digits, and thereby the order of near-ties.

    Attributes:
        Model: Class of the language model; a call with options and context makes one.
    """

    Options = GenerativeOptions
    Model: ClassVar[Any]
    uses_audio = True

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        options.check()
        self.language_model = self.make_language_model()
        self.protocol: Protocol = make_protocol(options, context.modality, context.seed, context)
        if options.seconds is not None and not self.sends_audio:
            raise UserError(f"--seconds {options.seconds:g}: query_only uses no audio; leave it out")
        if self.protocol.is_bare and self.sends_audio:
            raise UserError(f"--normalisation contrast: takes the query only, not {context.modality}; use query_only")
        if self.protocol.is_local and not isinstance(self.language_model, LocalModel):
            raise UserError(f"--protocol {options.protocol}: takes a model in this process; use listwise or titles")
        self._plan: PromptClips | None = None
        self._costs: dict[str, int] = {}
        self._records: list[dict[str, Any]] = []
        self._at_once: int | None = None  # threads at a time; less than a batch once memory ran out
        self._n_tokens, self._seconds = 0, 0.0

    def make_language_model(self) -> LanguageModel:
        """Make the model without loading its weights."""
        model: LanguageModel = self.Model(self.options, self.context)
        return model

    @property
    def sends_audio(self) -> bool:
        """True if the prompts of this modality hold clips."""
        return self.context.modality != "query_only"

    @property
    def plan(self) -> PromptClips:
        """Amount of audio of every thread, fitted by `inspect_threads`.

        Raises:
            UserError: `inspect_threads` was not called.
        """
        if self._plan is None:
            raise UserError(f"{self.declaration.name}: the clips were not fitted; call inspect_threads(threads) first")
        return self._plan

    def inspect_threads(self, threads: Sequence[Thread]) -> None:
        """Fit the clips of the whole dataset to the context of the model."""
        loads = {thread.thread_id: self._load(thread) for thread in threads}
        plan = fit(self.language_model.limits, list(loads.values()), self.options.seconds)
        self._plan = plan if self.sends_audio else plan._replace(seconds=0.0)
        self._costs = {name: plan.tokens(load) for name, load in loads.items() if name not in plan.too_long}

    def run_facts(self) -> RunFacts:
        """Return the revision of the weights, the protocol and its prompt, and the plan of the clips."""
        unlike, weights = self._unlike_published(), self.protocol.weights
        return RunFacts(
            model_revision=self.language_model.revision + (f", matched by {weights}" if weights else ""),
            protocol=self.protocol.name,
            prompt_hash=self.protocol.prompt_hash,
            clip_plan=str(self.plan) if self.sends_audio else None,
            extra={"fitted": self.plan.to_dict()} | ({UNLIKE_PUBLISHED: unlike} if unlike else {}),
        )

    def audio_used(self, thread: Thread) -> list[float]:
        """Return the share of each clip that the plan allows."""
        return self.plan.audio_used(self._lengths(thread))

    def prepare(self, threads: Sequence[Thread]) -> None:  # noqa: ARG002
        """Load the weights."""
        self.language_model.load()

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Ask for all threads of the batch together, or for as many as fit into memory."""
        started = time.monotonic()
        answers = self._answers([self.request(task.thread) for task in batch])
        self._seconds += time.monotonic() - started
        self._n_tokens += sum(answer.n_tokens for answer in answers)
        self._records += [answer.record() for answer in answers]
        return [answer.prediction for answer in answers]

    def request(self, thread: Thread) -> RankingRequest:
        """Write the prompt of a thread, with its clips decoded and cut as planned."""
        prompt = Prompt(self._text(thread), self._audio(thread), self.protocol.is_bare)
        return RankingRequest(thread, prompt, self.plan.answer(self._load(thread)))

    def take_answer_records(self) -> list[dict[str, Any]]:
        """Return and clear the answers since the last call, each with the account of its reading."""
        records, self._records = self._records, []
        return records

    def findings(self) -> dict[str, Any]:
        """Return what loading showed about the model."""
        return self.language_model.findings()

    def throughput(self) -> str:
        """Return the tokens per second."""
        return f"{self._n_tokens / self._seconds:.1f} tokens/s" if self._seconds else ""

    def close(self) -> None:
        """Save what the protocol keeps for later runs."""
        self.protocol.close()

    def cost(self, thread: Thread) -> float:
        """Return the tokens of prompt and answer; 0 if they exceed the context, so that these threads run last."""
        return self._costs.get(thread.thread_id, 0)

    def describe_run(self, thread: Thread, batch_size: int) -> list[str]:
        """Return the fullest thread, an estimate of memory, and the prompt of the first thread."""
        plan = self.plan
        lines = [f"fullest thread: {plan.fullest}, {plan.most_tokens} of {plan.limits.context} tokens with its answer"]
        if plan.too_long:
            n = count(len(plan.too_long), "thread")
            lines.append(f"too long for the context, will fail: {n}: {some(plan.too_long)}")
        if plan.n_shortened:
            lines.append(f"less room for text next to the ranking, by the context: {count(plan.n_shortened, 'thread')}")
        lines += self.language_model.describe_run(plan.most_tokens, batch_size, self.protocol.is_scored)
        lines += [f"unlike the published run, {difference}" for difference in self._unlike_published()]
        audio = ", ".join(f"{seconds:.1f} s" for seconds in self.audio_used(thread)) or "none"
        return [*lines, f"audio of {thread.thread_id}: {audio}", f"prompt of {thread.thread_id}:", self._text(thread)]

    def _answers(self, requests: Sequence[RankingRequest]) -> list[RankedAnswer]:
        """Ask for at most `_at_once` threads together. Halve this number whenever memory runs out."""
        if self._at_once is not None and len(requests) > self._at_once:
            parts = [requests[start : start + self._at_once] for start in range(0, len(requests), self._at_once)]
            return [answer for part in parts for answer in self._answers(part)]
        try:
            return self.protocol.rank(self.language_model, requests)
        except Exception as error:
            if not is_out_of_memory(error) or len(requests) == 1:
                raise
        # Outside of the handler nothing of the failed attempt is held any more.
        release()
        self._at_once = len(requests) // 2
        return self._answers(requests)

    def _unlike_published(self) -> list[str]:
        """Return the differences from the published run, if the protocol follows it."""
        common = self.protocol.differences
        return [*common, *self.language_model.differences] if common else []

    def _text(self, thread: Thread) -> str:
        return self.protocol.prompt_text(thread, len(self._lengths(thread)))

    def _lengths(self, thread: Thread) -> list[float]:
        return [clip.duration_s for clip in thread.clips or ()] if self.sends_audio else []

    def _audio(self, thread: Thread) -> tuple[Any, ...]:
        rate = self.language_model.limits.sampling_rate
        if self.sends_audio and thread.clips:
            return self.plan.pieces(list(load_clips(zip(thread.clips, self.audio_used(thread), strict=True), rate)))
        if self._gets_silence(thread):
            return (np.zeros(round(self.language_model.limits.silence_s * rate), dtype=np.float32),)
        return ()

    def _gets_silence(self, thread: Thread) -> bool:
        has_clips = self.sends_audio and thread.clips
        return not has_clips and self.protocol.silence and self.language_model.limits.silence_s > 0

    def _load(self, thread: Thread) -> ThreadLoad:
        # Sort: all candidate orders of a thread must get the same clip lengths.
        thread = replace(thread, candidates=tuple(sorted(thread.candidates)))
        model, clips = self.language_model, self._lengths(thread)
        text = model.n_tokens(self.protocol.prompt_text(thread, len(clips)))
        if self._gets_silence(thread):
            clips = [model.limits.silence_s]
        budget, min_budget = self.protocol.budget(model, thread), self.protocol.min_budget(model, thread)
        return ThreadLoad(thread.thread_id, clips, text, budget, min_budget)
