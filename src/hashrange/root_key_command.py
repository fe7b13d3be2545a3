"""`hashrange root-key`: change the root key of data that no server is running on, and read files that are under it."""

import argparse
import os
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec

from hashrange import migrate, page_keys, terminal, vaults, wrapped_root_key
from hashrange.config import SettingInvalid, Settings
from hashrange.formats.errors import Damaged
from hashrange.jobs import sealed_files
from hashrange.jobs.backup_files import BackupPlace
from hashrange.jobs.sealed_files import SealedFile
from hashrange.kms import root_key
from hashrange.kms.errors import NotAuthentic, OtherRootKey
from hashrange.kms.interface import FileSeals
from hashrange.kms.key_id import key_id
from hashrange.kms.root_key import RootKey, RootKeyInvalid
from hashrange.kms.sealing import check_value
from hashrange.objects.errors import ObjectStoreError
from hashrange.objects.folder import FolderStore
from hashrange.objects.opening import find_backups, open_store
from hashrange.passwords import masked
from hashrange.storage import root_key_record
from hashrange.storage.copying import Copyable
from hashrange.storage.errors import OpenError, StorageError
from hashrange.storage.sqlite import SqliteEngine
from hashrange.storage.sqlite.place import existing_data_file
from hashrange.transfer.errors import TransferError

DESCRIPTION = "Change the root key of data that no server is running on, or read files that are under it."
_ROTATE = (
    "Put everything that is under one root key under another. No item is written: data keys, keys of the key service "
    "and secrets of access keys are wrapped anew, in one transaction, and so are the keys of backups and exports. "
    "After an interruption run it again; keep both keys until it says that it is done. Temporary credentials become "
    "invalid."
)
_CREATE = (
    "Make a root key in a new file that only its owner can read, for --root-key file:FILE. With --kms-endpoint the key "
    "is wrapped by that key service, AWS KMS or one that speaks as it does, for --root-key kms:FILE: requests are "
    "signed with the access key in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. An existing file is never replaced."
)
_DECRYPT = (
    "Print an encrypted report or manifest; or, with --to, make a copy in the clear of a folder with encrypted "
    "exports. Nothing is written of a file that was changed since it was encrypted."
)
_SOURCES = "file:PATH, env:NAME, command:COMMAND or kms:PATH"


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's actions."""
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    rotation = actions.add_parser("rotate", help="change the root key", description=_ROTATE)
    rotation.set_defaults(do=_rotate)
    rotation.add_argument("place", metavar="PLACE", help="a data directory or a postgresql:// URL")
    rotation.add_argument(
        "--from", dest="old", required=True, metavar="WHERE", help=f"the root key now: {_SOURCES}"
    )
    rotation.add_argument("--to", dest="new", required=True, metavar="WHERE", help="the root key to come")
    rotation.add_argument(
        "--backups",
        metavar="WHERE",
        default="",
        help="where backups are, as the server has it (default: the folder `backups` in the data directory)",
    )
    rotation.add_argument(
        "--no-backups", action="store_true", help="leave the backups, which then need the old key"
    )
    rotation.add_argument(
        "--s3",
        metavar="WHERE",
        default="",
        help="the object store, as the server has it; the keys of exports in its folders are wrapped anew",
    )
    _add_decrypt_flags(actions.add_parser("decrypt", help="read encrypted files", description=_DECRYPT))
    creation = actions.add_parser("create", help="make a root key", description=_CREATE)
    creation.set_defaults(do=_create)
    creation.add_argument("file", metavar="FILE", type=Path)
    creation.add_argument("--kms-endpoint", metavar="URL", help="the key service that is to wrap it")
    creation.add_argument("--kms-key", metavar="KEY", help="its key there: an id, an ARN or an alias")
    creation.add_argument("--kms-region", metavar="REGION", default="us-east-1", help="and the key's region")
    naming = actions.add_parser("id", help="print the id of a root key", description="Print a root key's id.")
    naming.set_defaults(do=_id)
    naming.add_argument("--root-key", metavar="WHERE", required=True, help=f"the root key: {_SOURCES}")


def _add_decrypt_flags(reading: argparse.ArgumentParser) -> None:
    reading.set_defaults(do=_decrypt)
    reading.add_argument("file", metavar="PLACE", type=Path, help="a file to print, or a folder to copy")
    reading.add_argument("--to", metavar="COPY", type=Path, help="a new folder for the copy in the clear")
    reading.add_argument("--root-key", metavar="WHERE", required=True, help=f"the root key: {_SOURCES}")


def run(options: argparse.Namespace) -> int:
    """Run the command; give the exit status."""
    try:
        terminal.show(options.do(options))
    except (StorageError, SettingInvalid, ObjectStoreError, OtherRootKey) as error:
        terminal.complain(masked(str(error)))
        return 1
    return 0


def _create(options: argparse.Namespace) -> str:
    path, endpoint = options.file, options.kms_endpoint
    try:
        if endpoint is None:
            root_key.create_file(path)
            return f"--root-key file:{path}"
        if options.kms_key is None:
            raise SettingInvalid("--kms-endpoint goes with --kms-key")
        arn = wrapped_root_key.create_file(path, endpoint, options.kms_region, options.kms_key)
    except RootKeyInvalid as problem:
        raise SettingInvalid(str(problem)) from None
    return f"--root-key kms:{path} is under {arn}"


def _id(options: argparse.Namespace) -> str:
    return key_id(check_value(_key(options.root_key)))


def _decrypt(options: argparse.Namespace) -> str:
    from hashrange.kms.file_seals import RootFileSeals  # noqa: PLC0415 - it loads the cipher

    seals = RootFileSeals(_key(options.root_key), seals_new=False)
    if options.to is not None:
        return _decrypt_folder(options.file, options.to, seals)
    if options.file.is_dir():
        raise SettingInvalid(f"{options.file} is a folder: name one for the copy with --to")
    try:
        body = options.file.read_bytes().partition(b"\n")[0]
        file = msgspec.json.decode(body, type=SealedFile)
        return sealed_files.unsealed(file, seals.cipher(file.keys)).decode().removesuffix("\n")
    except OSError as error:
        raise OpenError(f"cannot read {options.file}: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise OpenError(f"{options.file} is no encrypted report") from None
    except NotAuthentic:
        raise OpenError(f"{options.file} was changed since it was encrypted") from None


def _decrypt_folder(folder: Path, copy: Path, seals: FileSeals) -> str:
    from hashrange.transfer import decrypting  # noqa: PLC0415 - it loads what transfers need

    try:
        count = decrypting.decrypt(folder, copy, seals)
    except (TransferError, Damaged) as error:
        raise OpenError(str(error)) from None
    return f"{count} files were decrypted to {copy}"


def _rotate(options: argparse.Namespace) -> str:
    from hashrange.jobs.rewrapped_files import FileHeads  # noqa: PLC0415 - it loads the cipher
    from hashrange.kms.file_seals import RootFileSeals  # noqa: PLC0415
    from hashrange.storage.rewrapping import RootKeyChange  # noqa: PLC0415

    old, new = _key(options.old), _key(options.new)
    if check_value(old) == check_value(new):
        raise OpenError("both are the same root key")
    with ExitStack() as stack:
        pages = None if migrate.is_postgres(options.place) else Path(options.place)
        old_seals, new_seals = (RootFileSeals(key, seals_new=False) for key in (old, new))
        if pages is not None:
            page_keys.share(pages, old_seals, new_seals)
        engine = stack.enter_context(closing(_open(options.place, options.new)))
        if engine.shared:
            stack.callback(migrate.acquire_lease(engine).release)
        is_done = _is_rotated(engine, old, new)
        heads = FileHeads(_backups(options), _exports(options), old_seals, new_seals)
        heads.share()
        lines = [] if is_done else [_counted(engine.write(RootKeyChange(old, new).step))]
        if pages is not None:
            page_keys.drop_all_but(pages, new_seals)
        lines.append(f"{heads.drop_old()} files of backups, reports and exports")
        lines += [f"under another root key, and left: {name}" for name in heads.left]
        verdict = "was under the new root key already" if is_done else "is under the new root key"
        lines.append(f"{engine.description} {verdict}, {key_id(check_value(new))}")
    return "\n".join(lines)


def _is_rotated(engine: Copyable, old: RootKey, new: RootKey) -> bool:
    stored = engine.read(root_key_record.stored_check_value)
    if stored is None:
        raise OpenError(f"nothing in {engine.description} is under a root key")
    if stored == check_value(new):
        return True
    root_key_record.compare(stored, check_value(old), engine.description, old.source)
    return False


def _counted(done: msgspec.Struct) -> str:
    counts = msgspec.structs.asdict(done).items()
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts)


def _key(place: str) -> RootKey:
    key = vaults.named_root_key(place)
    if key is None:
        raise SettingInvalid(f"a root key must be {_SOURCES}")
    return key


def _open(place: str, root_key: str) -> Copyable:
    if migrate.is_postgres(place):
        return migrate.open_postgres(place, create=False)
    existing_data_file(Path(place))
    page_keys.unlock_pages(Path(place), root_key)
    return SqliteEngine.open(Path(place))


def _backups(options: argparse.Namespace) -> BackupPlace | None:
    if options.no_backups:
        return None
    if migrate.is_postgres(options.place) and not options.backups:
        raise SettingInvalid("--backups: say where they are, as the servers do, or --no-backups")
    settings = _settings(options)
    return BackupPlace(*find_backups(settings, open_store(settings, os.environ)))


def _exports(options: argparse.Namespace) -> FolderStore | None:
    """The folders that stand for buckets, if there are any: stores of others have no encrypted exports of ours."""
    if migrate.is_postgres(options.place) and not options.s3:
        return None
    store = open_store(_settings(options), os.environ)
    return store if isinstance(store, FolderStore) else None


def _settings(options: argparse.Namespace) -> Settings:
    data = Path() if migrate.is_postgres(options.place) else Path(options.place)
    return Settings(data_dir=data, backups=options.backups, s3=options.s3)
