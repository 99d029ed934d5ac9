"""The results repository on the Hub: what is in it, and one commit after the other, each on top of a known state."""

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
_PASSING = (408, 409, 412, 429)  # and all from 500: the same request may succeed later


class RemoteError(Exception):
    """Why the Hub did not do what it was asked for.

    Attributes:
        words: One line for the owner of the board; never an answer or an error text, which could hold a token.
        wait_s: Seconds after which the Hub wants to be asked again; None where it does not say.
        lasting: Whether it will not pass until the owner does something.
    """

    def __init__(self, words: str, *, wait_s: float | None = None, lasting: bool = False) -> None:
        super().__init__(words)
        self.words, self.wait_s, self.lasting = words, wait_s, lasting


class RemoteFile(NamedTuple):
    """A file of the repository.

    Attributes:
        path: Where it lies.
        size: Bytes.
        blob: A hash of its content.
    """

    path: str
    size: int
    blob: str


class ResultsRepo:
    """A dataset repository on the Hub.

    Args:
        repo: `owner/name`.
        token: A token with the right to write to it.
        endpoint: Address of the Hub; None for HF_ENDPOINT or huggingface.co.

    Raises:
        UserError: `repo` is no `owner/name`.
    """

    def __init__(self, repo: str, token: str, endpoint: str | None = None) -> None:
        from huggingface_hub import HfApi

        self.repo = repo_id(repo, "RESULTS_REPO")
        self._api = HfApi(endpoint=endpoint, token=token)

    def commit_id(self) -> str:
        """The newest commit of its main branch.

        Raises:
            RemoteError: The Hub does not tell.
        """
        with self._asking():
            return str(self._api.dataset_info(self.repo, timeout=_TIMEOUT_S).sha)

    def files(self, folder: str, commit: str) -> list[RemoteFile]:
        """The files under a folder, at a commit; none where there is no such folder.

        Raises:
            RemoteError: The Hub does not tell.
        """
        from huggingface_hub import RepoFile
        from huggingface_hub.errors import EntryNotFoundError

        with self._asking():
            try:
                found = list(
                    self._api.list_repo_tree(self.repo, folder, recursive=True, revision=commit, repo_type="dataset")
                )
            except EntryNotFoundError:
                return []
        return [RemoteFile(one.path, one.size, one.blob_id) for one in found if isinstance(one, RepoFile)]

    def read(self, path: str, commit: str) -> bytes:
        """The content of a file, at a commit.

        Raises:
            RemoteError: The Hub does not give it.
        """
        with self._asking(), tempfile.TemporaryDirectory() as folder:
            name = self._api.hf_hub_download(self.repo, path, revision=commit, repo_type="dataset", local_dir=folder)
            return Path(name).read_bytes()

    def commit(self, added: Mapping[str, bytes], removed: Iterable[str], *, parent: str, title: str) -> None:
        """Add and remove files in one commit, if nothing has been committed since `parent`.

        Args:
            added: Path to content.
            removed: Paths.
            parent: The newest commit that the caller knows.
            title: What is done.

        Raises:
            RemoteError: It is not known whether the commit was made; look again before the next.
        """
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        adding = [CommitOperationAdd(path, content) for path, content in added.items()]
        removing = [CommitOperationDelete(path, is_folder=False) for path in removed]
        with self._asking():
            self._api.create_commit(
                self.repo, [*adding, *removing], repo_type="dataset", commit_message=title, parent_commit=parent
            )

    @contextmanager
    def _asking(self) -> Iterator[None]:
        from huggingface_hub import errors, get_session
        from huggingface_hub.errors import HfHubHTTPError

        # The client has no time limit of its own, and a connection that is silent for ever would stop all commits.
        get_session().timeout = _TIMEOUT_S
        http_error: type[Exception] = errors.HTTPError  # type: ignore[attr-defined]
        try:
            yield
        except HfHubHTTPError as error:
            raise self._refused(error) from None  # what it says and whence it came are not for a log
        except (http_error, OSError) as error:
            raise RemoteError(f"{self.repo}: the Hub cannot be reached ({type(error).__name__})") from None

    def _refused(self, error: HfHubHTTPError) -> RemoteError:
        status = error.response.status_code
        if status in _PASSING or status >= 500:
            return RemoteError(f"{self.repo}: the Hub answered {status}", wait_s=_wait(error.response.headers))
        words = {
            401: "the Hub does not accept the token; set another as HF_TOKEN",
            403: "the token has no right to write there; set one with write access as HF_TOKEN",
            404: "the Hub has no such dataset repository, or the token may not see it; make it, or mend RESULTS_REPO",
        }.get(status, f"the Hub answered {status}")
        return RemoteError(f"{self.repo}: {words}", lasting=True)


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: HTTP's own header, or that of the Hub's rate limits, `"api";r=0;t=55`."""
    told = re.fullmatch(r"(\d{1,6})", headers.get("retry-after", "")) or re.search(
        r"\br=0;t=(\d{1,6})", headers.get("ratelimit", "")
    )
    return None if told is None else float(told[1])
