"""kill -9 under load, several times on the same data: every acknowledged step is there, none by half."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hashrange.storage.engine import Reader
from hashrange.storage.sqlite import SqliteEngine
from storage import crash_writer

ROUNDS = 6


def look(reader: Reader) -> tuple[set[int], set[int], int]:
    left = {int(key.split()[1]) for key, _ in reader.scan(b"left", b"left~")}
    right = {int(value) for _, value in reader.scan(b"right", b"right~")}
    return left, right, reader.counter(b"entries")


def run_and_kill(directory: Path, first: int, seconds: float) -> set[int]:
    """Let a writer run for a while, kill it, and give what it acknowledged."""
    command = [sys.executable, crash_writer.__file__, str(directory), str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        said = os.read(writer.stdout.fileno(), 65536)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            said += os.read(writer.stdout.fileno(), 65536)
        writer.kill()
        said += writer.stdout.read()
    return {int(line) for line in said.split(b"\n")[:-1]}


@pytest.mark.slow
def test_kill_under_load_loses_nothing_acknowledged(tmp_path: Path) -> None:
    acknowledged: set[int] = set()
    first = 0
    for _ in range(ROUNDS):
        fresh = run_and_kill(tmp_path, first, random.uniform(0.05, 0.4))
        assert fresh
        acknowledged |= fresh
        engine = SqliteEngine.open(tmp_path)
        left, right, count = engine.read(look)
        assert engine._writer.execute("PRAGMA integrity_check").get == "ok"
        engine.close()
        assert acknowledged <= left
        assert left == right
        assert count == len(left)
        assert len(left - acknowledged) <= ROUNDS * crash_writer.IN_FLIGHT
        first = max(left) + 1
