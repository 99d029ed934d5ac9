"""A stand-in for the Hub on the loopback address: dataset repositories that can be made, written and read.

It speaks what `huggingface_hub` says when it creates a repository, uploads a folder and downloads files, and no more.
It shows that the client side works; it proves nothing about huggingface.co.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_writer"  # may write to "org"
READER = "hf_reader"  # may write nowhere
OWNER = "org"


class FakeHub:
    """Serves dataset repositories from memory while it is entered.

    Attributes:
        repos: Repository id to path to content.
        endpoint: Its address, for HF_ENDPOINT.
    """

    def __init__(self) -> None:
        self.repos: dict[str, dict[str, bytes]] = {}
        self.blobs: dict[str, bytes] = {}
        self.lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"hub": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
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


def _blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


_REPO = r"(?P<repo>[\w.-]+/[\w.-]+)"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: FakeHub

    def do_GET(self) -> None:
        self._serve()

    do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815 - the names are those of the base class

    def log_message(self, *arguments: object) -> None:
        pass

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = urlsplit(self.path).path
        routes: list[tuple[str, Callable[..., None]]] = [
            (r"/api/repos/create", self._create),
            (r"/api/validate-yaml", lambda body: self._json({"errors": [], "warnings": []})),
            (rf"/api/datasets/{_REPO}/preupload/\w+", self._preupload),
            (rf"/datasets/{_REPO}\.git/info/lfs/objects/batch", self._lfs),
            (r"/blobs/(?P<oid>\w+)", self._blob),
            (rf"/api/datasets/{_REPO}/commit/\w+", self._commit),
            (rf"/api/datasets/{_REPO}/tree/\w+(?:/(?P<under>.*))?", self._tree),
            (rf"/api/datasets/{_REPO}/paths-info/\w+", self._paths_info),
            (rf"/api/datasets/{_REPO}(?:/revision/\w+)?", self._info),
            (rf"/datasets/{_REPO}/resolve/\w+/(?P<path>.+)", self._resolve),
        ]
        with self.hub.lock:
            for pattern, answer in routes:
                found = re.fullmatch(pattern, path)
                if found is None:
                    continue
                names = found.groupdict()
                if "repo" in names and names["repo"] not in self.hub.repos:
                    self._refuse(404, "RepoNotFound")
                else:
                    answer(body, **names)
                return
        self._refuse(404, "EntryNotFound")

    def _may_write(self, owner: str) -> bool:
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if token not in (TOKEN, READER):
            self._refuse(401)
        elif token == READER or owner != OWNER:
            self._refuse(403)
        else:
            return True
        return False

    def _create(self, body: bytes) -> None:
        asked = json.loads(body)
        owner = asked.get("organization") or "nobody"
        repo = f"{owner}/{asked['name']}"
        if self._may_write(owner):
            exists = repo in self.hub.repos
            self.hub.repos.setdefault(repo, {})
            self._json({"url": f"{self.hub.endpoint}/datasets/{repo}", "id": repo}, 409 if exists else 200)

    def _preupload(self, body: bytes, repo: str) -> None:
        if self._may_write(repo.split("/")[0]):
            modes = {True: "lfs", False: "regular"}
            files = [
                {"path": file["path"], "uploadMode": modes[file["path"].endswith(".parquet")], "shouldIgnore": False}
                for file in json.loads(body)["files"]
            ]
            self._json({"files": files})

    def _lfs(self, body: bytes, repo: str) -> None:
        if self._may_write(repo.split("/")[0]):
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
        if not self._may_write(repo.split("/")[0]):
            return
        files = self.hub.repos[repo]
        for line in body.splitlines():
            entry = json.loads(line)
            value = entry["value"]
            match entry["key"]:
                case "file":
                    files[value["path"]] = base64.b64decode(value["content"])
                case "lfsFile":
                    files[value["path"]] = self.hub.blobs[value["oid"]]
                case "deletedFile":
                    del files[value["path"]]
        commit = self.hub.commit_id(repo)
        self._json({"success": True, "commitOid": commit, "commitUrl": f"{self.hub.endpoint}/{repo}/commit/{commit}"})

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
        siblings = [{"rfilename": path} for path in sorted(self.hub.repos[repo])]
        self._json(
            {
                "_id": "0",
                "id": repo,
                "sha": self.hub.commit_id(repo),
                "private": False,
                "gated": False,
                "disabled": False,
                "tags": [],
                "downloads": 0,
                "likes": 0,
                "siblings": siblings,
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
