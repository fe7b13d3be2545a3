"""Making a request of large JSON piece by piece: one conversion of all of it would hold up all other threads."""

import types
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

PIECE_ENTRIES = 2_048  # a piece is converted within some milliseconds

T = TypeVar("T")


def converted(sent: Any, structure: type[T]) -> T:
    """What `msgspec.convert` makes of the same JSON, in short calls of it; raises its `ValidationError`."""
    request: T = _converted(sent, structure)
    return request


def _converted(sent: Any, hint: Any) -> Any:
    if not isinstance(sent, dict | list) or _is_light(sent):
        return msgspec.convert(sent, hint)
    plain, entries_max = _plain(hint)
    origin = get_origin(plain)
    if entries_max is not None and len(sent) > entries_max:
        raise msgspec.ValidationError("longer than it may be")
    if origin is list and isinstance(sent, list):
        return _list(sent, *get_args(plain))
    if origin is dict and isinstance(sent, dict) and get_args(plain)[1] is not Any:
        return _map(sent, *get_args(plain))
    if isinstance(sent, dict) and isinstance(plain, type) and issubclass(plain, msgspec.Struct):
        return _structure(sent, plain)
    return msgspec.convert(sent, hint)


def _is_light(sent: Any) -> bool:
    """Whether it has few entries, those of its entries included."""
    entries = 0
    pending: list[Any] = [sent]
    while pending:
        content = pending.pop()
        entries += len(content)
        if entries > PIECE_ENTRIES:
            return False
        values = content.values() if isinstance(content, dict) else content
        pending += [value for value in values if isinstance(value, dict | list)]
    return True


def _plain(hint: Any) -> tuple[Any, int | None]:
    """A type without what stands around it, and the most entries that it may have."""
    entries_max = None
    while True:
        origin = get_origin(hint)
        if origin is Annotated:
            hint, *extras = get_args(hint)
            entries_max = next((extra.max_length for extra in extras if isinstance(extra, Meta)), entries_max)
        elif origin in (Union, types.UnionType):
            hint = next(choice for choice in get_args(hint) if choice is not types.NoneType)
        else:
            return hint, entries_max


def _structure(sent: dict[str, Any], structure: type[msgspec.Struct]) -> Any:
    fields = {field.encode_name: field for field in msgspec.structs.fields(structure)}
    hints = get_type_hints(structure, include_extras=True)
    if not sent.keys() <= fields.keys() or any(
        field.required and name not in sent for name, field in fields.items()
    ):
        raise msgspec.ValidationError("other members than it has")
    members = {
        fields[name].name: _converted(content, hints[fields[name].name]) for name, content in sent.items()
    }
    return structure(**members)


def _list(sent: list[Any], hint: Any) -> list[Any]:
    converted_list: list[Any] = []
    size = _piece_size(hint)
    for start in range(0, len(sent), size):
        piece = sent[start : start + size]
        if size == PIECE_ENTRIES or _is_light(piece):
            converted_list += msgspec.convert(piece, list[hint])
        else:
            converted_list += [_converted(element, hint) for element in piece]
    return converted_list


def _map(sent: dict[str, Any], key_hint: Any, hint: Any) -> dict[str, Any]:
    converted_map: dict[str, Any] = {}
    size = _piece_size(hint)
    for piece in _pieces(sent, size):
        if size == PIECE_ENTRIES or _is_light(piece):
            converted_map |= msgspec.convert(piece, dict[key_hint, hint])
        else:
            for name, content in piece.items():
                key = msgspec.convert(name, key_hint)
                converted_map[key] = _converted(content, hint)
    return converted_map


def _pieces(sent: dict[str, Any], size: int) -> Iterator[dict[str, Any]]:
    members = iter(sent.items())
    while piece := dict(islice(members, size)):
        yield piece


def _piece_size(hint: Any) -> int:
    """How many entries of a type are converted in one call.

    The contents of attribute values are left as they are, however many there are. Structures have entries of their own.
    """
    plain, _ = _plain(hint)
    is_opaque = plain in (Any, str) or (get_origin(plain) is dict and get_args(plain)[1] is Any)
    return PIECE_ENTRIES if is_opaque else max(1, PIECE_ENTRIES // 8)
