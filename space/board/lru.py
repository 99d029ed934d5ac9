"""Cache of the values that readers asked for last: tables, rendered views and comparisons."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Any, TypeVar, cast

Value = TypeVar("Value")

_OTHER_BYTES = 100_000  # assumed for a value that is no text, such as a comparison


class RecentValues:
    """Keeps the values that were used last. Safe to use from many threads.

    Simultaneous readers of one value wait for a single computation of it.

    Args:
        size: Number of values to keep.
        most_bytes: Size of the kept texts together. A value that is no text counts as 100 kB.
    """

    def __init__(self, size: int = 512, most_bytes: int = 64_000_000) -> None:
        self.size, self.most_bytes = size, most_bytes
        self._lock = Lock()
        self._values: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._bytes: dict[Hashable, int] = {}

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """Return the value of a key, computed if it is not kept.

        Args:
            key: Name of the value, with the state of the leaderboard that it depends on.
            compute: Computes the value. Readers of other keys do not wait for it. An error is not kept.
        """
        with self._lock:
            future = self._values.get(key)
            is_new = future is None
            if future is None:
                future = self._values[key] = Future()
            self._values.move_to_end(key)
        if is_new:
            try:
                value = compute()
            except BaseException as error:
                with self._lock:
                    self._forget(key)
                future.set_exception(error)
                raise
            future.set_result(value)
            with self._lock:
                self._bytes[key] = len(value) if isinstance(value, str | bytes) else _OTHER_BYTES
                while len(self._values) > self.size or sum(self._bytes.values()) > self.most_bytes:
                    self._forget(next(iter(self._values)))
        return cast("Value", future.result())

    def _forget(self, key: Hashable) -> None:
        self._values.pop(key, None)
        self._bytes.pop(key, None)
