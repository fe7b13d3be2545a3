"""Large JSON is read as any JSON is, but in calls that are all short."""

from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core import patient_json

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=8), inner, max_size=6),
    max_leaves=40,
)
_ITEM = {"l": {"L": [{"S": f"{number}"} for number in range(20_000)]}, "m": {"M": {"a": {"N": "1"}}}}


@pytest.mark.parametrize("decode", [orjson.loads, msgspec.json.decode])
@given(value=_VALUES)
def test_the_pieces_give_the_same_as_the_whole(decode: Any, value: Any) -> None:
    data = orjson.dumps(value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patient_json, "PIECE_BYTES", 8)
        assert patient_json.loads(data, decode) == value


def test_no_call_is_given_more_than_a_piece() -> None:
    sizes: list[int] = []

    def decode(data: Any) -> Any:
        sizes.append(len(memoryview(data)))
        return orjson.loads(data)

    assert patient_json.loads(orjson.dumps(_ITEM), decode) == _ITEM
    # Commas and brackets come on top.
    assert max(sizes) < 2 * patient_json.PIECE_BYTES


def test_blanks_before_it_change_nothing() -> None:
    assert patient_json.loads(b" \r\n\t" * 20_000 + orjson.dumps(_ITEM)) == _ITEM


@pytest.mark.parametrize("cut", [1, 2, 5, 100_000])
def test_what_ends_too_soon_is_an_error(cut: int) -> None:
    with pytest.raises((msgspec.DecodeError, orjson.JSONDecodeError)):
        patient_json.loads(orjson.dumps(_ITEM)[:-cut], orjson.loads)


def test_what_is_wrong_inside_a_piece_is_an_error() -> None:
    with pytest.raises((msgspec.DecodeError, orjson.JSONDecodeError)):
        patient_json.loads(b"[" + b'"x",' * 20_000 + b'"\xff"]', orjson.loads)


def test_large_values_are_not_followed_deeper_than_any_item_goes() -> None:
    inside = orjson.dumps(_ITEM)
    with pytest.raises(RecursionError):
        patient_json.loads(b"[" * 90 + inside + b"]" * 90)
    assert patient_json.loads(b"[" * 60 + inside + b"]" * 60)


def _members(count: int) -> dict[str, Any]:
    """Values of every kind, so that some commas in it end a member and others do not."""
    kinds: list[Any] = [{"S": 'a},"b":{'}, {"M": {"x": {"N": "1"}, "y": {"S": ""}}}, [1, "2", {}], "},", -1.5]
    return {f'"n{number}': kinds[number % len(kinds)] for number in range(count)}


@pytest.mark.parametrize("indent", [b"", b" ", b"\n\t"])
def test_an_object_of_very_many_members_is_cut_at_the_right_commas(
    monkeypatch: pytest.MonkeyPatch, indent: bytes
) -> None:
    sizes: list[int] = []
    split = patient_json._members

    def noted(data: Any) -> Any:
        sizes.append(len(data))
        return split(data)

    monkeypatch.setattr(patient_json, "_members", noted)
    members = _members(30_000)
    data = b"{%b}" % (b"," + indent).join(
        orjson.dumps(name) + b":" + orjson.dumps(content) for name, content in members.items()
    )
    assert len(data) > 4 * patient_json._OBJECT_BYTES
    assert list(patient_json.loads(data).items()) == list(members.items())
    assert max(sizes) < 2 * patient_json._OBJECT_BYTES


def test_the_last_of_two_members_with_one_name_counts_wherever_they_are() -> None:
    first = b",".join(b'"a%d":1' % number for number in range(60_000))
    assert patient_json.loads(b'{"twice":1,%b,"twice":2}' % first)["twice"] == 2


@pytest.mark.parametrize("wrong", [b",", b",,", b" ", b'"b"', b'"b":1,', b'"b":1}', b'"b":1}}'])
def test_what_is_wrong_in_an_object_of_very_many_members_is_an_error(wrong: bytes) -> None:
    many = b",".join(b'"a%d":1' % number for number in range(60_000))
    with pytest.raises(msgspec.DecodeError):
        patient_json.loads(b"{%b,%b%b" % (many, wrong, b"" if wrong.endswith(b"}}") else b"}"))
    with pytest.raises(msgspec.DecodeError):
        patient_json.loads(b"{%b,%b}" % (wrong, many))


def test_blanks_are_no_member() -> None:
    many = b",".join(b'"a%d":1' % number for number in range(60_000))
    with pytest.raises(msgspec.DecodeError):
        patient_json.loads(b"{%b,%b}" % (b" " * 2 * patient_json._OBJECT_BYTES, many))


_TEXTS = st.lists(
    st.sampled_from(
        ["a", "é", "€", "😀", r"\"", r"\\", r"\n", r"\u00e9", r"\ud83d\ude00", r"\\ud83d", r"\/"]
    ),
    min_size=40,
    max_size=200,
).map("".join)


@pytest.mark.parametrize("decode", [orjson.loads, msgspec.json.decode])
@given(text=_TEXTS)
def test_a_large_text_is_cut_between_characters_and_escapes(decode: Any, text: str) -> None:
    data = f'{{"S":"{text}"}}'.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patient_json, "PIECE_BYTES", 24)
        patch.setattr(patient_json, "_TEXT_BYTES", 32)
        assert patient_json.loads(data, decode) == decode(data)


@pytest.mark.parametrize(
    "fault", [rb"\ud83d", rb"\x", rb"\u12x", b"\xff", b"\x01", rb"\ud83dx", rb"\ude00", rb"\ud83d\n"]
)
def test_a_fault_in_a_large_text_is_told_wherever_it_is(fault: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patient_json, "PIECE_BYTES", 24)
        patch.setattr(patient_json, "_TEXT_BYTES", 32)
        for before in range(32, 64):
            with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
                patient_json.loads(b'{"S":"%b%b%b"}' % (b"a" * before, fault, b"a" * 64))


def test_no_call_is_given_all_of_a_large_text() -> None:
    sizes: list[int] = []

    def decode(data: Any) -> Any:
        sizes.append(len(memoryview(data)))
        return orjson.loads(data)

    text = "\\" * 1_000_000
    assert patient_json.loads(orjson.dumps({"S": text}), decode) == {"S": text}
    assert max(sizes) <= patient_json.PIECE_BYTES + 2
