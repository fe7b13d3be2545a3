"""Results of PartiQL statements as JSON."""

from collections.abc import Sequence
from typing import assert_never

import orjson

from hashrange.api.partiql.batch_execute_statement import BatchExecuteStatement
from hashrange.api.partiql.batches import BatchExecuted, FailedWrite, Failure
from hashrange.api.partiql.execute_statement import ExecuteStatement, StatementRead
from hashrange.api.partiql.execute_transaction import ExecuteTransaction
from hashrange.api.results import ItemRead, ItemsRead, ItemsWritten, ItemWritten, PageRead
from hashrange.api.transactions.run import Replayed
from hashrange.wire import answers, capacity_reports
from hashrange.wire.capacity_reports import Consumed, ConsumedCapacity


def statement_executed(request: ExecuteStatement, result: StatementRead | ItemWritten) -> bytes:
    """ExecuteStatement."""
    if isinstance(result, StatementRead):
        members = [b'"Items":[' + _rows(result.pages) + b"]"]
        if result.next_token is not None:
            members.append(b'"NextToken":' + orjson.dumps(result.next_token))
        if result.last is not None:
            members.append(b'"LastEvaluatedKey":' + orjson.dumps(result.last))
    else:
        members = [b'"Items":' + orjson.dumps([] if result.attributes is None else [result.attributes])]
    mode = request.return_consumed_capacity
    if mode is not None and mode != "NONE":
        members.append(b'"ConsumedCapacity":' + orjson.dumps(capacity_reports.of_one(result, mode)))
    return answers.pasted(members)


def _rows(pages: Sequence[PageRead]) -> bytes:
    return b",".join([b"".join(answers.rows(read.page)) for read in pages if read.page.count])


def batch_executed(request: BatchExecuteStatement, result: BatchExecuted) -> bytes:
    """BatchExecuteStatement."""
    members = [b'"Responses":[' + b",".join(map(_response, result.members)) + b"]"]
    mode = request.return_consumed_capacity
    if mode is not None and mode != "NONE":
        reports = _batch_reports(result, mode)
        if reports:
            members.append(b'"ConsumedCapacity":' + orjson.dumps(reports))
    return answers.pasted(members)


def _response(member: ItemRead | ItemWritten | FailedWrite | Failure) -> bytes:
    match member:
        case Failure():
            return answers.pasted([_error(member)])
        case FailedWrite():
            members = [_error(member.failure)]
        case ItemRead():
            members = [] if member.stored is None else [b'"Item":' + answers.item(member)]
        case ItemWritten():
            attributes = member.attributes
            members = [] if attributes is None else [b'"Item":' + orjson.dumps(attributes)]
        case _:
            assert_never(member)
    members.append(b'"TableName":' + orjson.dumps(member.table_name))
    return answers.pasted(members)


def _error(failure: Failure) -> bytes:
    return b'"Error":' + orjson.dumps({"Code": failure.code, "Message": failure.message})


def _batch_reports(result: BatchExecuted, mode: str) -> list[ConsumedCapacity]:
    """A report for each table, except where nothing succeeded; a failed write counts for the total only (recorded)."""
    tables: dict[str, Consumed] = {}
    for member in result.members:
        if isinstance(member, ItemRead | ItemWritten):
            name = member.table_name
            tables.setdefault(name, Consumed(member.table, name)).add(member)
    for member in result.members:
        if isinstance(member, FailedWrite) and member.table_name in tables:
            tables[member.table_name].add_to_total(member.units)
    return [consumed.report(mode) for consumed in tables.values()]


def transaction_executed(request: ExecuteTransaction, result: ItemsRead | ItemsWritten | Replayed) -> bytes:
    """ExecuteTransaction; writes give nothing back, but say so."""
    mode = request.return_consumed_capacity
    if isinstance(result, ItemsRead):
        return answers.pasted(answers.transaction_responses(result.items, mode))
    reports: answers.WriteReports = {}
    if isinstance(result, Replayed):
        reports = answers.replayed(result, mode)
    elif mode is not None and mode != "NONE":
        reports["ConsumedCapacity"] = capacity_reports.by_table(result.items, mode, "Write")
    return orjson.dumps({"Responses": [], **reports})
