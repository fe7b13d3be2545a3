"""The memory allocator: what one thread has freed, all of them can use."""

import platform
from pathlib import Path

import pytest

from new_tables import request as new_table
from serving import Serving, serving

pytestmark = pytest.mark.slow

_ARENA_BYTES = 64 * 1024 * 1024  # glibc reserves as much for every arena but the first, at a multiple of it
_LIST = {"L": [{"S": ""}] * 30_000}


def _arenas(server: Serving) -> int:
    """How many arenas the server has beside the first: pairs of a part in use and of one that is only reserved."""
    count = 0
    used_end = 0
    for line in Path(f"/proc/{server.process.pid}/maps").read_text("ascii").splitlines():
        addresses, access, *_ = line.split()
        start, end = (int(address, 16) for address in addresses.split("-"))
        if access == "rw-p" and start % _ARENA_BYTES == 0:
            used_end = end
        elif access == "---p" and start == used_end and end % _ARENA_BYTES == 0:
            count += 1
    return count


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has arenas")
def test_all_threads_share_one_arena(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path), "--transition-ms", "0") as server:
        assert server.post("CreateTable", new_table("pk", TableName="table")).status == 200
        for number in range(3):
            item = {"pk": {"S": f"{number}"}, "l": _LIST}
            assert server.post("PutItem", {"TableName": "table", "Item": item}).status == 200
        assert server.post("Scan", {"TableName": "table", "FilterExpression": "l <> m"}).status == 200
        assert _arenas(server) == 0
        assert server.stop() == 0
