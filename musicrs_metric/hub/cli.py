"""The commands `hub results` and `hub benchmark`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import UserError
from ..runs.references import DEFAULT_DATASET

app = typer.Typer(
    help="Show results on the Hugging Face Hub: on a model's page, and on the dataset's leaderboard.",
    no_args_is_help=True,
)
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the files without contacting the Hub.")]


@app.command()
def results(
    run: Annotated[Path, typer.Argument(help="Run folder: predictions.jsonl and run.json.")],
    model: Annotated[str, typer.Option(metavar="OWNER/NAME", help="The model on the Hub.")],
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="Directory or name of the dataset that the run was made on.")
    ] = DEFAULT_DATASET,
    benchmark: Annotated[
        str | None,
        typer.Option(metavar="OWNER/NAME", help="Id of that dataset on the Hub. [--dataset, if it is an id]"),
    ] = None,
    revision: Annotated[
        str | None, typer.Option(metavar="SHA", help="Commit of that dataset. [the newest; none with --dry-run]")
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="URL", help="URL of the result, such as a leaderboard row.")
    ] = None,
    variant: Annotated[
        str | None, typer.Option(metavar="WORD", help="Another way to use the same model, with its own file.")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Compute the scores of a run, and open a pull request that adds them to the model (`.eval_results`, card)."""
    from ..base.hub_errors import explain_hub_errors, repo_id
    from ..runs.read import read_run_on
    from ..runs.references import dataset_folder
    from .pull import CARD, ModelFiles, model_files, open_pull_request, results_path, updated
    from .results import hub_result

    repo_id(model, "--model")
    if benchmark is None and ("/" not in dataset or dataset_folder(dataset) is not None):
        raise UserError("--benchmark is missing; expected the id of the dataset on the Hub, owner/name")
    benchmark = repo_id(benchmark or dataset, "--benchmark")
    files, references = read_run_on(run, dataset)
    result = hub_result(
        files, references,
        benchmark=benchmark, revision=revision, source=source, variant=variant,
    )  # fmt: skip
    path = results_path(result)
    if dry_run:
        new = updated(ModelFiles(), result, model)
        typer.echo(f"# {model}: {path}\n{new.results}\n# {model}: {CARD}, results in its front matter\n{new.card}")
        return
    if revision is None:
        from dataclasses import replace

        from huggingface_hub import HfApi

        with explain_hub_errors(benchmark):
            result = replace(result, revision=HfApi().dataset_info(benchmark).sha)
    before = model_files(model, path)
    after = updated(before, result, model)
    if after == before:
        typer.echo(f"{model}: these results are there already")
        return
    typer.echo(open_pull_request(model, path, after, result))


@app.command()
def benchmark(
    repo: Annotated[str, typer.Option(metavar="OWNER/NAME", help="The dataset on the Hub.")],
    pull_request: Annotated[
        bool, typer.Option("--pull-request", help="Open a pull request instead of a commit.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Make a dataset on the Hub a benchmark: write its `eval.yaml`, with one leaderboard per configuration."""
    from ..base.hub_errors import repo_id
    from .benchmark import NOTE, eval_yaml, push_benchmark

    repo_id(repo, "--repo")
    typer.echo(eval_yaml() if dry_run else push_benchmark(repo, pull_request=pull_request))
    typer.echo(NOTE, err=True)
