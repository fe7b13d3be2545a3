"""The head of generated Python: its helpers, which the calls in `values` name."""

HEAD = '''\
# Made by `hashrange model codegen`; change the model, not this file.
import random
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

Number = int | float | Decimal
Key = dict[str, Any]


class Request(NamedTuple):
    """An operation of DynamoDB and its members: `getattr(client, "query")(**request.members)`."""

    operation: str
    members: dict[str, Any]


def _of(item: Mapping[str, Any], name: str) -> Any:
    return item.get(name)


def _number(value: Any) -> str:
    text = format(Decimal(str(value)), "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _string(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, Decimal):
        return format(value, "f")
    return value.hex() if isinstance(value, bytes) else str(value)


def _field(value: Any, pad: int, cut: int) -> str | None:
    if value is None:
        return None
    text = _string(value).zfill(pad)
    return text[:cut] if cut else text


def _text(*parts: str | None) -> str | None:
    texts = [part for part in parts if part is not None]
    return "".join(texts) if len(texts) == len(parts) else None


def _before(text: str) -> str:
    if not text or text[-1] == "\\0":
        return text[:-1]
    code = ord(text[-1]) - 1
    return text[:-1] + chr(0xD7FF if 0xD800 <= code <= 0xDFFF else code) + chr(0x10FFFF)


def _shard(value: Any, shards: int) -> str | None:
    if value is None:
        return None
    text = _number(value) if isinstance(value, (float, Decimal)) else _string(value)
    return str(zlib.crc32(text.encode("utf-8", "surrogatepass")) % shards)


def _nth(shard: int, shards: int) -> str:
    return str(shard % shards)


def _drawn(shards: int) -> str:
    return str(random.randrange(shards))


def _moment(now: int, seconds_before: int, form: str) -> Any:
    seconds = now - seconds_before
    if form == "epoch":
        return seconds
    moment = datetime.fromtimestamp(min(max(seconds, 0), 253402300799), timezone.utc)
    return moment.strftime("%Y-%m-%d" if form == "date" else "%Y-%m-%dT%H:%M:%SZ")


def _value(value: Any, kind: str | None) -> dict[str, Any]:
    if kind in ("SS", "NS", "BS") and isinstance(value, (list, tuple, set, frozenset)):
        return {kind: sorted({str(next(iter(_value(member, None).values()))) for member in value})}
    if value is None:
        return {"NULL": True}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, (int, float, Decimal)) or kind == "N":
        return {"N": _number(value)}
    if isinstance(value, bytes):
        return {"B": value}
    if isinstance(value, (list, tuple)):
        return {"L": [_value(member, None) for member in value]}
    if isinstance(value, (set, frozenset)):
        return _value(value, "SS" if all(isinstance(member, str) for member in value) else "NS")
    if isinstance(value, Mapping):
        return {"M": {str(name): _value(member, None) for name, member in value.items()}}
    return {"S": str(value)}


def _appended(value: Any) -> dict[str, Any]:
    return _value(list(value) if isinstance(value, (list, tuple)) else [value], None)


def _optional(value: Any, kind: str | None) -> dict[str, Any] | None:
    return None if value is None else _value(value, kind)


def _key(value: Any, kind: str) -> Any:
    if value is None:
        return None
    return {"S": _string(value)} if kind == "S" and not isinstance(value, bytes) else _value(value, kind)


def _distinct(keys: Sequence[Key]) -> list[Key]:
    return list({repr(sorted(key.items())): key for key in keys}.values())


def _gets(keys: Sequence[Key], members: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"Get": {**members, "Key": key}} for key in _distinct(keys)]


def _writes(items: Sequence[dict[str, Any]], keys: Sequence[Key]) -> list[dict[str, Any]]:
    if len(items) + len(keys) > 25:
        raise ValueError("a batch has at most 25 items and keys")
    return [{"PutRequest": {"Item": item}} for item in items] + [{"DeleteRequest": {"Key": key}} for key in keys]


def _when(holds: bool, value: Any) -> Any:
    return value if holds else None


def _present(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _all(*parts: bool) -> bool:
    return all(parts)


def _any(*parts: bool) -> bool:
    return any(parts)


def _not(part: bool) -> bool:
    return not part


def _holds(operator: str, value: Any, *operands: Any) -> bool:
    if operator in ("exists", "not_exists"):
        return (value is not None) == (operator == "exists")
    if value is None or None in operands:
        return operator == "<>"
    if operator in ("=", "<>", "in"):
        return (value in operands) == (operator != "<>")
    if operator == "contains":
        return operands[0] in value
    if operator == "begins_with":
        return bool(value.startswith(operands[0]))
    if operator == "between":
        return bool(operands[0] <= value <= operands[1])
    first = operands[0]
    return bool({"<": value < first, "<=": value <= first, ">": value > first, ">=": value >= first}[operator])
'''
