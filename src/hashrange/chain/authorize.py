"""The link that lets callers do only what their policies allow.

It has the call planned by an operation that asks for its permissions first. So they are asked for behind the shape
check and before a table is touched, with the very request and the very state of the catalogue that the plan is made
from, however often it has to be made; a refusal that came from an outdated record is confirmed like any other error.
"""

from typing import Any

from hashrange.api.context import Context
from hashrange.api.permissions.guard import coming_from, permitted
from hashrange.api.protocol.operation import Operation
from hashrange.api.protocol.plan import Plan
from hashrange.chain.executor import Call, Done
from hashrange.chain.links import Runner


class Authorize:
    """The link; there is none unless identities have permissions (--auth iam)."""

    def __init__(self) -> None:
        self._guarded: dict[
            int, tuple[Operation[Any], Operation[Any]]
        ] = {}  # there are some hundred operations

    def __call__(self, call: Call, done: Done, following: Runner, /) -> None:
        """Hand a call on whose operation asks first."""
        operation = call.operation
        known = self._guarded.get(id(operation))
        if known is None:
            known = self._guarded[id(operation)] = operation, guarded(operation)
        call.operation = known[1]
        # Now, as long as the request is here.
        call.context = coming_from(call.context, call.origin())
        following(call, done)


def guarded(operation: Operation[Any]) -> Operation[Any]:
    """The same operation, asking for its permissions before it plans anything."""
    handler, action = operation.handler, operation.action

    def ask_first(context: Context, request: Any) -> Plan:
        return handler(permitted(context, action, request), request)

    return Operation(
        operation.name,
        operation.shape,
        ask_first,
        kind=operation.kind,
        resources=operation.resources,
        action=action,
    )
