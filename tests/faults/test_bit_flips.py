"""Bits that change on disk: whoever reads gets the truth or an error, never anything else."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from faults.stores import Answers, answers, fill, note, opened, opened_by_workers
from faults.tables import NOTES
from hashrange.storage.errors import Corrupt, StorageError
from hashrange.storage.sqlite.read_only import ReadOnlyStore
from hashrange.storage.verification import Report, verify
from sizes import size
from storage.damage import flip

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]

SEED = 20261116
FLIPS = int(os.environ.get("HASHRANGE_BIT_FLIPS", size(20, 60)))
VERIFIED_EVERY = 1 + FLIPS // 300  # in a long run: verification takes longer than all else together


def verified(directory: Path) -> Report | None:
    """The report of a verification; None if the store cannot be opened."""
    try:
        store = ReadOnlyStore(directory)
    except StorageError:
        return None
    try:
        return verify(store, lambda _rows: None)
    finally:
        store.close()


def damaged_answers(directory: Path) -> list[Answers]:
    """What a client sees; nothing if the server does not start."""
    try:
        with opened(directory) as service:
            return [answers(service, is_corrupt)]
    except StorageError:
        return []


def answers_of_workers(directory: Path) -> list[Answers]:
    """What a client of each worker sees."""
    try:
        with opened_by_workers(directory) as services:
            return [answers(service, is_corrupt) for service in services]
    except StorageError:
        return []


def is_corrupt(error: Exception) -> bool:
    return isinstance(error, Corrupt)


View = Callable[[Path], list[Answers]]
VIEWS = {"alone": damaged_answers, "workers": answers_of_workers}


def check_flip(directory: Path, view: View, expected: list[Answers], *, verifies: bool) -> bool:
    """Compare a damaged store with what it may show; whether the damage was noticed."""
    views = view(directory)
    noticed = [check_answers(seen, expected) for seen in views]
    if any(noticed) and verifies:
        report = verified(directory)
        assert report is None or report.problem_count, "verify has not found what clients met"
    return any(noticed) or not views


def check_answers(seen: Answers, expected: list[Answers]) -> bool:
    """Every answer must be right or an error; whether one is an error."""
    wrong = [
        (number, answer)
        for number, answer in enumerate(seen)
        if not isinstance(answer, Corrupt) and all(answer != whole[number] for whole in expected)
    ]
    assert wrong == []
    return any(isinstance(answer, Corrupt) for answer in seen)


def offsets(random: Random, size: int) -> list[int]:
    """The header in small steps, and places everywhere else."""
    return [*range(0, 100, 9), *(random.randrange(size) for _ in range(FLIPS))]


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_flipped_bit_in_the_file_is_noticed_or_harmless(tmp_path: Path, view: View) -> None:
    whole = tmp_path / "whole"
    with opened(whole) as service:
        fill(service)
        expected = answers(service)
    assert verified(whole) == Report(tables=2, rows=verified_rows(whole))
    random, noticed = Random(SEED), 0
    places = offsets(random, (whole / "hashrange.db").stat().st_size)
    for number, offset in enumerate(places):
        damaged = tmp_path / f"damaged-{number}"
        shutil.copytree(whole, damaged)
        flip(damaged / "hashrange.db", offset, 1 << random.randrange(8))
        noticed += check_flip(damaged, view, [expected], verifies=number % VERIFIED_EVERY == 0)
        shutil.rmtree(damaged)
    assert noticed > len(places) // 2


def verified_rows(directory: Path) -> int:
    report = verified(directory)
    assert report is not None
    return report.rows


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_flipped_bit_in_the_log_is_noticed_or_looks_like_a_commit_that_was_never_finished(
    tmp_path: Path, view: View
) -> None:
    running, whole = tmp_path / "running", tmp_path / "whole"
    with opened(running) as service:
        fill(service)
        before = answers(service)
        service.call("PutItem", TableName=NOTES, Item=note(7) | {"last": {"S": "write"}})
        after = answers(service)
        shutil.copytree(running, whole)
    random, noticed = Random(SEED), 0
    places = offsets(random, (whole / "hashrange.db-wal").stat().st_size)
    for number, offset in enumerate(places):
        damaged = tmp_path / f"damaged-{number}"
        shutil.copytree(whole, damaged)
        flip(damaged / "hashrange.db-wal", offset, 1 << random.randrange(8))
        noticed += check_flip(damaged, view, [after, before], verifies=number % VERIFIED_EVERY == 0)
        shutil.rmtree(damaged)
    assert noticed > len(places) // 2
