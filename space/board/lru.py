"""Cache of the values that were used last, for one state of the leaderboard."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class StateCache(Generic[Value]):
    """Keeps values as long as the state is the same object. Safe to use from many threads.

    Args:
        size: Number of values to keep.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._lock = Lock()
        self._state: object = None
        self._values: OrderedDict[Hashable, Value] = OrderedDict()

    def get(self, state: object, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return the value of a key, computed if it is not kept.

        Args:
            state: The object that the value depends on, such as a snapshot. Another object empties the cache.
            key: Name of the value.
            compute: Computes the value. It runs outside of the lock, so readers of other keys do not wait.
        """
        with self._lock:
            if self._state is not state:
                self._state, self._values = state, OrderedDict()
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = compute()
        with self._lock:
            if self._state is state:
                self._values[key] = value
                while len(self._values) > self.size:
                    self._values.popitem(last=False)
        return value
