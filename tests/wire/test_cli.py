"""The command: its flags, its messages and how it ends."""

import io
import os
import signal
import socket
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest

from hashrange import __version__, cli
from hashrange.config import SettingInvalid, Settings, load
from serving import serving
from warm import COLD


class Ended(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def hashrange(*arguments: str, **environment: str) -> Ended:
    """Run the command in this process, which takes a hundredth of the time of a new one."""
    output, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(errors), patch.dict(os.environ, environment):
        try:
            status = cli.main(arguments)
        except SystemExit as ended:
            status = int(ended.code or 0)
    return Ended(status, output.getvalue(), errors.getvalue())


def test_version() -> None:
    assert hashrange("--version").stdout == f"hashrange {__version__}\n"
    module = [sys.executable, "-m", "hashrange", "--version"]
    assert (
        subprocess.run(module, capture_output=True, text=True, check=True).stdout
        == f"hashrange {__version__}\n"
    )


def test_help_names_flags_and_variables() -> None:
    text = hashrange("serve", "--help").stdout
    assert "--max-body-bytes" in text
    assert "HASHRANGE_MAX_BODY_BYTES" in text


def test_without_a_command_it_prints_its_help() -> None:
    ended = hashrange()
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == hashrange("--help").stdout
    assert "serve" in ended.stdout
    assert "migrate" in ended.stdout


def test_every_command_has_help_of_its_own() -> None:
    text = hashrange("migrate", "--help").stdout
    assert text.startswith("usage: hashrange migrate [-h] --from PLACE --to PLACE")
    assert "Copy all data to an empty place" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sreve"], "invalid choice: 'sreve'"),
        (["serve", "--prot", "1"], "unrecognized arguments: --prot 1"),
        (["migrate", "--from", "data"], "the following arguments are required: --to"),
    ],
)
def test_a_wrong_command_line_is_explained(arguments: list[str], message: str) -> None:
    ended = hashrange(*arguments)
    assert ended.returncode == 2
    assert message in ended.stderr


def test_flags_win_over_the_environment() -> None:
    environment = {"HASHRANGE_PORT": "1234", "HASHRANGE_REGION": "eu-west-1", "HASHRANGE_IN_MEMORY": "yes"}
    settings = load({"port": "0"}, environment)
    assert (settings.port, settings.region, settings.in_memory) == (0, "eu-west-1", True)
    assert load({}, {}) == Settings()


@pytest.mark.parametrize(
    ("flags", "environment", "message"),
    [
        ({"port": "70000"}, {}, "--port: '70000' is not valid: must be a whole number from 0 to 65535"),
        (
            {},
            {"HASHRANGE_LOG_FORMAT": "xml"},
            "HASHRANGE_LOG_FORMAT: 'xml' is not valid: must be one of text, json",
        ),
        (
            {},
            {"HASHRANGE_IN_MEMORY": "maybe"},
            "HASHRANGE_IN_MEMORY: 'maybe' is not valid: must be true or false",
        ),
        ({"region": "Mars!"}, {}, "--region: 'Mars!' is not valid: must be a region name such as us-east-1"),
        ({"data_dir": ""}, {}, "--data-dir: '' is not valid: must not be empty"),
        ({"s3": ""}, {}, "--s3: '' is not valid: must not be empty"),
        (
            {},
            {"HASHRANGE_S3": "ftp://key:secret@host"},
            (
                "HASHRANGE_S3: 'ftp://key:***@host' is not valid: "
                "must be a folder, or a URL that begins with http:// or https://"
            ),
        ),
    ],
)
def test_invalid_settings_say_why(flags: Any, environment: Any, message: str) -> None:
    with pytest.raises(SettingInvalid) as caught:
        load(flags, environment)
    assert str(caught.value) == message


def test_an_invalid_setting_ends_the_command() -> None:
    ended = hashrange("serve", HASHRANGE_PORT="many")
    assert ended.returncode == 2
    assert ended.stderr == (
        "hashrange: HASHRANGE_PORT: 'many' is not valid: must be a whole number from 0 to 65535\n"
    )


@pytest.mark.slow
def test_the_banner_says_where_and_how(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path / "data"), "--region", "eu-north-1") as server:
        assert server.process.stdout is not None
        rest = [server.process.stdout.readline() for _ in range(6)]
        assert str(tmp_path / "data") in rest[0]
        assert rest[1] == f"  buckets   folder {tmp_path / 'data' / 'buckets'}\n"
        assert rest[2] == f"  backups   folder {tmp_path / 'data' / 'backups'}\n"
        assert rest[4] == "  capacity  meter\n"
        assert f"--region eu-north-1 --endpoint-url {server.endpoint}" in rest[5]
        assert server.request("GET", "/").body == b"healthy: dynamodb.eu-north-1.amazonaws.com "


def test_nobody_opens_a_server_to_a_network_by_accident() -> None:
    ended = hashrange("serve", "--in-memory", "--port", "0", "--host", "0.0.0.0")
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert "--auth off, written out, lets anybody in" in ended.stderr


@pytest.mark.slow
def test_a_developer_on_loopback_sees_nothing_of_keys_and_audits(tmp_path: Path) -> None:
    schema = {
        "TableName": "notes",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    with serving("--data-dir", str(tmp_path)) as server:
        assert server.post("CreateTable", schema).status == 200
        assert server.stop() == 0
        assert server.process.stdout is not None
        told = server.process.stdout.read() + server.log_text()
    assert "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local aws" in told
    assert not any(word in told for word in ("auth", "iam", "root key", "audit", "WARNING"))
    files = {path.name for path in tmp_path.iterdir()}
    assert files == {"backups", "hashrange.db", "hashrange.lock", "hashrange.reserve"}


@pytest.mark.slow
def test_the_keys_of_an_object_store_are_never_shown(tmp_path: Path) -> None:
    url = "https://KEY:geheim@s3.example.org"
    flags = ("--data-dir", str(tmp_path), "--s3", url, "--log-level", "debug")
    with serving(*flags, interpreter=COLD) as server:
        assert server.process.stdout is not None
        rest = "".join(server.process.stdout.readline() for _ in range(4))
        assert "  buckets   https://s3.example.org\n" in rest
        arguments = Path(f"/proc/{server.process.pid}/cmdline").read_text()
        assert server.stop() == 0
        assert "geheim" not in rest + arguments + server.log_text()


@pytest.mark.slow
def test_the_buckets_of_a_server_in_memory_are_gone_with_it(tmp_path: Path) -> None:
    with serving("--in-memory", environment={"TMPDIR": str(tmp_path)}) as server:
        assert len(list(tmp_path.glob("hashrange-memory-buckets-*"))) == 1
        assert server.stop() == 0
        assert list(tmp_path.glob("hashrange-memory-buckets-*")) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_well(number: int, tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path), interpreter=COLD) as server:
        assert server.stop(number) == 0
        assert "Traceback" not in server.log_text()


@pytest.mark.slow
def test_json_logs_are_json(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "hashrange", "serve", "--port", "0", "--in-memory", "--log-format", "json"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert '"message": "server.started"' in line
        assert '"endpoint": "http://127.0.0.1:' in line
    finally:
        process.terminate()
        output, _ = process.communicate(timeout=60)
    assert output == ""


def test_a_taken_port() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = hashrange("serve", "--in-memory", "--port", str(port))
    message = f"hashrange: 127.0.0.1 port {port} is already in use; choose another with --port\n"
    assert (ended.returncode, ended.stderr) == (1, message)


@pytest.mark.slow
def test_a_name_with_two_addresses_has_one_port() -> None:
    with serving("--in-memory", "--host", "localhost") as server:
        for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
            if address in {entry[4][0] for entry in socket.getaddrinfo("localhost", None)}:
                with socket.socket(family) as client:
                    client.connect((address, server.port))


def test_a_strange_host() -> None:
    ended = hashrange("serve", "--in-memory", "--port", "0", "--host", "203.0.113.7", "--auth", "off")
    message = "hashrange: cannot listen on 203.0.113.7: it is not an address of this machine\n"
    assert (ended.returncode, ended.stderr) == (1, message)


@pytest.mark.slow
def test_a_data_directory_in_use(tmp_path: Path) -> None:
    with serving("--data-dir", str(tmp_path)) as server:
        ended = hashrange("serve", "--port", "0", "--data-dir", str(tmp_path))
        assert ended.returncode == 1
        assert ended.stderr == (
            f"hashrange: data directory {tmp_path} is in use by another server "
            f"(process {server.process.pid})\n"
        )


def test_a_data_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    ended = hashrange("serve", "--port", "0", "--data-dir", str(tmp_path / "file" / "data"))
    assert ended.returncode == 1
    assert ended.stderr.startswith("hashrange: cannot use data directory")
    assert ended.stderr.count("\n") == 1


def test_a_folder_for_backups_that_cannot_be_made_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "backups"
    assert cli.main(["serve", "--port", "0", "--in-memory", "--backups", str(place)]) == 1
    assert f"--backups: cannot make the folder {place}" in capsys.readouterr().err
