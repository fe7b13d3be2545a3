"""`hashrange model prove` and writes: what they leave behind, a second time, and without their condition."""

from typing import Any

import pytest

from hashrange.modeling.data.generation import make_data
from hashrange.modeling.loading import loads
from hashrange.modeling.model import Model
from hashrange.modeling.prove.private_engine import PrivateEngine, Response
from hashrange.modeling.prove.proving import create_tables, prove, store
from hashrange.modeling.prove.reads import prove_read
from hashrange.modeling.prove.results import ProvedWrite
from hashrange.modeling.prove.writes import prove_write
from proved_model import proved_model

ITEMS = 150


def proved(model: Model, pattern: str, engine: PrivateEngine) -> ProvedWrite:
    """One write pattern, on an engine that the test may have spoilt."""
    data = make_data(model, items=ITEMS)
    with engine:
        assert list(create_tables(engine, model)) == []
        assert list(store(engine, data)) == []
        (write,) = (write for write in model.writes if write.id == pattern)
        return prove_write(engine, model, write, data)


def test_every_write_of_a_good_model_holds_and_reads_find_what_it_wrote() -> None:
    proof = prove(proved_model(), items=ITEMS)
    assert proof.holds, proof
    outcomes = {write.id: (write.operation, write.again, write.unmet) for write in proof.writes}
    assert outcomes == {
        "W1": ("PutItem", "refused", "refused"),
        "W2": ("UpdateItem", "refused", "refused"),
        "W3": ("TransactWriteItems", "same", "refused"),
        "W4": ("BatchWriteItem", "same", "-"),
        "W5": ("DeleteItem", "same", "-"),
        "W6": ("UpdateItem", "same", "-"),
        "W7": ("UpdateItem", "changes", "-"),
        "W9": ("UpdateItem", "refused", "refused"),
        "W8": ("TransactWriteItems", "refused", "refused"),
    }
    assert all(write.units > 0 for write in proof.writes)


@pytest.mark.parametrize(
    ("pattern", "before", "after", "failure"),
    [
        ("W2", 'status = "DONE", if', 'user_id = "x", if', "it changes what the key of Ticket is made of"),
        ("W2", 'if: status = "OPEN"}}', "if: level > 90000}}", "none of the made-up items meets its condition"),
        ("W6", "set: bio = ?bio", "append: street ?bio", "UpdateItem is refused"),
    ],
)  # fmt: skip
def test_a_write_that_cannot_work_is_found_out(pattern: str, before: str, after: str, failure: str) -> None:
    write = proved(proved_model((before, after)), pattern, PrivateEngine("us-east-1"))
    assert failure in " ".join(write.failures)


class Careless(PrivateEngine):
    """Leaves one member out of every request of an operation; None: does not do it at all."""

    def __init__(self, operation: str, member: str | None) -> None:
        super().__init__("us-east-1")
        self._operation, self._member = operation, member

    def call(self, operation: str, members: dict[str, Any]) -> Response:
        if operation == self._operation and self._member is None:
            return {}
        if operation == self._operation and self._member is not None:
            # Names of attributes are refused where there is no expression to use them.
            left_out = {self._member, "ExpressionAttributeNames"}
            members = {name: value for name, value in members.items() if name not in left_out}
        return super().call(operation, members)


@pytest.mark.parametrize(
    ("pattern", "operation", "member", "failure"),
    [
        ("W1", "PutItem", "ConditionExpression", "the model refuses, the engine does it"),
        ("W1", "PutItem", None, "put User leaves nothing, not {"),
        ("W2", "UpdateItem", None, "update Ticket leaves {"),
        ("W3", "TransactWriteItems", "ClientRequestToken", "the model allows it, the engine refuses"),
        ("W5", "DeleteItem", None, "delete Note leaves {"),
    ],
)
def test_an_engine_that_does_something_else_is_found_out(
    pattern: str, operation: str, member: str | None, failure: str
) -> None:
    write = proved(proved_model(), pattern, Careless(operation, member))
    assert failure in " ".join(write.failures)


def test_an_update_that_forgets_the_keys_of_an_index_is_found_by_the_reads() -> None:
    """The application that writes has no idea that GSI1 is for open tickets; the one that reads has."""
    model, other = proved_model(), proved_model(('if: status = "OPEN"}\n', "if: level >= 0}\n"))
    data = make_data(model, items=ITEMS)
    with PrivateEngine("us-east-1") as engine:
        assert list(create_tables(engine, model)) == []
        assert list(store(engine, data)) == []
        by_id = {pattern.id: pattern for pattern in other.writes}
        assert prove_write(engine, other, by_id["W2"], data).failures == ()
        (opened,) = (read for read in model.reads if read.id == "A5")
        failures = prove_read(engine, model, opened, data).failures
    assert '`status = "OPEN"` does not hold' in " ".join(failures)


BETWEEN_TWO = """
hashrange: 1
name: feed
tables: {feed: {partition_key: PK, sort_key: SK}}
entities:
  User: {count: 30, keys: {PK: "USER#{user_id}", SK: USER}, attributes: {user_id: uuid}}
  Post: {count: 30, keys: {PK: "POST#{post_id}", SK: POST}, attributes: {post_id: ulid}}
  Entry:
    count: 3 per User
    keys: {PK: "TIMELINE#{user_id}", SK: "{post_id}"}
    attributes: {post_id: {refers: Post}}
patterns:
  - {id: W1, batch: [{put: Entry, count: 25}]}
"""


def test_a_batch_of_items_that_only_refer_to_others_has_no_key_twice() -> None:
    (write,) = prove(loads(BETWEEN_TWO), items=ITEMS).writes
    assert (write.failures, write.units) == ((), 25)
