"""Random requests that mostly make sense: items, expressions, reads, batches and transactions on a few keys."""

from random import Random
from typing import Any

RANGED = "ranged"  # pk S, sk N, two global indexes and a local one
PLAIN = "plain"  # pk S
Request = dict[str, Any]

_ATTRIBUTES = ("a", "b", "c", "n", "g", "m", "l", "ss")
_RESERVED = ("name", "size", "status", "count", "data")
_NUMBERS = (
    "0", "1", "-1", "2", "10", "3.14", "-0.5", "1e10", "1E-5", "+7", "00012", "1.50", "123456789012345678901234567890",
    "9.9e125", "1e-130", "12345678901234567890123456789012345678", "-1e125",
)  # fmt: skip
_TEXTS = ("a", "ab", "abc", "b", "z", "é", "10", "🐍", "A", "a b")
_BLOBS = ("AA==", "AAE=", "/w==", "YWJj")
_TYPES = ("S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M")
_COMPARATORS = ("=", "<>", "<", "<=", ">", ">=")


def _schema(*names: str) -> list[dict[str, str]]:
    kinds = ("HASH", "RANGE")
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(names, kinds, strict=False)]


def _projection(kind: str, *names: str) -> dict[str, Any]:
    return {"ProjectionType": kind, **({"NonKeyAttributes": list(names)} if names else {})}


_THROUGHPUT = {"ProvisionedThroughput": {"ReadCapacityUnits": 100, "WriteCapacityUnits": 100}}
TABLES: list[Request] = [
    {
        "TableName": RANGED,
        "KeySchema": _schema("pk", "sk"),
        "AttributeDefinitions": [
            {"AttributeName": name, "AttributeType": kind}
            for name, kind in {"pk": "S", "sk": "N", "g": "S", "n": "N"}.items()
        ],
        "LocalSecondaryIndexes": [
            {"IndexName": "by-n", "KeySchema": _schema("pk", "n"), "Projection": _projection("KEYS_ONLY")}
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by-g",
                "KeySchema": _schema("g", "n"),
                "Projection": _projection("ALL"),
                **_THROUGHPUT,
            },
            {
                "IndexName": "some-g",
                "KeySchema": _schema("g"),
                "Projection": _projection("INCLUDE", "a"),
                **_THROUGHPUT,
            },
        ],
        **_THROUGHPUT,
    },
    {
        "TableName": PLAIN,
        "KeySchema": _schema("pk"),
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        **_THROUGHPUT,
    },
]


class Values:
    """Random keys, values and items."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def table(self) -> str:
        return RANGED if self.chance(0.8) else PLAIN

    def key(self, table: str) -> Request:
        """A key that is right, or now and then one that is not."""
        key: Request = {"pk": {"S": self.random.choice("pqr")}}
        if table == RANGED:
            key["sk"] = {"N": str(self.random.randrange(4))}
        if self.chance(0.03):
            wrong = self.random.choice(("pk", "sk", "x"))
            key[wrong] = self.value()
        if self.chance(0.01):
            key.pop(self.random.choice(list(key)))
        return key

    def value(self, depth: int = 0) -> Any:
        """A value of any type."""
        random = self.random
        kind = random.choices(_TYPES, (6, 8, 2, 2, 1, 2, 2, 1, 3, 3))[0]
        if depth > 2 and kind in {"L", "M"}:
            kind = "S"
        match kind:
            case "S":
                return {"S": random.choice(_TEXTS)}
            case "N":
                return {"N": self.number()}
            case "B":
                return {"B": random.choice(_BLOBS)}
            case "BOOL":
                return {"BOOL": self.chance(0.5)}
            case "NULL":
                return {"NULL": True}
            case "SS":
                return {"SS": random.sample(_TEXTS, random.randrange(1, 4))}
            case "NS":
                return {"NS": random.sample(("0", "1", "2.5", "-3", "1000"), random.randrange(1, 4))}
            case "BS":
                return {"BS": random.sample(_BLOBS, random.randrange(1, 3))}
            case "L":
                return {"L": [self.value(depth + 1) for _ in range(random.randrange(4))]}
            case _:
                return {
                    "M": {name: self.value(depth + 1) for name in random.sample("abxy", random.randrange(3))}
                }

    def number(self) -> str:
        if self.chance(0.02):
            return self.random.choice(
                ("", "x", "1e126", "1e-131", "1" * 39, "0x1", "1_0", " 1", "NaN", "--1", "1e")
            )
        return self.random.choice(_NUMBERS)

    def item(self, table: str) -> Request:
        """A whole item; index keys are mostly of the right type."""
        item = self.key(table)
        for name in self.random.sample(_ATTRIBUTES, self.random.randrange(len(_ATTRIBUTES))):
            item[name] = self.value()
        if "g" in item and self.chance(0.9):
            item["g"] = {"S": self.random.choice("xy")}
        if "n" in item and self.chance(0.9):
            item["n"] = {"N": str(self.random.randrange(5))}
        if self.chance(0.01):
            item[""] = {"S": "a"}
        return item


class Expressions(Values):
    """Random expressions, with the names and values they use."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.names: dict[str, str] = {}
        self.values: Request = {}

    def parameters(self) -> Request:
        """The maps that belong to the expressions made so far; now and then something is off."""
        if self.chance(0.015):
            self.values[":unused"] = {"S": "x"}
        if self.chance(0.015):
            self.names["#unused"] = "x"
        for used in (self.names, self.values):
            if used and self.chance(0.01):
                used.pop(self.random.choice(list(used)))
        found: Request = {}
        if self.names or self.chance(0.01):
            found["ExpressionAttributeNames"] = self.names
        if self.values or self.chance(0.01):
            found["ExpressionAttributeValues"] = self.values
        return found

    def path(self) -> str:
        """A document path."""
        random = self.random
        name = random.choice(("pk", "sk", *_ATTRIBUTES, *_ATTRIBUTES))
        if self.chance(0.02):
            return random.choice(_RESERVED)
        if self.chance(0.3):
            alias = f"#{name}"
            self.names[alias] = name
            name = alias
        while self.chance(0.25):
            name += random.choice((".a", ".b", ".x", "[0]", "[1]", "[7]"))
        return name

    def placeholder(self, value: Any = None) -> str:
        """A new placeholder for a value."""
        label = f":v{len(self.values)}"
        self.values[label] = self.value() if value is None else value
        return label

    def operand(self) -> str:
        if self.chance(0.1):
            return f"size({self.path()})"
        return self.path() if self.chance(0.5) else self.placeholder()

    def condition(self, depth: int = 0) -> str:
        """A condition."""
        random = self.random
        if depth < 3 and self.chance(0.35):
            left, right = self.condition(depth + 1), self.condition(depth + 1)
            match random.randrange(4):
                case 0:
                    return f"{left} AND {right}"
                case 1:
                    return f"{left} OR {right}"
                case 2:
                    return f"NOT ({left})"
                case _:
                    return f"({left} OR {right})"
        match random.randrange(8):
            case 0:
                low, high = self.placeholder({"N": "1"}), self.placeholder({"N": "9"})
                return f"{self.operand()} BETWEEN {low} AND {high}"
            case 1:
                return f"{self.operand()} IN ({', '.join(self.operand() for _ in range(random.randrange(1, 4)))})"
            case 2:
                return f"attribute_exists({self.path()})"
            case 3:
                return f"attribute_not_exists({self.path()})"
            case 4:
                kind = self.placeholder({"S": random.choice((*_TYPES, "X"))})
                return f"attribute_type({self.path()}, {kind})"
            case 5:
                prefix = (
                    self.placeholder({"S": random.choice(_TEXTS)}) if self.chance(0.8) else self.operand()
                )
                return f"begins_with({self.path()}, {prefix})"
            case 6:
                return f"contains({self.path()}, {self.operand()})"
            case _:
                return f"{self.operand()} {random.choice(_COMPARATORS)} {self.operand()}"

    def projection(self) -> str:
        return ", ".join(self.path() for _ in range(self.random.randrange(1, 4)))

    def update(self) -> str:
        """An update of a few clauses."""
        random = self.random
        clauses = random.sample(("SET", "REMOVE", "ADD", "DELETE"), random.choice((1, 1, 1, 2, 3)))
        return " ".join(f"{clause} {self._actions(clause)}" for clause in clauses)

    def _actions(self, clause: str) -> str:
        return ", ".join(self._action(clause) for _ in range(self.random.choice((1, 1, 2, 3))))

    def _action(self, clause: str) -> str:
        match clause:
            case "SET":
                return f"{self.path()} = {self._assigned()}"
            case "REMOVE":
                return self.path()
            case "ADD":
                added = self.random.choice(
                    ({"N": "1"}, {"N": "-2.5"}, {"SS": ["a", "q"]}, {"NS": ["1"]}, None)
                )
                return f"{self.path()} {self.placeholder(added)}"
            case _:
                removed = self.random.choice(({"SS": ["a"]}, {"NS": ["1", "2"]}, {"BS": ["AA=="]}, None))
                return f"{self.path()} {self.placeholder(removed)}"

    def _assigned(self) -> str:
        match self.random.randrange(7):
            case 0:
                return f"{self.path()} {self.random.choice('+-')} {self.placeholder({'N': self.number()})}"
            case 1:
                return f"if_not_exists({self.path()}, {self.placeholder()})"
            case 2:
                return f"list_append({self.path()}, {self.placeholder({'L': [{'S': 'x'}]})})"
            case 3:
                return (
                    f"list_append(if_not_exists({self.path()}, {self.placeholder({'L': []})}), {self.path()})"
                )
            case 4:
                return self.path()
            case _:
                return self.placeholder()

    def broken(self, text: str) -> str:
        """Now and then, a text that does not parse."""
        if not self.chance(0.02):
            return text
        where = self.random.randrange(len(text) + 1)
        odd = self.random.choice(
            ("(", ")", ",", " AND ", "=", "$", "##", "[", "]", "..", " ", "set ", "'", "é")
        )
        return text[:where] + odd + text[where + self.random.randrange(3) :]
