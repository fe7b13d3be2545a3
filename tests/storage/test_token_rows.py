"""The rows of idempotency tokens: packed and read back, ordered by their expiry."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.storage import token_rows
from hashrange.storage.errors import Corrupt
from hashrange.storage.token_rows import TokenRow

DIGEST = bytes(range(32))
TOKEN_KEY = token_rows.token_key("000000000000", "us-east-1", "token")

times = st.integers(0, 2**63)
rows = st.builds(
    TokenRow,
    times,
    st.binary(min_size=32, max_size=32),
    st.lists(st.integers(0, 2**32 - 1), max_size=100).map(tuple),
)


@given(rows)
def test_a_row_is_read_back_as_it_was(row: TokenRow) -> None:
    assert token_rows.unpack(token_rows.pack(row)) == row


def test_the_stored_form_stays_as_it_is_on_disk() -> None:
    packed = token_rows.pack(TokenRow(600, DIGEST, (1, 400_000)))
    assert packed == (600).to_bytes(8, "big") + DIGEST + (1).to_bytes(4, "big") + (400_000).to_bytes(4, "big")
    assert token_rows.expiry_key(600, TOKEN_KEY) == b"\x06" + (600).to_bytes(8, "big") + TOKEN_KEY


@pytest.mark.parametrize("length", [0, 39, 41, 43])
def test_a_row_of_no_possible_length_is_corrupt(length: int) -> None:
    with pytest.raises(Corrupt):
        token_rows.unpack(bytes(length))


def test_a_digest_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        token_rows.pack(TokenRow(600, DIGEST[:31], ()))


@given(times, st.binary(max_size=80))
def test_an_expiry_key_holds_the_time_and_the_token(expires: int, token_key: bytes) -> None:
    assert token_rows.unpack_expiry_key(token_rows.expiry_key(expires, token_key)) == (expires, token_key)


@given(times, times)
def test_expiry_keys_are_ordered_by_time(one: int, other: int) -> None:
    assert (one < other) == (token_rows.expiry_key(one, b"\xff") < token_rows.expiry_key(other, b""))


@pytest.mark.parametrize(("now", "is_expired"), [(599.9, False), (600.0, True), (600.5, True)])
def test_a_token_expires_in_its_second(now: float, is_expired: bool) -> None:
    start, end = token_rows.expired_range(now)
    assert (start <= token_rows.expiry_key(600, TOKEN_KEY) < end) == is_expired
    assert TokenRow(600, DIGEST, ()).is_expired(now) == is_expired
