"""What do signatures and permissions cost a request? Servers with and without take turns in one process, no sockets.

    python bench/auth_cost.py [--rounds 20] [--requests 400] [--modes off signature]

A server for each mode answers the same signed requests in turn. The smallest time of all rounds counts, because
whatever disturbs the process can only make it slower; bytecodes are exact. Kept throughput is the time without
verification divided by the time with it. A client's time on sockets is not in these figures, so that over sockets,
where bench/switches.py measures, more is kept. The modes with permissions differ in their policy: see policies.py.
"""

import argparse
import asyncio
import itertools
import os
from collections.abc import Sequence

import policies
import uvloop
from enforcement import WORK
from in_process import Clients, as_request, counted

from hashrange.auth.policy.documents import Kind, parse
from hashrange.auth.principals import Credential, Principal, PrincipalKind
from hashrange.config import Settings
from hashrange.server import Server
from hashrange.wire.connection import Connection
from hashrange_bench.sigv4 import Credentials

MODES = {
    "off": policies.TEN,
    "signature": policies.TEN,
    "iam": policies.TEN,
    "iam-conditions": policies.CONDITIONS,
    "iam-tenant": policies.TENANT,
}
_ACCOUNT = "000000000000"
_KEYS = 500
_COUNTED = 160
_TABLE = (
    '{"TableName":"measured","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],'
    '"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}'
)
_QUERY = '{"TableName":"measured","KeyConditionExpression":"pk = :p","ExpressionAttributeValues":{":p":{"S":"%d"}}}'
_WORK = {
    operation: body.replace('"%d"', f'"{policies.USER}-%d"')
    for operation, body in {**WORK, "Query": _QUERY}.items()
}


class _OneKey:
    """A directory with the key that the requests are signed with."""

    def __init__(self, credentials: Credentials, document: str) -> None:
        user = Principal(
            account_id=_ACCOUNT,
            arn=f"arn:aws:iam::{_ACCOUNT}:user/{policies.USER}",
            kind=PrincipalKind.USER,
            principal_id="AIDAMEASURED",
            name=policies.USER,
            identity=(parse(document, Kind.IDENTITY, name="measured"),),
        )
        self._credential = Credential(
            access_key_id=credentials.access_key,
            secret=credentials.secret_key,
            principal=user,
            token=credentials.token or None,
        )

    def credential(self, access_key: str, _token: str | None, /) -> Credential | None:
        return self._credential if access_key == self._credential.access_key_id else None


class Side:
    """A server with one of the modes."""

    def __init__(self, mode: str) -> None:
        self.mode = mode
        settings = Settings(in_memory=True, port=0, auth=mode.partition("-")[0], transition_ms=0)
        self._server = Server(settings, keys=_OneKey(Credentials.of(os.environ), MODES[mode]))

    async def start(self) -> None:
        """Make and fill the table."""
        await self._server.start()
        loop, shared = asyncio.get_running_loop(), self._server._listener._shared  # type: ignore[union-attr] # noqa: SLF001
        self.clients = Clients(lambda: Connection(shared, loop))
        await self.clients.call("CreateTable", _TABLE)
        for number in range(_KEYS):
            await self.clients.call("PutItem", _WORK["PutItem"] % number)

    async def stop(self) -> None:
        """End the server."""
        await self._server.stop()


async def _measured(
    sides: Sequence[Side], operation: str, rounds: int, count: int
) -> list[tuple[float, float]]:
    """Microseconds and bytecodes per request, in the order of the sides."""
    numbers = itertools.islice(itertools.cycle(range(_KEYS)), count)
    requests = [as_request(operation, _WORK[operation] % number) for number in numbers]
    least = [float("inf")] * len(sides)
    for _ in range(rounds):
        for at, side in enumerate(sides):
            least[at] = min(least[at], await side.clients.send(requests))
            # A fault of the measurement, and not of the server: answers that are refusals are cheap.
            await side.clients.call(operation, _WORK[operation] % 0)
    bytecodes = [
        min([await counted(side.clients.send(requests[:_COUNTED])) for _ in range(3)]) / _COUNTED
        for side in sides
    ]
    return list(zip((seconds / count * 1e6 for seconds in least), bytecodes, strict=True))


async def _run(modes: Sequence[str], rounds: int, count: int) -> None:
    sides = [Side(mode) for mode in modes]
    for side in sides:
        await side.start()
    print("| operation | mode | µs | bytecodes | kept throughput |\n|---|---|---|---|---|")
    for operation in _WORK:
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
    parser.add_argument(
        "--modes", nargs="+", choices=list(MODES), default=list(MODES), help="the first is compared with"
    )
    options = parser.parse_args()
    uvloop.run(_run(options.modes, options.rounds, options.requests))


if __name__ == "__main__":
    main()
