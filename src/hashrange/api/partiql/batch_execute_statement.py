"""BatchExecuteStatement: up to 25 PartiQL statements, each succeeding or failing by itself."""

from functools import partial
from typing import Annotated

from msgspec import Meta

from hashrange.api.context import Context
from hashrange.api.partiql import batches
from hashrange.api.partiql.statements import Parameters, Statement
from hashrange.api.protocol.plan import Plan, Read, Write
from hashrange.api.protocol.shapes import Shape
from hashrange.api.protocol.structures import (
    Request,
    ReturnConsumedCapacity,
    ReturnValuesOnConditionCheckFailure,
    Structure,
)
from hashrange.core.limits import STATEMENT_BATCH_MAX
from hashrange.core.mutation import Origin
from hashrange.storage.engine import Reader


class BatchStatementRequest(Structure, kw_only=True):
    """One statement of the batch."""

    statement: Statement
    parameters: Parameters | None = None
    consistent_read: bool | None = None
    # Taken and without effect, as on the service.
    return_values_on_condition_check_failure: ReturnValuesOnConditionCheckFailure | None = None


class BatchExecuteStatement(Request, kw_only=True):
    """The request."""

    return_consumed_capacity: ReturnConsumedCapacity | None = None
    statements: Annotated[list[BatchStatementRequest], Meta(min_length=1, max_length=STATEMENT_BATCH_MAX)]


SHAPE = Shape(BatchExecuteStatement)


def batch_execute_statement(context: Context, request: BatchExecuteStatement) -> Plan:
    """Plan all members, then run those that can run."""
    members = batches.planned(context, request.statements)
    tab = context.tab(*(member.table for member in members if not isinstance(member, batches.Failure)))
    if any(isinstance(member, batches.Edit) for member in members):
        origin = Origin(context.clock.now())
        write = partial(batches.write, members, origin, tab)
        return Write(write if tab is None else partial(tab.run, write), reads=lambda: batches.reads(members))
    read = partial(batches.read, members, tab)

    def mixed(reader: Reader, past: Reader) -> batches.BatchExecuted:
        step = partial(batches.read, members, tab, past=past)
        return step(reader) if tab is None else tab.run(step, reader)

    consistent = {member.consistent for member in members if isinstance(member, batches.Get)}
    return Read(
        read if tab is None else partial(tab.run, read),
        batches.reads(members),
        eventual=True not in consistent,
        mixed=mixed if len(consistent) > 1 else None,
    )
