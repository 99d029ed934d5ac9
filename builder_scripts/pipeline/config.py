"""Settings of a whole run: one YAML file, checked before the run starts.

Every stage has a section with the options of its command, under the same names and with the same defaults. Options that
may be repeated have plural names. Paths count from the folder of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import Field, ValidationError

from musicrs_metric.errors import UserError, show

from ..annotate.options import AnnotateOptions
from ..audio.options import AudioOptions
from ..llm.options import ExtractOptions, QueriesOptions
from ..mine.options import MineOptions
from ..pools.options import PoolsOptions
from ..refine.options import RefineOptions
from ..release.options import ReleaseOptions
from ..threads.options import ThreadsOptions
from .option_command import PathFrom, StageOptions, describe_fault


class AnnotateSection(AnnotateOptions):
    """Options of `annotate settle`.

    Attributes:
        skip: Release the threads as the models left them, without annotation.
    """

    skip: bool = False


class BaselineOptions(StageOptions):
    """System that runs on the release and is scored; see `python -m baselines run --help`.

    Attributes:
        model: Name of the system.
        modality: Input of the system.
        pools: Name of the pool design.
        seed: Seed of everything random.
        options: Options of the system, by name.
    """

    model: str = "lexical"
    modality: Literal["audio_query", "query_only", "audio_only"] = "query_only"
    pools: str = "published"
    seed: int = Field(default=0, ge=0)
    options: dict[str, str | int | float] = Field(default={})


class RunConfig(StageOptions):
    """The settings file.

    Attributes:
        work: Work folder.
        home: `HF_HOME` of the processes that load, run and score the release. A folder of its own protects the datasets
            that the user has installed. None for `hf` in the work folder.
        baseline: None for no baseline.
    """

    work: PathFrom
    home: PathFrom | None = None
    mine: MineOptions
    threads: ThreadsOptions = ThreadsOptions()
    extract: ExtractOptions = ExtractOptions()
    queries: QueriesOptions = QueriesOptions()
    refine: RefineOptions = RefineOptions()
    audio: AudioOptions = AudioOptions()
    annotate: AnnotateSection = AnnotateSection()
    pools: PoolsOptions = PoolsOptions()
    release: ReleaseOptions
    baseline: BaselineOptions | None = BaselineOptions()


def read_config(path: Path) -> RunConfig:
    """Read the settings file.

    Raises:
        UserError: The file cannot be read or is not YAML, or a setting is missing, unknown or of another type. The
            message is one line with all faults.
    """
    import yaml

    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or str(error)
        raise UserError(f"{path}{line}: not YAML ({reason})") from error
    if not isinstance(value, Mapping):
        raise UserError(f"{path}: found {show(value)}, expected sections such as mine, release")
    try:
        return RunConfig.model_validate(value, context=path.parent)
    except ValidationError as error:
        raise UserError(f"{path}: " + "; ".join(map(_describe, error.errors(include_url=False)))) from error


def _describe(fault: Any) -> str:
    place = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return f"{place} is no setting{_hint(fault['loc'])}"
    return describe_fault(fault, place)


def _hint(place: tuple[str | int, ...]) -> str:
    """Name a setting with a similar name, and all settings of the section."""
    section: Any = RunConfig
    *sections, name = map(str, place)
    for part in sections:
        annotation = section.model_fields[part].annotation
        section = next(kind for kind in (annotation, *get_args(annotation)) if hasattr(kind, "model_fields"))
    close = get_close_matches(name, section.model_fields, n=1)
    return f"; {f'did you mean {close[0]}? ' if close else ''}it has {', '.join(section.model_fields)}"
