"""Sealed texts open with their own key, purpose and label only, and not if a bit has changed."""

import pytest

from hashrange.kms.root_key import RootKey, temporary
from hashrange.kms.sealing import ACCESS_KEYS, SESSIONS, NotSealed, Seal, check_value

ROOT = RootKey(bytes(32), "a test")


def test_what_was_sealed_opens_and_never_looks_the_same() -> None:
    seal = Seal(ROOT, ACCESS_KEYS)
    sealed = [seal.seal(b"secret", b"label") for _ in range(8)]
    assert {seal.open(text, b"label") for text in sealed} == {b"secret"}
    assert len(set(sealed)) == len(sealed)
    assert all(b"secret" not in text for text in sealed)


def test_any_changed_bit_is_noticed() -> None:
    seal = Seal(ROOT, ACCESS_KEYS)
    sealed = seal.seal(b"secret", b"label")
    for bit in range(len(sealed) * 8):
        changed = bytearray(sealed)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(NotSealed):
            seal.open(bytes(changed), b"label")


@pytest.mark.parametrize("length", [0, 1, 12, 27])
def test_a_piece_does_not_open(length: int) -> None:
    seal = Seal(ROOT, ACCESS_KEYS)
    with pytest.raises(NotSealed):
        seal.open(seal.seal(b"", b"")[:length], b"")


def test_key_purpose_and_label_must_be_its_own() -> None:
    sealed = Seal(ROOT, ACCESS_KEYS).seal(b"secret", b"label")
    for seal, label in (
        (Seal(ROOT, SESSIONS), b"label"),
        (Seal(temporary(), ACCESS_KEYS), b"label"),
        (Seal(ROOT, ACCESS_KEYS), b"other"),
    ):
        with pytest.raises(NotSealed):
            seal.open(sealed, label)


def test_a_database_knows_its_root_key() -> None:
    assert check_value(ROOT) == check_value(RootKey(bytes(32), "elsewhere"))
    assert check_value(ROOT) != check_value(temporary())
