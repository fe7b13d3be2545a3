"""Rotation of the root key: everything opens with the new one, nothing with the old one, whenever it is interrupted."""

import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from clocked import Clocked
from encrypted_store import asked, done, encrypted_store, key_file
from hashrange.cli import main
from hashrange.jobs.rewrapped_files import FileHeads
from hashrange.services.iam.bootstrap import bootstrap
from hashrange.storage.errors import OpenError
from hashrange.storage.identity_rows import ACCESS_KEYS
from hashrange.storage.rewrapping import RootKeyChange
from new_tables import request as new_table
from sealed_exports import begin, export, fill, imported, use_buckets

SECRET = "a value"


class Store:
    """A store with everything that hangs on the root key."""

    def __init__(self, folder: Path) -> None:
        self.data = folder / "data"
        self.old, self.new = key_file(folder, 1), key_file(folder, 2)
        with encrypted_store(self.data, self.old) as service:
            self.key = asked(service, "CreateKey", {})["KeyMetadata"]["KeyId"]
            for name in ("one", "under-a-key"):
                specification = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": self.key}
                more = {} if name == "one" else {"SSESpecification": specification}
                service.call("CreateTable", **new_table("pk", TableName=name), **more)
            service.settle()
            service.call("PutItem", TableName="under-a-key", Item={"pk": {"S": "a"}})
            service.call("PutItem", TableName="one", Item={"pk": {"S": "a"}, "v": {"S": SECRET}})
            fill(service, self.data, "exported", items=2)
            self.export = export(service, "exported")
            made = service.call("CreateBackup", TableName="one", BackupName="name")
            self.backup = made["BackupDetails"]["BackupArn"]
            service.run_jobs()
            asked(service, "RotateKeyOnDemand", {"KeyId": self.key})
            self.secret = done(service, bootstrap(service.context))["SecretAccessKey"]

    def rotated(self, *flags: str) -> int:
        places = ("--from", f"file:{self.old}", "--to", f"file:{self.new}")
        return main(["root-key", "rotate", str(self.data), *places, *flags])

    def opens_with(self, key: Path) -> bool:
        try:
            with encrypted_store(self.data, key) as service:
                self._check(service)
        except OpenError as refusal:
            if "Its id is" not in str(refusal):
                raise
            return False
        return True

    def _check(self, service: Clocked) -> None:
        """Everything that was there opens: items, backups, keys and secrets."""
        item = service.call("GetItem", TableName="one", Key={"pk": {"S": "a"}})["Item"]
        assert item["v"] == {"S": SECRET}
        assert service.call("Scan", TableName="under-a-key")["Count"] == 1
        service.call("RestoreTableFromBackup", TargetTableName="again", BackupArn=self.backup)
        service.settle()
        assert service.call("Scan", TableName="again")["Count"] == 1
        service.call("DeleteTable", TableName="again")
        service.settle()
        use_buckets(service, self.data)
        assert imported(service, self.export)["ImportedItemCount"] == 2
        service.call("DeleteTable", TableName="again")
        service.settle()
        asked(service, "GenerateDataKey", {"KeyId": self.key, "KeySpec": "AES_256"})
        assert service.context.directory is not None
        seals = service.context.directory.seals()
        (stored,) = service.engine.read(lambda reader: [key for _, _, key in ACCESS_KEYS.everywhere(reader)])
        assert seals.access_keys.open(stored.sealed, stored.id.encode()).decode() == self.secret


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def test_everything_opens_with_the_new_key_and_nothing_with_the_old_one(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert store.opens_with(store.old)
    assert store.rotated() == 0
    shown = capsys.readouterr().out
    assert "2 key material, 1 secrets" in shown
    assert "2 files of backups, reports and exports" in shown
    assert (store.opens_with(store.new), store.opens_with(store.old)) == (True, False)
    assert store.rotated() == 0
    assert "already" in capsys.readouterr().out
    assert store.opens_with(store.new)


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("owner", "name", "is_new"),
    [
        (FileHeads, "share", False),
        (RootKeyChange, "_change_data_keys", False),
        (FileHeads, "drop_old", True),
    ],
)
def test_an_interruption_leaves_a_store_that_opens_with_one_of_the_two(
    store: Store, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, *, is_new: bool
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupted)
        with suppress(KeyboardInterrupt):
            store.rotated()
    assert (store.opens_with(store.old), store.opens_with(store.new)) == (not is_new, is_new)
    assert store.rotated() == 0
    assert (store.opens_with(store.old), store.opens_with(store.new)) == (False, True)


@pytest.mark.parametrize("milliseconds", [300, 600, 900])
def test_a_killed_rotation_leaves_a_store_that_opens_with_one_of_the_two(
    store: Store, milliseconds: int
) -> None:
    places = ("--from", f"file:{store.old}", "--to", f"file:{store.new}")
    command = [sys.executable, "-m", "hashrange", "root-key", "rotate", str(store.data), *places]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        # Whenever that is: each moment must do.
        with suppress(subprocess.TimeoutExpired):
            process.wait(milliseconds / 1000)
        process.send_signal(signal.SIGKILL)
    assert [store.opens_with(key) for key in (store.old, store.new)].count(True) == 1
    assert store.rotated() == 0
    assert store.opens_with(store.new)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda store: setattr(store, "new", store.old), "the same root key"),
        (lambda store: setattr(store, "old", key_file(store.old.parent, 3)), "Its id is"),
        (lambda store: setattr(store, "data", store.old.parent / "nothing"), "no data"),
    ],
)
def test_what_cannot_be_rotated_is_said_and_left(
    store: Store, capsys: pytest.CaptureFixture[str], change: Callable[[Store], None], words: str
) -> None:
    old, data = store.old, store.data
    change(store)
    assert store.rotated() == 1
    assert words in capsys.readouterr().err
    store.old, store.data = old, data
    assert store.opens_with(old)


def test_a_backup_under_another_key_is_named(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    assert store.rotated("--no-backups") == 0
    with encrypted_store(store.data, store.new) as service:
        code, message = service.refused(
            "RestoreTableFromBackup", TargetTableName="again", BackupArn=store.backup
        )
        assert "root key with the id" in f"{code} {message}"
    assert store.rotated() == 0  # with the old key at hand they follow
    assert "2 files" in capsys.readouterr().out
    assert store.opens_with(store.new)


def test_an_export_that_is_not_finished_goes_on_under_the_new_key(store: Store) -> None:
    with encrypted_store(store.data, store.old) as service:
        use_buckets(service, store.data)
        export_id = begin(service, "exported")
        service.exporting.step(service.clock.now())
        service.exporting.close()
        files = {path: path.read_bytes() for path in store.data.glob("buckets/bucket/**/*.gz")}
    assert store.rotated() == 0
    assert {path: path.read_bytes() for path in files} == files  # no data is written
    with encrypted_store(store.data, store.new) as service:
        use_buckets(service, store.data)
        service.run_jobs()
        assert imported(service, export_id)["ImportedItemCount"] == 2


def test_the_id_of_a_key_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["root-key", "id", "--root-key", f"file:{key_file(tmp_path, 1)}"]) == 0
    assert len(capsys.readouterr().out.strip()) == 16
