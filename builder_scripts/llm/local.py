"""Model in this process, on any accelerator. xgrammar enforces the schema. For laptops and tests."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from musicrs_metric.errors import UserError, count

from .generate import Stop
from .request import Model, Parameters, Request, Response

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Local:
    """Causal language model of transformers. accelerate distributes it over the devices.

    The weights keep their published type (Gemma 3 fails in float16). Padding can decide near-ties between two tokens,
    so another batch size may give another answer.

    Attributes:
        model: Hub id or folder, and revision.
        batch_size: Requests per batch.
    """

    model: Model
    batch_size: int = 16

    def answer(self, requests: Mapping[str, Request], stop: Stop | None = None) -> Iterator[tuple[str, Response]]:
        """See `Backend.answer`. Long prompts come first, so that a lack of memory appears at once.

        After a stop, the answers that the batch finishes within `GRACE_S` are kept.

        Raises:
            UserError: The model cannot be loaded, has no chat template, or needs more memory.
        """
        stop = stop or Stop()
        decoder = _Decoder(self.model, stop)
        parameters_of = {request.parameters: None for request in requests.values()}
        for parameters in parameters_of:
            alike = [item for item in requests.items() if item[1].parameters == parameters]
            alike.sort(key=lambda item: -len(item[1].prompt))
            for start in range(0, len(alike), self.batch_size):
                keys, batch = zip(*alike[start : start + self.batch_size], strict=True)
                for key, response in zip(keys, decoder.decode(batch, parameters), strict=True):
                    if not (stop.is_asked and response.finish == "length"):  # cut off by the stop
                        yield key, response
                if stop.is_asked:
                    return


class _Decoder:
    """A model in memory."""

    def __init__(self, model: Model, stop: Stop) -> None:
        import xgrammar
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self._stop = stop
        self._template_options = model.further_fields.get("chat_template_kwargs", {})
        where: dict[str, Any] = {"revision": model.revision} if model.revision else {}
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(model.name, padding_side="left", **where)
            self._weights = AutoModelForCausalLM.from_pretrained(model.name, dtype="auto", device_map="auto", **where)
        except (OSError, ValueError) as error:
            raise UserError(f"--model {model.name}: cannot be loaded ({' '.join(str(error).split())[:200]})") from error
        if self._tokenizer.chat_template is None:
            raise UserError(f"--model {model.name}: has no chat template; expected a model tuned for instructions")
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        self._ends = _end_tokens(self._weights, self._tokenizer)
        info = xgrammar.TokenizerInfo.from_huggingface(
            self._tokenizer,
            vocab_size=self._weights.config.get_text_config().vocab_size,  # of the logits, which may be padded
            stop_token_ids=self._ends,
        )
        self._grammars = xgrammar.GrammarCompiler(info)

    def decode(self, requests: Sequence[Request], parameters: Parameters) -> list[Response]:
        """Answer a batch: one response per request, in their order."""
        import torch
        from xgrammar.contrib.hf import LogitsProcessor

        # Without free white space a model cannot spend its tokens on blanks.
        schemas = [dict(request.schema) for request in requests]
        grammars = [self._grammars.compile_json_schema(schema, any_whitespace=False) for schema in schemas]
        turns = [[{"role": "user", "content": request.prompt}] for request in requests]
        texts = self._tokenizer.apply_chat_template(
            turns, tokenize=False, add_generation_prompt=True, **self._template_options
        )
        inputs = self._tokenizer(texts, padding=True, add_special_tokens=False, return_tensors="pt")
        inputs = inputs.to(self._weights.device)
        with torch.random.fork_rng(), torch.inference_mode():
            torch.manual_seed(parameters.seed)
            try:
                output = self._weights.generate(
                    **inputs, generation_config=self._config(parameters), logits_processor=[LogitsProcessor(grammars)],
                    stopping_criteria=[self._is_over],
                )  # fmt: skip
            except torch.OutOfMemoryError as error:
                raise UserError(
                    f"out of memory with {count(len(requests), 'request')} at once; lower --batch-size"
                ) from error
        read = inputs["attention_mask"].sum(dim=1).tolist()
        written = output[:, inputs["input_ids"].shape[1] :]
        return [self._response(row, n) for row, n in zip(written, read, strict=True)]

    def _is_over(self, tokens: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        import torch

        return torch.full((len(tokens),), self._stop.is_over, device=tokens.device)

    def _config(self, parameters: Parameters) -> Any:
        config = copy.deepcopy(self._weights.generation_config)
        sampled = parameters.temperature > 0
        config.update(
            do_sample=sampled,
            temperature=parameters.temperature if sampled else 1.0,
            top_p=parameters.top_p if sampled else 1.0,
            top_k=0 if sampled else 50,  # 50 is the default, without effect in greedy decoding
            repetition_penalty=1.0,
            max_length=None,
            max_new_tokens=parameters.max_tokens,
            eos_token_id=self._ends,
            pad_token_id=self._tokenizer.pad_token_id,
        )
        return config

    def _response(self, tokens: torch.Tensor, n_read: int) -> Response:
        ids = tokens.tolist()
        end = next((place for place, token in enumerate(ids) if token in self._ends), None)
        text = self._tokenizer.decode(ids[:end], skip_special_tokens=True)
        n_written = len(ids) if end is None else end + 1
        return Response(text, "length" if end is None else "stop", n_read, n_written)


def _end_tokens(weights: Any, tokenizer: Any) -> list[int]:
    stated = weights.generation_config.eos_token_id
    if stated is None:
        stated = tokenizer.eos_token_id
    ends = stated if isinstance(stated, list) else [stated]
    if tokenizer.eos_token_id is not None and tokenizer.eos_token_id not in ends:
        ends = [*ends, tokenizer.eos_token_id]
    return [int(end) for end in ends]
