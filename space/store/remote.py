"""Results repository on the Hub: its files, and commits that each follow a known state."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from musicrs_metric.base.hub_errors import repo_id

if TYPE_CHECKING:
    from huggingface_hub.errors import HfHubHTTPError

_TIMEOUT_S = 60.0
_TEMPORARY = (408, 409, 412, 429)  # and all from 500: the same request may succeed later


class RemoteError(Exception):
    """A request that the Hub did not fulfil.

    Attributes:
        words: One line for the leaderboard owner. It never quotes an answer or an error, which could hold a token.
        wait_s: Seconds that the Hub asks to wait; None if it does not state any.
        lasting: True if the failure lasts until the leaderboard owner fixes something.
    """

    def __init__(self, words: str, *, wait_s: float | None = None, lasting: bool = False) -> None:
        super().__init__(words)
        self.words, self.wait_s, self.lasting = words, wait_s, lasting


class RemoteFile(NamedTuple):
    """A file of the repository.

    Attributes:
        path: Its path.
        size: Bytes.
        blob: Hash of its content.
    """

    path: str
    size: int
    blob: str


class ResultsRepo:
    """A dataset repository on the Hub.

    Args:
        repo: `owner/name`.
        token: A token with write access.
        endpoint: URL of the Hub; None for HF_ENDPOINT or huggingface.co.

    Raises:
        UserError: `repo` is no `owner/name`.
    """

    def __init__(self, repo: str, token: str, endpoint: str | None = None) -> None:
        from huggingface_hub import HfApi

        self.repo = repo_id(repo, "RESULTS_REPO")
        self._api = HfApi(endpoint=endpoint, token=token)

    def commit_id(self) -> str:
        """Return the newest commit of the main branch.

        Raises:
            RemoteError: The Hub does not return it.
        """
        with self._requesting():
            return str(self._api.dataset_info(self.repo, timeout=_TIMEOUT_S).sha)

    def files(self, folder: str, commit: str) -> list[RemoteFile]:
        """List the files under a folder at a commit; empty if there is no such folder.

        Raises:
            RemoteError: The Hub does not return the list.
        """
        from huggingface_hub import RepoFile
        from huggingface_hub.errors import EntryNotFoundError

        with self._requesting():
            try:
                files = list(
                    self._api.list_repo_tree(self.repo, folder, recursive=True, revision=commit, repo_type="dataset")
                )
            except EntryNotFoundError:
                return []
        return [RemoteFile(file.path, file.size, file.blob_id) for file in files if isinstance(file, RepoFile)]

    def read(self, path: str, commit: str) -> bytes:
        """Return the content of a file at a commit.

        Raises:
            RemoteError: The Hub does not return the file.
        """
        with self._requesting(), tempfile.TemporaryDirectory() as folder:
            name = self._api.hf_hub_download(self.repo, path, revision=commit, repo_type="dataset", local_dir=folder)
            return Path(name).read_bytes()

    def commit(self, added: Mapping[str, bytes], removed: Iterable[str], *, parent: str, title: str) -> None:
        """Add and remove files in one commit, if nothing was committed since `parent`.

        Args:
            added: Path to content.
            removed: Paths.
            parent: The newest commit that the caller knows.
            title: Message of the commit.

        Raises:
            RemoteError: The commit may or may not exist. Read the repository before the next one.
        """
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        adding = [CommitOperationAdd(path, content) for path, content in added.items()]
        removing = [CommitOperationDelete(path, is_folder=False) for path in removed]
        with self._requesting():
            self._api.create_commit(
                self.repo, [*adding, *removing], repo_type="dataset", commit_message=title, parent_commit=parent
            )

    @contextmanager
    def _requesting(self) -> Iterator[None]:
        from huggingface_hub import errors, get_session
        from huggingface_hub.errors import HfHubHTTPError

        # The client has no timeout of its own, and a silent connection would stop all commits.
        get_session().timeout = _TIMEOUT_S
        http_error: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]
        try:
            yield
        except HfHubHTTPError as error:
            raise self._refused(error) from None  # its text and its origin must not reach a log
        except (http_error, OSError) as error:
            raise RemoteError(f"{self.repo}: the Hub cannot be reached ({type(error).__name__})") from None

    def _refused(self, error: HfHubHTTPError) -> RemoteError:
        status = error.response.status_code
        if status in _TEMPORARY or status >= 500:
            return RemoteError(f"{self.repo}: the Hub answered {status}", wait_s=_wait(error.response.headers))
        words = {
            401: "the Hub does not accept the token; set another as HF_TOKEN",
            403: "the token has no write access there; set one with write access as HF_TOKEN",
            404: "the Hub has no such dataset repository, or the token may not see it; create it, or fix RESULTS_REPO",
        }.get(status, f"the Hub answered {status}")
        return RemoteError(f"{self.repo}: {words}", lasting=True)


def _wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait, from HTTP's own header or from that of the Hub's rate limits, `"api";r=0;t=55`."""
    stated = re.fullmatch(r"(\d{1,6})", headers.get("retry-after", "")) or re.search(
        r"\br=0;t=(\d{1,6})", headers.get("ratelimit", "")
    )
    return None if stated is None else float(stated[1])
