"""Endpoints for programs: `/submit`, `/submit_repo`, `/score`, `/edit`, `/withdraw`, `/leaderboard`, `/predictions`.

Programs call them through gradio_client or plain HTTP. A refused submission is an ordinary answer that lists every
fault with its place. All other problems are errors of one sentence.
"""

from __future__ import annotations

import base64
import binascii
import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import gradio as gr

from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import PredictionError

from ..service import LeaderboardService
from ..store.notes import EDITABLE
from .fields import FILTERS, row_query, submission_form
from .rate_limits import caller_of

_LOG = logging.getLogger(__name__)
# First characters of the base64 of a gzip file and of a zip archive. A prediction file starts with a brace.
_PACKED = ("H4sI", "UEsD")

Answer = dict[str, Any]


def expose(service: LeaderboardService) -> None:
    """Add the endpoints to the gradio app that is being built.

    Gradio reads names, types and texts of the endpoints from their signatures and docstrings.

    Args:
        service: The leaderboard.
    """

    def submit(
        request: gr.Request,
        predictions: str,
        name: str = "",
        modality: str = "",
        paradigm: str = "",
        reads: str = "",
        link: str = "",
        description: str = "",
        open_weights: bool | None = None,
        partial: bool = False,
        pools: str = "",
        card: str = "",
        code_link: str = "",
        parameters: str = "",
        licence: str = "",
        model_id: str = "",
        model_revision: str = "",
        trained: bool | None = None,
        hardware: str = "",
        wall_time_s: float | None = None,
        show_sender: bool = False,
    ) -> Answer:
        """Submit predictions to the leaderboard, which computes the scores.

        Args:
            request: Filled in by the server.
            predictions: Text of a predictions.jsonl, or base64 of the same packed with gzip or zip.
            name: Name of the system on the leaderboard.
            modality: audio_query, query_only or audio_only.
            paradigm: generative, retrieval or traditional.
            reads: thread, pools or labels: the data that the system uses beyond its own thread.
            link: Page of the system, an https URL.
            description: Short description, without an e-mail address.
            open_weights: True if anyone can download the weights.
            partial: True if threads may be missing, which then score 0.
            pools: Pool design that the system ranked; empty for that of the card, else the published pools.
            card: Text of a run.json, for the fields that are empty here.
            code_link: Page of the code of the system, an https URL.
            parameters: Number of parameters of the model, such as 7000000000 or 7B.
            licence: Licence of the weights.
            model_id: Public name of the model.
            model_revision: Commit or version of the model.
            trained: True if the system was trained or tuned for this task.
            hardware: Hardware of the run.
            wall_time_s: Duration of the run in seconds.
            show_sender: True to show the user name of a signed-in sender.

        Returns:
            state ("stored", "queued", "already" or "refused"), then key, receipt, summary, row and warnings, or every
            fault. With the receipt you can edit or withdraw the row.
        """
        form = submission_form(locals())
        content = _text(card).encode(errors="surrogatepass") or None
        caller = caller_at(service, request)
        answer = _answer(lambda: service.submit(_bytes_of(predictions), form, caller=caller, card=content).to_dict())
        return _with_limit(answer, service, caller)

    def submit_repo(
        request: gr.Request,
        repo: str,
        kind: str = "dataset",
        name: str = "",
        description: str = "",
        link: str = "",
        partial: bool = False,
    ) -> Answer:
        """Submit the predictions.jsonl and run.json at the root of a public repository on the Hub.

        Args:
            request: Filled in by the server.
            repo: owner/name.
            kind: dataset or model.
            name: Name of the system on the leaderboard, if run.json does not state it.
            description: Short description, without an e-mail address.
            link: Page of the system; empty for the repository.
            partial: True if threads may be missing, which then score 0.

        Returns:
            As for submit.
        """
        form = submission_form(locals())
        caller = caller_at(service, request)
        answer = _answer(lambda: service.submit_repo(repo, kind, form, caller=caller).to_dict())
        return _with_limit(answer, service, caller)

    def score(request: gr.Request, predictions: str, pools: str = "") -> Answer:
        """Score predictions without storing them.

        Args:
            request: Filled in by the server.
            predictions: Text of a predictions.jsonl, or base64 of the same packed with gzip or zip.
            pools: Pool design that they rank; empty for the published pools.

        Returns:
            Every measure with chance, ceiling and interval, overall and by genre, or state "refused" and every fault.
        """
        caller = caller_at(service, request)
        return _answer(lambda: service.score(_bytes_of(predictions), caller=caller, pools=_text(pools) or None))

    def edit(
        request: gr.Request,
        key: str,
        receipt: str = "",
        name: str | None = None,
        reads: str | None = None,
        link: str | None = None,
        code_link: str | None = None,
        description: str | None = None,
        show_sender: bool | None = None,
    ) -> Answer:
        """Change fields of your row.

        Args:
            request: Filled in by the server.
            key: Key of the row.
            receipt: The receipt from the answer to the submission; empty if you are signed in as its sender.
            name: New name; leave a field out to keep its value.
            reads: thread, pools or labels.
            link: Page of the system, an https URL; empty text removes it.
            code_link: Page of the code, an https URL; empty text removes it.
            description: Short description; empty text removes it.
            show_sender: True to show your user name, false to hide it.

        Returns:
            state "changed" with the row and warnings, or "refused" with every fault.
        """
        sent = {name: value for name, value in locals().items() if name in EDITABLE}
        caller = caller_at(service, request)
        return _answer(lambda: service.edit(key, receipt, sent, show_sender=show_sender, caller=caller))

    def withdraw(request: gr.Request, key: str, receipt: str = "") -> Answer:
        """Take your row off the leaderboard. Its URL then states that it was withdrawn.

        Args:
            request: Filled in by the server.
            key: Key of the row.
            receipt: The receipt from the answer to the submission; empty if you are signed in as its sender.

        Returns:
            state "withdrawn" and the key.
        """
        caller = caller_at(service, request)
        return _answer(lambda: service.withdraw(key, receipt, caller=caller))

    def leaderboard(
        data: str = "",
        pools: str = "",
        modality: str = "",
        paradigm: str = "",
        reads: str = "",
        genre: str = "",
        open_weights: bool | None = None,
        status: str = "",
        reported: bool = True,
        sort: str = "recall@20",
        ascending: bool = False,
        details: bool = False,
    ) -> list[dict[str, Any]]:
        """Return the rows of the leaderboard.

        Args:
            data: Version of the data, the first eight characters of its fingerprint; empty for the current one.
            pools: Pool design; empty for the published pools.
            modality: Only this modality; empty for all.
            paradigm: Only this paradigm; empty for all.
            reads: Only systems that read this; empty for all.
            genre: Scores and ranks on the threads of this genre; empty for all threads.
            open_weights: Only systems with open weights (true) or closed weights (false).
            status: code for rows with a code link and reproduced rows, reproduced for these only; empty for all.
            reported: True to include the results that the paper reports.
            sort: A measure, name, modality, paradigm, reads, received, coverage or answered.
            ascending: True for the smallest value first.
            details: True for all measures and all known values of each row, instead of the columns of the table.

        Returns:
            One object per row, chance first. Shares are between 0 and 1, and null is an unknown value.
        """
        sent = locals()
        with in_one_sentence():
            return service.leaderboard(row_query({name: sent[name] for name in FILTERS}), details=details is True)

    def predictions(key: str) -> str:
        """Return the URL of the predictions of a row, from the root of the leaderboard, to compute its scores again.

        Args:
            key: Key of the row, as in the leaderboard.
        """
        # The URL and not the file: gradio keeps answers in memory until their caller fetches them.
        with in_one_sentence():
            return f"/predictions.jsonl?key={service.existing_key(_text(key))}"

    for function in (submit, submit_repo, score, edit, withdraw, leaderboard, predictions):
        gr.api(function, api_name=function.__name__, concurrency_limit=None)


def caller_at(service: LeaderboardService, request: gr.Request) -> str:
    """Return the caller that a request counts for.

    Args:
        service: Its settings state if users sign in and if a proxy adds their IP address.
        request: The request.
    """
    raw = request.request
    headers = {name.lower(): value for name, value in raw.headers.items()}
    name = _signed_in(raw.scope.get("session") or {}) if service.settings.sign_in else None
    host = None if raw.client is None else raw.client.host
    return caller_of(name, headers, host, behind_proxy=service.settings.behind_proxy)


@contextmanager
def in_one_sentence() -> Iterator[None]:
    """Turn every exception into an error of one sentence. An unexpected exception goes to the log only."""
    try:
        yield
    except UserError as error:
        raise gr.Error(str(error), print_exception=False) from None
    except Exception:  # a traceback would not help the caller, and would disclose details of this machine
        _LOG.exception("a call failed")
        message = "the server failed, and the error is in its log; please try again later"
        raise gr.Error(message, print_exception=False) from None


def refused(error: PredictionError) -> Answer:
    """Return a refusal as plain JSON types: every fault with file, line, thread, field and message."""
    faults = [asdict(fault) | {"text": str(fault)} for fault in error.faults]
    return {"state": "refused", "message": str(error), "n_faults": error.n_faults, "faults": faults}


def _answer(work: Callable[[], Answer]) -> Answer:
    with in_one_sentence():
        try:
            return work()
        except PredictionError as error:
            return refused(error)


def _with_limit(answer: Answer, service: LeaderboardService, caller: str) -> Answer:
    """Add the number of refused submissions that the caller may still send to a refusal."""
    return answer if answer["state"] != "refused" else answer | {"refusals_left": service.refusals_left(caller)}


def _signed_in(session: Mapping[str, Any]) -> str | None:
    """Return the user name of a session, whose cookie the server has signed, as long as it is valid."""
    info = session.get("oauth_info") or {}
    expires = info.get("expires_at")
    if expires is not None and expires < time.time():
        return None
    name = (info.get("userinfo") or {}).get("preferred_username")
    return name if isinstance(name, str) else None


def _bytes_of(predictions: object) -> bytes:
    text = _text(predictions)
    if text.startswith(_PACKED):
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise UserError("predictions: found base64 that is cut off or damaged; send it again") from None
    return text.encode(errors="surrogatepass")


def _text(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value)
