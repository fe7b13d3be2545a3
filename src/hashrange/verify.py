"""`hashrange verify`: read a whole store, compare everything in it that can be compared, and report."""

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Protocol, TypeVar

import msgspec

from hashrange import migrate, terminal
from hashrange.config import SettingInvalid, Settings
from hashrange.jobs.backup_files import BackupPlace
from hashrange.jobs.backup_verification import verify_backups
from hashrange.migrate import Reporter
from hashrange.objects.opening import find_backups, open_store
from hashrange.page_keys import unlock_pages
from hashrange.passwords import masked, masked_place
from hashrange.storage.copying import Copyable
from hashrange.storage.engine import Reader
from hashrange.storage.errors import StorageError
from hashrange.storage.sqlite.read_only import ReadOnlyStore
from hashrange.storage.verification import Report, Verifiable, verify
from hashrange.vaults import DecryptedStore, file_seals, named_root_key

T = TypeVar("T")

PROBLEMS_FOUND = 1
NOT_VERIFIED = 2
_INTERRUPTED = 130  # the status that shells give for SIGINT

DESCRIPTION = (
    "Read everything in a store and compare it: checksums, every index against its items and the other way round, "
    "counters, table numbers, rows that belong to nothing, the structure of the file and, with --backups, the files of "
    "all backups. Nothing is changed. "
    "A server may be running on it. The exit status is 0 if all is well, 1 if there are problems, 2 if it could "
    "not be read."
)


class Store(Verifiable, Protocol):
    """What can be verified and then closed."""

    def close(self) -> None:
        """Release everything."""


class _SharedStore:
    """A PostgreSQL database, which checks the structure of its files itself."""

    def __init__(self, engine: Copyable) -> None:
        self._engine = engine
        self.description = engine.description
        self.counters = engine.counters
        self.close = engine.close

    def read(self, step: Callable[[Reader], T], *, seconds: float | None = None) -> T:
        """Run a step on one snapshot."""
        return self._engine.read(step, seconds=seconds)

    def structure_problems(self) -> Iterator[str]:
        """Nothing: `pg_amcheck` does that."""
        return iter(())


class _Decrypted(DecryptedStore):
    """A store whose rows are opened, if they are encrypted."""

    def __init__(self, store: Store, root_key: str) -> None:
        super().__init__(store, root_key)
        self.structure_problems = store.structure_problems


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.add_argument("place", metavar="PLACE", help="a data directory or a postgresql:// URL")
    parser.add_argument(
        "--backups",
        metavar="WHERE",
        nargs="?",
        const="",
        help="also read all files of backups, and compare them with the database; WHERE is what the server has for "
        "--backups (default: the folder `backups` in the data directory)",
    )
    parser.add_argument("--s3", metavar="WHERE", default="", help="the object store, as the server has it")
    parser.add_argument("--root-key", metavar="WHERE", default="", help="the root key, as the server has it")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(options: argparse.Namespace) -> int:
    """Run the command; give the exit status."""
    reporter = Reporter()
    try:
        with closing(_open(options.place, options.root_key)) as stored:
            store = _Decrypted(stored, options.root_key)
            description = store.description
            backups = None if options.backups is None else _backups(options)
            report = verify(store, lambda rows: reporter.report("verified", rows))
            if backups is not None:
                report.backups = verify_backups(
                    store, backups, report, lambda count: reporter.report("verified", count, "MB of backups")
                )
    except (StorageError, SettingInvalid) as error:
        if options.json:
            terminal.show(_encoded(masked_place(options.place), Report(), error=masked(str(error))))
        terminal.complain(masked(str(error)))
        return NOT_VERIFIED
    except KeyboardInterrupt:
        terminal.complain("interrupted")
        return _INTERRUPTED
    terminal.show(_encoded(description, report) if options.json else _text(description, report))
    return PROBLEMS_FOUND if report.problem_count else 0


def _backups(options: argparse.Namespace) -> BackupPlace:
    """Where the backups are, by the server's own rules; nothing is made that is not there."""
    if migrate.is_postgres(options.place) and not options.backups:
        raise SettingInvalid("--backups: say where they are, as the servers do")
    data = Path() if migrate.is_postgres(options.place) else Path(options.place)
    settings = Settings(data_dir=data, backups=options.backups, s3=options.s3)
    seals = file_seals(named_root_key(options.root_key), seals_new=False)
    return BackupPlace(*find_backups(settings, open_store(settings, os.environ)), seals)


def _open(place: str, root_key: str) -> Store:
    if migrate.is_postgres(place):
        return _SharedStore(migrate.open_postgres(place, create=False))
    unlock_pages(Path(place), root_key)
    return ReadOnlyStore(Path(place))


def _encoded(place: str, report: Report, error: str | None = None) -> str:
    facts = {"place": place, "ok": error is None and not report.problem_count, **msgspec.to_builtins(report)}
    return msgspec.json.encode(facts if error is None else {**facts, "error": error}).decode()


def _text(place: str, report: Report) -> str:
    lines = [
        terminal.printable(
            f"{problem.kind}: {problem.place}" + (f": {problem.detail}" if problem.detail else "")
        )
        for problem in report.problems
    ]
    if report.problem_count > len(report.problems):
        lines.append(f"and {report.problem_count - len(report.problems)} more")
    lines += [f"not checked: {what}" for what in report.skipped]
    verdict = f"{report.problem_count} problems" if report.problem_count else "no problems"
    backups = "" if report.backups is None else f", {report.backups} backups"
    return "\n".join([*lines, f"{report.rows} rows of {report.tables} tables in {place}{backups}: {verdict}"])
