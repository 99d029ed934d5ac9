"""Text encoders and rerankers with tiny checkpoints, against transformers called one text at a time."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines.data import Data, as_references
from baselines.embedding.batches import embed_tokens
from baselines.embedding.encoder_files import find_encoder
from baselines.embedding.pair_scorer import INSTRUCTION, PairScorer
from baselines.embedding.text_embedder import TextEmbedder
from baselines.launch import build_system
from baselines.system import Context
from musicrs_metric.errors import UserError
from tests.baselines import tiny_texts
from tests.baselines.toys import run_toy, thread

CONTEXT = Context(modality="query_only")
TEXTS = [
    "so what",
    "blue in green",
    "a slow song with piano, please",
    "so",
    "can you recommend some fast music from r/jazz? " * 2,
]
KINDS = [("bert", "mean_tokens"), ("bert", "cls_token"), ("mpnet", "mean_tokens"), ("qwen3", "lasttoken")]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Path]:
    return {
        key: tiny_texts.save(tmp_path_factory.mktemp("-".join(key)) / "m", *key[:1], pooling=key[1]) for key in KINDS
    }


def reference(folder: Path, pooling: str, texts: list[str]) -> Any:
    """The vectors by transformers, all texts in one batch with padding on the left for the last token."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    side = "left" if pooling == "lasttoken" else "right"
    tokenizer, model = (
        AutoTokenizer.from_pretrained(folder, padding_side=side),
        AutoModel.from_pretrained(folder).eval(),
    )
    inputs = tokenizer(texts, padding=True, return_tensors="pt")
    inputs.pop("token_type_ids", None)
    with torch.inference_mode():
        states = model(**inputs).last_hidden_state
    mask = inputs["attention_mask"][..., None]
    pooled = {
        "mean_tokens": (states * mask).sum(1) / mask.sum(1),
        "cls_token": states[:, 0],
        "lasttoken": states[:, -1],
    }
    return torch.nn.functional.normalize(pooled[pooling], dim=1).numpy()


@pytest.mark.parametrize("key", KINDS)
def test_vectors_are_those_of_transformers(key: tuple[str, str], folders: dict[tuple[str, str], Path]) -> None:
    """Pooling and limits come from the model's files; batch and single text agree to the last digit."""
    embed = TextEmbedder(find_encoder(str(folders[key])), CONTEXT)
    vectors = embed(TEXTS)
    assert vectors == pytest.approx(reference(folders[key], key[1], TEXTS), abs=1e-5)
    alone = TextEmbedder(find_encoder(str(folders[key])), CONTEXT)
    assert np.array_equal(np.concatenate([alone([text]) for text in TEXTS]), vectors)
    assert np.abs(vectors - vectors.mean(axis=0)).max() > 0.05  # the texts differ at all


def test_settings_come_from_the_files_unless_the_user_sets_them(tmp_path: Path) -> None:
    folder = tiny_texts.save(tmp_path / "m", "mpnet", pooling="cls_token")
    assert find_encoder(str(folder))[3:6] == ("cls", 64, 64)  # 66 positions, two of them for no token
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 20}')
    assert find_encoder(str(folder)).max_tokens == 20
    assert find_encoder(str(folder), "last", 30)[3:5] == ("last", 30)
    with pytest.raises(UserError, match="--max-tokens 65: expected 2 to 64"):
        find_encoder(str(folder), None, 65)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "states pooling_mode_max_tokens; set --pooling"),
        ("1_Pooling/config.json", {}, "states no pooling; set --pooling to mean, cls or last"),
        ("modules.json", [{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}], "names Dense, which"),
        ("modules.json", "damaged", "modules.json is not readable"),
    ],
)
def test_models_that_would_be_wrong_are_refused(tmp_path: Path, file: str, content: Any, message: str) -> None:
    folder = tiny_texts.save(tmp_path / "m", "bert")
    (folder / file).write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(UserError, match=message):
        find_encoder(str(folder))


def test_missing_weights_are_no_random_weights(tmp_path: Path) -> None:
    """transformers would draw them; here the run stops and names a key."""
    from safetensors.torch import load_file, save_file

    folder = tiny_texts.save(tmp_path / "m", "bert")
    state = load_file(folder / "model.safetensors")
    state.pop("encoder.layer.1.output.dense.weight")
    save_file(state, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match=r"lacks 1 key: encoder\.layer\.1\.output\.dense\.weight"):
        TextEmbedder(find_encoder(str(folder)), CONTEXT)(TEXTS)


def data(n: int = 6) -> Data:
    names = ["So What", "Blue in Green", "A slow song", "Fast song", "Piano"]
    threads = [
        thread(
            f"t{i}",
            names[i % 2 :],
            [names[2]],
            query=TEXTS[i % 5] + f" {i}",
            subreddit="jazz" if i < 4 else "pop",
            submission_entities=(names[i % 3],) if i else (),
        )
        for i in range(n)
    ]
    return Data(threads, as_references(threads, "toy", "query_only"))


def scores_of(arguments: list[str], folder: Path, out: Path, model: str = "text_encoder") -> tuple[Any, Any]:
    system = build_system(model, "query_only", ["--weights", str(folder), *arguments])
    result = run_toy(system, data(), out)
    return {p.thread_id: dict(zip(p.ranking, p.scores or (), strict=True)) for p in result.predictions}, result.card


@pytest.mark.parametrize(
    ("arguments", "reads"),
    [
        (["--subtract", "nothing"], "thread"),
        (["--subtract", "request"], "thread"),
        ([], "pools"),
        (["--subtract", "all"], "pools"),
    ],
)
@pytest.mark.parametrize("prefix", [False, True])
def test_scores_are_those_of_the_definition(
    arguments: list[str], reads: str, prefix: bool, folders: dict[tuple[str, str], Path], tmp_path: Path
) -> None:
    """q.c less g.c, in numpy, from vectors by transformers."""
    folder = folders["bert", "mean_tokens"]
    instruct = "Instruct: find music\nQuery: " if prefix else ""
    options = ["--instruction", "find music", "--name-prefix", "{genre} music: "] if prefix else []
    scores, card = scores_of([*arguments, *options], folder, tmp_path / "out")
    assert (card.reads, card.extra["encoder"]) == (reads, {"pooling": "mean", "max_tokens": 64})
    threads = data().threads

    def embed(texts: list[str]) -> Any:
        return reference(folder, "mean_tokens", texts).astype(np.float64)

    queries = embed([instruct + (each.query or "") for each in threads])
    for index, each in enumerate(threads):
        group = [i for i, other in enumerate(threads) if "all" in arguments or other.subreddit == each.subreddit]
        g = queries[group].mean(axis=0)
        if "request" in arguments:
            g = embed([f"{instruct}Can you recommend some music from r/{each.subreddit}?"])[0]
        g = g * ("nothing" not in arguments)
        names = embed([("Jazz music: " if prefix else "") + name for name in each.candidates])
        expected = dict(zip(each.candidates, names @ (queries[index] - g), strict=True))
        assert scores[each.thread_id] == pytest.approx(expected, abs=1e-5)


def test_a_lone_thread_takes_the_mean_of_all(folders: dict[tuple[str, str], Path]) -> None:
    """Its own query less itself is nothing: all candidates would tie, and nobody would know."""
    system = build_system("text_encoder", "query_only", ["--weights", str(folders["bert", "cls_token"])])
    threads = list(data(5).threads)  # the fifth is alone in r/pop
    system.prepare(threads)
    assert system.warnings() == ["1 subreddit with a single query: the mean of all queries is subtracted, as in r/pop"]
    with pytest.raises(UserError, match="all threads have one query"):
        system.prepare(threads[:1])


def test_named_is_the_largest_cosine(folders: dict[tuple[str, str], Path], tmp_path: Path) -> None:
    """A named title itself scores 1; a thread that names nothing keeps its order at 0."""
    scores, card = scores_of([], folders["mpnet", "mean_tokens"], tmp_path / "out", "named")
    assert scores["t0"] == dict.fromkeys(data().threads[0].candidates, 0.0)
    assert scores["t1"]["Blue in Green"] == pytest.approx(1, abs=1e-6)
    assert max(scores["t1"].values()) == scores["t1"]["Blue in Green"]
    assert card.reads == "thread"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--query-prefix", "{Genre}: "], r"--query-prefix: holds \{Genre\}; expected \{genre\} or \{subreddit\}"),
        (["--name-prefix", "{ genre }"], r"--name-prefix: holds \{ genre \}"),
        (["--instruction", "{sub-reddit}"], r"--instruction: holds \{sub-reddit\}"),
        (["--max-tokens", "0"], "--max-tokens 0: expected 2 to 64"),
        (["--max-tokens", "65"], "--max-tokens 65: expected 2 to 64"),
        (["--instruction", "a", "--query-prefix", "b"], "one sets the other"),
        (["--request", "music"], "--request: needs --subtract request"),
        (["--max-tokens", "1"], "--max-tokens 1: expected 2 to 64"),
    ],
)
def test_options_that_mean_nothing(arguments: list[str], message: str, folders: dict[tuple[str, str], Path]) -> None:
    with pytest.raises(UserError, match=message):
        build_system("text_encoder", "query_only", ["--weights", str(folders["bert", "mean_tokens"]), *arguments])
    with pytest.raises(UserError, match="--weights: missing"):
        build_system("text_encoder", "query_only")


def broken(folder: Path, copy: Path, fault: str) -> Path:
    """A copy of a checkpoint with one fault."""
    import torch
    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, copy)
    weights = load_file(copy / "model.safetensors")
    if fault == "no tokenizer":
        for file in copy.glob("tokenizer*"):
            file.unlink()
    elif fault == "torn tokenizer":
        (copy / "tokenizer.json").write_text("{}")
    elif fault == "list":
        (copy / "config.json").write_text("[]")
    elif fault == "code":
        (copy / "model.safetensors").unlink()
        torch.save({**weights, "more": Path("a")}, copy / "pytorch_model.bin")
    else:
        factor = float(fault)
        save_file({key: factor * value for key, value in weights.items()}, copy / "model.safetensors", {"format": "pt"})
    return copy


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("no tokenizer", "no tokenizer in it"),
        ("torn tokenizer", "its tokenizer cannot be loaded"),
        ("list", "config.json holds a list of 0"),
        ("code", "its .bin file holds more than tensors"),
    ],
)
@pytest.mark.parametrize("model", ["text_encoder", "reranker"])
def test_broken_checkpoints_end_the_run_in_one_line(
    model: str, fault: str, message: str, folders: dict[tuple[str, str], Path], tmp_path: Path
) -> None:
    """transformers would make a tokenizer that knows no word, and unpickling would run code."""
    folder = folders["bert", "mean_tokens"]
    if model == "reranker":
        folder = tiny_texts.save(tmp_path / "m", "bert", "ForSequenceClassification")
    with pytest.raises(UserError, match=rf"--weights .*: .*{message}"):
        scores_of([], broken(folder, tmp_path / "broken", fault), tmp_path / "out", model)


@pytest.mark.parametrize("factor", ["nan", "0"])
def test_no_cached_vector_is_0_or_not_finite(factor: str, folders: dict[tuple[str, str], Path], tmp_path: Path) -> None:
    """Likeness to such a vector would keep the order of the pool, in this run and in every later one."""
    folder = broken(folders["bert", "mean_tokens"], tmp_path / "m", factor)
    embed = TextEmbedder(find_encoder(str(folder)), Context(modality="query_only", cache=tmp_path / "cache"))
    with pytest.raises(ValueError, match="the model gave 2 of 2 texts a vector that is 0 or not finite"):
        embed(TEXTS[:2])
    embed.save()
    assert not (tmp_path / "cache").exists()


def test_a_text_without_tokens_has_no_vector() -> None:
    with pytest.raises(ValueError, match="has no tokens for this model"):
        embed_tokens([[1], []], 64, 0, CONTEXT.device, lambda ids, _: ids)


PAIRS = [(query, name) for query in ("so what?", TEXTS[4]) for name in ("so what", "blue in green", "a")]


@pytest.mark.parametrize(("kind", "labels"), [("bert", 1), ("bert", 2), ("mpnet", 1)])
def test_heads_score_as_transformers_does(kind: str, labels: int, tmp_path: Path) -> None:
    """Pairs one at a time, with token types where the model has them; two labels give a difference."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = tiny_texts.save(tmp_path / "m", kind, "ForSequenceClassification", labels)
    tokenizer, model = (
        AutoTokenizer.from_pretrained(folder),
        AutoModelForSequenceClassification.from_pretrained(folder).eval(),
    )
    expected = []
    for pair in PAIRS:
        with torch.inference_mode():
            logits = model(**tokenizer(*pair, return_tensors="pt")).logits[0]
        expected.append(float(logits[-1] - (logits[0] if labels == 2 else 0)))
    scorer = PairScorer(str(folder), None, None, CONTEXT)
    scores = scorer.score(PAIRS)
    assert scores == pytest.approx(expected, abs=1e-5)
    assert np.concatenate([scorer.score([pair]) for pair in PAIRS]) == pytest.approx(scores, abs=1e-5)
    assert np.ptp(scores) > 0.01


@pytest.mark.parametrize("head", ["ForCausalLM", "ForSequenceClassification"])
def test_qwen3_rerankers_get_the_prompt_of_their_authors(head: str, tmp_path: Path) -> None:
    """The logit of yes less that of no after the prompt of the model card, or its conversion to one label."""
    import torch
    import transformers

    folder = tiny_texts.save(tmp_path / "m", "qwen3", head)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = getattr(transformers, f"AutoModel{head}").from_pretrained(folder).eval()
    before = (
        "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
        'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
    )
    after = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
    expected = []
    for query, name in PAIRS:
        text = f"{before}<Instruct>: {INSTRUCTION}\n<Query>: {query}\n<Document>: {name}{after}"
        with torch.inference_mode():
            logits = model(**tokenizer(text, return_tensors="pt", add_special_tokens=False)).logits[0]
        yes, no = tokenizer.convert_tokens_to_ids(["yes", "no"])
        expected.append(float(logits[-1, yes] - logits[-1, no]) if head == "ForCausalLM" else float(logits[0]))
    scorer = PairScorer(str(folder), None, None, CONTEXT)
    scores = scorer.score(PAIRS)
    assert scores == pytest.approx(expected, abs=1e-4)
    assert np.concatenate([scorer.score([pair]) for pair in PAIRS]) == pytest.approx(scores, abs=1e-5)
    with pytest.raises(ValueError, match="more than the 40 of --max-tokens"):
        PairScorer(str(folder), None, 40, CONTEXT).score(PAIRS)


def test_a_model_without_a_head_is_no_reranker(folders: dict[tuple[str, str], Path], tmp_path: Path) -> None:
    """transformers would draw the head at random."""
    with pytest.raises(UserError, match="a checkpoint of 'BertModel'; expected a sequence classification head"):
        PairScorer(str(folders["bert", "mean_tokens"]), None, None, CONTEXT)
    folder = tiny_texts.save(tmp_path / "m", "bert", "ForSequenceClassification", 3)
    with pytest.raises(UserError, match="a head with 3 labels"):
        PairScorer(str(folder), None, None, CONTEXT)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--max-tokens", "0"], "--max-tokens 0: expected 8 to 64"),
        (["--instruction", "{genre}"], r"--instruction: holds \{genre\}; expected no field"),
    ],
)
def test_options_of_a_reranker(arguments: list[str], message: str, tmp_path: Path) -> None:
    folder = tiny_texts.save(tmp_path / "m", "bert", "ForSequenceClassification")
    with pytest.raises(UserError, match=message):
        build_system("reranker", "query_only", ["--weights", str(folder), *arguments])


def test_the_reranker_ranks_and_resumes(tmp_path: Path) -> None:
    """A stopped run continues with the same command, and ends with the file of a run at one go."""
    folder = tiny_texts.save(tmp_path / "m", "bert", "ForSequenceClassification")

    def run(out: str, **options: Any) -> Any:
        system = build_system("reranker", "query_only", ["--weights", str(folder)])
        return run_toy(system, data(), tmp_path / out, system_name="reranker", **options)

    run("a", limit=2)
    assert run("a").reused == 2
    run("b", batch_size=1)
    read = [(tmp_path / out / "predictions.jsonl").read_bytes() for out in "ab"]
    assert read[0] == read[1]
