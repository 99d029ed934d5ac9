"""Questions of stage `extract` about posts and replies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import NamedTuple

from ..llm import Answers, Outcome, Parameters, Prompt, Question, Request, ask, read_prompt
from ..manifest import Counts
from .mentions import Mentions, is_answer, read_mentions, schema
from .text_matching import plain, quoted

REPLY_CAP = 5
POST_CAP = 20  # the published posts name up to 16
_TOKENS_PER_NAME = 48


class Text(NamedTuple):
    """A post or a reply.

    Attributes:
        thread_id: Reddit name of the thread, `t3_...`.
        comment_id: Reddit name of the reply, `t1_...`; None for the post.
        title: Title of the post.
        body: Text of the post or the reply.
    """

    thread_id: str
    comment_id: str | None
    title: str
    body: str


@dataclass(frozen=True, slots=True)
class Extraction:
    """Entities of one text.

    Attributes:
        thread_id: Reddit name of the thread.
        comment_id: Reddit name of the reply; None for the post.
        mentions: The entities. Empty if the model gave no usable answer.
        outcome: Outcome of the question.
    """

    thread_id: str
    comment_id: str | None
    mentions: Mentions
    outcome: Outcome


@dataclass(frozen=True)
class Task:
    """Question about a kind of text.

    Attributes:
        prompt: Text of the question.
        cap: Largest number of names per text.
    """

    prompt: Prompt
    cap: int

    def question(self, text: Text) -> Question[Mentions]:
        """Return the question about a text. The names must appear in the text or, for posts, in the title."""
        prompt = self.prompt.fill(cap=str(self.cap), title=quoted(text.title), body=quoted(text.body))
        parameters = Parameters(max_tokens=64 + _TOKENS_PER_NAME * self.cap)
        request = Request(prompt, self.prompt.label, schema(self.cap), parameters)
        held = plain(text.body) if text.comment_id else plain(f"{text.title}\n{text.body}")
        return Question(request, is_answer, partial(read_mentions, text=held, cap=self.cap), self.prompt.again)


class Tasks(NamedTuple):
    """Questions about posts and about replies."""

    post: Task
    reply: Task

    @staticmethod
    def read() -> Tasks:
        """Read the prompts of this folder."""
        folder = files(__package__)
        post, reply = (read_prompt(folder / name) for name in ("post.toml", "reply.toml"))
        return Tasks(Task(post, POST_CAP), Task(reply, REPLY_CAP))

    def questions(self, texts: Sequence[Text]) -> list[Question[Mentions]]:
        """Return the questions about texts, in their order."""
        return [(self.post if text.comment_id is None else self.reply).question(text) for text in texts]


def extract(texts: Sequence[Text], tasks: Tasks, source: Answers) -> list[Extraction]:
    """Ask for the entities of texts.

    Args:
        texts: Posts and replies, in any order.
        tasks: Questions about posts and replies.
        source: Cache and backend.

    Returns:
        One extraction per text, in their order. Each has at most `cap` names, and all of them appear in the text.
    """
    answers = ask(tasks.questions(texts), source)
    return [
        Extraction(text.thread_id, text.comment_id, answer.value or Mentions(), answer.outcome)
        for text, answer in zip(texts, answers, strict=True)
    ]


def name_counts(extractions: Sequence[Extraction]) -> Counts:
    """Count the names in the answers."""
    total = Counts(0, 0)
    for extraction in extractions:
        songs, artists, albums, unfounded, n_invalid, n_repeated, n_over = extraction.mentions
        kept = len(songs) + len(artists) + len(albums)
        dropped = {
            "invalid": n_invalid,
            "repeated": n_repeated,
            "not in the text": len(unfounded),
            "beyond the cap": n_over,
        }
        total += Counts(kept + sum(dropped.values()), kept, dropped)
    return total
