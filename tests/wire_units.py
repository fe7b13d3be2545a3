"""The units that an answer's ConsumedCapacity tells a client."""

from dataclasses import dataclass
from typing import Any

import orjson

from hashrange.api.results import Result
from hashrange.chain.executor import Call
from hashrange.wire.renderers import RENDERERS

Units = dict[tuple[str, str | None], float]  # by table and index


@dataclass
class Reported:
    """What the client is told: in all, and by table and index where it asked for that."""

    body: bytes
    total: float
    places: Units


def reported(call: Call, result: Result) -> Reported:
    """Render a result, and read the report in it."""
    body = RENDERERS[call.operation.name](call.request, result)
    members: Any = orjson.loads(body).get("ConsumedCapacity", [])
    tables = members if isinstance(members, list) else [members]
    places: Units = {}
    for table in tables:
        name = table["TableName"].rpartition("/")[2]
        if "Table" in table:
            places[name, None] = table["Table"]["CapacityUnits"]
        for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
            for index, units in table.get(kind, {}).items():
                places[name, index] = units["CapacityUnits"]
    used = {place: units for place, units in places.items() if units}
    return Reported(body, sum(table["CapacityUnits"] for table in tables), used)
