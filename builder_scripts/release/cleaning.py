"""Cleaning of every text before its release: removed entries, pseudonyms, personal data."""

from __future__ import annotations

from collections.abc import Callable

from musicrs_dataset.personal import ACCOUNT, account_name, redact

from ..mine.authors import Pseudonyms
from .takedown import Takedown

Clean = Callable[[str], str]


def without_names(text: str, pseudonyms: Pseudonyms) -> str:
    """Replace the accounts that a text mentions by their pseudonyms.

    Args:
        text: Any text, or JSON.
        pseudonyms: Pseudonyms of the corpus, so that a mention and an author of the same account have one pseudonym.
    """
    return ACCOUNT.sub(lambda match: f"{match[1]}{pseudonyms.of(account_name(match))}", text)


def cleaning(takedown: Takedown, pseudonyms: Pseudonyms, *, redacting: bool) -> Clean:
    """Return the function that cleans texts.

    Args:
        takedown: Removes every trace of its entries.
        pseudonyms: Replace the accounts that texts mention.
        redacting: Replace other personal data by placeholders.
    """

    def clean(text: str) -> str:
        # Names first: a pseudonym does not look like a telephone number.
        text = takedown.redact(without_names(text, pseudonyms))
        return redact(text) if redacting else text

    return clean
