"""`hashrange salvage`: copy what can be read of a damaged store into an empty one, and say what is lost."""

import argparse
from contextlib import ExitStack, closing
from pathlib import Path

from hashrange import migrate, terminal, vaults
from hashrange.config import SettingInvalid
from hashrange.migrate import Reporter
from hashrange.page_keys import unlock_pages
from hashrange.passwords import masked
from hashrange.storage.copying import Copyable
from hashrange.storage.errors import OpenError, StorageError
from hashrange.storage.salvage import Salvaged, salvage
from hashrange.storage.sqlite import SqliteEngine
from hashrange.storage.sqlite.directory_lock import is_locked
from hashrange.storage.sqlite.read_only import ReadOnlyStore

SOMETHING_LOST = 1
NOT_SALVAGED = 2
_INTERRUPTED = 130  # the status that shells give for SIGINT

DESCRIPTION = (
    "Copy what can be read of a damaged store to an empty place, make indexes and counters anew from the items, and "
    "list what is lost. Nothing is changed in the damaged store. No server may run on either side. The exit status is "
    "0 if nothing is lost, 1 if something is, 2 if it could not be done."
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
        help="the root key, as the server has it; with it the copy is encrypted",
    )


def run(options: argparse.Namespace) -> int:
    """Run the command; give the exit status."""
    try:
        with ExitStack() as stack:
            salvaged = _run(stack, options)
    except (StorageError, SettingInvalid) as error:
        terminal.complain(masked(str(error)))
        return NOT_SALVAGED
    except KeyboardInterrupt:
        terminal.complain("interrupted; empty the target before the next attempt")
        return _INTERRUPTED
    terminal.show(_text(salvaged))
    return SOMETHING_LOST if salvaged.lost else 0


def _run(stack: ExitStack, options: argparse.Namespace) -> Salvaged:
    root_key: str = options.root_key
    source = stack.enter_context(closing(_open_source(options.source, root_key)))
    if not isinstance(source, ReadOnlyStore):
        stack.callback(migrate.acquire_lease(source).release)
    vaults.check_named_key(root_key, source.description, source.read)
    opened = vaults.DecryptedStore(source, root_key)
    target = stack.enter_context(closing(_open_target(options.target, root_key)))
    if source.description == target.description:
        raise OpenError(f"source and target are the same: {source.description}")
    if target.shared:
        stack.callback(migrate.acquire_lease(target).release)
    if opened.is_encrypted or root_key:
        target = vaults.encrypted_target(root_key, target)
    salvaged = salvage(opened, target, Reporter().report)
    vaults.claim_named_key(root_key, target)
    return salvaged


def _open_source(place: str, root_key: str) -> ReadOnlyStore | Copyable:
    if migrate.is_postgres(place):
        return migrate.open_postgres(place, create=False)
    if is_locked(Path(place)):
        raise OpenError(f"a server is running on {place}: stop it first")
    unlock_pages(Path(place), root_key)
    return ReadOnlyStore(Path(place))


def _open_target(place: str, root_key: str) -> Copyable:
    if migrate.is_postgres(place):
        return migrate.open_postgres(place, create=True)
    unlock_pages(Path(place), root_key)
    return SqliteEngine.open(Path(place))


def _text(salvaged: Salvaged) -> str:
    lines = [f"lost: {what}" for what in salvaged.lost]
    verdict = f"{len(salvaged.lost)} losses" if salvaged.lost else "nothing is lost"
    counted = f"{salvaged.items} items of {salvaged.tables} tables copied"
    recovered = f", {salvaged.recovered} of them from an index" if salvaged.recovered else ""
    return "\n".join([*lines, f"{counted}{recovered}: {verdict}"])
