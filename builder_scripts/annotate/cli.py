"""`python -m builder_scripts annotate`: annotators judge the threads and settle their disagreements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..pipeline.option_command import WorkFolder, option_command
from .options import AnnotateOptions

if TYPE_CHECKING:
    from .agree import Agreement
    from .kappa import Kappa

annotate = typer.Typer(
    name="annotate",
    help="Let annotators judge category, links, entities and query of each thread, and settle their disagreements.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@annotate.command()
def prepare(work: WorkFolder) -> None:
    """Write the work list of the corpus: -> gold/worklist.jsonl.

    Earlier answers are kept. New questions have no answer.
    """
    from ..layout import Work
    from ..lines import write_lines
    from .prepare import work_items

    items = work_items(Work(work))
    path = Work(work).worklist
    write_lines(path, items)
    typer.echo(f"{len(items):,} threads -> {path}")


@annotate.command()
def serve(
    work: WorkFolder,
    overlap: Annotated[int, typer.Option(min=1, help="Number of annotators per thread.")] = 2,
    resting: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Annotator who gets no new threads. May be repeated.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Host name or IP address of the server. There is no password.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the server.")] = 7860,
) -> None:
    """Serve the annotation page. Stop it with Ctrl-C at any time: all answers are saved."""
    from musicrs_dataset.audio.fetch.cache import AudioCache

    from ..layout import Work
    from .annotation_store import AnnotationStore
    from .session import AnnotationSession
    from .worklist import read_worklist

    folder = Work(work)
    items = read_worklist(folder.worklist)
    from .app import serve as listen  # takes seconds, and a missing work list must be reported before

    session = AnnotationSession(items, AnnotationStore(folder.annotations), overlap, resting or ())
    typer.echo(f"http://{host}:{port} (Ctrl-C stops it)")
    listen(session, AudioCache(folder.audio).videos(), host=host, port=port)


@annotate.command()
def agree(
    work: WorkFolder,
    resamples: Annotated[int, typer.Option(min=1, help="Bootstrap resamples of the intervals.")] = 2_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Report progress and agreement: -> agreement.json, votes.csv, disagreements.csv in private/agreement/."""
    from rich.console import Console

    from musicrs_metric.base.output import print_json
    from musicrs_metric.base.progress import say
    from musicrs_metric.errors import count

    from ..layout import Work
    from .agree import agree as compare
    from .agree import write_agreement
    from .annotation_store import AnnotationStore
    from .votes import finished
    from .worklist import read_worklist

    folder = Work(work)
    items = read_worklist(folder.worklist)
    store = AnnotationStore(folder.annotations)
    console = Console(stderr=True)
    with console.status("comparing"):
        agreement = compare(items, finished(items, store), resamples=resamples, seed=seed)
    write_agreement(folder.agreement, agreement, items)
    if store.damaged:
        console.print(f"{count(store.damaged, 'damaged line')} skipped", style="yellow")
    if as_json:
        print_json(agreement.to_dict())
    else:
        _print(agreement)
    say(console, f"wrote {folder.agreement}")


@annotate.command()
@option_command(AnnotateOptions)
def settle(work: WorkFolder, options: AnnotateOptions) -> None:
    """Make the labels that later stages use: -> gold/labels.jsonl."""
    from ..layout import Work
    from ..pipeline.stage import print_result
    from .run import run

    print_result(run(Work(work), options), Work(work).labels)


def _print(agreement: Agreement) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console()
    finished = ", ".join(f"{name} {n:,}" for name, n in agreement.finished.items())
    console.print(f"Threads finished: {finished or 'none'}", markup=False, highlight=False)
    overlap = ", ".join(f"{threads:,} with {n}" for n, threads in agreement.overlap.items())
    console.print(f"Threads by judgements: {overlap}", markup=False, highlight=False)
    kappas = Table(
        "annotators", *agreement.fleiss, title="Kappa [95 % interval], share of equal answers", title_justify="left"
    )
    kappas.add_row("all (Fleiss)", *(_cell(kappa) for kappa in agreement.fleiss.values()))
    for pair, row in agreement.cohen.items():
        kappas.add_row(escape(" - ".join(pair)), *(_cell(kappa) for kappa in row.values()))
    console.print(kappas)
    every = [*agreement.fleiss.values(), *(kappa for row in agreement.cohen.values() for kappa in row.values())]
    for reason in dict.fromkeys(kappa.reason for kappa in every if kappa is not None and kappa.reason is not None):
        console.print(f"No interval: {reason}.", markup=False, highlight=False)
    changed = Table("share", "", "here", "paper", title="What was changed", title_justify="left")
    for name, share in agreement.to_dict()["shares"].items():
        value = "" if share["value"] is None else f"{100 * share['value']:.1f} %"
        changed.add_row(name, f"{share['part']:,} of {share['whole']:,}", value, f"{100 * share['paper']:.1f} %")
    console.print(changed)
    console.print(f"To settle: {len(agreement.disagreements):,} questions", highlight=False)


def _cell(kappa: Kappa | None) -> str:
    if kappa is None:
        return "-"
    if kappa.value is None:
        return "undefined: one answer only"
    interval = "" if kappa.low is None else f" \\[{kappa.low:.2f}, {kappa.high:.2f}]"
    return f"{kappa.value:.2f}{interval}, {100 * kappa.agreement:.0f} % of {kappa.n_questions:,}"
