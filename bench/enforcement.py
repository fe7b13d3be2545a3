"""What does enforcing capacity cost a request? Servers that do and do not take turns in one process, without sockets.

    python bench/enforcement.py [--rounds 20] [--requests 400]
    python bench/enforcement.py --instructions       # with valgrind: the same on a busy machine, in half an hour

A server for each value of --capacity, on a table with more capacity than the load can use, answers the same requests in
turn. The smallest time of all rounds counts, because whatever disturbs the process can only make it slower; bytecodes
are exact. Kept throughput is the time without enforcement divided by the time with it: GetItem's is to be 90 % or more.
Instructions are those of a whole process with one server, in runs of two lengths, divided by the difference.
"""

import argparse
import asyncio
import itertools
import subprocess
import sys
from collections.abc import Sequence

import uvloop
from in_process import LENGTHS, VALGRIND, Clients, as_request, counted, refs

from hashrange import metering
from hashrange.config import Settings
from hashrange.server import Server
from hashrange.wire.connection import Connection

MODES = ("off", "meter", "enforce")
_KEYS = 500
_VALGRIND_SLOWNESS = 50
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


async def _serve(mode: str, operation: str, count: int) -> None:
    """Answer so many requests in this process."""
    # What is observed is counted every tenth of a second, which has far fewer requests here.
    metering._HAND_OVER_SECONDS *= _VALGRIND_SLOWNESS  # noqa: SLF001
    side = Side(mode)
    await side.start()
    numbers = itertools.islice(itertools.cycle(range(_KEYS)), count)
    await side.clients.send([as_request(operation, WORK[operation] % number) for number in numbers])
    await side.stop()


def _instructions(mode: str, operation: str) -> float:
    reports = [
        subprocess.run(
            [*VALGRIND, sys.executable, __file__, "--serve", mode, operation, str(count)],
            capture_output=True,
            check=True,
            text=True,
        ).stderr
        for count in LENGTHS
    ]
    return (refs(reports[1]) - refs(reports[0])) / (LENGTHS[1] - LENGTHS[0])


def _print_instructions() -> None:
    print("| operation | capacity | instructions | kept throughput |\n|---|---|---|---|")
    for operation in WORK:
        counts = [_instructions(mode, operation) for mode in MODES]
        for mode, count in zip(MODES, counts, strict=True):
            print(f"| {operation} | {mode} | {count:,.0f} | {counts[0] / count:.1%} |")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--requests", type=int, default=400)
    parser.add_argument("--instructions", action="store_true", help="count instructions instead of time")
    parser.add_argument("--serve", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        mode, operation, count = options.serve
        uvloop.run(_serve(mode, operation, int(count)))
    elif options.instructions:
        _print_instructions()
    else:
        uvloop.run(_run(options.rounds, options.requests))


if __name__ == "__main__":
    main()
