"""Steps of write patterns, and the assignments of updates."""

from collections import Counter
from collections.abc import Callable
from typing import Literal

from hashrange.modeling.conditions import Operands, parse_condition
from hashrange.modeling.model import Assignment, Name, WriteStep
from hashrange.modeling.problems import Problems
from hashrange.modeling.reading import vocabulary
from hashrange.modeling.reading.members import Members, read
from hashrange.modeling.reading.nodes import Node
from hashrange.modeling.texts import TextInvalid

STEP_ITEMS_MAX = 10_000  # what a transaction or a batch may have is for `check` to say
ASSIGNMENTS_MAX = 100
Action = Literal["put", "update", "delete", "check"]
_CHANGES = ("set", "add", "subtract", "append", "remove")
ACTIONS: tuple[Action, ...] = ("put", "update", "delete", "check")


def read_step(node: Node, what: str, problems: Problems) -> WriteStep | None:
    """One step: an action with the entity, what it changes, and when."""
    members = Members(node, what, vocabulary.STEP, problems)
    actions = [action for action in ACTIONS if action in members]
    if len(actions) != 1:
        remedy = "write one of put, update, delete and check with an entity"
        problems.add(members.place, f"{what} does {'nothing' if not actions else 'several things'}", remedy)
        return None
    action = actions[0]
    assignments = _assignments(members)
    if assignments and action != "update":
        problems.add(members.place, f"{what} changes attributes of a {action}", "only an update does")
    if action == "update" and not any(name in members for name in _CHANGES):
        problems.add(members.place, f"{what} updates nothing", "write set: status = ?status")
    condition = members.read("if", parse_condition, None)
    if action == "check" and condition is None and members.node("if") is None:
        problems.add(members.place, f"{what} checks nothing", "write if: status = 'OPEN'")
    return WriteStep(
        action,
        members.text(action),
        condition,
        assignments,
        members.integer("count", 1, 1, STEP_ITEMS_MAX),
        members.flag("reads_first"),
        members.place,
    )


def _assignments(members: Members) -> tuple[Assignment, ...]:
    readers: dict[str, Callable[[str], tuple[Assignment, ...]]] = {
        "set": set_assignments,
        "add": lambda text: _pairs(text, "add"),
        "subtract": lambda text: _pairs(text, "subtract"),
        "append": lambda text: _pairs(text, "append"),
        "remove": _removals,
    }
    nothing: tuple[Assignment, ...] = ()
    assignments = tuple(
        assignment
        for name, reader in readers.items()
        for node in members.names(name)
        for assignment in read(node, reader, nothing, members.problems)
    )
    if len(assignments) > ASSIGNMENTS_MAX:
        members.problems.add(members.place, f"more than {ASSIGNMENTS_MAX} changes in one update")
    times = Counter(assignment.attribute for assignment in assignments)
    for name, count in times.items():
        if count > 1:
            members.problems.add(
                members.place, f"`{name}` is changed twice", "DynamoDB refuses overlapping paths"
            )
    return assignments[:ASSIGNMENTS_MAX]


def set_assignments(text: str) -> tuple[Assignment, ...]:
    """`status = ?status, stock = stock - ?n`."""
    return _several(text, _set)


def _several(text: str, one: Callable[[Operands], Assignment]) -> tuple[Assignment, ...]:
    words = Operands(text)
    assignments = [one(words)]
    while words.peek().is_symbol(","):
        words.take()
        assignments.append(one(words))
    if words.peek().kind != "end":
        raise words.unexpected("a comma or the end")
    return tuple(assignments)


def _set(words: Operands) -> Assignment:
    name = words.name()
    words.expect("=")
    start = words.peek().offset
    operand = words.operand()
    token = words.peek()
    if not (token.is_symbol("+") or token.is_symbol("-") or _is_negative(token.kind, token.text)):
        return Assignment("set", name, operand)
    if operand != Name(name):
        raise TextInvalid(
            f"`{name}` becomes a sum of something else", f"write {name} = {name} + ?amount", offset=start
        )
    if token.kind == "symbol":
        words.take()
    amount = words.operand()
    if token.kind == "number" and isinstance(amount, int | float):
        amount = -amount  # `stock -1`: the sign was taken for the number's
    return Assignment("add" if token.is_symbol("+") else "subtract", name, amount)


def _is_negative(kind: str, text: str) -> bool:
    return kind == "number" and text.startswith("-")


def _pairs(text: str, action: Literal["add", "subtract", "append"]) -> tuple[Assignment, ...]:
    return _several(text, lambda words: Assignment(action, words.name(), words.operand()))


def _removals(text: str) -> tuple[Assignment, ...]:
    return _several(text, lambda words: Assignment("remove", words.name()))
