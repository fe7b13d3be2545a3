"""Rows under a data key: they come back at their own key, and a change of any bit is noticed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.kms.errors import NotAuthentic
from hashrange.kms.row_cipher import OVERHEAD_BYTES, RowCipher

KEY = bytes(32)


@given(st.binary(max_size=40), st.binary(max_size=200))
def test_a_row_comes_back_in_this_process_and_in_another(row_key: bytes, value: bytes) -> None:
    cipher = RowCipher(KEY)
    stored = cipher.seal(row_key, value)
    assert len(stored) == len(value) + OVERHEAD_BYTES
    assert cipher.unseal(row_key, stored) == RowCipher(KEY).unseal(row_key, stored) == value


def test_the_same_value_never_looks_the_same() -> None:
    cipher = RowCipher(KEY)
    assert len({cipher.seal(b"k", b"v") for _ in range(1000)}) == 1000


def test_every_process_has_a_salt_of_its_own() -> None:
    assert RowCipher(KEY).seal(b"k", b"v")[1:9] != RowCipher(KEY).seal(b"k", b"v")[1:9]


def test_a_salt_is_used_for_so_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hashrange.kms.row_cipher._ROWS_PER_SALT", 10)
    cipher = RowCipher(KEY)
    rows = [cipher.seal(b"k", b"v") for _ in range(35)]
    assert len({row[1:9] for row in rows}) == 4
    assert {cipher.unseal(b"k", row) for row in rows} == {b"v"}


def test_ciphers_of_old_salts_are_forgotten_and_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hashrange.kms.row_cipher._CIPHERS_MAX", 3)
    rows = [RowCipher(KEY).seal(b"k", b"%d" % number) for number in range(10)]
    cipher = RowCipher(KEY)
    for _ in range(2):
        assert [cipher.unseal(b"k", row) for row in rows] == [b"%d" % number for number in range(10)]


def test_every_flipped_bit_every_cut_and_every_move_is_noticed() -> None:
    cipher = RowCipher(KEY)
    stored = cipher.seal(b"key", b"value")
    changed = [
        bytes([*stored[: bit // 8], stored[bit // 8] ^ 1 << bit % 8, *stored[bit // 8 + 1 :]])
        for bit in range(8 * len(stored))
    ]
    for wrong in (*changed, *(stored[:end] for end in range(len(stored))), stored + b"x"):
        with pytest.raises(NotAuthentic):
            cipher.unseal(b"key", wrong)
    for place in (b"", b"kez", b"key2"):
        with pytest.raises(NotAuthentic):
            cipher.unseal(place, stored)
    with pytest.raises(NotAuthentic):
        RowCipher(b"\1" * 32).unseal(b"key", stored)
