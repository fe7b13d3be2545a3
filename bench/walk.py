"""How far a request walks through the house: functions, files and changes of room between socket and disk.

    python bench/walk.py [--tree .]

Runs PutItem (a table with one global index), GetItem, Query with a filter, UpdateItem and TransactWriteItems of two
against a server of this process whose caches are warm, and counts with `sys.setprofile` the calls of Hashrange's own
functions: how many, in how many files, and how often the next call is in another file or another room. Numbers to
compare before and after a change, not a target by themselves.
"""

import argparse
import asyncio
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import orjson

_CONTENT_TYPE = b"application/x-amz-json-1.0"
_AUTHORIZATION = (
    b"AWS4-HMAC-SHA256 Credential=AKID/20260101/us-east-1/dynamodb/aws4_request, "
    b"SignedHeaders=host;x-amz-date, Signature=0a1b"
)
_ITEM = {"pk": {"S": "a"}, "sk": {"S": "b"}, "g": {"S": "c"}, "n": {"N": "1"}}
_KEY = {"pk": {"S": "a"}, "sk": {"S": "b"}}
_ADD = {
    "TableName": "walked",
    "Key": _KEY,
    "UpdateExpression": "ADD n :one",
    "ConditionExpression": "attribute_exists(pk)",
    "ExpressionAttributeValues": {":one": {"N": "1"}},
}
REQUESTS: dict[str, dict[str, Any]] = {
    "PutItem": {"TableName": "walked", "Item": _ITEM},
    "GetItem": {"TableName": "walked", "Key": _KEY},
    "Query": {
        "TableName": "walked",
        "KeyConditionExpression": "pk = :p",
        "FilterExpression": "n > :zero",
        "ExpressionAttributeValues": {":p": {"S": "a"}, ":zero": {"N": "0"}},
    },
    "UpdateItem": _ADD,
    "TransactWriteItems": {
        "TransactItems": [
            {"Put": {"TableName": "walked", "Item": _ITEM}},
            {
                "Update": {
                    **_ADD,
                    "Key": {"pk": {"S": "a"}, "sk": {"S": "other"}},
                    "ConditionExpression": "attribute_not_exists(n) OR n >= :one",
                }
            },
        ]
    },
}
_TABLE = {
    "TableName": "walked",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g")],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by-g",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "ALL"},
        }
    ],
}


class Walk:
    """What was called, in order."""

    def __init__(self, source: Path) -> None:
        self._prefix = str(source) + "/"
        self.calls: list[tuple[str, str]] = []  # file below the source, function

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(self._prefix):
            self.calls.append((frame.f_code.co_filename.removeprefix(self._prefix), frame.f_code.co_qualname))

    def figures(self) -> tuple[int, int, int, int, int]:
        """Calls, functions, files, changes of file and of room."""
        files = [file for file, _ in self.calls]
        rooms = [file.split("/")[0] for file in files]
        return len(self.calls), len(set(self.calls)), len(set(files)), _changes(files), _changes(rooms)


def _changes(places: list[str]) -> int:
    return sum(here != there for here, there in pairwise(places))


def _request(operation: str, body: dict[str, Any]) -> bytes:
    payload = orjson.dumps(body)
    lines = (
        b"POST / HTTP/1.1",
        b"Host: localhost",
        b"Content-Type: " + _CONTENT_TYPE,
        b"X-Amz-Target: DynamoDB_20120810." + operation.encode(),
        b"X-Amz-Date: 20260101T000000Z",
        b"Authorization: " + _AUTHORIZATION,
        b"Content-Length: %d" % len(payload),
        b"",
        payload,
    )
    return b"\r\n".join(lines)


class _Client:
    """A connection that is kept, as a client's is."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, operation: str, body: dict[str, Any]) -> None:
        self._writer.write(_request(operation, body))
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        answer = await self._reader.readexactly(length)
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(answer)


async def _walk(source: Path, directory: str) -> dict[str, Walk]:
    from hashrange.config import Settings  # noqa: PLC0415 - of the tree that was asked for
    from hashrange.server import Server  # noqa: PLC0415

    server = Server(Settings(data_dir=Path(directory), port=0))
    _, port = await server.start()
    client = _Client(*await asyncio.open_connection("127.0.0.1", port))
    await client.send("CreateTable", _TABLE)
    await asyncio.sleep(0.2)
    walks = {}
    for operation, body in REQUESTS.items():
        for _ in range(3):
            await client.send(operation, body)
        walk = walks[operation] = Walk(source)
        # A quiet server commits on this thread too; the writer's own thread is not looked at.
        sys.setprofile(walk)
        await client.send(operation, body)
        sys.setprofile(None)
    await server.stop()
    return walks


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--show", metavar="OPERATION", help="print the walk of one operation, call by call")
    options = parser.parse_args()
    source = (options.tree / "src" / "hashrange").resolve()
    sys.path.insert(0, str(source.parent))
    with tempfile.TemporaryDirectory() as directory:
        walks = asyncio.run(_walk(source, directory))
    print("| request | calls | functions | files | file switches | room switches |")
    print("|---|---|---|---|---|---|")
    for operation, walk in walks.items():
        print("|", operation, *(f"| {figure}" for figure in walk.figures()), "|")
    for file, function in walks[options.show].calls if options.show else ():
        print(file, function)


if __name__ == "__main__":
    main()
