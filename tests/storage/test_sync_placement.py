"""Whether the event loop waits for the disk itself."""

from hashrange.storage.sqlite.sync_placement import PROBE_COMMITS, SLOW_SECONDS, SyncPlacement


def test_the_loop_waits_for_a_fast_disk_itself_while_there_is_nothing_else_to_do() -> None:
    placement = SyncPlacement()
    assert placement.in_background()
    placement.observe(requests=3, seconds=0.0)
    assert placement.in_background()
    placement.observe(requests=0, seconds=SLOW_SECONDS * 2)
    assert placement.in_background()


def test_one_commit_of_some_is_tried_in_the_background() -> None:
    placement = SyncPlacement()
    places = []
    for _ in range(2 * PROBE_COMMITS):
        places.append(placement.in_background())
        if places[-1]:
            placement.observe(requests=0, seconds=0.0)
    assert places == 2 * [True, *[False] * (PROBE_COMMITS - 1)]
    placement.observe_inline(SLOW_SECONDS * 2)
    assert placement.in_background()
