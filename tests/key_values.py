"""Values for keys: good ones of each type, and what clients send in their place."""

from typing import Any

GOOD = {
    "S": ("a", "é", "\0", "x" * 1024),
    "N": ("7", "007", "-.5", "1e3", "1000", "0", "-0"),
    "B": ("AAE=", "/w=="),
}
_CONTENTS: tuple[Any, ...] = (None, 1, True, [], {}, ["a"])
ODD: tuple[Any, ...] = (
    *({"S": text} for text in ("", "x" * 1025, "x" * 2048, "x" * 2049, "é" * 1025)),
    *({"N": text} for text in ("", "x", "1e200", "1" * 39, " 1", "٣")),
    *({"B": text} for text in ("", "AAE", "AAF=", "%%%%", "A" * 4000)),
    *({kind: content} for kind in "SNB" for content in _CONTENTS),
    *({}, None, "a", 1, [], [{"S": "a"}], {"S": "a", "N": None}, {"S": "a", "N": "1"}, {"S": "a", "Z": 1}),
    *({"BOOL": True}, {"NULL": True}, {"SS": ["a"]}, {"M": {"S": {"S": "a"}}}, {"Z": "a"}),
)
VALUES = (*({kind: text} for kind, texts in GOOD.items() for text in texts), *ODD)
