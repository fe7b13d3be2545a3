"""Writes parse trees back as text, and makes random ones."""

from typing import assert_never

from hypothesis import strategies as st

from hashrange.core.expressions import syntax


def operand_text(operand: syntax.Operand) -> str:
    match operand:
        case syntax.PathRef(parts):
            first, *rest = parts
            return f"{first}" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest)
        case syntax.ValueRef(name):
            return name
        case syntax.Call(function, arguments):
            return f"{function}({', '.join(map(operand_text, arguments))})"
        case _:
            assert_never(operand)


def condition_text(condition: syntax.ConditionSyntax) -> str:
    match condition:
        case syntax.Junction(connective, conditions):
            return f" {connective} ".join(map(_grouped, conditions))
        case syntax.Negation(inner):
            return f"NOT {_grouped(inner)}"
        case syntax.Comparison(comparator, left, right):
            return f"{operand_text(left)} {comparator} {operand_text(right)}"
        case syntax.Range(operand, lower, upper):
            return f"{operand_text(operand)} BETWEEN {operand_text(lower)} AND {operand_text(upper)}"
        case syntax.Membership(operand, candidates):
            return f"{operand_text(operand)} IN ({', '.join(map(operand_text, candidates))})"
        case syntax.Call():
            return operand_text(condition)
        case _:
            assert_never(condition)


def _grouped(condition: syntax.ConditionSyntax) -> str:
    text = condition_text(condition)
    return f"({text})" if isinstance(condition, syntax.Junction) else text


def update_text(actions: list[syntax.ActionSyntax]) -> str:
    """Actions grouped in sections; every section stands once."""
    sections: dict[str, list[str]] = {}
    for action in actions:
        sections.setdefault(action.section, []).append(_action_text(action))
    return " ".join(f"{name} {', '.join(texts)}" for name, texts in sections.items())


def _action_text(action: syntax.ActionSyntax) -> str:
    target = operand_text(action.target)
    match action.operand:
        case None:
            return target
        case syntax.Sum(operator, left, right):
            return f"{target} = {operand_text(left)} {operator} {operand_text(right)}"
        case operand:
            return f"{target}{' = ' if action.section == 'SET' else ' '}{operand_text(operand)}"


_names = st.sampled_from(["a", "b1", "c_d", "Zed9", "sizes", "an", "#a", "#0", "#_x"])
paths = st.builds(
    lambda first, rest: syntax.PathRef((first, *rest)),
    _names,
    st.lists(st.one_of(_names, st.integers(0, 20)), max_size=3),
)
value_refs = st.builds(syntax.ValueRef, st.sampled_from([":a", ":0", ":_", ":AND"]))
_simple = st.one_of(paths, value_refs)
operands = st.one_of(_simple, st.builds(lambda operand: syntax.Call("size", (operand,)), _simple))
_functions = st.one_of(
    st.builds(
        lambda name, path: syntax.Call(name, (path,)),
        st.sampled_from(["attribute_exists", "attribute_not_exists"]),
        paths,
    ),
    st.builds(
        lambda name, left, right: syntax.Call(name, (left, right)),
        st.sampled_from(["attribute_type", "begins_with", "contains"]),
        operands,
        operands,
    ),
)
_predicates = st.one_of(
    st.builds(syntax.Comparison, st.sampled_from(["=", "<>", "<", "<=", ">", ">="]), operands, operands),
    st.builds(syntax.Range, operands, operands, operands),
    st.builds(syntax.Membership, operands, st.lists(operands, min_size=1, max_size=3).map(tuple)),
    _functions,
)
conditions = st.recursive(
    _predicates,
    lambda inner: st.one_of(
        st.builds(syntax.Negation, inner),
        st.builds(
            syntax.Junction,
            st.sampled_from(["AND", "OR"]),
            st.lists(inner, min_size=2, max_size=3).map(tuple),
        ),
    ),
    max_leaves=8,
)
_assigned = st.one_of(
    _simple,
    st.builds(lambda path, other: syntax.Call("if_not_exists", (path, other)), paths, _simple),
)
_right_sides = st.one_of(
    _assigned,
    st.builds(lambda left, right: syntax.Call("list_append", (left, right)), _assigned, _assigned),
    st.builds(syntax.Sum, st.sampled_from(["+", "-"]), _assigned, _assigned),
)
actions = st.one_of(
    st.builds(lambda path, value: syntax.ActionSyntax("SET", path, value), paths, _right_sides),
    st.builds(lambda path: syntax.ActionSyntax("REMOVE", path, None), paths),
    st.builds(syntax.ActionSyntax, st.sampled_from(["ADD", "DELETE"]), paths, value_refs),
)
