"""Titles from memory, matched with the candidates by a tiny encoder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from musicrs_metric.errors import UserError
from tests.baselines import tiny_texts
from tests.baselines.test_generative_protocols import Asker, Scripted
from tests.baselines.test_openai_api import run as run_server
from tests.baselines.test_openai_api import to_threads
from tests.baselines.test_text_encoders import reference
from tests.baselines.toys import run_toy, thread, toy_data
from tests.chat_stub import Reply, chat_server

POOL = ("so what", "blue in green", "a slow song with piano", "fast music")
PROTOCOL = "generate_then_match"


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_texts.save(tmp_path_factory.mktemp("encoder") / "m", "bert")


def ask(answer: str, encoder: Path, cut: bool = False) -> tuple[Any, dict[str, Any]]:
    from baselines.system import Task

    system = Asker(Scripted(answer, cut=cut), PROTOCOL, match_weights=str(encoder))
    one = thread("t0", POOL, query="something slow")
    system.inspect_threads([one])
    (prediction,) = system.rank([Task(one)])
    (record,) = system.take_answer_records()
    assert not any(name in system.request(one).prompt.text for name in POOL)
    return prediction, record


def test_a_candidate_scores_its_largest_cosine_with_a_title(encoder: Path) -> None:
    """Against transformers; a title also counts without its artist."""
    prediction, record = ask("1. Blue in Green by Piano\n2. fast", encoder)
    pieces = ["Blue in Green by Piano", "Blue in Green", "Piano", "fast"]
    vectors = reference(encoder, "mean_tokens", [*POOL, *pieces]).astype(float)
    scores = dict(zip(POOL, (vectors[:4] @ vectors[4:].T).max(axis=1), strict=True))
    assert prediction.ranking == tuple(sorted(POOL, key=scores.__getitem__, reverse=True))
    assert prediction.ranking[0] == "blue in green"
    assert np.allclose(prediction.scores, sorted(scores.values(), reverse=True), atol=1e-5)
    assert (prediction.outcome, prediction.n_answered) == ("repaired", 4)
    assert record["titles"] == ["Blue in Green by Piano", "fast"]
    assert record["ledger"] == {
        "titles": 2, "missing": 18, "repeated": 0, "surplus": 0, "truncated": 0, "without_title": 0
    }  # fmt: skip


def test_without_a_title_the_order_is_random_and_counted(encoder: Path) -> None:
    """No part of this ranking is the model's."""
    prediction, record = ask("<think>1. so what\n2. fast", encoder, cut=True)
    assert (prediction.outcome, prediction.n_answered, prediction.scores) == ("failed", 0, None)
    assert sorted(prediction.ranking) == sorted(POOL)
    assert (record["ledger"]["without_title"], record["ledger"]["truncated"]) == (1, 1)


def test_a_server_run_resumes_and_asks_again_only_where_it_got_no_answer(encoder: Path, tmp_path: Path) -> None:
    """The request for t2 fails in the first session; the file is that of a run without a failure."""
    arguments = ("--protocol", PROTOCOL, "--match-weights", str(encoder))

    def answer(n: int, _: int) -> Reply:
        return Reply(f"so what {n}\nfast")

    def broken(n: int, before: int) -> Reply:
        return Reply("no", status=400) if n == 2 else answer(n, before)

    with chat_server(to_threads(answer)) as stub:
        whole = run_server(stub.url, tmp_path / "whole", *arguments)
    with chat_server(to_threads(broken)) as stub:
        assert run_server(stub.url, tmp_path / "out", *arguments).card.outcomes == {"failed": 1, "repaired": 6}
    assert "t2" not in [json.loads(line)["thread_id"] for line in (tmp_path / "out/answers.jsonl").open()]
    with chat_server(to_threads(answer)) as stub:
        again = run_server(stub.url, tmp_path / "out", *arguments)
        assert len(stub.asked) == 1
    assert again.predictions == whole.predictions
    assert "matched by sha256:" in str(again.card.model_revision)


def test_another_encoder_is_another_run(encoder: Path, tmp_path: Path) -> None:
    """The same folder refuses it."""
    other = tiny_texts.save(tmp_path / "other", "mpnet")
    run_toy(Asker(Scripted("so what"), PROTOCOL, match_weights=str(encoder)), toy_data(3), tmp_path / "out")
    with pytest.raises(UserError, match="model_revision was"):
        run_toy(Asker(Scripted("so what"), PROTOCOL, match_weights=str(other)), toy_data(3), tmp_path / "out")


@pytest.mark.parametrize(
    ("protocol", "message"),
    [("listwise", "--match-weights: needs --protocol generate_then_match"), (PROTOCOL, "--match-weights /no/such")],
)
def test_mistakes(protocol: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Asker(Scripted(), protocol, match_weights="/no/such")
