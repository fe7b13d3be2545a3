"""What the log shows of a request: keys as the settings say, names of attributes, and no other value of an item.

The rules are CloudTrail's. Whatever is shown is bounded, however large the request.
"""

import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Literal

import msgspec

KeyTreatment = Literal["plain", "hashed", "redacted"]
KeysOf = Callable[
    [str], Sequence[str]
]  # the names of a table's key attributes, by what a request calls the table

REDACTED = "***(Redacted)"
HIDDEN = "HIDDEN_DUE_TO_SECURITY_REASONS"  # as CloudTrail has it
_CHARS_MAX = 64 * 1024
_TEXT_CHARS_MAX = 4096
_HASH_CHARS = 32
_SECRETS = frozenset(
    {
        *("password", "plaintext", "samlassertion", "secretaccesskey", "securitytoken", "sessiontoken"),
        *("ciphertextblob", "signingkey", "tokencode", "webidentitytoken"),
    }
)
_KEYS = frozenset({"key", "exclusive_start_key"})
_VALUES = frozenset({"expression_attribute_values", "parameters"})  # nothing of them is shown
_BY_ATTRIBUTE = frozenset(
    {"attribute_updates", "expected", "key_conditions", "query_filter", "scan_filter"}
)  # their names are
Treatment = Literal["key", "item", "keys", "names", "statement", "request_items", "secret", "token"]
_OTHERS: dict[str, Treatment] = {
    "next_token": "token",  # that of a SELECT has the key that it goes on behind
    "item": "item",
    "keys": "keys",
    "statement": "statement",
    "request_items": "request_items",
}
# The tokens of the lexer (core/partiql/lexer.py) in its order, so that both agree on where a text or a comment begins:
# what may be shown, what may not, and names in double quotes. Behind what is no token the lexer refuses the rest.
_TOKEN = re.compile(
    r"""
      (?P<SHOWN> \s+ | [^\W\d][\w$]* | \$[\w$]* )
    | (?P<NAME> "(?:[^"]|"")*" )
    | (?P<COMMENT> --[^\r\n]* | /\*.*?\*/ )
    | (?P<LITERAL> '(?:[^']|'')*' | `[^`]*` | (?: [0-9]+ (?:\.[0-9]*)? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? )
    | (?P<OPERATOR> << | <> | <= | >= | != | [=<>:\[] )
    | (?P<SYMBOL> >> | \|\| | /(?!\*) | [-+*%(){}\],.;?@] )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


class TooLong(Exception):
    """The request is longer than what is kept of one."""


class Redaction:
    """How requests are shown."""

    def __init__(self, keys: KeyTreatment, secret: bytes = b"") -> None:
        """`secret` is for hashes: without it nobody can try out which key one belongs to."""
        self._keys = keys
        self._secret = secret

    def parameters(self, request: msgspec.Struct, keys_of: KeysOf) -> tuple[dict[str, Any], int]:
        """What is shown of a request, and how much that is; raises TooLong."""
        walk = _Walk(self, keys_of)
        return walk.structure(request, None), walk.chars

    def key(self, value: object) -> object:
        """A value of a key attribute, such as {"S": "x"}."""
        if self._keys == "plain" or type(value) is not dict:
            return value if type(value) is dict else REDACTED
        if self._keys == "redacted":
            return REDACTED
        return {kind: self._hashed(f"{kind}:{content}") for kind, content in value.items()}

    def key_text(self, text: str) -> str:
        """A value of a key attribute as policies compare it; its hash is that of a string."""
        if self._keys == "plain":
            return text
        return REDACTED if self._keys == "redacted" else self._hashed(f"S:{text}")

    def token(self, text: str) -> str:
        """A page token, in which the key of an item may be."""
        if self._keys == "plain":
            return text
        return REDACTED if self._keys == "redacted" else self._hashed(f"token:{text}")

    def _hashed(self, text: str) -> str:
        digest = hmac.digest(self._secret, text.encode("utf-8", "surrogatepass"), "sha256")
        return f"hmac-sha256:{digest.hex()[:_HASH_CHARS]}"


class _Walk:
    """Goes through one request."""

    def __init__(self, redaction: Redaction, keys_of: KeysOf) -> None:
        self._redaction = redaction
        self._keys_of = keys_of
        self.chars = 0

    def structure(self, structure: msgspec.Struct, table: str | None) -> dict[str, Any]:
        """The members that were sent."""
        table = getattr(structure, "table_name", None) or table
        shown: dict[str, Any] = {}
        for field, name, treatment in _members(type(structure)):
            value = getattr(structure, field)
            if value is None or value is msgspec.UNSET:
                continue
            self._count(name)
            if treatment is None:
                shown[name] = self._text(value) if type(value) is str else self._value(value, table)
            else:
                self._treat(treatment, name, value, table, shown)
        return shown

    def _treat(
        self, treatment: Treatment, name: str, value: Any, table: str | None, shown: dict[str, Any]
    ) -> None:
        match treatment:
            case "key":
                shown[name] = self._key(value)
            case "item":
                shown["key"] = self._key_of_item(value, table)
                shown["items"] = [self._text(attribute) for attribute in value]
            case "keys":
                shown[name] = [self._key(key) for key in value]
            case "names":
                shown[name] = [self._text(attribute) for attribute in value]
            case "statement":
                # No more is read than could be shown: a transaction may have a hundred statements.
                shown[name] = self._text(without_literals(value[: _TEXT_CHARS_MAX + 1]))
            case "request_items":
                shown[name] = {self._text(table): self._value(part, table) for table, part in value.items()}
            case "token":
                shown[name] = self._text(self._redaction.token(value))
            case "secret":
                shown[name] = HIDDEN

    def _value(self, value: object, table: str | None) -> Any:
        if isinstance(value, msgspec.Struct):
            return self.structure(value, table)
        if isinstance(value, Mapping):
            return {
                self._text(str(name)): HIDDEN if str(name).lower() in _SECRETS else self._value(part, table)
                for name, part in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self._value(part, table) for part in value]
        if value is None or isinstance(value, (bool, int, float)):
            self.chars += 8
            return value
        return self._text(str(value))

    def _key_of_item(self, item: Mapping[str, Any], table: str | None) -> dict[str, Any]:
        names = () if table is None else self._keys_of(table)
        return self._key({name: item[name] for name in names if name in item})

    def _key(self, key: object) -> dict[str, Any]:
        if not isinstance(key, Mapping):
            return {}
        return {self._text(name): self._shown_key(value) for name, value in key.items()}

    def _shown_key(self, value: object) -> object:
        # A key that is none may be as large, and as deep, as a request: of such nothing is shown.
        if type(value) is dict and len(value) == 1:
            ((kind, content),) = value.items()
            if type(content) is str:
                shown = self._redaction.key(value)
                return {kind: self._text(shown[kind])} if type(shown) is dict else shown
        return REDACTED

    def _text(self, text: str) -> str:
        self._count(text)
        return text if len(text) <= _TEXT_CHARS_MAX else text[:_TEXT_CHARS_MAX] + "..."

    def _count(self, text: str) -> None:
        self.chars += min(len(text), _TEXT_CHARS_MAX) + 4
        if self.chars > _CHARS_MAX:
            raise TooLong


def without_literals(statement: str) -> str:
    """A PartiQL statement in which no text, number or comment is left; names stay, where names can be.

    Behind a comparison a name in double quotes is more likely a text that somebody has put into the wrong quotes.
    """
    shown: list[str] = []
    at, compared = 0, False
    match_next = _TOKEN.scanner(statement).match  # type: ignore[attr-defined]
    while (match := match_next()) is not None:
        kind, written = match.lastgroup, match.group()
        hidden = kind in {"LITERAL", "COMMENT"} or (kind == "NAME" and compared)
        shown.append(REDACTED if hidden else written)
        compared = kind == "OPERATOR" or (compared and (kind == "COMMENT" or written.isspace()))
        at = match.end()
    if at < len(statement):
        shown.append(REDACTED)
    return "".join(shown)


@cache  # of the structures of requests there are as many as operations, and some more
def _members(structure: type[msgspec.Struct]) -> list[tuple[str, str, Treatment | None]]:
    """The members that are shown, each with the service's name as CloudTrail writes it, with a small letter."""
    names = (name[:1].lower() + name[1:] for name in structure.__struct_encode_fields__)
    return [
        (field, name, _treatment(field))
        for field, name in zip(structure.__struct_fields__, names, strict=True)
        if field not in _VALUES
    ]


def _treatment(field: str) -> Treatment | None:
    """How a member is shown; None: as it is, unless it is a structure, of whose members each has its own."""
    if field in _KEYS:
        return "key"
    if field in _BY_ATTRIBUTE:
        return "names"
    if field.replace("_", "") in _SECRETS:
        return "secret"
    return _OTHERS.get(field)
