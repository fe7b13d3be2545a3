"""Structured logging: the message is a constant, the facts are fields."""

import json
import logging
import sys
import time
from typing import Any, TextIO

FORMATS = ("text", "json")
LEVELS = ("debug", "info", "warning", "error")
_OUTAGE_LINE_SECONDS = 60.0


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
        self, level: int, message: str, fields: dict[str, Any], error: BaseException | None = None
    ) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, message, extra={"fields": fields}, exc_info=error)


class Outage:
    """Something that fails over and over: logged when it begins, now and then while it lasts, and when it is over."""

    __slots__ = ("_began", "_event", "_failures", "_fields", "_log", "_next_line")

    def __init__(self, log: Log, event: str, **fields: Any) -> None:
        """Log `event`.failed and `event`.recovered, with these fields."""
        self._log = log
        self._event = event
        self._fields = fields
        self._failures = 0
        self._began = self._next_line = 0.0

    @property
    def lasts(self) -> bool:
        """Whether the last attempt failed."""
        return self._failures > 0

    def failed(self, reason: str) -> None:
        """Count a failure, and log it if it is the first or if a minute has passed since the last line."""
        now = time.monotonic()
        if not self._failures:
            self._began, self._next_line = now, now
        self._failures += 1
        if now >= self._next_line:
            self._next_line = now + _OUTAGE_LINE_SECONDS
            self._log.error(f"{self._event}.failed", **self._fields, reason=reason, failures=self._failures)

    def over(self) -> None:
        """Log that it works again, and how often it did not."""
        if self._failures:
            failures, self._failures = self._failures, 0
            seconds = round(time.monotonic() - self._began, 1)
            self._log.warning(f"{self._event}.recovered", **self._fields, failures=failures, seconds=seconds)


class TextFormatter(logging.Formatter):
    """One line for people: time, level, message, then `name=value` pairs."""

    def format(self, record: logging.LogRecord) -> str:
        pairs = "".join(f" {name}={_quoted(value)}" for name, value in _fields(record).items())
        line = f"{_timestamp(record)} {record.levelname.lower():<7} {record.getMessage()}{pairs}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


class JsonFormatter(logging.Formatter):
    """One JSON object per line, for machines."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
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


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = getattr(record, "fields", {})
    return fields


def _timestamp(record: logging.LogRecord) -> str:
    seconds = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    return f"{seconds}.{int(record.msecs):03d}Z"


def _quoted(value: Any) -> str:
    """Quote a value if needed, so that a line stays one line: clients may send line breaks."""
    text = str(value)
    return text if text.isascii() and text.isprintable() and " " not in text else json.dumps(text)
