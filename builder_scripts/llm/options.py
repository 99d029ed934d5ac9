"""The command line of a stage that asks a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from ..layout import Work
from ..pipeline.stage import tell
from .request import Model
from .session import BackendName, Settings, model_with
from .stopping import StoppedError
from .usage import Prices

if TYPE_CHECKING:
    from rich.console import Console

    from ..manifest import StageManifest

_DEFAULT = Settings(Model(""))


class Stage(Protocol):
    """A stage that asks a model; its module `run` is one."""

    def run(self, work: Work, settings: Settings, console: Console) -> tuple[StageManifest, bool]:
        """Run it, unless it is done; return its manifest, and whether anything had to be done."""

    def estimate(self, work: Work, settings: Settings, console: Console) -> str:
        """Say in a line what it would take."""


def llm_command(name: str, model: str, stage: Callable[[], Stage], doc: str) -> Callable[..., None]:
    """Make the command of a stage.

    Args:
        name: Of the stage.
        model: Who is asked where the user names nobody.
        stage: Imports the stage.
        doc: Its help.

    Returns:
        A function for typer.
    """
    default_model = model

    def command(
        work: Annotated[Path, typer.Option(help="Work folder of the corpus.")],
        model: Annotated[str, typer.Option(help="Hub id, a folder, or the name that the server gives it.")] = (
            default_model
        ),
        revision: Annotated[str, typer.Option(help="Commit of the weights; kept with every answer.")] = "",
        backend: Annotated[
            BackendName,
            typer.Option(
                help="server: OpenAI-compatible, as `vllm serve MODEL`. local: in this process, with transformers. "
                "batch: files for `vllm run-batch` or a batch service."
            ),
        ] = _DEFAULT.backend,
        url: Annotated[str, typer.Option(help="The server, up to and with /v1.")] = _DEFAULT.url,
        key_variable: Annotated[
            str, typer.Option(help="Environment variable that holds the server's key.")
        ] = _DEFAULT.key_variable,
        concurrency: Annotated[
            int, typer.Option(min=1, help="Requests in flight at the server.")
        ] = _DEFAULT.concurrency,
        timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one attempt.")] = _DEFAULT.timeout_s,
        retries: Annotated[int, typer.Option(min=0, help="Further attempts after a failure.")] = _DEFAULT.retries,
        batch_size: Annotated[int, typer.Option(min=1, help="Requests at once in this process.")] = _DEFAULT.batch_size,
        price_read: Annotated[float, typer.Option(min=0, help="Price of a million tokens read.")] = 0.0,
        price_written: Annotated[float, typer.Option(min=0, help="Price of a million tokens written.")] = 0.0,
        skip_unanswered: Annotated[
            bool, typer.Option("--skip-unanswered", help="Requests without an answer are no failures.")
        ] = False,
        max_failures: Annotated[
            float,
            typer.Option(min=0, max=1, help="Share of failed questions above which the stage stops with exit code 1."),
        ] = _DEFAULT.max_failures,
        thinking_tokens: Annotated[
            int, typer.Option(min=0, help="Further tokens per answer, for a model that thinks first.")
        ] = 0,
        extra_body: Annotated[
            Path | None,
            typer.Option(metavar="FILE", help="JSON object with further fields of every request."),
        ] = None,
        estimate: Annotated[bool, typer.Option("--estimate", help="Say what it would take, and ask nothing.")] = False,
    ) -> None:
        from rich.console import Console

        asked = model_with(model, revision, extra_body, thinking_tokens)
        settings = Settings(
            asked, backend, url, key_variable, concurrency, timeout, retries, batch_size,
            Prices(price_read, price_written), skip_unanswered, max_failures,
        )  # fmt: skip
        console = Console(stderr=True)
        if estimate:
            typer.echo(stage().estimate(Work(work), settings, console))
            return
        try:
            manifest, new = stage().run(Work(work), settings, console)
        except StoppedError as error:
            typer.echo(f"{name}: {error}", err=True)
            raise typer.Exit(error.exit_code) from error
        tell(manifest, new, Work(work).gold / manifest.outputs[0].path)

    command.__name__, command.__doc__ = name, doc
    return command
