"""Encryption at rest: nothing of an attribute's value is on the disk, and a changed bit is never returned."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

import warm
from enforcing import bootstrap
from hashrange.core.keys.encoding import prefix_end
from hashrange.storage import layout
from hashrange.storage.engine import Transaction
from hashrange.storage.sqlite import SqliteEngine
from item_tables import index, make_table
from serving import Serving, serving

SECRET = "canary-" + uuid4().hex
MakeClient = Callable[..., Any]


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def start(data_dir: Path, root_key_file: Path) -> Callable[..., Any]:
    @contextmanager
    def run(*flags: str) -> Iterator[Serving]:
        with serving(
            "--data-dir", str(data_dir), "--transition-ms", "0", "--root-key", f"file:{root_key_file}", *flags
        ) as running:
            yield running

    return run


def write_everything(client: Any) -> str:
    """Items, index entries, change records, tokens and what was before; gives the table."""
    table = make_table(
        client,
        "pk",
        types={"g": "S"},
        GlobalSecondaryIndexes=[index("by-g", "g")],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    for number in range(20):
        item = {"pk": {"S": f"k{number}"}, "g": {"S": "all"}, "secret": {"S": f"{SECRET}-{number}"}}
        client.put_item(TableName=table, Item=item)
    put = {"Put": {"TableName": table, "Item": {"pk": {"S": "t"}, "secret": {"S": SECRET}}}}
    client.transact_write_items(TransactItems=[put], ClientRequestToken=uuid4().hex)
    client.delete_item(TableName=table, Key={"pk": {"S": "k0"}})
    return table


def leaks(folder: Path) -> list[str]:
    """The files that have the secret in them."""
    return [
        path.name for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
    ]


def test_no_value_is_found_on_the_disk_and_all_come_back(
    start: Callable[..., Any], make_client: MakeClient, data_dir: Path
) -> None:
    with start() as running:
        client = make_client(endpoint=running.endpoint)
        table = write_everything(client)
        assert leaks(data_dir) == []  # the log of the database is there, too
    assert leaks(data_dir) == []
    with start() as running:
        client = make_client(endpoint=running.endpoint)
        items = client.scan(TableName=table)["Items"]
        assert {item["secret"]["S"] for item in items} == {SECRET, *(f"{SECRET}-{n}" for n in range(1, 20))}
        found = client.query(
            TableName=table,
            IndexName="by-g",
            KeyConditionExpression="g = :g",
            ExpressionAttributeValues={":g": {"S": "all"}},
        )
        assert found["Count"] == 19


def test_verify_reads_encrypted_data_with_its_key_only(
    start: Callable[..., Any], make_client: MakeClient, data_dir: Path, root_key_file: Path
) -> None:
    with start() as running:
        write_everything(make_client(endpoint=running.endpoint))
    right = verified(data_dir, "--root-key", f"file:{root_key_file}")
    assert (right.returncode, "no problems" in right.stdout) == (0, True), right.stdout + right.stderr
    without = verified(data_dir)
    assert (without.returncode, "--root-key" in without.stderr) == (2, True)
    other = verified(data_dir, "--root-key", "env:OTHER_KEY")
    assert (other.returncode, "is not the one" in other.stderr) == (2, True)


def verified(data_dir: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """What `hashrange verify` says."""
    return warm.run("verify", str(data_dir), *flags, environment={"OTHER_KEY": "ff" * 32})


def test_the_same_without_a_root_key_is_found(tmp_path: Path, make_client: MakeClient) -> None:
    with serving("--data-dir", str(tmp_path / "plain"), "--transition-ms", "0") as running:
        write_everything(make_client(endpoint=running.endpoint))
    assert leaks(tmp_path / "plain") != []


def test_a_lost_or_another_root_key_is_an_error_at_the_start(
    start: Callable[..., Any], data_dir: Path
) -> None:
    with start():
        pass
    for flags, environment in (((), {}), (("--root-key", "env:OTHER_KEY"), {"OTHER_KEY": "ff" * 32})):
        with (
            pytest.raises(RuntimeError, match="root key"),
            serving("--data-dir", str(data_dir), *flags, environment=environment),
        ):
            pass


def test_the_key_file_that_secrets_make_encrypts_no_items(tmp_path: Path, make_client: MakeClient) -> None:
    plain = tmp_path / "plain"
    with serving("--data-dir", str(plain), "--transition-ms", "0") as running:
        key = make_client("kms", endpoint=running.endpoint).create_key()["KeyMetadata"]["KeyId"]
    assert (plain / "root.key").stat().st_mode & 0o777 == 0o600
    with serving("--data-dir", str(plain), "--transition-ms", "0") as running:
        write_everything(make_client(endpoint=running.endpoint))
        make_client("kms", endpoint=running.endpoint).encrypt(KeyId=key, Plaintext=b"x")
    assert leaks(plain) != []
    (plain / "root.key").unlink()
    with pytest.raises(RuntimeError, match="root key"), serving("--data-dir", str(plain)):
        pass


def test_a_named_key_encrypts_no_data_that_was_begun_without_it(
    tmp_path: Path, root_key_file: Path, make_client: MakeClient
) -> None:
    plain = tmp_path / "plain"
    with serving("--data-dir", str(plain), "--transition-ms", "0") as running:
        table = write_everything(make_client(endpoint=running.endpoint))
    with serving("--data-dir", str(plain), "--root-key", f"file:{root_key_file}") as running:
        client = make_client(endpoint=running.endpoint)
        assert client.get_item(TableName=table, Key={"pk": {"S": "t"}})["Item"]["secret"] == {"S": SECRET}
        assert "rows.plain" in running.log_text()


def test_data_in_the_clear_in_place_of_encrypted_data_is_refused_where_signatures_are_verified(
    tmp_path: Path, root_key_file: Path, make_client: MakeClient
) -> None:
    encrypted, plain = tmp_path / "encrypted", tmp_path / "plain"
    named = ("--root-key", f"file:{root_key_file}")
    bootstrap(encrypted, *named)
    with serving("--data-dir", str(plain), "--transition-ms", "0") as running:
        make_table(make_client(endpoint=running.endpoint), "pk")
    (encrypted / "hashrange.db").write_bytes((plain / "hashrange.db").read_bytes())
    for log in encrypted.glob("hashrange.db-*"):
        log.unlink()
    flags = ("--data-dir", str(encrypted), *named)
    for mode in ("signature", "iam"):
        with (
            pytest.raises(RuntimeError, match="may have been put in the place"),
            serving(*flags, "--auth", mode),
        ):
            pass
    with serving(*flags, "--auth", "iam", "--allow-plain-rows") as running:
        assert "rows.plain" in running.log_text()


def test_items_that_were_exchanged_are_reported_and_never_returned(
    start: Callable[..., Any], make_client: MakeClient, data_dir: Path
) -> None:
    with start() as running:
        client = make_client(endpoint=running.endpoint)
        table = make_table(client, "pk")
        client.put_item(TableName=table, Item={"pk": {"S": "a"}, "v": {"S": SECRET}})
        client.put_item(TableName=table, Item={"pk": {"S": "b"}, "v": {"S": SECRET}})
    swap_items(data_dir)
    with start() as running:
        client = make_client(endpoint=running.endpoint)
        for key in ("a", "b"):
            with pytest.raises(ClientError) as failure:
                client.get_item(TableName=table, Key={"pk": {"S": key}})
            assert failure.value.response["Error"]["Code"] == "InternalServerError"


def swap_items(data_dir: Path) -> None:
    """Exchange the values of the two items, with checksums that fit: as somebody would who has the file."""
    engine = SqliteEngine.open(data_dir)

    def step(tx: Transaction) -> None:
        (first, one), (second, other) = tx.scan(layout.ROWS, prefix_end(layout.ROWS))
        tx.put(first, other)
        tx.put(second, one)

    engine.write(step)
    engine.close()
