"""The command line imports what a command needs, and no other command's modules."""

import subprocess
import sys

import pytest

from hashrange.cli import COMMANDS, Command

_LOADED = """
import sys
from hashrange.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(*sorted(sys.modules), sep="\\n")
"""


def modules_of(*words: str) -> set[str]:
    """What is imported once a command has come to its end."""
    command = [sys.executable, "-c", _LOADED, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return set(done.stdout.splitlines())


@pytest.mark.parametrize("command", COMMANDS, ids=[command.name for command in COMMANDS])
def test_every_command_has_a_description_flags_and_something_to_run(command: Command) -> None:
    module = command.load()
    assert module.DESCRIPTION.endswith(".")
    assert callable(module.add_flags)
    assert callable(module.run)


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("clock", "--help")])
def test_a_command_that_needs_no_server_does_not_import_one(words: tuple[str, ...]) -> None:
    loaded = modules_of(*words)
    assert "hashrange.cli" in loaded
    assert {"hashrange.server", "hashrange.iam_command", "hashrange.transfer", "apsw", "uvloop"}.isdisjoint(
        loaded
    )


def test_a_server_imports_no_other_command_and_nothing_that_few_servers_need() -> None:
    loaded = modules_of("serve", "--help")
    assert "hashrange.server" in loaded
    others = {f"hashrange.{command.module}" for command in COMMANDS if command.name != "serve"}
    assert others.isdisjoint(loaded)
    assert "hashrange.services.iam.registry" not in loaded
    assert {"cryptography", "psycopg", "botocore", "hashrange.transfer"}.isdisjoint(loaded)
