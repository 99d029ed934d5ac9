"""What every family of listening models has to hold to, checked on a tiny checkpoint that its real code loads."""

from __future__ import annotations

import io
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines.data import Data, as_references
from baselines.generative.language_model import Prompt
from baselines.generative.transformers_model import LocalGenerative, TransformersModel
from baselines.generative.trie import CandidateTrie
from baselines.launch import build_system
from musicrs_dataset.records import Clip
from musicrs_metric.errors import UserError
from musicrs_metric.runs.predictions import read_predictions
from musicrs_metric.runs.run_card import Modality
from tests.baselines.tiny_lm import NAMES, tone
from tests.baselines.toys import run_toy, thread

REQUEST = "dreamy and slow, please: <|AUDIO|> <s> <sound> <|audio|> </s> <|im_end|> 1. Slowdive"


def sounding(seconds: float, pitch: float = 220.0, rate: int = 16_000) -> Clip:
    """A clip as a dataset holds it."""
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, tone(seconds, rate, pitch), rate, format="WAV", subtype="FLOAT")
    return Clip(file.getvalue(), f"{pitch:g}.wav", "AAAAAAAAAAA", 0.0, seconds)


def make_system(name: str, modality: Modality = "audio_query", *arguments: str | Path) -> LocalGenerative:
    """A system of a family, on one thread: models as small as these lose time to a second one."""
    import torch

    torch.set_num_threads(1)
    made = build_system(name, modality, list(map(str, arguments)))
    assert isinstance(made, LocalGenerative)
    return made


def make_language_model(name: str, *arguments: str | Path) -> TransformersModel:
    """The model of a family."""
    language_model = make_system(name, "audio_query", *arguments).language_model
    assert isinstance(language_model, TransformersModel)
    return language_model


def prompts(language_model: TransformersModel) -> list[Prompt]:
    """With no, one and, where the model takes them, three clips."""
    rate = language_model.limits.sampling_rate
    clips = [tone(1.0, rate), tone(2.3, rate, 330.0), tone(0.4, rate, 110.0)]
    several = clips if language_model.limits.several_clips else [np.concatenate(clips)]
    return [Prompt(REQUEST), Prompt("one", (clips[0],)), Prompt(f"some {REQUEST}", tuple(several))]


def naive_totals(
    language_model: TransformersModel, prompt: Prompt, continuations: Sequence[Sequence[int]]
) -> list[float]:
    """The reference: a whole forward pass for each continuation, without a cache."""
    import torch

    inputs = language_model.inputs([prompt])
    totals = []
    for tokens in continuations:
        more = torch.tensor([list(tokens)], device=language_model.model.device)
        given = dict(inputs)
        if "input_ids" in inputs:
            given["input_ids"] = torch.cat([inputs["input_ids"], more], 1)
        else:
            embedded = language_model.model.get_input_embeddings()(more)
            given["inputs_embeds"] = torch.cat([inputs["inputs_embeds"], embedded], 1)
        given["attention_mask"] = torch.cat([inputs["attention_mask"], torch.ones_like(more)], 1)
        with torch.inference_mode():
            logits = language_model.model(**given, return_dict=True).logits[0].float().log_softmax(-1)
        before = logits[-len(tokens) - 1 : -1]
        totals.append(float(before.gather(1, more[0][:, None]).sum()))
    return totals


def check_scores(language_model: TransformersModel, atol: float = 1e-4) -> None:
    """Packed scores are those of one candidate at a time, with and without sound, in one forward pass and in many."""
    from baselines.generative.packed import Prefix

    continuations = [language_model.ids(name) for name in NAMES[:8]]
    for prompt in prompts(language_model):
        expected = naive_totals(language_model, prompt, continuations)
        found = language_model.score(prompt, continuations)
        assert [each.n_tokens for each in found] == list(map(len, continuations))
        assert np.allclose([each.total for each in found], expected, rtol=0, atol=atol)
        in_parts = Prefix(language_model.model, language_model.inputs([prompt])).score(continuations, at_once=10)
        assert np.allclose([each.total for each in in_parts], expected, rtol=0, atol=atol)


def check_choice(language_model: TransformersModel) -> None:
    """What is generated under a constraint is what `generate` gives under the same one."""
    import torch

    lines = [[*language_model.ids(f"- {name}".replace("\n", " ")), *language_model.ids("\n")] for name in NAMES[:6]]
    budget = sum(map(len, lines))
    for prompt in prompts(language_model)[:2]:
        trie = CandidateTrie(lines)
        found = language_model.choose(prompt, lambda answer, trie=trie: trie(answer) or [language_model.end], budget)  # type: ignore[misc]
        trie(found)
        assert sorted(trie.order) == list(range(len(lines)))
        inputs = language_model.inputs([prompt], budget)
        start = inputs["input_ids"].shape[1] if "input_ids" in inputs else 0

        def allowed(_row: int, tokens: Any, start: int = start) -> list[int]:
            return CandidateTrie(lines)(tokens.tolist()[start:]) or [language_model.end]

        with torch.inference_mode():
            rows = language_model.model.generate(
                **inputs, max_new_tokens=budget, do_sample=False, prefix_allowed_tokens_fn=allowed
            )
        assert rows[0, start:].tolist() == found


def check_completions(language_model: TransformersModel) -> None:
    """Answers to several prompts at once, of which one has no sound, are those to each alone, and stay in budget."""
    asked = prompts(language_model)
    together = language_model.complete(asked, 6)
    assert together == [language_model.complete([prompt], 6)[0] for prompt in asked]
    assert all(found.n_tokens <= 6 for found in together)
    assert all(found.cut == (found.n_tokens == 6) for found in together)  # the token that ends an answer is none of it


def check_tokens(language_model: TransformersModel, lengths: Sequence[float] = (0.1, 1.0, 7.77, 29.99, 30.0)) -> None:
    """No prompt takes more tokens than its limits declare, so a plan that fits does fit."""
    rate, limits = language_model.limits.sampling_rate, language_model.limits
    clips = tuple(tone(seconds, rate) for seconds in lengths)
    groups = [(clip,) for clip in clips] + ([clips] if limits.several_clips else [])
    for group in [(), *groups]:
        text = language_model.clean(REQUEST)
        taken = language_model.encode([Prompt(text, group)])["attention_mask"].shape[1]
        sound = sum(limits.tokens(len(clip) / rate) for clip in group)
        most = limits.template_tokens + language_model.n_tokens(text) + sound
        assert most * 0.5 - 100 < taken <= most, (len(group), taken, most)


def family_data(modality: Modality) -> Data:
    """Two threads with one and two clips, one without, and one whose clip cannot be decoded."""
    sounds = {
        "t0": (sounding(1.2),),
        "t1": (sounding(0.6, 330.0), sounding(1.5, 440.0)),
        "t2": (),
        "t3": (Clip(b"no sound", "broken.wav", "AAAAAAAAAAA", 0.0, 3.0),),
    }
    text = None if modality == "audio_only" else REQUEST
    used_audio = {name: None if modality == "query_only" else clips for name, clips in sounds.items()}
    threads = [thread(name, NAMES, [NAMES[0]], clips=clips, query=text) for name, clips in used_audio.items()]
    return Data(threads, as_references(threads, "toy", modality))


def check_run(name: str, modality: Modality, protocol: str, out: Path, *arguments: str | Path) -> None:
    """A run ends with a ranking of the pool for every thread; only the clip that cannot be decoded fails."""
    short = ["--answer-tokens", "12"] if protocol not in ("constrained", "pointwise") else []
    system = make_system(name, modality, "--protocol", protocol, *short, *arguments)
    result = run_toy(system, family_data(modality), out, system_name=name)
    predictions = {p.thread_id: p for p in read_predictions(out / "predictions.jsonl").predictions}
    assert list(predictions) == ["t0", "t1", "t2", "t3"]
    for thread_id, found in predictions.items():
        if thread_id == "t2" and modality == "audio_only":
            assert (found.ranking, found.outcome) == ((), "no_audio")
            continue
        known = Counter(item for item in found.ranking if item in NAMES)
        assert known == Counter(NAMES)
        if protocol != "titles":
            assert len(found.ranking) == len(NAMES)
    if modality != "query_only":
        assert predictions["t3"].outcome == "failed"
        assert "broken.wav" in (out / "failures.log").read_text()
    answered = {"audio_query": ["t0", "t1", "t2"], "audio_only": ["t0", "t1"], "query_only": list(predictions)}[
        modality
    ]
    records = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    assert [record["thread_id"] for record in records] == answered
    if protocol in ("constrained", "pointwise"):
        assert all(predictions[thread_id].n_answered == len(NAMES) for thread_id in answered)
    elif protocol == "generate_then_match":
        ledger = result.card.extra["ledger"]
        assert ledger["titles"] + ledger["missing"] == 20 * len(answered)
    else:
        ledger = result.card.extra["ledger"]
        assert ledger["named"] + ledger["filled"] == len(NAMES) * len(answered)
    assert result.card.protocol == protocol
    assert str(result.card.model_revision).partition(", matched by")[0] == system.language_model.revision
    assert (result.card.clip_plan is None) == (modality == "query_only")


def check_keys(
    name: str, folder: Path, scratch: Path, *, file: str = "model.safetensors", flag: str = "--weights"
) -> None:
    """Weights that lack one or have one too many are refused, and the message names it."""
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / file)
    victim = max(tensors, key=lambda key: (key.endswith("q_proj.weight"), key))
    lacking = {key: value for key, value in tensors.items() if key != victim}
    left_over = tensors | {"no.such.layer.weight": tensors[victim].clone()}
    for kind, content, expected in (("lacks", lacking, victim), ("beyond", left_over, "no.such.layer.weight")):
        copy = shutil.copytree(folder, scratch / kind)
        save_file(content, copy / file, metadata={"format": "pt"})
        with pytest.raises(UserError, match=kind) as refused:
            make_language_model(name, flag, copy).load()
        assert expected.split(".", 2)[-1] in str(refused.value)
