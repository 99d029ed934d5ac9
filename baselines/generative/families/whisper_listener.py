"""A model of transformers whose ear is a Whisper encoder; its family says how words and sound are written."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from musicrs_metric.errors import UserError

from ..language_model import Prompt
from ..transformers_model import TransformersModel
from .prompt_text import left_padded, places
from .whisper import AudioFeatures, Filling, WhisperFeatures, as_inputs

if TYPE_CHECKING:
    from torch import Tensor


class WhisperLanguageModel(TransformersModel):
    """Builds prompts from tokenizer and feature extractor.

    Attributes:
        token: What stands in the prompt for one vector of sound.
        clip_markers: What stands before and behind the sound of a clip.
        mask: What the model calls the mask of its frames.
        filling: See `whisper.Filling`.
    """

    token: ClassVar[str]
    clip_markers: ClassVar[tuple[str, str]] = ("", "")
    mask: ClassVar[str]
    filling: ClassVar[Filling]

    @staticmethod
    @abstractmethod
    def count(frames: int) -> int:
        """From a clip's frames to its vectors."""

    @abstractmethod
    def write(self, text: str, sound: str) -> str:
        """A request and the places of its sound, which may be none, in the family's turns."""

    @cached_property
    def extractor(self) -> Any:
        """The feature extractor beside the weights."""
        from transformers import WhisperFeatureExtractor

        found = WhisperFeatureExtractor.from_pretrained(self.folder)
        if found.sampling_rate != self.limits.sampling_rate:
            raise UserError(
                f"--weights {self.folder}: its extractor takes {found.sampling_rate} Hz, expected "
                f"{self.limits.sampling_rate} Hz, the rate at which {type(self).__name__} is given sound"
            )
        return found

    def encode(self, prompts: Sequence[Prompt]) -> dict[str, Tensor]:
        """Token numbers and their mask, frames and their mask."""
        ear = WhisperFeatures(self.extractor, self.count, self.filling)
        sounds = [ear.extract(prompt.clips) if prompt.clips else None for prompt in prompts]
        pairs = zip(prompts, sounds, strict=True)
        inputs = left_padded(self.tokenizer, [self.write(prompt.text, self._places(sound)) for prompt, sound in pairs])
        heard = [sound for sound in sounds if sound is not None]
        return inputs | as_inputs(heard, self.mask) if heard else inputs

    def _places(self, sound: AudioFeatures | None) -> str:
        return "" if sound is None else places(self.token, sound.counts, *self.clip_markers)
