"""What statements mean to the service; faults are found in its order."""

from typing import assert_never

from hashrange.core.expressions import resolved
from hashrange.core.expressions.document_paths import PathTree
from hashrange.core.partiql import literals, syntax, tree
from hashrange.core.partiql.condition_translation import condition
from hashrange.core.partiql.errors import Untranslatable
from hashrange.core.partiql.translator import Translator
from hashrange.core.partiql.tree import Node
from hashrange.core.partiql.update_translation import actions

ONLY_IN_TRANSACTIONS = "EXISTS can only be used in ExecuteTransaction write requests."
_NOT_A_STRUCT = (
    "Unsupported format in item expression. "
    "Please use struct format {...} to express item values for insert statement. at "
)


def translate(translator: Translator, node: Node) -> syntax.Statement:
    """The statement that an expression is."""
    match node:
        case tree.Select():
            return _select(translator, node)
        case tree.Insert():
            return _insert(translator, node)
        case tree.Change():
            return _update(translator, node)
        case tree.Erasure():
            return _delete(translator, node)
        case tree.Call(_, (tree.Select() as select,)) if node.name == "exists":
            return syntax.Exists(_select(translator, select))
        case tree.Call():
            # To the service any call is an EXISTS here.
            raise translator.fault(ONLY_IN_TRANSACTIONS)
        case _:
            raise translator.fault(f"Unsupported operation: {tree.class_name(node)}")


def _select(translator: Translator, node: tree.Select) -> syntax.Select:
    for clause in node.clauses:
        place = "" if clause.token is None else f" at {clause.token.position}"
        raise translator.fault(f"Unsupported clause: {clause.name}{place}")
    if node.distinct:
        raise translator.fault("Unsupported token in expression: DISTINCT")
    translator.target = _target(translator, node.source)
    if node.single_value:
        raise translator.fault("Select projection doesn't support value or pivot keywords")
    columns = _columns(translator, node.columns)
    where = None if node.where is None else condition(translator, node.where)
    order = tuple(_order_term(translator, term, descending=descending) for term, descending in node.order)
    return syntax.Select(translator.target, columns, where, order)


def _columns(translator: Translator, columns: tuple[tree.Column, ...]) -> tuple[syntax.Column, ...]:
    translated: dict[str, syntax.Column] = {}
    for column in columns:
        if column.node is None:
            return ()
        if column.aliased:
            raise translator.fault("Aliasing is not supported")
        if column.spread:
            raise translator.fault("Changing item's hierarchy while reading isn't supported")
        path = translator.path(column.node)
        name = _column_name(path)
        if name in translated:
            raise translator.fault(f"Duplicate identifiers in select clause: {name}")
        translated[name] = syntax.Column(path, name)
    known = PathTree()
    for path in (column.path for column in translated.values()):
        problem = known.add(path)
        if problem is not None:
            raise translator.fault(problem)
    return tuple(translated.values())


def _column_name(path: resolved.Path) -> str:
    """A column is called by its last name, with the list indexes behind that."""
    last = max(at for at, part in enumerate(path.parts) if isinstance(part, str))
    return str(path.parts[last]) + "".join(f"[{index}]" for index in path.parts[last + 1 :])


def _order_term(translator: Translator, node: Node, *, descending: bool) -> syntax.OrderTerm:
    if not isinstance(node, tree.Name):
        raise translator.fault(
            f"Argument to ORDER BY must be of type VariableReference. Type: {_shown(node)}"
        )
    return syntax.OrderTerm(node.token.text, descending)


def _shown(node: Node) -> str:
    match node:
        case tree.Constant(_, {"S": text}):
            return f'"{text}"'
        case tree.Path() | tree.Placeholder():
            return tree.class_name(node).upper()
        case _:
            return node.token.text


def _target(translator: Translator, source: tree.Source | None) -> syntax.Target:
    """The table, and perhaps the index, that a statement is about."""
    if source is None or source.joined:
        raise translator.fault("Only select from a single table or index is supported.")
    if source.aliased:
        raise translator.fault("Aliasing is not supported")
    if not isinstance(source.node, tree.Name | tree.Path):
        raise translator.fault("Unexpected from source")
    names = translator.path(source.node).parts
    if any(isinstance(name, int) for name in names):
        raise translator.fault("Invalid list expression in source.")
    if len(names) > 2:
        raise translator.fault("A path may contain at most 2 components in the FROM clause")
    return syntax.Target(*map(str, names))


def _written_target(translator: Translator, source: tree.Source | None) -> syntax.Target:
    """The target of a write, which the service looks at last of all."""
    try:
        target = _target(translator, source)
    except Untranslatable as fault:
        translator.refuse_later(fault.message)
        return syntax.Target("")
    if target.index is not None:
        translator.refuse_later("This operation is not supported on an index")
    return target


def _insert(translator: Translator, node: tree.Insert) -> syntax.Insert:
    match node.clause:
        case "AT":
            raise translator.fault(f"AT is not supported in insert statements. at {node.token.position}")
        case "ON CONFLICT":
            raise translator.fault("Unsupported clause: ON CONFLICT")
        case "RETURNING":
            raise translator.fault("RETURNING is not supported in INSERT")
        case "":
            pass
        case _:
            assert_never(node.clause)
    if node.value is None:
        raise translator.fault("Unsupported operation: Insert")
    if not isinstance(node.value, tree.Fields):
        raise translator.fault(_NOT_A_STRUCT + node.value.token.position)
    item = tuple(
        (name, _attribute(translator, member))
        for name, member in literals.fields(translator, node.value, literals.ROOT)
    )
    target = _written_target(translator, tree.Source(node.target))
    if target.index is not None:
        translator.checks.pop()
        translator.refuse_later(
            "FROM clause may only contain a single table name in data manipulation statements at "
            f"{node.target.token.position}"
        )
    return syntax.Insert(target, item)


def _attribute(translator: Translator, node: Node) -> resolved.Known:
    if isinstance(node, tree.Placeholder):
        return translator.parameter(node)
    return literals.literal(translator, node)


def _update(translator: Translator, node: tree.Change) -> syntax.Update:
    where = None if node.where is None else condition(translator, node.where)
    updates = actions(translator, node.actions)
    target = _written_target(translator, node.source)
    return syntax.Update(target, updates, where, _returning(translator, node.returning))


def _delete(translator: Translator, node: tree.Erasure) -> syntax.Delete:
    where = None if node.where is None else condition(translator, node.where)
    target = _written_target(translator, node.source)
    returning = _returning(translator, node.returning)
    if returning not in (None, "ALL OLD"):
        translator.refuse_later(
            f"Invalid returning clause: RETURNING {returning} *. "
            "Only RETURNING ALL OLD * is allowed in DELETE statements."
        )
    return syntax.Delete(target, where, returning)


def _returning(translator: Translator, elements: tuple[tree.Returned, ...]) -> syntax.Returning | None:
    if not elements:
        return None
    if len(elements) > 1:
        translator.refuse_later("Invalid syntax with multiple returning elements in RETURNING clause")
    elif not elements[0].everything:
        translator.refuse_later("Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause")
    return elements[0].what
