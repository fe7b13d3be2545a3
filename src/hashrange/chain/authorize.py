"""The link that lets callers do only what their policies allow.

It has the call planned by an operation that asks for its permissions first. So they are asked for behind the shape
check and before a table is touched, with the very request and the very state of the catalogue that the plan is made
from, however often it has to be made; a refusal that came from an outdated record is confirmed like any other error.
"""

from typing import Any

from hashrange.api.context import Context
from hashrange.api.permissions.guard import coming_from, permitted, permitted_on_table
from hashrange.api.protocol.operation import Operation
from hashrange.api.protocol.plan import Plan
from hashrange.chain.executor import Call, Done
from hashrange.chain.links import Runner

_ON_ONE_TABLE = frozenset(
    f"dynamodb:{name}" for name in ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan")
)


class Authorize:
    """The link; there is none unless identities have permissions (--auth iam)."""

    def __init__(self) -> None:
        self._guarded: dict[Operation[Any], Operation[Any]] = {}  # there are some hundred operations

    def __call__(self, call: Call, done: Done, following: Runner, /) -> None:
        """Hand a call on whose operation asks first."""
        operation = self._guarded.get(call.operation)
        if operation is None:
            operation = self._guarded[call.operation] = guarded(call.operation)
        call.operation = operation
        call.context = coming_from(call.context, call.arrival())
        following(call, done)


def guarded(operation: Operation[Any]) -> Operation[Any]:
    """The same operation, asking for its permissions before it plans anything."""
    handler, action = operation.handler, operation.action
    ask = permitted_on_table if action in _ON_ONE_TABLE else permitted

    def ask_first(context: Context, request: Any) -> Plan:
        return handler(ask(context, action, request), request)

    return Operation(
        operation.name,
        operation.shape,
        ask_first,
        kind=operation.kind,
        resources=operation.resources,
        action=action,
    )
