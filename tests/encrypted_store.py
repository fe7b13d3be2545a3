"""An encrypted store without a server: operations, jobs and identities, with files beside it."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from clocked import Clocked
from hashrange import vaults
from hashrange.api.protocol.plan import Write
from hashrange.jobs.backup_files import BackupPlace
from hashrange.jobs.kept_backups import KeepBackups
from hashrange.kms.lazy_vault import LazyVault
from hashrange.objects.folder import FolderBucket
from hashrange.services.kms.registry import KMS
from hashrange.storage.directory import Directory
from hashrange.storage.sqlite import SqliteEngine


def key_file(folder: Path, number: int) -> Path:
    """A file with a root key."""
    path = folder / f"root-{number}.key"
    path.write_bytes(base64.b64encode(bytes([number]) * 32))
    path.chmod(0o600)
    return path


@contextmanager
def encrypted_store(data: Path, key: Path | None) -> Iterator[Clocked]:
    """A store with backups in its own folder, as a server has them; `key`: its root key, if it has one."""
    stored = SqliteEngine.open(data)
    try:
        engine, source, *_ = vaults.open_keys("" if key is None else f"file:{key}", stored)
        service = Clocked(engine, transition_ms=0)
        folder = data / "backups"
        folder.mkdir(exist_ok=True)
        seals = vaults.file_seals(source.known(), seals_new=engine.encrypted)
        service.backups = BackupPlace(FolderBucket("backups", folder), "", seals)
        service.keeping_backups = KeepBackups(engine, service.backups)
        service.start_long_jobs()
        service.context.vault = LazyVault(source)
        service.context.directory = Directory(engine, source)
        yield service
    finally:
        stored.close()


def asked(service: Clocked, name: str, request: dict[str, Any]) -> Any:
    """The answer of the key service."""
    operation = KMS.operations[name]
    return done(service, operation.handler(service.context, operation.shape.explain(request)))


def done(service: Clocked, plan: Any) -> Any:
    """What a plan answers."""
    run = service.engine.write if isinstance(plan, Write) else service.engine.read
    body = run(plan.step).body
    return None if body is None else msgspec.json.decode(msgspec.json.encode(body))
