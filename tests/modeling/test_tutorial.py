"""The tutorial, followed as it is printed: each file, change and command in its order, then its tests."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hashrange.cli import main
from house import ROOT
from sizes import IS_THOROUGH

pytestmark = pytest.mark.slow
PAGE = ROOT / "docs" / "modeling-tutorial.md"
BLOCK = re.compile(r"(?:`([\w.]+)`:\n\n)?```(\w+)\n(.*?)```", re.DOTALL)
LEFT_OUT = "…"


def blocks() -> Iterator[tuple[str, str, str]]:
    """The file that a block is named as, its kind, and its text."""
    for block in BLOCK.finditer(PAGE.read_text("utf-8")):
        yield block[1] or "", block[2], block[3]


def patched(text: str, change: str) -> str:
    """A file with lines that a block of changes takes out and puts in."""
    lines = change.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line.startswith("-"))
    after = "".join(line[1:] for line in lines if line.startswith("+"))
    assert text.count(before) == 1, before
    return text.replace(before, after)


def missing_line(shown: list[str], printed: str) -> str | None:
    """The first line of the page that a command has not printed, in the same order; widths of columns do not count."""
    lines = iter(" ".join(line.split()) for line in printed.splitlines())
    for line in shown:
        plain = " ".join(line.split())
        if plain not in ("", LEFT_OUT) and not any(plain == other for other in lines):
            return line
    return None


def follow(capsys: pytest.CaptureFixture[str]) -> int:
    """Do what the page says, in the present folder; give how many commands were run."""
    model = Path("library.yaml")
    model.write_text("", "utf-8")
    commands = 0
    for name, kind, text in blocks():
        match kind:
            case "yaml":
                model.write_text(model.read_text("utf-8") + text, "utf-8")
            case "diff":
                model.write_text(patched(model.read_text("utf-8"), text), "utf-8")
            case "python":
                Path(name).write_text(text, "utf-8")
            case "console":
                command, *shown = text.splitlines()
                if "HOT KEY" in text and not IS_THOROUGH:
                    continue  # it looks for a number of shards that helps, which takes longer than all the rest
                main(shlex.split(command.removeprefix("$ hashrange ")))
                printed = capsys.readouterr().out
                assert missing_line(shown, printed) is None, f"{command}\n{printed}"
                commands += 1
    return commands


def test_every_command_prints_what_the_page_shows_and_its_tests_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert follow(capsys) >= 10
    # The settings of this repository and of whoever runs its tests are not those of a user's suite.
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "AWS"))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", str(tmp_path)]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert "3 passed" in done.stdout, done.stdout + done.stderr


def test_a_line_that_is_not_printed_is_noticed() -> None:
    """And one that is printed elsewhere."""
    assert missing_line(["a  b", "…", "c"], "x\na b\ny\nc\n") is None
    assert missing_line(["c", "…", "a b"], "a b\nc\n") == "a b"


def test_the_page_is_found_from_the_others() -> None:
    for page in ("README.md", "docs/model-file.md"):
        assert "modeling-tutorial.md" in (ROOT / page).read_text("utf-8")
