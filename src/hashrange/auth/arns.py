"""ARNs: six parts, the last of which may hold colons of its own, as that of a stream does."""

from typing import NamedTuple

_PARTS = 6


class Arn(NamedTuple):
    """The parts behind the word `arn`."""

    partition: str
    service: str
    region: str
    account_id: str
    resource: str


def parsed(text: str) -> Arn | None:
    """The parts of an ARN; None if it is none."""
    parts = text.split(":", _PARTS - 1)
    return Arn(*parts[1:]) if len(parts) == _PARTS and parts[0] == "arn" else None


def account_root(account_id: str) -> str:
    """The ARN of an account's root, which in a policy stands for the whole account."""
    return f"arn:aws:iam::{account_id}:root"
