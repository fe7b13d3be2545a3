"""The checkers themselves: they pass what can be explained and find what cannot."""

import random
from typing import Any

import pytest

from scaleout import linear, serial
from scaleout.history import Operation, Transaction


def op(kind: Any, sent: float, answered: float, outcome: Any = "done", **fields: Any) -> Operation:
    return Operation(kind, "k", sent, answered, outcome, **fields)


GOOD = {
    "one after the other": [op("put", 0, 1, wrote="a"), op("get", 2, 3, saw="a")],
    "a get beside a put may see either": [
        op("put", 0, 1, wrote="a"),
        op("put", 2, 5, wrote="b"),
        op("get", 3, 4, saw="b"),
        op("get", 3, 4, saw="a"),
    ],
    "an unknown put may happen late": [
        op("put", 0, 1, "unknown", wrote="a"),
        op("get", 2, 3, saw=None),
        op("get", 4, 5, saw="a"),
    ],
    "or never": [op("put", 0, 1, "unknown", wrote="a"), op("get", 2, 3, saw=None)],
    "a refused swap saw another value": [
        op("put", 0, 1, wrote="a"),
        op("swap", 2, 3, "refused", expected="b", wrote="c"),
        op("swap", 4, 5, expected="a", wrote="c"),
        op("get", 6, 7, saw="c"),
    ],
    "a delete": [op("put", 0, 1, wrote="a"), op("delete", 2, 3), op("get", 4, 5, saw=None)],
}
BAD = {
    "a stale get": [op("put", 0, 1, wrote="a"), op("put", 2, 3, wrote="b"), op("get", 4, 5, saw="a")],
    "a lost put": [op("put", 0, 1, wrote="a"), op("get", 2, 3, saw=None)],
    "back and forth": [
        op("put", 0, 1, wrote="a"),
        op("put", 2, 9, wrote="b"),
        op("get", 3, 4, saw="b"),
        op("get", 5, 6, saw="a"),
    ],
    "two swaps of one value": [
        op("put", 0, 1, wrote="a"),
        op("swap", 2, 5, expected="a", wrote="b"),
        op("swap", 3, 4, expected="a", wrote="c"),
    ],
    "a value from nowhere": [op("put", 0, 1, wrote="a"), op("get", 2, 3, saw="x")],
    "an unknown put before it was sent": [
        op("get", 0, 1, saw="a"),
        op("put", 2, 3, "unknown", wrote="a"),
    ],
}


@pytest.mark.parametrize("name", GOOD)
def test_linearizable(name: str) -> None:
    assert linear.violations(GOOD[name]) == {}


@pytest.mark.parametrize("name", BAD)
def test_not_linearizable(name: str) -> None:
    assert list(linear.violations(BAD[name])) == ["k"]


def test_a_long_history_of_a_real_register_is_linearizable_and_a_spoilt_one_is_not() -> None:
    chance = random.Random(7)
    state, now, history = None, 0.0, []
    for number in range(300):
        sent, at, answered = now - chance.random() * 4, now, now + chance.random() * 4
        now += 1
        if chance.random() < 0.5:
            state = number
            history.append(op("put", min(sent, at), answered, wrote=number))
        else:
            history.append(op("get", min(sent, at), answered, saw=state))
    assert linear.is_linearizable(history)
    at = next(at for at in range(250, 300) if history[at].kind == "get" and history[at].saw is not None)
    spoilt = op(
        "get", history[at].sent, history[at].answered, saw=history[10].wrote or history[12].wrote or 1
    )
    assert not linear.is_linearizable([*history[:at], spoilt, *history[at + 1 :]])


def tx(name: str, sent: float, answered: float, outcome: Any = "done", **fields: Any) -> Transaction:
    return Transaction(name, sent, answered, outcome, **fields)


def test_serializable() -> None:
    history = [
        tx("a", 0, 1, appended=("x", "y")),
        tx("b", 2, 3, appended=("x",), saw={"y": ("a",)}),
        tx("r", 2, 5, saw={"x": ("a",), "y": ("a",)}),
        tx("u", 2, 3, "unknown", appended=("x", "y")),
        tx("n", 2, 3, "refused", appended=("x", "y")),
    ]
    assert serial.problems(history, {"x": ("a", "b"), "y": ("a",)}) == []
    assert serial.problems(history, {"x": ("a", "b", "u"), "y": ("a", "u")}) == []


@pytest.mark.parametrize(
    ("history", "final", "problem"),
    [
        ([tx("a", 0, 1, appended=("x",))], {"x": ()}, "0 times"),
        ([tx("a", 0, 1, appended=("x",))], {"x": ("a", "a")}, "2 times"),
        ([tx("a", 0, 1, "refused", appended=("x",))], {"x": ("a",)}, "refused"),
        ([tx("a", 0, 1, "unknown", appended=("x", "y"))], {"x": ("a",), "y": ()}, "half"),
        ([tx("r", 0, 1, saw={"x": ("b",)})], {"x": ("a", "b")}, "became"),
        (
            [tx("a", 0, 9, appended=("x",), saw={"y": ()}), tx("b", 0, 9, appended=("y",), saw={"x": ()})],
            {"x": ("a",), "y": ("b",)},
            "no serial order",
        ),
        (
            [
                tx("a", 0, 1, appended=("x",)),
                tx("b", 0, 1, appended=("y",)),
                tx("r", 0, 9, saw={"x": ("a",), "y": ()}),
                tx("s", 0, 9, saw={"x": (), "y": ("b",)}),
            ],
            {"x": ("a",), "y": ("b",)},
            "no serial order",
        ),
        (
            [tx("a", 0, 1, appended=("x",)), tx("r", 2, 3, saw={"x": ()})],
            {"x": ("a",)},
            "no serial order",
        ),
    ],
)
def test_not_serializable(
    history: list[Transaction], final: dict[str, tuple[str, ...]], problem: str
) -> None:
    assert problem in " ".join(serial.problems(history, final))
