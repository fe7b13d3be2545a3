"""What `hashrange iam` needs of IAM, whether it is on data or through a server."""

import sys
from pathlib import Path
from typing import Any, Protocol

Content = dict[str, Any]
_DOCUMENT_CHARS_MAX = 131_072


class Operations(Protocol):
    """IAM of one account."""

    def ask(self, name: str, request: Content, /) -> Content:
        """Carry out an operation; raises the errors that a client would be told."""

    def account_id(self) -> str:
        """The account."""

    def bootstrap(self) -> Content:
        """Make the first administrator's key."""

    def resource_policy(self, arn: str, region: str, /) -> str | None:
        """The policy of a table or stream; None if there is none."""

    def close(self) -> None:
        """Release what is held."""


class Unreadable(Exception):
    """A file that was named cannot be read; the message is meant for the person at the terminal."""


def text_of(place: str) -> str:
    """The document in a file, or on standard input."""
    try:
        if place == "-":
            return sys.stdin.read(_DOCUMENT_CHARS_MAX + 1)
        with Path(place).open(encoding="utf-8") as file:
            return file.read(_DOCUMENT_CHARS_MAX + 1)
    except (OSError, ValueError) as error:
        raise Unreadable(f"{place} cannot be read: {error}") from None
