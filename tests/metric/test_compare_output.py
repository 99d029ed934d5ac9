"""What `compare` reads and prints: run folders in; terminal, JSON, Markdown and LaTeX out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from musicrs_metric.base.numbers import p_value, percent_no_negative_zero, percent_with_interval
from musicrs_metric.base.renderers.latex import latex_tables
from musicrs_metric.base.renderers.markdown import markdown_sections
from musicrs_metric.base.tables import Cell, Row, Table, cell, columns
from musicrs_metric.compare import HEADLINE
from musicrs_metric.compare.cli import compare
from musicrs_metric.compare.load import cutoffs_of, load_runs
from musicrs_metric.errors import UserError
from musicrs_metric.runs.references import load_references

from .support import write_lines, write_repo

N = 12
POOL = ["a", *(f"other {i}" for i in range(29))]
IDS = [f"t3_{i}" for i in range(N)]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Twelve threads of one pool, in which only "a" is relevant."""
    columns = {
        "thread_id": IDS,
        "subreddit": ["jazz"] * 6 + ["metal"] * 6,
        "genre": ["Jazz"] * 6 + ["Metal"] * 6,
        "candidates": [POOL] * N,
        "ground_truth": [["a"]] * N,
    }
    return write_repo(tmp_path / "data", columns)


@pytest.fixture
def make_run(tmp_path: Path, dataset: Path) -> Callable[..., Path]:
    """Write a run folder that puts "a" at the given rank everywhere; `card` fields make a run card."""

    def make(folder: str, rank: int, *, ids: list[str] = IDS, outcome: str | None = None, **card: Any) -> Path:
        path = tmp_path / folder
        path.mkdir()
        ranking = [*POOL[1:rank], "a", *POOL[rank:]]
        lines = [{"thread_id": i, "ranking": ranking, **({"outcome": outcome} if outcome else {})} for i in ids]
        write_lines(path / "predictions.jsonl", lines)
        if card:
            fingerprint = load_references(dataset).fingerprint
            fields = {"paradigm": "retrieval", "modality": "query_only", "dataset": "musicrs", "config": "query_only"}
            card = {**fields, "fingerprint": fingerprint, "reads": "thread", **card}
            (path / "run.json").write_text(json.dumps(card))
        return path

    return make


def run(*arguments: str | Path) -> str:
    app = typer.Typer()
    app.command()(compare)
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_json_has_every_figure_and_no_nan(dataset: Path, make_run: Callable[..., Path]) -> None:
    """The first half against rank 2 everywhere: names are those of the folders, values between 0 and 1."""
    first, second = make_run("first", 1, ids=IDS[:6]), make_run("second", 2)
    text = run(first, second, "--dataset", dataset, "--format", "json", "--by", "genre")
    found = json.loads(text, parse_constant=pytest.fail)
    assert list(found["metrics"]) == list(HEADLINE)
    (pair,) = found["metrics"]["mrr"]["pairs"]
    assert (pair["a"], pair["b"], pair["difference"], pair["wins"], pair["losses"]) == ("first", "second", 0, 6, 6)
    assert pair["by"]["genre"]["Jazz"]["difference"] == 0.5
    assert found["coverage"][0] == {"system": "first", "n": 12, "n_missing": 6, "n_no_audio": 0, "filled": None}
    assert [one["common_mean"] for one in found["metrics"]["mrr"]["standings"]] == [1.0, 0.5]
    assert found["settings"]["seed"] == 0


def test_same_call_same_bytes(dataset: Path, make_run: Callable[..., Path]) -> None:
    """Run twice, the command prints the same."""
    runs = make_run("a", 1), make_run("b", 3, ids=IDS[:9])
    arguments = (*runs, "--dataset", dataset, "--format", "json", "--resamples", "200", "--seed", "3")
    assert run(*arguments) == run(*arguments)


def test_a_run_against_itself(dataset: Path, make_run: Callable[..., Path]) -> None:
    """The same folder twice is compared under two names, neither of which is another's, with p = 1."""
    path, other = make_run("mine", 4), make_run("mine (2)", 4)
    found = json.loads(run(path, other, path, "--dataset", dataset, "--format", "json"))
    pair = found["metrics"]["ndcg@20"]["pairs"][1]
    assert (pair["a"], pair["b"], pair["p_t"], pair["interval"]) == ("mine", "mine (3)", 1.0, [0.0, 0.0])


def test_a_prediction_file_alone_is_called_after_itself(dataset: Path, make_run: Callable[..., Path]) -> None:
    """A file elsewhere under another name needs no run card."""
    file = make_run("folder", 1) / "predictions.jsonl"
    other = file.with_name("my system.jsonl")
    other.write_bytes(file.read_bytes())
    names = [one.system.name for one in load_runs([file, other], load_references(dataset), ["mrr"])]
    assert names == ["folder", "my system"]


def test_run_cards_give_name_reads_and_silence(dataset: Path, make_run: Callable[..., Path]) -> None:
    """The card names the system and what it reads; threads without audio come from the predictions."""
    path = make_run("x", 1, outcome="no_audio", name="CLAP", reads="pools")
    (loaded,) = load_runs([path], load_references(dataset), ["mrr"])
    assert (loaded.system.name, loaded.system.reads) == ("CLAP", "pools")
    assert loaded.system.no_audio is not None
    assert loaded.system.no_audio.all()


def test_a_run_on_other_data_is_refused(dataset: Path, make_run: Callable[..., Path]) -> None:
    """Pools or labels that differ make scores incomparable."""
    path = make_run("x", 1, name="CLAP", fingerprint="0" * 64)
    with pytest.raises(UserError, match="other pools or labels"):
        load_runs([path], load_references(dataset), ["mrr"])


def test_markdown(dataset: Path, make_run: Callable[..., Path]) -> None:
    """Chance first, the best in bold; names keep their special characters."""
    runs = make_run("one", 1, name="a|b_c"), make_run("two", 25, name="[x](y) $5 & <b>")
    lines = run(*runs, "--dataset", dataset, "--format", "markdown", "--metric", "mrr").splitlines()
    assert lines[0] == "### Scores in % [95 % interval], n = 12"
    assert lines[2:7] == [
        "| System | reads | mrr |",
        "|---|---|---:|",
        f"| chance (exact) | – | {100 * sum(1 / r for r in range(1, 31)) / 30:.2f} |",
        # Twelve equal values leave 1 - 0.025 ** (1 / 12) = 26.46 % of the weight to unseen ones.
        r"| a\|b\_c | thread | **100.00 [73.54, 100.00]** |",
        r"| \[x\](y) \$5 &amp; &lt;b&gt; | thread | 4.00 [2.94, 29.41] |",
    ]


def test_tied_with_the_best_is_underlined(dataset: Path, make_run: Callable[..., Path]) -> None:
    """Two systems that differ on one thread only cannot be told apart."""
    better, worse = make_run("better", 1), make_run("worse", 1, ids=IDS[1:])
    arguments = (better, worse, "--dataset", dataset, "--metric", "recall@1", "--format")
    assert "**100.00 [73.54, 100.00]**" in run(*arguments, "markdown")
    assert "<u>91.67 [" in run(*arguments, "markdown")
    assert r"\underline{91.67 [" in run(*arguments, "latex")


def test_default_fits_a_screen(dataset: Path, make_run: Callable[..., Path]) -> None:
    """Twenty systems: one table of the headline measure, at most 36 lines of at most 80 columns, no pairs."""
    runs = [make_run(f"system_{i:02}", 1 + i, name=f"system {i}") for i in range(19)]
    runs.append(make_run("other", 20, name="other", reads="pools"))
    lines = run(*runs, "--dataset", dataset, "--resamples", "50").splitlines()
    assert (len(lines) <= 36, max(map(len, lines)) <= 80) == (True, True), lines
    assert lines[0].startswith("recall@20 in % [95 % interval], 12 threads")
    text = "\n".join(lines)
    assert text.count("chance  ") >= 20
    assert "minus" not in text
    # By hand: "a" is among the first 20 everywhere; at random in two of three.
    assert re.search(r"system 0 +100\.00 \[73\.54, 100\.00\] +above chance +1, thread", text)
    assert re.search(r"chance \(exact\) +66\.67", text)
    # A system without peers has no group, and one line gives the reason.
    assert re.search(r"other +100\.00 .* –", text)
    assert "not ranked together, as they read different data" in text


def test_a_run_without_a_card(dataset: Path, make_run: Callable[..., Path]) -> None:
    """It has no group, so groups are not explained; one line names the command that states what a system reads."""
    text = " ".join(run(make_run("bare", 1), make_run("other", 2, name="other"), "--dataset", dataset).split())
    assert "python -m musicrs_metric card" in text
    assert "group 1" not in text


def test_an_unknown_run(dataset: Path, make_run: Callable[..., Path]) -> None:
    """A misspelt name is answered with the names that need no run."""
    with pytest.raises(UserError, match=r"lexcial: no such file; expected .*lexical"):
        load_runs([Path("lexcial")], load_references(dataset), ["mrr"])


def test_missing_threads_are_named(dataset: Path, make_run: Callable[..., Path]) -> None:
    """A score of 0 for missing threads is never shown without its reason."""
    text = run(make_run("half", 1, ids=IDS[:6]), make_run("full", 2), "--dataset", dataset)
    assert "half: 6 of 12 threads without a prediction, which score 0" in text


def test_more_on_request(dataset: Path, make_run: Callable[..., Path]) -> None:
    """Each named measure gets a table, a grouping its differences, and --details the pairs with both tests."""
    arguments = (make_run("a", 1), make_run("b", 3), "--dataset", dataset)
    measures = run(*arguments, "--metric", "mrr", "--metric", "recall@5", "--by", "genre")
    assert [name for name in ("mrr in %", "recall@5 in %", "by genre in %") if name in measures] != []
    assert "p (flips)" not in measures
    details = run(*arguments, "--details")
    assert all(text in details for text in ("p (flips)", "win/tie/loss", "ndcg@20", "mrr"))


def table(caption: str, cells: list[Cell], *others: str, notes: tuple[str, ...] = ()) -> Table:
    return Table(caption, columns("System", "x", *others), (Row(tuple(cells)),), notes)


def test_latex_escapes_names() -> None:
    """Every character that LaTeX reads as a command, and a bracket that would follow a line break, are made safe."""
    text = latex_tables([table(r"50 % of A_B", [cell(r"[a]&b_{c}#$~^\<>|", emphasis="best"), cell("1")])])
    assert r"\caption{50 \% of A\_B}" in text
    assert (
        r"\textbf{[a]\&b\_\{c\}\#\$\textasciitilde{}\textasciicircum{}\textbackslash{}"
        r"\textless{}\textgreater{}\textbar{}} & 1 \\"
    ) in text
    assert "\n{}[b] & 2 \\\\\n" in latex_tables([table("t", [cell("[b]"), cell("2")])])


def test_latex_sets_minus_signs() -> None:
    """A negative number gets a minus, a name keeps its hyphens."""
    text = latex_tables([table("t", [cell("clap-2-b"), cell("-0.21 [-3.62, 3.18]")])])
    assert r"clap-2-b & $-$0.21 [$-$3.62, 3.18] \\" in text


def test_latex_is_a_booktabs_table() -> None:
    """Rules of booktabs, text left and figures right, notes below."""
    cells = [cell("A"), cell("1"), cell("2", emphasis="tied")]
    assert latex_tables([table("t", cells, "y", notes=("a note",))]).splitlines()[1:] == [
        r"\begin{table}",
        r"\centering",
        r"\caption{t}",
        r"\label{tab:t}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"System & x & y \\",
        r"\midrule",
        r"A & 1 & \underline{2} \\",
        r"\bottomrule",
        r"\end{tabular}}",
        r"\par\raggedright",
        r"\par\footnotesize a note",
        r"\end{table}",
    ]


def test_markdown_of_a_table() -> None:
    """A heading, the table, the notes; a line break in a name does not break the row."""
    text = markdown_sections([table("t", [cell("A\nB"), cell("1", emphasis="best")], notes=("a note",))])
    assert text.splitlines() == ["### t", "", "| System | x |", "|---|---:|", "| A B | **1** |", "", "a note  "]


def test_table_for_the_terminal(dataset: Path, make_run: Callable[..., Path]) -> None:
    """With details: standings, pairs and effects; a name in brackets is not taken for markup."""
    runs = make_run("a", 1, name="[bold]A[/bold]"), make_run("b", 5)
    text = run(*runs, "--dataset", dataset, "--by", "genre", "--details")
    assert "[bold]A[/bold]" in text
    for expected in ("chance (exact)", "above", "win/tie/loss", "12/0/0", "6, small"):
        assert expected in text


def test_many_systems_show_the_pairs_of_the_leaders_only(dataset: Path, make_run: Callable[..., Path]) -> None:
    """Of seven systems' 21 pairs, the terminal shows the 6 with the leader and says so; JSON has all."""
    runs = [make_run(f"s{rank}", rank) for rank in range(1, 8)]
    arguments: list[str | Path] = ["--dataset", dataset, "--metric", "mrr", "--resamples", "100", "--details"]
    assert "6 of 21 pairs" in run(*runs, *arguments)
    assert len(json.loads(run(*runs, *arguments, "--format", "json"))["metrics"]["mrr"]["pairs"]) == 21


def test_mistakes_are_told(dataset: Path, make_run: Callable[..., Path]) -> None:
    """A single run, an unknown metric, an impossible level: one line each that says what was expected."""
    one, two = make_run("one", 1), make_run("two", 2)
    mistakes: list[tuple[list[str | Path], str]] = [
        ([one], "two or more"),
        ([one, two, "--metric", "recall"], r"unknown metric 'recall'; expected one of recall@K, ndcg@K, mrr"),
        ([one, two, "--alpha", "0"], "alpha must be between 0 and 1"),
    ]
    for arguments, message in mistakes:
        with pytest.raises(UserError, match=message):
            run(*arguments, "--dataset", dataset)


def test_cutoffs_come_from_the_metrics() -> None:
    """recall@50 needs a table at 50; mrr alone takes the usual ones."""
    assert cutoffs_of(["recall@50", "ndcg@5", "mrr"]) == (5, 50)
    assert cutoffs_of(["mrr"]) == (1, 5, 10, 20)
    for name in ("recall@0", "recall@1.5", "map@5"):
        with pytest.raises(UserError, match="unknown metric"):
            cutoffs_of([name])


def test_numbers() -> None:
    """Per cent with two decimals and no minus zero; p values with three, never 0."""
    assert tuple(map(percent_no_negative_zero, (0.16512, -1e-9, None))) == ("16.51", "0.00", "–")
    assert percent_with_interval(0.01, (-0.02, 0.03), signed=True) == "+1.00 [-2.00, 3.00]"
    assert [percent_with_interval(value, None, signed=True) for value in (0.0, -0.01)] == ["0.00", "-1.00"]
    assert (p_value(0.0318), p_value(0.0004), p_value(1.0)) == (".032", "< .001", "1.000")


def test_who_is_alone_has_no_rank(dataset: Path, make_run: Callable[..., Path]) -> None:
    """A file without a run card beside a system with one: neither is tied with a best that it was not ranked with."""
    bare, carded = make_run("bare", 20), make_run("carded", 1, name="CLAP")
    text = run(bare, carded, "--dataset", dataset, "--metric", "mrr", "--format", "markdown")
    standings = text.split("ranks and groups")[1].split("paired differences")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in standings.splitlines() if line.startswith("|")]
    assert [row[-2:] for row in rows if row[0] in ("bare", "CLAP")] == [["–", "–"], ["–", "–"]]
    assert "**" not in standings


def test_what_was_appended_is_told(dataset: Path, make_run: Callable[..., Path]) -> None:
    """A run of empty answers, filled in random order, is not set beside another without a word on it."""
    first, second = make_run("first", 1), make_run("second", 2)
    assert "filled" not in run(first, second, "--dataset", dataset, "--format", "markdown")
    file = second / "predictions.jsonl"
    lines = [json.loads(line) | {"outcome": "empty", "n_answered": 0} for line in file.read_text().splitlines()]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = run(first, second, "--dataset", dataset, "--format", "markdown")
    row = next(line for line in shown.splitlines() if line.startswith("| second"))
    assert row.split("|")[-2].strip() == "100.00"
