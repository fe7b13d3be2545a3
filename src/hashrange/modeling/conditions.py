"""Conditions of `where`, `filter` and `if`: read, taken apart, written; `truth` says whether one holds.

    status = "OPEN" and placed_at >= ?since and not (total < 10 or note exists)

Operators: = <> < <= > >= between … and …, begins_with, contains, in (…), exists, not exists. Operands: parameters
(?since), texts in quotes, numbers, true, false, null, other attributes, `now`, and `now - 30 days`. `not exists` alone
speaks of the item itself.
"""

from collections.abc import Iterator
from typing import assert_never

from hashrange.modeling.model import (
    All,
    AnyOf,
    Comparison,
    Condition,
    Name,
    Not,
    Now,
    Operand,
    Operator,
    Parameter,
)
from hashrange.modeling.texts import TextInvalid
from hashrange.modeling.tokens import Token, number, tokens
from hashrange.modeling.truth import holds

__all__ = [
    "ITSELF",
    "attributes_of",
    "conjuncts",
    "holds",
    "operand_text",
    "parameters_of",
    "parse_condition",
    "text_of",
]

ITSELF = (
    ""  # the attribute of `exists` and `not exists` alone; the loader puts the table's partition key there
)
DEPTH_MAX = 20
COMPARISONS_MAX = 100
_SYMBOLS: dict[str, Operator] = {"=": "=", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_MIRRORED: dict[Operator, Operator] = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_CALLS: dict[str, Operator] = {
    "begins_with": "begins_with",
    "contains": "contains",
    "exists": "exists",
    "not_exists": "not_exists",
    "attribute_exists": "exists",
    "attribute_not_exists": "not_exists",
}
_UNIT_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "month": 2_629_800}
_UNIT_SECONDS |= {"year": 31_557_600}
_SPAN_SECONDS_MAX = 1000 * _UNIT_SECONDS["year"]
_RESERVED = ("and", "or", "not", "between", "in", "exists", "begins_with", "contains")


def parse_condition(text: str) -> Condition:
    """Read a condition; raise `TextInvalid` where it is wrong."""
    return _Parser(text).whole()


class Operands:
    """Reads operands from words, one after the other. Assignments share it."""

    def __init__(self, text: str) -> None:
        self._tokens = tokens(text)
        self._at = 0

    def peek(self) -> Token:
        return self._tokens[self._at]

    def take(self) -> Token:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def expect(self, symbol: str) -> None:
        if not self.peek().is_symbol(symbol):
            raise self.unexpected(f"`{symbol}`")
        self.take()

    def unexpected(self, wanted: str) -> TextInvalid:
        token = self.peek()
        word = "the end" if token.kind == "end" else f"`{token.text}`"
        return TextInvalid(f"{word} where {wanted} should be", offset=token.offset)

    def name(self) -> str:
        token = self.peek()
        if token.kind != "name" or token.is_word(*_RESERVED):
            raise self.unexpected("an attribute")
        return self.take().text

    def operand(self) -> Operand:
        token = self.peek()
        if token.kind == "name" and not token.is_word("true", "false", "null", "now"):
            return Name(self.name())
        self.take()
        match token.kind:
            case "parameter":
                return Parameter(token.text)
            case "text":
                return token.text
            case "number":
                return number(token)
            case "name":
                return self._word(token)
            case _:
                self._at -= token.kind != "end"
                raise self.unexpected("a value")

    def _word(self, token: Token) -> Operand:
        match token.text.lower():
            case "now":
                return Now(self._seconds_before())
            case "null":
                return None
            case word:
                return word == "true"

    def _seconds_before(self) -> int:
        if self.peek().is_symbol("-"):
            self.take()
            sign = 1
        elif self.peek().is_symbol("+"):
            self.take()
            sign = -1
        else:
            return 0
        if self.peek().kind != "number":
            raise self.unexpected("a number of seconds, minutes, hours, days, weeks, months or years")
        amount = number(self.take())
        unit = _UNIT_SECONDS.get(self.peek().text.lower().removesuffix("s"))
        if self.peek().kind != "name" or unit is None:
            raise self.unexpected("seconds, minutes, hours, days, weeks, months or years")
        self.take()
        if abs(amount) * unit > _SPAN_SECONDS_MAX:
            raise TextInvalid("more than a thousand years away", offset=self.peek().offset)
        return round(sign * amount * unit)


class _Parser(Operands):
    """A recursive descent: or, and, not, comparison."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._comparisons = 0

    def whole(self) -> Condition:
        if self.peek().kind == "end":
            raise TextInvalid("a condition is empty", "leave the member out instead")
        condition = self._either(0)
        if self.peek().kind != "end":
            raise self.unexpected("`and`, `or` or the end")
        return condition

    def _either(self, depth: int) -> Condition:
        parts = [self._all(depth)]
        while self.peek().is_word("or"):
            self.take()
            parts.append(self._all(depth))
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def _all(self, depth: int) -> Condition:
        parts = [self._negated(depth)]
        while self.peek().is_word("and"):
            self.take()
            parts.append(self._negated(depth))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _negated(self, depth: int) -> Condition:
        if depth > DEPTH_MAX:
            raise TextInvalid(f"nested more than {DEPTH_MAX} deep", offset=self.peek().offset)
        if not self.peek().is_word("not"):
            return self._primary(depth)
        self.take()
        condition = self._negated(depth + 1)
        match condition:
            case Comparison(attribute="", operator="exists"):
                return Comparison(ITSELF, "not_exists")
            case _:
                return Not(condition)

    def _primary(self, depth: int) -> Condition:
        if self.peek().is_symbol("("):
            self.take()
            condition = self._either(depth + 1)
            self.expect(")")
            return condition
        self._comparisons += 1
        if self._comparisons > COMPARISONS_MAX:
            raise TextInvalid(f"more than {COMPARISONS_MAX} comparisons", offset=self.peek().offset)
        return self._comparison()

    def _comparison(self) -> Comparison:
        first = self.peek()
        if first.is_word(*_CALLS):
            return self._call()
        left = self.operand()
        if isinstance(left, Name):
            return self._of_attribute(left.attribute)
        symbol = self.peek()
        operator = _SYMBOLS.get(symbol.text) if symbol.kind == "symbol" else None
        if operator is None:
            raise TextInvalid("a comparison begins with an attribute", offset=first.offset)
        self.take()
        return Comparison(self.name(), _MIRRORED[operator], (left,))

    def _call(self) -> Comparison:
        operator = _CALLS[self.take().text.lower()]
        if operator == "exists" and not self.peek().is_symbol("("):
            return Comparison(ITSELF, "exists")
        self.expect("(")
        attribute = self.name()
        operands: tuple[Operand, ...] = ()
        if operator in ("begins_with", "contains"):
            self.expect(",")
            operands = (self.operand(),)
        self.expect(")")
        return Comparison(attribute, operator, operands)

    def _of_attribute(self, attribute: str) -> Comparison:
        token = self.peek()
        if token.kind == "symbol" and token.text in _SYMBOLS:
            self.take()
            return Comparison(attribute, _SYMBOLS[token.text], (self.operand(),))
        if not token.is_word("between", "begins_with", "contains", "in", "exists", "not"):
            raise self.unexpected(
                "a comparison (=, <>, <, <=, >, >=, between, begins_with, contains, in, exists)"
            )
        match self.take().text.lower():
            case "between":
                return self._between(attribute)
            case "begins_with":
                return Comparison(attribute, "begins_with", (self.operand(),))
            case "contains":
                return Comparison(attribute, "contains", (self.operand(),))
            case "in":
                return Comparison(attribute, "in", self._list())
            case "exists":
                return Comparison(attribute, "exists")
            case _:
                if not self.peek().is_word("exists"):
                    raise self.unexpected("`exists`")
                self.take()
                return Comparison(attribute, "not_exists")

    def _between(self, attribute: str) -> Comparison:
        low = self.operand()
        if not self.peek().is_word("and"):
            raise self.unexpected("`and` and the upper end")
        self.take()
        return Comparison(attribute, "between", (low, self.operand()))

    def _list(self) -> tuple[Operand, ...]:
        self.expect("(")
        operands = [self.operand()]
        while self.peek().is_symbol(","):
            self.take()
            operands.append(self.operand())
            if len(operands) > COMPARISONS_MAX:
                raise TextInvalid("IN takes 100 values", offset=self.peek().offset)
        self.expect(")")
        return tuple(operands)


def conjuncts(condition: Condition | None) -> tuple[Condition, ...]:
    """The parts that all have to hold; none of nothing."""
    match condition:
        case None:
            return ()
        case All():
            return tuple(part for inner in condition.parts for part in conjuncts(inner))
        case _:
            return (condition,)


def comparisons(condition: Condition | None) -> Iterator[Comparison]:
    """Every comparison, however deep."""
    match condition:
        case None:
            return
        case Comparison():
            yield condition
        case All() | AnyOf():
            for part in condition.parts:
                yield from comparisons(part)
        case Not():
            yield from comparisons(condition.part)
        case _:
            assert_never(condition)


def attributes_of(condition: Condition | None) -> tuple[str, ...]:
    """Every attribute that it speaks of, in the order in which they stand there."""
    names: dict[str, None] = {}
    for comparison in comparisons(condition):
        names[comparison.attribute] = None
        names.update(
            {operand.attribute: None for operand in comparison.operands if isinstance(operand, Name)}
        )
    return tuple(names)


def parameters_of(condition: Condition | None) -> tuple[str, ...]:
    """Every parameter, in the order in which they stand there."""
    operands = (operand for comparison in comparisons(condition) for operand in comparison.operands)
    return tuple(dict.fromkeys(operand.name for operand in operands if isinstance(operand, Parameter)))


def text_of(condition: Condition) -> str:
    """A condition as `parse_condition` reads it."""
    match condition:
        case Comparison():
            return _comparison_text(condition)
        case All():
            return " and ".join(_bracketed(part, AnyOf, All) for part in condition.parts)
        case AnyOf():
            return " or ".join(_bracketed(part, AnyOf) for part in condition.parts)
        case Not():
            return f"not ({text_of(condition.part)})"
        case _:
            assert_never(condition)


def _bracketed(condition: Condition, *kinds: type) -> str:
    return f"({text_of(condition)})" if isinstance(condition, kinds) else text_of(condition)


def _comparison_text(comparison: Comparison) -> str:
    name = name_text(comparison.attribute) if comparison.attribute else ""
    texts = [operand_text(operand) for operand in comparison.operands]
    match comparison.operator:
        case "between":
            return f"{name} between {texts[0]} and {texts[1]}"
        case "in":
            return f"{name} in ({', '.join(texts)})"
        case "exists":
            return f"{name} exists".strip()
        case "not_exists":
            return f"{name} not exists".strip()
        case operator:
            return f"{name} {operator} {texts[0]}"


def name_text(name: str) -> str:
    """A name, in backquotes where it could be taken for something else."""
    words = tokens(name) if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else []
    plain = len(words) == 2 and words[0].kind == "name"
    special = plain and words[0].is_word(*_RESERVED, *_CALLS, "true", "false", "null", "now")
    return name if plain and not special else f"`{name}`"


def operand_text(operand: Operand) -> str:
    """An operand as the parser reads it."""
    match operand:
        case Parameter():
            return f"?{operand.name}"
        case Now(seconds_before=0):
            return "now"
        case Now():
            return (
                f"now {'-' if operand.seconds_before > 0 else '+'} {_span_text(abs(operand.seconds_before))}"
            )
        case Name():
            return name_text(operand.attribute)
        case bool():
            return "true" if operand else "false"
        case None:
            return "null"
        case str():
            escaped = operand.replace("\\", "\\\\").replace('"', '\\"')
            return f'"{escaped}"'
        case _:
            return repr(operand)


def _span_text(seconds: int) -> str:
    """A time in the largest unit of which it is a whole number."""
    units = ((word, length) for word, length in reversed(_UNIT_SECONDS.items()) if seconds % length == 0)
    word, length = next(units)
    count = seconds // length
    return f"{count} {word}{'s' if count != 1 else ''}"
