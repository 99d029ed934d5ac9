"""LaTeX of `score`, `compare` and `report`: compiled in one and two columns, without an overfull box."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from musicrs_metric.base.renderers.latex import latex_tables
from musicrs_metric.base.tables import Cell, Part, Row, Table, cell, columns, row
from musicrs_metric.citation import BIBTEX, SOFTWARE_BIBTEX
from musicrs_metric.cli import app
from musicrs_metric.report.build import build_report
from musicrs_metric.runs.score_tables import paper_sentence, paper_tables
from musicrs_metric.scoring import score

from .report_toy import write_toy

ROOT = Path(__file__).parents[2]
TEMPLATE = r"""\documentclass[%s]{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs,graphicx}
\begin{document}
Table~\ref{%s}.
\input{tables.tex}
\end{document}
"""
NAMES = [
    "a_very_long_system_name_of_a_model-13b-instruct-v0.2-centred-and-fused",
    "50 % & $x$ #1 ~ ^ \\ {y} <z> |",
    "“quoted” – é",
]
INTERVAL = "24.94 [23.10, 26.90]"


def compile_latex(text: str, folder: Path, layout: str) -> str:
    """Compile tables and return the log."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed; Debian has it in texlive-latex-recommended")
    (folder / "tables.tex").write_text(text, encoding="utf-8")
    label = re.findall(r"\\label\{(.*?)\}", text)[0]
    (folder / "paper.tex").write_text(TEMPLATE % (layout, label), encoding="utf-8")
    for _ in range(2):
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
            cwd=folder, capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:]
    return (folder / "paper.log").read_text(encoding="utf-8", errors="replace")


def tables() -> list[Table]:
    """Tables with every feature, wider than a column, and one that is narrow."""
    wide = Table(
        "Scores in % [95 % interval], n = 477",
        columns("System", "reads", "recall@20", "nDCG@20", "MRR", n_left=2),
        (
            row("every modality", role="heading"),
            *(Row((cell(name), cell("thread"), *(cell(INTERVAL, emphasis="best"),) * 3)) for name in NAMES),
            Row(
                (
                    cell("x"),
                    cell("–"),
                    Cell((Part("1.00", sign="*"), Part("−2.00")), "[−0.10, +0.20]\n≤ 3"),
                    cell("×"),
                    cell("→"),
                )
            ),
        ),
        ("a note of many words that must break at the end of its line, " * 3 + "_".join(NAMES[:1]), "≥ 5"),
    )
    return [wide, Table("Narrow", columns("a", "b"), (row("x", "1"),)), wide]


@pytest.mark.parametrize("layout", ["", "twocolumn"])
def test_tables_fit_one_and_two_columns(tmp_path: Path, layout: str) -> None:
    """No overfull box, no undefined or doubled label, whatever the width of the table."""
    log = compile_latex(latex_tables(tables()), tmp_path, layout)
    assert "Overfull \\hbox" not in log
    assert "undefined" not in log
    assert "multiply" not in log


@pytest.mark.parametrize("layout", ["", "twocolumn"])
def test_score_with_genres_fits(tmp_path: Path, layout: str) -> None:
    """The tables of `score --by genre --format latex`."""
    n, labels = 12, ["Hip-Hop", "Classical"] * 6
    pools = [["a", *(f"other {i}" for i in range(29))]] * n
    scores = score(pools, [["a"]] * n, pools, groups={"genre": labels}, resamples=100)
    log = compile_latex(latex_tables(paper_tables(scores, NAMES[0])), tmp_path, layout)
    assert "Overfull \\hbox" not in log


@pytest.mark.parametrize("layout", ["", "twocolumn"])
def test_report_fits(tmp_path: Path, layout: str) -> None:
    """The tables of `report`, also those of the paper with their signs, among them the tables by genre."""
    toy = write_toy(tmp_path)
    report = build_report(toy.runs, toy.dataset, reported=True, metric="recall@10", resamples=50)
    text = latex_tables(report.document.tables())
    log = compile_latex(text, tmp_path, layout)
    assert not re.search(r"Overfull \\hbox|Float too large|undefined|multiply", log)
    assert r"\label{tab:by-genre-recall20-ndcg20-in}" in text
    assert "△" not in text


def test_a_wide_table_spans_both_columns() -> None:
    """Scaled to one of two columns it would be too small to read."""
    wide, narrow, _ = tables()
    assert r"\begin{table*}" in latex_tables([wide])
    assert r"\begin{table}" in latex_tables([narrow])


def test_sentence() -> None:
    """By hand: of five threads with pools of two, four have the relevant title first; chance is 3/4 in MRR."""
    pools, truth = [["a", "b"]] * 5, [["a"]] * 5
    ranked = [["a", "b"]] * 4 + [["b", "a"]]
    scores = score(ranked, truth, pools, k=[1], confidence=None)
    assert paper_sentence(scores, "Mine") == (
        "Mine reaches 80.0 recall@1, at chance 50.0; 80.0 ndcg@1, at chance 50.0; 90.0 mrr, at chance 75.0 "
        "(in %, n = 5 threads)."
    )
    some = score([*ranked[:4], None], truth, pools, k=[1], resamples=100)
    text = paper_sentence(some, "Mine")
    assert re.match(r"Mine reaches 80\.0 \[\d+\.\d, \d+\.\d\] recall@1 \(", text)
    assert "on the 4 threads with a prediction, 50.0" in text
    assert text.endswith("(in %, with 95 % intervals, n = 5 threads, 1 of them without a prediction and counted as 0).")


def test_cite() -> None:
    """The BibTeX of the software says what CITATION.cff says."""
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    fields = dict(re.findall(r"(\w+)\s*= \{+(.*?)\}+,?\n", SOFTWARE_BIBTEX))
    assert fields["title"] == cff["title"]
    assert fields["version"] == cff["version"]
    assert fields["date"] == str(cff["date-released"])
    assert fields["author"] == cff["authors"][0]["name"]
    assert fields["license"] == cff["license"]
    result = CliRunner().invoke(app, ["cite"])
    assert (result.exit_code, result.output) == (0, f"{BIBTEX}\n{SOFTWARE_BIBTEX}")
