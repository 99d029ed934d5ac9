"""From clips to the report: a text system, CLAP on the clips, their fusion, and the gain of audio with its interval."""

from __future__ import annotations

from pathlib import Path

import pytest

from baselines.data import load_data
from baselines.fusion import fuse_runs
from baselines.launch import build_system
from musicrs_dataset.mini import load_mini
from musicrs_dataset.repo.build import build
from musicrs_dataset.sources import resolve_source
from musicrs_metric.base.tables import Table
from musicrs_metric.report.build import build_report
from musicrs_metric.runs.read import score_predictions
from musicrs_metric.runs.references import load_references
from tests.baselines.tiny_models import save_clap
from tests.baselines.toys import run_toy


@pytest.mark.figures
def test_report_shows_what_audio_adds_to_a_text_system(tmp_path: Path) -> None:
    """The gain is the score of the fusion less that of its text system."""
    pytest.importorskip("torch")
    about = resolve_source("mini", clips=False).about
    data = build(load_mini()[::4], tmp_path / "data", about=about, configs=("audio_only", "query_only"))
    text, audio, both = (tmp_path / name for name in ("text", "audio", "both"))
    run_toy(build_system("lexical", "query_only"), load_data(str(data), "query_only"), text, system_name="lexical")
    clap = build_system("clap", "audio_only", ["--weights", str(save_clap(tmp_path / "clap"))])
    run_toy(clap, load_data(str(data), "audio_only"), audio, system_name="clap")
    fuse_runs([text, audio], both)

    references = load_references(str(data), "query_only")
    scores = {folder: score_predictions(folder, references).scores.values["recall@20"] for folder in (text, both)}
    report = build_report([text, audio, both], str(data), resamples=200)
    blocks = next(section.blocks for section in report.document.sections if section.key == "rq1")
    (table,) = (block for block in blocks if isinstance(block, Table))
    _, place, gain, *_ = table.rows[0].cells
    expected = 100 * ((scores[both] or 0) - (scores[text] or 0))
    assert place.parts[0].text == "fused with the text system"
    assert float(gain.parts[0].text.replace("−", "-")) == pytest.approx(expected, abs=0.005)
    assert gain.detail.startswith("[")
