"""Model files: what they say, and every mistake with its line, its column and what to do."""

from ast import literal_eval
from pathlib import Path

import pytest

from hashrange.modeling.loading import load, loads
from hashrange.modeling.model import (
    Assignment,
    Comparison,
    Distribution,
    Growth,
    KeyAttribute,
    Model,
    Parameter,
    Place,
    Scaling,
    Silence,
    WritePattern,
)
from hashrange.modeling.problems import ModelErrors
from hashrange.modeling.reading.nodes import DEPTH_MAX, FILE_BYTES_MAX

SHOP = """\
hashrange: 1
name: shop
region: eu-central-1
curves:
  evening: {peak: 4x, at: "20:00", width: 3h}
tables:
  shop:
    partition_key: PK
    sort_key: SK
    ttl: expires_at
    billing: {mode: provisioned, reads: {minimum: 5, maximum: 500, target: 60%}}
    stream: {view: NEW_IMAGE, readers: 2}
    replicas: [us-east-1]
    backups: 4
    dax: {node: dax.t3.small}
    indexes:
      GSI1: {partition_key: GSI1PK, sort_key: GSI1SK, projection: [total]}
      by_place: {partition_key: [country, city], sort_key: [total]}
      LSI1: {local: true, sort_key: LSI1SK, projection: KEYS_ONLY}
entities:
  User:
    count: 1 million
    growth: 2% per month
    keys: {PK: "USER#{user_id}", SK: PROFILE}
    attributes:
      user_id: uuid
      bio: {size: 400, max_size: 2KB, optional: 30%}
      expires_at: epoch
  Order:
    count: {count: 20 per User, at most: 5000, spread: zipf 1.1}
    retention: 30 days
    keys:
      PK: USER#{user_id}
      SK: ORDER#{placed_at}#{order_id}
      GSI1PK: {template: "OPEN#{shard(order_id, 10)}", if: status = "OPEN"}
      GSI1SK: "{placed_at}"
    attributes:
      order_id: ulid
      placed_at: timestamp
      status: {values: [OPEN, PAID]}
      total: decimal
      country: S
      city:
patterns:
  - id: A1
    name: A customer's latest orders
    entity: Order
    where: user_id = ?user_id and placed_at >= ?since
    order: placed_at desc
    limit: 20
    project: [order_id, total]
    consistency: strong
    rate: {average: 50/s, curve: evening, growth: 5% per month}
    keys: {time-rolling: 1h}
  # hashrange: HR103, HR104 it is a job of the night
  - id: A2
    entities: [User, Order]
    where: user_id = ?user_id
    rate: 3 per minute   # hashrange: HR120 nobody waits
  - id: W1
    transaction:
      - {put: Order, if: not exists}
      - {update: User, set: "bio = ?bio, expires_at = expires_at + 60", if: user_id exists}
    token: true
"""


def shop() -> Model:
    return loads(SHOP)


def test_a_table_is_read() -> None:
    table = shop().tables["shop"]
    assert (table.partition_key, table.sort_key) == (KeyAttribute("PK"), KeyAttribute("SK"))
    assert (table.billing, table.read_scaling) == ("PROVISIONED", Scaling(5, 500, 60.0))
    assert (table.stream, table.stream_readers, table.ttl_attribute) == ("NEW_IMAGE", 2, "expires_at")
    assert (table.replicas, table.kept_backups, table.dax_nodes) == (("us-east-1",), 4, 3)
    first, place, local = table.indexes
    assert (first.projection, first.included) == ("INCLUDE", ("total",))
    assert (local.local, local.partition_key, local.projection) == (True, (KeyAttribute("PK"),), "KEYS_ONLY")
    assert place.partition_key == (KeyAttribute("country"), KeyAttribute("city"))


def test_a_key_has_the_type_of_the_attribute_that_it_is() -> None:
    index = shop().tables["shop"].index("by_place")
    assert index is not None
    assert index.sort_key == (KeyAttribute("total", "N"),)


def test_an_entity_is_read() -> None:
    model = shop()
    user, order = model.entities["User"], model.entities["Order"]
    assert (user.count, user.parent, user.growth) == (1e6, None, Growth(percent_per_month=2.0))
    bio = user.attributes["bio"]
    assert (bio.size, bio.size_max, bio.optional) == (400, 2048, 0.3)
    assert (order.count, order.parent, order.count_max) == (20, "User", 5000)
    assert (order.spread, order.retention_days) == (Distribution("zipf", 1.1), 30)
    assert order.only_if == {"GSI1PK": Comparison("status", "=", ("OPEN",))}
    assert order.attributes["status"].values == ("OPEN", "PAID")
    assert order.attributes["total"].type == "N"


def test_an_order_has_the_id_of_its_user_and_keys_that_are_attributes() -> None:
    order = shop().entities["Order"]
    assert order.attributes["user_id"].format == "uuid"
    assert order.attributes["user_id"].refers == "User"
    assert order.keys["country"].text == "{country}"


def test_patterns_are_read() -> None:
    model = shop()
    latest, both = model.reads
    assert (latest.order, latest.descending, latest.limit, latest.consistent) == ("placed_at", True, 20, True)
    assert (latest.rate.average, latest.rate.percent_per_month) == (50, 5.0)
    assert latest.rate.peak == pytest.approx(200)
    assert latest.keys == Distribution("time-rolling", window_seconds=3600)
    assert latest.place == Place(45, 5)
    assert (both.entities, both.rate.average) == (("User", "Order"), 0.05)


def test_a_transaction_is_read_and_its_conditions_are_about_the_key() -> None:
    (pattern,) = shop().writes
    assert isinstance(pattern, WritePattern)
    assert (pattern.transaction, pattern.idempotency_token) == (True, True)
    put, update = pattern.steps
    assert put.condition == Comparison("PK", "not_exists")
    assert update.condition == Comparison("user_id", "exists")
    assert update.assignments == (
        Assignment("set", "bio", Parameter("bio")),
        Assignment("add", "expires_at", 60),
    )


def test_a_curve_has_its_peak_at_its_hour_and_a_mean_of_one() -> None:
    curve = shop().curves["evening"]
    assert sum(curve.factors) / 24 == pytest.approx(1)
    assert curve.factors[20] == pytest.approx(4)
    assert curve.peak == pytest.approx(4)


def test_comments_silence_rules_on_their_line_or_the_next() -> None:
    assert shop().silences == (
        Silence("HR103", "it is a job of the night", 56),
        Silence("HR104", "it is a job of the night", 56),
        Silence("HR120", "nobody waits", 59),
    )


def mistakes() -> list[tuple[str, str, str]]:
    """What is replaced (-) by what (+) in the file above, and the complaint (=): line, column, message, remedy."""
    blocks = Path(__file__).with_name("mistakes.txt").read_text("utf-8").strip().split("\n\n")
    rows = [[line[2:] for line in block.splitlines()] for block in blocks]
    return [(literal_eval(words), literal_eval(others), complaint) for words, others, complaint in rows]


@pytest.mark.parametrize(("words", "others", "complaint"), mistakes())
def test_a_mistake_is_shown_where_it_is(words: str, others: str, complaint: str) -> None:
    assert words in SHOP
    with pytest.raises(ModelErrors) as caught:
        loads(SHOP.replace(words, others, 1), "shop.yaml")
    assert f"shop.yaml:{complaint}" in caught.value.lines()


def test_all_mistakes_are_shown_at_once_in_the_order_of_their_lines() -> None:
    text = (
        SHOP.replace("1 million", "plenty")
        .replace("limit: 20", "limit: x")
        .replace("entity: Order", "entity: X")
    )
    with pytest.raises(ModelErrors) as caught:
        loads(text)
    assert [problem.place.line for problem in caught.value.problems] == [22, 47, 50]


def test_entities_that_would_overwrite_each_other_are_refused() -> None:
    twin = '  Account:\n    count: 1 per User\n    keys: {PK: "USER#{user_id}", SK: PROFILE}\n'
    with pytest.raises(ModelErrors, match="Account and User make the same key"):
        loads(SHOP.replace("patterns:", f"{twin}patterns:"))


def test_parents_in_a_circle_are_refused() -> None:
    with pytest.raises(ModelErrors, match="User is counted per Order, in a circle"):
        loads(SHOP.replace("1 million", "1 per Order"))


def test_a_template_that_makes_text_is_no_numeric_key() -> None:
    with pytest.raises(ModelErrors, match="`SK` is of type N, but `PROFILE` of User makes S"):
        loads(SHOP.replace("sort_key: SK", "sort_key: {name: SK, type: N}", 1))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "1:1: the file is empty"),
        ("a: b: c", "1:5: this is no YAML"),
        ("a: [1, 2", "this is no YAML"),
        ("a: &x [1]\nb: [*x, *x]", "2:5: aliases (`*name`) are not read; write it out"),
        ("a: 1\n---\nb: 2", "2:1: a second document; one file has one model"),
        ("a: " + "[" * 50, f"1:{DEPTH_MAX + 4}: nested more than {DEPTH_MAX} deep; nothing in a model is"),
        ("- 1", "1:1: the file is a list; it is a mapping with hashrange"),
        ("a: \0", "this is no YAML"),
        ("[]: 1", "1:1: a name that is no text"),
        ("x" * (FILE_BYTES_MAX + 1), f"the file has more than {FILE_BYTES_MAX:,} bytes"),
    ],
)
def test_what_is_no_model_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ModelErrors) as caught:
        loads(text, "m.yaml")
    assert complaint in str(caught.value)


def test_a_hostile_file_gets_a_hundred_complaints_and_no_more() -> None:
    text = "hashrange: 1\n" + "".join(f"unknown{number}: 1\n" for number in range(5000))
    with pytest.raises(ModelErrors) as caught:
        loads(text)
    assert len(caught.value.problems) == 100


def test_a_file_with_too_many_entities_is_refused() -> None:
    entities = "".join(f"  E{number}: {{}}\n" for number in range(501))
    with pytest.raises(ModelErrors, match="more than 500 entities"):
        loads(f"hashrange: 1\ntables: {{abc: {{partition_key: PK}}}}\nentities:\n{entities}")


def test_a_file_is_loaded_from_its_path(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text("\ufeff" + SHOP, "utf-8")
    assert load(path).name == "shop"
    with pytest.raises(ModelErrors, match="cannot read it: No such file"):
        load(tmp_path / "other.yaml")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ModelErrors, match="the file is not UTF-8"):
        load(path)
