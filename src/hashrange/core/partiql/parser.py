"""The grammar of statements."""

from hashrange.core.errors import Invalid
from hashrange.core.expressions.resolved import Known, Node, Path
from hashrange.core.partiql import literals, syntax
from hashrange.core.partiql.cursor import SIMPLE_PATH, Cursor
from hashrange.core.partiql.errors import NotWellFormed
from hashrange.core.partiql.lexer import Kind
from hashrange.core.partiql.update_grammar import actions
from hashrange.core.partiql.where_grammar import condition

_RETURNING: dict[tuple[str, str], syntax.Returning] = {
    ("ALL", "OLD"): "ALL OLD",
    ("ALL", "NEW"): "ALL NEW",
    ("MODIFIED", "OLD"): "MODIFIED OLD",
    ("MODIFIED", "NEW"): "MODIFIED NEW",
}
# Some of the words that the service's parser reserves; here they only decide what an error says.
_OTHER_KEYWORDS = frozenset(
    {
        *("ALTER", "CREATE", "DATE", "DROP", "GRANT", "GROUP", "INDEX", "INTO", "KEY", "LEVEL", "LIMIT"),
        *("ORDER", "POSITION", "PRIMARY", "REVOKE", "SCHEMA", "SIZE", "TABLE", "TIME", "TIMESTAMP"),
        *("UNIQUE", "USER", "VALUE", "VALUES", "VIEW", "WHERE", "WITH"),
    }
)


def statement(cursor: Cursor) -> syntax.Statement:
    """The one statement of a text; nothing but a semicolon may follow it."""
    parsed = _statement(cursor)
    terminated = cursor.skip_symbol(";")
    if cursor.token.kind is not Kind.END:
        raise NotWellFormed(
            "Unexpected token after semicolon. (Only one query is allowed.)"
            if terminated
            else "Unexpected token after expression"
        )
    return parsed


def _statement(cursor: Cursor) -> syntax.Statement:
    if cursor.call("EXISTS"):
        select = _select(cursor)
        cursor.expect_symbol(")")
        return syntax.Exists(select)
    match cursor.token.word:
        case "SELECT":
            return _select(cursor)
        case "INSERT":
            return _insert(cursor)
        case "UPDATE":
            return _update(cursor)
        case "FROM":
            return _update_from(cursor)
        case "DELETE":
            return _delete(cursor)
        case _:
            raise _no_statement(cursor)


def _no_statement(cursor: Cursor) -> NotWellFormed:
    """The service's parser takes any expression for a statement, and so complains only about what follows it."""
    if cursor.token.kind in (Kind.SYMBOL, Kind.END):
        return cursor.unexpected()
    first, second = cursor.advance(), cursor.token
    # SLECT * FROM t is a product with FROM t, which must go on with SET.
    if second.text == "*" or second.kind is Kind.END:
        return NotWellFormed("Expected data manipulation")
    return NotWellFormed(
        "Unexpected keyword" if first.word in _OTHER_KEYWORDS else "Unexpected token after expression"
    )


def _select(cursor: Cursor) -> syntax.Select:
    if not cursor.skip_word("SELECT"):
        raise cursor.unexpected()
    columns = _columns(cursor)
    cursor.expect_word("FROM", "Expected FROM after SELECT list")
    return syntax.Select(_target(cursor), columns, _where(cursor), _order(cursor))


def _columns(cursor: Cursor) -> tuple[syntax.Column, ...]:
    """The columns; an asterisk means all of them and excludes any other."""
    columns: list[syntax.Column] = []
    stars = 0
    while True:
        if cursor.skip_symbol("*"):
            stars += 1
        else:
            columns.append(_column(cursor))
        if not cursor.skip_symbol(","):
            break
    if stars and (columns or stars > 1):
        raise NotWellFormed(
            "Other expressions may not be present in the select list when '*' is used without dot notation."
        )
    return tuple(columns)


def _column(cursor: Cursor) -> syntax.Column:
    token = cursor.token
    if token.kind is Kind.WORD and cursor.following.text == "(":
        # The service knows no functions here, COUNT(*) included.
        raise Invalid(f"Unexpected path component at {token.position}")
    path = cursor.path()
    return syntax.Column(path, _column_name(path))


def _column_name(path: Path) -> str:
    """A column is called by its last name, with the list indexes behind that."""
    last = max(at for at, part in enumerate(path.parts) if isinstance(part, str))
    return str(path.parts[last]) + "".join(f"[{index}]" for index in path.parts[last + 1 :])


def _target(cursor: Cursor, missing: str | None = None) -> syntax.Target:
    names = [cursor.name(missing)]
    while cursor.skip_symbol("."):
        names.append(cursor.name("Invalid path dot component"))
    if len(names) > 2:
        raise Invalid("A path may contain at most 2 components in the FROM clause")
    return syntax.Target(*names)


def _where(cursor: Cursor) -> Node | None:
    return condition(cursor) if cursor.skip_word("WHERE") else None


def _order(cursor: Cursor) -> tuple[syntax.OrderTerm, ...]:
    if not cursor.skip_word("ORDER"):
        return ()
    cursor.expect_word("BY", "Expected BY")
    terms = [_order_term(cursor)]
    while cursor.skip_symbol(","):
        terms.append(_order_term(cursor))
    return tuple(terms)


def _order_term(cursor: Cursor) -> syntax.OrderTerm:
    name = cursor.name()
    descending = cursor.skip_word("DESC")
    if not descending:
        cursor.skip_word("ASC")
    return syntax.OrderTerm(name, descending)


def _insert(cursor: Cursor) -> syntax.Insert:
    cursor.advance()
    cursor.expect_word("INTO", "Unexpected keyword")
    token = cursor.token
    target = _target(cursor, SIMPLE_PATH)
    if not cursor.skip_word("VALUE"):
        raise _no_value(cursor)
    if target.index is not None:
        raise Invalid(
            "FROM clause may only contain a single table name in data manipulation statements at "
            f"{token.position}"
        )
    if cursor.at_symbol("?"):
        return syntax.Insert(target, cursor.parameter())
    item: dict[str, Known] = {}
    for name in literals.fields(cursor):
        if not cursor.skip_word("MISSING"):
            item[name] = literals.value(cursor)
    return syntax.Insert(target, tuple(item.items()))


def _no_value(cursor: Cursor) -> NotWellFormed:
    """People try INSERT INTO t (a, b) VALUES (…): the service's parser takes (a, b) for what is inserted."""
    if not cursor.skip_symbol("("):
        return cursor.unexpected()
    while not cursor.skip_symbol(")"):
        if cursor.token.word in _OTHER_KEYWORDS:
            return NotWellFormed("Unexpected keyword")
        if cursor.advance().kind is Kind.END:
            return NotWellFormed("Expected RIGHT_PAREN")
    return NotWellFormed("Unexpected token after expression")


def _update(cursor: Cursor) -> syntax.Update:
    cursor.advance()
    target = _target(cursor, SIMPLE_PATH)
    updates = actions(cursor)
    where = _where(cursor)
    returning = _returning(cursor)
    _refuse_index(target)
    return syntax.Update(target, updates, where, returning)


def _update_from(cursor: Cursor) -> syntax.Update:
    """FROM t WHERE … SET …: an UPDATE in the other word order."""
    cursor.advance()
    target = _target(cursor)
    where = _where(cursor)
    updates = actions(cursor)
    returning = _returning(cursor)
    _refuse_index(target)
    return syntax.Update(target, updates, where, returning)


def _delete(cursor: Cursor) -> syntax.Delete:
    cursor.advance()
    cursor.expect_word("FROM", "Expected FROM after DELETE")
    target = _target(cursor, SIMPLE_PATH)
    where = _where(cursor)
    returning = _returning(cursor)
    if returning not in (None, "ALL OLD"):
        raise Invalid(
            f"Invalid returning clause: RETURNING {returning} *. "
            "Only RETURNING ALL OLD * is allowed in DELETE statements."
        )
    _refuse_index(target)
    return syntax.Delete(target, where, returning)


def _refuse_index(target: syntax.Target) -> None:
    if target.index is not None:
        raise Invalid("This operation is not supported on an index")


def _returning(cursor: Cursor) -> syntax.Returning | None:
    if not cursor.skip_word("RETURNING"):
        return None
    returning = _RETURNING.get((cursor.token.word, cursor.following.word))
    if returning is None:
        raise NotWellFormed("Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element.")
    cursor.advance()
    cursor.advance()
    if not cursor.skip_symbol("*"):
        raise NotWellFormed("Unsupported syntax in RETURNING columns.")
    return returning
