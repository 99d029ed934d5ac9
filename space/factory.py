"""Build a service from settings: data, store, leaderboard and limits."""

from __future__ import annotations

from musicrs_metric.errors import UserError

from .board.board import Board
from .board.data import LeaderboardData, load_data
from .events import EventLog
from .intake import SubmissionForm, take
from .service import LeaderboardService
from .settings import LeaderboardSettings
from .store import SubmissionStore
from .store.local import LocalStore
from .submission import Submission

SUBMISSIONS = "submissions"
CACHE = "cache"


def make_service(settings: LeaderboardSettings) -> LeaderboardService:
    """Read the data, open the store and prepare the leaderboard.

    Args:
        settings: Settings of the leaderboard.

    Raises:
        UserError: The dataset cannot be read, or the settings name a results repository without a token.
    """
    data = load_data(settings.dataset)
    events = EventLog(settings.results)
    board = Board(data, open_store(settings, data, events), settings.results / CACHE)
    older = [Board(load_data(name), board.store, settings.results / CACHE, older=True) for name in settings.older]
    return LeaderboardService(settings, board, events, older)


def open_store(settings: LeaderboardSettings, data: LeaderboardData, events: EventLog) -> SubmissionStore:
    """Open the folder of submissions, or the repository on the Hub with that folder as its local copy.

    Args:
        settings: Folder, repository and token.
        data: Judges runs that arrive in the inbox of the repository.
        events: Log of the trouble with the Hub.

    Raises:
        UserError: The settings name a repository without a token.
    """
    folder = settings.results / SUBMISSIONS
    if settings.results_repo is None:
        return LocalStore(folder)
    if settings.token is None:
        raise UserError(
            f"RESULTS_REPO is {settings.results_repo}, but there is no token with write access; set HF_TOKEN, or "
            "unset RESULTS_REPO to keep submissions in a folder"
        )
    from .store.hub import HubStore
    from .store.remote import ResultsRepo

    def accept(predictions: bytes, card: bytes) -> Submission:
        return take(predictions, SubmissionForm(), data, settings.limits, card=card).submission

    def report(problem: str | None) -> None:
        events.add("hub trouble" if problem else "hub works again", note=problem or "")

    store = HubStore(folder, ResultsRepo(settings.results_repo, settings.token), accept=accept, report=report)
    store.start()
    return store
