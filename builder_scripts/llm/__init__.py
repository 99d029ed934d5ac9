"""Questions to language models. Each answer is paid for once.

`generate` answers `Request`s with a backend (`Server`, `Local`, `BatchFiles`) and an `AnswerCache`. `ask` reads and
checks the JSON in the answers, and asks once more if an answer cannot be used. The cache stores failures, too. The next
run asks these questions again.
"""

from __future__ import annotations

from .answer_cache import AnswerCache
from .ask import UNREADABLE, Answer, Outcome, Question, RefusedError, ask
from .generate import Answers, Backend, generate
from .request import Model, Parameters, Prompt, Request, Response, content_key, read_prompt

__all__ = [
    "UNREADABLE",
    "Answer",
    "AnswerCache",
    "Answers",
    "Backend",
    "Model",
    "Outcome",
    "Parameters",
    "Prompt",
    "Question",
    "RefusedError",
    "Request",
    "Response",
    "ask",
    "content_key",
    "generate",
    "read_prompt",
]
