"""Key bytes and back to the values of key attributes."""

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core import numbers
from hashrange.core.keys import decoding, encoding
from hashrange.core.schema import Index, KeyAttribute, Table


def table(hash_type: str = "S", range_type: str | None = "S") -> Table:
    sort = None if range_type is None else KeyAttribute("sk", range_type)  # type: ignore[arg-type]
    return Table(
        account_id="0",
        region="r",
        name="tab",
        number=1,
        version=1,
        table_id="i",
        created_at=0,
        hash=KeyAttribute("pk", hash_type),  # type: ignore[arg-type]
        range=sort,
    )


def index(hash_types: str, range_types: str) -> Index:
    return Index(
        name="glo",
        slot=1,
        local=False,
        hash=tuple(KeyAttribute(f"h{at}", kind) for at, kind in enumerate(hash_types)),  # type: ignore[arg-type]
        range=tuple(KeyAttribute(f"r{at}", kind) for at, kind in enumerate(range_types)),  # type: ignore[arg-type]
    )


digits = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=5)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
binaries = st.binary(min_size=1, max_size=20)
values = st.one_of(
    texts.map(lambda text: {"S": text}),
    digits.map(lambda number: {"N": numbers.canonical(f"{number:f}")}),
    binaries.map(lambda raw: {"B": b64encode(raw).decode()}),
)


@given(digits)
def test_a_number_comes_back_as_it_was(number: object) -> None:
    text = numbers.canonical(f"{number:f}")
    assert numbers.decode(numbers.encode(text)) == text


@pytest.mark.parametrize(
    "text", ["0", "1", "-1", "1e125", "-1e125", "1e-130", "-1e-130", "9" * 38, "0.01", "-10.5"]
)
def test_numbers_at_the_ends(text: str) -> None:
    canonical = numbers.canonical(text)
    assert numbers.decode(numbers.encode(canonical)) == canonical


@given(values, values)
def test_the_key_of_an_item(partition: dict[str, str], sort: dict[str, str]) -> None:
    own = table(next(iter(partition)), next(iter(sort)))
    prefix = encoding.partition_prefix([partition])
    key = prefix + encoding.scalar(sort)
    assert decoding.partition_end(key, 1) == len(prefix)
    assert decoding.key_texts(own, None, key) == [*partition.values(), *sort.values()]
    assert decoding.key_texts(own, None, prefix) == [*partition.values()]


@given(st.lists(values, min_size=1, max_size=4), st.lists(values, max_size=4), binaries)
def test_the_key_of_an_index_row(
    partition: list[dict[str, str]], sort: list[dict[str, str]], base: bytes
) -> None:
    own = index("".join(next(iter(v)) for v in partition), "".join(next(iter(v)) for v in sort))
    prefix = encoding.partition_prefix(partition)
    key = encoding.index_key(partition, sort, base)
    assert decoding.partition_end(key, len(partition)) == len(prefix)
    end = decoding.contributor_end(own, key, len(prefix))
    assert key[end:] == base
    shown = [text for value in (*partition, *sort) for text in value.values()]
    assert decoding.key_texts(table(), own, key[:end]) == shown


@given(st.binary(max_size=30), st.integers(1, 4))
def test_what_is_no_whole_key_is_noticed(key: bytes, attributes: int) -> None:
    end = decoding.partition_end(key, attributes)
    assert end == 0 or 8 < end <= len(key)
