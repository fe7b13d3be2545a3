"""Which renderer gives an operation's answer its bytes."""

from hashrange.wire import answers, partiql_answers, stream_answers
from hashrange.wire.answers import Renderer

# By operation; all others give structures.
RENDERERS: dict[str, Renderer] = {
    "BatchExecuteStatement": partiql_answers.batch_executed,
    "BatchGetItem": answers.batch_read,
    "BatchWriteItem": answers.batch_written,
    "DeleteItem": answers.item_written,
    "ExecuteStatement": partiql_answers.statement_executed,
    "ExecuteTransaction": partiql_answers.transaction_executed,
    "GetItem": answers.item_read,
    "GetRecords": stream_answers.records_read,
    "PutItem": answers.item_written,
    "Query": answers.page_read,
    "Scan": answers.page_read,
    "TransactGetItems": answers.transaction_read,
    "TransactWriteItems": answers.transaction_written,
    "UpdateItem": answers.item_written,
}
