"""Ways to spoil a request: its tree, its expressions and statements, and its bytes."""

import json
import re
from random import Random
from typing import Any

from fuzz.model import paths, replaced
from fuzz.seeds import SEEDS, TABLE, Request


def _nested(kind: str, depth: int) -> Any:
    value: Any = {"S": "x"}
    for _ in range(depth):
        value = {"L": [value]} if kind == "L" else {"M": {"m": value}}
    return value


WRONG: list[Any] = [
    None, True, False, 0, 1, -1, 1.5, 2**31, 2**63, -(2**63) - 1, 2**64, 10**40, 1e308, -0.0,
    "", " ", "a", "\x00", "\ud800", "\ufeff", "é" * 300, "\U0001d4b3" * 50, "a" * 5000, "0", "-1", "1e400",
    "NaN", "1" * 39, "0." + "0" * 200 + "1", "9" * 40000, "true", "ALL_OLD", "#a", ":s", TABLE, "a.b[0]", "=", "pk",
    [], [[]], [None], [1], ["a"], ["a", "a"], [{}], [[[[[[[[]]]]]]]], ["x"] * 300, [{"S": "a"}] * 101,
    {}, {"": ""}, {"a": None}, {"S": "a"}, {"S": 1}, {"N": "x"}, {"N": 1}, {"N": ""}, {"N": "1e126"}, {"N": "1e-131"},
    {"N": "1" * 39}, {"N": "1e99999999999999999999"}, {"B": "!"}, {"B": "A"}, {"B": ""}, {"SS": []}, {"SS": ["a", "a"]},
    {"NS": ["1", "1.0"]}, {"NS": []}, {"BS": ["AA==", "AA=="]}, {"BOOL": "true"}, {"BOOL": 1}, {"NULL": False},
    {"L": {}}, {"M": []}, {"L": [None]}, {"M": {"": {"S": ""}}}, {"S": "a", "N": "1"}, {"X": "a"}, {"S": None},
    {"a": {"S": "a"}}, {"a": "b"}, {"#a": "pk"}, {":s": {"S": "x"}}, {"S": ""}, {"S": "k" * 2049}, {"S": "\ud800"},
    _nested("L", 31), _nested("L", 32), _nested("M", 33), _nested("L", 70), _nested("M", 400),
]  # fmt: skip
_CALLS = (
    "attribute_exists(", "attribute_not_exists(", "attribute_type(", "begins_with(", "contains(", "size(",
    "if_not_exists(", "list_append(", "set_add(", "set_delete(", "EXISTS(", "missing(",
)  # fmt: skip
_TOKENS = (
    "AND", "OR", "NOT", "BETWEEN", "IN", "SET", "REMOVE", "ADD", "DELETE", "=", "<>", "<", "<=", ">", ">=", "+", "-",
    "(", ")", "[", "]", ",", ".", "#a", ":s", ":n", ":l", ":ss", "#missing", ":missing", "text", "map", "list", "pk",
    "[0]", "[99999999999999999999]", "[-1]", "[1.5]", "name", "#", ":", "'", '"', "`", "?", ";", "--", "/*", "*", "\\",
    "SELECT", "FROM", "WHERE", "VALUE", "UPDATE", "INSERT INTO", "RETURNING", "ORDER BY", "IS MISSING", "IS NULL", "<<",
    ">>", "{", "}", "1e400", "0x1F", "'it''s'", '"fuzz"."by-group"', "NULL", "true", "\u0000", "é", "🐍",
    "\ud800", "\t\n", *_CALLS,
)  # fmt: skip
_TOKEN = re.compile(r"[#:]?\w+|<>|<=|>=|'[^']*'|\s+|.")
_LANGUAGE = re.compile(r"Expression$|^Statement$")


def spoilt_tree(request: Request, random: Random) -> Request:
    """Put something wrong in a few places."""
    if random.random() < 0.1:
        # A member of another operation is unknown here, whatever its type.
        _, other = random.choice(SEEDS)
        name = random.choice(list(other))
        request = {name: random.choice((other[name], random.choice(WRONG))), **request}
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        places = list(paths(request))
        if not places:
            return request
        path = random.choice(places)
        request = _spoilt_place(request, path, random)
    return request


def _spoilt_place(request: Request, path: tuple[Any, ...], random: Random) -> Request:
    parent: Any = request
    for step in path[:-1]:
        parent = parent[step]
    changed: Any = dict(parent) if isinstance(parent, dict) else list(parent)
    last = path[-1]
    match random.randrange(10):
        case 0:
            del changed[last]
        case 1 if isinstance(parent, dict):
            changed[random.choice(("", "x", "#", ":", last.lower(), last + "s"))] = changed.pop(last)
        case 1 | 2 if isinstance(parent, list):
            changed += [changed[last]] * random.choice((1, 2, 30, 110))
        case 2 | 3:
            donor = random.choice(list(paths(request)))
            value: Any = request
            for step in donor:
                value = value[step]
            changed[last] = value
        case _:
            changed[last] = random.choice(WRONG)
    return replaced(request, path[:-1], changed)


def spoilt_language(request: Request, random: Random) -> Request:
    """Change the tokens of an expression or a statement."""
    places = [path for path in paths(request) if isinstance(path[-1], str) and _LANGUAGE.search(path[-1])]
    if not places:
        return spoilt_tree(request, random)
    path = random.choice(places)
    text: Any = request
    for step in path:
        text = text[step]
    if not isinstance(text, str):
        return request
    return replaced(request, path, spoilt_text(text, random))


def spoilt_text(text: str, random: Random) -> str:
    """Insert, remove, repeat, swap and nest tokens."""
    tokens = _TOKEN.findall(text)
    for _ in range(random.choice((1, 1, 2, 4, 10))):
        where = random.randrange(len(tokens) + 1)
        match random.randrange(9):
            case 0 if tokens:
                del tokens[where - 1 : where + random.randrange(3)]
            case 1:
                tokens[where:where] = tokens[where : where + 5] * random.choice((1, 3))
            case 2:
                random.shuffle(tokens)
            case 3:
                depth = random.choice((1, 5, 50, 290, 900))
                tokens = ["(" * depth, *tokens, ")" * random.choice((depth, depth - 1))]
            case 4:
                tokens = ["NOT "] * random.choice((1, 100, 301)) + tokens
            case 5:
                joiner = random.choice((" AND ", " OR ", ", ", " + ", "."))
                tokens = [joiner.join(["".join(tokens[:40])[:300]] * random.choice((2, 20, 120)))]
            case 6:
                tokens.insert(where, random.choice(("a" * 300, "x." * 60 + "y", "[0]" * 60, "9" * 60)))
            case _:
                tokens.insert(where, f" {random.choice(_TOKENS)} ")
    return "".join(tokens)[: random.choice((4096, 4097, 9000))]


def body(request: Request, random: Random) -> bytes:
    """The request's bytes; one in eight is spoilt there too."""
    # Lone surrogates can only travel as escapes, so ASCII it is, mostly.
    text = json.dumps(request, ensure_ascii=True)
    return spoilt_bytes(text.encode(), random) if random.random() < 0.125 else text.encode()


def spoilt_bytes(data: bytes, random: Random) -> bytes:
    """Break the JSON itself."""
    where = random.randrange(len(data) + 1)
    match random.randrange(14):
        case 0:
            return data[:where]
        case 1:
            return data[:where] + bytes([random.randrange(256)]) + data[where:]
        case 2:
            return (
                data[:where]
                + random.choice((b"\xff\xfe", b"\xc3\x28", b"\xed\xa0\x80", b"\xf8\x88"))
                + data[where:]
            )
        case 3:
            return data.replace(b'{"', b'{"TableName": 1, "', random.choice((1, 2)))
        case 4:
            return data.replace(b'{"', b'{"S": "a", "S": {}, "', random.choice((1, 5)))
        case 5:
            return data.replace(b'"', random.choice((b"'", b"", b'\\"')), random.randrange(1, 9))
        case 6:
            depth = random.choice((10, 1000, 20_000))
            return b'{"TableName": ' + b"[" * depth + b"]" * random.choice((depth, 0)) + b"}"
        case 7:
            depth = random.choice((10, 1000, 5_000))
            return b'{"Item": ' + b'{"M": ' * depth + b"{}" + b"}" * depth + b"}"
        case 8:
            return random.choice(
                (b"", b"null", b"[]", b'"x"', b"1", b"{", b"}", b"\xef\xbb\xbf{}", b"{}{}", b"\x00")
            )
        case 9:
            number = random.choice(
                (b"1e999999", b"-", b"01", b"1.", b"NaN", b"9" * 5000, b"0x10", b"1e+", b"-0")
            )
            return data.replace(b'"', number, random.randrange(1, 5))
        case 10:
            return data.replace(
                b'": "', random.choice((b'": "\\ud800', b'": "\\udc00\\ud800', b'": "\\x', b'": "\\u12'))
            )
        case 11:
            return data + random.choice((b" ", b"\n\n", b"x", b"}", b"\x00", b"," * 50))
        case 12:
            return bytes(random.randrange(256) for _ in range(random.randrange(200)))
        case _:
            flipped = bytearray(data)
            for _ in range(random.randrange(1, 6)):
                flipped[random.randrange(len(flipped))] ^= 1 << random.randrange(8)
            return bytes(flipped)
