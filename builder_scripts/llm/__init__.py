"""Language models behind one function: questions in, answers out, each paid for once.

`generate` answers `Request`s through a backend (`Server`, `Local`, `BatchFiles`) and a `Store`; `ask` reads JSON out of
the answers, checks it, and asks once more where it is of no use. Failures are kept as failures, and asked again by the
next run.
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
