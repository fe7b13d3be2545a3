"""HR5xx: writes and transactions."""

from __future__ import annotations

from collections.abc import Iterator

from hashrange.core import limits
from hashrange.modeling.check.facts import Facts
from hashrange.modeling.check.finding import Hit, first_place, rule
from hashrange.modeling.check.heat import busiest_share
from hashrange.modeling.columns import amount, rate
from hashrange.modeling.model import Entity, WritePattern, WriteStep
from hashrange.modeling.population import ancestry, identity, item_count
from hashrange.modeling.sizes import item_size

CONTENDED_PER_SECOND = 20  # transactions take 10 to 20 ms: from here on they meet each other
_GENERATED = ("uuid", "ulid")


def _steps(facts: Facts) -> Iterator[tuple[WritePattern, WriteStep, Entity]]:
    for pattern in facts.model.writes:
        for step in pattern.steps:
            yield pattern, step, facts.model.entities[step.entity]


@rule("HR501", "warning", "A read-modify-write without a condition")
def unguarded(facts: Facts) -> Iterator[Hit]:
    for pattern, step, _ in _steps(facts):
        if step.reads_first and step.condition is None:
            yield Hit(
                first_place(step.place, pattern.place),
                pattern.id,
                f"reads {step.entity}, changes it and writes it back: of two at once, one is lost",
                "write `if: version = ?version` and raise it, or let the update compute: set: n = n + ?amount",
            )


def _total_bytes(facts: Facts, pattern: WritePattern) -> float:
    return sum(
        item_size(facts.model, facts.model.entities[step.entity]).mean * step.count for step in pattern.steps
    )


@rule("HR502", "error", "A transaction past its limits")
def large_transaction(facts: Facts) -> Iterator[Hit]:
    for pattern in facts.model.writes:
        if not pattern.transaction:
            continue
        items, size = sum(step.count for step in pattern.steps), _total_bytes(facts, pattern)
        if items > limits.TRANSACT_ITEMS_MAX or size > limits.TRANSACT_BYTES_MAX:
            yield Hit(
                pattern.place,
                pattern.id,
                f"has {items} items of {amount(size)} bytes; TransactWriteItems takes 100 items and 4 MB",
                "split it into steps that may be repeated, or write what may come later by a stream",
            )


@rule("HR503", "warning", "A transaction that is not safe to send twice")
def no_token(facts: Facts) -> Iterator[Hit]:
    for pattern in facts.model.writes:
        if pattern.transaction and not pattern.idempotency_token:
            yield Hit(
                pattern.place,
                pattern.id,
                "has no ClientRequestToken: after a timeout nobody knows whether it took place",
                "write token: true, and give each attempt of a transaction the same token",
            )


@rule("HR504", "error", "A batch past its limits")
def large_batch(facts: Facts) -> Iterator[Hit]:
    for pattern in facts.model.writes:
        items = sum(step.count for step in pattern.steps)
        if not pattern.transaction and items > limits.BATCH_WRITE_ITEMS_MAX:
            yield Hit(
                pattern.place,
                pattern.id,
                f"writes {items} items; BatchWriteItem takes {limits.BATCH_WRITE_ITEMS_MAX}",
                f"make several requests of it, with {limits.BATCH_WRITE_ITEMS_MAX} items each",
            )


@rule("HR505", "warning", "A put that may overwrite another's item")
def overwriting_put(facts: Facts) -> Iterator[Hit]:
    for pattern, step, entity in _steps(facts):
        is_batch = not pattern.transaction and (len(pattern.steps) > 1 or step.count > 1)
        if step.action != "put" or step.condition is not None or is_batch or step.reads_first:
            continue
        if not _is_generated(facts, entity):
            yield Hit(
                first_place(step.place, pattern.place),
                pattern.id,
                f"puts {entity.name} without a condition, and its key may be taken: the other item is gone",
                "write `if: not exists`, or update the item if it is to be replaced",
            )


def _is_generated(facts: Facts, entity: Entity) -> bool:
    """Whether the key has an identifier of the entity's own that is made at random, or the time of an event."""
    inherited = {name for parent in ancestry(facts.model, entity)[1:] for name in parent.attributes}
    for name in identity(facts.model, entity) - inherited:
        attribute = entity.attributes.get(name)
        if attribute is not None and attribute.refers is None and attribute.format in _GENERATED:
            return True
    return False


@rule("HR506", "info", "An update that makes what is missing")
def upsert(facts: Facts) -> Iterator[Hit]:
    for pattern, step, _ in _steps(facts):
        sets = any(assignment.action in ("set", "append") for assignment in step.assignments)
        if step.action == "update" and step.condition is None and sets and not step.reads_first:
            yield Hit(
                first_place(step.place, pattern.place),
                pattern.id,
                f"UpdateItem makes a {step.entity} of these attributes alone if there is none",
                "write `if: exists`, unless that is what is wanted",
            )


@rule("HR507", "warning", "Transactions that meet at one item")
def contended(facts: Facts) -> Iterator[Hit]:
    for pattern, step, entity in _steps(facts):
        if not pattern.transaction or step.action == "put":
            continue
        items = max(item_count(facts.model, entity), 1.0)
        per_second = pattern.rate.peak * step.count * busiest_share(pattern.keys, items, entity)
        if per_second > CONTENDED_PER_SECOND:
            yield Hit(
                first_place(step.place, pattern.place),
                pattern.id,
                f"{rate(per_second)} transactions at the peak meet at one item of {entity.name}, and cancel each other",
                "take it out of the transaction, or spread it over several items that are added up",
            )


RULES = (unguarded, large_transaction, no_token, large_batch, overwriting_put, upsert, contended)
