"""Certificates and keys in files: who may read them, and when they expire."""

import os
import stat
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

PASSWORD_BYTES_MAX = 1024


class TlsInvalid(Exception):
    """A file cannot be used for TLS; the message is meant for the person who named it."""


class Certificate(NamedTuple):
    """What is told about a certificate."""

    fingerprint: str  # SHA-256 of its DER form, as OpenSSL and browsers show it
    names: tuple[str, ...]
    not_after: datetime

    def seconds_left(self, now: float) -> float:
        """How long it is valid yet; negative if it has expired."""
        return self.not_after.timestamp() - now


def read_certificate(path: Path) -> Certificate:
    """Read the first certificate of a chain, which is the server's own."""
    # Loading it takes a good part of a server's start.
    from cryptography import x509  # noqa: PLC0415 - only with TLS
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415 - likewise

    try:
        found = x509.load_pem_x509_certificates(path.read_bytes())[0]
    except OSError as error:
        raise TlsInvalid(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise TlsInvalid(f"{path} has no certificate in PEM form") from None
    try:
        extension = found.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        names = tuple(str(name.value) for name in extension.value)
    except (x509.ExtensionNotFound, ValueError):
        names = ()
    return Certificate(found.fingerprint(SHA256()).hex(":").upper(), names, found.not_valid_after_utc)


def refuse_open_key(path: Path) -> None:
    """Refuse a private key that others can read.

    PostgreSQL's rule: a file of our own is ours alone; one of another user, mostly root, may be readable by a group.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise TlsInvalid(f"{path} cannot be read: {error.strerror}") from None
    is_own = found.st_uid == os.geteuid()
    forbidden = stat.S_IRWXO | (stat.S_IRWXG if is_own else stat.S_IWGRP | stat.S_IXGRP)
    if found.st_mode & forbidden:
        mode = "0600" if is_own else "0640"
        raise TlsInvalid(
            f"{path} can be read by other users: its mode is {stat.S_IMODE(found.st_mode):04o}; "
            f"`chmod {mode} {path}`"
        )


def read_password(path: Path) -> bytes:
    """The password of a key: the first line of a file that nobody else can read."""
    refuse_open_key(path)
    try:
        with path.open("rb") as file:
            return file.readline(PASSWORD_BYTES_MAX).rstrip(b"\r\n")
    except OSError as error:
        raise TlsInvalid(f"{path} cannot be read: {error.strerror}") from None
