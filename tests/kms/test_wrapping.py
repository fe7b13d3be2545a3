"""Wrapping: what is under the root key opens for its purpose only, and shows nothing."""

import pickle

import pytest

from hashrange.kms.errors import NotAuthentic
from hashrange.kms.wrapping import Wrapping

KEY = bytes(range(32))


def test_what_is_wrapped_opens_for_its_purpose_and_names_only() -> None:
    root = Wrapping(KEY)
    wrapped = root.wrap("secrets", b"value", "alice", "key")
    assert root.unwrap("secrets", wrapped, "alice", "key") == b"value"
    assert b"value" not in wrapped
    for key, purpose, stored, names in (
        (KEY, "tokens", wrapped, ("alice", "key")),
        (KEY, "secrets", wrapped, ("alice",)),
        (KEY, "secrets", wrapped, ("alic", "ekey")),
        (KEY, "secrets", wrapped[:-1], ("alice", "key")),
        (KEY, "secrets", b"", ("alice", "key")),
        (bytes(32), "secrets", wrapped, ("alice", "key")),
    ):
        with pytest.raises(NotAuthentic):
            Wrapping(key).unwrap(purpose, stored, *names)


def test_every_flipped_bit_is_noticed() -> None:
    root = Wrapping(KEY)
    wrapped = root.wrap("secrets", b"value")
    for bit in range(8 * len(wrapped)):
        changed = bytearray(wrapped)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(NotAuthentic):
            root.unwrap("secrets", bytes(changed))


def test_a_root_key_shows_nothing() -> None:
    root = Wrapping(KEY)
    assert repr(root) == "Wrapping()"
    with pytest.raises(TypeError):
        pickle.dumps(root)
    with pytest.raises(ValueError, match="32 bytes"):
        Wrapping(KEY[:16])
