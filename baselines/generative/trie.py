"""Which token may come next, where an answer has to be a list of distinct candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class _Node:
    children: dict[int, _Node] = field(default_factory=dict)
    places: list[int] = field(default_factory=list)  # candidates that end here and are not used yet
    left: int = 0  # the same, here and below


class CandidateTrie:
    """Follows an answer token by token.

    Each candidate is a sequence of tokens that ends in a separator; no sequence may be the beginning of another, which
    holds where the separator stands in none of them before its end. Candidates of one and the same sequence are listed
    in their order.

    Args:
        sequences: One per candidate, at least one token each.

    Attributes:
        order: Places of the candidates that the answer has listed so far.

    Raises:
        ValueError: A sequence is the beginning of another, which could never be chosen.
    """

    def __init__(self, sequences: Sequence[Sequence[int]]) -> None:
        self._root = _Node()
        self.order: list[int] = []
        for place, tokens in enumerate(sequences):
            self._add(place, tokens)
        self._path = [self._root]
        self._n_followed = 0

    def __call__(self, answer: Sequence[int]) -> list[int]:
        """The tokens that may come next; none where every candidate is listed.

        Args:
            answer: All tokens so far: those of the call before, and more of those that were allowed.
        """
        for token in answer[self._n_followed :]:
            self._follow(token)
        self._n_followed = len(answer)
        return sorted(token for token, node in self._path[-1].children.items() if node.left)

    def _add(self, place: int, tokens: Sequence[int]) -> None:
        node = self._root
        node.left += 1
        for token in tokens:
            if node.places:
                raise ValueError(f"the tokens of candidate {node.places[0]} begin those of candidate {place}")
            node = node.children.setdefault(token, _Node())
            node.left += 1
        if node.children:
            raise ValueError(f"the tokens of candidate {place} begin those of another one")
        node.places.append(place)

    def _follow(self, token: int) -> None:
        self._path.append(self._path[-1].children[token])
        if self._path[-1].places:
            self.order.append(self._path[-1].places.pop(0))
            for node in self._path:
                node.left -= 1
            self._path = [self._root]
