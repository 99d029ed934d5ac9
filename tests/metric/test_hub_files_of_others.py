"""The files of a model on the Hub belong to other people: every line that was there stays, or the edit is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import ModelCard, parse_eval_result_entries

from musicrs_metric.errors import UserError
from musicrs_metric.hub.pull import ModelFiles, updated
from musicrs_metric.hub.results import HubResult, hub_result
from musicrs_metric.hub.yaml_edit import append_key, edit_list, yaml_of
from musicrs_metric.runs.read import read_run
from musicrs_metric.runs.run_card import write_run_card

from .support import write_lines
from .test_hub import CARD, REFERENCES

PLAIN = """---
# kept by hand, do not sort
language:
- no
- en
license: mit
---
# Harbour tagger

A model.
"""
TWO_MODELS = """---
language: [no, "on"]   # Norwegian
revision: 1e5
date: 2024-01-01
released: 010
quoted: 'single'
text: |
  first

  second
model-index:
- name: other-model # of a friend
  results:
  - task: {type: image-classification}
    dataset: {type: a/b, name: B}
    metrics:
    - {type: accuracy, value: 0.90}
    # a note between
  - task:
      type: x
    dataset:
      type: c/d
      name: D
    metrics:
    - type: f1
      value: 1
- name: clap
  results:
    - task: {type: t}
      dataset: {type: e/f, name: F, unknown: yes}
      metrics: [{type: wer, value: 3}]
pipeline_tag: audio-classification

# the end
---

---
A body with a rule above.
"""
FORMS = {
    "plain": PLAIN,
    "two models": TWO_MODELS,
    "windows": PLAIN.replace("\n", "\r\n"),
    "no front matter": "# Title\n\ntext\n",
    "empty front matter": "---\n---\n# Title\n",
    "comments only": "---\n# nothing yet\n---\n# Title\n",
    "blank lines first": "\n\n" + PLAIN,
    "no body": "---\nlicense: mit\n---",
    "null index": "---\nmodel-index:\nlicense: mit\n---\n",
    "null results": "---\nmodel-index:\n- name: clap\n  results:\nlicense: mit\n---\n",
    "one model of another name": "---\nmodel-index:\n- name: Clap\n  results:\n"
    "  - {task: {type: t}, dataset: {type: a, name: b}, metrics: [{type: f1, value: 1}]}\n---\n",
    "indented": "---\n  license: mit\n  tags:\n    - no\n---\ntext\n",
    "anchors": "---\na: &x [no]\nb: *x\n---\ntext\n",
    "separator in a text": "---\ntext: 'a\u2028 b'\nlicense: no\n---\ntext\n",
    "tag": "---\nx: !ours 3\n---\n",
    "no line break at the end of a block": "---\ntext: >-\n  folded\n  no\n---\nbody",
}
REFUSED = {
    "flow index": "---\nmodel-index: [{name: clap, results: []}]\n---\n",
    "index is a mapping": "---\nmodel-index:\n  clap: 1\n---\n",
    "index twice": "---\nmodel-index: []\nlicense: mit\nmodel-index: []\n---\n",
    "flow front matter": "---\n{license: mit}\n---\n",
    "no mapping": "---\njust a sentence\n---\n",
    "no YAML": "---\na: [\n---\n",
    "tab": "---\na:\n\t- b\n---\n",
}


@pytest.fixture
def result(tmp_path: Path) -> HubResult:
    write_run_card(tmp_path / "run.json", CARD)
    write_lines(tmp_path / "predictions.jsonl", [{"thread_id": "t3_a", "ranking": ["Bop", "Ade", "Cool", "Dig"]}])
    return hub_result(read_run(tmp_path, REFERENCES), REFERENCES, benchmark="org/musicrs")


def card_after(card: str, result: HubResult) -> str:
    return updated(ModelFiles(card=card), result, "org/clap").card or ""


@pytest.mark.parametrize("name", FORMS)
def test_every_line_stays(name: str, result: HubResult) -> None:
    """Case H18: the lines before are a subsequence of the lines after, and the second time nothing changes."""
    before = FORMS[name]
    after = card_after(before, result)
    rest = iter(after.splitlines(keepends=True))
    for line in before.splitlines(keepends=True):
        assert any(line.rstrip("\r\n") == other.rstrip("\r\n") for other in rest), line
    assert card_after(after, result) == after
    assert after.count("\r\n") in (0, after.count("\n"))


@pytest.mark.parametrize("name", [name for name in FORMS if name != "tag"])
def test_only_the_results_are_new(name: str, result: HubResult) -> None:
    """Read by the Hub's library, the card has what it had, its text is the same, and nine measures are new."""
    before, after = FORMS[name], card_after(FORMS[name], result)
    old, new = front_matter(before), front_matter(after)
    read = ModelCard(after).data["eval_results"]
    assert [r.metric_value for r in read if r.dataset_type == "org/musicrs"] == [33.33] * 9
    assert {**new, "model-index": 0} == {**old, "model-index": 0}
    results = [result for model in new["model-index"] for result in model["results"]]
    assert [len(r["metrics"]) for r in results if r["dataset"]["type"] == "org/musicrs"] == [9]
    for model in old.get("model-index") or []:
        (same,) = (m for m in new["model-index"] if m["name"] == model["name"])
        assert same["results"][: len(model["results"] or [])] == (model["results"] or [])


def front_matter(card: str) -> dict[str, Any]:
    """Return the front matter by a second way: the text between the first two rules."""
    if not card.lstrip().startswith("---"):
        return {}
    text = card.lstrip().replace("\r\n", "\n").removeprefix("---\n").split("---\n" if "\n---\n" in card else "---")[0]
    values: dict[str, Any] = yaml.safe_load(text) or {}
    return values


@pytest.mark.parametrize("name", REFUSED)
def test_a_card_that_cannot_be_edited_is_refused(name: str, result: HubResult) -> None:
    """One line says why, and what to do."""
    with pytest.raises(UserError, match=r"org/clap: the results cannot be added .* repair it first") as error:
        card_after(REFUSED[name], result)
    assert "\n" not in str(error.value)


def test_a_new_result_takes_the_place_of_the_old(result: HubResult) -> None:
    """Other measures of the same dataset, and comments of other people inside an old result, stay."""
    card = card_after(TWO_MODELS, result)
    lines = card.splitlines(keepends=True)
    (start,) = (i for i, line in enumerate(lines) if line.strip() == "- type: recall@1")
    indent = lines[start][: lines[start].index("-")]
    own = [f"{indent}# measured twice\n", f"{indent}- type: own@3\n", f"{indent}  value: 3\n"]
    stale = "".join([*lines[:start], *own, *lines[start:]]).replace("value: 33.33", "value: 99.0")
    again = card_after(stale, result)
    assert "# measured twice" in again
    results = yaml.safe_load(again.split("---\n")[1])["model-index"][1]["results"]
    measures = [m for r in results if r["dataset"]["type"] == "org/musicrs" for m in r["metrics"]]
    assert len(measures) == 10
    assert [m["value"] for m in measures if m["type"] == "own@3"] == [3]
    assert 99.0 not in [m["value"] for m in measures]


def test_results_file_keeps_what_others_wrote(result: HubResult) -> None:
    """Comments, quotes and texts that YAML 1.1 would read otherwise stay in the results file."""
    before = """# by hand
- dataset: {id: org/other, task_id: no}
  value: 010   # octal, or not
- dataset:
    id: 'org/musicrs'
    task_id: query_only
  value: 99.0
  # why
- dataset: {id: org/last, task_id: x}
  value: 1
"""
    after = updated(ModelFiles(results=before), result, "org/clap").results or ""
    lost = [line for line in before.splitlines() if line not in after.splitlines()]
    assert lost == ["    id: 'org/musicrs'", "  value: 99.0"]
    entries = yaml.safe_load(after)
    assert [entry["value"] for entry in entries] == [8, 33.33, 1]
    assert parse_eval_result_entries([entries[1]])[0].dataset_id == "org/musicrs"
    for empty in ("", "# nothing yet\n", "[]\n"):
        assert len(yaml.safe_load(updated(ModelFiles(results=empty), result, "org/clap").results or "")) == 1


@pytest.mark.parametrize("text", ["no", "1e5", "12e03", "0o17", "1_000", "2024-01-01", "~", "a: b", "# x", "1.5", "."])
def test_texts_stay_texts_in_both_versions_of_yaml(text: str) -> None:
    """A text that YAML 1.1 or 1.2 would read as another type is quoted."""
    written = yaml_of({"x": text})
    assert yaml.safe_load(written) == {"x": text}
    if text != ".":
        assert written.rstrip().endswith(("'", '"'))


def test_an_edit_that_would_change_more_is_refused() -> None:
    """An anchor in a replaced entry that another line uses, and a key after a block text of unclear end."""
    with pytest.raises(UserError):
        edit_list("l:\n- &a x\n- y\nb: *a\n", ("l",), [], lambda node: node.value == "x")
    with pytest.raises(UserError):
        append_key("a: 1\n...\n", "b", 2)
    with pytest.raises(UserError):
        edit_list("l:\n-\n  x: 1\n- y\n", ("l",), [], lambda node: bool(node.value != "y"))
