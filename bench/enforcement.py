"""What does enforcing capacity cost a request? Servers that do and do not take turns in one process, without sockets.

    python bench/enforcement.py [--rounds 20] [--requests 400]

A server for each value of --capacity, on a table with more capacity than the load can use, answers the same requests in
turn. The smallest time of all rounds counts, because whatever disturbs the process can only make it slower; bytecodes
are exact. Kept throughput is the time without enforcement divided by the time with it: GetItem's is to be 90 % or more.
"""

import argparse
import asyncio
import itertools
from collections.abc import Sequence

import uvloop
from in_process import Clients, as_request, counted

from hashrange.config import Settings
from hashrange.server import Server
from hashrange.wire.connection import Connection

MODES = ("off", "meter", "enforce")
_KEYS = 500
_TABLE = (
    '{"TableName":"measured","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],'
    '"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],'
    '"ProvisionedThroughput":{"ReadCapacityUnits":40000,"WriteCapacityUnits":40000}}'
)
_ITEM = '{"TableName":"measured","Item":{"pk":{"S":"%d"},"v":{"S":"something to store"}}}'
_KEY = '{"TableName":"measured","Key":{"pk":{"S":"%d"}}}'
_UPDATE = (
    '{"TableName":"measured","Key":{"pk":{"S":"%d"}},"UpdateExpression":"SET v = :v",'
    '"ExpressionAttributeValues":{":v":{"S":"something else"}}}'
)
WORK = {"GetItem": _KEY, "PutItem": _ITEM, "UpdateItem": _UPDATE}


class Side:
    """A server with one of the modes."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self._server = Server(Settings(in_memory=True, port=0, capacity=mode, transition_ms=0))

    async def start(self) -> None:
        """Make and fill the table."""
        await self._server.start()
        loop, shared = asyncio.get_running_loop(), self._server._listener._shared  # type: ignore[union-attr] # noqa: SLF001
        self.clients = Clients(lambda: Connection(shared, loop))
        await self.clients.call("CreateTable", _TABLE)
        for number in range(_KEYS):
            await self.clients.call("PutItem", _ITEM % number)

    async def stop(self) -> None:
        """End the server."""
        await self._server.stop()


async def _measured(
    sides: Sequence[Side], operation: str, rounds: int, count: int
) -> list[tuple[float, float]]:
    """Microseconds and bytecodes per request, in the order of the sides."""
    numbers = itertools.islice(itertools.cycle(range(_KEYS)), count)
    requests = [as_request(operation, WORK[operation] % number) for number in numbers]
    least = [float("inf")] * len(sides)
    for _ in range(rounds):
        for at, side in enumerate(sides):
            least[at] = min(least[at], await side.clients.send(requests))
            # A fault of the measurement, and not of the server: answers that are refusals are cheap.
            await side.clients.call(operation, WORK[operation] % 0)
    bytecodes = [
        min([await counted(side.clients.send(requests[:160])) for _ in range(3)]) / 160 for side in sides
    ]
    return list(zip((seconds / count * 1e6 for seconds in least), bytecodes, strict=True))


async def _run(rounds: int, count: int) -> None:
    sides = [Side(mode) for mode in MODES]
    for side in sides:
        await side.start()
    print("| operation | capacity | µs | bytecodes | kept throughput |\n|---|---|---|---|---|")
    for operation in WORK:
        measured = await _measured(sides, operation, rounds, count)
        for side, (microseconds, bytecodes) in zip(sides, measured, strict=True):
            kept = measured[0][0] / microseconds
            print(f"| {operation} | {side.mode} | {microseconds:.1f} | {bytecodes:.0f} | {kept:.1%} |")
    for side in sides:
        await side.stop()


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--requests", type=int, default=400)
    options = parser.parse_args()
    uvloop.run(_run(options.rounds, options.requests))


if __name__ == "__main__":
    main()
