"""Results in the format of Every Eval Ever 0.3.0: one aggregate file, and one line per thread and measure.

Format: https://github.com/evaleval/every_eval_ever. Its own converter of Inspect logs gives every genre the standard
error of the whole, so this module writes from the scores.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import __version__
from ..base.files import to_json, write_text
from ..errors import UserError
from ..paper.tables import PUBLISHED_FINGERPRINT
from ..runs.predictions import rankings_for
from ..runs.read import ScoredRun, score_predictions
from ..runs.references import References
from ..runs.run_card import REQUIRED, RunCard
from ..runs.score_tables import headline
from .rankings import Rankings

SCHEMA = "0.3.0"
_COLLECTION = "musicrs"
_SOURCE = "https://github.com/rohan2810/MusiCRS"


def write(rankings: Rankings, references: References, folder: Path) -> Iterator[str]:
    """Write `data/musicrs/<developer>/<model>/<id>.json` and `<id>_samples.jsonl`.

    Args:
        rankings: Rankings with the facts of a run card.
        references: The dataset.
        folder: The folder above `data`.

    Yields:
        The paths of the files.

    Raises:
        UserError: Facts of the run card are missing, or no score is defined.
    """
    from .write import card_of_facts

    card = card_of_facts(rankings, references)
    if card is None:
        missing = [name for name in REQUIRED if name not in {"dataset", "config", "fingerprint", *rankings.facts}]
        raise UserError(
            f"Every Eval Ever needs the facts of a run card, found no {', '.join(missing)}; convert to a run folder "
            "first (--to run), write its card (`python -m musicrs_metric card`), and convert that folder"
        )
    run = score_predictions(rankings.predictions, references)
    model = model_id(card)
    developer, _, name = model.partition("/")
    content = "".join(samples(run, rankings, card, model))
    digest = hashlib.sha256((content + to_json(run.scores.to_dict())).encode()).digest()
    # The format asks for a random id. This one has the same form, so that the same run gives the same files.
    identity = uuid.UUID(bytes=digest[:16], version=4)
    place = Path("data", _COLLECTION, _path_part(developer), _path_part(name))
    samples_path = place / f"{identity}_samples.jsonl"
    details = {
        "format": "jsonl",
        "file_path": samples_path.as_posix(),
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(content.encode()).hexdigest(),
        "total_rows": content.count("\n"),
    }
    aggregate = aggregate_of(run, card, model) | {"detailed_evaluation_results": details}
    write_text(folder / samples_path, [content])
    write_text(folder / place / f"{identity}.json", [to_json(aggregate, indent=2), "\n"])
    yield str(folder / place / f"{identity}.json")
    yield str(folder / samples_path)


def model_id(card: RunCard) -> str:
    """Return the model as `developer/model`. A system without a public model is under `musicrs`."""
    text = card.model_id or card.name
    return text if text.count("/") == 1 and all(text.split("/")) else f"musicrs/{text.replace('/', '_')}"


def aggregate_of(run: ScoredRun, card: RunCard, model: str) -> dict[str, Any]:
    """Return the aggregate file: one result per headline measure, with interval, standard error, chance and ceiling.

    Args:
        run: The scored run.
        card: Its card.
        model: `model_id` of the card.

    Raises:
        UserError: No score is defined.
    """
    time = _timestamp(card)
    availability = {True: "open_weights", False: "closed_weights", None: "unknown"}[card.open_weights]
    return {
        "schema_version": SCHEMA,
        "evaluation_id": _evaluation_id(card, model),
        "evaluation_timestamp": time,
        "retrieved_timestamp": time,
        "source_metadata": {
            "source_name": "musicrs",
            "source_type": "evaluation_run",
            "source_organization_name": "musicrs",
            "evaluator_relationship": "other",  # a run card does not name the person who ran it
        },
        "eval_library": {
            "name": "musicrs",
            "version": __version__,
            "additional_details": {"modality": card.modality, "paradigm": card.paradigm, "config": card.config},
        },
        "model_info": {
            "name": card.name,
            "id": model,
            "developer": model.partition("/")[0],
            "additional_details": {
                "deployment_type": "self_deployed" if card.open_weights else "unknown",
                "model_availability": availability,
            }
            | ({} if card.model_revision is None else {"revision": card.model_revision}),
        },
        "evaluation_results": [_result(run, card, measure) for measure in headline(run.scores)],
    }


def samples(run: ScoredRun, rankings: Rankings, card: RunCard, model: str) -> Iterator[str]:
    """Yield one line per thread and headline measure. A thread without a prediction has an empty output and score 0.

    Args:
        run: The scored run.
        rankings: Its rankings.
        card: Its card.
        model: `model_id` of the card.
    """
    references = run.references
    rankings_in_order = rankings_for(rankings.predictions, references)
    for i, thread in enumerate(references.thread_ids):
        ranking = rankings_in_order[i]
        answer = to_json(list(ranking or ()))
        for measure in headline(run.scores):
            score = float(run.table.values[measure][i])
            row = {
                "schema_version": SCHEMA,
                "evaluation_id": _evaluation_id(card, model),
                "model_id": model,
                "evaluation_name": f"musicrs.{card.config}",
                "evaluation_result_id": _result_id(card, measure),
                "sample_id": thread,
                "interaction_type": "single_turn",
                # The texts of Reddit stay in the dataset; the id finds them there.
                "input": {"raw": f"MusiCRS thread {thread}", "reference": list(references.ground_truth[i])},
                "output": {"raw": [] if ranking is None else [answer]},
                "answer_attribution": [
                    {
                        "turn_idx": 0,
                        "source": "output.raw",
                        "extracted_value": answer,
                        "extraction_method": "ranking of titles, best first",
                        "is_terminal": True,
                    }
                ],
                # The format wants a yes or no for a graded score. Here it is: any relevant title was found.
                "evaluation": {"score": score, "is_correct": score > 0},
                "metadata": {"measure": measure, "is_correct_means": "score > 0"}
                | {name: labels[i] for name, labels in references.groups.items()},
            }
            yield to_json(row) + "\n"


def _result(run: ScoredRun, card: RunCard, measure: str) -> dict[str, Any]:
    scores = run.scores
    value = scores.values[measure]
    if value is None:
        raise UserError("no thread is left to average, so there is no score to write; expected at least one thread")
    uncertainty: dict[str, Any] = {"num_samples": scores.n}
    if scores.se is not None:
        uncertainty["standard_error"] = {"value": scores.se[measure], "method": "analytic"}
    if scores.interval is not None:
        low, high = scores.interval[measure]
        method = str(scores.interval_method)
        level = scores.settings["confidence"]
        uncertainty["confidence_interval"] = {"lower": low, "upper": high, "confidence_level": level, "method": method}
        if "bootstrap" in method:
            uncertainty["num_bootstrap_samples"] = scores.settings["resamples"]
    details = {
        "chance": None if scores.chance is None else scores.chance[measure],
        "ceiling": scores.ceiling[measure],
        "verdict_to_chance": scores.verdict(measure),
        "reads": card.reads,
        "threads_without_prediction": scores.n_missing,
        "threads_with_empty_ground_truth_counted_as_0": scores.n_empty,
        "score_with_filled_part_at_chance": None if run.filled is None else run.filled.expected[measure],
    }
    kind, _, k = measure.partition("@")
    parameters = {"metric_parameters": {"k": int(k)}} if k else {}
    return {
        "evaluation_result_id": _result_id(card, measure),
        "evaluation_name": f"musicrs.{card.config}",
        "source_data": _source(run.references, card),
        "metric_config": {
            "metric_id": f"musicrs.{measure}",
            "metric_name": measure,
            "metric_kind": kind,
            "metric_unit": "proportion",
            **parameters,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0.0,
            "max_score": 1.0,
            "evaluation_description": f"Mean {measure} over all {scores.n} threads. A thread with "
            "an empty ground truth, or without a prediction, counts as 0.",
        },
        "score_details": {
            "score": value,
            "details": {name: _words(detail) for name, detail in details.items() if detail is not None},
            "uncertainty": uncertainty,
        },
    }


def _words(value: object) -> str:
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def _source(references: References, card: RunCard) -> dict[str, Any]:
    details = {
        "threads": str(len(references)),
        "configuration": card.config,
        "pools": card.pools or "published",
        "fingerprint": references.fingerprint,
    }
    if references.fingerprint == PUBLISHED_FINGERPRINT:
        return {"dataset_name": "musicrs", "source_type": "url", "url": [_SOURCE], "additional_details": details}
    return {"dataset_name": Path(references.name).name, "source_type": "other", "additional_details": details}


def _result_id(card: RunCard, measure: str) -> str:
    return f"musicrs.{card.config}.{measure}"


def _evaluation_id(card: RunCard, model: str) -> str:
    return f"musicrs/{model.replace('/', '_')}/{_timestamp(card)}"


def _timestamp(card: RunCard) -> str:
    """Return the end of the run in seconds since 1970, or 0 for an unknown time."""
    try:
        time = datetime.fromisoformat(card.created_at or "")
    except ValueError:
        return "0"
    return str(int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()))


def _path_part(text: str) -> str:
    """Return a name that is one part of a path on every system."""
    part = re.sub(r"[^\w.-]+", "_", text, flags=re.ASCII).strip(".")
    return part or "unknown"
