"""Where a root key is read from: `file:PATH`, `env:NAME`, or `command:PROGRAM ARGUMENTS`.

Each gives 32 bytes, as they are or as text in base64 or hexadecimal digits. A command is the way to other key stores: a
PKCS#11 tool, Vault, the command line of a cloud's key service. Nothing that was read is ever part of a message.
"""

import base64
import binascii
import os
import shlex
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

from hashrange.kms.errors import RootKeyUnavailable
from hashrange.kms.sizes import KEY_BYTES

_KINDS = ("file", "env", "command")
_FORMS = "file:PATH, env:NAME or command:PROGRAM ARGUMENTS"
_COMMAND_SECONDS = 60
_BYTES_MAX = 4096
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def check_source(source: str) -> str:
    """Refuse a source that is none of the three; `ValueError` says so."""
    kind, _, rest = source.partition(":")
    if kind not in _KINDS or not rest.strip():
        raise ValueError(f"must be {_FORMS}")
    return source


def read_root_key(source: str, environment: Mapping[str, str]) -> bytes:
    """The 32 bytes of the root key."""
    kind, _, rest = source.partition(":")
    if kind == "file":
        content = _from_file(Path(rest))
    elif kind == "env":
        content = _from_environment(rest, environment)
    elif kind == "command":
        content = _from_command(rest)
    else:
        raise RootKeyUnavailable(f"a root key comes from {_FORMS}")
    key = _decoded(content)
    if key is None:
        raise RootKeyUnavailable(
            f"what {kind}:{_shown(kind, rest)} gives is no root key, which is {KEY_BYTES} bytes, in base64, "
            "in hexadecimal digits or as they are"
        )
    return key


def make_root_key_file(path: Path) -> None:
    """Write a new root key into a file that nobody else may read, and that is not there yet."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(base64.b64encode(os.urandom(KEY_BYTES)) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _from_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(_BYTES_MAX)
    except OSError as error:
        raise RootKeyUnavailable(f"the root key in {path} cannot be read: {error.strerror}") from None
    # A pipe or a mounted secret of a container is as private as whoever made it wants it to be.
    if stat.S_ISREG(mode) and mode & _OTHERS:
        raise RootKeyUnavailable(
            f"other users may read the root key in {path}: chmod 600 it, and think of it as known to them"
        )
    return content


def _from_environment(name: str, environment: Mapping[str, str]) -> bytes:
    content = environment.get(name)
    if not content:
        raise RootKeyUnavailable(
            f"the environment variable {name}, which is to hold the root key, is not set"
        )
    return content.encode("utf-8", "surrogateescape")


def _from_command(command: str) -> bytes:
    try:
        arguments = shlex.split(command)
        process = subprocess.run(  # noqa: S603 - whoever starts the server says what it runs
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=_COMMAND_SECONDS, check=False
        )
    except (OSError, ValueError) as error:
        raise RootKeyUnavailable(f"the command for the root key cannot be run: {error}") from None
    except subprocess.TimeoutExpired:
        # Not `from`: the exception holds what was printed so far.
        raise RootKeyUnavailable(
            f"the command for the root key took more than {_COMMAND_SECONDS} seconds"
        ) from None
    if process.returncode != 0:
        raise RootKeyUnavailable(f"the command for the root key ended with status {process.returncode}")
    return process.stdout


def _decoded(content: bytes) -> bytes | None:
    if len(content) == KEY_BYTES:
        return content
    text = content.strip()
    if len(text) == 2 * KEY_BYTES:
        try:
            return binascii.unhexlify(text)
        except binascii.Error:
            return None
    try:
        key = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return key if len(key) == KEY_BYTES else None


def _shown(kind: str, rest: str) -> str:
    """A source as it may be shown; the arguments of a command may hold a token."""
    return (shlex.split(rest) or [""])[0] if kind == "command" else rest
