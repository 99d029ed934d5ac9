"""SALMONN's ears: from sound to tokens of a language model. FUTGA has the same.

Whisper's encoder and BEATs hear 30 s as 1500 frames each. Side by side and cut into windows of 17 frames, a third of a
second, they are read by a Q-Former, which asks each window one question; a linear map makes its answer a token. So 88
tokens stand for any sound, whose missing seconds are silence to Whisper and zeros in the place of BEATs.

Source: Tang et al., "SALMONN: Towards Generic Hearing Abilities for Large Language Models" (ICLR 2024,
arXiv:2310.13289); Wu et al., "Futga: Towards Fine-grained Music Understanding through Temporally-enhanced Generative
Augmentation" (arXiv:2407.20445).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import Blip2QFormerConfig, Blip2QFormerModel

from musicrs_dataset.audio.cutting import Samples

from .beats import RATE, Beats

LONGEST, SHORTEST = 30 * RATE, RATE  # samples of a clip
# 1500 frames in 30 s, of which a window takes 0.333333 s; the 4 frames after the last whole window are dropped.
WINDOW = 17
TOKENS = 1500 // WINDOW
HEAD = 64  # numbers per attention head, as in BERT


@dataclass(frozen=True)
class Sizes:
    """Sizes of a bridge.

    Attributes:
        speech: Features of a frame of Whisper's encoder.
        sound: Features of a frame of BEATs.
        model: Features of a token of the language model.
        hidden: Width of the Q-Former, a multiple of `HEAD`.
        inner: Width of its feed-forward layers.
        layers: How many layers it has.
    """

    speech: int = 1280
    sound: int = 768
    model: int = 4096
    hidden: int = 768
    inner: int = 3072
    layers: int = 2


class Bridge(nn.Module):
    """What SALMONN learnt between its ears and its language model. Run it in float32.

    Parameters are named as in the authors' checkpoints, but for those within the Q-Former, which is that of
    transformers: see `baselines.vendored.salmonn_checkpoint`.
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.ln_speech, self.ln_audio = nn.LayerNorm(sizes.speech), nn.LayerNorm(sizes.sound)
        self.speech_query_tokens = nn.Parameter(torch.zeros(1, 1, sizes.hidden))
        self.speech_Qformer = Blip2QFormerModel(
            Blip2QFormerConfig(
                hidden_size=sizes.hidden,
                num_hidden_layers=sizes.layers,
                num_attention_heads=sizes.hidden // HEAD,
                intermediate_size=sizes.inner,
                encoder_hidden_size=sizes.speech + sizes.sound,
                cross_attention_frequency=1,
                layer_norm_eps=1e-12,
                use_qformer_text_input=False,
            )
        )
        self.speech_llama_proj = nn.Linear(sizes.hidden, sizes.model)

    def forward(self, speech: Tensor, sound: Tensor) -> Tensor:
        """Turn frames into tokens.

        Args:
            speech: Frames of Whisper's encoder, shape (n, t, d).
            sound: Frames of BEATs, shape (n, u, e), all of them heard; the shorter of the two is filled up with zeros.

        Returns:
            Shape (n, max(t, u) // 17, width of the language model).
        """
        speech, sound = self.ln_speech(speech), self.ln_audio(sound)
        length = max(speech.shape[1], sound.shape[1])
        frames = torch.cat([_filled(speech, length), _filled(sound, length)], dim=-1)
        windows = frames[:, : length // WINDOW * WINDOW].reshape(-1, WINDOW, frames.shape[-1])
        questions = self.speech_query_tokens.expand(len(windows), -1, -1)
        answers = self.speech_Qformer(query_embeds=questions, encoder_hidden_states=windows).last_hidden_state
        tokens: Tensor = self.speech_llama_proj(answers).reshape(len(frames), -1, self.speech_llama_proj.out_features)
        return tokens


class SalmonnAudioEncoder(nn.Module):
    """Both encoders and the bridge.

    Args:
        extractor: Whisper's feature extractor.
        whisper: Its encoder.
        beats: BEATs.
        bridge: What turns their frames into tokens.
    """

    def __init__(self, extractor: Any, whisper: nn.Module, beats: Beats, bridge: Bridge) -> None:
        super().__init__()
        self._extractor, self.whisper, self.beats, self.bridge = extractor, whisper, beats, bridge

    def forward(self, wave: Samples) -> Tensor:
        """Hear one clip.

        Args:
            wave: Shape (n,), mono at 16 kHz, at most 30 s; less than 1 s is followed by silence.

        Returns:
            Shape (`TOKENS`, width of the language model).

        Raises:
            ValueError: The clip is longer.
        """
        if len(wave) > LONGEST:
            raise ValueError(f"{len(wave) / RATE:.1f} s of sound, expected at most {LONGEST / RATE:g} s; cut it")
        wave = np.pad(wave, (0, max(0, SHORTEST - len(wave))))
        device = next(self.parameters()).device
        mel = self._extractor(wave, sampling_rate=RATE, return_tensors="pt").input_features
        speech = self.whisper(mel.to(device)).last_hidden_state
        tokens: Tensor = self.bridge(speech, self.beats(torch.from_numpy(wave)[None].to(device)))[0]
        return tokens


def _filled(frames: Tensor, length: int) -> Tensor:
    return functional.pad(frames, (0, 0, 0, length - frames.shape[1]))
