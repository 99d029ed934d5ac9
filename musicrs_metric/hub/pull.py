"""The pull request that puts results into a model's repository, beside what already stands there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base.hub_errors import explain_hub_errors
from ..errors import UserError
from .results import HubResult, yaml_of

if TYPE_CHECKING:
    from huggingface_hub import EvalResult

FOLDER = ".eval_results"
CARD = "README.md"


@dataclass(frozen=True)
class ModelFiles:
    """The two files of a model's repository that results go into.

    Attributes:
        results: Content of the results file; None where there is none.
        card: Content of the model card; None where there is none.
    """

    results: str | None = None
    card: str | None = None


def results_path(result: HubResult) -> str:
    """The results file of a model, or of one of its variants, for a file has one number a task."""
    return f"{FOLDER}/musicrs{'' if result.variant is None else f'-{result.variant}'}.yaml"


def updated(files: ModelFiles, result: HubResult, model: str) -> ModelFiles:
    """Put a result into the files of a model: it takes the place of an earlier one of its task; the rest stays.

    Args:
        files: What stands there.
        result: The result.
        model: Id of the model.

    Returns:
        Both files.

    Raises:
        UserError: What stands there cannot be read.
    """
    return ModelFiles(_with_entry(files.results, result), _with_model_index(files.card, result, model))


def model_files(model: str, path: str) -> ModelFiles:
    """Read the files of a model's repository.

    Args:
        model: Its id.
        path: Where its results are.

    Raises:
        UserError: There is no such model, or no network.
    """
    return ModelFiles(_read(model, path), _read(model, CARD))


def open_pull_request(model: str, path: str, files: ModelFiles, result: HubResult) -> str:
    """Ask the owners of a model to take the results in.

    Args:
        model: Its id.
        path: Where its results go.
        files: Both files as they are to be.
        result: What is told of it.

    Returns:
        The address of the pull request.

    Raises:
        UserError: The Hub refuses, or cannot be reached.
    """
    from huggingface_hub import CommitOperationAdd, HfApi

    contents = ((path, files.results), (CARD, files.card))
    with explain_hub_errors(model):
        commit = HfApi().create_commit(
            model,
            [CommitOperationAdd(where, text.encode()) for where, text in contents if text is not None],
            commit_message=f"MusiCRS results: {result.task}",
            commit_description=result.notes,
            create_pr=True,
        )
    return str(commit.pr_url or commit.commit_url)


def _read(model: str, path: str) -> str | None:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    with explain_hub_errors(model):
        try:
            name = hf_hub_download(model, path)
        except EntryNotFoundError:
            return None
    try:
        # Behind a byte order mark the front matter of a card would not be found.
        with open(name, encoding="utf-8-sig", newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise UserError(f"{model}: {path} is not UTF-8 (byte {error.start + 1}); mend it first") from error


def _with_entry(text: str | None, result: HubResult) -> str:
    import yaml
    from huggingface_hub import eval_result_entries_to_yaml

    try:
        entries = yaml.safe_load(text) if text else []
        # Kept as they are, not parsed: the Hub's own parser would drop what it does not know.
        kept = [entry for entry in entries if _task(entry) != (result.benchmark, result.task)]
    except (yaml.YAMLError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise UserError(f"the results file of the model is no list of results ({error!r}); mend it first") from error
    return yaml_of([*kept, *eval_result_entries_to_yaml([result.entry()])])


def _task(entry: Any) -> tuple[str, str]:
    return entry["dataset"]["id"], entry["dataset"]["task_id"]


def _with_model_index(text: str | None, result: HubResult, model: str) -> str:
    import yaml
    from huggingface_hub import ModelCard

    name = model.split("/")[1]
    try:
        card = ModelCard(text or f"---\ntags:\n- music\n---\n\n# {name}\n")
    except (ValueError, yaml.YAMLError) as error:
        raise UserError(f"{model}: the front matter of its card cannot be read ({error}); mend it first") from error
    new = result.model_index()
    replaced = {_measure(one) for one in new}
    earlier: list[EvalResult] = card.data.get("eval_results") or []
    card.data["eval_results"] = [old for old in earlier if _measure(old) not in replaced] + new
    card.data["model_name"] = card.data.get("model_name") or name
    return str(card)


def _measure(result: EvalResult) -> tuple[object, ...]:
    """What a result of a model card is of, whatever its value, the revision of the data and the source."""
    return result.dataset_type, result.dataset_config, result.dataset_name, result.metric_type
