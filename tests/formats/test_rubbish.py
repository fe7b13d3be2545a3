"""Rubbish of all kinds: every reader ends, with rows and rejections, and never with an exception."""

import gzip

import pytest
import zstandard
from amazon.ion import simpleion
from hypothesis import given
from hypothesis import strategies as st

from hashrange.formats import ion_reader
from hashrange.formats.bulk_records import bulk_records
from hashrange.formats.compression import Compression
from hashrange.formats.csv_rows import CsvOptions
from hashrange.formats.errors import Garbage, Rejection
from hashrange.formats.readers import InputFormat, InputOptions, item_rows
from hashrange.formats.records import Row
from schemas import index, table

TABLE = table("pk:S", "sk:N", indexes=(index("by-g", "g:N", "b:B"),))
ION_TEXT = (
    b'$ion_1_0 {Item:{pk:"a",sk:1.,m:{l:[1d2,-0.5,null,true,{{aGk=}}],s:$dynamodb_SS::["x","y"]},'
    b"'odd name':'''long''' '''string''',g:7,b:{{aGk=}}}}\n"
)
JSON_TEXT = (
    b'{"Item":{"pk":{"S":"a"},"sk":{"N":"1"},"m":{"M":{"l":{"L":[{"N":"1e2"},{"NULL":true},{"B":"aGk="}]}}},'
    b'"s":{"SS":["x","y"]},"n":{"NS":["1","2"]},"g":{"N":"7"}}}\n'
)
SAMPLES = [
    JSON_TEXT,
    ION_TEXT,
    simpleion.dumps(simpleion.loads(ION_TEXT), binary=True) * 2,
    b'pk,sk,g,b,x\r\na,1,7,aGk=,"quoted ""text"", with\nline"\r\nb,2,,,\r\n',
]
SAMPLES += [gzip.compress(sample) for sample in SAMPLES[:2]] + [
    zstandard.compress(sample) for sample in SAMPLES[:2]
]

formats = st.sampled_from(["DYNAMODB_JSON", "ION", "CSV"])
compressions = st.sampled_from(["NONE", "NONE", "GZIP", "ZSTD"])
TOKENS = rb"""{ } [ ] ( ) " ' ''' {{ }} // /* */ \ :: $ion_1_0 $ion_symbol_table Item : , null 1d9 1e999999 $10
    $dynamodb_NS \ud800 99999999999999999999999999999999999999999999999999999999999999"""
tokens = st.sampled_from(
    [*TOKENS.split(), b"\n", b" ", b"\x00", b"\xe0\x01\x00\xea", b"\xee", b"\xde", b"\xff", "😀".encode()]
)


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    """A file that was good until somebody changed a few of its bytes."""
    data = bytearray(draw(st.sampled_from(SAMPLES)) * draw(st.integers(1, 2)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        match draw(st.integers(0, 3)):
            case 0:
                data[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case 1:
                del data[at : at + draw(st.integers(1, 20))]
            case 2:
                data[at:at] = draw(tokens)
            case _:
                data[at:at] = draw(st.binary(max_size=8))
    return bytes(data)


rubbish = st.one_of(spoilt(), st.lists(tokens, max_size=20).map(b"".join), st.binary(max_size=100))


def check(data: bytes, size: int, options: InputOptions) -> None:
    found = list(item_rows([data[at : at + size] for at in range(0, len(data), size)], options, TABLE))
    assert [row.index for row in found] == list(range(len(found)))
    assert all(isinstance(row, Row | Rejection) for row in found)
    assert not any(isinstance(row, Rejection) and row.stops for row in found[:-1])


@given(rubbish, st.integers(1, 64), formats, compressions)
def test_readers_of_items_end(data: bytes, size: int, form: InputFormat, compression: Compression) -> None:
    check(data, size, InputOptions(input_format=form, compression=compression, csv=CsvOptions()))


@given(rubbish)
def test_the_reader_of_ion_ends(data: bytes) -> None:
    check(data, 1000, InputOptions(input_format="ION"))
    check(b"\xe0\x01\x00\xea" + data, 1000, InputOptions(input_format="ION"))


@given(rubbish, st.sampled_from(["DYNAMODB_JSON", "ION"]))
def test_readers_of_bulk_records_end(data: bytes, form: str) -> None:
    assert len(list(bulk_records([data], form, "NONE", TABLE))) >= 0  # type: ignore[arg-type]


@pytest.mark.parametrize("sample", SAMPLES[:4])
def test_the_samples_are_good_until_they_are_spoilt(sample: bytes) -> None:
    form: InputFormat = (
        "CSV" if sample.startswith(b"pk,") else "DYNAMODB_JSON" if sample[:1] == b"{" else "ION"
    )
    found = list(item_rows([sample], InputOptions(input_format=form), TABLE))
    assert found
    assert all(isinstance(row, Row) for row in found)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b"(1 " * 100_000,
        b"{a:" * 100_000,
        b"'''" * 100_000,
        b"a::" * 100_000,
        b'"' + b"\\" * 100_001,
        b"9" * 300_000,
        b"/*" * 100_000,
        b"\xe0\x01\x00\xea" + b"\x11" * 50_000,
        b"\xe0\x01\x00\xea" + b"\xbe\x7f\x7f\xff" * 100,
        b"\xe0\x01\x00\xea" + b"\xb1" * 50_000,
    ],
)
def test_large_rubbish_in_ion_ends_too(data: bytes) -> None:
    with pytest.raises(Garbage):
        list(ion_reader.records([data]))
