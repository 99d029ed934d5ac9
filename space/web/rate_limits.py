"""Limits on the number of calls per caller and of waiting calls, with the time after which to try again."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil

from musicrs_metric.errors import UserError, count

_CALLERS = 10_000


class TryLaterError(UserError):
    """A limit is reached. The call itself has no fault.

    Attributes:
        wait_s: Seconds after which another try may succeed.
    """

    def __init__(self, reason: str, wait_s: float) -> None:
        self.wait_s = max(1, ceil(wait_s))
        super().__init__(f"{reason}; try again in {self.wait_s} s")


class RateLimit:
    """Limit on the calls of one caller within a window of time.

    Args:
        most: Largest number of calls; 0 for no limit.
        window_s: Length of the window in seconds.
        what: Noun for the message, in the singular.
        clock: Returns seconds that never run backwards.
    """

    def __init__(self, most: int, window_s: float, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.window_s, self.what, self.clock = most, window_s, what, clock
        self._calls: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def count(self, caller: str) -> None:
        """Count a call.

        Args:
            caller: The caller, from `caller_of`.

        Raises:
            TryLaterError: The limit is reached. This call does not count.
        """
        if self.most:
            with self._lock:
                self._calls_left(caller).append(self.clock())

    def check(self, caller: str) -> None:
        """Refuse a caller who has reached the limit, without counting a call.

        Raises:
            TryLaterError: The limit is reached.
        """
        if self.most:
            with self._lock:
                self._calls_left(caller)

    def left(self, caller: str) -> int | None:
        """Return the number of calls that a caller has left within the window; None for no limit."""
        if not self.most:
            return None
        with self._lock:
            calls = self._calls.get(caller, ())
            return max(0, self.most - sum(self.clock() - moment < self.window_s for moment in calls))

    def take_back(self, caller: str) -> None:
        """Uncount the last call of a caller."""
        with self._lock:
            if calls := self._calls.get(caller):
                calls.pop()

    def _calls_left(self, caller: str) -> deque[float]:
        """Return the times of the calls within the window, if there may be another one."""
        now = self.clock()
        calls = self._calls.setdefault(caller, deque())
        self._calls.move_to_end(caller)
        if len(self._calls) > _CALLERS:  # drops the caller whose last call is the oldest
            self._calls.popitem(last=False)
        while calls and now - calls[0] >= self.window_s:
            calls.popleft()
        if len(calls) >= self.most:
            reason = f"{count(self.most, self.what)} within {count(ceil(self.window_s / 60), 'minute')} is the limit"
            raise TryLaterError(reason, calls[0] + self.window_s - now)
        return calls


class Turns:
    """Limit on simultaneous work, with a queue of limited length.

    Args:
        at_once: Number of calls that work at the same time.
        queue: Largest number of waiting calls.
        takes_s: Approximate duration of one call in seconds.
    """

    def __init__(self, at_once: int, queue: int, takes_s: float = 2.0) -> None:
        self.at_once, self.queue, self.takes_s = at_once, queue, takes_s
        self._free = threading.Semaphore(at_once)
        self._lock = threading.Lock()
        self._inside = 0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, and hold it while the block runs.

        Raises:
            TryLaterError: The queue is full.
        """
        with self._lock:
            waiting = self._inside - self.at_once
            if waiting >= self.queue:
                reason = f"the queue is full with {count(waiting, 'call')}"
                raise TryLaterError(reason, waiting * self.takes_s / self.at_once)
            self._inside += 1
        try:
            with self._free:
                yield
        finally:
            with self._lock:
                self._inside -= 1


def caller_of(username: str | None, headers: Mapping[str, str], host: str | None, *, behind_proxy: bool) -> str:
    """Return the caller that a call counts for: the signed-in user, else the IP address.

    Args:
        username: Name of the signed-in user, from the session of the server.
        headers: Headers of the request, with names in lower case.
        host: IP address of the other end of the connection.
        behind_proxy: True if a proxy in front of the server appends the IP address of its client to X-Forwarded-For.
            The caller can set everything to the left of that address, so it is ignored.

    Returns:
        The same text for the same caller. IPv6 addresses count by their network of 64 bits, the network of one
        household.
    """
    if username:
        return f"user {username}"
    address = headers.get("x-forwarded-for", "").rpartition(",")[2].strip() if behind_proxy else ""
    return f"address {_network(address or host or 'unknown')}"


def _network(address: str) -> str:
    try:
        parsed = ip_address(address)
    except ValueError:
        return address[:64]
    if isinstance(parsed, IPv6Address):
        return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))
    return str(parsed)
