"""Owners and terms of the parts of a release."""

from __future__ import annotations

from typing import NamedTuple

from .options import ReleaseOptions

# Terms of the models of the paper. Other models state theirs in their model cards.
_MODELS = {
    "Qwen/Qwen2.5-7B-Instruct": "Apache-2.0",
    "google/gemma-3-12b-it": "[Gemma Terms of Use](https://ai.google.dev/gemma/terms)",
}

_REDDIT = (
    "[Reddit's User Agreement](https://redditinc.com/policies/user-agreement), its "
    "[Data API Terms](https://redditinc.com/policies/data-api-terms) and its [Public Content Policy]"
    "(https://support.reddithelp.com/hc/en-us/articles/26410290525844-Public-Content-Policy)"
)
_YOUTUBE = "[YouTube's Terms of Service](https://www.youtube.com/t/terms)"


class Part(NamedTuple):
    """A part of a release.

    Attributes:
        what: Name of the part.
        whose: Its owner.
        terms: Its terms.
    """

    what: str
    whose: str
    terms: str


def parts(options: ReleaseOptions, models: dict[str, str]) -> list[Part]:
    """List the parts of a release.

    Args:
        options: Name and description of the release.
        models: Model by stage, `extract` and `queries`.
    """
    by, named = options.by or "whoever released it", {stage: _MODELS.get(model) for stage, model in models.items()}
    of = {stage: terms or f"see the card of {models[stage]}" for stage, terms in named.items()}
    return [
        Part(
            "posts (`post`) and titles named in replies",
            "those who wrote them, on Reddit",
            f"theirs, under {_REDDIT}",
        ),
        Part(
            "names of songs, artists and albums as extracted",
            f"the model {models['extract']}, checked against the texts",
            f"{options.licence}; the model: {of['extract']}",
        ),
        Part(
            "requests (`query`)",
            f"the model {models['queries']}, and the annotators who edited them",
            f"{options.licence}; the model: {of['queries']}",
        ),
        Part("labels, ground truth, pools, selection", by, options.licence),
        Part(
            "links to videos (`links`)",
            "YouTube, and those who posted them",
            f"{_YOUTUBE}",
        ),
        Part(
            "clips and the videos behind the links",
            "the holders of the rights in the recordings",
            "no licence is given; check what your law allows before you pass clips on",
        ),
        Part("the code that made it", "the musicrs project", "Apache-2.0"),
    ]


def terms_in_words(options: ReleaseOptions) -> str:
    """Return the terms of a release in Markdown, for its card."""
    return (
        "There is no single licence; the parts have different terms.\n\n"
        f"- **Posts, and titles named in replies**, belong to those who wrote them. They come from Reddit under "
        f"{_REDDIT}: "
        "no commercial use without Reddit's consent, and what its author deletes there must go here, too "
        "(`takedown.txt`). Do not try to find out who wrote a text.\n"
        f"- **Links to videos, and clips** come from YouTube. {_YOUTUBE} apply to the links. The recordings belong to "
        "the holders of their rights. No licence to clips is given: check what your law allows before you use them or "
        "pass them on.\n"
        f"- **Queries, labels, pools and the selection**: {options.licence}. The terms of the language models apply to "
        "what these wrote.\n\n"
        "`LICENCES.md` has the terms of each part."
    )


def licences(options: ReleaseOptions, models: dict[str, str]) -> str:
    """Return the text of `LICENCES.md`."""
    rows = "\n".join(f"| {part.what} | {part.whose} | {part.terms} |" for part in parts(options, models))
    return f"# Licences of {options.display_title}\n\n| part | whose | terms |\n|---|---|---|\n{rows}\n"
