"""`hashrange migrate`: copy all data from a data directory to a PostgreSQL database, or back."""

import argparse
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

from hashrange import ids, terminal, vaults
from hashrange.config import SettingInvalid
from hashrange.page_keys import unlock_pages
from hashrange.passwords import masked, masked_place
from hashrange.storage import root_key_record
from hashrange.storage.copying import Copyable, copy
from hashrange.storage.errors import OpenError, StorageError
from hashrange.storage.leases import TERM_SECONDS, Lease
from hashrange.storage.sqlite import SqliteEngine
from hashrange.storage.sqlite.place import existing_data_file

if TYPE_CHECKING:
    from hashrange.storage.postgres import PostgresEngine

_REPORT_SECONDS = 1.0
_INTERRUPTED = 130  # the status that shells give for SIGINT
_POSTGRES_URLS = ("postgresql://", "postgres://")


DESCRIPTION = (
    "Copy all data to an empty place and check the copy. No server may run on either side. "
    "If it is interrupted, run it again: it goes on where it stopped."
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    place = "a data directory or a postgresql:// URL"
    parser.add_argument("--from", dest="source", required=True, metavar="PLACE", help=f"{place} to copy from")
    parser.add_argument("--to", dest="target", required=True, metavar="PLACE", help=f"{place} to copy to")
    parser.add_argument(
        "--root-key",
        metavar="WHERE",
        default="",
        help="encrypt the copy of data that is in the clear under this root key: file:PATH, env:NAME or "
        "command:COMMAND. Encrypted data is copied as it is, and needs none",
    )
    parser.add_argument(
        "--encrypt-pages",
        action="store_true",
        help="encrypt the whole data file of the copy, as `serve` does",
    )


def run(options: argparse.Namespace) -> int:
    """Run the command; give the exit status."""
    try:
        with ExitStack() as stack:
            source = stack.enter_context(closing(_open(options, options.source, is_source=True)))
            target = stack.enter_context(closing(_open(options, options.target, is_source=False)))
            if source.description == target.description:
                raise OpenError(f"source and target are the same: {source.description}")
            for engine in (source, target):
                if engine.shared:
                    stack.callback(acquire_lease(engine).release)
            target = _encrypted(source, target, options.root_key)
            checksum = copy(source, target, Reporter().report)
            vaults.claim_named_key(options.root_key, target)
    except (StorageError, SettingInvalid) as error:
        terminal.complain(masked(str(error)))
        return 1
    except KeyboardInterrupt:
        terminal.complain("interrupted; run the same command again to go on from here")
        return _INTERRUPTED
    copied = f"{checksum.rows} rows copied from {source.description} to {target.description} and checked"
    terminal.show(f"{copied}\nsha256 of both {checksum.digest}")
    return 0


def _encrypted(source: Copyable, target: Copyable, root_key: str) -> Copyable:
    """The target for rows in the clear that are to be encrypted; ciphertext is copied as it is."""
    vaults.check_named_key(root_key, source.description, source.read)
    if source.read(root_key_record.is_encrypted):
        return target
    if root_key:
        return vaults.encrypted_target(root_key, target)
    if target.read(root_key_record.is_encrypted):
        raise OpenError(f"the unfinished copy in {target.description} is encrypted: name its --root-key")
    return target


def _open(options: argparse.Namespace, place: str, *, is_source: bool) -> Copyable:
    if is_postgres(place):
        return open_postgres(place, create=not is_source)
    if is_source:
        existing_data_file(Path(place))
    unlock_pages(Path(place), options.root_key, encrypt_new=options.encrypt_pages and not is_source)
    return SqliteEngine.open(Path(place))


def is_postgres(place: str) -> bool:
    """Whether a place is a PostgreSQL database, and not a directory; raises if it can be neither."""
    if place.startswith(_POSTGRES_URLS):
        return True
    if "://" in place:
        shown = masked_place(place)
        raise OpenError(f"{shown} is neither a directory nor a URL that begins with postgresql://")
    return False


def open_postgres(url: str, *, create: bool) -> "PostgresEngine":
    """Open a PostgreSQL database, if its driver is installed."""
    try:
        from hashrange.storage.postgres import PostgresEngine  # noqa: PLC0415 - its driver is an extra
    except ImportError as error:
        raise OpenError("this needs PostgreSQL's driver: pip install 'hashrange[postgres]'") from error
    return PostgresEngine.open(url, create=create)


def acquire_lease(engine: Copyable) -> Lease:
    """Acquire the lease of the background jobs, which a running server would hold."""
    lease = Lease(engine, "jobs", ids.unique_id())
    deadline = time.monotonic() + 2 * TERM_SECONDS
    while not lease.acquire():
        if time.monotonic() > deadline:
            raise OpenError(f"a server is running on {engine.description}: stop it first")
        time.sleep(lease.renew_seconds)
    return lease


class Reporter:
    """Reports progress at intervals."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._next = 0.0

    def report(self, what: str, count: int, unit: str = "rows") -> None:
        """Tell the person at the terminal, but not too often."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _REPORT_SECONDS
            terminal.tell(f"{what} {count} {unit}, {now - self._began:.0f} s")
