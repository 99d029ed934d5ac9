"""`convert`: round trips through every kind of file, other programs' scores on the files, and refusals that help."""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from musicrs_metric.convert import json_file, trec
from musicrs_metric.convert.parquet_file import from_frame, table_of
from musicrs_metric.convert.rankings import Rankings, title_id
from musicrs_metric.convert.readers import read_rankings
from musicrs_metric.convert.trec import to_ir_measures, to_ranx, trec_tables
from musicrs_metric.convert.write import write
from musicrs_metric.errors import UserError
from musicrs_metric.runs.prediction_line import Prediction
from musicrs_metric.runs.predictions import PREDICTIONS, read_predictions, write_predictions
from musicrs_metric.runs.read import score_predictions
from musicrs_metric.runs.references import References

from .support import TINY, Outcome, columns_of, references_of, run_cli, write_lines, write_repo

Cli = Callable[..., Outcome]

# Titles that files tend to lose: separators, quotes, line ends, blanks, numbers, and words that mean "no value".
HARD = [
    "Eins, zwei", 'Say "Yes"', "Tab\there", "Line\u2028end", " leading", "trailing ", "1999", "None", "True", "nan",
    "NA", "=1+1", "'=1+1", "-", "a;b", "a;=b", "a|b", "back\\slash", "a\\tb", "two\nlines", "cr\rhere", "crlf\r\nhere",
    "'quoted'", "[1, 2]", "{}", "日本語", "é", "e\u0301", "\ufeffmark", "null", "''", "#1", "0", "1e5",
]  # fmt: skip


def references_with(titles: Sequence[str]) -> References:
    """Two threads with the same pool; the second has an empty ground truth."""
    return references_of(
        [
            {"name": "t3_a", "source_subreddit": "jazz", "final_candidates": list(titles), "limited_gt": [titles[0]]},
            {"name": "t3_b", "source_subreddit": "jazz", "final_candidates": list(titles), "limited_gt": []},
        ]
    )


def there_and_back(predictions: list[Prediction], references: References, kind: Any, folder: Path) -> list[Prediction]:
    """Predictions after a file of a kind, and its reader, which recognises it."""
    paths = [line for line in write(Rankings(predictions, {}, []), references, kind, str(folder)) if "/" in line]
    return read_rankings(Path(paths[0]), references).predictions


@pytest.mark.parametrize("kind", ["csv", "parquet", "json", "trec", "run"])
def test_round_trip(kind: str, tmp_path: Path) -> None:
    """Every ranking returns as it was, whatever its titles hold."""
    references = references_with(HARD)
    shuffled = HARD[:]
    random.Random(1).shuffle(shuffled)
    predictions = [Prediction("t3_a", tuple(shuffled)), Prediction("t3_b", tuple(HARD))]
    back = there_and_back(predictions, references, kind, tmp_path / kind)
    assert [(each.thread_id, each.ranking) for each in back] == [(each.thread_id, each.ranking) for each in predictions]


text = st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda t: any(map(str.isalnum, t))
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(titles=st.lists(st.one_of(text, st.sampled_from(HARD)), min_size=2, max_size=8, unique=True), data=st.data())
def test_round_trip_of_any_title(titles: list[str], data: st.DataObject, tmp_path_factory: Any) -> None:
    """CSV and Parquet keep every field, the others every ranking; titles outside the pool too."""
    known = titles[: len(titles) // 2 + 1]
    references = references_with(known)
    ranking = tuple(data.draw(st.permutations(titles)))
    scores = tuple(float(len(ranking) - i) / 3 for i in range(len(ranking)))
    full = Prediction("t3_a", ranking, scores, "ok", min(1, len(ranking)))
    for kind in ("csv", "parquet"):
        folder = tmp_path_factory.mktemp("kinds")
        assert there_and_back([full, Prediction("t3_b", ())], references, kind, folder) == [
            full,
            Prediction("t3_b", ()),
        ]
    (back,) = there_and_back([full], references, "json", tmp_path_factory.mktemp("kinds"))
    assert back.ranking == ranking
    # A TREC run writes a title as the candidate that it names, so the scores return and not every spelling.
    trec_back = there_and_back([full], references, "trec", tmp_path_factory.mktemp("kinds"))
    before, after = (score_predictions(each, references, confidence=None).scores for each in ([full], trec_back))
    assert before.values == after.values
    assert before.n_unknown == after.n_unknown


def test_the_matching_rule_reaches_other_programs() -> None:
    """Another spelling, a repeat, an unknown title, and one outside the pool that is relevant: ir_measures agrees."""
    ir_measures = pytest.importorskip("ir_measures")
    rows = [
        {
            "name": "t3_a",
            "source_subreddit": "jazz",
            "final_candidates": ["Ade", "Bop", "Cool", "Dig"],
            "limited_gt": ["Bop", "Out"],
        }
    ]
    references = references_of(rows)
    prediction = Prediction("t3_a", ("Out", "new", "new", "bop", "Bop", "Ade"))
    qrels, run = to_ir_measures(trec_tables([prediction], references))
    measures = [ir_measures.R @ 5, ir_measures.nDCG @ 5, ir_measures.RR]
    found = ir_measures.calc_aggregate(measures, qrels, run)
    scores = score_predictions([prediction], references, k=5, confidence=None).scores.values
    expected = {"recall@5": 1 / 2, "mrr": 1 / 4}  # by hand: Bop is fourth; Out is in no pool and cannot be found
    assert {name: scores[name] for name in expected} == pytest.approx(expected)
    assert found[measures[0]] == pytest.approx(expected["recall@5"])
    assert found[measures[2]] == pytest.approx(expected["mrr"])
    assert found[measures[1]] == pytest.approx(scores["ndcg@5"])


@pytest.mark.figures
@pytest.mark.upstream
def test_other_programs_score_the_exported_files(upstream_rows: list[dict[str, Any]], tmp_path: Path) -> None:
    """File order on the published data: their means over 472 threads times 472/477 are this project's values."""
    ir_measures, pytrec_eval, ranx = map(pytest.importorskip, ("ir_measures", "pytrec_eval", "ranx"))
    references = references_of(upstream_rows)
    predictions = [Prediction(row["name"], tuple(row["final_candidates"])) for row in upstream_rows]
    list(write(Rankings(predictions, {}, []), references, "trec", str(tmp_path)))
    expected = {"recall@20": 0.206090, "ndcg@20": 0.142711, "mrr": 0.215283}
    qrels = list(ir_measures.read_trec_qrels(str(tmp_path / trec.QRELS)))
    run = list(ir_measures.read_trec_run(str(tmp_path / trec.RUN)))
    measures = {"recall@20": ir_measures.R @ 20, "ndcg@20": ir_measures.nDCG @ 20, "mrr": ir_measures.RR}
    found = ir_measures.calc_aggregate(list(measures.values()), qrels, run)
    assert {name: found[each] * 472 / 477 for name, each in measures.items()} == pytest.approx(expected, abs=1e-6)
    tables = trec_tables(predictions, references)
    assert len(tables.qrels) == 472
    names = {"recall@20": "recall_20", "ndcg@20": "ndcg_cut_20", "mrr": "recip_rank"}
    judged = pytrec_eval.RelevanceEvaluator(tables.qrels, {"recall.20", "ndcg_cut.20", "recip_rank"}).evaluate(
        tables.run
    )
    sums = {name: sum(values[key] for values in judged.values()) / 477 for name, key in names.items()}
    assert sums == pytest.approx(expected, abs=1e-6)
    means = ranx.evaluate(*to_ranx(tables), list(expected), make_comparable=True)
    assert {name: means[name] * 472 / 477 for name in expected} == pytest.approx(expected, abs=1e-6)


REFERENCES = references_of(TINY)

# Forms of one ranking: Dig, then Bop, of thread t3_a.
FORMS = {
    "long.csv": "thread_id,rank,title\nt3_a,2,Bop\nt3_a,1,Dig\n",
    "long from 0.csv": "qid;position;item\nt3_a;1;Bop\nt3_a;0;Dig\n",
    "scores.csv": "query-id,corpus-id,score\nt3_a,Bop,-1.5\nt3_a,Dig,2e3\n",
    "order.csv": "Thread,Title\nt3_a,Dig\nt3_a,Bop\n",
    "wide.csv": "thread_id,1,2,3\nt3_a,Dig,Bop,\n",
    "wide named.csv": "id\trank_2\trank_1\nt3_a\tBop\tDig\n",
    "threads as columns.csv": "rank,t3_a\n1,Dig\n2,Bop\n",
    "list.csv": 'thread_id,ranking\nt3_a,"[""Dig"", ""Bop""]"\n',
    "list of pandas.csv": "thread_id,ranking\nt3_a,\"['Dig', 'Bop']\"\n",
    "mark.csv": "\ufeffthread_id,rank,title\nt3_a,1,Dig\nt3_a,2,Bop\n",
    "carriage returns.csv": "thread_id,rank,title\rt3_a,1,Dig\rt3_a,2,Bop\r",
    "titles.json": '{"t3_a": ["Dig", "Bop"]}',
    "scores.json": '{"t3_a": {"Bop": 0.1, "Dig": 0.7}}',
    "pairs.json": '{"t3_a": [["Bop", 1], ["Dig", 2]]}',
    "array.json": '[{"thread_id": "t3_a", "ranking": ["Dig", "Bop"]}]',
    "ids.json": json.dumps({"t3_a": {title_id("Bop"): 1, title_id("Dig"): 2}}),
    "rank under ranking.csv": "thread_id,ranking,title\nt3_a,2,Bop\nt3_a,1,Dig\n",
    "post and list.csv": "thread_id,title,ranking\nt3_a,My post,\"['Dig', 'Bop']\"\n",
    "pretty.json": '{\n  "t3_a": [\n    "Dig",\n    "Bop"\n  ]\n}\n',
    "run.txt": f"t3_a Q0 {title_id('Bop')} 1 0.5 tag\nt3_a Q0 {title_id('Dig')} 2 0.9 tag\n",
    "lines.jsonl": '{"thread_id": "t3_a", "ranking": ["Dig", "Bop"]}\n',
    "carriage returns.jsonl": '{"thread_id": "t3_a", "ranking": ["Dig", "Bop"]}\r',
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("name", FORMS)
def test_forms_are_recognised(name: str, encoding: str, tmp_path: Path) -> None:
    """Each form is read without an option, also as spreadsheets save it."""
    path = tmp_path / name
    path.write_bytes(FORMS[name].encode(encoding))
    (prediction,) = read_rankings(path, REFERENCES).predictions
    assert (prediction.thread_id, prediction.ranking) == ("t3_a", ("Dig", "Bop"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "thread_id,rank,title\nt3_a,1,Dig\nt3_a,1,Bop\n", "rank 1 twice"),
        ("a.csv", "thread_id,rank,title\nt3_a,one,Dig\n", "line 2, column 'rank': found 'one'"),
        ("a.csv", "thread_id,rank,title\nt3_a,1,Dig, Bop\n", "line 2: found 4 cells, expected 3"),
        ("a.csv", "thread_id,score,title\nt3_a,nan,Dig\n", "expected a finite number"),
        ("a.csv", "thread_id,1,2\nt3_a,,Dig\n", "rank 1 is blank"),
        ("a.csv", "thread_id,1\nt3_a,Dig\nt3_a,Bop\n", "is already in line 2"),
        ("a.csv", "thread_id,1,3\nt3_a,Dig,Bop\n", "have a gap"),
        ("a.csv", "thread_id,score,title\nt3_a,1,Dig\nt3_a,2,Bop\nt3_a,3,Dig\n", "'Dig' has two scores"),
        ("a.csv", "t3_a,1,Dig\nt3_a,2,Bop\n", "the first row holds no names of columns, found"),
        ("a.csv", "t3_a,notes\nDig,x\n", "names the thread t3_a, and notes, which is no thread"),
        ("a.csv", "thread_id,ranking\nt3_a,['Dig' 'Bop']\n", "expected a list of titles"),
        ("a.csv", "colour,size\nred,1\n", "found the columns colour, size"),
        ("a.csv", "t3_a,Dig,Bop\nt3_b,Ash,Bog\n", "the first row holds no names of columns, found 't3_a'"),
        ("a.csv", "thread_id,title\nt3_z,Dig\n", "not in dataset here"),
        ("a.csv", "thread_id,title\nT3_A ,Dig\n", "expected 't3_a'"),
        ("a.csv", 'thread_id,title\nt3_a,"Dig\n', "expected closed quotes"),
        ("a.json", '{"t3_a": ["Dig"], "t3_a": ["Bop"]}', "appears twice"),
        ("a.json", '{"t3_a": "Dig"}', "found the keys 't3_a'"),
        ("a.json", '{"t3_a": [1, 2]}', "a.json: thread t3_a, field 'ranking': item 1 is 1, expected text"),
        ("a.json", '{"t3_a": {"Dig": NaN}}', "NaN is not a JSON number"),
        ("run", "t3_a Q0 abc 1 5.0 tag\n", "no docid is known, such as 'abc'"),
        ("run", "t3_a Q0 abc 1 5.0 tag\nt3_a Q0 So What 2 4.0 tag\n", "line 2: found 7 columns"),
        ("run", f"t3_a Q0 {title_id('Dig')} 1 2 one\nt3_a Q0 {title_id('Bop')} 1 2 two\n", "of the runs one and two"),
        ("qrels", "t3_a 0 abc 1\n", "relevance judgements"),
        (
            "r.json",
            '{"dataset_revision": "1", "task_name": "X", "mteb_version": "2", "scores": {}}',
            "prediction_folder",
        ),
        ("x.gz", "\x1f\x8b", "unpack it first"),
        ("x.txt", "hello\n", "of no known kind, found hello"),
        ("x.txt", "", "of no known kind, found nothing"),
    ],
)
def test_refusals(name: str, content: str, message: str, tmp_path: Path) -> None:
    """Place, content, and what is expected, in one line."""
    path = tmp_path / name
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(UserError) as error:
        read_rankings(path, REFERENCES)
    assert message in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "content", "note"),
    [
        ("a.json", '{"t3_a": {"Dig": 1, "Bop": 2}}', "are 1, 2, 3, ..., as ranks are. The highest counts as the best."),
        ("a.csv", "thread_id,title,score\nt3_a,Dig,0\nt3_a,Bop,1\n", "as ranks are"),
        ("a.csv", "thread_id,rank,title\nt3_a,1,Dig\nt3_a,3,Bop\n", "the ranks of 1 thread, such as t3_a, have a gap"),
        ("a.csv", "thread_id,rank,title\nt3_a,1,Dig\nt3_a,2,Nova\n", "1 of 2 ranked titles name no candidate"),
    ],
)
def test_warnings(name: str, content: str, note: str, tmp_path: Path) -> None:
    """A file that can be read in two ways, or that seems to lack rows, is read with a warning."""
    path = tmp_path / name
    path.write_text(content)
    (found,) = read_rankings(path, REFERENCES).notes
    assert note in found


def test_other_files_have_no_warning(tmp_path: Path) -> None:
    """Scores that count down beside ranks are no ranks, and ranks may start at 0."""
    path = tmp_path / "a.csv"
    path.write_text("thread_id,rank,title,score\nt3_a,0,Dig,2\nt3_a,1,Bop,1\n")
    assert read_rankings(path, REFERENCES).notes == []
    path.write_text("thread_id,title,score\nt3_a,Dig,0.5\nt3_a,Bop,0.25\n")
    assert read_rankings(path, REFERENCES).notes == []


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    """A named pipe would block while its kind is recognised."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UserError, match="name its kind with --from"):
        read_rankings(tmp_path / "pipe", REFERENCES)


def test_ids_with_two_titles(tmp_path: Path) -> None:
    """The table of ids names each id once."""
    (tmp_path / "run.trec").write_text("t3_a Q0 1 1 2 tag\n")
    (tmp_path / "docids.tsv").write_text("1\tDig\n1\tBop\n")
    with pytest.raises(UserError, match="line 2: the id 1 has two titles"):
        read_rankings(tmp_path, REFERENCES)


def test_frames(tmp_path: Path) -> None:
    """A pandas frame is read; numbers and missing values in place of titles are refused, never written as text."""
    import pandas as pd

    frame = pd.DataFrame({"thread_id": ["t3_a", "t3_a"], "title": ["Bop", "Dig"], "score": [0.1, 0.2]})
    (prediction,) = from_frame(frame, REFERENCES).predictions
    assert prediction.ranking == ("Dig", "Bop")
    assert from_frame(table_of([prediction]).to_pandas(), REFERENCES).predictions == [prediction]
    assert from_frame(frame.set_index("thread_id"), REFERENCES).predictions == [prediction]
    with pytest.raises(UserError, match="'title' appears twice"):
        from_frame(frame[["thread_id", "title", "title"]], REFERENCES)
    for value in (1999, True):
        with pytest.raises(UserError, match="keep_default_na=False"):
            from_frame(frame.assign(title=[value, value]), REFERENCES)


def test_equal_scores_keep_the_order_of_the_pool() -> None:
    """As every system of the project does, so a file cannot gain from the order of its keys."""
    rankings = json_file.from_json({"t3_a": {"Dig": 1, "Bop": 1, "Ade": 1, "Cool": 2}}, "f", REFERENCES)
    assert rankings.predictions[0].ranking == ("Cool", "Ade", "Bop", "Dig")


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return lambda *arguments: run_cli(capsys, monkeypatch, *arguments)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_repo(tmp_path / "data", columns_of(REFERENCES))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("long.csv", b"thread_id,rank,item\nt3_a,1,Bop\n", "found CSV with the columns thread_id, rank, item"),
        ("semi.csv", b"thread_id;rank;item\nt3_a;1;Bop\n", "found CSV"),
        ("run.trec", b"t3_a Q0 abc 1 5 tag\n", "found a TREC run"),
        ("dict.json", b'{"t3_a": ["Bop"]}', "found one JSON object whose first key is 't3_a'"),
        ("pretty.json", b'{\n  "t3_a": [\n    "Bop"\n  ]\n}\n', "found one JSON object whose first key is 't3_a'"),
        ("titles.trec", b"t3_a Q0 So What 1 5 tag\n", "found a TREC run"),
        ("array.json", b'[{"thread_id": "t3_a", "ranking": ["Bop"]}]', "found a JSON array"),
        ("le.jsonl", FORMS["lines.jsonl"].encode("utf-16"), "found UTF-16, expected UTF-8"),
        ("be.jsonl", FORMS["lines.jsonl"].encode("utf-16-be"), "found UTF-16, expected UTF-8"),
        ("x.parquet", b"PAR1....", "found a Parquet file"),
    ],
)
def test_other_kinds_are_named_once(
    cli: Cli, data: Path, tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    """`validate` answers a file of another kind with one fault that holds the command (case M21 and its neighbours)."""
    path = tmp_path / name
    path.write_bytes(content)
    outcome = cli("validate", "-p", path, "-d", data)
    assert outcome.code == 2
    assert words in outcome.err
    assert f"python -m musicrs_metric convert {path} --to run --dataset {data} --out FOLDER" in outcome.err
    assert "refused: 1 fault" in outcome.err
    assert "cut off" not in outcome.err


@pytest.mark.parametrize("thread", ["t3_a ", " t3_a", "T3_A", "a", '"t3_a"', "t3_a\u200b"])
def test_an_id_that_is_nearly_right(cli: Cli, data: Path, tmp_path: Path, thread: str) -> None:
    """The id as written, and the right one (case M21)."""
    path = write_lines(tmp_path / "p.jsonl", [{"thread_id": thread, "ranking": ["Bop"]}])
    outcome = cli("validate", "-p", path, "-d", data)
    assert outcome.code == 2
    assert f"found {thread!r}, expected 't3_a'" in outcome.err


def test_carriage_returns_alone(tmp_path: Path) -> None:
    """Lines that end as on old systems are read, each with its number."""
    path = tmp_path / "p.jsonl"
    path.write_bytes(b'{"thread_id": "t3_a", "ranking": ["Bop"]}\r{"thread_id": "t3_b", "ranking": ["Cog"]}\r{')
    with pytest.raises(UserError, match="line 3: not JSON"):
        read_predictions(path)
    path.write_bytes(path.read_bytes()[:-1])
    assert [each.thread_id for each in read_predictions(path).predictions] == ["t3_a", "t3_b"]


def test_the_case_files(cli: Cli, cases: Path, tmp_path: Path) -> None:
    """Case M21 as it was reported."""
    words = {
        "cr_only.jsonl": (0, "3 predictions, no fault"),
        "long.csv": (2, "found CSV with the columns thread_id, rank, item"),
        "trailing_space.jsonl": (2, "found 't3_mini01 ', expected 't3_mini01'"),
        "utf16le_bom.jsonl": (2, "found UTF-16"),
    }
    mini = [TINY[0] | {"name": f"t3_mini{i:02}"} for i in range(1, 29)]
    data = write_repo(tmp_path / "mini", columns_of(references_of(mini)))
    for name, (code, text) in words.items():
        outcome = cli("validate", "-p", cases / "m21" / name, "-d", data)
        assert outcome.code == code
        assert text in outcome.out + outcome.err


def test_a_run_keeps_its_card(cli: Cli, data: Path, tmp_path: Path) -> None:
    """A run folder converts with its card, a file without facts ends with the command that writes one."""
    write_predictions(tmp_path / "run" / PREDICTIONS, [Prediction("t3_a", ("Bop",))])
    cli("card", tmp_path / "run", "--name", "mine", "--modality", "query_only", "--paradigm", "retrieval",
        "--reads", "thread", "-d", data)  # fmt: skip
    assert cli("convert", tmp_path / "run", "--to", "run", "-d", data, "--out", tmp_path / "copy").code == 0
    assert (tmp_path / "copy" / "run.json").read_text() == (tmp_path / "run" / "run.json").read_text()
    again = cli("convert", tmp_path / "run", "--to", "run", "-d", data, "--out", tmp_path / "copy")
    assert (again.code, "holds a run already" in again.err) == (2, True)
    (tmp_path / "d.json").write_text('{"t3_a": ["Bop"]}')
    outcome = cli("convert", tmp_path / "d.json", "--to", "run", "-d", data, "--out", tmp_path / "new")
    assert "python -m musicrs_metric card" in outcome.out
    refused = cli("convert", tmp_path / "d.json", "--to", "eee", "-d", data, "--out", tmp_path / "eee")
    assert (refused.code, "found no name" in refused.err) == (2, True)


def eee_schemas() -> Path:
    """The folder of the schemas, which `make` takes from the wheel of every-eval-ever."""
    folder = Path(os.environ.get("MUSICRS_EEE_SCHEMAS", Path(sys.prefix, "share", "eee", "every_eval_ever", "schemas")))
    if not folder.is_dir():
        pytest.skip("the schemas of Every Eval Ever are absent: `make .venv/.eee` takes them from its wheel")
    return folder


def test_eee_follows_the_schema(cli: Cli, data: Path, tmp_path: Path) -> None:
    """Aggregate and samples pass the schemas of Every Eval Ever 0.3.0, and hold our numbers."""
    jsonschema = pytest.importorskip("jsonschema")
    write_predictions(tmp_path / "run" / PREDICTIONS, [Prediction("t3_a", ("Bop", "Ade")), Prediction("t3_b", ())])
    cli("card", tmp_path / "run", "--name", "mine", "--modality", "query_only", "--paradigm", "retrieval",
        "--reads", "thread", "-d", data, "--model-id", "org/model", "--open-weights")  # fmt: skip
    outcome = cli("convert", tmp_path / "run", "--to", "eee", "-d", data, "--out", tmp_path / "eee")
    assert outcome.code == 0, outcome.err
    (aggregate,) = (tmp_path / "eee").glob("data/musicrs/org/model/*.json")
    (samples,) = (tmp_path / "eee").glob("data/musicrs/org/model/*_samples.jsonl")
    schemas = eee_schemas()
    read = [
        json.loads((schemas / name).read_text()) for name in ("eval.schema.json", "instance_level_eval.schema.json")
    ]
    whole = json.loads(aggregate.read_text())
    jsonschema.Draft7Validator(read[0]).validate(whole)
    rows = [json.loads(line) for line in samples.read_text().split("\n") if line]
    for row in rows:
        jsonschema.Draft7Validator(read[1]).validate(row)
    details = whole["detailed_evaluation_results"]
    assert tmp_path / "eee" / details["file_path"] == samples
    assert (details["total_rows"], len(rows)) == (9, 9)  # three threads, three measures
    results = {each["metric_config"]["metric_name"]: each["score_details"] for each in whole["evaluation_results"]}
    assert results["mrr"]["score"] == pytest.approx(1 / 3)  # t3_a finds Bop first; the others score 0
    means = [
        sum(row["evaluation"]["score"] for row in rows if row["metadata"]["measure"] == name) / 3 for name in results
    ]
    assert means == pytest.approx([result["score"] for result in results.values()])
    assert float(results["recall@20"]["details"]["chance"]) == pytest.approx((1 + 1 + 0) / 3, abs=1e-6)
