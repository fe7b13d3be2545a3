"""Structured logging: the message is a constant, the facts are fields."""

import json
import logging
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TextIO
from weakref import WeakSet

FORMATS = ("text", "json")
LEVELS = ("debug", "info", "warning", "error")
_OUTAGE_LINE_SECONDS = 60.0
QUIET_SECONDS = 10.0  # without a failure until an outage is over


class Log:
    """A named logger whose calls read `log.warning("transaction.retried", table=name, attempt=2)`."""

    __slots__ = ("_logger",)

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(f"hashrange.{name}")

    def debug(self, message: str, **fields: Any) -> None:
        self._write(logging.DEBUG, message, fields)

    def info(self, message: str, **fields: Any) -> None:
        self._write(logging.INFO, message, fields)

    def warning(self, message: str, **fields: Any) -> None:
        self._write(logging.WARNING, message, fields)

    def error(self, message: str, *, error: BaseException | None = None, **fields: Any) -> None:
        """Log an error; with `error` its traceback goes along."""
        self._write(logging.ERROR, message, fields, error)

    def _write(
        self, level: int, message: str, fields: dict[str, object], error: BaseException | None = None
    ) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, message, extra={"fields": fields}, exc_info=error)


class Outage:
    """Something that fails over and over: logged when it begins, now and then while it lasts, and when it is over.

    It is over when it works and has not failed for a while: at the edge of a full disk small writes pass and large ones
    do not, and each change between the two would be two lines.
    """

    __slots__ = (
        "__weakref__",
        "_began",
        "_event",
        "_failures",
        "_fields",
        "_last_failure",
        "_log",
        "_next_line",
        "_now",
        "_works",
    )

    def __init__(
        self, log: Log, event: str, *, now: Callable[[], float] = time.monotonic, **fields: Any
    ) -> None:
        """Log `event`.failed and `event`.recovered, with these fields."""
        self._log = log
        self._event = event
        self._now = now
        self._fields = fields
        self._failures = 0
        self._works = True
        self._began = self._last_failure = self._next_line = 0.0

    @property
    def lasts(self) -> bool:
        """Whether it has failed, and its end was not logged yet."""
        return self._failures > 0

    def failed(self, reason: str) -> None:
        """Count a failure, and log it if it is the first or if a minute has passed since the last line."""
        now = self._now()
        if not self._failures:
            self._began, self._next_line = now, now
        self._failures += 1
        self._last_failure = now
        self._works = False
        if now >= self._next_line:
            self._next_line = now + _OUTAGE_LINE_SECONDS
            self._log.error(f"{self._event}.failed", **self._fields, reason=reason, failures=self._failures)

    def worked(self) -> None:
        """Note that an attempt succeeded; cheap, but to be called only if it `lasts`."""
        self._works = True
        with _ending_lock:
            _ending.add(self)
        self.settle()

    def settle(self) -> None:
        """Log that it is over, and how often it failed, if it works and has not failed for a while."""
        if not self._failures or (self._works and self._now() - self._last_failure >= QUIET_SECONDS):
            with _ending_lock:
                _ending.discard(self)
            failures, self._failures = self._failures, 0
            if failures:
                seconds = round(self._last_failure - self._began, 1)
                self._log.warning(
                    f"{self._event}.recovered", **self._fields, failures=failures, seconds=seconds
                )


_ending: WeakSet[Outage] = WeakSet()  # that have worked since they began; those of a closed engine go with it
_ending_lock = threading.Lock()


def settle_outages() -> None:
    """Log which outages are over by now; to be called every now and then, because nothing may be attempted any more."""
    with _ending_lock:
        ending = list(_ending)
    for outage in ending:
        outage.settle()


class TextFormatter(logging.Formatter):
    """One line for people: time, level, message, then `name=value` pairs."""

    def format(self, record: logging.LogRecord) -> str:
        pairs = "".join(f" {name}={_quoted(value)}" for name, value in _fields(record).items())
        line = f"{_timestamp(record)} {record.levelname.lower():<7} {record.getMessage()}{pairs}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object per line, for machines."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _timestamp(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def configure(*, level: str, form: str, stream: TextIO | None = None) -> None:
    """Send all of Hashrange's logging to one stream, standard error by default, in one of `FORMATS`."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    root = logging.getLogger("hashrange")
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    root.propagate = False


def _fields(record: logging.LogRecord) -> dict[str, object]:
    fields: dict[str, object] = getattr(record, "fields", {})
    return fields


def _timestamp(record: logging.LogRecord) -> str:
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{seconds}.{int(record.msecs):03d}Z"


def _quoted(value: Any) -> str:
    """Quote a value if needed, so that a line stays one line: clients may send line breaks."""
    text = str(value)
    return text if text.isascii() and text.isprintable() and " " not in text else json.dumps(text)
