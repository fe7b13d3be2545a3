"""Ion, text or binary, as records of DynamoDB JSON: the mapping of exports, read backwards."""

from base64 import b64encode
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import chain
from types import NoneType
from typing import Any

from amazon.ion import simpleion
from amazon.ion.core import Timestamp
from amazon.ion.exceptions import IonException
from amazon.ion.simple_types import IonPyNull
from amazon.ion.symbols import SymbolToken

from hashrange.core import json_values
from hashrange.core.limits import NESTING_LEVELS_MAX
from hashrange.core.values import TOO_DEEP, Item, Value
from hashrange.formats import ion_binary, ion_text
from hashrange.formats.errors import Garbage
from hashrange.formats.records import Record, Unread

# The library's extension in C (0.15.0) crashes the process, or never returns, on some input that is no Ion.
simpleion.c_ext = False

_NOT_ION = "The value is not valid Ion"
_NOT_A_STRUCT = "The value is not an Ion struct"
_TOO_MANY_VALUES = "The value has more values than an item may have"
_SETS = {"$dynamodb_SS": "S", "$dynamodb_NS": "N", "$dynamodb_BS": "B"}
_BARE_TYPES = {
    str: "STRING",
    Decimal: "DECIMAL",
    int: "INT",
    bool: "BOOL",
    NoneType: "NULL",
    bytes: "BLOB",
    list: "LIST",
    float: "FLOAT",
    Timestamp: "TIMESTAMP",
    SymbolToken: "SYMBOL",
}
# An integer of more bits is out of range, and making its text would take long.
_INTEGER_BITS_MAX = 450
_OUT_OF_RANGE = "1e999"
# To find the one of a batch that is wrong, the symbols are parsed again for each of them, up to this.
_ONE_BY_ONE_BYTES_MAX = 64 * 1024 * 1024
# What the library raises on wrong input beside its own exception.
_PARSE_ERRORS = (ValueError, TypeError, ArithmeticError, AttributeError, LookupError, RecursionError)


class _Unmapped(Exception):
    """A value that DynamoDB has nothing for."""


def records(chunks: Iterable[bytes]) -> Iterator[Record | Unread]:
    """The members of each top-level struct."""
    for index, value in enumerate(_values(chunks)):
        try:
            yield Record(index, _members(value))
        except _Unmapped as unmapped:
            yield Unread(index, str(unmapped))


def _values(chunks: Iterable[bytes]) -> Iterator[Any]:
    """All top-level values. Binary Ion begins with a marker that is no text."""
    iterator = iter(chunks)
    begin = b""
    while len(begin) < len(ion_binary.MARKER) and (chunk := next(iterator, None)) is not None:
        begin += chunk
    every = chain([begin], iterator)
    if begin.startswith(ion_binary.MARKER):
        for batch in ion_binary.batches(every):
            yield from _loaded_batch(batch)
    else:
        for document in ion_text.values(every):
            yield from _loaded(document)


def _loaded_batch(batch: ion_binary.Batch) -> Iterator[Any]:
    """The values of a batch; if one is wrong, those before it first."""
    try:
        yield from _loaded(batch.head + b"".join(batch.values))
    except Garbage:
        if len(batch.head) * len(batch.values) > _ONE_BY_ONE_BYTES_MAX:
            raise
        for value in batch.values:
            yield from _loaded(batch.head + value)


def _loaded(document: bytes) -> list[Any]:
    """The values of a document: one as a rule, none if it has comments or a version marker only."""
    if json_values.too_many(document):
        raise Garbage(_TOO_MANY_VALUES)
    try:
        # Text is decoded here: the library takes the bytes of names for Latin-1.
        is_binary = document.startswith(ion_binary.MARKER)
        return list(simpleion.loads(document if is_binary else document.decode("utf-8"), single_value=False))
    except (IonException, *_PARSE_ERRORS):
        raise Garbage(_NOT_ION) from None


def _members(value: Any) -> dict[str, Any]:
    """A record's members as DynamoDB JSON would have them."""
    if _type_of(value) != "STRUCT":
        raise Garbage(_NOT_A_STRUCT)
    members: dict[str, Any] = {}
    for name, member in value.items():
        match name, _type_of(member):
            case "ConditionExpression", "STRING":
                members[name] = str(member)
            case "ExpressionAttributeNames", "STRUCT":
                members[name] = {key: str(text) for key, text in member.items() if _type_of(text) == "STRING"}
            case str(), "STRUCT":
                members[name] = _attributes(member, 1)
            case _:
                pass  # no member that a record has; Item is missed where it is read
    return members


def _attributes(struct: Any, level: int) -> Item:
    attributes = {}
    for name, member in struct.items():
        if type(name) is not str:
            raise _Unmapped("An Ion field has no name")
        attributes[name] = _attribute(member, level)
    return attributes


def _attribute(value: Any, level: int) -> Value:
    if level > NESTING_LEVELS_MAX + 1:
        raise _Unmapped(TOO_DEEP)
    match _type_of(value):
        case "STRING":
            return {"S": str(value)}
        case "DECIMAL" | "INT":
            return {"N": _number(value)}
        case "BOOL":
            return {"BOOL": bool(value)}
        case "NULL":
            return {"NULL": True}
        case "BLOB":
            return {"B": b64encode(value).decode("ascii")}
        case "STRUCT":
            return {"M": _attributes(value, level + 1)}
        case "LIST":
            return _list_or_set(value, level)
        case other:
            raise _Unmapped(f"The Ion type {other} has no DynamoDB type")


def _list_or_set(value: Any, level: int) -> Value:
    annotations = getattr(value, "ion_annotations", ())
    kinds = [_SETS[annotation.text] for annotation in annotations if annotation.text in _SETS]
    if not kinds:
        return {"L": [_attribute(member, level + 1) for member in value]}
    members = [_attribute(member, level + 1) for member in value]
    if any(kinds[0] not in member for member in members):
        raise _Unmapped("The members of a set do not have the type of the set")
    return {kinds[0] + "S": [member[kinds[0]] for member in members]}


def _number(value: Any) -> str:
    if isinstance(value, Decimal):
        return Decimal.__str__(value)
    return str(int(value)) if value.bit_length() <= _INTEGER_BITS_MAX else _OUT_OF_RANGE


def _type_of(value: Any) -> str:
    kind = _BARE_TYPES.get(type(value))
    if kind is not None:
        return kind
    # A null of any type is null: the library gives it that type.
    return "NULL" if isinstance(value, IonPyNull) else str(value.ion_type.name)
