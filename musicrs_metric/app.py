"""The page of the metric's Space: rankings and right answers in, scores with chance and interval out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_MODULE = Path(__file__).with_name("musicrs.py")

_PREDICTIONS = [["Blue in Green", "So What"], ["Naima"]]
_REFERENCES = [["So What"], ["Naima", "Giant Steps"]]
_CANDIDATES = [["So What", "Blue in Green", "All Blues", "Solar"], ["Giant Steps", "Naima"]]


def compute(predictions: str, references: str, candidates: str = "") -> dict[str, Any]:
    """Score rankings.

    Args:
        predictions: JSON: one list of titles per thread, best first.
        references: JSON: the relevant titles per thread.
        candidates: JSON: the pool per thread; empty for none, and then no chance level.

    Returns:
        The scores, as `evaluate.load("musicrs").compute` returns them.

    Raises:
        ValueError: A field holds no JSON, or not what the metric takes.
    """
    import evaluate

    fields = {"predictions": predictions, "references": references, "candidates": candidates}
    columns = {name: _parse(name, text) for name, text in fields.items() if text.strip()}
    # Loaded for each call: an instance gathers the rows of one call and is not to be shared between visitors.
    scores: dict[str, Any] = evaluate.load(str(_MODULE)).compute(**columns)
    return scores


def _parse(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{name}: no JSON ({error}), expected a list of lists of titles") from error


def build() -> Any:
    """Make the page: a `gradio.Interface` that also serves `compute` as an API."""
    import gradio as gr

    def shown(predictions: str, references: str, candidates: str) -> dict[str, Any]:
        try:
            return compute(predictions, references, candidates)
        except ValueError as error:
            raise gr.Error(str(error), print_exception=False) from error

    examples = {"predictions": _PREDICTIONS, "references": _REFERENCES, "candidates (may be empty)": _CANDIDATES}
    return gr.Interface(
        shown,
        inputs=[
            gr.Code(json.dumps(example, ensure_ascii=False, indent=1), language="json", label=label)
            for label, example in examples.items()
        ],
        outputs=gr.JSON(label="scores"),
        title="MusiCRS",
        description="Recall, nDCG and MRR of rankings, each with the level of chance and an interval over threads.",
        api_name="compute",
        flagging_mode="never",
    )


if __name__ == "__main__":
    build().launch()
