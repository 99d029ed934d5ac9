"""Record what the documented commands write, and compare two records: nothing may change by accident.

    python -m tests.record record FOLDER           # needs MUSICRS_DATA for the published file
    python -m tests.record compare BEFORE AFTER    # exit code 1 where a file differs

A record holds one file per output of a command: standard output, JSON, prediction files, run cards, manifests, tables.
Times, versions, hardware, commits and paths are replaced, because they differ between two equal runs.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
_KEPT = {".json", ".jsonl", ".md", ".csv", ".tex", ".html", ".txt", ".yaml"}
_MOST = 20_000_000  # bytes of one file; a record holds texts, not clips

# Values that differ between two equal runs, by JSON key or by form.
_VOLATILE = (
    "created_at|code_version|wall_time_s|hardware|seconds|started|finished|versions|python|platform|host|time|date"
    "|generated|wall_s|cpu_s|received_at|at|mtime_ns|peak_rss|temporary_bytes"
)
_BY_KEY = re.compile(rf'("(?:{_VOLATILE})"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|-?[\d.e+-]+|\{{[^{{}}]*\}})')
_BY_FORM = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d| UTC)?"), "<time>"),
    (re.compile(r"\b\d+\.\d+\.\d+(?:\+\w+)?\b"), "<version>"),
    (re.compile(r"\b\d+(?:\.\d+)? (?:s|ms|min)\b"), "<duration>"),
    (re.compile(r"\| \d+\.\d \| <time>"), "| <duration> | <time>"),
    (re.compile(r"(?:x86_64|aarch64), \d+ CPU cores?, \d+ process(?:es)?"), "<hardware>"),
)


@dataclass
class Recorder:
    """Runs commands in a scratch folder and keeps their outputs.

    Attributes:
        out: Folder of the record.
        scratch: Folder in which the commands run.
        data: The published file; None leaves its commands out.
    """

    out: Path
    scratch: Path
    data: Path | None
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, name: str, command: Sequence[str], outputs: Sequence[str] = ()) -> None:
        """Run `python -m COMMAND` and keep its exit code, its standard output, and the files of some folders.

        Args:
            name: Name in the record.
            command: Module and arguments.
            outputs: Files and folders to keep, relative to the scratch folder.
        """
        print(name, flush=True)
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=self.scratch, env=self.environment, capture_output=True, text=True
        )
        self.keep(f"{name}/stdout.txt", f"exit code {done.returncode}\n{done.stdout}")
        if done.returncode not in (0, 1, 2) or "Traceback" in done.stderr:
            raise SystemExit(f"{name}: exit code {done.returncode}\n{done.stderr[-3000:]}")
        for output in outputs:
            self.keep_files(name, self.scratch / output)

    def keep_files(self, name: str, path: Path) -> None:
        """Keep a file, or the texts of a folder."""
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            if file.is_file() and file.suffix in _KEPT and file.stat().st_size < _MOST:
                self.keep(f"{name}/{file.relative_to(self.scratch)}", _stable(file))

    def keep(self, name: str, text: str) -> None:
        """Keep a text without what differs between two equal runs."""
        target = self.out / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_normalise(text, self.scratch), encoding="utf-8")


def _stable(file: Path) -> str:
    """Read a file without the order of parallel answers, and without hashes of files that hold times."""
    text = file.read_text(encoding="utf-8")
    if file.name == "answers.jsonl":
        return "\n".join(sorted(text.splitlines()))
    if file.name == "_release.json":
        return re.sub(r'("(?:sha256|bytes)": )[^,\n]+', r"\1<value>", text)
    return text


def _normalise(text: str, scratch: Path) -> str:
    for path, name in ((scratch, "<scratch>"), (ROOT, "<root>")):
        text = text.replace(str(path), name)
    text = _BY_KEY.sub(r"\1<value>", text)
    for pattern, name in _BY_FORM:
        text = pattern.sub(name, text)
    return text


def record(out: Path, data: Path | None) -> None:
    """Run all commands.

    Args:
        out: Folder of the record; made.
        data: The published file, or None.
    """
    with tempfile.TemporaryDirectory(prefix="musicrs-record-") as folder:
        scratch = Path(folder)
        offline = dict.fromkeys(("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE"), "1")
        environment = os.environ | offline | {"HF_HOME": str(scratch / "hf"), "PYTHONPATH": str(ROOT), "COLUMNS": "120"}
        recorder = Recorder(out, scratch, data, environment)
        _dataset(recorder, "mini", "mini")
        _systems(recorder, "mini", ("random", "file_order", "popularity", "neighborhood", "lexical", "minilm"))
        if data is not None:
            _dataset(recorder, "real", str(data))
            _systems(recorder, "real", ("random", "popularity", "neighborhood", "lexical", "minilm"))
        _variants(recorder)
        _board(recorder)
        for room in ("musicrs_dataset", "musicrs_metric", "baselines", "space", "builder_scripts"):
            recorder.run(f"help/{room}", [room, "--help"])
        _pipeline(recorder)


def _dataset(recorder: Recorder, name: str, source: str) -> None:
    build = ["musicrs_dataset", "build", "--from", source, "--out", name, "--no-install"]
    recorder.run(f"{name}/build", build, [name])
    for command in ("describe", "validate"):
        recorder.run(f"{name}/{command}", ["musicrs_dataset", command, name])
        recorder.run(f"{name}/{command}-json", ["musicrs_dataset", command, name, "--json"])
    audit = f"{name}-audit"
    recorder.run(f"{name}/audit", ["musicrs_dataset", "audit", name, "--out", audit], [audit])
    for design in ("paper", "balanced"):
        pools = f"{name}-{design}.jsonl"
        draw = ["musicrs_dataset", "pools", name, "--design", design, "--seed", "1", "--out", pools]
        recorder.run(f"{name}/pools-{design}", draw, [pools])


def _systems(recorder: Recorder, name: str, systems: Sequence[str]) -> None:
    runs = [f"{name}-runs/{system}" for system in systems]
    for system, run in zip(systems, runs, strict=True):
        command = ["baselines", "run", "--model", system, "--modality", "query_only", "--dataset", name, "--out", run]
        recorder.run(f"{name}/run-{system}", command, [run])
    last, dataset = runs[-1], ["--dataset", name]
    recorder.run(f"{name}/metric-validate", ["musicrs_metric", "validate", "-p", last, *dataset])
    recorder.run(f"{name}/score", ["musicrs_metric", "score", "-p", last, *dataset])
    for by in ("genre", "subreddit"):
        recorder.run(f"{name}/score-{by}", ["musicrs_metric", "score", "-p", last, *dataset, "--by", by])
        recorder.run(f"{name}/score-{by}-json", ["musicrs_metric", "score", "-p", last, *dataset, "--by", by, "--json"])
    recorder.run(f"{name}/score-answered", ["musicrs_metric", "score", "-p", last, *dataset, "--answered-only"])
    recorder.run(f"{name}/compare", ["musicrs_metric", "compare", *runs, *dataset])
    for form in ("markdown", "latex", "json"):
        recorder.run(f"{name}/compare-{form}", ["musicrs_metric", "compare", *runs, *dataset, "--format", form])
    report = f"{name}-report"
    recorder.run(f"{name}/report", ["musicrs_metric", "report", *runs, *dataset, "--out", report], [report])


def _variants(recorder: Recorder) -> None:
    start = ["baselines", "run", "--model", "lexical", "--modality", "query_only", "--dataset", "mini"]
    recorder.run("variants/shuffles", [*start, "--shuffles", "2", "--out", "shuffled"], ["shuffled"])
    recorder.run("variants/control", [*start, "--control", "shuffled-query", "--out", "control"], ["control"])
    parts = ["mini-runs/minilm", "mini-runs/lexical"]
    recorder.run("variants/fuse", ["baselines", "fuse", *parts, "--out", "fused"], ["fused"])
    recorder.run("variants/show", ["baselines", "show", "lexical"])
    recorder.run("variants/list", ["baselines", "list"])
    mine = recorder.scratch / "mine"
    mine.mkdir()
    lines = (recorder.scratch / "mini-runs/lexical/predictions.jsonl").read_text().splitlines()
    (mine / "predictions.jsonl").write_text("\n".join(lines[:-1]) + "\n")  # one thread is missing
    card = ["musicrs_metric", "card", "mine", "--name", "mine", "--modality", "query_only", "--paradigm", "retrieval"]
    recorder.run("variants/card", [*card, "--reads", "pools", "--dataset", "mini"], ["mine"])
    recorder.run("variants/score-partial", ["musicrs_metric", "score", "-p", "mine", "--dataset", "mini"])


def _board(recorder: Recorder) -> None:
    port = "8497"
    url = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "space", "--dataset", "mini", "--results", "board", "--port", port]
    server = subprocess.Popen(command, cwd=recorder.scratch, env=recorder.environment, stderr=subprocess.DEVNULL)
    try:
        _wait(url)
        for system in ("random", "popularity", "lexical", "minilm"):
            submit = ["musicrs_metric", "submit", f"mini-runs/{system}", "--space", url]
            recorder.run(f"board/submit-{system}", submit)
        for name in ("leaderboard.json", "leaderboard.json?genre=Jazz&sort=mrr"):
            with urllib.request.urlopen(f"{url}/{name}") as reply:
                recorder.keep(f"board/{re.sub(r'[^a-z.]+', '-', name.lower())}", _lines(reply.read().decode()))
    finally:
        server.terminate()
        server.wait()
    recorder.run("board/recompute", ["space", "recompute", "--results", "board", "--dataset", "mini"])


def _wait(url: str) -> None:
    for _ in range(240):
        try:
            urllib.request.urlopen(f"{url}/leaderboard.json").close()
            return
        except OSError:
            time.sleep(0.5)
    raise SystemExit(f"{url}: the leaderboard does not answer")


def _lines(text: str) -> str:
    return json.dumps(json.loads(text), indent=1, ensure_ascii=False)


def _pipeline(recorder: Recorder) -> None:
    """Go from dumps to a release in the small world of the builder's tests, with its own model server and labels."""
    import yaml

    from .builder_scripts.llm_stub import stub_server
    from .builder_scripts.small_world import answer, judge, write_dumps

    folder = recorder.scratch / "world"
    write_dumps(folder / "dumps")
    with stub_server(answer) as stub:
        settings = {
            "work": "work", "home": "hf", "mine": {"dumps": ["dumps"], "workers": 1},
            "extract": {"model": "stub", "url": stub.url}, "queries": {"model": "stub", "url": stub.url},
            "annotate": {"labels": "labels.jsonl"}, "pools": {"seed": 3, "distractors": 12},
            "release": {"name": "small-world", "by": "A lab", "contact": "data@example.org", "budget": 2},
        }  # fmt: skip
        (folder / "run.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        work = "world/work"
        salt = recorder.scratch / work / "private" / "author_salt"
        salt.parent.mkdir(parents=True)
        salt.write_text("5a" * 32 + "\n")  # pseudonyms, and all hashes of files that hold them, follow from it
        recorder.run("pipeline/mine", ["builder_scripts", "mine", "world/dumps", "--work", work, "--workers", "1"])
        recorder.run("pipeline/threads", ["builder_scripts", "threads", "--work", work])
        model = ["--work", work, "--model", "stub", "--url", stub.url]
        recorder.run("pipeline/extract", ["builder_scripts", "extract", *model])
        recorder.run("pipeline/queries", ["builder_scripts", "queries", *model])
        recorder.run("pipeline/refine", ["builder_scripts", "refine", "--work", work])
        recorder.run("pipeline/prepare", ["builder_scripts", "annotate", "prepare", "--work", work])
        (worklist,) = (recorder.scratch / work).rglob("worklist*.jsonl")
        judge(worklist, folder / "labels.jsonl")
        settle = ["builder_scripts", "annotate", "settle", "--work", work, "--labels", "world/labels.jsonl"]
        recorder.run("pipeline/settle", settle)
        pools = ["builder_scripts", "pools", "--work", work, "--seed", "3", "--distractors", "12"]
        recorder.run("pipeline/pools", pools)
        names = ["--name", "small-world", "--by", "A lab", "--contact", "data@example.org", "--budget", "2"]
        recorder.run("pipeline/release", ["builder_scripts", "release", "--work", work, *names])
        for part in ("bronze", "silver", "gold", "release"):
            recorder.keep_files("pipeline", recorder.scratch / work / part)


def compare(before: Path, after: Path) -> list[str]:
    """Compare two records.

    Args:
        before: Folder of the first record.
        after: Folder of the second.

    Returns:
        A unified diff per file that differs, or the name of a file that only one record has; empty where they agree.
    """
    return list(_differences(before, after))


def _differences(before: Path, after: Path) -> Iterator[str]:
    names = {path.relative_to(folder) for folder in (before, after) for path in folder.rglob("*") if path.is_file()}
    for name in sorted(names):
        old, new = before / name, after / name
        if not (old.exists() and new.exists()):
            yield f"{name}: only in {before if old.exists() else after}"
        elif old.read_bytes() != new.read_bytes():
            lines, others = (path.read_text(encoding="utf-8").splitlines() for path in (old, new))
            yield "\n".join(difflib.unified_diff(lines, others, str(name), str(name), lineterm="", n=0))


def main(arguments: Sequence[str]) -> int:
    """Run `record FOLDER` or `compare BEFORE AFTER`."""
    match arguments:
        case ["record", out]:
            data = os.environ.get("MUSICRS_DATA")
            record(Path(out).absolute(), Path(data).absolute() if data else None)
            return 0
        case ["compare", before, after]:
            differences = compare(Path(before), Path(after))
            print("\n".join(differences) or "no difference")
            return int(bool(differences))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
