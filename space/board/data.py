"""The data that a leaderboard ranks on: the published pools, and further designs of pools on the same threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from musicrs_dataset.loading import available_configs, config_names
from musicrs_dataset.schema import CONFIGS, base_config
from musicrs_metric.errors import UserError, plain, show
from musicrs_metric.hits import hits_from_strings
from musicrs_metric.paper.tables import PUBLISHED_FINGERPRINT
from musicrs_metric.runs.references import References, dataset_folder, load_references
from musicrs_metric.scoring import Scores, ThreadTable, summarise, thread_table

PUBLISHED = "published"


@dataclass(frozen=True)
class PoolDesign:
    """One design of pools, with the labels that go with it.

    Attributes:
        name: "published", or what stands behind the names of its configurations.
        references: Pools, ground truth and groups.
        configs: The configurations that hold these pools.
    """

    name: str
    references: References
    configs: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """What run cards name it by."""
        return self.references.fingerprint

    @cached_property
    def unanswered(self) -> ThreadTable:
        """The table of a system that answers nothing, which holds all that depends on the data alone."""
        references = self.references
        return thread_table(hits_from_strings([None] * len(references), references.ground_truth, references.candidates))

    @cached_property
    def chance(self) -> Scores:
        """Scores of which `chance`, `ceiling` and `n` are meant, overall and by genre: those of no answer at all."""
        return summarise(self.unanswered, groups={"genre": self.references.groups["genre"]}, confidence=None)

    @property
    def genres(self) -> list[str]:
        """The genres of its threads, sorted."""
        return sorted(set(self.references.groups["genre"]))

    @property
    def is_paper(self) -> bool:
        """Whether the paper's figures speak of this very data."""
        return self.fingerprint == PUBLISHED_FINGERPRINT


@dataclass(frozen=True)
class LeaderboardData:
    """All designs of one dataset.

    Attributes:
        dataset: What the settings call it.
        designs: The first is the one shown first; no two of them have the same fingerprint.
    """

    dataset: str
    designs: tuple[PoolDesign, ...]

    @cached_property
    def by_fingerprint(self) -> dict[str, PoolDesign]:
        """Fingerprint to design."""
        return {design.fingerprint: design for design in self.designs}

    def of(self, fingerprint: str) -> PoolDesign:
        """Find the design of a fingerprint.

        Raises:
            UserError: There is none.
        """
        if fingerprint not in self.by_fingerprint:
            raise UserError(f"made on data that this board does not have (fingerprint {plain(fingerprint[:12])})")
        return self.by_fingerprint[fingerprint]

    @property
    def names(self) -> list[str]:
        """The designs' names."""
        return [design.name for design in self.designs]

    def design(self, name: str | None = None) -> PoolDesign:
        """Find a design.

        Args:
            name: Its name; None for the first.

        Raises:
            UserError: There is none of that name.
        """
        if name is None:
            return self.designs[0]
        for design in self.designs:
            if design.name == name:
                return design
        raise UserError(f"pools {show(name)}: not on this board, expected {' or '.join(self.names)}")


def load_data(dataset: str) -> LeaderboardData:
    """Read the labels of a dataset; of configurations with the same pools, those of one.

    Args:
        dataset: Directory of a built dataset, its installed name, or its id on the Hub.

    Raises:
        UserError: There is no such dataset, or a file of it cannot be read.
    """
    configs_of: dict[str, list[str]] = {}
    for config in _configs(dataset):
        configs_of.setdefault(_design_name(config), []).append(config)
    # The published pools first: they are what the field's numbers are on.
    names = sorted(configs_of, key=lambda name: (name != PUBLISHED, name))
    found: dict[str, PoolDesign] = {}
    for name in names:
        references = load_references(dataset, _lightest(configs_of[name]))
        found.setdefault(references.fingerprint, PoolDesign(name, references, tuple(configs_of[name])))
    return LeaderboardData(dataset, tuple(found.values()))


def _configs(dataset: str) -> Sequence[str]:
    folder = dataset_folder(dataset)
    if folder is not None:
        return config_names(Path(folder))
    if "/" not in dataset:
        return available_configs(dataset)
    import datasets

    try:
        names: list[str] = datasets.get_dataset_config_names(dataset)
    except (ValueError, OSError, datasets.exceptions.DatasetsError):  # no network: what was loaded before still is
        return list(CONFIGS)
    return [name for name in names if name.startswith(tuple(CONFIGS))]


def _design_name(config: str) -> str:
    return config.removeprefix(base_config(config).name).removeprefix("_") or PUBLISHED


def _lightest(configs: Sequence[str]) -> str:
    """The configuration that carries no audio, where there is one: all have the same pools and labels."""
    return min(configs, key=lambda config: base_config(config).with_audio)
