"""Sorted runs give back what they were given, in order, however often memory was full."""

from pathlib import Path
from random import Random

import pytest

from hashrange.storage import sorted_runs
from hashrange.storage.sorted_runs import SortedRuns, packed, unpacked


def rows(count: int, seed: int) -> list[tuple[bytes, bytes]]:
    random = Random(seed)
    keys = {random.randbytes(random.randrange(8, 40)) for _ in range(count)}
    return [(key, random.randbytes(random.randrange(60))) for key in random.sample(sorted(keys), len(keys))]


@pytest.mark.parametrize("encrypted", [False, True])
@pytest.mark.parametrize("run_bytes", [500, 20_000, 10_000_000])
def test_rows_come_back_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_bytes: int, *, encrypted: bool
) -> None:
    monkeypatch.setattr(sorted_runs, "RUN_BYTES", run_bytes)
    monkeypatch.setattr(sorted_runs, "_BLOCK_BYTES", 300)
    given = rows(2000, 1)
    runs = SortedRuns(tmp_path, encrypted=encrypted)
    for at in range(0, len(given), 50):
        runs.add([packed(*row) for row in given[at : at + 50]])
    assert [unpacked(row) for row in runs.merged()] == sorted(given)
    assert runs.count == len(given)
    assert list(tmp_path.iterdir()) == []  # the scratch file has no name
    runs.close()


def test_few_rows_need_no_file(tmp_path: Path) -> None:
    runs = SortedRuns(tmp_path / "missing", encrypted=False)
    runs.add([packed(b"b", b""), packed(b"a", b"1")])
    runs.add([])
    assert [unpacked(row) for row in runs.merged()] == [(b"a", b"1"), (b"b", b"")]
    runs.close()
