"""The link that lets callers do only what their policies allow.

It has the call planned by an operation that asks for its permissions first. So they are asked for behind the shape
check and before a table is touched, with the very request and the very state of the catalogue that the plan is made
from, however often it has to be made; a refusal that came from an outdated record is confirmed like any other error.
"""

from collections.abc import Callable
from typing import Any

from hashrange.api.context import Context
from hashrange.api.permissions.guard import coming_from, permitted, permitted_on_table
from hashrange.api.protocol.operation import Operation
from hashrange.api.protocol.plan import Plan
from hashrange.auth.policy.residual import EVERYTHING
from hashrange.chain.executor import Call, Done
from hashrange.chain.links import Runner

Handler = Callable[[Context, Any], Plan]

_ON_ONE_TABLE = frozenset(
    f"dynamodb:{name}" for name in ("GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan")
)


class Authorize:
    """The link; there is none unless identities have permissions (--auth iam)."""

    def __init__(self) -> None:
        self._guarded: dict[Operation[Any], Operation[Any]] = {}  # there are some hundred operations

    def __call__(self, call: Call, done: Done, following: Runner, /) -> None:
        """Hand a call on whose operation asks first."""
        call.operation = self.guarded(call.operation)
        call.context = coming_from(call.context, call.arrival())
        following(call, done)

    def guarded(self, operation: Operation[Any]) -> Operation[Any]:
        """The same operation, asking for its permissions before it plans anything."""
        asking = self._guarded.get(operation)
        if asking is None:
            asking = self._guarded[operation] = _guarded(operation)
        return asking


def _guarded(operation: Operation[Any]) -> Operation[Any]:
    on_one_table = operation.action in _ON_ONE_TABLE
    return Operation(
        operation.name,
        operation.shape,
        _asking_on_table(operation) if on_one_table else _asking(operation),
        kind=operation.kind,
        resources=operation.resources,
        action=operation.action,
    )


def _asking(operation: Operation[Any]) -> Handler:
    handler, action = operation.handler, operation.action

    def ask_first(context: Context, request: Any) -> Plan:
        return handler(permitted(context, action, request), request)

    return ask_first


def _asking_on_table(operation: Operation[Any]) -> Handler:
    """As most requests are, and most policies: nothing about the request is left to be asked."""
    handler, action = operation.handler, operation.action
    has_index = "index_name" in operation.shape.request.__struct_fields__

    def ask_first(context: Context, request: Any) -> Plan:
        name = request.table_name
        known = context.residuals.get((action, name, request.index_name if has_index else None))
        if (
            known is not None
            and known[2] is EVERYTHING
            and known[0] is context.principal
            and known[1] is context.catalogue.find(context.account_id, context.region, name)
        ):
            return handler(context, request)
        return handler(permitted_on_table(context, action, request), request)

    return ask_first
