"""How large the caches of the embedded engine are."""

import asyncio
from pathlib import Path

import pytest

from hashrange import config
from hashrange.engines import open_engine
from hashrange.storage.delivery import run_inline
from hashrange.storage.sqlite import cache_sizes
from hashrange.storage.sqlite.cache_sizes import CacheSizes

MB = 1024 * 1024


@pytest.mark.parametrize(
    ("memory_mb", "workers", "total_mb"),
    [(512, 1, 64), (4096, 1, 256), (24 * 1024, 1, 640), (24 * 1024, 4, 160)],
)
def test_caches_take_a_share_of_the_machine(memory_mb: int, workers: int, total_mb: int) -> None:
    sizes = cache_sizes.of_machine(memory_mb * MB, workers)
    assert sizes == CacheSizes.of(total_mb * MB)
    assert sizes.rows_bytes + 1024 * (sizes.writer_kib + 2 * sizes.reader_kib) == total_mb * MB
    assert sizes.reader_kib <= 32 * 1024


def test_a_container_may_have_less_memory_than_its_machine(tmp_path: Path) -> None:
    unlimited, limit, missing = tmp_path / "max", tmp_path / "limit", tmp_path / "missing"
    unlimited.write_text("max\n")
    limit.write_text("268435456\n")
    assert cache_sizes.machine_memory((missing, unlimited, limit)) == 256 * MB
    assert cache_sizes.machine_memory((missing, unlimited)) > 256 * MB


def test_the_setting_says_how_much(tmp_path: Path) -> None:
    async def cache_kib() -> int:
        settings = config.load({"data_dir": str(tmp_path / "data"), "cache_mb": "40"}, {})
        engine, _ = open_engine(settings, run_inline, None)
        kib: int = engine._writer.execute("PRAGMA cache_size").get  # type: ignore[attr-defined]
        engine.close()
        return -kib

    assert asyncio.run(cache_kib()) == 5 * 1024
