"""SALMONN and FUTGA as listeners: Vicuna with ears of their own, of four parts that lie in four places.

A prompt is `USER: <Speech>...</Speech> request`, a line end and `ASSISTANT:`, with 88 tokens of sound at the dots; as
the authors did it, the texts before and after them are tokenised each on its own. Without sound, the mark of it is left
out. Ears and bridge compute in float32 whatever the language model does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from musicrs_dataset.audio.cutting import Samples
from musicrs_metric.base.hub_errors import missing_file_reason
from musicrs_metric.errors import UserError

from ...audio_text.checkpoint_files import BEATS_SOURCE, CheckpointFile, find_beats, find_file
from ...audio_text.checkpoints import HELP, WHISPER, Checkpoint, find_checkpoint, with_weights
from ...options import option
from ..audio_limits import Ears
from ..language_model import Prompt
from ..loading import choose_dtype
from ..transformers_model import LocalOptions, TransformersListener

if TYPE_CHECKING:
    import torch

    from ...vendored.salmonn import SalmonnEars

_MARKS = re.compile(r"</?Speech(Here)?>")


def ears_of(*, context: int, weights_gib: float, cache_kib_per_token: float) -> Ears:
    """What such a model hears: 30 s of a prompt, whose clips are joined, as 88 tokens.

    Args:
        context: Of Vicuna.
        weights_gib: Of Vicuna in bfloat16.
        cache_kib_per_token: Of Vicuna.
    """
    return Ears(
        sampling_rate=16_000,
        context=context,
        tokens_per_second=0,
        tokens_per_clip=88,
        total_limit_s=30.0,
        several_clips=False,
        template_tokens=32,
        silence_s=1.0,
        weights_gib=weights_gib,
        float32_gib=2.8,
        cache_kib_per_token=cache_kib_per_token,
    )


@dataclass(frozen=True)
class SalmonnOptions(LocalOptions):
    """Options of every such system; each gives `weights` and `vicuna` defaults of its own."""

    vicuna: str = option("", f"the language model: {HELP}")
    whisper: str = option(WHISPER, f"of which the encoder hears: {HELP}")
    beats: str | None = option(
        None, f"BEATs_iter3_plus_AS2M_finetuned_on_AS2M_cpt2.pt from {BEATS_SOURCE}; needed where sound is heard"
    )


class Search(NamedTuple):
    """How the published run of the MusiCRS paper searched for an answer, of at least one token.

    Attributes:
        beams: Beams.
        repetition_penalty: What the logits of tokens that the answer has already are divided or multiplied by.
    """

    beams: int
    repetition_penalty: float = 1.0


class SalmonnListener(TransformersListener):
    """Vicuna that hears through Whisper's encoder and BEATs.

    Args:
        options: Say where the parts are.
        context: Tells the device and the modality.

    Attributes:
        file: Name of the checkpoint.
        published: How the paper's own run searched; the `titles` protocol does so, others search greedily.
    """

    options: SalmonnOptions
    model_class: ClassVar[str] = "LlamaForCausalLM"
    file: ClassVar[str]
    published: ClassVar[Search]

    @property
    def revision(self) -> str:
        """Commits or hashes of the parts that are used."""
        revisions = f"{self.file} {self._bridge.revision}, Vicuna {self.checkpoint.revision}"
        if not self._hears:
            return revisions
        return f"{revisions}, Whisper {self._whisper.revision}, BEATs {self._beats.revision}"

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """Vicuna's."""
        return find_checkpoint(self.options.vicuna, "--vicuna", weights=False)

    @cached_property
    def tokenizer(self) -> Any:
        """Vicuna's, which lies there as a model of sentencepiece."""
        try:
            return super().tokenizer
        except (ImportError, OSError, ValueError) as error:
            raise UserError(
                f"--vicuna {self.folder}: its tokenizer cannot be loaded ({missing_file_reason(error)}); "
                "expected a tokenizer.model, and the packages sentencepiece and protobuf"
            ) from error

    @cached_property
    def model(self) -> Any:
        """Vicuna, changed as the checkpoint says."""
        model = super().model
        if self._is_published:
            penalty = self.published.repetition_penalty
            model.generation_config.update(min_new_tokens=1, repetition_penalty=penalty)
        return model

    @property
    def differences(self) -> tuple[str, ...]:
        """The number format."""
        dtype = str(choose_dtype(self.options.dtype, self.context.device)).removeprefix("torch.")
        if dtype == "float16":
            return ()
        return (f"number format: {dtype}; the published run used float16 (--dtype float16)",)

    @property
    def beams(self) -> int:
        """Those of the published run in the protocol `titles`."""
        return self.published.beams if self._is_published else 1

    def load_model(self) -> Any:
        """Load Vicuna and the ears, and merge what was learnt into Vicuna."""
        import transformers

        from ...vendored.salmonn_checkpoint import load_bridge

        folder = with_weights(self.checkpoint, self.options.vicuna, "--vicuna").folder
        model = self.load_pretrained(transformers.LlamaForCausalLM, folder, "--vicuna")
        if self._hears:
            self._ears = self._load_ears(model)
        else:
            load_bridge(self._bridge.path, model)
        return model

    def encode(self, prompts: Sequence[Prompt]) -> dict[str, torch.Tensor]:
        """Prompts as embeddings, with zeros on the left of the shorter ones."""
        import torch

        with torch.inference_mode():
            rows = [self._embed(prompt) for prompt in prompts]
        longest = max(map(len, rows))
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
        padded = [torch.nn.functional.pad(row, (0, 0, longest - len(row), 0)) for row in rows]
        return {"inputs_embeds": torch.stack(padded), "attention_mask": mask}

    def clean(self, text: str) -> str:
        """Take out what marks sound, too."""
        return _MARKS.sub(" ", super().clean(text))

    def _embed(self, prompt: Prompt) -> torch.Tensor:
        """A prompt as embeddings, shape (tokens, width)."""
        import torch

        words = self.model.get_input_embeddings()
        pieces: list[str | torch.Tensor]
        if prompt.clips:
            pieces = ["USER: <Speech>", self._hear(prompt.clips), f"</Speech> {prompt.text}\nASSISTANT:"]
        else:
            pieces = [f"USER: {prompt.text}\nASSISTANT:"]
        rows = [words(torch.tensor([self.tokenizer.bos_token_id], device=words.weight.device))]
        for piece in pieces:
            if isinstance(piece, str):
                ids = self.tokenizer(piece, add_special_tokens=False)["input_ids"]
                piece = words(torch.tensor(ids, device=words.weight.device))
            rows.append(piece.to(rows[0]))
        return torch.cat(rows)

    def _hear(self, clips: Sequence[Samples]) -> torch.Tensor:
        from ...vendored.salmonn import LONGEST

        joined = np.concatenate(clips)
        # Each clip may have one sample more than its share, by resampling.
        tokens: torch.Tensor = self._ears(joined[:LONGEST] if len(joined) <= LONGEST + len(clips) else joined)
        return tokens

    def _load_ears(self, model: Any) -> SalmonnEars:
        import transformers

        from ...vendored.beats import load_beats
        from ...vendored.salmonn import SalmonnEars
        from ...vendored.salmonn_checkpoint import load_bridge, load_whisper_encoder

        folder = with_weights(self._whisper, self.options.whisper, "--whisper").folder
        whisper, beats = load_whisper_encoder(folder), load_beats(self._beats.path)
        widths = {"speech": whisper.config.d_model, "sound": beats.config.encoder_embed_dim}
        bridge = load_bridge(self._bridge.path, model, **widths, beats=beats)
        extractor = transformers.WhisperFeatureExtractor.from_pretrained(folder)
        return SalmonnEars(extractor, whisper, beats, bridge).eval().to(model.get_input_embeddings().weight.device)

    @property
    def _is_published(self) -> bool:
        return self.options.protocol == "titles"

    @property
    def _hears(self) -> bool:
        """Whether sound may be heard, be it silence."""
        return self.context.modality != "query_only" or self._is_published

    @cached_property
    def _bridge(self) -> CheckpointFile:
        return find_file(self.options.weights, self.file)

    @cached_property
    def _whisper(self) -> Checkpoint:
        return find_checkpoint(self.options.whisper, "--whisper", weights=False)

    @cached_property
    def _beats(self) -> CheckpointFile:
        return find_beats(self.options.beats)
