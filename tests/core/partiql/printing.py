"""Writes statements back as text, with every parenthesis there is, and makes random ones."""

from typing import Any, assert_never

from hypothesis import strategies as st

from hashrange.core.expressions import resolved
from hashrange.core.expressions.resolved import Literal, Parameter, Path, Size
from hashrange.core.partiql import syntax
from hashrange.core.partiql.keywords import KEYWORDS


def statement_text(statement: syntax.Statement) -> str:
    match statement:
        case syntax.Select(target, columns, where, order):
            shown = ", ".join(path_text(column.path) for column in columns) or "*"
            terms = ", ".join(
                f"{name_text(term.attribute)} {'DESC' if term.descending else 'ASC'}" for term in order
            )
            return (
                f"SELECT {shown} FROM {_target(target)}{_where(where)}{' ORDER BY ' + terms if terms else ''}"
            )
        case syntax.Insert(target, tuple(fields)):
            shown = ", ".join(f"{_text(name)}: {operand_text(value)}" for name, value in fields)
            return f"INSERT INTO {_target(target)} VALUE {{{shown}}}"
        case syntax.Update(target, actions, where, returning):
            shown = " ".join(map(_action_text, actions))
            return f"UPDATE {_target(target)} {shown}{_where(where)}{_returning(returning)}"
        case syntax.Delete(target, where, returning):
            return f"DELETE FROM {_target(target)}{_where(where)}{_returning(returning)}"
        case syntax.Exists(select):
            return f"EXISTS({statement_text(select)})"
        case _:
            raise AssertionError(statement)


def _target(target: syntax.Target) -> str:
    return name_text(target.table) + ("" if target.index is None else f".{name_text(target.index)}")


def _where(where: resolved.Node | None) -> str:
    return "" if where is None else f" WHERE {condition_text(where)}"


def _returning(returning: str | None) -> str:
    return "" if returning is None else f" RETURNING {returning} *"


def _action_text(action: resolved.Action) -> str:
    path = path_text(action.path)
    match action:
        case resolved.Set(_, value):
            return f"SET {path} = {_assigned_text(value)}"
        case resolved.Remove():
            return f"REMOVE {path}"
        case resolved.Add(_, value):
            return f"SET {path} = set_add({path}, {operand_text(value)})"
        case resolved.Delete(_, value):
            return f"SET {path} = set_delete({path}, {operand_text(value)})"
        case _:
            assert_never(action)


def _assigned_text(assigned: resolved.Assigned) -> str:
    match assigned:
        case resolved.Arithmetic(operator, left, right):
            return f"({_assigned_text(left)} {operator} {_assigned_text(right)})"
        case resolved.IfNotExists(path, default):
            return f"if_not_exists({path_text(path)}, {_assigned_text(default)})"
        case resolved.ListAppend(left, right):
            return f"list_append({_assigned_text(left)}, {_assigned_text(right)})"
        case _:
            return operand_text(assigned)


def condition_text(node: resolved.Node) -> str:
    match node:
        case resolved.And(conditions):
            return f"({' AND '.join(map(condition_text, conditions))})"
        case resolved.Or(conditions):
            return f"({' OR '.join(map(condition_text, conditions))})"
        case resolved.Not(inner):
            return f"NOT {condition_text(inner)}"
        case resolved.Equivalent(inner, (other,)):
            return f"({condition_text(inner)}) = {_term_text(other)}"
        case resolved.Equivalent(inner, others):
            return f"({condition_text(inner)}) IN [{', '.join(map(_term_text, others))}]"
        case resolved.Compare(comparator, left, right):
            return f"{operand_text(left)} {comparator} {operand_text(right)}"
        case resolved.Between(operand, lower, upper):
            return f"{operand_text(operand)} BETWEEN {operand_text(lower)} AND {operand_text(upper)}"
        case resolved.In(operand, candidates):
            return f"{operand_text(operand)} IN [{', '.join(map(operand_text, candidates))}]"
        case resolved.AttributeExists(path):
            return f"{path_text(path)} IS NOT MISSING"
        case resolved.AttributeNotExists(path):
            return f"{path_text(path)} IS MISSING"
        case resolved.AttributeType(operand, name):
            return f"attribute_type({operand_text(operand)}, {operand_text(name)})"
        case resolved.BeginsWith(operand, prefix):
            return f"begins_with({operand_text(operand)}, {operand_text(prefix)})"
        case resolved.Contains(operand, member):
            return f"contains({operand_text(operand)}, {operand_text(member)})"
        case _:
            assert_never(node)


def _term_text(term: resolved.Node | resolved.Operand) -> str:
    return operand_text(term) if isinstance(term, resolved.Operand) else f"({condition_text(term)})"


def operand_text(operand: resolved.Operand) -> str:
    match operand:
        case Path():
            return path_text(operand)
        case Literal(value):
            return value_text(value)
        case Parameter():
            return "?"
        case Size(inner):
            return f"size({operand_text(inner)})"
        case _:
            assert_never(operand)


def path_text(path: Path) -> str:
    first, *rest = path.parts
    return name_text(str(first)) + "".join(
        f"[{part}]" if isinstance(part, int) else f".{name_text(part)}" for part in rest
    )


def name_text(name: str) -> str:
    plain = name.isascii() and name.isidentifier() and name.upper() not in KEYWORDS
    return name if plain else '"' + name.replace('"', '""') + '"'


def value_text(value: dict[str, Any]) -> str:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return _text(content)
        case "N":
            return str(content)
        case "BOOL":
            return str(content).lower()
        case "NULL":
            return "null"
        case "L":
            return f"[{', '.join(map(value_text, content))}]"
        case "M":
            return f"{{{', '.join(f'{_text(name)}: {value_text(each)}' for name, each in content.items())}}}"
        case "SS":
            return f"<<{', '.join(map(_text, content))}>>"
        case _:
            return f"<<{', '.join(content)}>>"


def _text(content: str) -> str:
    return "'" + content.replace("'", "''") + "'"


_texts = st.text("ab'\" .-/*é\n", max_size=4)
_plain_names = st.sampled_from(["a", "b1", "Zed", "select", "Order", "value", "size"])
_numbers = st.integers(-99, 99)
_letters = st.sets(st.sampled_from("abc"), min_size=1)


# Composite strategies: one made of nested builds would have a name of many kilobytes.
@st.composite
def _names(draw: st.DrawFn) -> str:
    return draw(_plain_names if draw(st.booleans()) else _texts.filter(bool))


@st.composite
def paths(draw: st.DrawFn) -> Path:
    """A document path."""
    parts: list[str | int] = [draw(_names())]
    parts += [
        draw(_names()) if draw(st.booleans()) else draw(st.integers(0, 20))
        for _ in range(draw(st.integers(0, 2)))
    ]
    return Path(tuple(parts))


@st.composite
def _values(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    match draw(st.integers(0, 6 if depth else 4)):
        case 0:
            return {"S": draw(_texts)}
        case 1:
            return {"N": str(draw(_numbers))}
        case 2:
            return {"BOOL": draw(st.booleans())}
        case 3:
            return {"NULL": True}
        case 4:
            return {"SS": sorted(draw(_letters))}
        case 5:
            return {"L": draw(st.lists(_values(depth - 1), max_size=3))}
        case _:
            return {"M": draw(st.dictionaries(_texts.filter(bool), _values(depth - 1), max_size=3))}


@st.composite
def _operands(draw: st.DrawFn) -> resolved.Operand:
    match draw(st.integers(0, 2)):
        case 0:
            return draw(paths())
        case 1:
            return Literal(draw(_values()))
        case _:
            return Size(draw(paths()))


@st.composite
def conditions(draw: st.DrawFn, depth: int = 3) -> resolved.Node:
    """A condition; one that parentheses make of AND inside AND is never read, so it is not made."""
    if depth == 0 or draw(st.integers(0, 2)) == 0:
        return draw(_leaves())
    match draw(st.integers(0, 2)):
        case 0:
            inner = [draw(conditions(depth - 1)) for _ in range(2)]
            return resolved.And(
                tuple(resolved.Not(node) if isinstance(node, resolved.And) else node for node in inner)
            )
        case 1:
            return resolved.Or(tuple(draw(conditions(depth - 1)) for _ in range(2)))
        case _:
            return resolved.Not(draw(conditions(depth - 1)))


@st.composite
def _leaves(draw: st.DrawFn) -> resolved.Node:
    text = Literal({"S": draw(_texts)})
    match draw(st.integers(0, 7)):
        case 0:
            return resolved.Compare(draw(st.sampled_from(["=", "<>"])), draw(_operands()), draw(_operands()))
        case 1:
            return resolved.Compare(draw(st.sampled_from(["<", "<=", ">", ">="])), draw(paths()), text)
        case 2:
            return resolved.In(
                draw(_operands()), tuple(draw(_operands()) for _ in range(draw(st.integers(1, 3))))
            )
        case 3:
            return resolved.Between(draw(paths()), Literal({"S": ""}), text)
        case 4:
            return resolved.AttributeExists(draw(paths()))
        case 5:
            return resolved.AttributeNotExists(draw(paths()))
        case 6:
            return resolved.BeginsWith(draw(paths()), text)
        case _:
            return resolved.Contains(draw(paths()), Literal(draw(_values())))
