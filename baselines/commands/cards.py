"""Write the file of the system `cards`: one line per title and subreddit, by any language model of this project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from musicrs_dataset.records import Thread
from musicrs_metric.base.chat import ChatError
from musicrs_metric.base.files import to_json
from musicrs_metric.base.jsonl_log import JsonlLog
from musicrs_metric.errors import UserError, count, show

from ..generative.language_model import Completion, LanguageModel, Prompt
from ..generative.server_model import ServerModel
from ..systems.cards import Key, keys_of, read_card, read_cards

if TYPE_CHECKING:
    from rich.console import Console

_MAX_TOKENS = 256


def write_cards(
    model: LanguageModel,
    threads: Sequence[Thread],
    out: Path,
    *,
    at_once: int = 8,
    tokens: int | None = None,
    limit: int | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[int, int]:
    """Write the lines that a file lacks. A title that gets none is not stored; the next call asks for it again.

    Args:
        model: The language model.
        threads: Threads with the titles.
        out: The file. Lines are appended as they come, so a stopped call can be repeated.
        at_once: Titles per batch.
        tokens: Most tokens of an answer; None for 256.
        limit: Ask for at most this many titles; None for all.
        progress: Called with the number of titles of each finished batch.

    Returns:
        Number of lines in the file for these threads, and number of their titles without one.

    Raises:
        UserError: The file holds lines of another model, or the server is down.
    """
    wanted = keys_of(threads)
    stored = dict(read_cards(out))
    others = sorted({values["model"] for values in stored.values()} - {model.revision})
    if others:
        raise UserError(f"{out}: holds lines by {show(others[0])}, not by {show(model.revision)}; name another file")
    left = [key for key in wanted if key not in stored][:limit]
    if left:
        model.load()
    done = 0
    with JsonlLog(out, fsync="append") as log:
        for start in range(0, len(left), at_once):
            batch = left[start : start + at_once]
            cards = dict(zip(batch, _ask(model, batch, tokens or _MAX_TOKENS), strict=True))
            log.append(
                to_json({"subreddit": key.subreddit, "title": key.title, "card": card, "model": model.revision})
                for key, card in cards.items()
                if card is not None
            )
            done += sum(card is not None for card in cards.values())
            progress(len(batch))
    n = sum(key in stored for key in wanted) + done
    return n, len(wanted) - n


def _ask(model: LanguageModel, keys: Sequence[Key], tokens: int) -> list[str | None]:
    """Ask for some titles together. If this fails, ask one by one, so that one failure costs one line."""
    try:
        answers: list[Completion] = model.complete([Prompt(key.prompt) for key in keys], tokens)
    except (ChatError, ValueError):  # no answer, or a prompt that exceeds the context
        return [None] if len(keys) == 1 else [card for key in keys for card in _ask(model, [key], tokens)]
    return [read_card(answer.text, key.title, cut=answer.cut) for key, answer in zip(keys, answers, strict=True)]


def print_cards(
    console: Console, model: str, arguments: Sequence[str], out: Path, dataset: str, pools: str, limit: int | None,
    at_once: int,
) -> None:  # fmt: skip
    """Write the lines and print the result.

    Raises:
        UserError: See `write_cards`; or the system asks no language model, or titles got no line.
    """
    from ..data import load_data
    from ..generative.system import Generative
    from ..launch import build_system
    from ..run.reporter import Reporter

    system = build_system(model, "query_only", arguments)
    if not isinstance(system, Generative):
        raise UserError(f"--model {model}: is no language model; expected one such as causal_lm or openai_api")
    language_model = system.language_model
    if isinstance(language_model, ServerModel):
        language_model.schema = None  # a line is no ranking in JSON
    threads = load_data(dataset, "query_only", pools).threads
    tokens = system.options.answer_tokens
    with Reporter(console).progress(f"lines for {out.name}", limit or len(keys_of(threads))) as advance:
        n, n_missing = write_cards(
            language_model, threads, out, at_once=at_once, tokens=tokens, limit=limit,
            progress=lambda done: advance(done, ""),
        )  # fmt: skip
    if n_missing and limit is None:
        raise UserError(
            f"{out}: holds {count(n, 'line')}; {count(n_missing, 'title')} got none (no answer, a refusal, or an "
            "answer that was cut); run the same command again to ask for them"
        )
    rest = f"; {count(n_missing, 'title')} to go" if n_missing else ""
    line = f"{out} holds {count(n, 'line')}{rest}. Use them: python -m baselines run --model cards --cards {out} ..."
    console.print(line, markup=False, highlight=False, soft_wrap=True)
