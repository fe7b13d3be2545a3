"""Clients in five languages: packages and our tours, put together in a cache folder of the repository."""

import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent
CACHE = SOURCES.parents[1] / ".cache" / "clients"
BUILD = "HASHRANGE_TEST_CLIENTS"  # "build": `make clients` may take the minutes that some toolchains need
_FETCH_SECONDS = 300
_COMPILE_SECONDS = 3600
_TOUR_SECONDS = 300


@dataclass(frozen=True)
class Toolchain:
    """One language: what has to be on the machine, what makes its folder ready, and how a tour is started there."""

    name: str  # of the folder with our sources, and of the one in the cache
    manifest: str  # pins the versions
    programs: tuple[str, ...]
    fetch: tuple[tuple[str, ...], ...]  # where this fails, a registry is out of reach: the tours are skipped
    run: tuple[str, ...]  # with {tour}
    compile: tuple[str, ...] = ()  # where this fails, so do the tours; it may take minutes

    @property
    def folder(self) -> Path:
        return CACHE / self.name

    @property
    def sources(self) -> list[Path]:
        return sorted(path for path in (SOURCES / self.name).iterdir() if path.is_file())

    def command(self, tour: str, endpoint: str) -> list[str]:
        return [*(word.format(tour=tour) for word in self.run), endpoint]


# Neither pip itself nor modules that no tour imports are worth compiling.
_VENV = (sys.executable, "-m", "venv", "--without-pip", ".")
_PIP = (sys.executable, "-m", "pip", "--python", "bin/python", "install", "--no-compile", "--quiet")
_NPM = ("npm", "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund")
_MVN = ("mvn", "--quiet", "--batch-mode", "dependency:copy-dependencies")
PYTHON = Toolchain(
    "python",
    "requirements.txt",
    (),
    (_VENV, (*_PIP, "--disable-pip-version-check", "-r", "requirements.txt")),
    ("bin/python", "{tour}_tour.py"),
)
NODE = Toolchain("node", "package.json", ("node", "npm"), (_NPM,), ("node", "{tour}.mjs"))
GO = Toolchain(
    "go",
    "go.mod",
    ("go",),
    (("go", "mod", "tidy"),),
    ("./{tour}",),
    ("go", "build", "-o", "tour", "."),
)
JAVA = Toolchain(
    "java",
    "pom.xml",
    ("java", "javac", "mvn"),
    ((*_MVN, "-DincludeScope=runtime", "-DoutputDirectory=lib"),),
    ("java", "-cp", "classes:lib/*", "{tour}"),
    ("javac", "-cp", "lib/*", "-d", "classes", "Settings.java", "Sdk.java", "Enhanced.java"),
)
KCL = Toolchain(
    "kcl",
    "pom.xml",
    ("java", "javac", "mvn"),
    ((*_MVN, "-DincludeScope=runtime", "-DoutputDirectory=lib"),),
    ("java", "-cp", "classes:lib/*", "{tour}"),
    ("javac", "-cp", "lib/*", "-d", "classes", "Consumer.java"),
)
RUST = Toolchain(
    "rust",
    "Cargo.toml",
    ("cargo", "cc"),
    (("cargo", "fetch", "--quiet"),),
    ("target/debug/{tour}",),
    ("cargo", "build", "--quiet", "--offline", "--target-dir", "target"),
)


def ready(toolchain: Toolchain) -> Path:
    """The folder where the toolchain's tours can be started; skips the test where it cannot be made."""
    for program in toolchain.programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    toolchain.folder.mkdir(parents=True, exist_ok=True)
    with (toolchain.folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the other workers want the same packages
        _make(toolchain)
    return toolchain.folder


def tour(toolchain: Toolchain, name: str, endpoint: str, environment: Mapping[str, str] | None = None) -> str:
    """Take a tour to its end; give what it wrote to its standard error."""
    folder = ready(toolchain)
    done = subprocess.run(
        toolchain.command(name, endpoint),
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=_TOUR_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "tour complete" in done.stdout
    return done.stderr


def _make(toolchain: Toolchain) -> None:
    marker = toolchain.folder / "installed"
    wanted = _fingerprint(toolchain)
    made = marker.exists() and marker.read_text("utf-8") == wanted
    if not made and toolchain.compile and os.environ.get(BUILD) != "build":
        pytest.skip(f"the {toolchain.name} clients are not built: `make clients` does it, and takes minutes")
    for source in toolchain.sources:
        _copy(source, toolchain.folder)
    if made:
        return
    marker.unlink(missing_ok=True)
    if problem := _fetch(toolchain):
        pytest.skip(f"the {toolchain.name} clients cannot be fetched: {problem}")
    if toolchain.compile and (problem := _problem(toolchain.compile, toolchain.folder, _COMPILE_SECONDS)):
        pytest.fail(f"the {toolchain.name} tours do not compile: {problem}")
    marker.write_text(wanted, "utf-8")


@functools.cache
def _fetch(toolchain: Toolchain) -> str | None:
    """Fetch the packages; give what went wrong. One attempt is enough: without a network each takes its time."""
    problems = (_problem(command, toolchain.folder, _FETCH_SECONDS) for command in toolchain.fetch)
    return next(filter(None, problems), None)


def _fingerprint(toolchain: Toolchain) -> str:
    """Whatever, when it changes, asks for another installation."""
    parts = toolchain.sources if toolchain.compile else [SOURCES / toolchain.name / toolchain.manifest]
    texts = [repr(toolchain), *(path.read_text("utf-8") for path in parts)]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def _problem(command: Sequence[str], folder: Path, seconds: int) -> str | None:
    """Run a command in the folder; give what went wrong, in a few words."""
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{command[0]} did not finish in {seconds} s"
    if not done.returncode:
        return None
    lines = (done.stderr or done.stdout).strip().splitlines() or ["it failed without a word"]
    telling = [line for line in lines if "error" in line.lower() and "WARNING" not in line] or lines
    return f"{command[0]}: {telling[0]}"


def _copy(source: Path, folder: Path) -> None:
    """Put a file beside the packages, in one move, for another worker may be reading it."""
    draft = folder / f".{source.name}.{os.getpid()}"
    shutil.copyfile(source, draft)
    draft.replace(folder / source.name)
