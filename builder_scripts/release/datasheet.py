"""The datasheet of a release (Gebru et al. 2021, doi:10.1145/3458723), filled in from the manifests of the stages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from musicrs_dataset.describe import Description
from musicrs_metric.base.files import to_json
from musicrs_metric.base.text import escape_markdown

from ..manifest import Counts, StageManifest
from .figure import reasons, reported
from .funnel import Step
from .options import Options

STAGES = ("mine", "threads", "extract", "queries", "refine", "audio", "annotate", "pools")
_OPEN = "*Not said by whoever released this.*"
_LONGEST = 300  # characters of a parameter's value


@dataclass(frozen=True)
class Facts:
    """What is known of a release.

    Attributes:
        options: What is said of it.
        manifests: By stage; `audio` and `annotate` may be missing.
        steps: The funnel.
        counts: What became of threads, replies and links in the release itself.
        about: Its statistics.
        answers: How many answers of models come with it.
        takedown: How many ids were removed on request so far.
        personal: Personal data in its texts, in words; "" where none was found.
    """

    options: Options
    manifests: Mapping[str, StageManifest]
    steps: Sequence[Step]
    counts: Mapping[str, Counts]
    about: Description
    answers: int
    takedown: int
    personal: str = ""

    @property
    def judged(self) -> bool:
        """Whether people have looked at it."""
        return not self.manifests["pools"].parameters["unjudged"]

    @property
    def models(self) -> dict[str, str]:
        """Model by stage."""
        return {stage: str(self.manifests[stage].parameters["model"]) for stage in ("extract", "queries")}


def datasheet(facts: Facts) -> str:
    """Write the datasheet, in Markdown."""
    sections = {
        "Motivation": _motivation(facts),
        "Composition": _composition(facts),
        "Collection process": _collection(facts),
        "Preprocessing, cleaning, labelling": _labelling(facts),
        "Uses": _uses(facts),
        "Distribution": _distribution(facts),
        "Maintenance": _maintenance(facts),
        "The stages in figures": _stages(facts),
    }
    body = "\n\n".join(f"## {name}\n\n" + "\n\n".join(blocks) for name, blocks in sections.items())
    head = f"# Datasheet of {escape_markdown(facts.options.called)}"
    form = (
        "After Gebru et al., [Datasheets for Datasets](https://doi.org/10.1145/3458723). Numbers are those of the "
        "manifests in `making/manifests`."
    )
    return f"{head}\n\n{form}\n\n{body}\n"


def _motivation(facts: Facts) -> list[str]:
    return [
        _answer("For what purpose was it created?", facts.options.purpose or _OPEN),
        _answer("Who created it?", escape_markdown(facts.options.by) or _OPEN),
        "It is made by the recipe of [MusiCRS](https://arxiv.org/abs/2509.19469): people ask for music by describing "
        "it and linking to it, a system ranks a pool of titles, and what the community recommended is right.",
    ]


def _composition(facts: Facts) -> list[str]:
    about = facts.about
    genres = [(genre, f"{share.threads:,}", f"{100 * share.share:.1f} %") for genre, share in about.genres.items()]
    links = ", ".join(f"{n:,} {status}" for status, n in about.link_statuses.items())
    return [
        _answer(
            "What does an instance represent, and how many are there?",
            f"A thread: a request with a link to a video and the replies to it. There are {about.threads:,}, with "
            f"{about.comments:,} replies, {about.ground_truth.distinct:,} different right answers in "
            f"{about.ground_truth.total:,} places, {about.candidates.distinct:,} different candidates in "
            f"{about.candidates.total:,}, and {about.links.total:,} links to {about.links.distinct:,} videos.",
        ),
        _table(("genre", "threads", "share"), genres),
        _answer(
            "Is it a sample?",
            "All threads of the dumps that pass the filters; the table shows how many are left after each, and why the "
            "rest went.",
        ),
        "![How many are left after each step](figures/funnel.png)",
        _table(
            ("step", "left", "the paper, as reported", "left out, and why"),
            [(step.name, f"{step.n:,}", reported(step), reasons(step)) for step in facts.steps],
        ),
        _answer(
            "Is anything missing?",
            f"Videos disappear. Links by status: {links}. {about.audio.threads:,} threads have clips, "
            f"{about.audio.clips:,} in all, {about.audio.hours:.2f} hours.",
        ),
        "![Genres, entities and the structure of the dialogues](figures/coverage.png)",
        _answer(
            "Does it contain data that might be considered confidential, offensive or identifying?",
            "Posts were public and may say anything, private matters included. No account is named: each is a keyed "
            "hash, the same in the whole corpus, whose key is not part of the release; so are accounts that a post "
            "mentions as `u/name`. The thread's id leads back to Reddit, where its author may be seen. "
            + ("Other personal data in texts is replaced." if facts.options.redact else _personal(facts)),
        ),
    ]


def _personal(facts: Facts) -> str:
    found = facts.personal or "no e-mail address, telephone number or @name was found"
    return f"Personal data in texts is as it was written: {found}."


def _collection(facts: Facts) -> list[str]:
    mine, threads = facts.manifests["mine"], facts.manifests["threads"]
    dumps = ", ".join(f"`{file.path.rsplit('/', 1)[-1]}`" for file in mine.inputs)
    rules = threads.parameters
    months = " ".join(threads.notes) or "No month has scores that look wrong."
    return [
        _answer(
            "How was it acquired?",
            f"From {len(mine.inputs)} dumps of Reddit: {dumps}; their hashes stand in `making/manifests`. Subreddits: "
            f"{', '.join(mine.parameters['subreddits'])}.",
        ),
        _answer(
            "Were the people told, and can they withdraw?",
            "They were not told. What was deleted or removed by the time of the latest dump is "
            + ("used as it was before (a choice of its makers)" if rules["keep_deleted"] else "left out")
            + f"{_signs(threads)}. Posts of accounts that are gone since are kept. To have something removed: "
            + (escape_markdown(facts.options.contact) or _OPEN),
        ),
        _answer("Over what time, and are the scores sound?", f"Right answers are ordered by upvotes. {months}"),
    ]


def _signs(threads: StageManifest) -> str:
    """How many posts and replies were left out by which sign, in brackets; "" where none were."""
    parts = [
        f"{kind}: {_pairs(threads.counts[f'deleted {kind}'].dropped)}"
        for kind in ("submissions", "comments")
        if f"deleted {kind}" in threads.counts
    ]
    return f" ({'; '.join(parts)})" if parts else ""


def _labelling(facts: Facts) -> list[str]:
    manifests = facts.manifests
    notes = [
        f"`{stage}`: {note}" for stage in STAGES for note in (manifests[stage].notes if stage in manifests else ())
    ]
    labels = (
        "People judged category, links, entities and request of each thread."
        if facts.judged
        else "**No person has judged these threads: everything is as the models left it.**"
    )
    return [
        _answer(
            "How were entities and requests made?",
            f"Entities by {facts.models['extract']}, each checked against the text that is to name it; requests by "
            f"{facts.models['queries']}, refused where they name an answer. The {facts.answers:,} answers of the "
            "models come with the release (`making/answers.jsonl`), by the hash of their question: with the same dumps "
            "the corpus can be made again without asking a model.",
        ),
        _answer(
            "What was judged by people?",
            f"{labels} `making/labels.jsonl` has what was decided." if facts.judged else labels,
        ),
        _answer(
            "What did the stages note?", "\n".join(["", *(f"- {escape_markdown(note)}" for note in notes)])
        ),
    ]  # fmt: skip


def _uses(facts: Facts) -> list[str]:
    chance = ", ".join(f"{name} {100 * value:.2f} %" for name, value in facts.about.chance.items())
    return [
        _answer(
            "What is it for?",
            f"To compare systems that recommend music in conversations. A random order of the pools reaches {chance}; "
            "a score means what it has beyond that.",
        ),
        _answer(
            "What is it not for?",
            "To train systems that are then scored on it; to learn about the people who wrote it; as a measure of "
            "taste: upvotes of some communities at some time are what counts as right.",
        ),
    ]


def _distribution(facts: Facts) -> list[str]:
    removed = facts.counts["threads"].dropped.get("taken down", 0)
    return [
        _answer(
            "Under which terms?", f"`LICENCES.md` says it part by part; labels and pools: {facts.options.licence}."
        ),
        _answer(
            "Was anything removed on request?",
            f"{facts.takedown:,} ids are on the list `takedown.txt`; {removed:,} threads of this corpus are gone for "
            "it. Whoever keeps an older release is asked to remove the same.",
        ),
    ]


def _maintenance(facts: Facts) -> list[str]:
    return [
        _answer("Who maintains it?", escape_markdown(facts.options.contact or facts.options.by) or _OPEN),
        _answer(
            "Will it be updated?",
            "A release with other threads or pools has another fingerprint, and scores are told apart by it: "
            f"this one is `{facts.about.fingerprint}`.",
        ),
    ]


def _stages(facts: Facts) -> list[str]:
    made = [facts.manifests[stage] for stage in STAGES if stage in facts.manifests]
    times = [(one.stage, f"{one.wall_s:,.1f}", one.created_at, _pairs(one.versions)) for one in made]
    parameters = [(one.stage, name, _shown(value)) for one in made for name, value in one.parameters.items()]
    counted = [
        (one.stage, kind, f"{counts.seen:,}", f"{counts.kept:,}", _pairs(counts.dropped))
        for one in made
        for kind, counts in one.counts.items()
    ]
    return [
        _table(("stage", "rows", "in", "kept", "left out, by reason"), counted),
        _table(("stage", "seconds", "ended", "versions"), times),
        _table(("stage", "parameter", "value"), parameters),
    ]


def _answer(question: str, text: str) -> str:
    return f"**{question}** {text}"


def _pairs(values: Mapping[str, object]) -> str:
    return ", ".join(
        f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}" for name, value in values.items()
    )


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else to_json(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [list(head), ["---"] * len(head), *([escape_markdown(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
