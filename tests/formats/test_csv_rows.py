"""CSV: headers, types, quotes, and rows that are none."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core.values import Item
from hashrange.formats import limits
from hashrange.formats.csv_rows import CsvOptions
from hashrange.formats.errors import Rejection
from hashrange.formats.readers import InputOptions, item_rows
from hashrange.formats.records import Row
from schemas import index, table

TABLE = table("pk:S", "sk:N", indexes=(index("by-g", "g:N", "b:B"),))
SIMPLE = table("pk:S")


def rows(data: bytes, options: CsvOptions | None = None, *, of: object = SIMPLE) -> Iterator[Row | Rejection]:
    chosen = InputOptions(input_format="CSV", csv=options or CsvOptions())
    return item_rows([data], chosen, of)  # type: ignore[arg-type]


def imported(data: bytes, options: CsvOptions | None = None, *, of: object = SIMPLE) -> list[Item]:
    found = list(rows(data, options, of=of))
    assert [row for row in found if not isinstance(row, Row)] == []
    return [row.command.item for row in found if isinstance(row, Row)]


def test_columns_are_strings_but_for_keys() -> None:
    data = b"pk,sk,g,b,n\na,1.0,7,aGk=,5\n"
    assert imported(data, of=TABLE) == [
        {"pk": {"S": "a"}, "sk": {"N": "1"}, "g": {"N": "7"}, "b": {"B": "aGk="}, "n": {"S": "5"}}
    ]


def test_with_a_header_list_the_first_line_is_data() -> None:
    options = CsvOptions(header=("pk", "x"))
    assert imported(b"a,1\nb,2\n", options) == [
        {"pk": {"S": "a"}, "x": {"S": "1"}},
        {"pk": {"S": "b"}, "x": {"S": "2"}},
    ]


@pytest.mark.parametrize("delimiter", [",", ";", ":", "|", "\t", " "])
def test_every_delimiter_of_the_service(delimiter: str) -> None:
    data = f"pk{delimiter}x\na{delimiter}1\n".encode()
    assert imported(data, CsvOptions(delimiter=delimiter)) == [{"pk": {"S": "a"}, "x": {"S": "1"}}]


def test_quotes_hide_delimiters_quotes_and_line_breaks() -> None:
    data = b'pk,x\r\n"a,b","say ""hi""\r\nthere"\r\n'
    assert imported(data) == [{"pk": {"S": "a,b"}, "x": {"S": 'say "hi"\r\nthere'}}]


def test_an_empty_cell_is_an_empty_string_unless_it_is_an_index_key() -> None:
    assert imported(b"pk,sk,g,b,n\na,1,,,\n", of=TABLE) == [
        {"pk": {"S": "a"}, "sk": {"N": "1"}, "n": {"S": ""}}
    ]
    (refused,) = rows(b"pk,x\n,1\n")
    assert isinstance(refused, Rejection)
    assert "cannot contain an empty string value. Key: pk" in refused.message


def test_a_byte_order_mark_and_blank_lines_are_nothing() -> None:
    assert imported(b"\xef\xbb\xbfpk,x\n\na,1\n\n") == [{"pk": {"S": "a"}, "x": {"S": "1"}}]
    assert imported(b"") == []
    assert imported(b"pk,x\n") == []


def test_a_row_that_does_not_fit_is_skipped() -> None:
    found = list(rows(b"pk,sk,b\na,1,aGk=\nb,2\nc,x,aGk=\nd,3,%%\ne,4,aGk=\n", of=TABLE))
    assert [type(row) for row in found] == [Row, Rejection, Rejection, Rejection, Row]
    messages = [row.message for row in found if isinstance(row, Rejection)]
    assert messages == [
        "The number of columns does not match the header",
        "The parameter cannot be converted to a numeric value: x",
        "The value of the key attribute b is not valid base64",
    ]
    assert [row.index for row in found] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("data", [b"b,\xff\n", b'b,"x"y\n', b'b,"never ends\n', b"b,\x00\xff\n"])
def test_garbage_stops_the_object(data: bytes) -> None:
    found = list(rows(b"pk,x\na,1\n" + data + b"c,3\n"))
    assert [type(row) for row in found] == [Row, Rejection]
    assert isinstance(found[1], Rejection)
    assert (found[1].index, found[1].stops) == (1, True)


@pytest.mark.parametrize("header", [b"pk,pk", b"pk,", b",", b"c," * 5000 + b"pk"])
def test_a_header_that_is_none_stops_the_object(header: bytes) -> None:
    (stopped,) = rows(header + b"\na,1\n")
    assert isinstance(stopped, Rejection)
    assert stopped.stops


def test_a_record_may_be_so_long_and_no_longer() -> None:
    assert len(imported(b"pk,x\na," + b"x" * 400_000 + b"\n")) == 1
    too_long = b'"' + b"x\n" * (limits.CSV_RECORD_BYTES_MAX // 2) + b'"'
    for data in (b"x" * limits.CSV_RECORD_BYTES_MAX, too_long, b"y," * limits.CSV_RECORD_BYTES_MAX):
        (stopped,) = rows(b"pk,x\na," + data + b"\nb,2\n")
        assert isinstance(stopped, Rejection)
        assert stopped.stops


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)


@given(st.lists(st.tuples(cells.filter(bool), cells), max_size=6))
def test_what_is_quoted_is_read(several: list[tuple[str, str]]) -> None:
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in several]
    data = "\n".join(["pk,x", *quoted]).encode()
    assert imported(data) == [{"pk": {"S": key}, "x": {"S": value}} for key, value in several]
