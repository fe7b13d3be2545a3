"""Keeping the passwords in database URLs out of messages, logs and the list of processes."""

import ctypes
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

_MASK = "***"
_IN_USER = re.compile(r"://([^:/?#@]*):(.*)@")  # a password may have an @ of its own: up to the last one
_IN_QUERY = re.compile(r"(?i)\b((?:ssl)?password)=([^&\s\"']*)")
# Which fields of /proc/self/stat say where the arguments are; counted from the one behind the name.
_ARGUMENTS_START, _ARGUMENTS_END = 45, 46


def masked(text: str) -> str:
    """Text as it may be shown and logged: without what may be the password in a URL."""
    return _IN_QUERY.sub(rf"\1={_MASK}", _IN_USER.sub(rf"://\1:{_MASK}@", text))


def passwords_in(url: str) -> set[str]:
    """The passwords in a URL, as they are written and as they are meant."""
    written = {match[2] for pattern in (_IN_USER, _IN_QUERY) for match in pattern.finditer(url)}
    return {password for text in written for password in (text, unquote(text)) if password}


def without(passwords: Iterable[str], text: str) -> str:
    """Text in which none of these passwords is left, wherever it stands."""
    for password in sorted(passwords, key=len, reverse=True):
        text = text.replace(password, _MASK)
    return masked(text)


def hide_arguments(arguments: Iterable[str]) -> None:
    """Overwrite the passwords among a process's own arguments, which every user of the machine can list."""
    passwords = {password for argument in arguments for password in passwords_in(argument)}
    if not passwords:
        return
    with suppress(OSError, ValueError, IndexError):  # only Linux has this
        fields = Path("/proc/self/stat").read_text("ascii").rpartition(")")[2].split()
        start, end = int(fields[_ARGUMENTS_START]), int(fields[_ARGUMENTS_END])
        if start < end:
            _overwrite(start, end - start, passwords)


def _overwrite(start: int, size: int, passwords: set[str]) -> None:
    memory = ctypes.string_at(start, size)
    hidden = memory
    for password in sorted(passwords, key=len, reverse=True):
        written = password.encode("utf-8", "surrogateescape")
        hidden = hidden.replace(written, b"*" * len(written))
    # The same length, and nothing that is not ours: the area has the arguments and nothing else.
    ctypes.memmove(start, hidden, size)
