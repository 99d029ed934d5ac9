"""Data of a leaderboard: the published pools, and other pool designs on the same threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from musicrs_dataset.loading import available_configs, config_names
from musicrs_dataset.schema import CONFIGS, base_config
from musicrs_metric.catalogue.compare import group_labels, unit_table
from musicrs_metric.errors import UserError, plain, show
from musicrs_metric.hits import hits_from_strings
from musicrs_metric.paper.tables import PUBLISHED_FINGERPRINT
from musicrs_metric.runs.references import References, dataset_folder, load_references
from musicrs_metric.runs.run_card import RunCard
from musicrs_metric.scoring import Scores, ThreadTable, summarise, thread_table

PUBLISHED = "published"


@dataclass(frozen=True)
class PoolDesign:
    """One pool design with its labels.

    Attributes:
        name: "published", or the suffix of its configuration names.
        references: Pools, ground truth and groups.
        configs: The configurations with these pools.
    """

    name: str
    references: References
    configs: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """Hash by which run cards name the data."""
        return self.references.fingerprint

    def other_data(self, fingerprint: str) -> str | None:
        """State in words that predictions were made on another version of this data; None for the same version."""
        if fingerprint == self.fingerprint:
            return None
        return (
            f"Predictions made on another version of the data (fingerprint {fingerprint[:12]}), scored on the current"
        )

    @cached_property
    def unanswered(self) -> ThreadTable:
        """The table of a system without any answer. It holds all values that depend on the data alone."""
        references = self.references
        return thread_table(hits_from_strings([None] * len(references), references.ground_truth, references.candidates))

    @cached_property
    def chance(self) -> Scores:
        """Scores of a system without any answer, for their `chance`, `ceiling` and `n`, overall and by genre."""
        return summarise(self.units(self.unanswered), groups={"genre": self.genre_of_units}, confidence=None)

    def units(self, table: ThreadTable) -> ThreadTable:
        """Return the table whose rows intervals and tests draw: dialogues if the threads are turns, else threads."""
        return unit_table(table, self.references)

    @cached_property
    def genre_of_units(self) -> list[str]:
        """The genre of each row of `units`."""
        return list(group_labels(self.references, ["genre"])["genre"])

    @property
    def genres(self) -> list[str]:
        """The genres of its threads, sorted."""
        return sorted(set(self.references.groups["genre"]))

    @property
    def is_paper(self) -> bool:
        """True if the results of the paper were measured on this data."""
        return self.fingerprint == PUBLISHED_FINGERPRINT


@dataclass(frozen=True)
class LeaderboardData:
    """All pool designs of one dataset.

    Attributes:
        dataset: Name of the dataset in the settings.
        designs: The first one is shown first. No two have the same fingerprint.
    """

    dataset: str
    designs: tuple[PoolDesign, ...]

    @property
    def version(self) -> str:
        """Name of this version of the data in URLs: the first characters of its first fingerprint."""
        return self.designs[0].fingerprint[:8]

    @cached_property
    def by_fingerprint(self) -> dict[str, PoolDesign]:
        """Fingerprint to pool design."""
        return {design.fingerprint: design for design in self.designs}

    def of(self, fingerprint: str) -> PoolDesign:
        """Return the pool design of a fingerprint.

        Raises:
            UserError: There is none.
        """
        if fingerprint not in self.by_fingerprint:
            data = f"data (fingerprint {plain(fingerprint[:12])})"
            raise UserError(f"found predictions for {data}, which this leaderboard does not have")
        return self.by_fingerprint[fingerprint]

    def for_card(self, card: RunCard) -> PoolDesign:
        """Return the pool design of a stored run: that of its fingerprint, else that of its name.

        A corrected label or pool changes the fingerprint. Rows that were made before are then scored again.

        Raises:
            UserError: There is no such pool design.
        """
        design = self.by_fingerprint.get(card.fingerprint)
        if design is None and (card.pools or PUBLISHED) in self.names:
            return self.design(card.pools or PUBLISHED)
        return design or self.of(card.fingerprint)

    @property
    def names(self) -> list[str]:
        """Names of the pool designs."""
        return [design.name for design in self.designs]

    def design(self, name: str | None = None) -> PoolDesign:
        """Return a pool design.

        Args:
            name: Its name; None for the first.

        Raises:
            UserError: There is none with this name.
        """
        if name is None:
            return self.designs[0]
        for design in self.designs:
            if design.name == name:
                return design
        raise UserError(f"pools {show(name)}: not on this leaderboard, expected {' or '.join(self.names)}")


def load_data(dataset: str) -> LeaderboardData:
    """Read the labels of a dataset, once per pool design.

    Args:
        dataset: Directory of a built dataset, its installed name, or its id on the Hub.

    Raises:
        UserError: There is no such dataset, one of its files cannot be read, or a dialogue has several genres.
    """
    configs_of: dict[str, list[str]] = {}
    for config in _configs(dataset):
        configs_of.setdefault(_design_name(config), []).append(config)
    # The published pools first, because results in papers are on them.
    names = sorted(configs_of, key=lambda name: (name != PUBLISHED, name))
    designs: dict[str, PoolDesign] = {}
    folder = dataset_folder(dataset)
    for name in names:
        references = load_references(dataset, _lightest(configs_of[name]))
        group_labels(references, ["genre"])  # refuses a dialogue in several genres now, and not at a submission
        if folder is not None:
            # Answers to submitters hold this name, and a path of the server does not concern them.
            references = replace(references, name=folder.name)
        designs.setdefault(references.fingerprint, PoolDesign(name, references, tuple(configs_of[name])))
    return LeaderboardData(dataset, tuple(designs.values()))


def _configs(dataset: str) -> Sequence[str]:
    folder = dataset_folder(dataset)
    if folder is not None:
        return config_names(Path(folder))
    if "/" not in dataset:
        return available_configs(dataset)
    import datasets

    try:
        names: list[str] = datasets.get_dataset_config_names(dataset)
    except (
        ValueError,
        OSError,
        datasets.exceptions.DatasetsError,
    ):  # no network: configurations that were loaded before can still be read
        return list(CONFIGS)
    return [name for name in names if name.startswith(tuple(CONFIGS))]


def _design_name(config: str) -> str:
    return config.removeprefix(base_config(config).name).removeprefix("_") or PUBLISHED


def _lightest(configs: Sequence[str]) -> str:
    """Return a configuration without audio if there is one. All have the same pools and labels."""
    return min(configs, key=lambda config: base_config(config).with_audio)
