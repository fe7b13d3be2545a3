"""Accounts."""

import re

OWN = "000000000000"  # the server's: that of everybody where signatures are not verified
_NUMBER = re.compile("[0-9]{12}", re.ASCII)


def is_number(text: str) -> bool:
    """Whether a text is the number of an account."""
    return _NUMBER.fullmatch(text) is not None


def named_by(access_key: str) -> str:
    """The account of a test that signs with an account's number as its access key; the server's own for other keys."""
    return access_key if is_number(access_key) else OWN
