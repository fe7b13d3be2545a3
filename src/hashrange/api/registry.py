"""The sorted list of operations, and the one way to run one: check fast, explain slowly."""

from collections.abc import Callable
from typing import Any

from hashrange.api import errors
from hashrange.api.context import Context
from hashrange.api.errors import ApiError
from hashrange.api.plan import Plan
from hashrange.api.shapes import Shape
from hashrange.core.errors import Invalid
from hashrange.core.values import Malformed

Handler = Callable[[Context, dict[str, Any]], Plan]


class Operation:
    """A handler with its request's shape."""

    __slots__ = ("handler", "name", "shape")

    def __init__(self, name: str, handler: Handler, shape: Shape) -> None:
        self.name = name
        self.handler = handler
        self.shape = shape

    def plan(self, context: Context, request: dict[str, Any]) -> Plan:
        """Check the request's shape, then let the handler say what is to be done."""
        try:
            return self._run(context, request)
        except Invalid as invalid:
            self.shape.check_types(request)
            raise errors.validation(self.shape.worded(invalid)) from None

    def _run(self, context: Context, request: dict[str, Any]) -> Plan:
        try:
            return self.handler(context, self.shape.accept(request))
        except Malformed:
            # Either this says what is wrong, or it reads what only looked wrong: nulls, and words for booleans.
            return self.handler(context, self.shape.explain(request))


operations: dict[str, Operation] = {}


def operation(name: str, shape: Shape) -> Callable[[Handler], Handler]:
    """Register a handler under AWS's own name."""

    def register(handler: Handler) -> Handler:
        operations[name] = Operation(name, handler, shape)
        return handler

    return register


def find(name: str) -> Operation:
    """The operation of this name, or AWS's error for an unknown one."""
    try:
        return operations[name]
    except KeyError:
        raise ApiError("UnknownOperationException", None) from None
