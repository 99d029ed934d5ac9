"""Options of a stage as one model: the section of `run.yaml`, the argument of the stage, the options of its command.

The help text of an option is the description of its field, and its bounds are those of the field. A field that holds
several values has a plural name (`subreddits`), and its option the singular (`--subreddit`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import typer
from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, ValidationInfo
from pydantic.fields import FieldInfo

from musicrs_metric.errors import UserError, show


def from_folder_of_settings(path: Path | None, info: ValidationInfo) -> Path | None:
    """Resolve a path of `run.yaml` against the folder of that file; a path of a command stays as it is."""
    return path and Path(info.context or ".", path)


PathFrom = Annotated[Path, AfterValidator(from_folder_of_settings)]
WorkFolder = Annotated[Path, typer.Option("--work", help="Work folder of the corpus.")]


class StageOptions(BaseModel):
    """Options of a stage: frozen, and without unknown names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def check(self) -> None:
        """Check what no single value shows.

        Raises:
            UserError: Options contradict each other.
        """


Options = TypeVar("Options", bound=StageOptions)


@dataclass(frozen=True)
class CommandLine:
    """Form of an option on the command line, where the field alone does not give it.

    Attributes:
        metavar: Name of the value in the help text.
        is_argument: An argument without a name.
        read: Makes the value of the field from the texts of an option that may be repeated.
    """

    metavar: str | None = None
    is_argument: bool = False
    read: Callable[[Sequence[str]], Any] | None = None


def option_command(model: type[StageOptions]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace the parameter `options` of a function by the fields of a model, so that typer shows each as an option.

    Args:
        model: The options of a stage.

    Returns:
        A decorator. The decorated function gets checked options.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        fields = {name: _parameter(name, field) for name, field in model.model_fields.items()}
        parameters: list[inspect.Parameter] = []
        for name, parameter in signature.parameters.items():
            parameters += fields.values() if name == "options" else [parameter.replace(kind=parameter.KEYWORD_ONLY)]

        @functools.wraps(command)
        def run(**values: Any) -> None:
            options = read_options(model, {name: values.pop(name) for name in fields})
            command(options=options, **values)

        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def read_options(model: type[Options], values: Mapping[str, Any]) -> Options:
    """Make options from the values of a command line.

    Args:
        model: The options of a stage.
        values: Value by field. None stands for an option that was not given.

    Raises:
        UserError: A value is out of range, or options contradict each other.
    """
    given = {name: value for name, value in values.items() if value is not None}
    for name, field in model.model_fields.items():
        if name in given and (read := _command_line(field).read):
            given[name] = read(given[name])
    try:
        options = model.model_validate(given)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        raise UserError(
            "; ".join(describe_fault(fault, _option_name(str(fault["loc"][0]))) for fault in faults)
        ) from error
    options.check()
    return options


def describe_fault(fault: Any, place: str) -> str:
    """Describe a value that a model refuses: where, what was found, what was expected.

    Args:
        fault: An entry of `ValidationError.errors()`.
        place: The option or setting.
    """
    match fault["type"]:
        case "missing":
            return f"{place} is missing"
        case "value_error":
            return f"{place}: {fault['ctx']['error']}"
    return f"{place} is {show(fault['input'])}, expected: {fault['msg'].removeprefix('Input should be ')}"


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    annotation: Any = Annotated[_typer_type(_plain(field.annotation)), _info(name, field)]
    default = inspect.Parameter.empty if field.is_required() else field.get_default(call_default_factory=True)
    if isinstance(default, list | dict):
        default = None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _info(name: str, field: FieldInfo) -> Any:
    """Return the typer option of a field: its own where the annotation holds one, else one made from the field."""
    own = [entry for entry in field.metadata if isinstance(entry, typer.models.OptionInfo)]
    if own:
        return own[0]
    form = _command_line(field)
    settings: dict[str, Any] = {"help": field.description, "metavar": form.metavar}
    for entry in field.metadata:
        for bound, setting in (("ge", "min"), ("le", "max")):
            if hasattr(entry, bound):
                settings[setting] = getattr(entry, bound)
    if form.is_argument:
        return typer.Argument(**settings)
    kind = _plain(field.annotation)
    flag = "" if field.annotation is not bool or field.default is False else f"/--no-{_option_name(name)[2:]}"
    is_repeated = get_origin(kind) in (list, dict)
    return typer.Option(f"{_option_name(name).removesuffix('s' if is_repeated else '')}{flag}", **settings)


def _option_name(field: str) -> str:
    return f"--{field.replace('_', '-')}"


def _command_line(field: FieldInfo) -> CommandLine:
    return next((entry for entry in field.metadata if isinstance(entry, CommandLine)), CommandLine())


def _plain(kind: Any) -> Any:
    """Return a type without the metadata of pydantic."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _plain(arguments[0])
    if origin is list:
        return list[_plain(arguments[0])]  # type: ignore[misc]
    if origin in (Union, UnionType):
        (inner,) = (argument for argument in arguments if argument is not NoneType)
        return _plain(inner) | None
    return kind


def _typer_type(kind: Any) -> Any:
    if get_origin(kind) is dict:
        return list[str] | None
    if get_origin(kind) is list:
        (entry,) = get_args(kind)
        if get_origin(entry) is Literal:  # typer takes no list of literals
            return list[StrEnum("Choice", [(value, value) for value in get_args(entry)])] | None  # type: ignore[misc]
        return list[entry] | None  # type: ignore[valid-type]
    return kind
