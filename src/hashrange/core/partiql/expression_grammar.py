"""The grammar of expressions. To PartiQL a condition is an expression like any other, and so is a statement."""

from collections.abc import Callable
from typing import Literal as OneOf

from hashrange.core.partiql import tree
from hashrange.core.partiql.cursor import Cursor
from hashrange.core.partiql.errors import NotWellFormed
from hashrange.core.partiql.keywords import CALLABLE, TYPE_ALIASES, TYPE_ARGUMENTS_MAX
from hashrange.core.partiql.lexer import Kind, Token
from hashrange.core.partiql.tree import Node

StatementGrammar = Callable[[Cursor], Node]

CLAUSE_RANK = 6  # a clause of SELECT ends before UNION and its like
_NOT_RANK = 30
_RANKS = {
    **dict.fromkeys(("UNION", "EXCEPT", "INTERSECT"), 5),
    "OR": 10,
    "AND": 20,
    **dict.fromkeys(("=", "<>", "!=", "IS", "IN"), 40),
    **dict.fromkeys(("<", "<=", ">", ">=", "BETWEEN", "LIKE"), 50),
    **dict.fromkeys(("+", "-", "||"), 60),
    **dict.fromkeys(("*", "/", "%"), 70),
}
_NEGATABLE = ("IN", "BETWEEN", "LIKE")
_OPERATOR_WORDS = frozenset(word for word in _RANKS if word.isalpha())
_OPERATOR_SYMBOLS = frozenset(_RANKS) - _OPERATOR_WORDS - {"*"}
_CONSTANTS: dict[str, dict[str, bool]] = {
    "TRUE": {"BOOL": True},
    "FALSE": {"BOOL": False},
    "NULL": {"NULL": True},
}
_TWO_WORD_TYPES = {("DOUBLE", "PRECISION"): "DOUBLE_PRECISION", ("CHARACTER", "VARYING"): "CHARACTER_VARYING"}
_SEQUENCES: dict[str, OneOf["List", "Bag", "Sexp"]] = {"LIST": "List", "BAG": "Bag", "SEXP": "Sexp"}


class ExpressionGrammar:
    """Reads expressions; what begins with the keyword of a statement is read by that statement's grammar."""

    def __init__(self, statements: dict[str, StatementGrammar]) -> None:
        self._statements = statements | {"CASE": self._case, "CAST": self._cast, "VALUES": self._rows}

    def expression(self, cursor: Cursor, floor: int = 0) -> Node:
        """An expression of operators that bind more tightly than `floor`."""
        cursor.nest()
        left = self._unary(cursor)
        levels = 1
        while True:
            token = cursor.token
            negated = token.word == "NOT" and cursor.following.word in _NEGATABLE
            token = cursor.following if negated else token
            operator = token.word
            rank = _RANKS.get(operator, 0)
            if rank <= floor:
                cursor.unnest(levels)
                return left
            if operator in ("AND", "OR"):
                left = self._joined(cursor, operator, left)
                continue
            if negated:
                cursor.advance()
            cursor.advance()
            left = self._operation(cursor, token, "<>" if operator == "!=" else operator, left)
            left = tree.Operation(token, "NOT", (left,)) if negated else left
            cursor.nest()
            levels += 1

    def _joined(self, cursor: Cursor, operator: str, first: Node) -> tree.Operation:
        """AND or OR between any number of expressions, which do not nest."""
        token = cursor.token
        operands = [first]
        while cursor.skip(operator):
            cursor.expect_right_side()
            operands.append(self.expression(cursor, _RANKS[operator]))
        return tree.Operation(token, operator, tuple(operands))

    def _operation(self, cursor: Cursor, token: Token, operator: str, left: Node) -> Node:
        if operator == "IS":
            negated = cursor.skip("NOT")
            return tree.TypeTest(token, left, self.type_name(cursor), negated)
        if operator == "IN" and cursor.at("(") and cursor.following.word not in ("SELECT", "VALUES"):
            candidates = tree.Sequence(cursor.advance(), "List", self._list(cursor, ")"))
            return tree.Operation(token, "IN", (left, candidates))
        cursor.expect_right_side()
        right = self.expression(cursor, _RANKS[operator])
        operands: tuple[Node, ...] = (left, right)
        if operator == "BETWEEN":
            cursor.expect_word("AND", "Expected AND keyword")
            if cursor.token.kind is Kind.END:
                raise NotWellFormed("Expected expression after AND")
            operands = (left, right, self.expression(cursor, _RANKS[operator]))
        elif operator == "LIKE" and cursor.skip("ESCAPE"):
            self.expression(cursor, _RANKS[operator])
        return tree.Operation(token, operator, operands)

    def type_name(self, cursor: Cursor) -> str:
        """A type, by the name that the parser has for it."""
        pair = _TWO_WORD_TYPES.get((cursor.token.word, cursor.following.word))
        name = pair or TYPE_ALIASES.get(cursor.token.word, cursor.token.word)
        arguments_max = TYPE_ARGUMENTS_MAX.get(name)
        if arguments_max is None:
            raise NotWellFormed("Expected type name")
        cursor.advance()
        if pair:
            cursor.advance()
        if cursor.skip("("):
            arguments = self._list(cursor, ")")
            if len(arguments) > arguments_max:
                raise NotWellFormed(f"CAST for {name.lower()} must have arity of 0..{arguments_max}")
            if any(not _is_whole_number(argument) for argument in arguments):
                raise NotWellFormed("Type parameter must be an unsigned integer literal")
        return name

    def _unary(self, cursor: Cursor) -> Node:
        signs = []
        while cursor.token.word in ("+", "-"):
            signs.append(cursor.advance())
        if cursor.at("NOT"):
            token = cursor.advance()
            node: Node = tree.Operation(token, "NOT", (self.expression(cursor, _NOT_RANK),))
        else:
            node = self._steps(cursor, self._term(cursor))
        for sign in reversed(signs):
            node = _signed(sign, node)
        return node

    def _steps(self, cursor: Cursor, root: Node) -> Node:
        steps = []
        while cursor.at(".", "["):
            if cursor.advance().text == ".":
                steps.append(_dotted(cursor))
            elif cursor.at("*"):
                steps.append(tree.Step(cursor.advance(), None))
                cursor.expect_symbol("]")
            else:
                steps.append(tree.Step(cursor.token, self.expression(cursor)))
                cursor.expect_symbol("]")
        return tree.Path(root, tuple(steps)) if steps else root

    def simple_path(self, cursor: Cursor) -> Node:
        """The path that a statement writes to: names and literals only."""
        if not cursor.at_name():
            raise NotWellFormed("Expected identifier for simple path")
        root = tree.Name(cursor.advance())
        steps = []
        while cursor.at(".", "["):
            if cursor.advance().text == ".":
                steps.append(_dotted(cursor))
                if steps[-1].key is None:
                    raise NotWellFormed("Invalid path dot component for simple path")
                continue
            key = self.expression(cursor) if not cursor.at("*") else None
            if key is not None:
                cursor.expect_symbol("]")
            if not isinstance(key, tree.Name | tree.Constant | tree.Missing | tree.Ion):
                raise NotWellFormed("Invalid path component for simple path")
            steps.append(tree.Step(key.token, key))
        return tree.Path(root, tuple(steps)) if steps else root

    def _term(self, cursor: Cursor) -> Node:
        token = cursor.token
        match token.kind:
            case Kind.TEXT:
                return tree.Constant(cursor.advance(), {"S": token.text})
            case Kind.NUMBER:
                return tree.Constant(cursor.advance(), {"N": token.text})
            case Kind.ION:
                return tree.Ion(cursor.advance())
            case Kind.WORD | Kind.NAME:
                return self._call(cursor) if _is_called(cursor) else tree.Name(cursor.advance())
            case Kind.KEYWORD:
                return self._keyword(cursor)
            case Kind.SYMBOL:
                return self._symbol(cursor)
            case _:
                raise NotWellFormed("Unexpected term")

    def _keyword(self, cursor: Cursor) -> Node:
        word = cursor.token.word
        constant = _CONSTANTS.get(word)
        if constant is not None:
            return tree.Constant(cursor.advance(), constant)
        if word == "MISSING":
            return tree.Missing(cursor.advance())
        if word in _OPERATOR_WORDS:
            raise NotWellFormed("Unexpected operator")
        statement = self._statements.get(word)
        if statement is not None and (word != "INSERT" or cursor.following.word == "INTO"):
            return statement(cursor)
        if word in CALLABLE and _is_called(cursor):
            return self._call(cursor)
        raise NotWellFormed("Unexpected keyword")

    def _case(self, cursor: Cursor) -> Node:
        token = cursor.advance()
        if not cursor.at("WHEN"):
            self.expression(cursor)
        if not cursor.at("WHEN"):
            raise NotWellFormed("Expected a WHEN clause in CASE")
        while cursor.skip("WHEN"):
            self.expression(cursor)
            cursor.expect_word("THEN", "Expected THEN keyword")
            self.expression(cursor)
        if cursor.skip("ELSE"):
            self.expression(cursor)
        cursor.expect_word("END", "Expected END keyword")
        return tree.Special(token, "CASE")

    def _cast(self, cursor: Cursor) -> Node:
        cursor.advance()
        token = cursor.token
        if not cursor.skip("("):
            raise NotWellFormed("Missing left parenthesis after CAST")
        self.expression(cursor)
        cursor.expect_word("AS", "Expected AS")
        self.type_name(cursor)
        cursor.expect_symbol(")")
        return tree.Special(token, "cast")

    def _rows(self, cursor: Cursor) -> Node:
        """VALUES (…), (…)."""
        token = cursor.advance()
        rows: list[Node] = []
        while not rows or cursor.skip(","):
            opening = cursor.token
            if not cursor.skip("("):
                raise NotWellFormed("Expected LEFT_PAREN for row value constructor")
            rows.append(tree.Sequence(opening, "List", self._list(cursor, ")")))
        return tree.Sequence(token, "Bag", tuple(rows))

    def _call(self, cursor: Cursor) -> Node:
        token = cursor.advance()
        cursor.advance()
        if cursor.at("*"):
            if token.word != "COUNT":
                raise NotWellFormed(f"{token.text}(*) is not allowed")
            cursor.advance()
            cursor.expect_symbol(")")
            return tree.Call(token, ())
        if token.word == "COUNT":
            cursor.skip("DISTINCT", "ALL")
        arguments = () if cursor.skip(")") else self._list(cursor, ")")
        kind = _SEQUENCES.get(token.word)
        return tree.Call(token, arguments) if kind is None else tree.Sequence(token, kind, arguments)

    def _symbol(self, cursor: Cursor) -> Node:
        token = cursor.token
        if token.text in _OPERATOR_SYMBOLS:
            raise NotWellFormed("Unexpected operator")
        cursor.advance()
        match token.text:
            case "?":
                return tree.Placeholder(token, cursor.count_parameter())
            case "(":
                members = self._list(cursor, ")")
                return members[0] if len(members) == 1 else tree.Sequence(token, "List", members)
            case "[":
                return tree.Sequence(token, "List", () if cursor.skip("]") else self._list(cursor, "]"))
            case "<<":
                return tree.Sequence(token, "Bag", () if cursor.skip(">>") else self._list(cursor, ">>"))
            case "{":
                return tree.Fields(token, () if cursor.skip("}") else self._pairs(cursor))
            case "@":
                if not cursor.at_name():
                    raise NotWellFormed("Identifier must follow @-operator")
                return tree.Name(cursor.advance())
            case _:
                raise NotWellFormed("Unexpected term")

    def _list(self, cursor: Cursor, closing: str) -> tuple[Node, ...]:
        members = [self.expression(cursor)]
        while cursor.skip(","):
            members.append(self.expression(cursor))
        cursor.expect_symbol(closing)
        return tuple(members)

    def _pairs(self, cursor: Cursor) -> tuple[tuple[Node, Node], ...]:
        pairs = [self._pair(cursor)]
        while cursor.skip(","):
            pairs.append(self._pair(cursor))
        cursor.expect_symbol("}")
        return tuple(pairs)

    def _pair(self, cursor: Cursor) -> tuple[Node, Node]:
        key = self.expression(cursor)
        cursor.expect_symbol(":")
        return key, self.expression(cursor)


def _is_called(cursor: Cursor) -> bool:
    return cursor.following.word == "("


def _dotted(cursor: Cursor) -> tree.Step:
    """A name behind a dot: a keyword is none, unless it is quoted."""
    token = cursor.advance()
    if token.kind in (Kind.WORD, Kind.NAME):
        return tree.Step(token, tree.Name(token), dotted=True)
    if token.word == "*":
        return tree.Step(token, None, dotted=True)
    raise NotWellFormed("Invalid path dot component")


def _signed(sign: Token, node: Node) -> Node:
    """A number takes its sign at once; before anything else a sign is an operator."""
    if not isinstance(node, tree.Constant) or "N" not in node.value:
        return tree.Operation(sign, sign.text, (node,))
    number = node.value["N"]
    if sign.text == "-":
        number = number[1:] if number[0] == "-" else f"-{number}"
    return tree.Constant(node.token, {"N": number})


def _is_whole_number(node: Node) -> bool:
    return isinstance(node, tree.Constant) and node.value.get("N", "").isdigit()
