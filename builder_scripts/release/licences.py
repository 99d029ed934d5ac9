"""Owners and terms of the parts of a release."""

from __future__ import annotations

from musicrs_metric.base.html import load_template

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


def terms_in_words(options: ReleaseOptions) -> str:
    """Return the terms of a release in Markdown, for its card."""
    text = load_template(__package__, "terms.md.j2").render(options=options, reddit=_REDDIT, youtube=_YOUTUBE)
    return text.removesuffix("\n")


def licences(options: ReleaseOptions, models: dict[str, str]) -> str:
    """Return the text of `LICENCES.md`: the parts of a release with their owners and terms.

    Args:
        options: Name and description of the release.
        models: Model by stage, `extract` and `queries`.
    """
    terms = {stage: _MODELS.get(model, f"see the card of {model}") for stage, model in models.items()}
    return load_template(__package__, "licences.md.j2").render(
        options=options, models=models, terms=terms, reddit=_REDDIT, youtube=_YOUTUBE
    )
