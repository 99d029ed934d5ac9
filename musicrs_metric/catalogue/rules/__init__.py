"""Evaluation rules of other corpora (`score --as`), which reproduce their published numbers from released files."""
