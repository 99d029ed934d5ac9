"""Uploads, forms and run cards that somebody spoilt, drawn from a seed: bytes, lines, values, archives."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from random import Random
from typing import Any

from space.intake import SubmissionForm

from .toy import FORM, bomb, card, gzipped, jsonl, lines, ranked, zipped

VALUES: list[Any] = [
    None, True, False, 0, -1, 3.5, 1e308, 10**400, "", " ", "Ash", "\0", "\u202e", "\u200b", "e" + "\u0301" * 40,
    "=1+1", "<script>", "x" * 10_000, [], ["Ash"], [["Ash"]], [None], ["Ash", 1], {}, {"a": {}}, "t3_a", "t3_z", "ok",
    "audio_query", "pools", "retrieval", "https://a.b", "javascript:1", "a@b.cc", "\U0001f3b7", "wider",
]  # fmt: skip
TOKENS = [
    b"\n", b"\r", b"\0", b'"', b"{", b"}", b"[", b"]", b",", b":", b"NaN", b"Infinity", b"1e999", b"\xff", b"null",
    b"\\u0000", b"\\ud800", b"\\", b'{"thread_id": "t3_a", "ranking": ["Ash"]}\n', b"PK\x03\x04", b"PK\x01\x02",
    b"PK\x05\x06", b"\x1f\x8b", b"[" * 5_000, b"9" * 5_000, b"\n" * 5_000, b"t3_a", b"scores", b"ranking",
    b"\xef\xbb\xbf",
]  # fmt: skip


def upload(rng: Random) -> bytes:
    """A prediction file, good or spoilt in its values, its bytes or its packing."""
    rows = lines(ranked(rng.randrange(5)))
    for _ in range(rng.choice([0, 0, 0, 1, 3])):
        _spoil_values(rng, rows)
    content = jsonl(rows)
    if rng.random() < 0.2:
        content = _spoil_bytes(rng, content)
    content = rng.choice(_PACKINGS if rng.random() < 0.7 else _ODD_PACKINGS)(content)
    for _ in range(rng.choice([0, 0, 0, 1, 4])):
        content = _spoil_bytes(rng, content)
    return content


def form(rng: Random) -> SubmissionForm:
    """A form with some fields that are not what they should be."""
    made = FORM
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        made = replace(made, **{rng.choice(fields(SubmissionForm)).name: rng.choice(VALUES)})
    return replace(made, partial=True) if rng.random() < 0.5 else made


def run_card(rng: Random) -> bytes | None:
    """No card, or one with some fields that are not what they should be, or with spoilt bytes."""
    if rng.random() < 0.7:
        return None
    values = {name: value for name, value in asdict(card()).items() if value is not None}
    names = [*asdict(card()), "link", "description", "partial", "else"]
    for _ in range(rng.choice([0, 1, 2])):
        values[rng.choice(names)] = rng.choice(VALUES)
    for name in rng.sample(list(values), rng.choice([0, 0, 1])):
        del values[name]
    content = json.dumps(values, ensure_ascii=rng.random() < 0.5).encode(errors="surrogatepass")
    return _spoil_bytes(rng, content) if rng.random() < 0.2 else content


def _spoil_values(rng: Random, rows: list[Any]) -> None:
    place = rng.randrange(len(rows))
    if not isinstance(rows[place], dict) or not rows[place]:
        return
    row = dict(rows[place])
    match rng.randrange(6):
        case 0:
            row[rng.choice(["thread_id", "ranking", "scores", "outcome", "n_answered", "id", "predicted"])] = (
                rng.choice(VALUES)
            )
        case 1:
            row.pop(rng.choice(list(row)))
        case 2 if isinstance(row.get("ranking"), list):
            row["ranking"] = [*row["ranking"], rng.choice(VALUES)]
        case 3 if isinstance(row.get("ranking"), list):
            row["scores"] = [rng.choice([1.0, 2, float("nan"), None]) for _ in row["ranking"]]
        case 4:
            rows.append(row)
        case _:
            rows[place] = rng.choice(VALUES)
            return
    rows[place] = row


def _spoil_bytes(rng: Random, content: bytes) -> bytes:
    if not content:
        return rng.choice(TOKENS)
    start = rng.randrange(len(content))
    end = min(len(content), start + rng.choice([1, 2, 8, 64, len(content)]))
    match rng.randrange(6):
        case 0:
            return content[:start] + bytes([content[start] ^ (1 << rng.randrange(8))]) + content[start + 1 :]
        case 1:
            return content[:start] + content[end:]
        case 2:
            return content[:start] + rng.choice(TOKENS) + content[start:]
        case 3:
            return content[:end] + content[start:]
        case 4:
            return content[:start]
        case _:
            return content[:start] + rng.randbytes(end - start) + content[end:]


_PACKINGS: list[Callable[[bytes], bytes]] = [
    lambda content: content,
    gzipped,
    lambda content: gzipped(content[: len(content) // 2]) + gzipped(content[len(content) // 2 :]),
    lambda content: zipped({"p.jsonl": content}),
    lambda content: zipped({"p.jsonl": content}, zipfile.ZIP_STORED),
    lambda content: zipped({"a/p.jsonl": content, "__MACOSX/a/._p.jsonl": b"\0"}),
]
_ODD_PACKINGS: list[Callable[[bytes], bytes]] = [
    lambda content: zipped({"p.jsonl": content}, zipfile.ZIP_LZMA),
    lambda content: zipped({"../p.jsonl": content}),
    lambda content: zipped({"p.jsonl": content, "q.jsonl": content}),
    lambda content: zipped({"p.jsonl": gzipped(content)}),
    lambda content: gzipped(gzipped(content)),
    lambda content: bomb(b"\n" * 1000, 2_000, start=content),
]
