"""A stand-in for the Hub on the loopback address: repositories that can be made, written, read, and that can fail.

It speaks what `huggingface_hub` says when it creates a repository, commits, opens a pull request and downloads files,
and no more. It shows that the client side works; it proves nothing about huggingface.co.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_writer"  # may write to "org"
READER = "hf_reader"  # may write nowhere, and open pull requests everywhere
OWNER = "org"

# What a process needs, besides HF_ENDPOINT and HF_TOKEN, to take the stand-in for the Hub.
ONLINE = {"HF_HUB_OFFLINE": "0", "HF_DATASETS_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}


@dataclass
class Fault:
    """A failure that meets the next requests whose address holds a text.

    Attributes:
        where: Part of the address, such as "/commit/".
        status: What is answered; 0 drops the connection without an answer.
        times: How many requests it meets.
        retry_after: Seconds to wait, told in the answer.
        after: Whether what was asked is done first, and only its answer lost.
    """

    where: str
    status: int
    times: int = 1
    retry_after: int | None = None
    after: bool = False


@dataclass(frozen=True)
class Commit:
    """What was written at once.

    Attributes:
        repo: The repository.
        title: Its message.
        added: Paths written.
        pull: Number of the pull request that it opened; None for a commit to the main branch.
        files: The files of a pull request.
    """

    repo: str
    title: str
    added: tuple[str, ...]
    pull: int | None
    files: dict[str, bytes]


class FakeHub:
    """Serves repositories from memory while it is entered.

    Attributes:
        repos: Repository to path to content. Its name is that of its page: `org/model`, `datasets/org/data`,
            `spaces/org/app`.
        commits: All commits, pull requests among them, in order.
        faults: Failures to come.
        asked: "METHOD address" of every request.
        endpoint: Its address, for HF_ENDPOINT.
    """

    def __init__(self) -> None:
        self.repos: dict[str, dict[str, bytes]] = {}
        self.blobs: dict[str, bytes] = {}
        self.commits: list[Commit] = []
        self.faults: list[Fault] = []
        self.asked: list[str] = []
        self.lock = threading.RLock()
        handler = type("Handler", (_Handler,), {"hub": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.shutdown()
        self.server.server_close()

    def commit_id(self, repo: str) -> str:
        """A name for the present state of a repository."""
        state = json.dumps({path: _blob_id(content) for path, content in sorted(self.repos[repo].items())})
        return hashlib.sha1(f"{repo} {state}".encode()).hexdigest()

    def merge(self, pull: int) -> None:
        """Accept a pull request: its files become those of the repository."""
        commit = next(commit for commit in self.commits if commit.pull == pull)
        with self.lock:
            self.repos[commit.repo].update(commit.files)

    def take_fault(self, address: str) -> Fault | None:
        """The failure that meets a request, if any; it is used up by it."""
        for fault in self.faults:
            if fault.where in address:
                fault.times -= 1
                if fault.times == 0:
                    self.faults.remove(fault)
                return fault
        return None


@lru_cache(10_000)
def _blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


_REPO = r"(?P<repo>(?:datasets/|spaces/)?[\w.-]+/[\w.-]+)"
_API_REPO = r"(?P<repo>(?:models|datasets|spaces)/[\w.-]+/[\w.-]+)"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: FakeHub
    muted = False

    def do_GET(self) -> None:
        self._serve()

    do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815 - the names are those of the base class

    def log_message(self, *arguments: object) -> None:
        pass

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.hub.lock:
            self.hub.asked.append(f"{self.command} {self.path}")
            fault = self.hub.take_fault(self.path)
            if fault is not None:
                self.muted = fault.after
                if fault.after:
                    self._route(body)
                self.muted = False
                self._fail(fault)
            else:
                self._route(body)

    def _fail(self, fault: Fault) -> None:
        if fault.status:
            wait = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
            self._refuse(fault.status, headers=wait)
        else:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True

    def _route(self, body: bytes) -> None:
        path = urlsplit(self.path).path
        routes: list[tuple[str, Callable[..., None]]] = [
            (r"/api/repos/create", self._create),
            (r"/api/validate-yaml", lambda body: self._json({"errors": [], "warnings": []})),
            (rf"/api/{_API_REPO}/preupload/\w+", self._preupload),
            (rf"/{_REPO}\.git/info/lfs/objects/batch", self._lfs),
            (r"/blobs/(?P<oid>\w+)", self._blob),
            (rf"/api/{_API_REPO}/commit/\w+", self._commit),
            (rf"/api/{_API_REPO}/tree/\w+(?:/(?P<under>.*))?", self._tree),
            (rf"/api/{_API_REPO}/paths-info/\w+", self._paths_info),
            (rf"/api/{_API_REPO}(?:/revision/\w+)?", self._info),
            (rf"/{_REPO}/resolve/\w+/(?P<path>.+)", self._resolve),
        ]
        for pattern, answer in routes:
            found = re.fullmatch(pattern, path)
            if found is None:
                continue
            names = found.groupdict()
            if "repo" in names:
                names["repo"] = names["repo"].removeprefix("models/")
                if names["repo"] not in self.hub.repos:
                    self._refuse(404, "RepoNotFound")
                    return
            answer(body, **names)
            return
        self._refuse(404, "EntryNotFound")

    def _user(self) -> str | None:
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        return token if token in (TOKEN, READER) else None

    def _may_write(self, repo: str, *, pull: bool = False) -> bool:
        user = self._user()
        if user is None:
            self._refuse(401)
        elif not pull and (user == READER or repo.split("/")[-2] != OWNER):
            self._refuse(403)
        else:
            return True
        return False

    def _is_pull(self) -> bool:
        return parse_qs(urlsplit(self.path).query).get("create_pr") == ["1"]

    def _create(self, body: bytes) -> None:
        asked = json.loads(body)
        kind = asked.get("type") or "model"
        repo = f"{asked.get('organization') or 'nobody'}/{asked['name']}"
        page = repo if kind == "model" else f"{kind}s/{repo}"
        if self._may_write(repo):
            exists = page in self.hub.repos
            self.hub.repos.setdefault(page, {})
            self._json({"url": f"{self.hub.endpoint}/{page}", "id": repo}, 409 if exists else 200)

    def _preupload(self, body: bytes, repo: str) -> None:
        if self._may_write(repo, pull=self._is_pull()):
            modes = {True: "lfs", False: "regular"}
            files = [
                {"path": file["path"], "uploadMode": modes[file["path"].endswith(".parquet")], "shouldIgnore": False}
                for file in json.loads(body)["files"]
            ]
            self._json({"files": files})

    def _lfs(self, body: bytes, repo: str) -> None:
        if self._may_write(repo):
            objects = [
                {**asked, "actions": {"upload": {"href": f"{self.hub.endpoint}/blobs/{asked['oid']}"}}}
                for asked in json.loads(body)["objects"]
            ]
            self._json({"transfer": "basic", "objects": objects})

    def _blob(self, body: bytes, oid: str) -> None:
        if hashlib.sha256(body).hexdigest() == oid:
            self.hub.blobs[oid] = body
            self._json({})
        else:
            self._refuse(400)

    def _commit(self, body: bytes, repo: str) -> None:
        pull = self._is_pull()
        if not self._may_write(repo, pull=pull):
            return
        head, *changes = [json.loads(line) for line in body.splitlines()]
        if head["value"].get("parentCommit") not in (None, self.hub.commit_id(repo)):
            self._refuse(412)
            return
        files, added = dict(self.hub.repos[repo]), []
        for entry in changes:
            value = entry["value"]
            match entry["key"]:
                case "file":
                    files[value["path"]] = base64.b64decode(value["content"])
                case "lfsFile":
                    files[value["path"]] = self.hub.blobs[value["oid"]]
                case "deletedFile":
                    del files[value["path"]]
            if entry["key"] != "deletedFile":
                added.append(value["path"])
        number = 1 + sum(commit.pull is not None for commit in self.hub.commits) if pull else None
        self.hub.commits.append(Commit(repo, head["value"]["summary"], tuple(added), number, files))
        if not pull:
            self.hub.repos[repo] = files
        commit, page = self.hub.commit_id(repo), f"{self.hub.endpoint}/{repo}"
        answer = {"success": True, "commitOid": commit, "commitUrl": f"{page}/commit/{commit}"}
        self._json(answer | ({"pullRequestUrl": f"{page}/discussions/{number}"} if pull else {}))

    def _tree(self, body: bytes, repo: str, under: str | None) -> None:
        deep = parse_qs(urlsplit(self.path).query).get("recursive", [""])[0].lower() in ("true", "1")
        start = f"{unquote(under)}/" if under else ""
        inside = {path: content for path, content in self.hub.repos[repo].items() if path.startswith(start)}
        folders = {path[: path.index("/", len(start))] for path in inside if "/" in path[len(start) :]}
        if under and not inside:
            self._refuse(404, "EntryNotFound")
            return
        files = [_file(path, inside[path]) for path in inside if deep or "/" not in path[len(start) :]]
        self._json([_folder(path) for path in sorted(folders)] + files)

    def _paths_info(self, body: bytes, repo: str) -> None:
        text = body.decode()
        paths = json.loads(text)["paths"] if text.startswith("{") else parse_qs(text).get("paths", [])
        files = self.hub.repos[repo]
        known = [_file(path, files[path]) for path in paths if path in files]
        self._json(known + [_folder(p) for p in paths if any(path.startswith(f"{p}/") for path in files)])

    def _info(self, body: bytes, repo: str) -> None:
        files = self.hub.repos[repo]
        self._json(
            {
                "_id": "0",
                "id": "/".join(repo.split("/")[-2:]),
                "sha": self.hub.commit_id(repo),
                "private": False,
                "gated": False,
                "disabled": False,
                "tags": [],
                "downloads": 0,
                "likes": 0,
                "siblings": [{"rfilename": path} for path in sorted(files)],
                "lastModified": "2025-01-01T00:00:00.000Z",
            }
        )

    def _resolve(self, body: bytes, repo: str, path: str) -> None:
        content = self.hub.repos[repo].get(unquote(path))
        commit = {"X-Repo-Commit": self.hub.commit_id(repo)}
        if content is None:
            self._refuse(404, "EntryNotFound", commit)
            return
        headers = {**commit, "ETag": f'"{_blob_id(content)}"', "Accept-Ranges": "bytes"}
        asked = re.match(r"bytes=(\d+)-(\d*)", self.headers.get("Range") or "")
        if asked is None:
            self._send(200, content, headers)
            return
        first, last = int(asked[1]), int(asked[2] or len(content) - 1)
        headers["Content-Range"] = f"bytes {first}-{last}/{len(content)}"
        self._send(206, content[first : last + 1], headers)

    def _refuse(self, status: int, code: str = "", headers: dict[str, str] | None = None) -> None:
        told = {"X-Error-Code": code, "X-Error-Message": code} if code else {}
        self._send(status, json.dumps({"error": code or "refused"}).encode(), {**told, **(headers or {})})

    def _json(self, value: Any, status: int = 200) -> None:
        self._send(status, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        if self.muted:
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _file(path: str, content: bytes) -> dict[str, Any]:
    return {"type": "file", "path": path, "size": len(content), "oid": _blob_id(content)}


def _folder(path: str) -> dict[str, Any]:
    return {"type": "directory", "path": path, "size": 0, "oid": "0" * 40}
