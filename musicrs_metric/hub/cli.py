"""The commands `hub results` and `hub benchmark`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import UserError
from ..runs.references import DEFAULT_DATASET

app = typer.Typer(
    help="Results on the Hugging Face Hub: on a model's page, and on the dataset's leaderboard.", no_args_is_help=True
)
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be written, and ask nobody.")]


@app.command()
def results(
    run: Annotated[Path, typer.Argument(help="Run folder: predictions.jsonl and run.json.")],
    model: Annotated[str, typer.Option(metavar="OWNER/NAME", help="The model on the Hub.")],
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="Directory of a built dataset, or a name; what is scored against.")
    ] = DEFAULT_DATASET,
    benchmark: Annotated[
        str | None,
        typer.Option(metavar="OWNER/NAME", help="That dataset's id on the Hub. [--dataset, where it is one]"),
    ] = None,
    revision: Annotated[
        str | None, typer.Option(metavar="SHA", help="Its commit. [the newest; with --dry-run none]")
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="URL", help="Where the result can be looked into, such as a board's row.")
    ] = None,
    variant: Annotated[
        str | None, typer.Option(metavar="WORD", help="Another way to use the same model; has a file of its own.")
    ] = None,
    dry_run: DryRun = False,
) -> None:
    """Compute a run's scores, and open a pull request that puts them on the model's page (`.eval_results`, card)."""
    from ..base.hub_errors import explain_hub_errors, repo_id
    from ..runs.read import config_of, read_run
    from ..runs.references import dataset_folder, load_references
    from .pull import CARD, ModelFiles, model_files, open_pull_request, results_path, updated
    from .results import hub_result

    repo_id(model, "--model")
    if benchmark is None and ("/" not in dataset or dataset_folder(dataset) is not None):
        raise UserError("--benchmark is missing: the Hub is told results by the dataset's id there, owner/name")
    benchmark = repo_id(benchmark or dataset, "--benchmark")
    references = load_references(dataset, config_of(run))
    result = hub_result(
        read_run(run, references), references,
        benchmark=benchmark, revision=revision, source=source, variant=variant,
    )  # fmt: skip
    path = results_path(result)
    if dry_run:
        files = updated(ModelFiles(), result, model)
        typer.echo(f"# {model}: {path}\n{files.results}\n# {model}: {CARD}, results in its front matter\n{files.card}")
        return
    if revision is None:
        from dataclasses import replace

        from huggingface_hub import HfApi

        with explain_hub_errors(benchmark):
            result = replace(result, revision=HfApi().dataset_info(benchmark).sha)
    before = model_files(model, path)
    after = updated(before, result, model)
    if after == before:
        typer.echo(f"{model}: these results stand there already")
        return
    typer.echo(open_pull_request(model, path, after, result))


@app.command()
def benchmark(
    repo: Annotated[str, typer.Option(metavar="OWNER/NAME", help="The dataset on the Hub.")],
    pull_request: Annotated[bool, typer.Option("--pull-request", help="Ask its owners, in place of a commit.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Make a dataset on the Hub a benchmark: write its `eval.yaml`, a leaderboard for each configuration."""
    from ..base.hub_errors import repo_id
    from .benchmark import NOTE, eval_yaml, push_benchmark

    repo_id(repo, "--repo")
    typer.echo(eval_yaml() if dry_run else push_benchmark(repo, pull_request=pull_request))
    typer.echo(NOTE, err=True)
