"""Token buckets: capacity that comes at a rate, is kept up to a depth, and may be overdrawn by one request."""


class Bucket:
    """Tokens are added as time passes, lazily.

    A clock that goes back adds none and takes none, and from there on they are added as before: a bucket that waited
    for the time to come again would be shut for as long as the clock was wrong.
    """

    __slots__ = ("_at", "_level", "depth", "rate")

    def __init__(self, rate: float, depth: float, now: float, level: float | None = None) -> None:
        """Without a `level` the bucket is full."""
        self.rate = rate
        self.depth = depth
        self._level = depth if level is None else min(level, depth)
        self._at = now

    def level(self, now: float) -> float:
        """The tokens at this moment; below zero after a request that cost more than there was."""
        passed = now - self._at
        if passed > 0:
            self._at = now
            level = self._level + passed * self.rate
            # Every request passes here several times, and a call of min() would cost as much as all the rest.
            self._level = level if level < self.depth else self.depth  # noqa: FURB136
        elif passed < 0:
            self._at = now
        return self._level

    def take(self, now: float, units: float) -> None:
        """Take tokens, whether they are there or not. Negative units are given back."""
        passed = now - self._at
        level = self._level
        if passed > 0:
            self._at = now
            level += passed * self.rate
            level = level if level < self.depth else self.depth  # noqa: FURB136
        elif passed < 0:
            self._at = now
        level -= units
        self._level = level if level < self.depth else self.depth  # noqa: FURB136

    def is_full(self, now: float) -> bool:
        """Whether nothing would be lost if the bucket were made anew."""
        return self.level(now) >= self.depth

    def resize(self, now: float, rate: float, depth: float) -> None:
        """Go on with another rate; what was saved stays, as far as it fits."""
        level = self.level(now)
        self.rate = rate
        self.depth = depth
        self._level = min(level, depth)
