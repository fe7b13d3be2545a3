"""Opening the object store that the settings name."""

import atexit
from collections.abc import Mapping
from pathlib import Path

from hashrange.config import SettingInvalid, Settings, is_url
from hashrange.objects.folder import FolderBucket, FolderStore
from hashrange.objects.interface import Bucket, ObjectStore
from hashrange.objects.s3_address import s3_address
from hashrange.objects.s3_store import S3Store
from hashrange.objects.temporary_folder import TemporaryFolder

DEFAULT_FOLDER = "buckets"
DEFAULT_BACKUPS = "backups"
_S3 = "s3://"
_TEMPORARY = "a temporary folder, removed at the end"


def open_backups(settings: Settings, store: ObjectStore) -> tuple[Bucket, str]:
    """Where backups are kept, as a bucket and a prefix: a folder of their own, or a bucket of the store of `--s3`."""
    if settings.backups.startswith(_S3):
        return find_backups(settings, store)
    if settings.in_memory and not settings.backups:
        temporary = TemporaryFolder("backups")
        atexit.register(temporary.remove)
        folder = temporary.path
    else:
        folder = _backup_folder(settings)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingInvalid(f"--backups: cannot make the folder {folder}: {error.strerror}") from error
    return FolderBucket(folder.name, folder), ""


def find_backups(settings: Settings, store: ObjectStore) -> tuple[Bucket, str]:
    """Where backups are kept; a folder that is not there is not made."""
    if settings.backups.startswith(_S3):
        bucket, _, prefix = settings.backups.removeprefix(_S3).partition("/")
        prefix = prefix.strip("/")
        return store.bucket(bucket), f"{prefix}/" if prefix else ""
    folder = _backup_folder(settings)
    return FolderBucket(folder.name, folder), ""


def _backup_folder(settings: Settings) -> Path:
    return Path(settings.backups) if settings.backups else settings.data_dir / DEFAULT_BACKUPS


def location(settings: Settings) -> str:
    """Say where the buckets are, without secrets."""
    if is_url(settings.s3):
        return s3_address(settings.s3, {}, settings.region).endpoint
    if not settings.s3 and settings.in_memory:
        return _TEMPORARY
    return f"folder {settings.s3 or settings.data_dir / DEFAULT_FOLDER}"


def backups_location(settings: Settings) -> str:
    """Say where the backups are."""
    if settings.backups.startswith(_S3):
        return settings.backups
    if not settings.backups and settings.in_memory:
        return _TEMPORARY
    return f"folder {_backup_folder(settings)}"


def open_store(settings: Settings, environment: Mapping[str, str]) -> ObjectStore:
    """The store of `--s3`: an endpoint, a folder, or without it a folder beside the data."""
    if not settings.s3:
        if settings.in_memory:
            return FolderStore.in_temporary_folder()
        return FolderStore(settings.data_dir / DEFAULT_FOLDER)
    if not is_url(settings.s3):
        return FolderStore(Path(settings.s3))
    return S3Store(s3_address(settings.s3, environment, settings.region))
