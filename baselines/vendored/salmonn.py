"""The audio encoder of SALMONN and FUTGA: from audio to tokens of a language model.

The encoder of Whisper and BEATs turn 30 s into 1500 frames each. They are concatenated and cut into windows of 17
frames, a third of a second. A Q-Former with one query summarises each window, and a linear map turns the result into a
token. So any audio becomes 88 tokens. Missing seconds are silence for Whisper, and zeros in the frames of BEATs.

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
# 1500 frames in 30 s; a window takes 0.333333 s. The 4 frames after the last whole window are dropped.
WINDOW = 17
TOKENS = 1500 // WINDOW
HEAD = 64  # numbers per attention head, as in BERT


@dataclass(frozen=True)
class Sizes:
    """Sizes of a bridge.

    Attributes:
        speech: Features per frame of the encoder of Whisper.
        sound: Features per frame of BEATs.
        model: Features per token of the language model.
        hidden: Width of the Q-Former, a multiple of `HEAD`.
        inner: Width of its feed-forward layers.
        layers: Number of its layers.
    """

    speech: int = 1280
    sound: int = 768
    model: int = 4096
    hidden: int = 768
    inner: int = 3072
    layers: int = 2


class Bridge(nn.Module):
    """The trained part of SALMONN between its encoders and its language model. Run it in float32.

    Parameters have the names of the published checkpoints, except inside the Q-Former, which is that of transformers:
    see `baselines.vendored.salmonn_checkpoint`.
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
            speech: Frames of the encoder of Whisper, shape (n, t, d).
            sound: Frames of BEATs, shape (n, u, e). The shorter of the two is padded with zeros.

        Returns:
            Shape (n, max(t, u) // 17, width of the language model).
        """
        speech, sound = self.ln_speech(speech), self.ln_audio(sound)
        length = max(speech.shape[1], sound.shape[1])
        frames = torch.cat([_padded(speech, length), _padded(sound, length)], dim=-1)
        windows = frames[:, : length // WINDOW * WINDOW].reshape(-1, WINDOW, frames.shape[-1])
        queries = self.speech_query_tokens.expand(len(windows), -1, -1)
        states = self.speech_Qformer(query_embeds=queries, encoder_hidden_states=windows).last_hidden_state
        tokens: Tensor = self.speech_llama_proj(states).reshape(len(frames), -1, self.speech_llama_proj.out_features)
        return tokens


class SalmonnAudioEncoder(nn.Module):
    """Both encoders and the bridge.

    Args:
        extractor: Feature extractor of Whisper.
        whisper: Encoder of Whisper.
        beats: BEATs.
        bridge: Turns their frames into tokens.
    """

    def __init__(self, extractor: Any, whisper: nn.Module, beats: Beats, bridge: Bridge) -> None:
        super().__init__()
        self._extractor, self.whisper, self.beats, self.bridge = extractor, whisper, beats, bridge

    def forward(self, wave: Samples) -> Tensor:
        """Encode one clip.

        Args:
            wave: Shape (n,), mono at 16 kHz, at most 30 s. Silence extends a clip of less than 1 s.

        Returns:
            Shape (`TOKENS`, width of the language model).

        Raises:
            ValueError: The clip is longer.
        """
        if len(wave) > LONGEST:
            raise ValueError(f"{len(wave) / RATE:.1f} s of audio, expected at most {LONGEST / RATE:g} s; cut it")
        wave = np.pad(wave, (0, max(0, SHORTEST - len(wave))))
        device = next(self.parameters()).device
        mel = self._extractor(wave, sampling_rate=RATE, return_tensors="pt").input_features
        speech = self.whisper(mel.to(device)).last_hidden_state
        tokens: Tensor = self.bridge(speech, self.beats(torch.from_numpy(wave)[None].to(device)))[0]
        return tokens


def _padded(frames: Tensor, length: int) -> Tensor:
    return functional.pad(frames, (0, 0, 0, length - frames.shape[1]))
