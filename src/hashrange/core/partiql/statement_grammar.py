"""The grammar of statements."""

from hashrange.core.partiql import tree
from hashrange.core.partiql.cursor import Cursor
from hashrange.core.partiql.errors import NotWellFormed
from hashrange.core.partiql.expression_grammar import CLAUSE_RANK, ExpressionGrammar
from hashrange.core.partiql.lexer import Kind
from hashrange.core.partiql.syntax import Returning
from hashrange.core.partiql.tree import Node

_RETURNING: dict[tuple[str, str], Returning] = {
    ("ALL", "OLD"): "ALL OLD",
    ("ALL", "NEW"): "ALL NEW",
    ("MODIFIED", "OLD"): "MODIFIED OLD",
    ("MODIFIED", "NEW"): "MODIFIED NEW",
}
_JOIN_WORDS = ("INNER", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS")


def statement(text: str) -> tuple[Node, int]:
    """The one statement of a text, and how many parameters it has; nothing but a semicolon may follow it."""
    cursor = Cursor(text)
    parsed = _grammar.expression(cursor)
    terminated = cursor.skip(";")
    if cursor.token.kind is not Kind.END:
        raise NotWellFormed(
            "Unexpected token after semicolon. (Only one query is allowed.)"
            if terminated
            else "Unexpected token after expression"
        )
    return parsed, cursor.parameters


def _select(cursor: Cursor) -> tree.Select:
    token = cursor.advance()
    distinct = cursor.skip("DISTINCT")
    if not distinct:
        cursor.skip("ALL")
    single_value = cursor.skip("VALUE")
    columns = (tree.Column(_grammar.expression(cursor)),) if single_value else _columns(cursor)
    cursor.expect_word("FROM", "Expected FROM after SELECT list")
    source = _source(cursor, CLAUSE_RANK)
    where = _clause(cursor, "WHERE")
    order = _order(cursor)
    clauses = _unsupported_clauses(cursor)
    return tree.Select(token, columns, source, where, order, clauses, distinct, single_value)


def _columns(cursor: Cursor) -> tuple[tree.Column, ...]:
    """The columns; an asterisk means all of them and excludes any other."""
    columns = [_column(cursor)]
    while cursor.skip(","):
        columns.append(_column(cursor))
    if len(columns) > 1 and any(column.node is None for column in columns):
        raise NotWellFormed(
            "Other expressions may not be present in the select list when '*' is used without dot notation."
        )
    return tuple(columns)


def _column(cursor: Cursor) -> tree.Column:
    if cursor.skip("*"):
        return tree.Column(None)
    node = _grammar.expression(cursor)
    spread = False
    if isinstance(node, tree.Path):
        *before, last = node.steps
        spread = last.key is None and last.dotted
        if any(step.key is None for step in before) or (last.key is None and not spread):
            raise NotWellFormed("Invalid use of * in select list")
    return tree.Column(node, _alias(cursor, "AS"), spread)


def _alias(cursor: Cursor, *words: str) -> bool:
    """Step over an alias, if there is one; only AS may be left out."""
    aliased = False
    for word in words:
        if cursor.skip(word):
            if not cursor.at_name():
                raise NotWellFormed(f"Expected identifier for {word}-alias")
        elif word != "AS" or not cursor.at_name():
            continue
        cursor.advance()
        aliased = True
    return aliased


def _source(cursor: Cursor, floor: int = 0) -> tree.Source:
    node = _grammar.expression(cursor, floor)
    aliased = _alias(cursor, "AS", "AT", "BY")
    joined = False
    while _skip_join(cursor):
        joined = True
        _grammar.expression(cursor, floor)
        _alias(cursor, "AS", "AT", "BY")
        if cursor.skip("ON"):
            _grammar.expression(cursor, floor)
    return tree.Source(node, aliased, joined)


def _skip_join(cursor: Cursor) -> bool:
    if cursor.skip(","):
        return True
    if not cursor.at("JOIN", *_JOIN_WORDS):
        return False
    while cursor.skip(*_JOIN_WORDS):
        pass
    return cursor.skip("JOIN")


def _clause(cursor: Cursor, word: str) -> Node | None:
    return _grammar.expression(cursor, CLAUSE_RANK) if cursor.skip(word) else None


def _order(cursor: Cursor) -> tuple[tuple[Node, bool], ...]:
    if not cursor.skip("ORDER"):
        return ()
    cursor.expect_word("BY", "Expected BY")
    terms = [_order_term(cursor)]
    while cursor.skip(","):
        terms.append(_order_term(cursor))
    return tuple(terms)


def _order_term(cursor: Cursor) -> tuple[Node, bool]:
    node = _grammar.expression(cursor, CLAUSE_RANK)
    descending = cursor.skip("DESC")
    if not descending:
        cursor.skip("ASC")
    return node, descending


def _unsupported_clauses(cursor: Cursor) -> tuple[tree.Clause, ...]:
    """GROUP BY, HAVING and LIMIT: well formed, but not for this service."""
    clauses = []
    if cursor.skip("GROUP"):
        cursor.skip("PARTIAL")
        cursor.expect_word("BY", "Expected BY")
        _grammar.expression(cursor, CLAUSE_RANK)
        _alias(cursor, "AS")
        while cursor.skip(","):
            _grammar.expression(cursor, CLAUSE_RANK)
            _alias(cursor, "AS")
        clauses.append(tree.Clause("GROUP BY"))
    for name in ("HAVING", "LIMIT"):
        node = _clause(cursor, name)
        if node is not None:
            clauses.append(tree.Clause(name, node.token))
    return tuple(clauses)


def _insert(cursor: Cursor) -> tree.Insert:
    token = cursor.advance()
    cursor.advance()
    target = _grammar.simple_path(cursor)
    if not cursor.skip("VALUE"):
        _grammar.expression(cursor)
        return tree.Insert(token, target, None)
    value = _grammar.expression(cursor)
    if cursor.skip("AT"):
        _grammar.expression(cursor)
        return tree.Insert(token, target, value, "AT")
    if cursor.at("ON") and cursor.following.word == "CONFLICT":
        _skip_conflict(cursor)
        return tree.Insert(token, target, value, "ON CONFLICT")
    return tree.Insert(token, target, value, "RETURNING" if _returning(cursor) else "")


def _skip_conflict(cursor: Cursor) -> None:
    cursor.advance()
    cursor.advance()
    cursor.expect_word("WHERE", "Expected WHERE")
    _grammar.expression(cursor)
    if not (cursor.skip("DO") and cursor.skip("NOTHING")):
        raise NotWellFormed("Expected DO NOTHING")


def _update(cursor: Cursor) -> tree.Change:
    token = cursor.advance()
    source = _written_source(cursor)
    actions = _actions(cursor)
    where = _clause(cursor, "WHERE")
    return tree.Change(token, source, actions, where, _returning(cursor))


def _update_from(cursor: Cursor) -> tree.Change:
    """FROM t WHERE … SET …: an UPDATE in the other word order."""
    token = cursor.advance()
    source = _source(cursor)
    where = _clause(cursor, "WHERE")
    actions = _actions(cursor)
    return tree.Change(token, source, actions, where, _returning(cursor))


def _bare_actions(cursor: Cursor) -> tree.Change:
    return tree.Change(cursor.token, None, _actions(cursor))


def _written_source(cursor: Cursor) -> tree.Source:
    node = _grammar.simple_path(cursor)
    return tree.Source(node, _alias(cursor, "AS", "AT", "BY"))


def _actions(cursor: Cursor) -> tuple[tree.Action, ...]:
    """All SET and REMOVE clauses, of which there must be at least one."""
    actions: list[tree.Action] = []
    while True:
        if cursor.skip("SET"):
            actions.append(_assignment(cursor))
            while cursor.skip(","):
                actions.append(_assignment(cursor))
        elif cursor.skip("REMOVE"):
            actions.append(tree.Removal(_grammar.simple_path(cursor)))
        elif cursor.at("INSERT") and cursor.following.word == "INTO":
            actions.append(_insert(cursor))
        elif actions:
            return tuple(actions)
        else:
            raise NotWellFormed("Expected data manipulation")


def _assignment(cursor: Cursor) -> tree.Assignment:
    target = _grammar.simple_path(cursor)
    if not cursor.skip("="):
        raise NotWellFormed("Expected '='")
    return tree.Assignment(target, _grammar.expression(cursor))


def _delete(cursor: Cursor) -> tree.Erasure:
    token = cursor.advance()
    cursor.expect_word("FROM", "Expected FROM after DELETE")
    source = _written_source(cursor)
    where = _clause(cursor, "WHERE")
    return tree.Erasure(token, source, where, _returning(cursor))


def _returning(cursor: Cursor) -> tuple[tree.Returned, ...]:
    if not cursor.skip("RETURNING"):
        return ()
    elements = [_returned(cursor)]
    while cursor.skip(","):
        elements.append(_returned(cursor))
    return tuple(elements)


def _returned(cursor: Cursor) -> tree.Returned:
    what = _RETURNING.get((cursor.token.word, cursor.following.word))
    if what is None:
        raise NotWellFormed("Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element.")
    cursor.advance()
    cursor.advance()
    if cursor.skip("*"):
        return tree.Returned(what, everything=True)
    if not isinstance(_grammar.expression(cursor), tree.Name | tree.Path):
        raise NotWellFormed("Unsupported syntax in RETURNING columns.")
    return tree.Returned(what, everything=False)


def _definition(cursor: Cursor) -> tree.Definition:
    """CREATE or DROP of a table or an index, which the service does otherwise."""
    token = cursor.advance()
    what = cursor.token.word
    if what not in ("TABLE", "INDEX"):
        raise NotWellFormed(f"Unexpected token following {token.word}")
    while cursor.advance().kind is not Kind.END and not cursor.at(";"):
        pass
    return tree.Definition(token, f"{token.word.capitalize()}{what.capitalize()}")


_grammar = ExpressionGrammar(
    {
        "SELECT": _select,
        "INSERT": _insert,
        "UPDATE": _update,
        "FROM": _update_from,
        "SET": _bare_actions,
        "REMOVE": _bare_actions,
        "DELETE": _delete,
        "CREATE": _definition,
        "DROP": _definition,
    }
)
