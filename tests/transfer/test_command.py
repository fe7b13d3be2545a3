"""What is wrong with a command is said in one line, with a status, before anything is written."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from item_tables import make_table, unique
from serving import Serving
from transfers import Transfer, full_table, started

TABLE = "http://127.0.0.1:9/table"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("import", "--from", "a", "--to", "b"), "import writes into a table"),
        (("export", "--from", "a", "--to", "b"), "export reads a table"),
        (("import", "--from", TABLE, "--to", TABLE), "source and target are the same"),
        (("import", "--from", "a", "--to", "http://127.0.0.1:9"), "names no table"),
        (("import", "--from", "a", "--to", "http://127.0.0.1:9/"), "names no table"),
        (("import", "--from", "a", "--to", "http://127.0.0.1:99999/table"), "is no URL"),
        (("import", "--from", "ftp://a", "--to", TABLE), "is neither a folder nor"),
        (("import", "--from", "s3://", "--to", TABLE), "names no bucket"),
        (("import", "--from", "", "--to", TABLE), "a place is empty"),
        (("import", "--from", "a", "--to", TABLE, "--rate", "0"), "--rate is a number above zero"),
        (
            ("import", "--from", "a", "--to", TABLE, "--rate-units", "nan"),
            "--rate-units is a number above zero",
        ),
        (("import", "--from", "a", "--to", TABLE, "--parallel", "0"), "--parallel is a number from 1 to 64"),
        (("import", "--from", "a", "--to", TABLE, "--once"), "go with --follow"),
        (("import", "--from", "a", "--to", TABLE, "--delimiter", "ab"), "--delimiter is one character"),
        (("import", "--from", "a", "--to", TABLE, "--header", "a,,b"), "--header: the names"),
        (("import", "--from", "a", "--to", TABLE, "--follow"), "--follow needs a table on both sides"),
        (("import", "--to", TABLE), "required: --from"),
    ],
)
def test_arguments_that_make_no_sense(transfer: Transfer, words: tuple[str, ...], message: str) -> None:
    ended = transfer(*words)
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.err


def test_an_endpoint_that_is_not_there(transfer: Transfer, folder: Path) -> None:
    ended = transfer("export", "--from", TABLE, "--to", "out")
    assert ended.status == 1
    assert "http://127.0.0.1:9 does not answer" in ended.err
    assert list(folder.glob("hashrange-transfer-*")) == []


def test_a_table_that_is_not_there(transfer: Transfer, server: Serving) -> None:
    ended = transfer("export", "--from", f"{server.endpoint}/nothing", "--to", "out")
    assert ended.status == 1
    assert f"there is no table {server.endpoint}/nothing" in ended.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--from", "missing"), "there is no missing"),
        (("--from", "empty"), "there are no files in empty"),
        (("--from", "odd.txt"), "odd.txt: its name does not say what it is"),
        (("--from", "in.json"), "say with --key"),
        (("--from", "in.json", "--schema", "missing"), "cannot read missing"),
        (("--from", "in.json", "--schema", "odd.txt"), "odd.txt is no description of a table"),
        (("--from", "in.json", "--schema", "half.json"), "half.json is no description of a table"),
    ],
)
def test_sources_that_cannot_be_read(
    transfer: Transfer, server: Serving, folder: Path, words: tuple[str, ...], message: str
) -> None:
    (folder / "empty").mkdir()
    (folder / "odd.txt").write_text("x", "utf-8")
    (folder / "in.json").write_text('{"Item":{"pk":{"S":"a"}}}\n', "utf-8")
    half = '{"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":[]}'
    (folder / "half.json").write_text(half, "utf-8")
    ended = transfer("import", *words, "--to", f"{server.endpoint}/{unique('none')}")
    assert ended.status == 1
    assert message in ended.err


@pytest.mark.parametrize("key", ["pk", "pk:X", ":S", "a:S,b:S,c:S", ""])
def test_keys_that_are_none(transfer: Transfer, server: Serving, folder: Path, key: str) -> None:
    (folder / "in.json").write_text("", "utf-8")
    ended = transfer("import", "--from", "in.json", "--to", f"{server.endpoint}/none", "--key", key)
    assert ended.status == 2
    assert "--key" in ended.err


def test_a_table_with_another_key_is_left_alone(
    transfer: Transfer, client: Any, server: Serving, folder: Path
) -> None:
    table = make_table(client, "pk")
    (folder / "in.json").write_text('{"Item":{"id":{"N":"1"}}}\n', "utf-8")
    ended = transfer("import", "--from", "in.json", "--to", f"{server.endpoint}/{table}", "--key", "id:N")
    assert ended.status == 1
    assert "has the key pk:S, not id:N" in ended.err


def test_missing_credentials(transfer: Transfer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    ended = transfer("export", "--from", "http://nowhere.invalid/table", "--to", "out")
    assert ended.status == 1
    assert "no credentials for http://nowhere.invalid" in ended.err
    ended = transfer(
        "export", "--from", "http://nowhere.invalid/table", "--to", "out", "--from-profile", "me"
    )
    assert ended.status == 1
    assert "The config profile (me) could not be found" in ended.err


def test_a_server_on_this_machine_needs_no_credentials(
    transfer: Transfer, client: Any, server: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    source = full_table(client, 3)
    assert transfer("export", "--from", f"{server.endpoint}/{source}", "--to", "out").status == 0


def test_a_secret_is_not_shown(transfer: Transfer) -> None:
    ended = transfer("export", "--from", "http://key:secret@127.0.0.1:9/table", "--to", "out")
    assert ended.status == 1
    assert "secret" not in ended.err


def test_without_the_library_the_command_says_what_to_install(server: Serving) -> None:
    script = (
        "import sys; sys.modules['botocore'] = None; from hashrange.cli import main; "
        f"sys.exit(main(['export', '--from', '{server.endpoint}/table', '--to', 'out']))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stderr == "hashrange: this needs AWS's client library: pip install 'hashrange[transfer]'\n"


def test_a_closed_pipe_is_no_traceback(client: Any, server: Serving) -> None:
    source = full_table(client, 3)
    process = started("export", "--from", f"{server.endpoint}/{source}", "--to", "out", "--verify")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == 141  # as for any program whose reader is gone
    assert errors == ""
