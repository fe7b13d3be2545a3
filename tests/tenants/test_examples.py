"""examples/tenants do what docs/tenants.md says of them."""

import importlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from house import ROOT
from tenants.shared_house import House

FOLDER = ROOT / "examples" / "tenants"
Lines = Callable[[str], list[str]]
REFUSED = "AccessDeniedException"


@pytest.fixture
def lines(
    house: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Lines]:
    """What an example prints, run on the house's server."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)

    def printed(name: str) -> list[str]:
        callers, example = importlib.import_module("callers"), importlib.import_module(name)
        example.run(callers.Caller(house.endpoint, house.admin.access_key, house.admin.secret))
        return capsys.readouterr().out.splitlines()

    yield printed
    for name in {"callers", *(path.stem for path in FOLDER.glob("*.py"))} - before:
        sys.modules.pop(name, None)


@pytest.mark.parametrize(("name", "number"), [("leading_keys", 20), ("own_tables", 18)])
def test_tenants_reach_their_own_and_no_more(lines: Lines, name: str, number: int) -> None:
    printed = lines(name)
    assert len(printed) == number
    for line in printed:
        what, _, outcome = line.partition(": ")
        tenant = what.partition(" ")[0]
        named = re.search(r"(?:of|for) (red|blue)$", what)
        own = named is not None and named[1] == tenant
        assert outcome == ("done" if own or what.endswith("the own table") else REFUSED), line


def test_access_keys_are_rotated_and_switched_off(lines: Lines) -> None:
    outcomes = [line.partition(": ")[2] for line in lines("own_access_keys")]
    gone = "UnrecognizedClientException"
    assert outcomes == ["done", REFUSED, "done", gone, gone]


def test_a_table_cannot_be_read_without_its_key(lines: Lines) -> None:
    outcomes = [line.partition(": ")[2] for line in lines("own_kms_keys")]
    without = "ValidationException"
    tried = ["done", "done", REFUSED, "off", without, "done", without, "on", "done"]
    assert outcomes == [*tried, "done", "done"]


@pytest.mark.slow  # it starts four interpreters
def test_a_table_is_shared_with_another_account() -> None:
    """As a program, with a server of its own that it sets up by `hashrange iam bootstrap --account`."""
    command = [sys.executable, str(FOLDER / "two_accounts.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    outcomes = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    assert outcomes == [REFUSED, "done", REFUSED, REFUSED, REFUSED, REFUSED, REFUSED]


def test_every_example_is_run_and_listed() -> None:
    programs = {path.name for path in FOLDER.glob("*.py")} - {"callers.py"}
    names = ("leading_keys", "own_tables", "own_access_keys", "own_kms_keys", "two_accounts")
    assert programs == {f"{name}.py" for name in names}
    listed = (FOLDER / "README.md").read_text("utf-8")
    assert all(f"({name})" in listed for name in programs)
