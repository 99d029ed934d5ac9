"""Models that transformers runs in this process. Each family turns prompts into tensors; the rest is here."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from musicrs_metric.errors import UserError

from ..audio_text.checkpoints import HELP, Checkpoint, check_tokenizer, find_checkpoint, with_weights
from ..options import option
from ..run.processes import launched_world
from ..system import Context, RunFacts
from .families.prompt_text import control_pattern
from .language_model import Allowed, Completion, LocalModel, Logprob, Prompt
from .loading import choose_dtype, load_pretrained
from .memory import Memory
from .settings import GenerativeOptions
from .system import Generative

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class LocalOptions(GenerativeOptions):
    """Options of every local model. A system sets its own `weights` with `baselines.options.with_defaults`."""

    weights: str = option("", HELP)
    dtype: Literal["bfloat16", "float16", "float32"] | None = option(
        None, "number format of the weights; [bfloat16, on a CPU float32]"
    )
    device_map: str | None = option(
        None,
        "distribution of a model that is too large for one GPU: auto, balanced, sequential; [one device]",
        identity=False,
    )


class TransformersModel(LocalModel):
    """A model of transformers.

    A family declares the attributes and turns prompts into tensors in `encode`. It overrides `load_model` if
    `from_pretrained` is not enough, and `tokenizer` if there is no fast tokenizer next to the weights.

    Args:
        options: Options of its system.
        context: Context of its system, with the device.

    Attributes:
        model_class: Class of transformers that loads the weights.
        end_tokens: Tokens that end an answer. Tokens that the tokenizer lacks are skipped.
        ignorable: Regular expressions of keys that may be missing or surplus in a checkpoint.
    """

    model_class: ClassVar[str]
    end_tokens: ClassVar[tuple[str, ...]] = ()
    ignorable: ClassVar[tuple[str, ...]] = ()

    def __init__(self, options: LocalOptions, context: Context) -> None:
        self.options, self.context = options, context

    @abstractmethod
    def encode(self, prompts: Sequence[Prompt]) -> dict[str, torch.Tensor]:
        """Return the arguments of the forward pass, padded on the left, on any device and in any number format.

        Args:
            prompts: At least one. Their texts hold no control tokens.

        Returns:
            Tensors with `input_ids` or `inputs_embeds`, and with `attention_mask`.
        """

    @property
    def beams(self) -> int:
        """Number of beams of the search; 1 is greedy."""
        return 1

    @property
    def revision(self) -> str:
        """Commit or hash of the weights."""
        return self.checkpoint.revision

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """Checkpoint with configuration and tokenizer. The weights may not be downloaded yet."""
        checkpoint = find_checkpoint(self.options.weights, weights=False)
        check_tokenizer(checkpoint.folder)
        return checkpoint

    @property
    def folder(self) -> Path:
        """Folder of the checkpoint."""
        return self.checkpoint.folder

    @cached_property
    def tokenizer(self) -> Any:
        """Tokenizer that pads on the left."""
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(self.folder, padding_side="left")

    @cached_property
    def model(self) -> Any:
        """Causal model with `generate`, loaded at first use."""
        from transformers import GenerationConfig

        model = self.load_model()
        # The published generation settings may sample or penalise repeats. They must not apply here.
        model.generation_config = GenerationConfig(
            eos_token_id=self.ends, pad_token_id=self._pad, bos_token_id=self.tokenizer.bos_token_id
        )
        return model

    def load_model(self) -> Any:
        """Load the weights."""
        import transformers

        cls = getattr(transformers, self.model_class)
        return self.load_pretrained(cls, with_weights(self.checkpoint, self.options.weights).folder)

    def load_pretrained(self, cls: Any, folder: Path, flag: str = "--weights") -> Any:
        """Load a model with the device and number format of the user; see `loading.load_pretrained`."""
        device = self.context.device
        dtype = choose_dtype(self.options.dtype, device)
        return load_pretrained(cls, folder, device, dtype, self.options.device_map, self.ignorable, flag)

    def load(self) -> None:
        """Load the weights at the first call."""
        self.model  # noqa: B018 - loads at first use

    def describe_run(self, tokens: int, batch_size: int, is_scored: bool) -> list[str]:
        """Return an estimate of memory."""
        from .packed import AT_ONCE

        dtype = choose_dtype(self.options.dtype, self.context.device)
        rows = 1 if self.options.protocol in ("constrained", "pointwise") else batch_size * self.beams
        scored = AT_ONCE if is_scored else 0
        memory = Memory.of(self.limits, tokens, rows=rows, scored=scored, width=dtype.itemsize)
        return [f"memory, estimated for {str(dtype).removeprefix('torch.')}: {memory}"]

    @cached_property
    def ends(self) -> list[int]:
        """Tokens that end an answer, the one of the tokenizer first."""
        known = self.tokenizer.get_vocab()
        named = [known[token] for token in self.end_tokens if token in known]
        own = self.tokenizer.eos_token_id
        return list(dict.fromkeys([*([] if own is None else [own]), *named]))

    @property
    def end(self) -> int:
        """First token of `ends`."""
        return self.ends[0]

    def ids(self, text: str) -> list[int]:
        """Return the token ids of a text without its control tokens."""
        ids: list[int] = self.tokenizer(self.clean(text), add_special_tokens=False)["input_ids"]
        return ids

    def n_tokens(self, text: str) -> int:
        """Count the tokens of a text."""
        return len(self.ids(text))

    def clean(self, text: str) -> str:
        """Replace control tokens of the tokenizer with spaces."""
        return text if self._controls is None else self._controls.sub(" ", text)

    def complete(self, prompts: Sequence[Prompt], budget: int) -> list[Completion]:
        """Complete prompts by greedy search, or by beam search if the family sets `beams`."""
        import torch

        from .packed import last_logits_only

        inputs = self.inputs(prompts, budget)
        with torch.inference_mode(), last_logits_only(self.model):
            rows = self.model.generate(**inputs, max_new_tokens=budget, do_sample=False, num_beams=self.beams)
        start = (
            inputs["input_ids"].shape[1] if "input_ids" in inputs else 0
        )  # with embeddings, rows hold the answer only
        return [self._completion(row[start:].tolist(), budget) for row in rows]

    def choose(self, prompt: Prompt, allowed: Allowed, budget: int) -> list[int]:
        """Complete a prompt greedily with allowed tokens. A single allowed token needs no forward pass."""
        from .packed import Prefix

        prefix = Prefix(self.model, self.inputs([prompt], budget))
        answer: list[int] = []
        unread: list[int] = []
        while len(answer) < budget:
            tokens = allowed(answer)
            if len(tokens) > 1 and unread:
                prefix.extend(unread)
                unread = []
            token = prefix.best(tokens) if len(tokens) > 1 else tokens[0]
            if token == self.end:
                break
            answer.append(token)
            unread.append(token)
        return answer

    def score(self, prompt: Prompt, continuations: Sequence[Sequence[int]]) -> list[Logprob]:
        """Score continuations in packed forward passes over one cached prefix."""
        from .packed import Prefix

        longest = max(len(tokens) for tokens in continuations)
        return Prefix(self.model, self.inputs([prompt], longest)).score(continuations)

    def inputs(self, prompts: Sequence[Prompt], budget: int = 0) -> dict[str, torch.Tensor]:
        """Encode prompts without control tokens, on the device and in the number format of the model.

        Args:
            prompts: At least one.
            budget: Most tokens of an answer.

        Raises:
            ContextError: A prompt and its answer do not fit into the context.
        """
        encoded = self.encode([prompt._replace(text=self.clean(prompt.text)) for prompt in prompts])
        longest = encoded["attention_mask"].shape[1]
        if longest + budget > self.limits.context:
            raise ContextError(
                f"the prompt takes {longest} tokens and the answer up to {budget}, together more than the "
                f"{self.limits.context} of the model's context"
            )
        device, dtype = self.model.device, self.model.dtype
        return {
            name: value.to(device, dtype) if value.is_floating_point() else value.to(device)
            for name, value in encoded.items()
        }

    @cached_property
    def _controls(self) -> re.Pattern[str] | None:
        return control_pattern(self.tokenizer)

    def _completion(self, tokens: list[int], budget: int) -> Completion:
        ends = [index for index, token in enumerate(tokens) if token in self.ends]
        answer = tokens[: ends[0]] if ends else tokens
        text: str = self.tokenizer.decode(answer, skip_special_tokens=True)
        return Completion(text.strip(), len(answer), cut=not ends and len(answer) >= budget)

    @property
    def _pad(self) -> int:
        pad: int | None = self.tokenizer.pad_token_id
        return self.end if pad is None else pad


class LocalGenerative(Generative):
    """A system whose model runs in this process. A subclass needs only a declaration, its options and its model."""

    Options = LocalOptions
    Model: ClassVar[type[TransformersModel]]

    def __init__(self, options: LocalOptions, context: Context) -> None:
        super().__init__(options, context)
        if options.device_map is not None and launched_world() > 1:
            raise UserError("--device-map: distributes one model over all devices; start a single process")
        self.declaration = self.declaration.for_weights(options.weights)

    def run_facts(self) -> RunFacts:
        """Add the number format to the facts of every generative system: its default differs between CPU and GPU."""
        facts = super().run_facts()
        dtype = str(choose_dtype(self.options.dtype, self.context.device)).removeprefix("torch.")
        return replace(facts, extra={**facts.extra, "number_format": dtype})


class ContextError(ValueError):
    """A prompt that does not fit into the context of the model. Its thread fails."""
