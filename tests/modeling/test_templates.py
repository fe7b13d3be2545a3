"""Key templates: what they are made of, and what they give."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hashrange.modeling.model import Field, Literally, Shard
from hashrange.modeling.templates import fill, parse_template, prefix_for, shards
from hashrange.modeling.texts import TextInvalid
from hashrange.patterns import ShardedWriter, Table
from hashrange.patterns.values import shard_of


def test_a_template_is_fixed_text_and_pieces() -> None:
    template = parse_template("O#{{x}}#{placed_at:.10}#{n:08}#{shard(id, 4)}{shard(random, 2)}")
    assert template.pieces == (
        Literally("O#{x}#"),
        Field("placed_at", cut=10),
        Literally("#"),
        Field("n", pad=8),
        Literally("#"),
        Shard("id", 4),
        Shard(None, 2),
    )
    assert template.attributes == ("placed_at", "n", "id")
    assert shards(template) == 8


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("", "a key template is empty", 0),
        ("A#{", "`{` without its counterpart", 2),
        ("A}", "`}` without its counterpart", 1),
        ("A{}", "`{}` is no piece of a template", 1),
        ("A{shard(id, 0)}", "0 shards", 1),
        ("A{shard(id, 10001)}", "10001 shards", 1),
        ("A{n:0101}", "`{n:0101}` has an impossible width", 1),
        ("A{n:.0}", "`{n:.0}` has an impossible width", 1),
        ("A{n:x}", "`{n:x}` is no piece of a template", 1),
        ("x" * 1025, "a key template has more than 1024 characters", 0),
        ("{a}" * 51, "a key template has more than 50 pieces", 150),
    ],
)
def test_a_wrong_template_is_refused_where_it_is_wrong(text: str, message: str, offset: int) -> None:
    with pytest.raises(TextInvalid) as caught:
        parse_template(text)
    assert (caught.value.message, caught.value.offset) == (message, offset)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("USER#{id}", "USER#7"),
        ("{id}", 7),
        ("{id:03}", "007"),
        ("{at:.4}", "2026"),
        ("{price}/{open}", "1.50/true"),
        ("{id}{missing}", None),
        ("{missing}", None),
        ("FIXED", "FIXED"),
        ("{open}", "true"),
    ],
)
def test_an_item_fills_a_template(text: str, value: object) -> None:
    item = {"id": 7, "at": "2026-01-31", "price": Decimal("1.50"), "open": True}
    assert fill(parse_template(text), item) == value


def test_a_shard_follows_from_its_attribute_and_can_be_chosen_by_a_reader() -> None:
    template = parse_template("OPEN#{shard(id, 10)}")
    assert fill(template, {"id": "abc"}) == f"OPEN#{shard_of('abc', 10)}"
    assert [fill(template, {}, shard=number) for number in (0, 9, 10)] == ["OPEN#0", "OPEN#9", "OPEN#0"]
    assert fill(template, {}) is None
    drawn = {fill(parse_template("{shard(random, 2)}"), {}) for _ in range(200)}
    assert drawn == {"0", "1"}


def test_a_number_has_one_shard_however_it_is_written() -> None:
    template = parse_template("{shard(price, 1000)}")
    drawn = {fill(template, {"price": price}) for price in (Decimal("1.50"), Decimal("1.5"), 1.5)}
    assert drawn == {str(shard_of(Decimal("1.5"), 1000))}


def test_a_template_describes_what_the_patterns_library_writes() -> None:
    writer = ShardedWriter(Table("events"), shards=7)
    template = parse_template("{day}#{shard(time, 7)}")
    for minute in range(50):
        item = {"day": "2026-05-01", "time": f"12:{minute:02}"}
        assert fill(template, item) == writer.partition(item["day"], item["time"])


def test_a_prefix_goes_up_to_what_is_not_known() -> None:
    template = parse_template("ORDER#{at}#{shard(random, 3)}#{id}")
    assert prefix_for(template, {}) == ("ORDER#", False)
    assert prefix_for(template, {"at": "2026", "id": 1}) == ("ORDER#2026#", False)
    assert prefix_for(parse_template("A#{at}#"), {"at": "2026"}) == ("A#2026#", True)


@given(st.dictionaries(st.sampled_from("abc"), st.text(max_size=5)), st.sets(st.sampled_from("abc")))
def test_what_an_item_gives_begins_with_the_prefix_for_a_part_of_it(
    item: dict[str, str], known: set[str]
) -> None:
    template = parse_template("X#{a}#{b:03}#{c:.2}")
    text = fill(template, item)
    prefix, is_complete = prefix_for(template, {name: item[name] for name in known & item.keys()})
    assert text is None or (isinstance(text, str) and text.startswith(prefix))
    assert is_complete == (known >= set("abc") and item.keys() >= set("abc"))
