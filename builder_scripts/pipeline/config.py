"""The settings of a whole run: one YAML file, checked before anything is done.

Every stage has a section with the options of its command, under the same names (those that may be repeated in the
plural) and with the same defaults; only what differs need be written. Paths count from the folder of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, model_validator
from pydantic.functional_validators import AfterValidator, BeforeValidator

from musicrs_dataset.pools.poolset import DISTRACTORS, Design
from musicrs_metric.base.genres import GENRE_OF_SUBREDDIT
from musicrs_metric.errors import UserError, show

from ..extract import MODEL as EXTRACT_MODEL
from ..extract.mentions import Kind
from ..llm.request import Model
from ..llm.session import BackendName, Settings
from ..queries import MODEL as QUERIES_MODEL
from ..refine.genres import subreddit_name
from ..threads.rules import Rules

_LLM = Settings(Model(""))
_RULES = Rules()


def _from_file(path: Path, info: ValidationInfo) -> Path:
    return Path(info.context or ".", path)


def _passed_on(entries: Any) -> Any:
    """Check options of yt-dlp; an error shows no value, which may be a password."""
    from musicrs_dataset.audio.fetch.yt_dlp_options import parse_yt_dlp_options

    if entries is None:
        return None
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise ValueError("expected a list of KEY=VALUE")
    try:
        parse_yt_dlp_options(entries)
    except UserError as error:
        raise ValueError(str(error)) from None
    return entries


PathFrom = Annotated[Path, AfterValidator(_from_file)]


class Section(BaseModel):
    """A section: fixed, and with no name that nothing listens to."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Mine(Section):
    """See `mine --help`."""

    dumps: list[PathFrom] = Field(min_length=1)
    subreddits: list[Annotated[str, AfterValidator(subreddit_name)]] = Field(
        default=list(GENRE_OF_SUBREDDIT), min_length=1
    )
    workers: int | None = Field(default=None, ge=1)
    executor: Literal["pool", "spark", "ray", "dask"] = "pool"
    master: str | None = None


class Threads(Section):
    """See `threads --help`."""

    engine: Literal["duckdb", "spark"] = "duckdb"
    master: str | None = None
    memory: str | None = None
    min_replies: int = Field(default=_RULES.min_replies, ge=1)
    min_chars: int = Field(default=_RULES.min_chars, ge=0)
    keep_deleted: bool = _RULES.keep_deleted
    keep_bots: bool = _RULES.keep_bots
    keep_stickied: bool = _RULES.keep_stickied
    asker_counts: bool = _RULES.asker_counts


class Asked(Section):
    """See `extract --help`."""

    model: str
    revision: str = ""
    backend: BackendName = _LLM.backend
    url: str = _LLM.url
    key_variable: str = _LLM.key_variable
    concurrency: int = Field(default=_LLM.concurrency, ge=1)
    timeout: float = Field(default=_LLM.timeout_s, ge=0.1, allow_inf_nan=False)
    retries: int = Field(default=_LLM.retries, ge=0)
    batch_size: int = Field(default=_LLM.batch_size, ge=1)
    price_read: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    price_written: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    skip_unanswered: bool = False
    max_failures: float = Field(default=_LLM.max_failures, ge=0, le=1)
    thinking_tokens: int = Field(default=0, ge=0)
    extra_body: PathFrom | None = None


class Extract(Asked):
    """See `extract --help`."""

    model: str = EXTRACT_MODEL


class Queries(Asked):
    """See `queries --help`."""

    model: str = QUERIES_MODEL


class Refine(Section):
    """See `refine --help`; `genres` are of further subreddits, and may be new."""

    kinds: list[Kind] = Field(default=["song"], min_length=1)
    min_answers: int = Field(default=2, ge=1)
    max_answers: int = Field(default=30, ge=1)
    top: int = Field(default=10, ge=1)
    genres: dict[str, str] = {}


class Audio(Section):
    """See `audio --help`."""

    fetch: bool = True
    cookies: PathFrom | None = None
    sleep: float = Field(default=5.0, ge=0)
    rate: int | None = Field(default=None, ge=1)
    workers: int = Field(default=1, ge=1, le=16)
    max_minutes: float | None = Field(default=None, ge=0.1)
    max_megabytes: float | None = Field(default=None, ge=0.1)
    yt_dlp: Annotated[list[str] | None, BeforeValidator(_passed_on)] = None


class Annotate(Section):
    """See `annotate settle --help`; `skip` goes on with what the models made, and nobody has judged it."""

    labels: PathFrom | None = None
    decisions: PathFrom | None = None
    majority: bool = False
    partial: bool = False
    skip: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.labels and (self.decisions or self.majority):
            raise ValueError("labels take the place of the annotators; leave out decisions and majority")
        return self


class Pools(Section):
    """See `pools --help`."""

    designs: list[Design] = Field(default=list(Design), min_length=1)
    seed: int = Field(default=0, ge=0)
    distractors: int = Field(default=DISTRACTORS, ge=1)


class Release(Section):
    """See `release --help`."""

    name: str
    title: str = ""
    by: str = ""
    contact: str = ""
    licence: str = "cc-by-4.0"
    purpose: str = ""
    takedown: PathFrom | None = None
    budget: float = Field(default=300.0, gt=0)
    seed: int = Field(default=0, ge=0)
    language: str = "en"
    redact: bool = False


class Baseline(Section):
    """A system that is run on the release and scored; see `python -m baselines run --help`."""

    model: str = "lexical"
    modality: Literal["audio_query", "query_only", "audio_only"] = "query_only"
    pools: str = "published"
    seed: int = Field(default=0, ge=0)
    options: dict[str, str | int | float] = {}


class RunConfig(Section):
    """The file.

    Attributes:
        work: The work folder.
        home: `HF_HOME` of the processes that load, run and score the release; a folder of its own keeps whatever the
            user has installed under other names apart. None for `hf` in the work folder.
        baseline: None for no baseline.
    """

    work: PathFrom
    home: PathFrom | None = None
    mine: Mine
    threads: Threads = Threads()
    extract: Extract = Extract()
    queries: Queries = Queries()
    refine: Refine = Refine()
    audio: Audio = Audio()
    annotate: Annotate = Annotate()
    pools: Pools = Pools()
    release: Release
    baseline: Baseline | None = Baseline()


def read_config(path: Path) -> RunConfig:
    """Read the file.

    Raises:
        UserError: It cannot be read, is not YAML, or a setting is missing, unknown or of another kind; one line, all
            faults in it.
    """
    import yaml

    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        where = getattr(error, "problem_mark", None)
        line = f", line {where.line + 1}" if where else ""
        reason = getattr(error, "problem", None) or str(error)
        raise UserError(f"{path}{line}: not YAML ({reason})") from error
    if not isinstance(value, Mapping):
        raise UserError(f"{path}: found {show(value)}, expected sections such as mine, release")
    try:
        return RunConfig.model_validate(value, context=path.parent)
    except ValidationError as error:
        raise UserError(f"{path}: " + "; ".join(map(_fault, error.errors(include_url=False)))) from error


def _fault(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"])
    match error["type"]:
        case "missing":
            return f"{place} is missing"
        case "extra_forbidden":
            return f"{place} is no setting{_hint(error['loc'])}"
        case "value_error":
            return f"{place}: {error['ctx']['error']}"
    return f"{place} is {show(error['input'])}, expected: {error['msg'].removeprefix('Input should be ')}"


def _hint(place: tuple[str | int, ...]) -> str:
    """What a setting that is none may have meant, and what its section has."""
    section: Any = RunConfig
    *sections, name = map(str, place)
    for each in sections:
        annotation = section.model_fields[each].annotation
        section = next(kind for kind in (annotation, *get_args(annotation)) if hasattr(kind, "model_fields"))
    close = get_close_matches(name, section.model_fields, n=1)
    return f"; {f'did you mean {close[0]}? ' if close else ''}it has {', '.join(section.model_fields)}"
