"""How many bytes an item of 2.1 KB takes on the disk: load some, stop the server, look at its files."""

from pathlib import Path

from running import running
from systems import System

from hashrange_bench import sample
from hashrange_bench.endpoint import Endpoint
from hashrange_bench.sender import Sender, SendFailed
from hashrange_bench.tables import Tables

ITEM_BYTES = 2_100
COUNT = 5_000
_BATCH = 25
_CONNECTIONS = 4
_LOAD_SECONDS_MAX = 120


def item(number: int) -> str:
    """Give an item of 2.1 KB in DynamoDB's count: one of 400 bytes, and text."""
    more = "".join(chr(ord("a") + (number * 7 + place * place) % 26) for place in range(ITEM_BYTES - 404))
    return f'{sample.person(number)[:-1]},"more":{{"S":"{more}"}}}}'


def bytes_per_item(system: System, tools: Path, port: int) -> float:
    """Fill a table, stop the server, and divide what its folder has grown by."""
    sizes: list[int] = []

    def look(data: Path) -> None:
        sizes.append(folder_bytes(data))

    for count in (0, COUNT):
        with running(system, tools, port, stopped=look) as server:
            _fill(server.endpoint, count)
    return (sizes[1] - sizes[0]) / COUNT


def folder_bytes(folder: Path) -> int:
    """What the files below a folder have, logs of output aside."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.suffix != ".log")


def _fill(endpoint: Endpoint, count: int) -> None:
    Tables(endpoint, connections=_CONNECTIONS).ready(sample.PLAIN)
    bodies = (_batch(range(first, first + _BATCH)) for first in range(0, count, _BATCH))
    requests = (endpoint.request("BatchWriteItem", body) for body in bodies)
    sender = Sender(endpoint, requests, seconds=_LOAD_SECONDS_MAX)
    sender.run(_CONNECTIONS)
    if sender.refused or sender.unfinished:
        raise SendFailed(sender.complaint or "items were left unprocessed")


def _batch(numbers: range) -> str:
    puts = ",".join(f'{{"PutRequest":{{"Item":{item(number)}}}}}' for number in numbers)
    return f'{{"RequestItems":{{"{sample.PLAIN}":[{puts}]}}}}'
