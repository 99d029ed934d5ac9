"""Recognition of kinds of files by their first bytes, and the command that converts a file of another kind."""

from __future__ import annotations

import json
import re
import shlex
from typing import Literal, NamedTuple

from ..errors import plain, show, some

Kind = Literal["run", "csv", "trec", "json", "parquet", "mteb", "inspect"]
HEAD = 1 << 16  # bytes that decide

_COMPRESSED = {b"\x1f\x8b": "gzip", b"PK": "zip", b"\x28\xb5\x2f\xfd": "zstandard", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
_MARKS = {b"\xff\xfe\0\0": "utf-32", b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_TREC_RUN = re.compile(r"\S+\s+\S+\s+\S+\s+-?\d+\s+[-+]?(\d[\d.eE+-]*|\.\d[\d.eE+-]*|inf|nan)\s+\S+\s*", re.IGNORECASE)
_QRELS = re.compile(r"\S+\s+(0|Q0|-)\s+\S+\s+-?\d+\s*")
_Q0 = re.compile(r"\S+\s+Q0\s")
_JSON_PAIR = re.compile(r'"\s*:\s*["\[]')  # of a damaged line of JSON, which is no CSV
_KEY = re.compile(r'\s*\{\s*("(?:[^"\\]|\\.)*")\s*:\s*(.)', re.DOTALL)
_LINE_KEYS = ("thread_id", "ranking", "scores", "outcome", "n_answered", "id", "name", "predicted")
DELIMITERS = ",;\t|"


class FileKind(NamedTuple):
    """The kind of a file.

    Attributes:
        kind: A kind that `convert` reads; None for any other file.
        about: The file in words, for messages; empty for a prediction file and for an unknown file.
        encoding: Encoding of its text.
        is_result: Whether it holds scores or labels of some other program, and no ranking.
    """

    kind: Kind | None
    about: str = ""
    encoding: str = "utf-8"
    is_result: bool = False


def kind_of(head: bytes) -> FileKind:
    """Recognise a file by its first bytes.

    Args:
        head: The first bytes, at most `HEAD` of them matter.

    Returns:
        The kind. A file that looks like JSON lines of predictions is a "run".
    """
    head = head[:HEAD]
    if head.startswith(b"PAR1"):
        return FileKind("parquet", "a Parquet file")
    if head.startswith(b"PK") and (b"_journal/" in head or b"header.json" in head):
        return FileKind("inspect", "a log of Inspect")
    archive = next((name for magic, name in _COMPRESSED.items() if head.startswith(magic)), None)
    if archive:
        return FileKind(None, f"a {archive} archive")
    encoding = _encoding(head)
    text = head.decode(encoding, errors="ignore").lstrip()
    if text.startswith("{"):
        return _kind_of_object(text, encoding)
    if text.startswith("["):
        return FileKind("json", "a JSON array", encoding)
    line = text.splitlines()[0] if text else ""
    if _TREC_RUN.fullmatch(line) or _Q0.match(line):
        return FileKind("trec", "a TREC run", encoding)
    if _QRELS.fullmatch(line):
        return FileKind(None, "TREC relevance judgements (qrels)", encoding, is_result=True)
    if any(mark in line for mark in DELIMITERS) and not _JSON_PAIR.search(line):
        names = re.split(f"[{re.escape(DELIMITERS)}]", line)
        about = f"CSV with the columns {some([plain(name) for name in names])}"
        return FileKind("csv", about, encoding)
    return FileKind(None, "", encoding)


def other_kind(head: bytes, file: str, dataset: str, expected: str) -> str | None:
    """Explain why a file is no prediction file, in one sentence with the command to run.

    Args:
        head: The first bytes of the file.
        file: The file, as the user named it.
        dataset: The dataset, as the user named it.
        expected: The expected form.

    Returns:
        The message without the name of the file. None if the file may be a prediction file, or is of no known kind.
    """
    kind = kind_of(head)
    command = convert_command(file, dataset)
    if kind.kind == "run":
        other = f"found {kind.encoding[:6].upper()}, expected UTF-8; save it as UTF-8, or convert it: {command}"
        return None if kind.encoding.startswith("utf-8") else other
    if not kind.about:
        return None
    if kind.is_result:
        return f"found {kind.about}, and no ranking; {expected}"
    if kind.kind is None:
        return f"found {kind.about}; unpack it first"
    return f"found {kind.about}; {expected}. Convert it: {command}"


def convert_command(file: str, dataset: str) -> str:
    """Return the command that converts a file to a run folder."""
    return (
        f"python -m musicrs_metric convert {shlex.quote(file)} --to run --dataset {shlex.quote(dataset)} --out FOLDER"
    )


def _encoding(head: bytes) -> str:
    marked = next((encoding for mark, encoding in _MARKS.items() if head.startswith(mark)), None)
    if marked:
        return marked
    # Without a mark: every other byte of Latin text in UTF-16 is 0.
    if len(head) >= 4 and not head[1] and not head[3]:
        return "utf-16-le"
    if len(head) >= 4 and not head[0] and not head[2]:
        return "utf-16-be"
    return "utf-8"


def _kind_of_object(text: str, encoding: str) -> FileKind:
    """Recognise a text that starts with a JSON object, which may be cut."""
    if _has_keys(text, "mteb_model_meta"):
        return FileKind("mteb", "predictions of mteb", encoding)
    if _has_keys(text, "mteb_version", "task_name"):
        about = "a result file of mteb, which holds scores alone; its rankings are in the `prediction_folder`"
        return FileKind(None, about, encoding, is_result=True)
    if _has_keys(text, "evaluation_id", "schema_version"):
        return FileKind(None, "a result of Every Eval Ever", encoding, is_result=True)
    if _has_keys(text, "version", "status", "eval"):
        return FileKind("inspect", "a log of Inspect", encoding)
    first = _KEY.match(text)
    if first is None:
        return FileKind("run", encoding=encoding)
    try:
        key = json.loads(first[1])
    except ValueError:
        return FileKind("run", encoding=encoding)
    if key not in _LINE_KEYS and first[2] in "[{":
        return FileKind("json", f"one JSON object whose first key is {show(key)}", encoding)
    return FileKind("run", encoding=encoding)


def _has_keys(text: str, *names: str) -> bool:
    """Return whether a text of JSON has all of the keys. A title is followed by no colon."""
    return all(re.search(rf'"{name}"\s*:', text) for name in names)
