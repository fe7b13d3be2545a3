"""How much the tests of the core notice: small faults are put into it, one at a time, and the tests are run.

`make mutants` draws a sample with a seed. A fault that no test notices is printed: either a test is missing, or the
fault makes no difference. Nothing is written to the source: the faulty module is handed to the import system of a
child process. A first run without faults finds out which tests call which function, so that only these are run.

First come the tests of tests/core, and those of tests/api that need no server; what passes these has to pass all of
tests/api, with a server that has the fault.
"""

import argparse
import ast
import contextlib
import importlib
import importlib.machinery
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest

from house import ROOT, SOURCE
from mutations import Mutation, mutations

CORE = SOURCE / "core"
SECONDS_MOST = 120.0  # a mutant that takes longer has made something endless
QUICK_SECONDS = 5.0  # of tests, going by the first run, which come before the others
# Whatever the tests import that is not under test is imported once, before the forks.
PRELOADED = (
    "apsw",
    "boto3",
    "botocore.config",
    "hypothesis.strategies",
    "msgspec",
    "orjson",
    "psycopg",
    "psycopg.pq",
)

# What Python runs first in such a process: the module of this name comes from the file beside this one.
SITE = """
import importlib.machinery as machinery, os, sys
class Faulty(machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != os.environ["FAULTY_NAME"]:
            return None
        spec = machinery.PathFinder.find_spec(name, path, target)
        spec.loader = Loader(name, spec.origin)
        return spec
class Loader(machinery.SourceFileLoader):
    def get_code(self, fullname):
        with open(os.path.join(os.path.dirname(__file__), "faulty.py")) as file:
            return compile(file.read(), self.path, "exec")
sys.meta_path.insert(0, Faulty)
"""

Function = tuple[str, int]  # file, and the line where it begins


@dataclass
class Calls:
    """What the first run saw."""

    tests: dict[Function, set[str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def main() -> None:
    """Draw a sample, try each mutant, print the survivors and the score."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, default=300, help="how many mutants to try")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=20.0, help="stop after this time, whatever is left")
    parser.add_argument("--only", default="", help="only modules with this in their path")
    arguments = parser.parse_args()
    for name in PRELOADED:
        importlib.import_module(name)
    paths = [path for path in sorted(CORE.rglob("*.py")) if arguments.only in path.as_posix()]
    every = [mutation for path in paths for mutation in mutations(path)]
    sample = random.Random(arguments.seed).sample(every, min(arguments.sample, len(every)))
    calls = in_child(first_run, SECONDS_MOST * 5)
    if not isinstance(calls, Calls):
        sys.exit("the tests fail without any fault")
    print(
        f"{len(every)} mutants in {len(paths)} modules, {len(sample)} drawn, {len(calls.seconds)} tests",
        flush=True,
    )
    report(try_all(sample, calls, time.monotonic() + 60 * arguments.minutes))


def try_all(sample: Sequence[Mutation], calls: Calls, deadline: float) -> Iterator[tuple[Mutation, bool]]:
    """Each mutant, and whether the tests noticed."""
    for mutation in sample:
        if time.monotonic() > deadline:
            print("out of time", flush=True)
            return
        quick, rest = chosen(mutation, calls)
        survived = all(
            in_child(partial(mutant_passes, mutation, tests), SECONDS_MOST) is True
            for tests in (quick, rest)
            if tests
        )
        if survived and api_passes(mutation):
            where = f"{mutation.path.relative_to(ROOT)}:{mutation.line}:{mutation.column}"
            print(f"survived: {where}: {mutation.what}  ({len(quick + rest)} tests)", flush=True)
            yield mutation, False
        else:
            yield mutation, True


def report(outcomes: Iterator[tuple[Mutation, bool]]) -> None:
    tried: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    for mutation, was_noticed in outcomes:
        name = mutation.path.relative_to(CORE).as_posix()
        tried[name] += 1
        noticed[name] += was_noticed
    for name in sorted(tried):
        print(f"{noticed[name]:5} of {tried[name]:4}  {name}")
    total = sum(tried.values())
    if total:
        print(f"{sum(noticed.values()):5} of {total:4}  noticed: {100 * sum(noticed.values()) / total:.1f} %")


def chosen(mutation: Mutation, calls: Calls) -> tuple[list[str], list[str]]:
    """The tests that call the function with the fault, quick ones and others; all tests where it is in none."""
    if mutation.function is None:
        tests = set(calls.seconds)
    else:
        tests = calls.tests.get((str(mutation.path), mutation.function), set())
    ordered = sorted(tests, key=lambda test: (calls.seconds[test], test))
    totals = accumulate(calls.seconds[test] for test in ordered)
    most = sum(total <= QUICK_SECONDS for total in totals) or 1
    return ordered[:most], ordered[most:]


def api_passes(mutation: Mutation) -> bool:
    """Whether all tests of the API pass, in a process and with a server that have the fault."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text(SITE)
        Path(folder, "faulty.py").write_text(ast.unparse(mutation.tree()))
        environment = {"PYTHONPATH": folder, "FAULTY_NAME": module_name(mutation.path)}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", "-m", "not slow", "tests/api"]
        with contextlib.suppress(subprocess.TimeoutExpired):
            ended = subprocess.run(
                command,
                cwd=ROOT,
                env=os.environ | environment,
                capture_output=True,
                timeout=4 * SECONDS_MOST,
                check=False,
            )
            return ended.returncode == 0
    return False


# In the children.


def in_child(function: Callable[[], object], seconds: float) -> object:
    """What the function gives in a fork of this process; None if it takes too long or ends badly."""
    with tempfile.NamedTemporaryFile() as file:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            code = 1
            with contextlib.suppress(BaseException):
                os.setpgid(0, 0)
                Path(file.name).write_bytes(pickle.dumps(function()))
                code = 0
            os._exit(code)
        deadline = time.monotonic() + seconds
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return None
            time.sleep(0.005)
        written = Path(file.name).read_bytes()
        return pickle.loads(written) if written else None


def mutant_passes(mutation: Mutation, tests: list[str]) -> bool:
    """Whether the tests do not notice the fault."""
    sys.meta_path.insert(0, Faulty(mutation))
    files = sorted({test.partition("::")[0] for test in tests})
    return run([*files], Chosen(tests)) == 0


def first_run() -> Calls | None:
    watching = Watching()
    return watching.calls if run(test_files(), watching) == 0 else None


def test_files() -> list[str]:
    in_process = [
        path for path in (ROOT / "tests" / "api").glob("test_*.py") if "Clocked" in path.read_text()
    ]
    return [str(path.relative_to(ROOT)) for path in (ROOT / "tests" / "core", *sorted(in_process))]


def run(arguments: list[str], plugin: object) -> int:
    """Run pytest in this process, silently."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.chdir(ROOT)
    options = [
        "-x",
        "-q",
        "--assert=plain",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--hypothesis-profile",
        "quick",
    ]
    return int(pytest.main([*options, "-m", "not slow", *arguments], plugins=[plugin]))


class Faulty(importlib.machinery.PathFinder):
    """Finds the module with the fault in it."""

    def __init__(self, mutation: Mutation) -> None:
        self._mutation = mutation
        self._name = module_name(mutation.path)

    def find_spec(  # type: ignore[override]
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        assert spec is not None
        spec.loader = FaultyLoader(name, str(self._mutation.path), self._mutation.tree())
        return spec


class FaultyLoader(importlib.machinery.SourceFileLoader):
    """Loads a tree in place of the source."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree = tree

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._tree, self.path, "exec", dont_inherit=True)


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Chosen:
    """Keeps the chosen tests, in their order."""

    def __init__(self, tests: list[str]) -> None:
        self._places = {test: place for place, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self._places),
            key=lambda item: self._places[item.nodeid],
        )


class Watching:
    """Notes which functions of the core each test calls, and how long it takes."""

    def __init__(self) -> None:
        self.calls = Calls()
        self._prefix = str(CORE)
        self._caches: list[Any] | None = None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if "server" not in getattr(item, "fixturenames", ())]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._clear_caches()
        seen: set[Function] = set()

        def trace(frame: FrameType, event: str, _: object) -> None:
            code = frame.f_code
            if code.co_filename.startswith(self._prefix):
                seen.add((code.co_filename, code.co_firstlineno))

        started = time.monotonic()
        sys.settrace(trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.calls.seconds[item.nodeid] = time.monotonic() - started
            for function in seen:
                self.calls.tests.setdefault(function, set()).add(item.nodeid)

    def _clear_caches(self) -> None:
        """Have what an earlier test called be called again."""
        if self._caches is None:
            core = [module for name, module in sys.modules.items() if name.startswith("hashrange.")]
            members = [member for module in core for member in vars(module).values()]
            self._caches = [member for member in members if hasattr(member, "cache_clear")]
        for cache in self._caches:
            cache.cache_clear()


if __name__ == "__main__":
    main()
