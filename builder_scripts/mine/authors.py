"""Pseudonyms of authors within one corpus, and the recognition of bots."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from musicrs_metric.base.files import write_text
from musicrs_metric.errors import UserError

_SALT_BYTES = 32
_GONE = ("[deleted]", "[removed]", "")
# Bots that the rule of `is_bot` does not recognise.
_BOTS = frozenset(
    {"automoderator", "autowikibot", "imguralbumbot", "sneakpeekbot", "totesmessenger", "youtubefactsbot"}
)
_BOT_NAME = re.compile(r"(?i:.*[^a-z]bot|bot[^a-z].*|bot)|.*[a-z0-9]Bot")


def author_salt(path: Path) -> bytes:
    """Read the random key of the pseudonyms of a corpus, or create it.

    Args:
        path: The file, readable by its owner alone. The key reveals the authors behind pseudonyms, so it must never be
            published. With the same key, a later run makes the same pseudonyms.

    Raises:
        UserError: The file does not hold a key.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        write_text(path, [os.urandom(_SALT_BYTES).hex(), "\n"])
    text = path.read_text(encoding="utf-8").strip()
    if not re.fullmatch(rf"[0-9a-f]{{{2 * _SALT_BYTES}}}", text):
        raise UserError(
            f"{path}: expected {2 * _SALT_BYTES} hexadecimal digits; put the file back, or start a new folder"
        )
    return bytes.fromhex(text)


class Pseudonyms:
    """Pseudonyms: 20 hexadecimal digits, equal for equal names in any case, with one salt.

    Args:
        salt: From `author_salt`.
    """

    def __init__(self, salt: bytes) -> None:
        self._keyed = hashlib.blake2b(key=salt, digest_size=10)

    def of(self, name: object) -> str | None:
        """Return the pseudonym of an author. None without a name, or for a deleted account."""
        if not isinstance(name, str):
            return None
        name = name.lower()  # Reddit's names do not depend on case
        if name in _GONE:
            return None
        digest = self._keyed.copy()
        digest.update(name.encode("utf-8", "replace"))
        return digest.hexdigest()


def is_bot(name: object) -> bool:
    """Return True for the name of a bot.

    Bots are AutoModerator and other well-known accounts, and names with `bot` as a separate word (`lyrics_bot`,
    `bot-9000`, `LyricsBot`). A name such as `talbot` belongs to a person.

    Examples:
        >>> [is_bot(name) for name in ("AutoModerator", "lyrics_bot", "LyricsBot", "talbot", "Botticelli")]
        [True, True, True, False, False]
    """
    if not isinstance(name, str):
        return False
    lowered = name.lower()
    return lowered in _BOTS or ("bot" in lowered and _BOT_NAME.fullmatch(name) is not None)
