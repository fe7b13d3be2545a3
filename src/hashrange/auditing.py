"""Opening the audit log that the settings name."""

import secrets
from pathlib import Path
from typing import cast

from hashrange.audit.events import notice
from hashrange.audit.files import LogFile, LogInvalid, StandardOutput, Target, hashing_secret, of_worker
from hashrange.audit.redaction import KeyTreatment, Redaction
from hashrange.audit.writer import Writer
from hashrange.chain.audit import Audit
from hashrange.clock import Clock
from hashrange.config import SettingInvalid, Settings
from hashrange.metrics import Metric, Sample

STANDARD_OUTPUT = "-"


class Auditing:
    """The audit log of this process."""

    def __init__(self, settings: Settings, clock: Clock, number: int) -> None:
        """Open the log and begin to write; of several workers every one has a file of its own."""
        try:
            target = _target(settings, clock, number)
            secret = _secret(settings)
        except LogInvalid as problem:
            raise SettingInvalid(f"the audit log: {problem}") from None
        self.writer = Writer(target, now=clock.now)
        redaction = Redaction(cast("KeyTreatment", settings.audit_keys), secret)
        self.audit = Audit(
            self.writer, redaction, clock, with_data=settings.audits_data, with_denials=settings.auth == "iam"
        )
        self.writer.before_turn = self.audit.note_floods
        if isinstance(target, LogFile):
            self._note_repairs(target, clock.now())
        self.writer.start()

    def _note_repairs(self, target: LogFile, now: float) -> None:
        """Say in the log what was wrong with its file."""
        if target.broken is not None:
            self.writer.append(notice("AuditLogBegunAnew", now, reason=target.broken))
        if target.removed_bytes:
            self.writer.append(notice("AuditLogRepaired", now, removedBytes=target.removed_bytes))

    def metrics(self) -> list[Metric]:
        """How many events were lost: of this process, since it started."""
        help_text = "Events that found no room in the audit log's queue, of the process that answers."
        dropped = Sample({}, self.writer.dropped)
        return [Metric("hashrange_audit_dropped_events_total", "counter", help_text, [dropped])]


def _target(settings: Settings, clock: Clock, number: int) -> Target:
    if settings.audit_target == STANDARD_OUTPUT:
        return StandardOutput()
    return LogFile(
        of_worker(Path(settings.audit_target), number),
        bytes_max=settings.audit_rotate_bytes,
        seconds_max=settings.audit_rotate_hours * 3600.0,
        now=clock.now(),
    )


def _secret(settings: Settings) -> bytes:
    if settings.audit_keys != "hashed":
        return b""
    if settings.audit_target != STANDARD_OUTPUT:
        return hashing_secret(Path(settings.audit_target))
    return secrets.token_bytes(32) if settings.in_memory else hashing_secret(settings.data_dir / "audit")
