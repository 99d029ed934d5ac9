"""Causal language model: any text model that `AutoModelForCausalLM` loads, under the protocols of all language models.

The default is the protocol `pointwise` with `--normalisation contrast`, which base models take, too: how much likelier
is a candidate after the query than after a general request. The softmax runs over the tokens that the candidates of the
thread use (`--softmax names`): a small model spends most of its time on the logits of a large vocabulary.

`--gguf FILE` loads a GGUF file through transformers, in the number format of the model, not in the quantised one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from musicrs_metric.errors import UserError

from ..audio_text.checkpoint_files import find_checkpoint_file
from ..audio_text.checkpoints import HELP, Checkpoint, loading_tokenizer, with_weights
from ..generative.audio_limits import AudioLimits
from ..generative.language_model import Logprob, Prompt
from ..generative.loading import choose_dtype, load_pretrained
from ..generative.settings import PROTOCOL_HELP, RENAMED, Normalisation, ProtocolName
from ..generative.transformers_model import LocalGenerative, LocalOptions, TransformersModel
from ..options import option
from ..system import Context, Declaration

if TYPE_CHECKING:
    import torch

# Longest prompt and answer. Larger contexts exist, but no prompt here comes near, and memory is estimated for it.
_LONGEST = 32_768
# transformers ties these to the input embeddings, so a checkpoint may lack them.
_TIED = (r"lm_head\.weight", r"(.*\.)?rotary_emb\.inv_freq")


@dataclass(frozen=True)
class CausalOptions(LocalOptions):
    """Options of `causal_lm`."""

    protocol: ProtocolName = option(  # noqa: RUF009
        "pointwise", PROTOCOL_HELP, aliases=RENAMED
    )
    normalisation: Normalisation | None = option(  # type: ignore[assignment]  # noqa: RUF009
        None, "pointwise: mean, sum, pmi or contrast, see baselines.generative.protocols.pointwise; [contrast]"
    )
    weights: str = option("", f"{HELP}; required")
    gguf: str | None = option(None, "name of a GGUF file in the folder or repository; [none]")
    softmax: Literal["names", "all"] = option(
        "names", "pointwise: softmax over the tokens of the thread's candidates, or over all tokens"
    )

    def __post_init__(self) -> None:
        if self.normalisation is None:
            object.__setattr__(self, "normalisation", "contrast" if self.protocol == "pointwise" else "mean")

    def check(self) -> None:
        """Check as every language model does, and ask for weights."""
        super().check()
        if not self.weights:
            raise UserError(f"--weights: missing; expected {HELP}, such as HuggingFaceTB/SmolLM2-135M-Instruct")


class CausalTextModel(TransformersModel):
    """A text model of transformers."""

    options: CausalOptions
    end_tokens: ClassVar[tuple[str, ...]] = ("<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|endoftext|>")

    @cached_property
    def limits(self) -> AudioLimits:  # type: ignore[override]
        """Context and memory, estimated from the configuration. The model takes no audio."""
        config = self._config
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        layers, hidden = config.num_hidden_layers, config.hidden_size
        inner = getattr(config, "intermediate_size", None) or 4 * hidden
        n = config.vocab_size * hidden + layers * (
            2 * hidden * hidden + 2 * hidden * heads * width + 3 * hidden * inner
        )
        return AudioLimits(
            sampling_rate=16_000,
            context=min(getattr(config, "max_position_embeddings", None) or _LONGEST, _LONGEST),
            tokens_per_second=0.0,
            weights_gib=2 * n / 2**30,
            cache_kib_per_token=2 * layers * heads * width * 2 / 2**10,
        )

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """Checkpoint with configuration and tokenizer, or the GGUF file with both."""
        if self.options.gguf is None:
            return super().checkpoint
        file = find_checkpoint_file(self.options.weights, self.options.gguf)
        return Checkpoint(file.path.parent, file.revision)

    @cached_property
    def tokenizer(self) -> Any:
        """Tokenizer that pads on the left."""
        from transformers import AutoTokenizer

        with loading_tokenizer(self.folder):
            return AutoTokenizer.from_pretrained(self.folder, padding_side="left", **self._gguf)

    def load_model(self) -> Any:
        """Load the weights."""
        from transformers import AutoModelForCausalLM

        options, device = self.options, self.context.device
        folder = self.folder if options.gguf else with_weights(self.checkpoint, options.weights).folder
        dtype = choose_dtype(options.dtype, device)
        return load_pretrained(
            AutoModelForCausalLM, folder, device, dtype, options.device_map, _TIED, gguf=options.gguf
        )

    def encode(self, prompts: Sequence[Prompt]) -> dict[str, torch.Tensor]:
        """Encode prompts with the chat template of the model, if it has one and the prompt is not bare."""
        texts, is_chat = [], bool(self.tokenizer.chat_template)
        for prompt in prompts:
            text = prompt.text
            if is_chat and not prompt.is_bare:
                turns = [{"role": "user", "content": text}]
                text = self.tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
            texts.append(text if is_chat or prompt.is_bare else f"{text}\n\n")
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        special = not is_chat or any(prompt.is_bare for prompt in prompts)
        encoded = self.tokenizer(texts, padding=True, add_special_tokens=special, return_tensors="pt")
        return {name: encoded[name] for name in ("input_ids", "attention_mask")}

    def score(self, prompt: Prompt, continuations: Sequence[Sequence[int]]) -> list[Logprob]:
        """Score continuations, under `--softmax names` among the tokens that they use."""
        if self.options.softmax == "all":
            return super().score(prompt, continuations)
        from ..generative.packed import Prefix, restricted_head

        tokens = sorted({token for continuation in continuations for token in continuation})
        columns = {token: column for column, token in enumerate(tokens)}
        inputs = self.inputs([prompt], max(map(len, continuations)))
        with restricted_head(self.model, tokens):
            return Prefix(self.model, inputs).score(continuations, columns=columns)

    @property
    def _gguf(self) -> dict[str, str]:
        return {"gguf_file": self.options.gguf} if self.options.gguf else {}

    @cached_property
    def _config(self) -> Any:
        from transformers import AutoConfig

        try:
            config = AutoConfig.from_pretrained(self.folder, trust_remote_code=False, **self._gguf)
        except (OSError, ValueError, TypeError, KeyError, ImportError) as error:
            reason = " ".join(str(error).split())[:200]
            raise UserError(f"--weights {self.folder}: no causal language model of transformers ({reason})") from error
        if any(name.endswith("ForMaskedLM") for name in config.architectures or ()):
            raise UserError(f"--weights {self.folder}: a masked language model; expected a causal one")
        return config.get_text_config()


class CausalLM(LocalGenerative):
    """Asks a text model."""

    declaration = Declaration(
        name="causal_lm",
        paradigm="generative",
        modalities=("query_only",),
        reads="thread",
        description="Probability of each candidate under any causal language model, or another protocol.",
        needs=("torch", "transformers", "accelerate"),
        open_weights=True,
        batch_size=1,
    )
    Options = CausalOptions
    Model = CausalTextModel
    uses_audio = False

    def __init__(self, options: Any, context: Context) -> None:
        options.check()
        super().__init__(options, context)
