"""Case H16: results of the metric in the Trainer of transformers, by the recipe of the metric card."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

CARD = Path(__file__).parents[2] / "musicrs_metric" / "README.md"
POOLS = [["Amber", "Birch", "Cedar"], ["Dune", "Elm", "Fern"]]
TRUTH = [["Birch"], ["Elm", "Fern"]]


@pytest.fixture
def metric(tmp_path: Path) -> Any:
    from musicrs_metric.musicrs import Musicrs

    return Musicrs(cache_dir=str(tmp_path / "cache"))


def recipe(metric: Any) -> Any:
    """Return `compute_metrics` as the metric card shows it."""
    (code,) = (block for block in re.findall(r"```python\n(.*?)```", CARD.read_text(), re.DOTALL) if "flat=" in block)
    scope: dict[str, Any] = {"musicrs": metric, "pools": POOLS, "truth": TRUTH}
    exec(code, scope)
    return scope["compute_metrics"]


def test_flat_values(metric: Any) -> None:
    """One level of finite numbers, equal to the nested result; undefined values have no key."""
    rows: dict[str, Any] = {"predictions": [["Birch"], ["Dune", "Elm"]], "references": TRUTH, "groups": ["a", "b"]}
    nested = metric.compute(**rows, candidates=POOLS, k=[1, 2])
    flat = metric.compute(**rows, candidates=POOLS, k=[1, 2], flat=True)
    assert all(type(value) in (int, float) for value in flat.values())
    json.dumps(flat, allow_nan=False)
    # By hand: rank 1 of one relevant title, rank 2 of two.
    assert (flat["recall@1"], flat["recall@2"], flat["mrr"], flat["n"]) == (0.5, 0.75, 0.75, 2)
    assert flat["recall@2_chance"] == nested["chance"]["recall@2"] == pytest.approx(2 / 3)
    assert flat["mrr_se"] == nested["se"]["mrr"]
    assert (flat["group/a/mrr"], flat["group/b/mrr"]) == (1.0, 0.5)
    assert "recall@2_low" not in flat  # two threads have no interval
    assert "recall@2_chance" not in metric.compute(**rows, flat=True)
    many = metric.compute(predictions=[["Birch"]] * 6, references=[["Birch"]] * 6, flat=True, resamples=100)
    assert many["mrr_low"] < many["mrr"] == many["mrr_high"] == 1.0


def test_flat_over_batches(metric: Any) -> None:
    """Rows that were added before give the same numbers as rows of one call."""
    metric.add_batch(predictions=[["Birch"]], references=[["Birch"]], candidates=POOLS[:1])
    metric.add(prediction=["Elm"], reference=TRUTH[1], candidates=POOLS[1])
    rows = {"predictions": [["Birch"], ["Elm"]], "references": [["Birch"], TRUTH[1]], "candidates": POOLS}
    assert metric.compute(flat=True) == metric.compute(**rows, flat=True)


def test_trainer_trains_and_logs(metric: Any, tmp_path: Path) -> None:
    """Two steps with `metric_for_best_model="ndcg@20"`, then `log_metrics`, which takes no lists and no None."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")

    class Model(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Linear(3, 3)

        def forward(self, x: Any = None, labels: Any = None) -> dict[str, Any]:
            logits = self.w(x)
            return {"loss": ((logits - labels) ** 2).mean(), "logits": logits}

    rows = [{"x": torch.randn(3), "labels": torch.tensor(labels)} for labels in ([0.0, 1, 0], [0.0, 1, 1])]
    arguments = transformers.TrainingArguments(
        str(tmp_path / "out"), report_to="none", use_cpu=True, max_steps=2, eval_strategy="steps", eval_steps=1,
        save_steps=1, load_best_model_at_end=True, metric_for_best_model="ndcg@20", disable_tqdm=True,
    )  # fmt: skip
    trainer = transformers.Trainer(
        model=Model(), args=arguments, train_dataset=rows, eval_dataset=rows, compute_metrics=recipe(metric)
    )
    trainer.train()
    metrics = trainer.evaluate()
    trainer.log_metrics("eval", metrics)
    assert trainer.state.best_metric is not None
    assert 0 < metrics["eval_ndcg@20"] <= 1
