"""From what a model wrote to a ranking of the pool, with an account of what was read, what was not and what was added.

`read_answer` reads one answer; `complete_ranking` appends what it does not name. How an answer may look:

    one item a line, numbered or bulleted or neither; items between commas, semicolons, bars or `>`; a table; JSON,
    whole or cut off; in a code fence, after a thinking block, with talk before and after; `Title - Artist`, quoted or
    bold; and, where the prompt asked for numbers, identifiers such as `[11] > [3]`

Which of these it is is decided by how many candidates are named under each, never by text that names none.
"""

from .complete import complete_ranking
from .read import read_answer
from .result import Item, Ledger, Reading

__all__ = ["Item", "Ledger", "Reading", "complete_ranking", "read_answer"]
