"""What the command prints where nobody takes it: no traceback, an exit status that says so, and no server that ends."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

import warm
from hashrange import terminal
from hashrange.storage.sqlite import SqliteEngine

pytestmark = pytest.mark.slow

COMMANDS = [
    ["--help"],
    ["--version"],
    ["serve", "--help"],
    ["verify", "DATA"],
    ["verify", "--json", "DATA"],
    ["verify", "--json", "NOWHERE"],
    ["migrate", "--from", "DATA", "--to", "COPY"],
]


def command(words: list[str], directory: Path) -> list[str]:
    SqliteEngine.open(directory / "data").close()
    (directory / "nowhere").mkdir()
    places = {
        "NOWHERE": str(directory / "nowhere"),
        "DATA": str(directory / "data"),
        "COPY": str(directory / "copy"),
    }
    return [places.get(word, word) for word in words]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
@pytest.mark.parametrize("words", COMMANDS)
def test_an_output_that_is_full(tmp_path: Path, words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = warm.run(*command(words, tmp_path), output=full.fileno())
    assert ended.returncode == terminal.NOT_WRITTEN
    lines = [line for line in ended.stderr.splitlines() if " rows, " not in line]
    assert lines == ["hashrange: cannot write to standard output: No space left on device"]


@pytest.mark.parametrize("words", COMMANDS)
def test_an_output_that_was_closed(tmp_path: Path, words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = warm.run(*command(words, tmp_path), output=writing)
    os.close(writing)
    assert ended.returncode == 128 + signal.SIGPIPE
    assert [line for line in ended.stderr.splitlines() if " rows, " not in line] == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["verify", "DATA"], 0),
        (["verify", "NOWHERE"], 2),
        (["migrate", "--from", "NOWHERE", "--to", "COPY"], 1),
        (["serve", "--port", "many"], 2),
        (["serve", "--data-dir", "/dev/null"], 1),
        (["sreve"], 2),
    ],
)
def test_messages_that_cannot_be_shown_do_not_change_the_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], status: int
) -> None:
    monkeypatch.chdir(tmp_path)
    with Path("/dev/full").open("w") as full:
        ended = warm.run(*command(words, tmp_path), errors=full.fileno())
    assert ended.returncode == status


def test_a_server_whose_banner_nobody_reads_serves(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = ["serve", "--port", "0", "--data-dir", "DATA"]
    with subprocess.Popen(
        [*warm.COLD, *command(words, tmp_path)], stdout=writing, stderr=subprocess.PIPE, text=True
    ) as server:
        os.close(writing)
        assert server.stderr is not None
        assert "banner.not_shown" in server.stderr.readline()
        server.terminate()
        assert server.wait(30) == 0
        assert "Traceback" not in server.stderr.read()
