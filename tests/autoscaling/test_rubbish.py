"""Whatever is sent to Application Auto Scaling, the answer is never a server's error."""

import json
import random
from typing import Any

import pytest

from hashrange.services.autoscaling.registry import AUTO_SCALING
from service_model import application_auto_scaling, members
from serving import Serving

_ODD: list[Any] = [
    None,
    "",
    "x",
    "dynamodb",
    "table/tab",
    "table/tab/index/i",
    "dynamodb:table:ReadCapacityUnits",
    "\u0000",
    "\U0001f600" * 300,
    "x" * 2000,
    "cron(0 0 * * ? *)",
    "rate(999999999 days)",
    "at(9999-12-31T23:59:59)",
    "cron(0 0 31 2 ? *)",
    "Europe/Berlin",
    0,
    -1,
    1,
    2**31,
    2**63,
    10**400,
    1.5,
    1e308,
    -1e300,
    True,
    [],
    [1],
    ["a"] * 60,
    {},
    {"a": "b"},
    {"a": 1},
    {"MinCapacity": 1},
    {"TargetValue": 70.0},
]


def test_lone_surrogates_are_refused(server: Serving) -> None:
    body = b'{"ServiceNamespace": "dynamodb", "ResourceId": "table/\\ud800", "ScalableDimension": "\\ud800"}'
    for name in AUTO_SCALING.operations:
        assert _post(server, name, body).status == 400


@pytest.mark.parametrize("name", AUTO_SCALING.operations)
def test_rubbish_is_refused(server: Serving, name: str) -> None:
    chance = random.Random(name)
    paths = [
        path for path in members(name, application_auto_scaling()) if "." not in path and "[" not in path
    ]
    for _ in range(150):
        good = {
            "ServiceNamespace": "dynamodb",
            "ResourceId": "table/tab",
            "ScalableDimension": "dynamodb:table:ReadCapacityUnits",
        }
        sent = {path: good.get(path, chance.choice(_ODD)) for path in paths}
        for path in chance.sample(paths, chance.randint(0, len(paths))):
            sent[path] = chance.choice(_ODD)
        answer = _post(server, name, json.dumps(sent).encode())
        assert answer.status in (200, 400), (sent, answer.body)


def _post(server: Serving, name: str, body: bytes) -> Any:
    headers = {
        "Content-Type": "application/x-amz-json-1.1",
        "X-Amz-Target": f"AnyScaleFrontendService.{name}",
    }
    return server.post("", body, headers=headers)
