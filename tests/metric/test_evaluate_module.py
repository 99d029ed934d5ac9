"""The `evaluate` module: from a bare folder, by its short name, in one process and in several."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from musicrs_metric.hub import install
from musicrs_metric.scoring import score

from .support import CONVENTIONS, SYSTEMS, check_reference, references_of

PREDICTIONS = [["b", "a", "x"], ["c"], []]
REFERENCES = [["a"], ["c", "d"], ["e"]]
CANDIDATES = [["a", "b"], ["c", "d", "f"], ["e", "g"]]
GROUPS = ["Jazz", "Pop", "Jazz"]
ALL: dict[str, Any] = {
    "predictions": PREDICTIONS,
    "references": REFERENCES,
    "candidates": CANDIDATES,
    "groups": GROUPS,
}


@pytest.fixture
def metric(tmp_path: Path) -> Any:
    """The metric with a cache of its own."""
    from musicrs_metric.musicrs import Musicrs

    return Musicrs(cache_dir=str(tmp_path))


def expected(**settings: Any) -> dict[str, Any]:
    return score(PREDICTIONS, REFERENCES, CANDIDATES, groups={"group": GROUPS}, **settings).to_dict()


# --- what is computed ------------------------------------------------------------------------------------------------


def test_compute_is_the_core(metric: Any) -> None:
    """All inputs, all settings: the result of the core, in types that JSON has."""
    settings = {"k": [1, 3], "empty": "skip", "confidence": 0.9, "resamples": 200, "seed": 3}
    result = metric.compute(**ALL, **settings)
    assert result == expected(**settings)
    assert set(result["by_group"]) == {"Jazz", "Pop"}
    json.dumps(result, allow_nan=False)


def test_values_by_hand(metric: Any) -> None:
    """One hit at rank 2 of one, one at rank 1 of two, one silent thread."""
    result = metric.compute(**ALL, k=1)
    assert result["recall@1"] == pytest.approx((0 + 1 / 2 + 0) / 3)
    assert result["mrr"] == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert result["chance"]["recall@1"] == pytest.approx((1 / 2 + 1 / 3 + 1 / 2) / 3)
    assert (result["n"], result["n_unknown"]) == (3, 1)


def test_without_pools_chance_is_unknown(metric: Any) -> None:
    """Candidates and groups may be left out."""
    result = metric.compute(predictions=PREDICTIONS, references=REFERENCES)
    assert result["chance"] is None
    assert "by_group" not in result
    assert result["mrr"] == pytest.approx(0.5)


def test_rows_added_bit_by_bit(metric: Any) -> None:
    """`add`, `add_batch` and `compute` with the last rows gather in order; the instance can be used again."""
    for _ in range(2):
        metric.add(prediction=PREDICTIONS[0], reference=REFERENCES[0], candidates=CANDIDATES[0], group=GROUPS[0])
        metric.add_batch(**{name: column[1:2] for name, column in ALL.items()})
        assert metric.compute(**{name: column[2:] for name, column in ALL.items()}) == expected()


def test_columns_of_a_dataset_and_arrays(metric: Any) -> None:
    """Columns as `datasets` gives them, tuples and numpy arrays are lists too."""
    import datasets
    import numpy as np

    rows = datasets.Dataset.from_dict(ALL)
    assert metric.compute(**{name: rows[name] for name in ALL}) == expected()
    assert metric.compute(**ALL | {"predictions": tuple(map(tuple, PREDICTIONS))}) == expected()
    square = np.array([["b", "a"], ["c", "d"]])
    assert metric.compute(predictions=square, references=[["a"], ["c"]])["mrr"] == pytest.approx(0.75)


@pytest.mark.parametrize("empty_first", [True, False])
def test_unicode_and_empty_lists(metric: Any, empty_first: bool) -> None:
    """An empty list in any row, also the first, and titles in any script."""
    rows = [[], ["ガーネット"]] if empty_first else [["ガーネット"], []]
    assert metric.compute(predictions=rows, references=rows, k=1)["recall@1"] == 0.5


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"predictions": [[30, "b"], ["c"], []]}, "predictions[0][0] is 30, expected text"),
        ({"predictions": [["a"], ["c"], [4]]}, "predictions[2][0] is 4, expected text"),
        ({"predictions": [["a"], ["c", None], []]}, "predictions[1][1] is null, expected text"),
        ({"predictions": ["a, b", ["c"], []]}, "predictions[0] is 'a, b', expected a list of strings"),
        ({"predictions": [["a"], "c", []]}, "predictions[1] is 'c', expected a list of strings"),
        ({"predictions": [["a"], ["c"], None]}, "predictions[2] is null, expected a list of strings; a thread without"),
        ({"predictions": [["a"], {"c"}, []]}, "predictions[1] is a set, expected a list of strings"),
        ({"predictions": [["a"], [["c"]], []]}, "predictions[1][0] is a list of 1, expected text"),
        ({"predictions": "abc"}, "predictions is 'abc', expected a list of strings per thread"),
        ({"predictions": None}, "predictions is null"),
        ({"references": None}, "references is null"),
        ({"references": [["a"], "c", ["e"]]}, "references[1] is 'c'"),
        ({"candidates": [["a"], ["c"], [5]]}, "candidates[2][0] is 5"),
        ({"candidates": [["a"], None, ["e"]]}, "candidates[1] is null"),
        ({"groups": ["Jazz", None, "Pop"]}, "groups[1] is null, expected a label"),
        ({"groups": ["Jazz", "", "Pop"]}, "groups[1] is '', expected a label"),
        ({"predictions": PREDICTIONS[:2]}, "predictions has 2, references has 3"),
        ({"references": REFERENCES[:1]}, "predictions has 3, references has 1"),
        ({"candidates": CANDIDATES[:2]}, "candidates has 2"),
        ({"groups": GROUPS[:2]}, "groups has 2"),
        ({"predictions": [], "references": [], "candidates": [], "groups": []}, "no threads to score"),
        ({"k": 0}, "k must be positive integers, found 0"),
        ({"k": [1, 2.5]}, "k must be positive integers, found 2.5"),
        ({"empty": "drop"}, 'empty must be "zero" or "skip"'),
        ({"confidence": 1.5}, "confidence must be between 0 and 1"),
        ({"resamples": 0}, "resamples must be at least 1"),
        ({"k": 10**40}, "k must be at most 99999, found 1000"),
        ({"seed": "x"}, "seed must be at least 0, a whole number; found 'x'"),
        ({"seed": -1}, "seed must be at least 0, a whole number; found -1"),
        ({"seed": None}, "seed must be at least 0, a whole number; found null"),
    ],
)
def test_wrong_input_is_told_in_words(metric: Any, tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    """The row and the value are named, nothing is stored, and the instance goes on."""
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the message is compared below
        metric.compute(**ALL | changed)
    assert said in str(error.value)
    assert len(str(error.value)) < 300
    assert not list(tmp_path.rglob("*.arrow"))
    assert metric.compute(**ALL) == expected()


def test_nothing_added(metric: Any) -> None:
    """`compute()` alone, and after a batch of no rows."""
    with pytest.raises(ValueError, match="make sure that you call `add` or `add_batch`"):
        metric.compute()
    metric.add_batch(predictions=[], references=[])
    with pytest.raises(ValueError, match="no threads to score"):
        metric.compute()


def test_pools_for_some_threads_only(metric: Any) -> None:
    """Chance of a part would pass for chance of the whole."""
    metric.add(prediction=["a"], reference=["a"], candidates=["a", "b"])
    metric.add(prediction=["a"], reference=["a"])
    with pytest.raises(ValueError, match="candidates were given for 1 of 2 threads, expected all or none"):
        metric.compute()


# --- where it is found -----------------------------------------------------------------------------------------------


def test_every_file_of_the_core_is_named() -> None:
    """The loader fetches what the script names, and not what the siblings import: they may import nothing else."""
    files = install.module_files()
    names = {file.stem for file in files}
    for file in files:
        imports = [
            node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)
        ]
        assert {node.module for node in imports if node.level} <= names, file.name


def test_the_cache_is_that_of_evaluate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule written out in `install` gives the folder that `evaluate` itself would take."""
    import importlib

    import evaluate.config

    names = ("HF_MODULES_CACHE", "HF_HOME", "XDG_CACHE_HOME")
    try:
        for given in ({}, {"HF_HOME": "~/h"}, {"XDG_CACHE_HOME": "/x"}, {"HF_MODULES_CACHE": "m", "HF_HOME": "/h"}):
            with monkeypatch.context() as context:
                for name in names:
                    context.delenv(name, raising=False)
                for name, value in given.items():
                    context.setenv(name, value)
                theirs = importlib.reload(evaluate.config).HF_MODULES_CACHE
                context.delitem(sys.modules, "evaluate")
                assert Path(install._modules_cache()) == theirs
    finally:
        importlib.reload(evaluate.config)


# As on a machine where the package is not installed. Importing `evaluate` would also load transformers and torch, which
# takes many seconds and which the metric does not need; so transformers is absent for that moment.
BARE = """
import json, sys
sys.modules["musicrs_metric"] = sys.modules["transformers"] = None
import evaluate
del sys.modules["transformers"]
"""

SCRIPT = """
name, inputs, options = sys.argv[1], json.load(open(sys.argv[2])), json.loads(sys.argv[3])
metric = evaluate.load(name, **options)
results = []
for rows in inputs["calls"]:
    if inputs["added"]:  # through the files that processes share
        metric.add_batch(**rows)
        rows = {}
    results.append(metric.compute(**rows))
json.dump(results, sys.stdout, allow_nan=False)
"""


class Elsewhere:
    """A folder with an HF home of its own, from which programs run that know nothing of this checkout."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        home = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "PYTHON"))}
        self.environment = home | {"HF_HOME": str(folder / "hf"), "HF_EVALUATE_OFFLINE": "1", "HF_HUB_OFFLINE": "1"}
        self.modules = folder / "hf" / "modules"

    def start(self, code: str, *arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-W", "ignore", "-c", BARE + code, *map(str, arguments)]
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def compute(
        self, name: object, calls: list[dict[str, Any]], *, added: bool = False, **options: Any
    ) -> subprocess.Popen[str]:
        inputs = self.folder / f"inputs-{len(list(self.folder.glob('inputs-*')))}.json"
        inputs.write_text(json.dumps({"calls": calls, "added": added}), encoding="utf-8")
        return self.start(SCRIPT, name, inputs, json.dumps(options))


def result(process: subprocess.Popen[str]) -> Any:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return json.loads(out)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path)


def test_the_short_name_and_its_examples(elsewhere: Elsewhere) -> None:
    """Once installed, `evaluate.load("musicrs")` works offline from any directory, and the examples in its text run."""
    install.install_metric(elsewhere.modules)
    code = """
import doctest
module = sys.modules[type(evaluate.load("musicrs")).__module__]
print(doctest.testmod(module))
"""
    process = elsewhere.start(code)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert out.splitlines()[-1] == "TestResults(failed=0, attempted=5)"


@pytest.mark.figures
def test_four_processes_at_once(elsewhere: Elsewhere) -> None:
    """Independent processes that share a home, one folder and one cache get the same numbers, to the last digit."""
    install.export_space(elsewhere.folder / "some_other_name")
    script = elsewhere.folder / "some_other_name" / "musicrs.py"
    processes = [elsewhere.compute(script, [ALL, ALL], added=added) for added in (True, True, True, False)]
    assert [result(process) for process in processes] == [[json.loads(json.dumps(expected()))] * 2] * 4


def test_rows_gathered_over_processes(elsewhere: Elsewhere) -> None:
    """Shards of two rows, one row and none: the first process has the scores of all rows, the others have nothing."""
    install.install_metric(elsewhere.modules)
    bounds = [(0, 2), (2, 3), (3, 3)]
    shards = [{name: column[start:stop] for name, column in ALL.items()} for start, stop in bounds]
    processes = [
        elsewhere.compute("musicrs", [shard], num_process=3, process_id=rank, experiment_id="together")
        for rank, shard in enumerate(shards)
    ]
    (gathered,), *others = (result(process) for process in processes)
    assert others == [[None], [None]]
    assert gathered == expected()


@pytest.mark.upstream
def test_reference_values(
    elsewhere: Elsewhere, upstream_rows: list[dict[str, Any]], reference_metrics: dict[str, Any]
) -> None:
    """Every score and chance level of independent libraries, from the published folder alone, to 1e-9."""
    install.export_space(elsewhere.folder / "published")
    references = references_of(upstream_rows)
    labelled = {
        "references": references.ground_truth,
        "candidates": references.candidates,
        "groups": references.groups["genre"],
        "confidence": None,
    }
    asked = [(system, convention) for system in SYSTEMS for convention in CONVENTIONS]
    calls = [
        labelled | {"predictions": SYSTEMS[system](upstream_rows), "empty": CONVENTIONS[convention]}
        for system, convention in asked
    ]
    found = result(elsewhere.compute(elsewhere.folder / "published" / "musicrs.py", calls))
    for (system, convention), scores in zip(asked, found, strict=True):
        scores["by_genre"] = scores.pop("by_group")
        check_reference(scores, reference_metrics, system, convention)


@pytest.mark.upstream
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_reference_values_of_the_core(
    upstream_rows: list[dict[str, Any]], reference_metrics: dict[str, Any], system: str, convention: str
) -> None:
    """The same values through `score`."""
    references = references_of(upstream_rows)
    scores = score(
        SYSTEMS[system](upstream_rows),
        references.ground_truth,
        references.candidates,
        groups={"genre": references.groups["genre"]},
        empty=CONVENTIONS[convention],  # type: ignore[arg-type]
        confidence=None,
    )
    check_reference(scores.to_dict(), reference_metrics, system, convention)


# --- its page --------------------------------------------------------------------------------------------------------


@pytest.mark.figures
def test_the_page_scores(elsewhere: Elsewhere) -> None:
    """The page of the Space serves scores and refusals, from the published folder, with the installed gradio."""
    pytest.importorskip("gradio")
    install.export_space(elsewhere.folder / "space")
    code = """
sys.path.insert(0, "space")
import app
from gradio_client import Client
page = app.build()
page.launch(prevent_thread_lock=True, server_name="127.0.0.1", quiet=True)
client = Client(page.local_url, verbose=False)
good = client.predict('[["b", "a"]]', '[["a"]]', '[["a", "b"]]', api_name="/compute")
errors = []
for predictions in ('[["a", 3]]', '[["a"'):
    try:
        client.predict(predictions, '[["a"]]', "", api_name="/compute")
    except Exception as error:
        errors.append(str(error))
page.close()
print(json.dumps([good["mrr"], good["chance"]["mrr"], *errors]))
"""
    elsewhere.environment["GRADIO_ANALYTICS_ENABLED"] = "False"
    process = elsewhere.start(code)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    mrr, chance, first, second = json.loads(out.splitlines()[-1])
    assert (mrr, chance) == (0.5, 0.75)
    assert "predictions[0][1] is 3, expected text" in first
    assert "predictions: no JSON" in second
