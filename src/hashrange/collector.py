"""When Python looks for garbage in cycles: never while a large request is in work.

Reference counting frees nearly everything. What is left are cycles, which a collection finds by looking at every object
made since the last one, in one piece during which all threads wait: a third of a second for a request of 150,000
conditions. Python begins one whenever so many objects have been made, and that is the moment at which there are many
because somebody is using them. So its own collections are off. The event loop looks twice a second how many objects
are young: a few tens of thousands are collected, in some milliseconds, and of more it waits until they are gone.
"""

import gc
from collections.abc import Callable

LOOK_SECONDS = 0.5
YOUNG_MIN = 20_000  # fewer are not worth a look
YOUNG_MAX = 60_000  # 20 ms; more belong to a large request, or to hundreds that all come at once
POSTPONED_MAX = 60  # looks, one after the other
_PASSES_PER_GENERATION = 10

CallLater = Callable[[float, Callable[[], None]], object]


class Collector:
    """Collects in the event loop's time. Python's own collections are off while it runs."""

    def __init__(self, call_later: CallLater) -> None:
        self._call_later = call_later
        self._passes = 0
        self._postponed = 0
        self._is_stopped = False
        self._lasting = 0  # objects that stay for good
        self._has_set_aside = False

    def start(self) -> None:
        """Take over from Python. What there is by now stays for good, and need not be looked at again."""
        gc.collect()
        self._freeze()
        gc.disable()
        self._call_later(LOOK_SECONDS, self._look_again)

    def stop(self) -> None:
        """Give back to Python."""
        self._is_stopped = True
        gc.enable()

    def _look_again(self) -> None:
        if not self._is_stopped:
            self.look()
            self._call_later(LOOK_SECONDS, self._look_again)

    def look(self) -> None:
        """Collect, if there is something to collect and it can be done in short."""
        young = gc.get_count()[0]
        if young > YOUNG_MAX:
            self._postpone()
            return
        self._postponed = 0
        if self._has_set_aside:
            # They do not count as young, and the request that they belong to may still be in work.
            if gc.get_freeze_count() <= self._lasting + YOUNG_MAX:
                self._collect_all()
        elif young >= YOUNG_MIN:
            self._collect_young()

    def _postpone(self) -> None:
        """Wait; but if large requests follow one another for long, do without a look at what there is now.

        Objects that were set aside are freed as all others when nobody refers to them. Only cycles among them stay
        until it is quiet.
        """
        self._postponed += 1
        if self._postponed > POSTPONED_MAX:
            gc.freeze()
            self._has_set_aside = True
            self._postponed = 0

    def _collect_young(self) -> None:
        """Collect what was made since the last time; every now and then also what has outlived that, as Python does."""
        self._passes += 1
        if self._passes % _PASSES_PER_GENERATION**2 == 0:
            gc.collect()
        else:
            gc.collect(1 if self._passes % _PASSES_PER_GENERATION == 0 else 0)

    def _collect_all(self) -> None:
        gc.unfreeze()
        gc.collect()
        self._freeze()
        self._has_set_aside = False

    def _freeze(self) -> None:
        gc.freeze()
        self._lasting = gc.get_freeze_count()
