"""Passwords in URLs: nobody who reads messages, logs or the list of processes gets to see one."""

import subprocess
import sys
from pathlib import Path

import pytest

from hashrange import cli
from hashrange.config import SettingInvalid, load
from hashrange.passwords import masked, passwords_in, without
from hashrange.storage.errors import OpenError
from hashrange.storage.postgres.address import parse_address
from hashrange.storage.postgres.faults import Broken
from serving import serving
from warm import COLD


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://me:se@cret@host/db", "postgresql://me:***@host/db"),
        ("postgresql://host/db?password=secret", "postgresql://host/db?password=***"),
        ("postgresql://host/db?a=b&password=secret&c=d", "postgresql://host/db?a=b&password=***&c=d"),
        ("postgresql://host/db?sslpassword=secret&PASSWORD=s", "postgresql://host/db?sslpassword=***&PASSWORD=***"),
        ('in "postgresql://host/db?password=secret" there', 'in "postgresql://host/db?password=***" there'),
        ("postgresql://me@host:5432/db?passfile=/a", "postgresql://me@host:5432/db?passfile=/a"),
        ("postgresql://host/db?pass%77ord=secret&a=b", "postgresql://host/db?pass%77ord=***&a=b"),
        ("postgresql://host/db?%70%61ss%77%6Frd=secret", "postgresql://host/db?%70%61ss%77%6Frd=***"),
        ("postgresql://host/db?pass%2577ord=secret", "postgresql://host/db?pass%2577ord=***"),
        ("postgresql://host/db?ssl%50assword=secret", "postgresql://host/db?ssl%50assword=***"),
        ("postgresql://host/db?scram_client_key=secret", "postgresql://host/db?scram_client_key=***"),
        ("postgresql://host/db?oauth_client_secret=s&x=y", "postgresql://host/db?oauth_client_secret=***&x=y"),
        ("'postgresql://host/db?password=it's' there", "'postgresql://host/db?password=***' there"),
        ("postgresql://us@er:secret@host/db", "postgresql://us@er:***@host/db"),
        ("postgresql://:secret@host/db", "postgresql://:***@host/db"),
        ("postgresql://me:sec/re?t#x@host/db", "postgresql://me:***@host/db"),
        ("postgresql:/me:secret@host/db", "postgresql:/me:***@host/db"),
        ("postgresql//me:secret@host/db", "postgresql//me:***@host/db"),
        ("no data in me:secret@host/db", "no data in me:***@host/db"),
        ("host=h password=secret user=me", "host=h password=*** user=me"),
        ("host=h password = 'sec ret' user=me", "host=h password = *** user=me"),
        ("host=h password='it\\'s so' user=me", "host=h password=*** user=me"),
        ("host=h password=sec\\ ret user=me", "host=h password=*** user=me"),
        ("postgresql://host/db?xpassword_x=1&passwords=2", "postgresql://host/db?xpassword_x=1&passwords=2"),
        ("sqlite", "sqlite"),
    ],
)  # fmt: skip
def test_a_url_is_shown_without_its_password(text: str, shown: str) -> None:
    assert masked(text) == shown


@pytest.mark.parametrize(
    "place",
    [
        "postgresql://host/db?password=hid den&a=b",
        "postgresql://host/db?pass%77ord=hid den",
        "host=h password=a&hidden",
        "host=h password='hid den'",
        "me:hidden@host/db",
        "mysql://me:hidden@host/db",
    ],
)
@pytest.mark.parametrize(
    "command", [["verify"], ["verify", "--json"], ["migrate", "--to", "/nowhere/x", "--from"]]
)
def test_no_command_shows_the_password_of_a_place_that_it_cannot_open(
    place: str, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*command, place]) in (1, 2)
    shown = "".join(capsys.readouterr())
    assert "***" in shown
    assert "hid" not in shown
    assert "den" not in shown


def test_passwords_are_known_as_they_are_written_and_as_they_are_meant() -> None:
    url = "postgresql://me:a%40b@host/db?password=c%20d"
    assert passwords_in(url) == {"a%40b", "a@b", "c%20d", "c d"}
    assert without(passwords_in(url), "what a@b and c d mean") == "what *** and *** mean"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hidden@[::1/db",
        "postgresql://me:hidden%zz@host/db",
        "postgresql://host/db?password=hidden%zz",
        "postgresql://host/db?password=hidden&nonsense",
    ],
)
def test_the_driver_does_not_quote_it_when_a_url_cannot_be_read(url: str) -> None:
    for leader in (True, False):
        with pytest.raises(OpenError) as refused:
            parse_address(url, schema="s", seconds_max=1, leader=leader)
        assert "hidden" not in str(refused.value)
        assert refused.value.__cause__ is None


def test_the_driver_does_not_quote_it_when_it_cannot_connect() -> None:
    url = "postgresql://127.0.0.1:1/db?sslmode=hidden&password=hidden"
    with pytest.raises(Broken, match=r"sslmode value: \"\*\*\*\""):
        parse_address(url, schema="s", seconds_max=1, leader=True).connect()


@pytest.mark.parametrize("name", ["engine", "replica"])
def test_a_setting_that_is_not_valid_is_shown_without_it(name: str) -> None:
    with pytest.raises(SettingInvalid) as refused:
        load({name: "postgressql://host/db?password=hidden"}, {})
    assert "password=***" in str(refused.value)
    assert "hidden" not in str(refused.value)


def test_an_argument_that_is_not_known_is_shown_without_it() -> None:
    command = [sys.executable, "-m", "hashrange", "serve", "postgresql://me:hidden@host/db?password=hidden"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 2
    assert "postgresql://me:***@host/db?password=***" in ended.stderr
    assert "hidden" not in ended.stderr


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_list_of_processes_and_the_log_do_not_show_it(database: str, workers: str) -> None:
    url = f"{database}?password=hid%64en&sslpassword=hidden"
    with serving("--engine", url, "--workers", workers, "--log-level", "debug", interpreter=COLD) as server:
        arguments = Path(f"/proc/{server.process.pid}/cmdline").read_bytes().split(b"\0")
        assert b"serve" in arguments
        assert any(argument.startswith(b"postgresql://") for argument in arguments)
        for secret in (b"hid%64en", b"hidden"):
            assert not any(secret in argument for argument in arguments)
        assert "hidden" not in server.log_text()
        assert server.post("ListTables", {}).status == 200
