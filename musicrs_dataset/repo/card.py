"""The dataset card: front matter by which `datasets` finds the configurations, and what a reader should know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from musicrs_metric.base.genres import macro_of
from musicrs_metric.base.text import escape_markdown
from musicrs_metric.paper.findings import below_chance, overall
from musicrs_metric.paper.tables import PUBLISHED_FINGERPRINT, published_chance, table1

from ..describe import Description, Histogram
from ..schema import CLIP_RATE, DEFAULT_CONFIG, SPLIT, VERSION
from .manifest import ConfigEntry, Manifest, PoolsEntry

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (float("inf"), "100K<n<1M"))
_TAGS = ["music", "recommendation", "conversational-recommendation", "ranking", "benchmark", "audio"]
_UNDECODED = """ `datasets` decodes them where soundfile and librosa (version 3.6) or torchcodec
(version 4 and later, with FFmpeg) are installed. Without those, take the FLAC bytes:

```python
from datasets import Audio, Sequence

threads = threads.cast_column("clips", Sequence(Audio(decode=False)))
```"""


def card(manifest: Manifest) -> str:
    """Write the card of a dataset.

    Args:
        manifest: What was built.

    Returns:
        The text of its `README.md`.
    """
    published = manifest.pools[0]
    title = manifest.about.title + " (toy)" * manifest.about.toy
    sections = [
        f"# {escape_markdown(title)}",
        opening(toy=manifest.about.toy),
        _use(manifest),
        "## Configurations",
        _configurations(manifest),
        "## Statistics",
        _statistics(published.description),
        "## Pools and chance",
        _chance(manifest),
        "## Limits",
        _limits(published, manifest),
        "## Source and licence",
        _source(manifest),
    ]
    if manifest.about.citation:
        sections += ["## Citation", f"```bibtex\n{manifest.about.citation.strip()}\n```"]
    if manifest.about.closing:
        sections.append(manifest.about.closing.strip())
    return f"---\n{_front_matter(manifest, title)}---\n\n" + "\n\n".join(sections) + "\n"


def _front_matter(manifest: Manifest, title: str) -> str:
    import yaml

    n = manifest.pools[0].description.threads
    text: str = yaml.safe_dump(
        {
            "license": manifest.about.license,
            **_named_licence(manifest),
            "pretty_name": title,
            "language": list(manifest.about.languages),
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


def _named_licence(manifest: Manifest) -> dict[str, str]:
    """The fields that the Hub wants where a licence is "other"."""
    about = manifest.about
    fields = {"license_name": about.license_name, "license_link": about.license_link}
    return {name: value for name, value in fields.items() if value}


def _config_metadata(manifest: Manifest, config: ConfigEntry) -> dict[str, Any]:
    # `datasets` keys its cache of a folder by this block alone: without the hash of the content, rebuilt data would
    # never be seen.
    description = f"fingerprint {manifest.fingerprint(config)}, content sha256 {config.content_sha256}"
    return {
        "config_name": config.name,
        **({"default": True} if config.name == DEFAULT_CONFIG else {}),
        "version": VERSION,
        "description": description,
        "data_files": [{"split": SPLIT, "path": f"{config.name}/{SPLIT}-*.parquet"}],
    }


def opening(*, toy: bool) -> str:
    """Write the first paragraphs of a card: what the dataset is for.

    Args:
        toy: Whether scores on it mean nothing.
    """
    what = (
        "Conversations in which people ask for music by describing it and by linking to it, each with a pool of titles "
        "and the titles among them that the community recommended. A system ranks the pool; it is scored by recall, "
        "nDCG and MRR."
    )
    if toy:
        return (
            "**A toy.** It is here so that everything can be tried in a minute: invented threads, invented titles and "
            f"synthesised sounds. A score on it says nothing about music or about a system.\n\n{what}"
        )
    return what


def _use(manifest: Manifest) -> str:
    names = [config.name for config in manifest.configs]
    name = "query_only" if "query_only" in names else names[0]
    called = manifest.about.loads_as
    return f"""```python
from datasets import load_dataset

threads = load_dataset("{called}", "{name}", split="{SPLIT}")  # or the path of this folder, or its name on the Hub
```"""


def _configurations(manifest: Manifest) -> str:
    coverage = manifest.pools[0].description.audio
    rows = []
    for config in manifest.configs:
        pools = f"`{config.pools}`" if config.pools else "as published"
        audio = f"{coverage.threads} of {config.rows} threads" if config.base.with_audio else "none carried"
        name = f"`{config.name}`" + (" (default)" if config.name == DEFAULT_CONFIG else "")
        rows.append((name, config.base.summary, pools, audio))
    table = _table(("configuration", "what a system is given", "pools", "threads with audio"), rows)
    clips = "This build carries no audio; `links` names the videos."
    if coverage.clips:
        clips = (
            f"Clips: {coverage.clips}, {coverage.hours:.2f} hours, mono at {CLIP_RATE // 1000} kHz, "
            f"sha256 `{manifest.audio_sha256}`. {_cutting(manifest)}{_UNDECODED}"
        )
    return (
        f"{table}\n\n{clips}\n\nAll rows have `thread_id`, `subreddit`, `genre`, `comments`, `candidates`, "
        "`ground_truth`, `all_entities` and `links`; `query`, `post` and `submission_entities` are there where text is "
        "given, `clips` and `clip_info` where audio is. `comments`, `all_entities` and `ground_truth` are labels: no "
        "system may read those of the thread that it answers."
    )


def _cutting(manifest: Manifest) -> str:
    plan, statuses = manifest.clip_plan, manifest.pools[0].description.link_statuses
    if plan is None:
        return "They came with the threads."
    links = ", ".join(f"{n:,} {status}" for status, n in statuses.items())
    return (
        f"Those of a thread come from at most {plan.max_clips} of its links, chosen with seed {plan.seed} where more "
        f"are usable, and share {plan.total_s:g} s evenly. Links: {links}."
    )


def _statistics(about: Description) -> str:
    genres = [
        (genre, macro_of(genre), str(share.threads), f"{100 * share.share:.1f} %")
        for genre, share in about.genres.items()
    ]
    facts = [
        ("threads", f"{about.threads}"),
        ("different right answers", f"{about.ground_truth.distinct:,} in {about.ground_truth.total:,} places"),
        ("different candidates", f"{about.candidates.distinct:,} in {about.candidates.total:,} places"),
        ("right answers a thread", _spread(about.ground_truth_sizes)),
        ("candidates a thread", _spread(about.pool_sizes)),
        ("replies", f"{about.comments:,}"),
        ("links", f"{about.links.total:,} to {about.links.distinct:,} videos, {about.links.with_start} with a start"),
    ]
    if about.query_words:
        facts.append(("words a request", f"median {about.query_words[0]:g}, at most {about.query_words[1]}"))
    subreddits = ", ".join(f"r/{name} {share.threads}" for name, share in about.subreddits.items())
    return (
        f"{_table(('', ''), facts)}\n\n{_table(('genre', 'macro-genre', 'threads', 'share'), genres)}\n\n"
        f"Subreddits: {subreddits}."
    )


def _chance(manifest: Manifest) -> str:
    measures = list(manifest.pools[0].description.chance)
    head = ("pools", *measures, "right candidates elsewhere", "wrong candidates elsewhere")
    text = (
        "What a random order of each pool scores on average (in %, all threads averaged, exact): a score means what it "
        "has beyond this. And in how many other pools of its subreddit a right and a wrong candidate stand on average: "
        "where these differ, counting titles scores away from chance with no music involved. A system that reads other "
        f"threads' pools or labels must say so.\n\n{_table(head, map(_pools_row, manifest.pools))}"
    )
    if manifest.pools[0].description.fingerprint == PUBLISHED_FINGERPRINT:
        results, chance = table1(), published_chance()
        below = {name: len(below_chance(results, chance, name)) for name in ("recall@20", "ndcg@20")}
        text += (
            f"\n\nThese are the pools and labels that the paper's Table 1 speaks of. Of its {len(overall(results))} "
            f"overall rows {below['recall@20']} lie below chance on recall@20 and {below['ndcg@20']} on nDCG@20."
        )
    return text


def _pools_row(entry: PoolsEntry) -> tuple[str, ...]:
    about = entry.description
    frequency = (about.pool_frequency.right, about.pool_frequency.wrong)
    chance = (f"{100 * value:.2f}" for value in about.chance.values())
    return (entry.name or "as published", *chance, *("" if mean is None else f"{mean:.2f}" for mean in frequency))


def _limits(published: PoolsEntry, manifest: Manifest) -> str:
    odd = [(finding.what, f"{finding.count:,}", f"{len(finding.where):,}") for finding in published.odd]
    found = _table(("found in the data", "how many", "threads"), odd) if odd else "Nothing odd was found in the data."
    return "\n".join([f"{found}\n", *(f"- {line}" for line in manifest.about.limits)]).strip()


def _source(manifest: Manifest) -> str:
    about = manifest.about
    lines = [f"{about.attribution}"]
    if about.sha256:
        lines.append(f"Read from `{about.name}`, sha256 `{about.sha256}`.")
    lines += [f"Import: {note}." for note in about.notes]
    lines.append(
        f"Fingerprint of pools and labels: `{manifest.pools[0].description.fingerprint}`. `manifest.json` holds the "
        "hash of every file."
    )
    return "\n\n".join(lines)


def _spread(sizes: Histogram) -> str:
    return f"{min(sizes)} to {max(sizes)}, most often {max(sizes, key=lambda size: sizes[size])}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
