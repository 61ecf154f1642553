"""So many requests a second of one address."""

from collections import OrderedDict

MOST_ADDRESSES = 10_000


class RateLimit:
    """A bucket for each address that fills at `rate` a second and holds twice that.

    Examples
    --------
    >>> limit = RateLimit(1.0)
    >>> [limit.wait("a", now) for now in (0.0, 0.0, 0.0, 1.5)]
    [0.0, 0.0, 1.0, 0.0]
    """

    def __init__(self, rate: float) -> None:
        self._rate, self._most = rate, max(1.0, 2 * rate)
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, address: str, now: float) -> float:
        """Take one from the bucket and give 0, or give the seconds until there is one."""
        if self._rate <= 0:
            return 0.0
        left, seen = self._left.pop(address, (self._most, now))
        left = min(self._most, left + self._rate * (now - seen))
        allowed = left >= 1.0
        self._left[address] = (left - 1.0 if allowed else left, now)
        if len(self._left) > MOST_ADDRESSES:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1.0 - left) / self._rate
