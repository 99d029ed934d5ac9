"""Pull request that adds results to a model's repository and keeps its other results."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..base.hub_errors import commit_files, explain_hub_errors
from ..errors import UserError
from .results import HubResult
from .yaml_edit import Node, SequenceNode, append_key, at, compose, edit_list, texts_at, yaml_of

FOLDER = ".eval_results"
CARD = "README.md"
_TASK = ("dataset", "id"), ("dataset", "task_id")
_DATASET = ("dataset", "type"), ("dataset", "config"), ("dataset", "name")
# The front matter as huggingface_hub finds it; an empty one counts as well.
_FRONT_MATTER = re.compile(r"(\s*---[ \t]*(?:\r\n|\r|\n))(.*?)((?<=[\r\n])---[ \t]*(?:\r\n|\r|\n|\Z))", re.DOTALL)


@dataclass(frozen=True)
class ModelFiles:
    """The two files of a model's repository that hold results.

    Attributes:
        results: Content of the results file, or None.
        card: Content of the model card, or None.
    """

    results: str | None = None
    card: str | None = None


def results_path(result: HubResult) -> str:
    """Return the path of the results file of a model or variant. A file has one number per task."""
    return f"{FOLDER}/musicrs{'' if result.variant is None else f'-{result.variant}'}.yaml"


def updated(files: ModelFiles, result: HubResult, model: str) -> ModelFiles:
    """Add a result to the files of a model. It replaces an earlier result of its task; the rest stays.

    Args:
        files: The files now.
        result: The result.
        model: Id of the model.

    Returns:
        Both files.

    Raises:
        UserError: A file cannot be read.
    """
    return ModelFiles(_with_entry(files.results, result), _with_model_index(files.card, result, model))


def model_files(model: str, path: str) -> ModelFiles:
    """Read the files of a model's repository.

    Args:
        model: Its id.
        path: Path of its results file.

    Raises:
        UserError: There is no such model, or no network.
    """
    return ModelFiles(_read(model, path), _read(model, CARD))


def open_pull_request(model: str, path: str, files: ModelFiles, result: HubResult) -> str:
    """Open a pull request that adds the results to a model.

    Args:
        model: Its id.
        path: Path of its results file.
        files: Both files with the result.
        result: The result.

    Returns:
        The URL of the pull request.

    Raises:
        UserError: The Hub refuses it, or cannot be reached.
    """
    texts = {path: files.results, CARD: files.card}
    contents = {where: text.encode() for where, text in texts.items() if text is not None}
    message = f"MusiCRS results: {result.task}"
    return commit_files(model, contents, message, repo_type="model", description=result.notes)


def _read(model: str, path: str) -> str | None:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    with explain_hub_errors(model):
        try:
            name = hf_hub_download(model, path)
        except EntryNotFoundError:
            return None
    try:
        # After a byte order mark the front matter of a card would not be found.
        with open(name, encoding="utf-8-sig", newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise UserError(f"{model}: {path} is not UTF-8 (byte {error.start + 1}); repair it first") from error


def _with_entry(text: str | None, result: HubResult) -> str:
    from huggingface_hub import eval_result_entries_to_yaml

    entries = eval_result_entries_to_yaml([result.entry()])
    task = result.benchmark, result.task
    try:
        if text is None or compose(text) is None:
            return (text or "") + yaml_of(entries)
        return edit_list(text, (), entries, lambda entry: texts_at(entry, *_TASK) == task)
    except UserError as error:
        raise UserError(f"the results file of the model is no list of results ({error}); repair it first") from error


def _with_model_index(text: str | None, result: HubResult, model: str) -> str:
    """Add the results to the front matter of a card. Every other line of the card stays."""
    from huggingface_hub.repocard_data import eval_results_to_model_index

    name = model.split("/")[1]
    card = f"---\ntags:\n- music\n---\n\n# {name}\n" if text is None else text
    match = _FRONT_MATTER.match(card)
    start, end = match.span(2) if match is not None else (0, 0)
    front = card[start:end]
    (index,) = eval_results_to_model_index(name, result.model_index())
    try:
        if at(compose(front), ("model-index",)) is None:
            front = append_key(front, "model-index", [index])
        else:
            front = _with_results(front, index, model)
    except UserError as error:
        raise UserError(
            f"{model}: the results cannot be added to the front matter of its card ({error}); expected a list "
            "`model-index` with one entry per line, or none; repair it first"
        ) from error
    newline = "\r\n" if "\r\n" in card else "\n"
    if match is None:
        front = f"---{newline}{front}---{newline}"
    return card[:start] + front + card[end:]


def _with_results(front: str, index: dict[str, Any], model: str) -> str:
    """Add results to a `model-index`. A measure of the same dataset, configuration and variant is replaced."""
    models = at(compose(front), ("model-index",))
    names = [texts_at(entry, ("name",))[0] for entry in models.value] if isinstance(models, SequenceNode) else []
    if len(names) > 1:
        positions = [i for i, name in enumerate(names) if name in (model, index["name"])]
    else:
        positions = list(range(len(names)))
    if not positions:
        return edit_list(front, ("model-index",), [index])
    path = ("model-index", positions[0], "results")
    for new in index["results"]:
        dataset = tuple(new["dataset"].get(key) for key in ("type", "config", "name"))
        measures = {metric["type"] for metric in new["metrics"]}

        def is_replaced(metric: Node, measures: set[str] = measures) -> bool:
            return texts_at(metric, ("type",))[0] in measures

        def holds_only_replaced(entry: Node, dataset: tuple[str, ...] = dataset) -> bool:
            metrics = at(entry, ("metrics",))
            return (
                texts_at(entry, *_DATASET) == dataset
                and isinstance(metrics, SequenceNode)
                and all(map(is_replaced, metrics.value))
            )

        results = at(compose(front), path)
        for i, entry in enumerate(results.value if isinstance(results, SequenceNode) else ()):
            metrics = at(entry, ("metrics",))
            if texts_at(entry, *_DATASET) != dataset or holds_only_replaced(entry):
                continue
            if isinstance(metrics, SequenceNode) and any(map(is_replaced, metrics.value)):
                front = edit_list(front, (*path, i, "metrics"), [], is_replaced)
        front = edit_list(front, path, [new], holds_only_replaced)
    return front
