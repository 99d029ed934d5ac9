"""A model that returns the candidates in the order of the prompt. It needs no network, so it tests the tasks."""

from __future__ import annotations

import re
from typing import Any

from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi

# Not the form of the answer, "[3] > [1] > [2]".
_NUMBERED = re.compile(r"^\[(\d+)\] (?!> \[)", re.MULTILINE)
_TITLES = re.compile(r"best first: (.*)\n\n", re.DOTALL)


class FileOrder(ModelAPI):
    """The model. It states its usage, because Inspect would otherwise fetch a tokenizer."""

    async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> ModelOutput:  # noqa: A002, ARG002
        """Return the numbers or the titles of the last message, in their order."""
        text = input[-1].text
        numbers, titles = _NUMBERED.findall(text), _TITLES.search(text)
        answer = " > ".join(f"[{number}]" for number in numbers) if numbers else titles[1] if titles else ""
        output = ModelOutput.from_content(self.model_name, answer)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output


@modelapi(name="file_order")
def file_order() -> type[ModelAPI]:
    """Register the model as `file_order/...`."""
    return FileOrder
