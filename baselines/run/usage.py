"""Account of a server: tokens and their cost, names of the models that answered, and prompts that it cut.

All numbers are sums over the records of `answers.jsonl`, so that a run of several sessions counts each answer once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from musicrs_metric.errors import count, show

KINDS = ("prompt", "reasoning", "answer")

# No tokenizer needs fewer tokens than one per eight bytes of these prompts. One per four or five bytes is usual.
_BYTES_PER_TOKEN = 8
# From this many prompts of different lengths with one number of tokens, that number is a limit of the server.
_EQUAL = 3
_SPREAD = 1.1  # length of the longest of them over the shortest, if other prompts have fewer tokens
_REMEDY = "Check its context window (vLLM --max-model-len, llama.cpp -c, Ollama num_ctx) and run in another folder."


class Prices(NamedTuple):
    """Prices per million tokens, in the currency of the user; 0 by default.

    Attributes:
        read: Price of prompts.
        written: Price of reasoning and answers.
    """

    read: float = 0.0
    written: float = 0.0

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Prices:
        """Return the prices in the options of a system."""
        return cls(float(settings.get("price_read") or 0), float(settings.get("price_written") or 0))

    def cost(self, tokens: Mapping[str, int]) -> float:
        """Return the cost of some tokens, by kind."""
        written = tokens.get("reasoning", 0) + tokens.get("answer", 0)
        return (tokens.get("prompt", 0) * self.read + written * self.written) / 1e6


class PromptCount(NamedTuple):
    """Length of a prompt, and its length by the count of the server.

    Attributes:
        thread_id: The thread.
        n_bytes: Length of its text in UTF-8.
        n_tokens: Tokens by the count of the server.
    """

    thread_id: str
    n_bytes: int
    n_tokens: int


class CutPrompts(NamedTuple):
    """Prompts that a server cut, as far as its count shows it.

    Attributes:
        short: Prompts with far too few tokens for their text: less than one per eight bytes.
        equal: Prompts of different lengths that share the highest count.
    """

    short: list[PromptCount]
    equal: list[PromptCount]


def usage_facts(records: Iterable[Mapping[str, Any]], prices: Prices) -> dict[str, Any]:
    """Return the account of a server for the run card.

    Args:
        records: Answer records of all threads.
        prices: Prices of tokens.

    Returns:
        "tokens" by kind with the number of counted answers, "cost" if prices are known, "models_returned" with the
        number of answers of each, and "prompts_cut". Empty for a model in this process.
    """
    records = [record for record in records if isinstance(record.get("tokens"), Mapping)]
    if not records:
        return {}
    total: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
    for record in records:
        total.update({kind: record["tokens"].get(kind) or 0 for kind in KINDS})
    n_counted = sum(any(record["tokens"].get(kind) is not None for kind in KINDS) for record in records)
    facts: dict[str, Any] = {"tokens": dict(total) | {"answers_counted": n_counted}}
    if any(prices):
        facts["cost"] = round(prices.cost(total), 6)
    models = Counter(record["model"] for record in records if record.get("model"))
    if models:
        facts["models_returned"] = dict(models.most_common())
    cut = cut_prompts(records)
    if any(cut):
        facts["prompts_cut"] = cut_prompt_facts(cut)
    return facts


def add_usage(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Add the tokens and the cost of several runs, if their cards hold them.

    Args:
        parts: The `extra` of their cards.
    """
    total: dict[str, Any] = {}
    tokens = [part["tokens"] for part in parts if "tokens" in part]
    if tokens:
        total["tokens"] = {kind: sum(by_kind.get(kind, 0) for by_kind in tokens) for kind in tokens[0]}
    if any("cost" in part for part in parts):
        total["cost"] = round(sum(part.get("cost", 0.0) for part in parts), 6)
    return total


def cut_prompts(records: Iterable[Mapping[str, Any]]) -> CutPrompts:
    """Find prompts that a server cut, by its own count of tokens.

    If three or more prompts of different lengths share the highest count, it is a limit of the server: if all prompts
    share it, or if their lengths differ by more than a tenth. A server that counts nothing, or 0, gets no verdict.

    Args:
        records: Records with `thread_id`, `prompt_bytes` and `tokens`.
    """
    counts = [
        PromptCount(str(record.get("thread_id")), record["prompt_bytes"], n_tokens)
        for record in records
        if record.get("prompt_bytes") and (n_tokens := (record.get("tokens") or {}).get("prompt"))
    ]
    short = [prompt for prompt in counts if prompt.n_tokens * _BYTES_PER_TOKEN < prompt.n_bytes]
    most = max((prompt.n_tokens for prompt in counts), default=0)
    equal = [prompt for prompt in counts if prompt.n_tokens == most]
    lengths = {prompt.n_bytes for prompt in equal}
    is_limit = len(lengths) >= _EQUAL and (len(equal) == len(counts) or max(lengths) > _SPREAD * min(lengths))
    return CutPrompts(short, equal if is_limit else [])


def cut_prompt_facts(cut: CutPrompts) -> dict[str, Any]:
    """Return the cut prompts for the run card; empty if there are none."""
    facts: dict[str, Any] = {}
    if cut.short:
        longest = max(cut.short, key=lambda prompt: prompt.n_bytes)
        facts["short"] = {"prompts": len(cut.short), "longest": longest._asdict()}
    if cut.equal:
        lengths = [prompt.n_bytes for prompt in cut.equal]
        tokens = cut.equal[0].n_tokens
        facts["equal"] = {"prompts": len(lengths), "n_tokens": tokens, "n_bytes": [min(lengths), max(lengths)]}
    return facts


def cut_prompt_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield a warning about cut prompts, if there are any.

    Args:
        facts: Result of `cut_prompt_facts`.
    """
    if "short" in facts:
        longest = facts["short"]["longest"]
        yield (
            f"Warning: the server cut {count(facts['short']['prompts'], 'prompt')}: it read {longest['n_tokens']:,} "
            f"tokens of the {longest['n_bytes']:,} bytes of {longest['thread_id']}. {_REMEDY}"
        )
    elif "equal" in facts:
        equal = facts["equal"]
        yield (
            f"Warning: the server counts {equal['n_tokens']:,} tokens for each of {equal['prompts']} prompts of "
            f"{equal['n_bytes'][0]:,} to {equal['n_bytes'][1]:,} bytes. It cuts prompts at that length, or does not "
            f"count them. {_REMEDY}"
        )


def usage_lines(extra: Mapping[str, Any]) -> Iterator[str]:
    """Yield the account of a server as text.

    Args:
        extra: `extra` of the run card.
    """
    tokens = extra.get("tokens")
    if tokens:
        cost = f"; cost {amount(extra['cost'])}" if "cost" in extra else ""
        yield (
            f"Tokens by the server's count: {tokens['prompt']:,} of prompts, {tokens['reasoning']:,} of reasoning, "
            f"{tokens['answer']:,} of answers{cost}."
        )
    refused = extra.get("fields_left_out")
    if refused:
        yield f"The server refuses the fields {', '.join(refused)}. The client omitted them."
    models = extra.get("models_returned") or {}
    if len(models) > 1:
        names = ", ".join(f"{show(name)} {n}" for name, n in models.items())
        yield f"Warning: the server named {len(models)} models: {names}."
    yield from cut_prompt_lines(extra.get("prompts_cut") or {})


def amount(cost: float) -> str:
    """Format a cost: with two decimals, or with two significant digits if it is small."""
    return f"{cost:,.2f}" if cost >= 0.1 or cost == 0 else f"{cost:.2g}"
