"""Whatever is sent: a refusal in words or a submission that is sound, never anything else, in bounded memory.

MUSICRS_FUZZ says how many uploads are drawn; the seed of each is in the message of a failure.
"""

from __future__ import annotations

import os
import resource
from math import isfinite
from random import Random

import pytest

from space.board.data import LeaderboardData
from space.board.judging import judge
from space.intake import IntakeError, take
from space.settings import Limits
from space.store.files import read_submission, to_bytes
from space.store.local import LocalStore
from space.submission import Submission

from . import mutations

UPLOADS = int(os.environ.get("MUSICRS_FUZZ", "400"))
LIMITS = Limits()
MOST_BYTES = 48_000_000


def check(one: Submission, data: LeaderboardData, store: LocalStore) -> None:
    """A submission is what the validator lets through, can be read back, and can be scored."""
    card, design = one.card, data.by_fingerprint[one.card.fingerprint]
    assert card.name.isprintable() or "\u200d" in card.name
    assert 0 < len(card.name) <= LIMITS.name
    assert one.link is None or one.link.startswith("https://")
    assert "@" not in one.description
    assert read_submission(to_bytes(one), f"{one.key}.jsonl") == one
    assert one.partial == (len(one.predictions) < len(design.references))
    scores = judge(one.predictions, design).scores
    assert all(value is not None and isfinite(value) and 0 <= value <= 1 for value in scores.values.values())
    if store.put(one).state == "stored":
        assert store.get(one.key) == one


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.figures
def test_spoilt_uploads(data: LeaderboardData, store: LocalStore) -> None:
    """Not one of them ends in an error of ours, and what is stored is sound."""
    n_taken = n_refused = 0
    before = _peak_bytes()
    for seed in range(UPLOADS):
        rng = Random(seed)
        upload, form, card = mutations.upload(rng), mutations.form(rng), mutations.run_card(rng)
        try:
            taken = take(upload, form, data, LIMITS, card=card)
        except IntakeError as error:
            n_refused += 1
            refused = error.faults
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
        else:
            n_taken += 1
            refused = ()
            check(taken.submission, data, store)
        for fault in refused:
            assert fault.message.isprintable(), f"seed {seed}: {fault}"
            assert len(str(fault)) < 1000, f"seed {seed}: {fault}"
    grown = _peak_bytes() - before
    assert grown < MOST_BYTES
    assert not store.set_aside()
    # Both ways are walked: the mutations are neither all fatal nor all harmless.
    assert n_taken > UPLOADS / 20
    assert n_refused > UPLOADS / 3
    print(f"{UPLOADS} uploads: {n_taken} taken, {n_refused} refused, {grown / 1e6:.1f} MB more memory")
