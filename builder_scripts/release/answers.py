"""Answers of the language models in a release: only those about texts of the corpus.

With them and the same dumps, a user rebuilds the corpus without a model. The key of an answer is the hash of its
question. The questions are therefore built again: an answer without a question belongs to a removed text, an older
prompt or another model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from musicrs_metric.base.files import write_text
from musicrs_metric.base.jsonl_log import read_log

from ..extract.stage import Tasks
from ..extract.tables import read_posts, read_replies
from ..layout import Work
from ..llm import Model, Question, content_key
from ..llm.ask import CUT, FILTERED, UNREADABLE
from ..llm.options import model_of
from ..manifest import StageManifest
from ..queries.run import query_prompt, question
from .cleaning import Clean
from .takedown import Takedown


def write_answers(path: Path, work: Work, takedown: Takedown, clean: Clean) -> int:
    """Write the answers about all texts that passed the filters, without removed texts.

    Args:
        path: JSON lines of the form of `builder_scripts.llm.answer_cache`.
        work: The work folder.
        takedown: Ids to remove.
        clean: Cleans each answer; see `release.cleaning`.

    Returns:
        The number of answers.
    """
    wanted = _keys(work, takedown)
    stored = _stored(work.cache / "answers.jsonl")
    # A request without an answer is no record of a model: its line has no finish reason and no text.
    lines = [_line(row, clean) for row in stored if row.get("key") in wanted and row.get("finish") is not None]
    write_text(path, lines)
    return len(lines)


def _keys(work: Work, takedown: Takedown) -> set[str]:
    posts = read_posts(work.threads)
    texts = [*posts, *read_replies(work.replies, posts)]
    texts = [text for text in texts if text.thread_id not in takedown and text.comment_id not in takedown]
    tasks, prompt = Tasks.read(), query_prompt()
    # One question at a time: the questions of a whole corpus do not fit into memory.
    entities = (entity for text in texts for entity in tasks.questions([text]))
    requests = (question(text, (), prompt) for text in texts if text.comment_id is None)
    extract, queries = (StageManifest.read(work.gold, stage).parameters for stage in ("extract", "queries"))
    return {*_keys_of(entities, model_of(extract)), *_keys_of(requests, model_of(queries))}


def _keys_of(questions: Iterable[Question[Any]], model: Model) -> Iterator[str]:
    """Yield the keys of questions, asked first and asked again for any reason."""
    for asked in questions:
        yield content_key(asked.request, model)
        for failure in {*asked.again, UNREADABLE, CUT, FILTERED}:
            yield content_key(asked.repeated(failure), model)


def _stored(path: Path) -> Iterator[dict[str, Any]]:
    """Read the lines of the cache, without torn ones."""
    for line in read_log(path):
        try:
            answer = json.loads(line.data)
        except ValueError:
            continue
        if isinstance(answer, dict):
            yield answer


def _line(answer: dict[str, Any], clean: Clean) -> str:
    # The message of a server that refuses a request may quote the request.
    answer = {name: value for name, value in answer.items() if name != "error"}
    # ASCII, as the cache writes it: a model may write half a surrogate pair.
    return json.dumps(answer | {"text": clean(str(answer["text"]))}) + "\n"
