"""The parts of key bytes, and back to the values of key attributes."""

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.core import numbers
from hashrange.core.keys import encoding, key_parts
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
    assert key_parts.collection_end(key) == len(prefix)
    assert key_parts.attributes(own, None, key) == {"pk": partition, "sk": sort}
    assert key_parts.partition_attributes(own, None, prefix) == {"pk": partition}
    assert key_parts.attributes(own, None, prefix) is None


@given(st.lists(values, min_size=1, max_size=4), st.lists(values, max_size=4), binaries)
def test_the_key_of_an_index_row(
    partition: list[dict[str, str]], sort: list[dict[str, str]], base: bytes
) -> None:
    own = index("".join(next(iter(v)) for v in partition), "".join(next(iter(v)) for v in sort))
    prefix = encoding.partition_prefix(partition)
    key = encoding.index_key(partition, sort, base)
    assert key_parts.collection_end(key, len(partition)) == len(prefix)
    row = key_parts.own_key(own, key)
    assert row + base == key
    values = {attribute.name: value for attribute, value in zip(own.keys, [*partition, *sort], strict=True)}
    assert key_parts.attributes(table(), own, row) == values


@given(st.binary(max_size=30))
def test_any_bytes_are_a_key_or_none(key: bytes) -> None:
    for sort in ("S", "N", "B"):
        own = index("SN", sort)
        assert key_parts.own_key(own, key) == key[: len(key_parts.own_key(own, key))]
        values = key_parts.attributes(table(), own, key)
        assert values is None or len(values) == 3
