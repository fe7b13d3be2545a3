"""CBOR: examples of RFC 8949, and bodies that are made to hurt. test_query_form.py has botocore as a peer."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.api.errors import ApiError
from hashrange.wire import cbor


def in_map(value: str) -> bytes:
    return bytes.fromhex("a16161" + value.replace(" ", ""))


@pytest.mark.parametrize(
    ("encoded", "value"),
    [
        ("00", 0),
        ("17", 23),
        ("1818", 24),
        ("1903e8", 1000),
        ("1a000f4240", 1_000_000),
        ("1bffffffffffffffff", 2**64 - 1),
        ("20", -1),
        ("3903e7", -1000),
        ("3b7fffffffffffffff", -(2**63)),
        ("f93c00", 1.0),
        ("f97bff", 65504.0),
        ("fa47c35000", 100000.0),
        ("fb3ff199999999999a", 1.1),
        ("f97e00", "NaN"),
        ("f97c00", "Infinity"),
        ("f9fc00", "-Infinity"),
        ("f4", False),
        ("f5", True),
        ("f6", None),
        ("f7", None),
        ("c11a514b67b0", 1363896240),
        ("c1fb41d452d9ec200000", 1363896240.5),
        ("4401020304", "AQIDBA=="),
        ("5f42010243030405ff", "AQIDBAU="),
        ("60", ""),
        ("62c3bc", "ü"),
        ("7f657374726561646d696e67ff", "streaming"),
        ("80", []),
        ("83010203", [1, 2, 3]),
        ("9fff", []),
        ("9f018202039f0405ffff", [1, [2, 3], [4, 5]]),
        ("a0", {}),
        ("bf61610161629f0203ffff", {"a": 1, "b": [2, 3]}),
        ("d74401020304", "AQIDBA=="),  # a tag that means nothing here
    ],
)
def test_examples_of_the_standard(encoded: str, value: Any) -> None:
    assert cbor.loads(in_map(encoded)) == {"a": value}


@pytest.mark.parametrize(
    "body",
    [
        "",
        "01",  # no map
        "80",
        "a1",
        "a161",
        "a16161",
        "a1616101ff",  # more behind it
        "a10101",  # a key that is no text
        "bf6161",
        "ff",
        "a161617f41ffff",  # pieces of another type
        "a161617f7f6161ffff",
        "a161613bffffffffffffffff",  # no JSON has such a number
        "a16161c16161",  # a moment that is a text
        "a16161f8ff",
        "a16161fc",
        "a161611c",
        "a1616162ff41",
        "a161619b7fffffffffffffff",  # a length without data
        "a161617b7fffffffffffffff6161",
        "a16161bb7fffffffffffffff616101",
        "a16161" + "81" * 1000,
        "a16161" + "9f" * 100_000,
        "a16161" + "d7" * 100_000,
        "a16161" + "bf6161" * 50_000,
    ],
)
def test_what_is_refused(body: str) -> None:
    with pytest.raises(ApiError, match="SerializationException"):
        cbor.loads(bytes.fromhex(body))


@pytest.mark.parametrize("piece", ["f6", "80", "60"])
def test_the_number_of_values_is_bounded(piece: str) -> None:
    within = cbor.VALUES_MAX - 3  # the map, its key and the list count too
    assert len(cbor.loads(in_map("9f" + piece * within + "ff"))["a"]) == within
    with pytest.raises(ApiError, match="RequestEntityTooLargeException"):
        cbor.loads(in_map("9f" + piece * (within + 1) + "ff"))


def test_the_depth_is_bounded() -> None:
    deep = cbor.LEVELS_MAX - 1
    cbor.loads(in_map("81" * deep + "00"))
    with pytest.raises(ApiError, match="SerializationException"):
        cbor.loads(in_map("81" * (deep + 1) + "00"))


@given(st.binary(max_size=64))
def test_rubbish_is_refused_and_never_breaks_anything(body: bytes) -> None:
    with contextlib.suppress(ApiError):
        assert isinstance(cbor.loads(b"\xbf" + body), dict)
