"""Old jobs: exports, imports, bulk operations and failed restores are kept for 90 days, their tokens for 8 hours."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any, Protocol

from hashrange.storage import report_rows
from hashrange.storage.bulk_rows import BULK_OPERATIONS
from hashrange.storage.engine import Engine, Reader, Transaction
from hashrange.storage.export_rows import EXPORTS
from hashrange.storage.import_rows import IMPORTS
from hashrange.storage.job_rows import JobPlace, JobRows
from hashrange.storage.job_tokens import JOB_TOKENS
from hashrange.storage.restore_rows import RESTORES

KEPT_SECONDS = 90 * 86_400
_PAUSE_SECONDS = 3600.0
_CHUNK = 100


class _Ended(Protocol):
    @property
    def ended_at(self) -> float | None: ...


class ForgetJobs:
    """Removes the rows of jobs that ended long ago, a chunk in every step."""

    name = "forget-jobs"

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def step(self, now: float) -> float:
        """Look at all jobs; remove some of those that are old enough."""
        old = self._engine.read(partial(_old, now=now))
        if old:
            self._engine.write(partial(_remove, old=old))
        return 0.0 if len(old) == _CHUNK else _PAUSE_SECONDS


def _old(reader: Reader, *, now: float) -> list[tuple[str, JobPlace]]:
    return list(islice(_candidates(reader, now), _CHUNK))


def _candidates(reader: Reader, now: float) -> Iterator[tuple[str, JobPlace]]:
    for place, token in JOB_TOKENS.everywhere(reader):
        if token.expires_at <= now:
            yield "token", place
    for place, export in EXPORTS.everywhere(reader):
        if _is_old(export, now):
            yield "export", place
    for place, record in IMPORTS.everywhere(reader):
        if _is_old(record, now):
            yield "import", place
    for place, operation in BULK_OPERATIONS.everywhere(reader):
        if _is_old(operation, now):
            yield "bulk", place
    for place, restore in RESTORES.everywhere(reader):
        if _is_old(restore, now):
            yield "restore", place


def _is_old(job: _Ended, now: float) -> bool:
    return job.ended_at is not None and job.ended_at + KEPT_SECONDS <= now


def _remove(tx: Transaction, *, old: list[tuple[str, JobPlace]]) -> None:
    kinds: dict[str, JobRows[Any]] = {
        "token": JOB_TOKENS,
        "export": EXPORTS,
        "import": IMPORTS,
        "bulk": BULK_OPERATIONS,
        "restore": RESTORES,
    }
    for kind, place in old:
        kinds[kind].remove(tx, place)
        if kind in ("import", "bulk"):
            report_rows.forget(tx, place)
