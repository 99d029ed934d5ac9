"""SALMONN and FUTGA: Vicuna with an audio encoder, made of four parts from four sources.

A prompt is `USER: <Speech>...</Speech> request`, a line end and `ASSISTANT:`, with 88 audio tokens at the dots. As in
the code of the authors, the texts before and after the audio are tokenised separately. Without audio, the prompt has no
`<Speech>`. Audio encoder and bridge compute in float32, whatever the language model does.
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

from ...audio_text.checkpoint_files import BEATS_SOURCE, CheckpointFile, find_beats, find_checkpoint_file
from ...audio_text.checkpoint_files import HELP as FILE_HELP
from ...audio_text.checkpoints import HELP, WHISPER, Checkpoint, find_checkpoint, with_weights
from ...options import option
from ..audio_limits import AudioLimits
from ..language_model import Prompt
from ..loading import choose_dtype
from ..transformers_model import LocalOptions, TransformersModel

if TYPE_CHECKING:
    import torch

    from ...vendored.salmonn import SalmonnAudioEncoder

_MARKS = re.compile(r"</?Speech(Here)?>")


def salmonn_limits(*, context: int, weights_gib: float, cache_kib_per_token: float) -> AudioLimits:
    """Return the limits of such a model: 30 s per prompt, with joined clips, as 88 tokens.

    Args:
        context: Context of Vicuna.
        weights_gib: Memory of Vicuna in bfloat16.
        cache_kib_per_token: Cache of Vicuna.
    """
    return AudioLimits(
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
    """Options of every such system. Each sets its own defaults for `weights` and `vicuna`."""

    weights: str = option("", FILE_HELP)
    vicuna: str = option("", f"the language model: {HELP}")
    whisper: str = option(WHISPER, f"the model of the encoder: {HELP}")
    beats: str | None = option(
        None, f"BEATs_iter3_plus_AS2M_finetuned_on_AS2M_cpt2.pt from {BEATS_SOURCE}; needed for audio"
    )


class Search(NamedTuple):
    """Search settings of the published run, for an answer of at least one token.

    Attributes:
        beams: Number of beams.
        repetition_penalty: Divisor or factor for the logits of tokens that the answer holds already.
    """

    beams: int
    repetition_penalty: float = 1.0


class SalmonnModel(TransformersModel):
    """Vicuna with audio from the encoder of Whisper and from BEATs.

    Args:
        options: Options of its system, with the sources of all parts.
        context: Context of its system, with device and modality.

    Attributes:
        file: Name of the checkpoint file.
        published: Search settings of the published run. The protocol `titles` uses them; others search greedily.
    """

    options: SalmonnOptions
    model_class: ClassVar[str] = "LlamaForCausalLM"
    file: ClassVar[str]
    published: ClassVar[Search]

    @property
    def revision(self) -> str:
        """Commits or hashes of the parts in use."""
        revisions = f"{self.file} {self._bridge.revision}, Vicuna {self.checkpoint.revision}"
        if not self._needs_audio:
            return revisions
        return f"{revisions}, Whisper {self._whisper.revision}, BEATs {self._beats.revision}"

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """Checkpoint of Vicuna."""
        return find_checkpoint(self.options.vicuna, "--vicuna", weights=False)

    @cached_property
    def tokenizer(self) -> Any:
        """Tokenizer of Vicuna, stored as a model of sentencepiece."""
        try:
            return super().tokenizer
        except (ImportError, OSError, ValueError) as error:
            raise UserError(
                f"--vicuna {self.folder}: its tokenizer cannot be loaded ({missing_file_reason(error)}); "
                "expected a tokenizer.model, and the packages sentencepiece and protobuf"
            ) from error

    @cached_property
    def model(self) -> Any:
        """Vicuna with the changes of the checkpoint."""
        model = super().model
        if self._is_published:
            penalty = self.published.repetition_penalty
            model.generation_config.update(min_new_tokens=1, repetition_penalty=penalty)
        return model

    @property
    def differences(self) -> tuple[str, ...]:
        """The number format, unless it is that of the published run."""
        dtype = str(choose_dtype(self.options.dtype, self.context.device)).removeprefix("torch.")
        if dtype == "float16":
            return ()
        return (f"number format: {dtype}; the published run used float16 (--dtype float16)",)

    @property
    def beams(self) -> int:
        """Beams of the published run under the protocol `titles`, otherwise 1."""
        return self.published.beams if self._is_published else 1

    def load_model(self) -> Any:
        """Load Vicuna and the audio encoder, and merge the trained changes into Vicuna."""
        import transformers

        from ...vendored.salmonn_checkpoint import load_bridge

        folder = with_weights(self.checkpoint, self.options.vicuna, "--vicuna").folder
        model = self.load_pretrained(transformers.LlamaForCausalLM, folder, "--vicuna")
        if self._needs_audio:
            self._audio_encoder = self._load_audio_encoder(model)
        else:
            load_bridge(self._bridge.path, model)
        return model

    def encode(self, prompts: Sequence[Prompt]) -> dict[str, torch.Tensor]:
        """Return prompts as embeddings, padded with zeros on the left."""
        import torch

        with torch.inference_mode():
            rows = [self._embed(prompt) for prompt in prompts]
        longest = max(map(len, rows))
        mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
        padded = [torch.nn.functional.pad(row, (0, 0, longest - len(row), 0)) for row in rows]
        return {"inputs_embeds": torch.stack(padded), "attention_mask": mask}

    def clean(self, text: str) -> str:
        """Replace control tokens and audio markers with spaces."""
        return _MARKS.sub(" ", super().clean(text))

    def _embed(self, prompt: Prompt) -> torch.Tensor:
        """Return a prompt as embeddings, shape (tokens, width)."""
        import torch

        embed = self.model.get_input_embeddings()
        pieces: list[str | torch.Tensor]
        if prompt.clips:
            pieces = ["USER: <Speech>", self._encode_audio(prompt.clips), f"</Speech> {prompt.text}\nASSISTANT:"]
        else:
            pieces = [f"USER: {prompt.text}\nASSISTANT:"]
        rows = [embed(torch.tensor([self.tokenizer.bos_token_id], device=embed.weight.device))]
        for piece in pieces:
            if isinstance(piece, str):
                ids = self.tokenizer(piece, add_special_tokens=False)["input_ids"]
                piece = embed(torch.tensor(ids, device=embed.weight.device))
            rows.append(piece.to(rows[0]))
        return torch.cat(rows)

    def _encode_audio(self, clips: Sequence[Samples]) -> torch.Tensor:
        from ...vendored.salmonn import LONGEST

        joined = np.concatenate(clips)
        # Each clip may have one sample more than its share, by resampling.
        fits = len(joined) <= LONGEST + len(clips)
        tokens: torch.Tensor = self._audio_encoder(joined[:LONGEST] if fits else joined)
        return tokens

    def _load_audio_encoder(self, model: Any) -> SalmonnAudioEncoder:
        import transformers

        from ...vendored.beats import load_beats
        from ...vendored.salmonn import SalmonnAudioEncoder
        from ...vendored.salmonn_checkpoint import load_bridge, load_whisper_encoder

        folder = with_weights(self._whisper, self.options.whisper, "--whisper").folder
        whisper, beats = load_whisper_encoder(folder), load_beats(self._beats.path)
        widths = {"speech": whisper.config.d_model, "sound": beats.config.encoder_embed_dim}
        bridge = load_bridge(self._bridge.path, model, **widths, beats=beats)
        extractor = transformers.WhisperFeatureExtractor.from_pretrained(folder)
        encoder = SalmonnAudioEncoder(extractor, whisper, beats, bridge).eval()
        return encoder.to(model.get_input_embeddings().weight.device)

    @property
    def _is_published(self) -> bool:
        return self.options.protocol == "titles"

    @property
    def _needs_audio(self) -> bool:
        """True if prompts may hold audio, even silence."""
        return self.context.modality != "query_only" or self._is_published

    @cached_property
    def _bridge(self) -> CheckpointFile:
        return find_checkpoint_file(self.options.weights, self.file)

    @cached_property
    def _whisper(self) -> Checkpoint:
        return find_checkpoint(self.options.whisper, "--whisper", weights=False)

    @cached_property
    def _beats(self) -> CheckpointFile:
        return find_beats(self.options.beats)
