"""From a table to a table: parallel scans, each of which writes what it reads."""

from typing import Any

from hashrange.transfer.endpoint import Endpoint
from hashrange.transfer.run import Run
from hashrange.transfer.scanning import Page, pages
from hashrange.transfer.state import Segment
from hashrange.transfer.writing import Put, TableWriter


def copy(source: Endpoint, writer: TableWriter, run: Run, description: dict[str, Any]) -> None:
    """Copy all items that are there from the scan's beginning to its end; changes in between may be missed."""
    state = run.state.state
    if not state.segments:
        state.segments = [Segment() for _ in range(run.parallel)]
        run.state.save()
    done = sum(segment.items for segment in state.segments)
    run.progress.begin("copied", count=done, total=description.get("ItemCount"))

    def copy_segment(number: int) -> None:
        segment = state.segments[number]
        if segment.done:
            return
        for page in pages(source, number, len(state.segments), position=segment.position, pace=run.pace):
            # The keys of a table are different: their numbers are enough to tell them apart.
            refusals = writer.write_here(Put(index, item) for index, item in enumerate(page.items))
            for refusal in refusals:
                run.rejections.add(refusal.message)
            remember(run, segment, page, rejected=len(refusals))

    run.in_parallel(copy_segment)


def remember(run: Run, segment: Segment, page: Page, *, rejected: int = 0) -> None:
    """A page of a segment is where it should be."""
    with run.state.lock:
        segment.position = page.position
        segment.done = page.position is None
        segment.items += len(page.items)
        segment.rejected += rejected
        run.state.save_sometimes()
    run.progress.add(len(page.items))
