"""CoLLAP: similarity of titles to the clips and the query in a space spanned by two linear maps.

GPT-2 encodes text; the encoder of Whisper and BEATs encode audio; `baselines.vendored.collap` has the architecture. The
projections that make both comparable were never published. The own run of the MusiCRS paper drew them at random, so its
scores are chance by construction. Therefore there is no default: `--weights` names trained projections, and
`--untrained` runs the system as published, with projections drawn from `--seed`. The output of GPT-2, Whisper and BEATs
is cached next to the vectors, so that another seed costs no forward pass.

The paper adds scores, half the cosine of the clips and half that of the query. `DualEncoder` adds the vectors, which
gives the same ranking: the scores differ by one positive factor per thread.

Source: Wu et al., "CoLLAP: Contrastive Long-form Language-Audio Pretraining with Musical Temporal Structure
Augmentation" (arXiv:2410.02271).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from musicrs_dataset.audio.cutting import Samples
from musicrs_metric.errors import UserError

from ..audio_text.checkpoint_files import BEATS_SOURCE, find_beats, hash_checkpoint_file
from ..audio_text.checkpoints import HELP, WHISPER, find_checkpoint
from ..audio_text.dual import DualEncoder, DualOptions
from ..audio_text.model import AudioTextModel
from ..embedding.batches import fill_batch
from ..embedding.vector_cache import VectorCache, Vectors
from ..options import option
from ..system import ALL_MODALITIES, Context, Declaration, RunFacts

if TYPE_CHECKING:
    from ..vendored.collap import Projection

GPT2 = "openai-community/gpt2"
UNTRAINED = "untrained projections"
MAX_TOKENS = 128


@dataclass(frozen=True)
class CollapOptions(DualOptions):
    """Options of `collap`."""

    weights: str | None = option(None, "trained projections, a .safetensors file; none were published")
    untrained: bool = option(False, "use random projections, drawn from --seed, as the own run of the paper did")
    gpt2: str = option(GPT2, HELP)
    whisper: str = option(WHISPER, HELP)
    beats: str | None = option(None, f"checkpoint of BEATs from {BEATS_SOURCE}; needed for audio")


class CollapEncoder(AudioTextModel):
    """CoLLAP: two towers and two projections.

    Args:
        options: Options of its system, with the sources of all parts.
        context: Context of its system, with device, modality, seed and cache folder.
    """

    window_s: ClassVar[float] = 30.0
    windows_at_once: ClassVar[int] = 8
    one_length: ClassVar[bool] = True
    sampling_rate = 16_000

    def __init__(self, options: CollapOptions, context: Context) -> None:
        self._options, self._context = options, context
        self._gpt2 = find_checkpoint(options.gpt2, "--gpt2")
        self._states = self._cache("text", self._gpt2.revision)
        towers = f"GPT-2 {self._gpt2.revision}"
        if context.modality != "query_only":
            self._beats = find_beats(options.beats)
            self._whisper = find_checkpoint(options.whisper, "--whisper")
            audio = f"Whisper {self._whisper.revision}, BEATs {self._beats.revision}"
            self._features = self._cache("audio", audio)
            towers += f", {audio}"
        if options.weights is None:
            self._revision = f"{towers}, {UNTRAINED} of seed {context.seed}"
        else:
            self._revision = f"{towers}, projections {hash_checkpoint_file(Path(options.weights)).revision}"

    @property
    def revision(self) -> str:
        """Commits or hashes of all parts, or the seed of the projections."""
        return self._revision

    def embed_audio(self, windows: Sequence[Samples]) -> Vectors:
        """Embed windows of at most 30 s."""
        import torch

        def run_tower(indices: list[int]) -> Vectors:
            tower = self._audio_tower
            rows = fill_batch([windows[index] for index in indices], self.windows_at_once, self._context.device)
            with torch.inference_mode():
                features: Vectors = tower(rows)[: len(indices)].cpu().numpy()
            return features

        keys = [hashlib.sha256(window.tobytes()).digest() for window in windows]
        return self._project("audio_proj", self._features.fetch(keys, run_tower))

    def embed_text(self, texts: Sequence[str]) -> Vectors:
        """Embed texts of up to 128 tokens."""
        keys = [hashlib.sha256(text.encode()).digest() for text in texts]
        states = self._states.fetch(keys, lambda indices: self._read([texts[index] for index in indices]))
        return self._project("text_proj", states)

    def save(self) -> None:
        """Save the output of the towers."""
        self._states.save()
        if self._context.modality != "query_only":
            self._features.save()

    def _read(self, texts: Sequence[str]) -> Vectors:
        from ..embedding.batches import embed_tokens
        from ..vendored.collap import last_state

        model = self._text_tower
        ends = [self._tokenizer.eos_token_id]
        tokens = self._tokenizer(list(texts), truncation=True, max_length=MAX_TOKENS)["input_ids"]
        tokens = [ids or ends for ids in tokens]  # an empty text has no last token
        return embed_tokens(
            tokens, MAX_TOKENS, ends[0], self._context.device, lambda ids, mask: last_state(model, ids, mask)
        )

    def _project(self, name: str, features: Vectors) -> Vectors:
        from ..vendored.collap import untrained_projection

        width = features.shape[1]
        projection = self._trained.get(name) or untrained_projection(name, width, self._context.seed)
        if projection.weight.shape[1] != width:
            raise UserError(
                f"--weights {self._options.weights}: {name} takes {projection.weight.shape[1]} numbers, the tower "
                f"before it gives {width}; expected projections of the models that --gpt2, --whisper and --beats name"
            )
        return projection(features)

    def _cache(self, kind: str, revision: str) -> VectorCache:
        folder = self._context.cache
        name = f"collap-tower-{kind}-{hashlib.sha256(revision.encode()).hexdigest()[:16]}.npz"
        return VectorCache(None if folder is None else folder / name)

    @cached_property
    def _trained(self) -> dict[str, Projection]:
        from ..vendored.collap import load_projections

        return {} if self._options.weights is None else load_projections(Path(self._options.weights))

    @cached_property
    def _tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(self._gpt2.folder)

    @cached_property
    def _text_tower(self) -> Any:
        import transformers

        transformers.utils.logging.disable_progress_bar()  # the runner shows its own
        model = transformers.GPT2Model.from_pretrained(self._gpt2.folder)
        return model.float().eval().to(self._context.device)

    @cached_property
    def _audio_tower(self) -> Any:
        import transformers

        from ..vendored.beats import load_beats
        from ..vendored.collap import AudioTower

        transformers.utils.logging.disable_progress_bar()
        extractor = transformers.WhisperFeatureExtractor.from_pretrained(self._whisper.folder)
        encoder = transformers.WhisperModel.from_pretrained(self._whisper.folder).encoder
        tower = AudioTower(extractor, encoder, load_beats(self._beats.path))
        return tower.float().eval().to(self._context.device)


class Collap(DualEncoder):
    """Ranks by the cosine of title and thread under CoLLAP."""

    declaration = Declaration(
        name="collap",
        paradigm="retrieval",
        modalities=ALL_MODALITIES,
        reads="thread",
        description="Cosine of title and clips, query or both under CoLLAP (GPT-2, Whisper and BEATs).",
        note="No trained projections were published. With --untrained, the score is chance by construction.",
        needs=("torch", "torchaudio", "transformers", "safetensors", "accelerate", "soundfile", "soxr"),
        model_id=f"{GPT2} + {WHISPER} + BEATs",
        licence="MIT (GPT-2, BEATs), Apache-2.0 (Whisper)",
        open_weights=True,
    )
    Options = CollapOptions

    def __init__(self, options: CollapOptions, context: Context) -> None:
        if options.untrained == (options.weights is not None):
            found = "both" if options.untrained else "neither"
            raise UserError(
                f"--weights and --untrained: found {found}, expected one of them; no trained projections of CoLLAP "
                "were published, and --untrained draws random ones from --seed"
            )
        super().__init__(options, context)
        changed: dict[str, Any] = {"name": f"collap ({UNTRAINED})"} if options.untrained else {"trained": True}
        self.declaration = replace(self.declaration, **changed)

    def make_model(self) -> AudioTextModel:
        """Make CoLLAP from the chosen parts."""
        self._encoder = CollapEncoder(self.options, self.context)
        return self._encoder

    def run_facts(self) -> RunFacts:
        """Add the random projections to the facts of every dual encoder, as the protocol."""
        return replace(super().run_facts(), protocol=UNTRAINED if self.options.untrained else None)

    def close(self) -> None:
        """Save the vectors."""
        super().close()
        self._encoder.save()
