"""The systems under measurement: installed or explained, started and stopped, the ceiling among them."""

import sys
from pathlib import Path

import pytest

from hashrange_bench import sample

NPM = """npm error code E404
npm error 404 Not Found - GET https://registry.example/dynalite
npm error 404
npm error A complete log of this run can be found in: somewhere"""
PIP = """WARNING: something
ERROR: Could not find a version that satisfies the requirement moto
ERROR: No matching distribution found for moto"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (NPM, "npm error 404 Not Found"),
        (PIP, "ERROR: No matching distribution found for moto"),
        ("", "it failed without a word"),
    ],
)
def test_the_reason_is_found_in_what_an_installer_says(words: str, expected: str) -> None:
    from installing import reason

    assert reason(words) == expected


def test_what_the_machine_lacks_is_named() -> None:
    from installing import NotInstallable, need

    with pytest.raises(NotInstallable, match="hashrange-no-such-program is not installed"):
        need("hashrange-no-such-program")


def test_the_ceiling_looks_up_a_key_and_is_gone_afterwards(tmp_path: Path) -> None:
    from running import free_port, running
    from systems import CEILING

    with running(CEILING, tmp_path, free_port()) as found:
        answer = found.endpoint.call("GetItem", f'{{"Key":{sample.person_key(7)}}}')
        assert answer["Item"]["pk"] == {"S": "person-0000000007"}
        assert found.start_seconds > 0
        assert found.process.poll() is None
    assert found.process.poll() is not None
    assert list((tmp_path / "data").iterdir()) == []


def test_a_system_that_does_not_start_is_quoted(tmp_path: Path) -> None:
    from running import NotStarted, free_port, running
    from systems import System

    command = [sys.executable, "-c", "raise SystemExit('no disk')"]
    broken = System("broken", "Broken", lambda _: "1", lambda _: command)
    with pytest.raises(NotStarted, match="no disk"), running(broken, tmp_path, free_port()):
        pass


def test_the_server_has_the_flags_it_is_started_with(tmp_path: Path) -> None:
    from systems import DURABLE, IN_MEMORY, Place

    from hashrange import config

    known = {"--" + name.replace("_", "-") for name in config.Settings.__dataclass_fields__}
    for system in (DURABLE, IN_MEMORY):
        used = {word for word in system.command(Place(tmp_path, tmp_path, 1)) if word.startswith("--")}
        assert used <= known
