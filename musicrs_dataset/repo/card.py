"""Dataset card: front matter from which `datasets` reads the configurations, and information for readers."""

from __future__ import annotations

from typing import Any

from musicrs_metric.base.genres import macro_of
from musicrs_metric.base.html import load_template
from musicrs_metric.base.numbers import percent
from musicrs_metric.base.renderers.markdown import markdown_grid
from musicrs_metric.paper.findings import below_chance, overall
from musicrs_metric.paper.tables import PUBLISHED_FINGERPRINT, published_chance, table1

from ..describe import Description, Histogram
from ..schema import CLIP_RATE, DEFAULT_CONFIG, SPLIT, VERSION
from .manifest import ConfigEntry, Manifest, PoolsEntry

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (float("inf"), "100K<n<1M"))
_TAGS = ["music", "recommendation", "conversational-recommendation", "ranking", "benchmark", "audio"]


def card(manifest: Manifest) -> str:
    """Write the card of a dataset.

    Args:
        manifest: Manifest of the build.

    Returns:
        The text of its `README.md`.
    """
    about, pools = manifest.about, manifest.pools[0]
    title = about.title + " (toy)" * about.toy
    names = [config.name for config in manifest.configs]
    return load_template(__package__ or "", "card.md.j2").render(
        about=about,
        audio=pools.description.audio,
        audio_sha256=manifest.audio_sha256,
        below_chance=_below_chance(pools.description),
        clip_rate=CLIP_RATE,
        configurations=_configurations(manifest),
        cutting=_cutting(manifest),
        example="query_only" if "query_only" in names else names[0],
        facts=markdown_grid(("", ""), _facts(pools.description)),
        findings=_findings(pools),
        fingerprint=pools.description.fingerprint,
        front_matter=_front_matter(manifest, title),
        genres=_genres(pools.description),
        opening=opening(toy=about.toy),
        pools=_pools(manifest),
        split=SPLIT,
        subreddits=", ".join(f"r/{name} {share.threads}" for name, share in pools.description.subreddits.items()),
        title=title,
    )


def opening(*, toy: bool) -> str:
    """Write the first paragraphs of a card: the purpose of the dataset.

    Args:
        toy: True if scores on it mean nothing.
    """
    purpose = (
        "Threads in which people ask for music by describing it and by linking to it. Each has a pool of titles, and "
        "the titles among them that the community recommended. A system ranks the pool. Its scores are recall, nDCG "
        "and MRR."
    )
    if toy:
        return (
            "**A toy.** It lets you try everything in a minute: invented threads, invented titles and synthesised "
            f"clips. A score on it says nothing about music or about a system.\n\n{purpose}"
        )
    return purpose


def _front_matter(manifest: Manifest, title: str) -> str:
    import yaml

    about, n = manifest.about, manifest.pools[0].description.threads
    # The Hub requires these fields if a licence is "other".
    licence = {"license_name": about.license_name, "license_link": about.license_link}
    text: str = yaml.safe_dump(
        {
            "license": about.license,
            **{name: value for name, value in licence.items() if value},
            "pretty_name": title,
            "language": list(about.languages),
            "task_categories": ["text-retrieval"],
            "size_categories": [next(name for limit, name in _SIZES if n < limit)],
            "tags": _TAGS,
            "configs": [_config_metadata(manifest, config) for config in manifest.configs],
        },
        sort_keys=False,
        allow_unicode=True,
        width=120,
    )
    return text


def _config_metadata(manifest: Manifest, config: ConfigEntry) -> dict[str, Any]:
    # `datasets` computes the key of its cache from this block alone. Without the hash of the content, it would never
    # load rebuilt data.
    description = f"fingerprint {manifest.fingerprint(config)}, content sha256 {config.content_sha256}"
    return {
        "config_name": config.name,
        **({"default": True} if config.name == DEFAULT_CONFIG else {}),
        "version": VERSION,
        "description": description,
        "data_files": [{"split": SPLIT, "path": f"{config.name}/{SPLIT}-*.parquet"}],
    }


def _configurations(manifest: Manifest) -> str:
    audio = manifest.pools[0].description.audio
    rows = []
    for config in manifest.configs:
        name = f"`{config.name}`" + (" (default)" if config.name == DEFAULT_CONFIG else "")
        pools = f"`{config.pools}`" if config.pools else "as published"
        coverage = f"{audio.threads} of {config.rows} threads" if config.base.with_audio else "none carried"
        rows.append((name, config.base.summary, pools, coverage))
    return markdown_grid(("configuration", "input of a system", "pools", "threads with audio"), rows)


def _cutting(manifest: Manifest) -> str:
    plan, statuses = manifest.clip_plan, manifest.pools[0].description.link_statuses
    if plan is None:
        return "The clips are part of the source."
    links = ", ".join(f"{n:,} {status}" for status, n in statuses.items())
    return (
        f"The clips of a thread come from at most {plan.max_clips} of its links and share {plan.total_s:g} s evenly. "
        f"Seed {plan.seed} chooses the links if more are usable. Links: {links}."
    )


def _facts(about: Description) -> list[tuple[str, str]]:
    facts = [
        ("threads", f"{about.threads}"),
        ("distinct relevant candidates", f"{about.ground_truth.distinct:,} in {about.ground_truth.total:,} places"),
        ("distinct candidates", f"{about.candidates.distinct:,} in {about.candidates.total:,} places"),
        ("relevant candidates per thread", _spread(about.ground_truth_sizes)),
        ("candidates per thread", _spread(about.pool_sizes)),
        ("replies", f"{about.comments:,}"),
        ("links", f"{about.links.total:,} to {about.links.distinct:,} videos, {about.links.with_start} with a start"),
    ]
    if about.query_words:
        facts.append(("words per query", f"median {about.query_words[0]:g}, at most {about.query_words[1]}"))
    return facts


def _spread(sizes: Histogram) -> str:
    return f"{min(sizes)} to {max(sizes)}, most often {max(sizes, key=lambda size: sizes[size])}"


def _genres(about: Description) -> str:
    rows = [
        (genre, macro_of(genre, about.stated_macro_genres.get(genre)), str(share.threads), f"{100 * share.share:.1f} %")
        for genre, share in about.genres.items()
    ]
    return markdown_grid(("genre", "macro-genre", "threads", "share"), rows)


def _pools(manifest: Manifest) -> str:
    measures = list(manifest.pools[0].description.chance)
    heads = ("pools", *measures, "relevant candidates elsewhere", "distractors elsewhere")
    return markdown_grid(heads, map(_pools_row, manifest.pools))


def _pools_row(entry: PoolsEntry) -> tuple[str, ...]:
    frequency = entry.description.pool_frequency
    elsewhere = ("" if mean is None else f"{mean:.2f}" for mean in (frequency.right, frequency.wrong))
    return (entry.name or "as published", *map(percent, entry.description.chance.values()), *elsewhere)


def _below_chance(about: Description) -> dict[str, int] | None:
    """Count the published rows below chance; None for other pools or labels."""
    if about.fingerprint != PUBLISHED_FINGERPRINT:
        return None
    results, chance = table1(), published_chance()
    recall, ndcg = (len(below_chance(results, chance, name)) for name in ("recall@20", "ndcg@20"))
    return {"rows": len(overall(results)), "recall": recall, "ndcg": ndcg}


def _findings(pools: PoolsEntry) -> str:
    rows = [(finding.what, f"{finding.count:,}", f"{len(finding.where):,}") for finding in pools.odd]
    return markdown_grid(("found in the data", "count", "threads"), rows) if rows else ""
