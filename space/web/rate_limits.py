"""How often somebody may ask, and how many may wait: the polite "try again in N s" before a board is worn down."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil

from musicrs_metric.errors import UserError, count

_CALLERS_KEPT = 10_000


class TryLaterError(UserError):
    """Too much at once; nothing is wrong with what was sent.

    Attributes:
        wait_s: After how many seconds it is worth another try.
    """

    def __init__(self, reason: str, wait_s: float) -> None:
        self.wait_s = max(1, ceil(wait_s))
        super().__init__(f"{reason}; try again in {self.wait_s} s")


class RateLimit:
    """At most so many calls of one caller within a window of time.

    Args:
        most: Calls; 0 for no limit.
        window_s: Length of the window in seconds.
        what: What is counted, in the singular.
        clock: Seconds that never run backwards.
    """

    def __init__(self, most: int, window_s: float, what: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self.window_s, self.what, self.clock = most, window_s, what, clock
        self._calls: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def count(self, caller: str) -> None:
        """Count a call.

        Args:
            caller: Who calls, from `caller_of`.

        Raises:
            TryLaterError: The caller has had its share; this call does not count.
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
        if len(self._calls) > _CALLERS_KEPT:  # drops the caller whose last call is the oldest
            self._calls.popitem(last=False)
        while calls and now - calls[0] >= self.window_s:
            calls.popleft()
        if len(calls) >= self.most:
            reason = f"{count(self.most, self.what)} within {count(ceil(self.window_s / 60), 'minute')} is the limit"
            raise TryLaterError(reason, calls[0] + self.window_s - now)
        return calls


class Turns:
    """Work that only a few may do at the same time, while a bounded number waits.

    Args:
        at_once: How many work.
        queue: How many wait, at most.
        takes_s: How long one takes, about, in seconds.
    """

    def __init__(self, at_once: int, queue: int, takes_s: float = 2.0) -> None:
        self.at_once, self.queue, self.takes_s = at_once, queue, takes_s
        self._free = threading.Semaphore(at_once)
        self._lock = threading.Lock()
        self._inside = 0

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn and keep it while the block runs.

        Raises:
            TryLaterError: Too many wait already.
        """
        with self._lock:
            waiting = self._inside - self.at_once
            if waiting >= self.queue:
                reason = f"{count(waiting, 'call')} in the queue already"
                raise TryLaterError(reason, waiting * self.takes_s / self.at_once)
            self._inside += 1
        try:
            with self._free:
                yield
        finally:
            with self._lock:
                self._inside -= 1


def caller_of(username: str | None, headers: Mapping[str, str], host: str | None, *, behind_proxy: bool) -> str:
    """Who a call is counted for: who is signed in, else the address.

    Args:
        username: Name of a signed-in person, told by the server's session and not by the call.
        headers: Of the request, names in lower case.
        host: Address of the other end of the connection.
        behind_proxy: Whether a proxy stands before the server, which adds the address that it sees at the right end of
            X-Forwarded-For. All that stands left of it was sent by the caller and proves nothing.

    Returns:
        A text that is the same for the same caller. Addresses of version 6 count by their network of 64 bits, since
        that is what one household has.
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
