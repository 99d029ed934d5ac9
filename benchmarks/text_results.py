"""Tables of all zero-shot text systems: scores with intervals, points above chance, genres, seconds, sha256 of weights.

    python -m benchmarks text_results --from FILE --mpnet FOLDER --out build/results [--designs published balanced]

The command builds the dataset with each pool design (seed 1), runs every system of `SYSTEMS` on it and prints Markdown.
Finished runs are kept, so that a stopped command resumes, and embeddings are cached in the folder. On a cold cache
MiniLM takes about two minutes and mpnet ten on one quiet core.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from musicrs_metric.base.hashing import file_sha256
from musicrs_metric.base.renderers.markdown import markdown_grid
from musicrs_metric.compare.load import load_runs
from musicrs_metric.compare.standings import measure_alone
from musicrs_metric.runs.references import References, load_references
from musicrs_metric.runs.run_card import read_run_card
from musicrs_metric.scoring import Scores

MEASURES = ("recall@20", "ndcg@20", "mrr")
# Name of the row, system, options; MPNET is replaced by the source of the weights.
SYSTEMS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("lexical", "lexical", ()),
    *(
        (f"minilm --subtract {how}", "minilm", ("--subtract", how))
        for how in ("nothing", "all", "request", "subreddit")
    ),
    *(
        (f"text_encoder (mpnet) --subtract {how}", "text_encoder", ("--weights", "MPNET", "--subtract", how))
        for how in ("nothing", "all", "request", "subreddit")
    ),
    ("named (mpnet)", "named", ("--weights", "MPNET")),
    ("fused_text", "fused_text", ("--weights", "mpnet=MPNET")),
)


def main(argv: Sequence[str] | None = None) -> None:
    """Run all systems and print the tables.

    Args:
        argv: See the module.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks text_results")
    parser.add_argument("--from", dest="source", required=True, help="the authors' JSONL file, or its Hub id")
    parser.add_argument("--mpnet", default="sentence-transformers/all-mpnet-base-v2")
    parser.add_argument("--out", type=Path, default=Path("build/results"))
    parser.add_argument("--designs", nargs="+", default=["published", "balanced", "grouped"])
    arguments = parser.parse_args(argv)
    gains: dict[str, list[str]] = {name: [] for name, *_ in SYSTEMS}
    for design in arguments.designs:
        data = _build(arguments.source, arguments.out, design)
        folders = {name: _run(data, arguments, design, name) for name, *_ in SYSTEMS}
        print("\n".join([f"\n## Pools: {design}\n", *_tables(data, design, folders)]), flush=True)
        for name, folder in folders.items():
            gains[name].append(_gain(folder, data, design))
    print("\n## Points of recall@20 above chance\n")
    print(markdown_grid(("system", *arguments.designs), [[f"`{name}`", *row] for name, row in gains.items()]))
    weights = Path(arguments.mpnet) / "model.safetensors"
    if weights.is_file():
        print(f"\nsha256 of the mpnet weights: {file_sha256(weights)}")


def _build(source: str, out: Path, design: str) -> Path:
    data = out / f"data_{design}"
    if (data / "musicrs").is_dir():
        return data
    build = ["musicrs_dataset", "build", "--from", source, "--no-install", "--out", str(data)]
    if design != "published":
        pools = out / f"{design}.jsonl"
        published = _build(source, out, "published")
        _call("musicrs_dataset", "pools", str(published), "--design", design, "--seed", "1", "--out", str(pools))
        build += ["--pools", str(pools)]
    _call(*build)
    return data


def _run(data: Path, arguments: argparse.Namespace, design: str, name: str) -> Path:
    _, model, options = next(row for row in SYSTEMS if row[0] == name)
    folder: Path = arguments.out / design / name.replace(" ", "_").replace("(", "").replace(")", "")
    words = [word.replace("MPNET", arguments.mpnet) for word in options]
    place = ["--dataset", str(data), "--pools", design, "--out", str(folder), "--cache", str(arguments.out / "vectors")]
    _call("baselines", "run", "--model", model, *words, *place)
    return folder


def _tables(data: Path, design: str, folders: dict[str, Path]) -> Iterator[str]:
    from musicrs_metric.runs.read import score_predictions

    references = _references(data, design)
    scores = {name: score_predictions(folder, references, by=["genre"]).scores for name, folder in folders.items()}
    yield f"| system | reads | {' | '.join(MEASURES)} | against chance | seconds |"
    yield "|" + "---|" * (len(MEASURES) + 4)
    chance = next(iter(scores.values())).chance or {}
    yield "| **chance** | – | " + " | ".join(_percent(chance[name]) for name in MEASURES) + " | | |"
    for name, found in scores.items():
        card = read_run_card(folders[name])
        seconds = "–" if card.wall_time_s is None else f"{card.wall_time_s:.0f}"
        cells = " | ".join(_cell(found, measure) for measure in MEASURES)
        yield f"| `{name}` | {card.reads} | {cells} | {found.verdict(MEASURES[0])} | {seconds} |"
    genres = sorted(next(iter(scores.values())).by["genre"])
    yield f"\nrecall@20 by genre:\n\n| system | {' | '.join(genres)} |"
    yield "|" + "---|" * (len(genres) + 1)
    for name, found in scores.items():
        yield (
            f"| `{name}` | "
            + " | ".join(_percent(found.by["genre"][each].values[MEASURES[0]]) for each in genres)
            + " |"
        )


def _gain(folder: Path, data: Path, design: str) -> str:
    """Return the difference from chance with its interval, in points."""
    (run,) = load_runs([folder], _references(data, design), MEASURES)
    (against,) = measure_alone(run.system, MEASURES[:1]).chance
    assert against is not None
    assert against.interval is not None
    low, high = against.interval
    return f"{100 * against.difference:+.2f} [{100 * low:.2f}, {100 * high:.2f}]"


def _references(data: Path, design: str) -> References:
    return load_references(str(data), "query_only" if design == "published" else f"query_only_{design}")


def _cell(scores: Scores, measure: str) -> str:
    low, high = (scores.interval or {})[measure]
    return f"{_percent(scores.values[measure])} [{_percent(low)}, {_percent(high)}]"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"


def _call(*words: str) -> None:
    """Run a command of this project. Its own output is not part of the tables."""
    done = subprocess.run([sys.executable, "-m", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.stderr or f"{' '.join(words)} failed")
