"""npm packages for the tests, in a cache folder of the repository."""

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = Path(__file__).parent / "node"
CACHE = ROOT / ".cache" / "node-clients"
_INSTALL_SECONDS = 240


def installed() -> Path:
    """The folder that holds the clients' packages and our tours; skips the test where it cannot be made."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the other workers want the same packages
        _install((SOURCES / "package.json").read_text("utf-8"))
    for tour in SOURCES.glob("*.mjs"):
        _copy(tour)
    return CACHE


def _install(manifest: str) -> None:
    marker = CACHE / "installed.json"
    if marker.exists() and marker.read_text("utf-8") == manifest:
        return
    (CACHE / "package.json").write_text(manifest, "utf-8")
    command = ["npm", "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(
            command, cwd=CACHE, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        pytest.skip("npm did not finish: is the package registry within reach?")
    if done.returncode:
        pytest.skip(f"npm could not install the clients: {done.stderr.strip().splitlines()[-1]}")
    marker.write_text(manifest, "utf-8")


def _copy(tour: Path) -> None:
    """Put a tour beside node_modules, in one move, for another worker may be reading it."""
    draft = CACHE / f".{tour.name}.{os.getpid()}"
    shutil.copyfile(tour, draft)
    draft.replace(CACHE / tour.name)
