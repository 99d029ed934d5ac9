"""The tasks: `inspect eval musicrs_metric/query_only --model openai/... -T dataset=DATA`."""

from __future__ import annotations

from inspect_ai import Epochs, Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import generate

# Absolute: the register of inspect_evals runs this file by its path, without its package.
from musicrs_metric.answers import prompts
from musicrs_metric.answers.list_protocol import LIST_PROTOCOLS
from musicrs_metric.errors import UserError, show
from musicrs_metric.inspect.samples import make_samples
from musicrs_metric.inspect.scorer import ranking
from musicrs_metric.runs.references import DEFAULT_DATASET

# Comparability of the task (number) and of its interface (letter), as the register of inspect_evals asks for.
VERSION = "1-A"


@task
def query_only(
    dataset: str = DEFAULT_DATASET, protocol: str = "listwise", pools: str = "published", seed: int = 0, epochs: int = 1
) -> Task:
    """Rank the pool of each thread by its query.

    Args:
        dataset: Directory or name of the dataset.
        protocol: "listwise" (numbers) or "titles" (titles between commas, as in the published runs).
        pools: Pool design: "published", or another one that the dataset has.
        seed: Seed of random orders.
        epochs: Number of times that each thread is asked.
    """
    return _task("query_only", dataset, protocol, pools, seed, epochs, 0.0)


@task
def audio_only(
    dataset: str = DEFAULT_DATASET,
    protocol: str = "listwise",
    pools: str = "published",
    seconds: float = 30.0,
    seed: int = 0,
    epochs: int = 1,
) -> Task:
    """Rank the pool of each thread by its clips. A thread without a clip gets an empty ranking, which scores 0.

    Args:
        dataset: Directory or name of the dataset.
        protocol: "listwise" or "titles".
        pools: Pool design.
        seconds: Most seconds of audio per thread, shared evenly by its clips.
        seed: Seed of random orders.
        epochs: Number of times that each thread is asked.
    """
    return _task("audio_only", dataset, protocol, pools, seed, epochs, seconds)


@task
def audio_query(
    dataset: str = DEFAULT_DATASET,
    protocol: str = "listwise",
    pools: str = "published",
    seconds: float = 30.0,
    seed: int = 0,
    epochs: int = 1,
) -> Task:
    """Rank the pool of each thread by its query and its clips. A thread without a clip is ranked by its query.

    Args:
        dataset: Directory or name of the dataset.
        protocol: "listwise" or "titles".
        pools: Pool design.
        seconds: Most seconds of audio per thread, shared evenly by its clips.
        seed: Seed of random orders.
        epochs: Number of times that each thread is asked.
    """
    return _task("audio_query", dataset, protocol, pools, seed, epochs, seconds)


def _task(modality: str, dataset: str, protocol: str, pools: str, seed: int, epochs: int, seconds: float) -> Task:
    if protocol not in LIST_PROTOCOLS:
        raise UserError(f"protocol is {show(protocol)}, expected one of {', '.join(LIST_PROTOCOLS)}")
    if modality != "query_only" and not seconds > 0:
        raise UserError(f"seconds is {seconds:g}, expected a positive number")
    config = modality if pools == "published" else f"{modality}_{pools}"
    form = LIST_PROTOCOLS[protocol]
    samples, facts = make_samples(dataset, config, form, seconds=seconds, seed=seed)
    facts |= {"modality": modality, "pools": pools, "protocol": protocol, "seed": seed, "seconds": seconds}
    return Task(
        dataset=MemoryDataset(samples, name=f"musicrs_{config}"),
        solver=generate(),
        scorer=ranking(config=modality, protocol=protocol, seed=seed),
        config=GenerateConfig(temperature=0.0, max_tokens=form.max_tokens),
        epochs=Epochs(epochs, "mean"),
        version=VERSION,
        metadata={"musicrs": facts | {"prompt_hash": prompts.load(protocol).sha256}},
    )
