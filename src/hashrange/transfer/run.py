"""What all parts of a transfer share."""

from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

import msgspec

from hashrange.transfer.progress import Progress
from hashrange.transfer.rejections import Rejections
from hashrange.transfer.scanning import Pace
from hashrange.transfer.state import StateFile
from hashrange.transfer.stopping import Stop


class Run(msgspec.Struct, frozen=True):
    """One run of a transfer."""

    state: StateFile
    stop: Stop
    progress: Progress
    rejections: Rejections
    parallel: int
    pace: Pace

    def in_parallel(self, work: Callable[[int], None]) -> None:
        """Do something for every segment of a scan; if one fails the others stop, and all of them are remembered."""
        with ThreadPoolExecutor(len(self.state.state.segments)) as pool:
            futures = [pool.submit(work, number) for number in range(len(self.state.state.segments))]
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            failures = [error for future in done if (error := future.exception()) is not None]
            if failures:
                self.stop.set()
        if failures:
            raise failures[0]
