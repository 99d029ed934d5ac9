"""A system made of a model that hears and answers in words: a protocol asks, and its reading of the answer ranks."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

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

# Field of the card that lists what the published runs did in another way.
UNLIKE_PUBLISHED = "unlike_published"


class Generative(System):
    """Ranks by asking a model.

    A subclass declares itself, with a batch of 1 (another size may turn near-ties, as padding and the shapes of
    matrices change last digits), and makes its model; nothing else.
    """

    Options = GenerativeOptions
    uses_audio = True

    def __init__(self, options: Any, context: Context) -> None:
        super().__init__(options, context)
        options.check()
        self.language_model = self.make_language_model()
        self.protocol: Protocol = make_protocol(options, context.modality, context.seed)
        if options.seconds is not None and not self.sends_audio:
            raise UserError(f"--seconds {options.seconds:g}: nothing is heard in query_only; leave it out")
        if self.protocol.is_local and not isinstance(self.language_model, LocalModel):
            raise UserError(f"--protocol {options.protocol}: takes a model in this process; use listwise or titles")
        self._plan: PromptClips | None = None
        self._costs: dict[str, int] = {}
        self._notes: list[dict[str, Any]] = []
        self._at_once: int | None = None  # threads; less than a batch once memory ran out
        self._n_tokens, self._seconds = 0, 0.0

    @abstractmethod
    def make_language_model(self) -> LanguageModel:
        """The model under `self.options` and `self.context`; cheap, see `Listener`."""

    @property
    def sends_audio(self) -> bool:
        """Whether clips are listened to in this modality."""
        return self.context.modality != "query_only"

    @property
    def plan(self) -> PromptClips:
        """How much is heard of every thread, fitted by `survey`.

        Raises:
            UserError: The dataset was not surveyed.
        """
        if self._plan is None:
            raise UserError(f"{self.declaration.name}: the clips were not fitted; call survey(threads) first")
        return self._plan

    def inspect_threads(self, threads: Sequence[Thread]) -> None:
        """Fit the clips of a whole dataset to the model's context."""
        loads = {thread.thread_id: self._load(thread) for thread in threads}
        plan = fit(self.language_model.limits, list(loads.values()), self.options.seconds)
        self._plan = plan if self.sends_audio else plan._replace(seconds=0.0)
        self._costs = {name: plan.tokens(load) for name, load in loads.items() if name not in plan.too_long}

    def run_facts(self) -> RunFacts:
        """The revision of the weights, the protocol and its prompt, and the plan of the clips."""
        unlike = self._unlike_published()
        return RunFacts(
            model_revision=self.language_model.revision,
            protocol=self.protocol.name,
            prompt_hash=self.protocol.prompt_hash,
            clip_plan=str(self.plan) if self.sends_audio else None,
            extra={"fitted": self.plan.to_dict()} | ({UNLIKE_PUBLISHED: unlike} if unlike else {}),
        )

    def audio_used(self, thread: Thread) -> list[float]:
        """A clip is heard up to its share of the time."""
        return self.plan.audio_used(self._lengths(thread))

    def prepare(self, threads: Sequence[Thread]) -> None:  # noqa: ARG002
        """Load the weights."""
        self.language_model.load()

    def rank(self, batch: Sequence[Task]) -> list[Prediction]:
        """Ask for all threads of the batch together, or for as many as fit into memory."""
        started = time.monotonic()
        asks = [self.ask(task.thread) for task in batch]
        answers = self._answers(asks)
        self._seconds += time.monotonic() - started
        self._n_tokens += sum(answer.n_tokens for answer in answers)
        self._notes += [answer.record() for answer in answers]
        return [answer.prediction for answer in answers]

    def ask(self, thread: Thread) -> RankingRequest:
        """What the model is asked of a thread, its clips decoded and cut as planned."""
        prompt = Prompt(self._words(thread), self._sound(thread))
        return RankingRequest(thread, prompt, self.plan.answer(self._load(thread)))

    def take_answer_records(self) -> list[dict[str, Any]]:
        """What the model wrote, and the account of the reading, since the last call."""
        notes, self._notes = self._notes, []
        return notes

    def findings(self) -> dict[str, Any]:
        """What loading has found out about the model."""
        return self.language_model.findings()

    def throughput(self) -> str:
        """Tokens a second."""
        return f"{self._n_tokens / self._seconds:.1f} tokens/s" if self._seconds else ""

    def cost(self, thread: Thread) -> float:
        """Tokens of prompt and answer; 0 where they exceed the context, so that such threads come last, and fail."""
        return self._costs.get(thread.thread_id, 0)

    def describe_run(self, thread: Thread, batch_size: int) -> list[str]:
        """The fullest thread, an estimate of memory, and the prompt of the first thread."""
        plan = self.plan
        lines = [f"fullest thread: {plan.fullest}, {plan.most_tokens} of {plan.limits.context} tokens with its answer"]
        if plan.too_long:
            n = count(len(plan.too_long), "thread")
            lines.append(f"too long for the context, and going to fail: {n}: {some(plan.too_long)}")
        if plan.n_shortened:
            lines.append(f"less room for talk beside the ranking, by the context: {count(plan.n_shortened, 'thread')}")
        lines += self.language_model.describe_run(plan.most_tokens, batch_size, self.protocol.is_scored)
        lines += [f"unlike the published run, {difference}" for difference in self._unlike_published()]
        heard = [f"{seconds:.1f} s" for seconds in self.audio_used(thread)]
        sound = ", ".join(heard) or "none"
        return [*lines, f"sound of {thread.thread_id}: {sound}", f"prompt of {thread.thread_id}:", self._words(thread)]

    def _answers(self, asks: Sequence[RankingRequest]) -> list[RankedAnswer]:
        """Ask for at most `_at_once` threads together, and for half of them from then on where memory runs out."""
        if self._at_once is not None and len(asks) > self._at_once:
            parts = [asks[start : start + self._at_once] for start in range(0, len(asks), self._at_once)]
            return [answer for part in parts for answer in self._answers(part)]
        try:
            return self.protocol.rank(self.language_model, asks)
        except Exception as error:
            if not is_out_of_memory(error) or len(asks) == 1:
                raise
        # Outside of the handler nothing of the failed attempt is held any more.
        release()
        self._at_once = len(asks) // 2
        return self._answers(asks)

    def _unlike_published(self) -> list[str]:
        """Only a protocol that follows the published runs can differ from them."""
        common = self.protocol.differences
        return [*common, *self.language_model.differences] if common else []

    def _words(self, thread: Thread) -> str:
        return self.protocol.words(thread, len(self._lengths(thread)))

    def _lengths(self, thread: Thread) -> list[float]:
        return [clip.duration_s for clip in thread.clips or ()] if self.sends_audio else []

    def _sound(self, thread: Thread) -> tuple[Any, ...]:
        rate = self.language_model.limits.sampling_rate
        if self.sends_audio and thread.clips:
            return self.plan.pieces(list(load_clips(zip(thread.clips, self.audio_used(thread), strict=True), rate)))
        if self._is_silent(thread):
            return (np.zeros(round(self.language_model.limits.silence_s * rate), dtype=np.float32),)
        return ()

    def _is_silent(self, thread: Thread) -> bool:
        """Whether silence is to stand in for clips."""
        there = self.sends_audio and thread.clips
        return not there and self.protocol.silence and self.language_model.limits.silence_s > 0

    def _load(self, thread: Thread) -> ThreadLoad:
        # In a run in several orders, each is to be fitted alike.
        thread = replace(thread, candidates=tuple(sorted(thread.candidates)))
        clips = self._lengths(thread)
        text = self.language_model.n_tokens(self.protocol.words(thread, len(clips)))
        if self._is_silent(thread):
            clips = [self.language_model.limits.silence_s]
        budget, least = (
            self.protocol.budget(self.language_model, thread),
            self.protocol.min_budget(self.language_model, thread),
        )
        return ThreadLoad(thread.thread_id, clips, text, budget, least)
