"""The tokens that may come next in an answer that lists distinct candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class _Node:
    children: dict[int, _Node] = field(default_factory=dict)
    unused: list[int] = field(default_factory=list)  # unused candidates that end at this node
    n_unused: int = 0  # unused candidates at this node and below


class CandidateTrie:
    """Follows an answer token by token.

    Each candidate is a sequence of tokens that ends with a separator. No sequence may be the beginning of another. This
    holds if the separator occurs only at the end. Candidates with equal sequences are listed in their order.

    Args:
        sequences: One per candidate, at least one token each.

    Attributes:
        order: Indices of the candidates that the answer has listed so far.

    Raises:
        ValueError: A sequence is the beginning of another, which could then never be chosen.
    """

    def __init__(self, sequences: Sequence[Sequence[int]]) -> None:
        self._root = _Node()
        self.order: list[int] = []
        for index, tokens in enumerate(sequences):
            self._add(index, tokens)
        self._path = [self._root]
        self._n_followed = 0

    def __call__(self, answer: Sequence[int]) -> list[int]:
        """Return the tokens that may come next; none if every candidate is listed.

        Args:
            answer: All tokens so far: those of the previous call, then allowed ones.
        """
        for token in answer[self._n_followed :]:
            self._follow(token)
        self._n_followed = len(answer)
        return sorted(token for token, node in self._path[-1].children.items() if node.n_unused)

    def _add(self, index: int, tokens: Sequence[int]) -> None:
        node = self._root
        node.n_unused += 1
        for token in tokens:
            if node.unused:
                raise ValueError(f"the tokens of candidate {node.unused[0]} begin those of candidate {index}")
            node = node.children.setdefault(token, _Node())
            node.n_unused += 1
        if node.children:
            raise ValueError(f"the tokens of candidate {index} begin those of another one")
        node.unused.append(index)

    def _follow(self, token: int) -> None:
        self._path.append(self._path[-1].children[token])
        if self._path[-1].unused:
            self.order.append(self._path[-1].unused.pop(0))
            for node in self._path:
                node.n_unused -= 1
            self._path = [self._root]
