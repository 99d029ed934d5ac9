"""Recipes: systems made by the fusion of others. A TOML file names the parts, and one command makes all of them.

    name = "mine"
    description = "Text and audio."
    method = "zscore"                      # or rrf, rank; without it as `fuse` chooses

    [weights]                              # sources that `--weights NAME=SOURCE` replaces
    mpnet = "sentence-transformers/all-mpnet-base-v2"

    [[parts]]
    name = "mpnet"                         # folder of the part in OUT/parts
    model = "text_encoder"                 # as in `run --model`
    weights = "mpnet"                      # key of [weights], passed on as --weights; may be absent
    options = ["--subtract", "request"]
    weight = 1.0
    modality = "query_only"                # for a model with several

`python -m baselines run --model mine.toml --dataset data --out runs/mine` makes it. `fused_text` is in this folder.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from musicrs_metric.errors import UserError, show
from musicrs_metric.runs.run_card import Modality

from ..fusion import Method

_FOLDER = Path(__file__).parent
_TOP = {"name", "description", "method", "weights", "parts"}
_FOLDER_NAME = re.compile(r"\w[\w-]{0,63}")
_PART = {"name", "model", "weights", "options", "weight", "modality"}


@dataclass(frozen=True)
class Part:
    """One system of a recipe.

    Attributes:
        name: Name of its folder.
        model: Name of the system.
        arguments: Options of the system, as on the command line.
        weight: Its weight in the fusion.
        modality: Data of a thread that it uses; None if the system has one modality.
    """

    name: str
    model: str
    arguments: tuple[str, ...] = ()
    weight: float = 1.0
    modality: Modality | None = None


@dataclass(frozen=True)
class Recipe:
    """A fused system.

    Attributes:
        name: Its name in tables.
        description: One line about it.
        parts: At least two systems.
        method: Method of the fusion; None for the default of `fuse`.
        weights: Names and sources of the weights.
    """

    name: str
    description: str
    parts: tuple[Part, ...]
    method: Method | None
    weights: dict[str, str]


def shipped_recipes() -> list[str]:
    """Return the names of the recipes in this folder."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def is_recipe(model: str) -> bool:
    """Return whether a value of `--model` names a recipe: one of this folder, or a file whose name ends in .toml."""
    return model in shipped_recipes() or model.endswith(".toml")


def read_recipe(model: str, arguments: Sequence[str] = ()) -> Recipe:
    """Read a recipe.

    Args:
        model: A name that `shipped_recipes` returns, or a path.
        arguments: Arguments of the command line: `--weights NAME=SOURCE`, once per source.

    Raises:
        UserError: The file cannot be read, a field is missing, unknown or of another type, or an argument is unknown.
    """
    path = _FOLDER / f"{model}.toml" if model in shipped_recipes() else Path(model)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"--model {model}: cannot be read ({error}); expected a recipe in TOML") from error
    sources = _section(values, "weights", dict, model) if "weights" in values else {}
    if wrong := [name for name, source in sources.items() if not isinstance(source, str)]:
        raise UserError(f"{model}: weights holds {wrong[0]} = {show(sources[wrong[0]])}, expected text")
    sources = {**sources, **_replaced(arguments, sources, model)}
    _refuse_unknown(values, _TOP, model)
    method = values.get("method")
    if method is not None and method not in get_args(Method):
        raise UserError(f"{model}: method is {show(method)}, expected one of {', '.join(get_args(Method))}")
    parts = tuple(_part(part, sources, model) for part in _section(values, "parts", list, model))
    names = [part.name for part in parts]
    if len(parts) < 2 or len(set(names)) < len(names):
        raise UserError(f"{model}: parts are {', '.join(names) or 'none'}, expected at least two with distinct names")
    return Recipe(_section(values, "name", str, model), str(values.get("description", "")), parts, method, sources)


def recipe_lines(recipe: Recipe) -> Iterator[str]:
    """Yield the parts and sources of a recipe, one per line, for `show`."""
    yield f"{recipe.name}: {recipe.description}"
    yield f"fusion: {recipe.method or 'zscore'} of {len(recipe.parts)} runs"
    for part in recipe.parts:
        options = f" {' '.join(part.arguments)}" if part.arguments else ""
        yield f"part {part.name} (weight {part.weight:g}): {part.model}{options}"
    for name, source in recipe.weights.items():
        yield f"option --weights {name}=SOURCE ({source or 'the default of its system'})"


def _part(values: Any, sources: dict[str, str], model: str) -> Part:
    if not isinstance(values, dict):
        raise UserError(f"{model}: parts holds {show(values)}, expected tables [[parts]]")
    _refuse_unknown(values, _PART, model)
    name, system = _section(values, "name", str, model), _section(values, "model", str, model)
    options, key = values.get("options", []), values.get("weights")
    weight, modality = values.get("weight", 1.0), values.get("modality")
    is_number = isinstance(weight, int | float) and not isinstance(weight, bool) and 0 <= weight < math.inf
    are_words = isinstance(options, list) and all(isinstance(word, str) for word in options)
    for is_right, field, value, expected in (
        (_FOLDER_NAME.fullmatch(name), "name", name, "the name of a folder, of letters, digits, '_' and '-'"),
        (not is_recipe(system), "model", system, "a system, not a recipe; name the parts of the recipe"),
        (are_words, "options", options, "a list of strings"),
        (is_number, "weight", weight, "a number from 0"),
        (modality is None or modality in get_args(Modality), "modality", modality, ", ".join(get_args(Modality))),
        (key is None or (isinstance(key, str) and key in sources), "weights", key, "a key of [weights]"),
    ):
        if not is_right:
            raise UserError(f"{model}: part {show(name)}: {field} is {show(value)}, expected {expected}")
    source = ["--weights", sources[key]] if key is not None and sources[key] else []
    return Part(name, system, (*options, *source), float(weight), modality)


def _replaced(arguments: Sequence[str], sources: dict[str, str], model: str) -> dict[str, str]:
    replaced = {}
    words = list(arguments)
    while words:
        flag, _, value = words.pop(0).partition("=")
        if flag != "--weights":
            raise UserError(f"{flag}: no such option of `run`, nor of {model}, which takes --weights NAME=SOURCE")
        name, equals, source = (value or (words.pop(0) if words else "")).partition("=")
        if not equals or name not in sources:
            raise UserError(f"--weights {name}: expected NAME=SOURCE with a name of {', '.join(sources) or 'none'}")
        replaced[name] = source
    return replaced


def _section(values: dict[str, Any], name: str, kind: type, model: str) -> Any:
    if not isinstance(values.get(name), kind) or not values[name]:
        kinds: dict[type, str] = {dict: "a table", list: "tables [[parts]]", str: "text"}
        raise UserError(f"{model}: {name} is {show(values.get(name))}, expected {kinds[kind]}")
    return values[name]


def _refuse_unknown(values: dict[str, Any], known: set[str], model: str) -> None:
    if unknown := sorted(values.keys() - known):
        raise UserError(f"{model}: field {show(unknown[0])} is unknown, expected {', '.join(sorted(known))}")
