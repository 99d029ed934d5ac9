"""What a server counted: tokens and their cost, the names under which it answered, and prompts that it cut.

All of it is added up from the records of `answers.jsonl`, so that a run of several sessions counts each answer once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from musicrs_metric.errors import count, show

AnswerRecord = Mapping[str, Any]

KINDS = ("prompt", "reasoning", "answer")

# No tokenizer takes as few tokens as one for eight bytes of these prompts; four or five bytes are usual.
_BYTES_PER_TOKEN = 8
# Prompts of different length with one number of tokens, from which on that number is a limit of the server.
_EQUAL = 3
_SPREAD = 1.1  # length of the longest of them over the shortest, where other prompts have fewer tokens
_REMEDY = "Check its context window (vLLM --max-model-len, llama.cpp -c, Ollama num_ctx) and run in another folder."


class Prices(NamedTuple):
    """What a million tokens cost, in the user's currency; 0 where nothing is said.

    Attributes:
        read: Tokens of prompts.
        written: Tokens of reasoning and answers.
    """

    read: float = 0.0
    written: float = 0.0

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Prices:
        """The prices that the options of a system name."""
        return cls(float(settings.get("price_read") or 0), float(settings.get("price_written") or 0))

    def cost(self, tokens: Mapping[str, int]) -> float:
        """The price of some tokens, by kind."""
        written = tokens.get("reasoning", 0) + tokens.get("answer", 0)
        return (tokens.get("prompt", 0) * self.read + written * self.written) / 1e6


class PromptCount(NamedTuple):
    """How long a prompt is, and how long the server says it is.

    Attributes:
        thread_id: The thread.
        n_bytes: Length of its text in UTF-8.
        n_tokens: Tokens that the server read, by its own count.
    """

    thread_id: str
    n_bytes: int
    n_tokens: int


class CutPrompts(NamedTuple):
    """Prompts of which a server read less than was sent, as far as its count shows it.

    Attributes:
        short: Prompts whose count is far below their text: less than a token for eight bytes.
        equal: Prompts of different lengths that share the highest count.
    """

    short: list[PromptCount]
    equal: list[PromptCount]


def usage_facts(records: Iterable[AnswerRecord], prices: Prices) -> dict[str, Any]:
    """What the run card keeps of a server's account.

    Args:
        records: Those of all threads.
        prices: What tokens cost.

    Returns:
        "tokens" by kind with the number of answers that were counted, "cost" where prices are known,
        "models_returned" with the number of answers of each, "prompts_cut"; nothing for a model in this process.
    """
    records = [record for record in records if isinstance(record.get("tokens"), Mapping)]
    if not records:
        return {}
    total: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
    for record in records:
        total.update({kind: record["tokens"].get(kind) or 0 for kind in KINDS})
    n_counted = sum(any(record["tokens"].get(kind) is not None for kind in KINDS) for record in records)
    found: dict[str, Any] = {"tokens": dict(total) | {"answers_counted": n_counted}}
    if any(prices):
        found["cost"] = round(prices.cost(total), 6)
    models = Counter(record["model"] for record in records if record.get("model"))
    if models:
        found["models_returned"] = dict(models.most_common())
    cut = cut_prompts(records)
    if any(cut):
        found["prompts_cut"] = cut_prompt_facts(cut)
    return found


def add_usage(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up the tokens and the cost of several runs; what they do not say stays away.

    Args:
        parts: The `extra` of their cards.
    """
    found: dict[str, Any] = {}
    tokens = [part["tokens"] for part in parts if "tokens" in part]
    if tokens:
        found["tokens"] = {kind: sum(each.get(kind, 0) for each in tokens) for kind in tokens[0]}
    if any("cost" in part for part in parts):
        found["cost"] = round(sum(part.get("cost", 0.0) for part in parts), 6)
    return found


def cut_prompts(records: Iterable[AnswerRecord]) -> CutPrompts:
    """Find prompts that a server cut, by its own count of tokens.

    A highest count that three or more prompts of different lengths share is a limit of the server: if all prompts share
    it, or if their lengths differ by more than a tenth. A server that counts nothing, or 0, is not judged.

    Args:
        records: With `thread_id`, `prompt_bytes` and `tokens`.
    """
    counts = [
        PromptCount(str(record.get("thread_id")), record["prompt_bytes"], n_tokens)
        for record in records
        if record.get("prompt_bytes") and (n_tokens := (record.get("tokens") or {}).get("prompt"))
    ]
    short = [each for each in counts if each.n_tokens * _BYTES_PER_TOKEN < each.n_bytes]
    most = max((each.n_tokens for each in counts), default=0)
    equal = [each for each in counts if each.n_tokens == most]
    lengths = {each.n_bytes for each in equal}
    is_limit = len(lengths) >= _EQUAL and (len(equal) == len(counts) or max(lengths) > _SPREAD * min(lengths))
    return CutPrompts(short, equal if is_limit else [])


def cut_prompt_facts(cut: CutPrompts) -> dict[str, Any]:
    """What the run card keeps of them; empty where there are none."""
    facts: dict[str, Any] = {}
    if cut.short:
        facts["short"] = {"prompts": len(cut.short), "longest": max(cut.short, key=_length)._asdict()}
    if cut.equal:
        lengths = [each.n_bytes for each in cut.equal]
        tokens = cut.equal[0].n_tokens
        facts["equal"] = {"prompts": len(lengths), "n_tokens": tokens, "n_bytes": [min(lengths), max(lengths)]}
    return facts


def cut_prompt_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Warn of prompts that were cut.

    Args:
        facts: From `cut_prompt_facts`.
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
    """Say for a person what a run card keeps of a server's account.

    Args:
        extra: Of the card.
    """
    tokens = extra.get("tokens")
    if tokens:
        cost = f"; cost {amount(extra['cost'])}" if "cost" in extra else ""
        yield (
            f"Tokens by the server's count: {tokens['prompt']:,} of prompts, {tokens['reasoning']:,} of reasoning, "
            f"{tokens['answer']:,} of answers{cost}."
        )
    left_out = extra.get("fields_left_out")
    if left_out:
        yield f"The server refuses the fields {', '.join(left_out)}; the requests were sent without them."
    models = extra.get("models_returned") or {}
    if len(models) > 1:
        names = ", ".join(f"{show(name)} {n}" for name, n in models.items())
        yield f"Warning: the server answered under {len(models)} names of models: {names}."
    yield from cut_prompt_lines(extra.get("prompts_cut") or {})


def _length(prompt: PromptCount) -> int:
    return prompt.n_bytes


def amount(cost: float) -> str:
    """Write a price: with two decimals, and a small one with two digits that say something."""
    return f"{cost:,.2f}" if cost >= 0.1 or cost == 0 else f"{cost:.2g}"
