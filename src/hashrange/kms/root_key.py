"""The root key: 32 random bytes that the operator keeps, under which every secret in the database is sealed.

It comes from a file, an environment variable or a command, as text: base64 or hexadecimal. What is wrong with it is
said without showing any of it.
"""

import base64
import binascii
import os
import secrets
import shlex
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

from hashrange.kms.sizes import KEY_BYTES

FILE_NAME = "root.key"  # beside the data, if no other place is named
_TEXT_CHARS_MAX = 4096
_COMMAND_SECONDS = 60
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_PRIVATE = stat.S_IRUSR | stat.S_IWUSR
_SOURCES = "file:PATH, env:NAME, command:COMMAND or kms:PATH"


class RootKeyInvalid(Exception):
    """There is no root key where it should be, or it is none; the message is meant for the operator."""


class RootKey:
    """The key. It shows itself nowhere: neither in a log nor in a traceback."""

    __slots__ = ("_bytes", "source")

    def __init__(self, key: bytes, source: str) -> None:
        if len(key) != KEY_BYTES:
            raise RootKeyInvalid(f"the root key of {source} must have {KEY_BYTES} bytes, not {len(key)}")
        self._bytes = key
        self.source = source

    def __repr__(self) -> str:
        return f"RootKey({self.source!r})"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a root key is not to be copied")

    def reveal(self) -> bytes:
        """The bytes, for deriving other keys only."""
        return self._bytes


def load(place: str, environment: Mapping[str, str]) -> RootKey:
    """Read the root key from where a setting says."""
    kind, colon, rest = place.partition(":")
    if colon and rest:
        match kind:
            case "file":
                return from_file(Path(rest))
            case "env":
                return _from_environment(rest, environment)
            case "command":
                return _from_command(rest)
            case _:
                pass
    raise RootKeyInvalid(f"--root-key must be {_SOURCES}")


def from_file(path: Path) -> RootKey:
    """Read the root key from a file that nobody but its owner can read."""
    try:
        # Without O_NONBLOCK a pipe of that name would be waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise RootKeyInvalid(f"the root key file {path} cannot be read: {error.strerror}") from None
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise RootKeyInvalid(f"the root key file {path} is no file")
        if mode & _OTHERS:
            raise RootKeyInvalid(
                f"others may read the root key file {path} (mode {stat.S_IMODE(mode):04o}): chmod 600 it"
            )
        text = os.read(descriptor, _TEXT_CHARS_MAX)
    finally:
        os.close(descriptor)
    return RootKey(_decoded(text, str(path)), str(path))


def create_file(path: Path) -> RootKey:
    """Make a new root key, and a file for it that only its owner can read; an existing file is never replaced."""
    key = secrets.token_bytes(KEY_BYTES)
    # The name appears with its content, for another process may look for it at the same moment.
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(base64.b64encode(key) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            path.hardlink_to(draft)
        finally:
            draft.unlink()
        _sync_folder(path.parent)
    except OSError as error:
        raise RootKeyInvalid(f"the root key file {path} cannot be made: {error.strerror}") from None
    return RootKey(key, str(path))


def temporary() -> RootKey:
    """A key for data that is in memory only, and as short-lived."""
    return RootKey(secrets.token_bytes(KEY_BYTES), "memory")


def _sync_folder(folder: Path) -> None:
    """Have the name of a new file survive a loss of power, for without the key nothing under it can be read."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _from_environment(name: str, environment: Mapping[str, str]) -> RootKey:
    text = environment.get(name)
    if text is None:
        raise RootKeyInvalid(f"the root key should be in the environment variable {name}, which is not set")
    source = f"environment variable {name}"
    return RootKey(_decoded(text.encode("utf-8", "replace"), source), source)


def _from_command(line: str) -> RootKey:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise RootKeyInvalid(f"the command for the root key cannot be read: {error}") from None
    if not words:
        raise RootKeyInvalid("the command for the root key is empty")
    source = f"command {words[0]}"
    try:
        # The operator's own command; its errors go to the terminal or the log, its output is the key.
        done = subprocess.run(  # noqa: S603
            words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=_COMMAND_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = f"it took more than {_COMMAND_SECONDS} s"
        if isinstance(error, OSError):
            reason = error.strerror or "it cannot be run"
        raise RootKeyInvalid(f"the {source} gave no root key: {reason}") from None
    if done.returncode:
        raise RootKeyInvalid(f"the {source} gave no root key: its exit status is {done.returncode}")
    return RootKey(_decoded(done.stdout, source), source)


def _decoded(text: bytes, source: str) -> bytes:
    """The bytes of a key in base64, or in hexadecimal, which is longer: so the length tells them apart."""
    stripped = text.strip()
    try:
        if len(stripped) == 2 * KEY_BYTES:
            key = binascii.unhexlify(stripped)
        else:
            key = base64.b64decode(stripped, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise RootKeyInvalid(
            f"the root key of {source} must be {KEY_BYTES} bytes as base64 or hexadecimal text: "
            "`openssl rand -base64 32` makes one"
        )
    return key
