"""Memory that is in use gets pages of 2 MB; what is hardly used keeps its small ones."""

import errno
import mmap
import time
from collections.abc import Callable, Iterator
from ctypes import CDLL, addressof, c_char, c_size_t, c_void_p, create_string_buffer
from pathlib import Path

import pytest

from hashrange import huge_pages
from hashrange.huge_pages import UNIT_BYTES, HugePages, Mapping, is_enabled, mappings

_UNITS = 3
_PAGE = mmap.PAGESIZE

works = pytest.mark.skipif(not is_enabled(), reason="this system has no huge pages")


@pytest.fixture
def memory() -> Iterator[mmap.mmap]:
    """Memory of which nothing is in use, with some whole units in it."""
    with mmap.mmap(-1, (_UNITS + 1) * UNIT_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as mapped:
        yield mapped


def _units(memory: mmap.mmap) -> list[int]:
    """Where the whole units of this memory begin in it."""
    start = addressof(c_char.from_buffer(memory))
    return [unit - start for unit in Mapping(start, start + len(memory)).units()]


def _resident_pages(memory: mmap.mmap, unit: int) -> int:
    """How many pages of a unit are in memory: all of them, once they were put together."""
    resident = create_string_buffer(UNIT_BYTES // _PAGE)
    start = addressof(c_char.from_buffer(memory))
    assert CDLL(None).mincore(c_void_p(start + unit), c_size_t(UNIT_BYTES), resident) == 0
    return sum(page & 1 for page in resident.raw)


def test_heap_and_memory_without_a_file_are_found() -> None:
    lines = [
        "00400000-00600000 rw-p 00000000 08:01 1234  /usr/bin/python3",
        "00600000-00a00000 rw-p 00000000 00:00 0     [heap]",
        "7f0000000000-7f0000800000 rw-p 00000000 00:00 0 ",
        "7f0000800000-7f0000a00000 ---p 00000000 00:00 0 ",
        "7f0001000000-7f0001800000 rw-s 00000000 00:01 77  /dev/zero (deleted)",
        "7ffc00000000-7ffc00800000 rw-p 00000000 00:00 0     [stack]",
    ]
    found = list(mappings(lines))
    assert found == [Mapping(0x600000, 0xA00000), Mapping(0x7F0000000000, 0x7F0000800000)]


@pytest.mark.parametrize(
    ("start", "end", "units"),
    [
        (0, UNIT_BYTES, 1),
        (0, UNIT_BYTES - _PAGE, 0),
        (_PAGE, UNIT_BYTES + _PAGE, 0),
        (_PAGE, 2 * UNIT_BYTES, 1),
        (UNIT_BYTES, 3 * UNIT_BYTES + _PAGE, 2),
    ],
)
def test_only_whole_units_are_taken(start: int, end: int, units: int) -> None:
    taken = list(Mapping(start, end).units())
    assert len(taken) == units
    assert all(unit % UNIT_BYTES == 0 and start <= unit and unit + UNIT_BYTES <= end for unit in taken)


@works
def test_what_is_in_use_is_put_together_and_keeps_its_content(memory: mmap.mmap) -> None:
    unit = _units(memory)[0]
    content = bytes([7]) * (UNIT_BYTES * 3 // 4)
    memory[unit : unit + len(content)] = content
    before = _resident_pages(memory, unit)
    HugePages().look()
    if _resident_pages(memory, unit) == before:
        pytest.skip("this kernel cannot put pages together (from Linux 6.1 on), or has no memory for it")
    assert _resident_pages(memory, unit) == UNIT_BYTES // _PAGE
    assert memory[unit : unit + UNIT_BYTES] == content + bytes(UNIT_BYTES - len(content))


@works
def test_what_is_hardly_in_use_takes_no_more_memory(memory: mmap.mmap) -> None:
    used = UNIT_BYTES // _PAGE * 3 // 4 - 1
    unit = _units(memory)[0]
    for page in range(used):
        memory[unit + page * _PAGE] = 1
    HugePages().look()
    assert _resident_pages(memory, unit) == used


@works
def test_a_thread_looks_when_more_memory_is_in_use(
    memory: mmap.mmap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huge_pages, "LOOK_SECONDS", 0.01)
    looks: list[bool] = []
    looked = HugePages.look

    def look(pages: HugePages) -> bool:
        looks.append(looked(pages))
        return looks[-1]

    monkeypatch.setattr(HugePages, "look", look)
    pages = HugePages()
    pages.start()
    try:
        _until(lambda: True in looks)
        before = len(looks)
        memory[:] = bytes(len(memory))
        _until(lambda: len(looks) > before)
    finally:
        pages.stop()
    after = len(looks)
    time.sleep(0.05)
    assert len(looks) == after, "a thread that was stopped looks no more"


@works
def test_what_the_kernel_has_no_memory_for_is_tried_again(
    memory: mmap.mmap, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory[:] = bytes(len(memory))
    pages = HugePages()
    monkeypatch.setattr(HugePages, "_collapse", lambda _pages, _unit: False)
    assert not pages.look()
    monkeypatch.setattr(HugePages, "_collapse", lambda _pages, _unit: True)
    assert pages.look()


@works
def test_one_unit_without_memory_holds_up_no_other(
    memory: mmap.mmap, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory[:] = bytes(len(memory))
    start = addressof(c_char.from_buffer(memory))
    mine = [start + unit for unit in _units(memory)]
    tried: list[int] = []

    def collapse(_pages: HugePages, unit: int) -> bool:
        tried.append(unit)
        return unit != mine[0]

    monkeypatch.setattr(HugePages, "_collapse", collapse)
    assert not HugePages().look()
    assert set(mine) <= set(tried)


@works
def test_a_look_ends_when_there_is_no_memory_at_all(
    memory: mmap.mmap, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory[:] = bytes(len(memory))
    tried: list[int] = []
    monkeypatch.setattr(huge_pages, "FAILURES_MAX", 2)
    monkeypatch.setattr(HugePages, "_collapse", lambda _pages, unit: tried.append(unit))
    assert not HugePages().look()
    assert len(tried) == huge_pages.FAILURES_MAX


def test_the_thread_outlives_a_moment_without_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huge_pages, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(huge_pages, "is_enabled", lambda: True)
    looks: list[int] = []

    def look(_pages: HugePages) -> bool:
        looks.append(1)
        raise OSError(errno.EMFILE, "made up")

    monkeypatch.setattr(HugePages, "look", look)
    pages = HugePages()
    pages.start()
    try:
        _until(lambda: len(looks) > 1)
    finally:
        pages.stop()


@pytest.mark.parametrize(
    ("text", "enabled"),
    [
        ("always [madvise] never\n", True),
        ("[always] madvise never\n", True),
        ("always madvise [never]\n", False),
    ],
)
def test_whoever_runs_the_system_can_turn_them_off(tmp_path: Path, *, text: str, enabled: bool) -> None:
    setting = tmp_path / "enabled"
    setting.write_text(text)
    assert is_enabled(setting) == enabled


def test_a_system_without_them_has_none(tmp_path: Path) -> None:
    assert not is_enabled(tmp_path / "enabled")


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)
