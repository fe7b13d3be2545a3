"""Copies of encrypted data, and encrypted copies: migrate and salvage."""

from pathlib import Path

import pytest

from clocked import Clocked
from encrypted_store import asked, encrypted_store, key_file
from hashrange.cli import main
from hashrange.core.keys.encoding import prefix_end
from hashrange.storage import layout
from hashrange.storage.engine import Transaction
from hashrange.storage.errors import OpenError
from hashrange.storage.sqlite import SqliteEngine
from item_tables import index
from new_tables import request as new_table

SECRET = "canary-in-a-copy"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return key_file(tmp_path, 1)


def fill(data: Path, key: Path | None) -> None:
    with encrypted_store(data, key) as service:
        request = new_table("pk", TableName="one", types={"g": "S"})
        service.call("CreateTable", **request, GlobalSecondaryIndexes=[index("by-g", "g")])
        service.settle()
        for number in range(5):
            item = {"pk": {"S": f"k{number}"}, "g": {"S": "g"}, "v": {"S": SECRET}}
            service.call("PutItem", TableName="one", Item=item)


def values(service: Clocked) -> list[str]:
    return [item["v"]["S"] for item in service.call("Scan", TableName="one")["Items"]]


def leaks(data: Path) -> bool:
    return any(SECRET.encode() in path.read_bytes() for path in data.rglob("*") if path.is_file())


def copied(command: str, source: Path, target: Path, key: Path | None = None) -> int:
    flags = () if key is None else ("--root-key", f"file:{key}")
    return main([command, "--from", str(source), "--to", str(target), *flags])


@pytest.mark.parametrize("command", ["migrate", "salvage"])
@pytest.mark.parametrize("is_source_encrypted", [True, False])
def test_a_copy_with_the_root_key_is_encrypted(
    tmp_path: Path, key: Path, command: str, *, is_source_encrypted: bool
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    fill(source, key if is_source_encrypted else None)
    assert leaks(source) is not is_source_encrypted
    assert copied(command, source, target, key) == 0
    assert not leaks(target)
    with encrypted_store(target, key) as service:
        assert values(service) == [SECRET] * 5
    assert main(["verify", str(target), "--root-key", f"file:{key}"]) == 0
    with pytest.raises(OpenError, match="root key"), encrypted_store(target, None):
        pass


@pytest.mark.parametrize("command", ["migrate", "salvage"])
@pytest.mark.parametrize("is_source_encrypted", [True, False])
def test_a_table_under_a_key_of_the_key_service_is_copied_with_it(
    tmp_path: Path, key: Path, command: str, *, is_source_encrypted: bool
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    root_key = key
    with encrypted_store(source, key if is_source_encrypted else None) as service:
        arn = asked(service, "CreateKey", {})["KeyMetadata"]["Arn"]
        specification = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": arn}
        service.call("CreateTable", **new_table("pk", TableName="one"), SSESpecification=specification)
        service.settle()
        service.call("PutItem", TableName="one", Item={"pk": {"S": "a"}, "v": {"S": SECRET}})
        asked(service, "DisableKey", {"KeyId": arn})
        if not is_source_encrypted:
            root_key = source / "root.key"  # what the key is under already
    assert copied(command, source, target, root_key) == 0
    assert not leaks(target)
    with encrypted_store(target, root_key) as service:
        asked(service, "EnableKey", {"KeyId": arn})
        assert values(service) == [SECRET]


def test_ciphertext_is_migrated_without_the_key(tmp_path: Path, key: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    fill(source, key)
    assert copied("migrate", source, target) == 0
    assert not leaks(target)
    with encrypted_store(target, key) as service:
        assert values(service) == [SECRET] * 5


def test_nothing_is_salvaged_without_the_key_or_with_another(
    tmp_path: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    fill(source, key)
    assert copied("salvage", source, target) == 2
    assert "name it with --root-key" in capsys.readouterr().err
    for command in ("salvage", "migrate"):
        assert copied(command, source, target, key_file(tmp_path, 2)) != 0
        assert "Its id is" in capsys.readouterr().err


def test_a_changed_item_is_salvaged_from_an_index_that_has_all_of_it(
    tmp_path: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    fill(source, key)
    damage_items(source, layout.ROWS)
    assert copied("salvage", source, target, key) == 0
    assert "1 of them from an index: nothing is lost" in capsys.readouterr().out
    with encrypted_store(target, key) as service:
        assert values(service) == [SECRET] * 5
    assert main(["verify", str(target), "--root-key", f"file:{key}"]) == 0


def test_an_unfinished_encrypted_copy_does_not_go_on_in_the_clear(
    tmp_path: Path, key: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    fill(source, None)
    with monkeypatch.context() as patch:
        patch.setattr("hashrange.storage.copying._copy_counters", interrupted)
        assert copied("migrate", source, target, key) == 130
    assert copied("migrate", source, target) == 1
    assert "name its --root-key" in capsys.readouterr().err
    assert copied("migrate", source, target, key) == 0
    assert not leaks(target)


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def damage_items(data: Path, prefix: bytes) -> None:
    """Flip a bit of the first row, with a checksum that fits."""
    engine = SqliteEngine.open(data)

    def step(tx: Transaction) -> None:
        key, stored = next(iter(tx.scan(prefix, prefix_end(prefix), limit=1)))
        tx.put(key, stored[:-1] + bytes([stored[-1] ^ 1]))

    engine.write(step)
    engine.close()
