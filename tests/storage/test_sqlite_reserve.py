"""The reserve: held while there is room, given up on a full disk for steps that free space, and for no others."""

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from hashrange.storage.engine import Transaction
from hashrange.storage.errors import DiskFull
from hashrange.storage.sqlite import SqliteEngine, guard
from hashrange.storage.sqlite.reserve import RESERVE_BYTES_MAX, RESERVE_NAME, Reserve


@pytest.fixture
def reserve(tmp_path: Path) -> Reserve:
    return Reserve(tmp_path / RESERVE_NAME, 5000)


def held_bytes(directory: Path) -> int:
    return (directory / RESERVE_NAME).stat().st_size


def test_it_is_held_if_it_fits(reserve: Reserve, tmp_path: Path) -> None:
    reserve.hold(4999)
    assert reserve.missing_bytes() == 5000
    reserve.hold(5000)
    assert reserve.missing_bytes() == 0
    assert held_bytes(tmp_path) == 5000
    assert (tmp_path / RESERVE_NAME).stat().st_blocks * 512 >= 5000


def test_it_is_given_up_once_and_held_again(reserve: Reserve, tmp_path: Path) -> None:
    assert not reserve.give_up()
    reserve.hold(5000)
    assert reserve.give_up()
    assert held_bytes(tmp_path) == 0
    assert not reserve.give_up()
    reserve.hold(5000)
    assert reserve.missing_bytes() == 0


def test_a_directory_that_is_gone_has_none(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / "gone" / RESERVE_NAME, 5000)
    reserve.hold(5000)
    assert reserve.missing_bytes() == 5000
    assert not reserve.give_up()


class SmallVolume:
    """A volume of which some bytes are free besides what the reserve takes."""

    def __init__(self, directory: Path) -> None:
        self._reserve = directory / RESERVE_NAME
        self.free_bytes = 2**40

    def statvfs(self, _path: object) -> SimpleNamespace:
        held = self._reserve.stat().st_size if self._reserve.exists() else 0
        return SimpleNamespace(f_bavail=max(0, self.free_bytes - held), f_frsize=1, f_blocks=2**40)


@pytest.fixture
def volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallVolume:
    small = SmallVolume(tmp_path)
    monkeypatch.setattr(guard, "LOOK_SECONDS", 0)
    monkeypatch.setattr(os, "statvfs", small.statvfs)
    return small


def put(tx: Transaction) -> None:
    tx.put(b"k", b"v")


def freeing_put(tx: Transaction) -> None:
    tx.use_reserve()
    tx.put(b"k", b"v")


def test_only_a_step_that_frees_space_uses_it(volume: SmallVolume, tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path)
    engine.write(put)
    assert held_bytes(tmp_path) == RESERVE_BYTES_MAX
    volume.free_bytes = RESERVE_BYTES_MAX + 1000
    with pytest.raises(DiskFull):
        engine.write(put)
    assert held_bytes(tmp_path) == RESERVE_BYTES_MAX
    engine.write(lambda tx: [freeing_put(tx), tx.put(b"grow", bytes(100_000))])
    assert held_bytes(tmp_path) == 0
    with pytest.raises(DiskFull):
        engine.write(put)
    volume.free_bytes = RESERVE_BYTES_MAX + 4 * guard.MARGIN_BYTES
    engine.write(put)
    assert held_bytes(tmp_path) == RESERVE_BYTES_MAX
    engine.close()


def test_steps_that_share_its_commit_do_not(volume: SmallVolume, tmp_path: Path) -> None:
    waiting: list[Callable[[], None]] = []
    engine = SqliteEngine.open(tmp_path, call_soon=waiting.append)
    engine.write(put)
    volume.free_bytes = 1000 + RESERVE_BYTES_MAX
    outcomes: list[type | None] = []
    for step in (put, put, freeing_put, put):
        engine.submit(step, lambda _result, error: outcomes.append(type(error) if error else None))
    for _ in range(100):
        if not waiting or len(outcomes) == 4:
            break
        waiting.pop(0)()
    engine.close()
    assert outcomes == [DiskFull, DiskFull, None, DiskFull]
