"""Variables that a cluster or a container left behind: one line, or a run of one process; never a traceback."""

from __future__ import annotations

import os

import pytest

from baselines.run.processes import device, launched
from musicrs_metric.errors import UserError

_NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
_WHOLE = {"WORLD_SIZE": "2", "RANK": "0", "LOCAL_RANK": "0", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "9"}


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(("variables", "message"), [
    ({"RANK": "0", "WORLD_SIZE": "2"}, "RANK=0, WORLD_SIZE=2, but LOCAL_RANK, MASTER_ADDR, MASTER_PORT not set"),
    ({"WORLD_SIZE": "2"}, "RANK not set, WORLD_SIZE=2, but RANK, LOCAL_RANK, MASTER_ADDR, MASTER_PORT not set"),
    ({"WORLD_SIZE": "abc"}, "WORLD_SIZE='abc' in the environment: expected a number from 1"),
    ({"WORLD_SIZE": "0"}, "WORLD_SIZE='0' in the environment"),
    ({"WORLD_SIZE": "-2"}, "WORLD_SIZE='-2' in the environment"),
    ({"WORLD_SIZE": "2", "RANK": "x"}, "RANK='x' in the environment"),
    ({"WORLD_SIZE": "2", "RANK": "2"}, "RANK=2, WORLD_SIZE=2: expected a RANK below"),
    ({"WORLD_SIZE": "1", "RANK": "1"}, "RANK=1, WORLD_SIZE=1: expected a RANK below"),
    (_WHOLE | {"MASTER_PORT": "x"}, "MASTER_PORT='x'"),
    (_WHOLE | {"MASTER_PORT": "70000"}, "MASTER_PORT=70000"),
    (_WHOLE | {"LOCAL_RANK": "7"}, "LOCAL_RANK=7"),
])  # fmt: skip
def test_what_no_launcher_set_is_refused(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], message: str
) -> None:
    """The line names the variables and how to unset them."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=message) as refused:
        launched()
    assert "unset RANK WORLD_SIZE" in str(refused.value)


@pytest.mark.parametrize("variables", [
    {}, {"WORLD_SIZE": ""}, {"WORLD_SIZE": "1", "RANK": "0"}, {"RANK": "3"}, {"LOCAL_RANK": "0"},
    {"OMPI_COMM_WORLD_SIZE": "2"}, {"PMI_SIZE": "4", "LOCAL_RANK": "1"},
])  # fmt: skip
def test_one_process_is_one_whatever_was_left_behind(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    """Also for systems that need a device; the variables are left as they were."""
    pytest.importorskip("accelerate")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    before = dict(os.environ)
    assert (launched().rank, launched().world) == (0, 1)
    assert device().type in ("cpu", "cuda", "mps")
    assert {name: os.environ.get(name) for name in _NAMES} == {name: before.get(name) for name in _NAMES}
