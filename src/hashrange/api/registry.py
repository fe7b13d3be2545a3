"""The sorted list of operations, and how one is run: at once where it is plain, else check fast and explain slowly."""

from collections.abc import Callable
from typing import Any

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.plan import Plan
from hashrange.api.shapes import Shape
from hashrange.core.errors import Refused
from hashrange.core.values import Malformed

Handler = Callable[[Context, dict[str, Any]], Plan]
# Plans what is surely right, just as the handler would; None for all else. It never raises.
Quick = Callable[[Context, dict[str, Any]], Plan | None]


class Operation:
    """A handler with its request's shape and, if there is one, the quick way for plain requests."""

    __slots__ = ("handler", "name", "quick", "shape")

    def __init__(self, name: str, handler: Handler, shape: Shape, quick: Quick | None = None) -> None:
        self.name = name
        self.handler = handler
        self.shape = shape
        self.quick = quick

    def plan(self, context: Context, request: dict[str, Any]) -> Plan:
        """Check the request's shape, then let the handler say what is to be done."""
        if self.quick is not None:
            plan = self.quick(context, request)
            if plan is not None:
                return plan
        try:
            return self._run(context, request)
        except Refused as refusal:
            self.shape.check_types(request)
            raise errors.validation(self.shape.worded(refusal)) from None

    def _run(self, context: Context, request: dict[str, Any]) -> Plan:
        try:
            return self.handler(context, self.shape.accept(request))
        except Malformed:
            # Either this says what is wrong, or it reads what only looked wrong: nulls, and words for booleans.
            return self.handler(context, self.shape.explain(request))


operations: dict[str, Operation] = {}


def operation(name: str, shape: Shape, quick: Quick | None = None) -> Callable[[Handler], Handler]:
    """Register a handler under AWS's own name."""

    def register(handler: Handler) -> Handler:
        operations[name] = Operation(name, handler, shape, quick)
        return handler

    return register


def find(name: str) -> Operation:
    """The operation of this name, or AWS's error for an unknown one."""
    try:
        return operations[name]
    except KeyError:
        raise ApiError("UnknownOperationException", None) from None
