"""Mistakes of an application beside a good model: requests and items that are not what the model says.

Whether a slip matters is told by the made-up items themselves and the pattern's definition, without any key: an order
that is turned needs two items with different values, a shard that is left out one item in it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hashrange.modeling.data.generation import Data, make_data
from hashrange.modeling.data.samples import Sample
from hashrange.modeling.model import Model, ReadPattern, WritePattern
from hashrange.modeling.planning import plan_read
from hashrange.modeling.plans import ReadPlan
from hashrange.modeling.prove.answers import read_answer
from hashrange.modeling.prove.comparison import Comparison
from hashrange.modeling.prove.definition import defined_items, order_value
from hashrange.modeling.prove.parameters import Parameters, parameter_sets
from hashrange.modeling.prove.private_engine import PrivateEngine, Response
from hashrange.modeling.prove.proving import create_tables, store
from hashrange.modeling.prove.reads import prove_read
from hashrange.modeling.prove.writes import prove_write
from modeling.mutants import Served, Subject

ITEMS = 100


@dataclass(frozen=True)
class Slip:
    """A mistake: `failures` is what the proof says of it."""

    kind: str
    where: str
    failures: Callable[[], Sequence[str]]

    @property
    def name(self) -> str:
        return f"{self.kind}: {self.where}"


class Bench:
    """A good model's items, on an engine."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.data = make_data(model, items=ITEMS)
        self.engine = stored(model, self.data, PrivateEngine(model.region))

    def sets(self, pattern: ReadPattern) -> list[tuple[Parameters, list[Sample]]]:
        """Parameters, and the items that they mean."""
        every = parameter_sets(self.model, pattern, self.data)
        return [(parameters, defined_items(pattern, self.data, [parameters])) for parameters in every]

    def asked(self, plan: ReadPlan, other: ReadPlan) -> Callable[[], Sequence[str]]:
        """The failures, if the requests are those of another plan than the pattern's."""

        def failures() -> list[str]:
            found = []
            for parameters, _ in self.sets(plan.pattern):
                answer = read_answer(self.engine, self.model, other, [parameters])
                found += Comparison(self.model, plan, self.data, [parameters]).failures(answer)
            return found

        return failures


def stored(model: Model, data: Data, engine: PrivateEngine) -> PrivateEngine:
    assert list(create_tables(engine, model)) == []
    assert list(store(engine, data)) == []
    return engine


def order_turned(bench: Bench, plan: ReadPlan) -> Iterator[Slip]:
    """The last come first."""
    pattern = plan.pattern
    if pattern.order is None or plan.shards > 1:
        return  # who asks several shards merges the answers by the order
    if any(len({order_value(pattern, item.wire) for item in items}) > 1 for _, items in bench.sets(pattern)):
        turned = replace(plan, pattern=replace(pattern, descending=not pattern.descending))
        yield Slip("order turned", pattern.id, bench.asked(plan, turned))


def limit_cut(bench: Bench, plan: ReadPlan) -> Iterator[Slip]:
    """One item comes, where more are meant."""
    pattern = plan.pattern
    is_more = any(len(items) > 1 for _, items in bench.sets(pattern))
    if is_more and plan.shards == 1 and (pattern.limit or 2) > 1:
        cut = replace(plan, pattern=replace(pattern, limit=1), limit=1)
        yield Slip("limit cut", pattern.id, bench.asked(plan, cut))


def shard_left_out(bench: Bench, plan: ReadPlan) -> Iterator[Slip]:
    """The reader knows of one shard less than the writer."""
    (name,) = (key.name for key in plan.path.partition[:1])
    last = str(plan.shards - 1)
    for _, items in bench.sets(plan.pattern) if plan.shards > 1 else ():
        ends = {str(item.stored[name]).rsplit("#", 1)[-1] for item in items}
        if last in ends and len(items) <= (plan.pattern.limit or len(items)):
            fewer = replace(plan, shards=plan.shards - 1)
            yield Slip("shard left out", plan.pattern.id, bench.asked(plan, fewer))
            return


def range_forgotten(bench: Bench, plan: ReadPlan) -> Iterator[Slip]:
    """The whole item collection comes, where a part of it is meant."""
    if not plan.sort or plan.operation.value != "Query" or plan.shards > 1 or plan.filter is not None:
        return
    names = [key.name for key in plan.path.partition]
    for _, items in bench.sets(plan.pattern):
        keys = {tuple(item.stored.get(name) for name in names) for item in items}
        count = sum(tuple(map(item.stored.get, names)) in keys for item in bench.data.all())
        if len(items) < count <= (plan.pattern.limit or count):
            yield Slip("range forgotten", plan.pattern.id, bench.asked(plan, replace(plan, sort=())))
            return


READS = (order_turned, limit_cut, shard_left_out, range_forgotten)


def _otherwise(
    bench: Bench, served: Served, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> Sequence[str]:
    """What is said of a pattern when items of its first entity are stored otherwise than the model says."""
    data = make_data(bench.model, items=ITEMS)
    wrong = Data(data.seed)
    for key, sample in data.by_key.items():
        is_one = sample.entity.name == served.pattern.entities[0]
        wire = change(dict(sample.wire)) if is_one else sample.wire
        wrong.by_key[key] = replace(sample, wire=wire)
    with stored(bench.model, wrong, PrivateEngine(bench.model.region)) as engine:
        return prove_read(engine, bench.model, served.pattern, data).failures


def prefix_written_otherwise(bench: Bench, served: Served) -> Iterator[Slip]:
    """The writer has another prefix in the key than the reader."""
    key = served.path.partition[0]
    if key.type != "S" or not any(items for _, items in bench.sets(served.pattern)):
        return

    def change(wire: dict[str, Any]) -> dict[str, Any]:
        return wire | ({key.name: {"S": f"OLD-{wire[key.name]['S']}"}} if key.name in wire else {})

    where = f"{served.pattern.id} {key.name}"
    yield Slip("prefix written otherwise", where, lambda: _otherwise(bench, served, change))


def index_key_not_written(bench: Bench, served: Served) -> Iterator[Slip]:
    """The writer forgets the keys of an index."""
    own = {served.plan.table.partition_key, served.plan.table.sort_key}
    names = {key.name for key in served.path.key if key not in own}
    if not names or not any(items for _, items in bench.sets(served.pattern)):
        return

    def change(wire: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in wire.items() if name not in names}

    yield Slip("index key not written", served.pattern.id, lambda: _otherwise(bench, served, change))


class WithoutConditions(PrivateEngine):
    """Sends writes without their conditions, and transactions without their checks."""

    def call(self, operation: str, members: dict[str, Any]) -> Response:
        if operation == "TransactWriteItems":
            parts = [part for part in members["TransactItems"] if "ConditionCheck" not in part]
            parts = [{kind: _bare(write) for kind, write in part.items()} for part in parts]
            members = members | {"TransactItems": parts}
        return super().call(operation, _bare(members) if operation in _WRITES else members)


_WRITES = ("PutItem", "UpdateItem", "DeleteItem")


def _bare(write: dict[str, Any]) -> dict[str, Any]:
    """Without the condition, and the names and values that only it has used."""
    bare = {name: value for name, value in write.items() if name != "ConditionExpression"}
    rest = bare.get("UpdateExpression", "")
    for member in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
        used = {name: value for name, value in (bare.pop(member, None) or {}).items() if name in rest}
        bare |= {member: used} if used else {}
    return bare


def condition_not_sent(bench: Bench, pattern: WritePattern) -> Iterator[Slip]:
    """The write is made though its condition does not hold."""
    data = make_data(bench.model, items=ITEMS)
    with stored(bench.model, data, PrivateEngine(bench.model.region)) as engine:
        if prove_write(engine, bench.model, pattern, data).unmet != "refused":
            return

    def failures() -> Sequence[str]:
        fresh = make_data(bench.model, items=ITEMS)
        with stored(bench.model, fresh, WithoutConditions(bench.model.region)) as careless:
            return prove_write(careless, bench.model, pattern, fresh).failures

    yield Slip("condition not sent", pattern.id, failures)


def slips(model: Model) -> Iterator[Slip]:
    """All slips that matter, with a model."""
    bench = Bench(model)
    for pattern in model.reads:
        plan = plan_read(model, pattern)
        for slip in READS:
            yield from slip(bench, plan)
    for served in Subject(model).served:
        yield from prefix_written_otherwise(bench, served)
        yield from index_key_not_written(bench, served)
    for write in model.writes:
        yield from condition_not_sent(bench, write)
