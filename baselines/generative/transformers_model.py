"""Models that transformers runs in this process: what families share. Each says itself how prompts become tensors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from musicrs_metric.errors import UserError

from ..audio_text.checkpoints import HELP, Checkpoint, find_checkpoint, with_weights
from ..options import option
from ..run.processes import launched_world
from ..system import Context, RunFacts
from .families.prompt_text import without_controls
from .language_model import Allowed, Completion, LocalModel, Logprob, Prompt
from .loading import choose_dtype, load_pretrained
from .memory import Memory
from .settings import GenerativeOptions
from .system import Generative

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class LocalOptions(GenerativeOptions):
    """Options of every such model; a system gives `weights` a default of its own."""

    weights: str = option("", HELP)
    dtype: Literal["bfloat16", "float16", "float32"] | None = option(
        None, "number format of the weights; [bfloat16, on a CPU float32]"
    )
    device_map: str | None = option(
        None,
        "spread a model that is too large for one GPU over several: auto, balanced, sequential; [one device]",
        identity=False,
    )


class TransformersModel(LocalModel):
    """A model of transformers.

    A family declares the attributes and says how prompts become tensors in `encode`; one whose `from_pretrained` is not
    all there is to loading overrides `load_model`, one without a fast tokenizer beside its weights `tokenizer`.

    Args:
        options: The options of its system.
        context: Tells the device.

    Attributes:
        model_class: Class of transformers that loads the weights.
        end_tokens: Tokens that end an answer; those that the tokenizer does not have are passed over.
        ignorable: Regular expressions of keys that a checkpoint may lack or have beside the model's.
    """

    model_class: ClassVar[str]
    end_tokens: ClassVar[tuple[str, ...]] = ()
    ignorable: ClassVar[tuple[str, ...]] = ()

    def __init__(self, options: LocalOptions, context: Context) -> None:
        self.options, self.context = options, context

    @abstractmethod
    def encode(self, prompts: Sequence[Prompt]) -> dict[str, torch.Tensor]:
        """What the model's forward takes for some prompts, padded on the left; on any device, in any number format.

        Args:
            prompts: At least one; their texts hold no control tokens any more.

        Returns:
            With `input_ids`, or `inputs_embeds` in their place, and `attention_mask`.
        """

    @property
    def beams(self) -> int:
        """Beams of a search for completions; 1 is greedy."""
        return 1

    @property
    def revision(self) -> str:
        """Commit or hash of the weights."""
        return self.checkpoint.revision

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """Where configuration and tokenizer are; the weights may not be there yet."""
        found = find_checkpoint(self.options.weights, weights=False)
        if not any(file for kind in ("tokenizer.*", "vocab.*") for file in found.folder.glob(kind)):
            # transformers makes one that knows no word.
            raise UserError(f"--weights {found.folder}: no tokenizer in it; expected {HELP}")
        return found

    @property
    def folder(self) -> Path:
        """The folder of the checkpoint."""
        return self.checkpoint.folder

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer, padding on the left."""
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(self.folder, padding_side="left")

    @cached_property
    def model(self) -> Any:
        """The causal model whose `generate` answers, in memory; made at first use."""
        from transformers import GenerationConfig

        model = self.load_model()
        # What the authors published beside the weights may sample, or punish repeats; nothing of it is to slip in.
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
        """Load a model of some class where and how the user wants it; see `loading.load_pretrained`."""
        device = self.context.device
        dtype = choose_dtype(self.options.dtype, device)
        return load_pretrained(cls, folder, device, dtype, self.options.device_map, self.ignorable, flag)

    def load(self) -> None:
        """Load the weights, unless they are loaded."""
        self.model  # noqa: B018 - made at first use

    def describe_run(self, tokens: int, batch_size: int, is_scored: bool) -> list[str]:
        """An estimate of memory."""
        from .packed import AT_ONCE

        dtype = choose_dtype(self.options.dtype, self.context.device)
        rows = 1 if self.options.protocol in ("constrained", "pointwise") else batch_size * self.beams
        scored = AT_ONCE if is_scored else 0
        memory = Memory.of(self.limits, tokens, rows=rows, scored=scored, width=dtype.itemsize)
        return [f"memory, estimated for {str(dtype).removeprefix('torch.')}: {memory}"]

    @cached_property
    def ends(self) -> list[int]:
        """The tokens that end an answer, that of the tokenizer first."""
        known = self.tokenizer.get_vocab()
        named = [known[token] for token in self.end_tokens if token in known]
        own = self.tokenizer.eos_token_id
        return list(dict.fromkeys([*([] if own is None else [own]), *named]))

    @property
    def end(self) -> int:
        """The first of them."""
        return self.ends[0]

    def ids(self, text: str) -> list[int]:
        """A text as token numbers; what would be a control token is taken out."""
        ids: list[int] = self.tokenizer(self.clean(text), add_special_tokens=False)["input_ids"]
        return ids

    def n_tokens(self, text: str) -> int:
        """Tokens of a text."""
        return len(self.ids(text))

    def clean(self, text: str) -> str:
        """Put a space in place of whatever the tokenizer would take for one of its control tokens."""
        return without_controls(text, self.tokenizer)

    def complete(self, prompts: Sequence[Prompt], budget: int) -> list[Completion]:
        """Complete prompts by greedy search, or by beam search where the family says so."""
        import torch

        from .packed import last_logits_only

        inputs = self.inputs(prompts, budget)
        with torch.inference_mode(), last_logits_only(self.model):
            rows = self.model.generate(**inputs, max_new_tokens=budget, do_sample=False, num_beams=self.beams)
        start = inputs["input_ids"].shape[1] if "input_ids" in inputs else 0  # of embeddings only the answer comes back
        return [self._completion(row[start:].tolist(), budget) for row in rows]

    def choose(self, prompt: Prompt, allowed: Allowed, budget: int) -> list[int]:
        """Complete a prompt greedily with allowed tokens; where only one is allowed, the model is not asked."""
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
        """Score continuations, all in packed forwards over one cached prefix."""
        from .packed import Prefix

        longest = max(len(tokens) for tokens in continuations)
        return Prefix(self.model, self.inputs([prompt], longest)).score(continuations)

    def inputs(self, prompts: Sequence[Prompt], budget: int = 0) -> dict[str, torch.Tensor]:
        """Encode prompts for the model: without control tokens, on its device, in its number format.

        Args:
            prompts: At least one.
            budget: Most tokens of an answer.

        Raises:
            ContextError: The context does not hold a prompt and its answer.
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

    def _completion(self, tokens: list[int], budget: int) -> Completion:
        ends = [place for place, token in enumerate(tokens) if token in self.ends]
        answer = tokens[: ends[0]] if ends else tokens
        text: str = self.tokenizer.decode(answer, skip_special_tokens=True)
        return Completion(text.strip(), len(answer), cut=not ends and len(answer) >= budget)

    @property
    def _pad(self) -> int:
        pad: int | None = self.tokenizer.pad_token_id
        return self.end if pad is None else pad


class LocalGenerative(Generative):
    """A system whose model runs in this process. A subclass declares itself and makes its model; nothing else."""

    Options = LocalOptions

    def __init__(self, options: LocalOptions, context: Context) -> None:
        super().__init__(options, context)
        if options.device_map is not None and launched_world() > 1:
            raise UserError("--device-map: spreads one model over all devices; start one process")
        self.declaration = self.declaration.for_weights(options.weights)

    def run_facts(self) -> RunFacts:
        """As of every such system, and the number format: a CPU and a GPU have other ones where the user names none."""
        found = super().run_facts()
        dtype = str(choose_dtype(self.options.dtype, self.context.device)).removeprefix("torch.")
        return replace(found, extra={**found.extra, "number_format": dtype})

    @abstractmethod
    def make_language_model(self) -> TransformersModel:
        """The model under `self.options` and `self.context`; cheap."""


class ContextError(ValueError):
    """A prompt that does not fit into the model's context; it fails its thread."""
