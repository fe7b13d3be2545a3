"""Answers of the API to a read pattern: all requests and pages that an application would need, put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hashrange.modeling.data.values import NOW
from hashrange.modeling.model import Model, ReadOperation
from hashrange.modeling.plans import ReadPlan
from hashrange.modeling.prove.parameters import Parameters
from hashrange.modeling.prove.private_engine import PrivateEngine, Response
from hashrange.modeling.read_requests import requests_for
from hashrange.modeling.requests import ApiRequest
from hashrange.modeling.wire_values import WireItem

_PAGED = (ReadOperation.QUERY, ReadOperation.SCAN)


@dataclass(slots=True)
class ReadAnswer:
    """What came back, and what it took."""

    items: list[WireItem] = field(default_factory=list)
    items_read: int = 0
    units: float = 0.0
    pages: int = 0
    requests: tuple[ApiRequest, ...] = ()


def read_answer(
    engine: PrivateEngine, model: Model, plan: ReadPlan, every: Sequence[Parameters]
) -> ReadAnswer:
    """Ask for one set of parameters, or for a batch of them. Raises `ApiError`."""
    parameters: Parameters | Sequence[Parameters] = every[0] if len(every) == 1 else every
    requests = requests_for(plan, parameters, model, now=NOW)
    answer = ReadAnswer(requests=requests)
    for request in requests:
        _follow(engine, plan, request, answer)
    return answer


def _follow(engine: PrivateEngine, plan: ReadPlan, request: ApiRequest, answer: ReadAnswer) -> None:
    """Send a request, and go on where its page ends, until the pattern's limit is reached."""
    wanted = plan.pattern.limit
    begun = len(answer.items)
    more: Response = {}
    while True:
        response = engine.send(request, ReturnConsumedCapacity="TOTAL", **more)
        _take(plan, response, answer)
        last = response.get("LastEvaluatedKey")
        enough = wanted is not None and len(answer.items) - begun >= wanted
        if plan.operation not in _PAGED or last is None or enough:
            return
        more = {"ExclusiveStartKey": last}


def _take(plan: ReadPlan, response: Response, answer: ReadAnswer) -> None:
    items = _items(plan, response)
    answer.items += items
    answer.items_read += response.get("ScannedCount", len(items))
    answer.pages += 1
    consumed = response.get("ConsumedCapacity", [])
    for part in consumed if isinstance(consumed, list) else [consumed]:
        answer.units += part["CapacityUnits"]


def _items(plan: ReadPlan, response: Response) -> list[WireItem]:
    match plan.operation:
        case ReadOperation.GET_ITEM:
            return [response["Item"]] if "Item" in response else []
        case ReadOperation.BATCH_GET_ITEM:
            return list(response["Responses"].get(plan.table.name, []))
        case ReadOperation.TRANSACT_GET_ITEMS:
            return [element["Item"] for element in response["Responses"] if "Item" in element]
        case _:
            return list(response["Items"])
