"""Keeping passwords and keys out of messages, logs, and what the operating system tells of a process."""

import ctypes
import re
from collections.abc import Iterable, MutableMapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

_MASK = "***"
_SECRETS = frozenset(
    {"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}
)  # https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS
_DECODINGS = 3  # a name may be percent-encoded, and by mistake more than once
# A password may have an @ of its own: up to the last one.
_IN_USER = re.compile(r"(://[^:/?#\s]*):(.*)@")
_IN_USER_WITHOUT_SCHEME = re.compile(r"((?:(?<=[\s\"'])|^)(?:[^\s:\"'@]*[:/]/*)?[^\s:/\"'@]+):(?!//|\s)(.*)@")
_QUOTED = r"'(?:[^'\\]|\\.)*'"
# Quotes behind a value are those of a message around it.
_IN_URL = re.compile(rf"([\w%]+)(\s*=\s*)({_QUOTED}|(?:\\.|[^&\s])*?(?=[\"']*(?:[&\s]|$)))")
_IN_KEYWORDS = re.compile(rf"([\w%]+)(\s*=\s*)({_QUOTED}|(?:\\.|\S)*)")
_IN_URL_TO_END = re.compile(r"([\w%]+)(\s*=\s*)([^&]*)")  # of a URL that is nothing else, and has blanks
# Which fields of /proc/self/stat say where the arguments are; counted from the one behind the name.
_ARGUMENTS = 45, 46
_ENVIRONMENT = 47, 48


def masked(text: str) -> str:
    """Text as it may be shown and logged: without what may be the password in a URL."""
    for pattern in (_IN_USER, _IN_USER_WITHOUT_SCHEME):
        text = pattern.sub(rf"\1:{_MASK}@", text)
    return (_IN_URL if "://" in text else _IN_KEYWORDS).sub(_masked_parameter, text)


def masked_place(place: str) -> str:
    """A setting or an argument that may be a URL as a whole, as it may be shown: a password ends where it ends."""
    return without(passwords_in(place), place)


def passwords_in(place: str) -> set[str]:
    """The passwords in a URL or a list of keywords and values, as they are written and as they are meant."""
    user_patterns = (_IN_USER, _IN_USER_WITHOUT_SCHEME)
    written = {match[2] for pattern in user_patterns for match in pattern.finditer(place)}
    for pattern in (_IN_URL, _IN_URL_TO_END) if "://" in place else (_IN_KEYWORDS,):
        written |= {match[3] for match in pattern.finditer(place) if _is_secret(match[1])}
    forms = {form for text in written for form in (text, unquote(text), text.strip("'"))}
    return {form for form in forms if form and form != _MASK}


def _masked_parameter(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2]}{_MASK}" if _is_secret(match[1]) else match[0]


def _is_secret(name: str) -> bool:
    for _ in range(_DECODINGS):
        name = unquote(name)
    return name.lower() in _SECRETS


def without(passwords: Iterable[str], text: str) -> str:
    """Text in which none of these passwords is left, wherever it stands."""
    for password in sorted(passwords, key=len, reverse=True):
        text = text.replace(password, _MASK)
    return masked(text)


def hide_arguments(arguments: Iterable[str]) -> None:
    """Overwrite the passwords among a process's own arguments, which every user of the machine can list."""
    passwords = {password for argument in arguments for password in passwords_in(argument)}
    _hide(passwords, _ARGUMENTS)


def hide_variable(environment: MutableMapping[str, str], name: str) -> None:
    """Take a variable out of the environment: children do not get it, and /proc does not show it."""
    value = environment.pop(name, None)
    if value:
        _hide({value}, _ENVIRONMENT)


def _hide(secrets: set[str], fields_at: tuple[int, int]) -> None:
    """Overwrite secrets in an area of the process's own memory that the operating system shows to others."""
    if not secrets:
        return
    with suppress(OSError, ValueError, IndexError):  # only Linux has this
        fields = Path("/proc/self/stat").read_text("ascii").rpartition(")")[2].split()
        start, end = (int(fields[at]) for at in fields_at)
        if start < end:
            _overwrite(start, end - start, secrets)


def _overwrite(start: int, size: int, passwords: set[str]) -> None:
    memory = ctypes.string_at(start, size)
    hidden = memory
    for password in sorted(passwords, key=len, reverse=True):
        written = password.encode("utf-8", "surrogateescape")
        hidden = hidden.replace(written, b"*" * len(written))
    # The same length, and nothing that is not ours: the area has the arguments and nothing else.
    ctypes.memmove(start, hidden, size)
