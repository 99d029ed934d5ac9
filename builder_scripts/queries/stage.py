"""Stage `queries`: the request that each post makes, in a few sentences that stand on their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.resources import files
from typing import NamedTuple

from ..extract.stage import Text
from ..extract.text_matching import quoted
from ..llm import Answers, Outcome, Parameters, Prompt, Question, Request, ask, read_prompt
from .query_text import is_answer, read_query, schema

MAX_TOKENS = 512


class Query(NamedTuple):
    """The request of one thread.

    Attributes:
        thread_id: Reddit name, `t3_...`.
        query: The request; None where there is none.
        outcome: How asking for it went; among the failures "leak", "too short", "too long".
    """

    thread_id: str
    query: str | None
    outcome: Outcome


def query_prompt() -> Prompt:
    """The prompt that lies beside this file."""
    return read_prompt(files(__package__) / "query.toml")


def queries(
    posts: Sequence[Text], answers: Mapping[str, Sequence[str]], prompt: Prompt, source: Answers
) -> list[Query]:
    """Word the requests of posts.

    The model is shown the post alone, never a reply; what replies name only serves to refuse a request.

    Args:
        posts: The posts.
        answers: What the replies name, by thread id.
        prompt: What to ask.
        source: The store, and who is asked what it lacks.

    Returns:
        One query per post, in their order.
    """
    questions = [question(post, answers.get(post.thread_id, ()), prompt) for post in posts]
    found = ask(questions, source)
    return [Query(post.thread_id, answer.value, answer.outcome) for post, answer in zip(posts, found, strict=True)]


def question(post: Text, answers: Sequence[str], prompt: Prompt) -> Question[str]:
    """Ask for the request of one post; see `queries`."""
    text = prompt.fill(title=quoted(post.title), body=quoted(post.body))
    request = Request(text, prompt.label, schema(), Parameters(MAX_TOKENS))
    read = partial(read_query, post=f"{post.title}\n{post.body}", answers=answers)
    return Question(request, is_answer, read, prompt.again)
