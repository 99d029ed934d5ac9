"""Conversion of the answer of a language model into a ranking, with counts of read, unknown and added titles.

`read_answer` reads one answer in a stated order, which its docstring gives; `complete_ranking` appends the candidates
that the answer does not name. An answer may be lines (numbered, bulleted or bare), rows with commas, semicolons, bars
or `>`, a table, JSON, HTML or XML; in a code fence, after thinking, with talk before and after; with titles, or, where
the prompt asked for numbers, with identifiers such as `[11] > [3]`.

A piece of text is a candidate only as a whole or in front of a border such as a dash, never by a part of its words.
"""

from .complete import complete_ranking
from .read import read_answer
from .result import Item, Ledger, Reading

__all__ = ["Item", "Ledger", "Reading", "complete_ranking", "read_answer"]
