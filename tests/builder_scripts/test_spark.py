"""Spark gives what this machine gives: the same mined files, and the same threads and replies."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from builder_scripts.cli import app
from builder_scripts.layout import Work
from builder_scripts.manifest import StageManifest
from builder_scripts.threads.options import ThreadsOptions
from builder_scripts.threads.run import run
from musicrs_metric.errors import UserError

from .conftest import Done, Made
from .test_mine import hashes

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table")  # how Ibis 12 asks DuckDB 2 for Arrow
needs_spark = [
    pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed"),
    pytest.mark.skipif(not (shutil.which("java") or os.environ.get("JAVA_HOME")), reason="there is no Java"),
]


@pytest.fixture(scope="module")
def by_spark(done: Done, tmp_path_factory: pytest.TempPathFactory) -> Work:
    """The mined rows of the tests, filtered by Spark."""
    work = Work(tmp_path_factory.mktemp("spark"))
    shutil.copytree(done.work.bronze, work.bronze)
    with pytest.MonkeyPatch.context() as patch:  # a Java that starts fast rather than one that runs fast
        java = "--driver-java-options '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC' pyspark-shell"
        patch.setenv("PYSPARK_SUBMIT_ARGS", java)
        run(work, ThreadsOptions(engine="spark"))
    return work


class TestOnSpark:
    """What needs Spark."""

    pytestmark = needs_spark

    @pytest.mark.parametrize("table", ["threads", "replies"])
    def test_the_same_rows(self, filtered: Work, by_spark: Work, table: str) -> None:
        """Neither engine has a row that the other has not, in any column, copies counted."""
        here, there = (f"'{work.silver / f'{table}.parquet'}'" for work in (filtered, by_spark))
        with duckdb.connect() as connection:
            for one, other in ((here, there), (there, here)):
                query = f"SELECT count(*) FROM (FROM {one} EXCEPT ALL FROM {other})"
                assert connection.execute(query).fetchall() == [(0,)]
            assert connection.execute(f"SELECT count(*) FROM {there}").fetchall()[0][0] > 50

    def test_the_same_reasons(self, filtered: Work, by_spark: Work) -> None:
        """Both leave out the same number of rows for each reason, and write the same files."""
        one, other = (StageManifest.read(work.silver, "threads") for work in (filtered, by_spark))
        assert one.counts == other.counts
        assert one.outputs == other.outputs

    def test_mining(self, made: Made, done: Done, tmp_path: Path) -> None:
        """Spark's workers make the same files as the processes of this machine."""
        work = Work(tmp_path)
        work.salt.parent.mkdir()
        shutil.copy(done.work.salt, work.salt)
        options = ["mine", str(made.folder), "--work", str(tmp_path), "--executor", "spark", "--workers", "2"]
        told = CliRunner().invoke(app, options)
        assert told.exit_code == 0, told.output
        assert hashes(work) == hashes(done.work)


def test_no_java(filtered: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Java, Spark is refused in one line."""
    pytest.importorskip("pyspark")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match="needs Java 17"):
        run(filtered, ThreadsOptions(min_replies=4, engine="spark"))


def test_no_pyspark(filtered: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyspark, the extra that brings it is told."""
    monkeypatch.setitem(__import__("sys").modules, "pyspark.sql", None)
    with pytest.raises(UserError, match=r"pip install 'musicrs\[spark\]'"):
        run(filtered, ThreadsOptions(min_replies=4, engine="spark"))
