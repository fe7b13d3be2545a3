"""Is a history of one item linearizable: is there a moment for each operation that explains all answers?"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from scaleout.history import Operation


def violations(operations: Iterable[Operation]) -> dict[str, list[Operation]]:
    """The histories, by key, that cannot be explained."""
    by_key: dict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        # Who saw nothing and changed nothing for sure proves nothing.
        if not (operation.kind == "get" and operation.outcome != "done"):
            by_key[operation.key].append(operation)
    return {key: found for key, found in by_key.items() if not is_linearizable(found)}


def is_linearizable(operations: Sequence[Operation]) -> bool:
    """Search for an order, after Wing and Gong, remembering what was tried already (as Lowe does)."""
    ordered = sorted(operations, key=lambda each: each.sent)
    certain = sum(1 << at for at, each in enumerate(ordered) if each.outcome != "unknown")
    tried: set[tuple[int, Any]] = set()
    paths: list[tuple[int, Any]] = [(0, None)]
    while paths:
        done, state = paths.pop()
        if done & certain == certain:
            return True
        if (done, state) in tried:
            continue
        tried.add((done, state))
        paths.extend(_next(ordered, done, state))
    return False


def _next(ordered: Sequence[Operation], done: int, state: Any) -> Iterable[tuple[int, Any]]:
    """Every operation that may come next: none that is not done yet was over before it was sent."""
    waiting = [(at, each) for at, each in enumerate(ordered) if not done >> at & 1]
    first_over = min(each.latest for _, each in waiting)
    for at, each in waiting:
        if each.sent > first_over:
            break
        possible, after = _apply(each, state)
        if possible:
            yield done | 1 << at, after


def _apply(operation: Operation, state: Any) -> tuple[bool, Any]:
    """Whether the answer fits the state, and the state afterwards."""
    match operation.kind:
        case "get":
            return operation.saw == state, state
        case "put":
            return True, operation.wrote
        case "delete":
            return True, None
        case "swap":
            fits = state == operation.expected
            if operation.outcome == "refused":
                return not fits, state
            return fits, operation.wrote
