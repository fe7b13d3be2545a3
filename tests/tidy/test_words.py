"""What must not stand in any tracked file: notes to self, and traces of one person's machine."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from house import ROOT, name

FORBIDDEN = {
    "note to self": r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b",
    "home directory": r"/(ro" r"ot|ho" r"me/\w+|Users/\w+)/",
    "package index": r"https?://[^\s\"']*(/simple/|\.whl\b|\.tgz\b)",
}


def tracked() -> Iterator[Path]:
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    for path in listed.decode().split("\0"):
        if path and not path.endswith(".png") and (ROOT / path).is_file():
            yield ROOT / path


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_tracked_file_has(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    found = [
        f"{name(path)}:{number}"
        for path in tracked()
        for number, line in enumerate(path.read_text("utf-8", errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []
