"""Many requests over few connections, pipelined: speed, and a check of every answer's form."""

import asyncio
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import uvloop

from serving import AUTHORIZATION

CONNECTIONS = 16
DEPTH = 16  # requests on their way on one connection
ANSWER_SECONDS = 120.0  # a busy machine takes a while for a batch with a costly request in it
_LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n", re.IGNORECASE)
_CHECKSUM = re.compile(rb"\r\nx-amz-crc32: (\d+)\r\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shot:
    """A request as it goes out, and the number that makes it again."""

    number: int
    operation: str
    body: bytes

    def wire(self) -> bytes:
        """The request's bytes."""
        return (
            b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n"
            b"X-Amz-Target: DynamoDB_20120810.%b\r\nX-Amz-Date: 20260101T000000Z\r\nAuthorization: %b\r\n"
            b"Content-Length: %d\r\n\r\n%b"
        ) % (self.operation.encode(), AUTHORIZATION.encode(), len(self.body), self.body)


@dataclass(slots=True)
class Tally:
    """What came back."""

    statuses: dict[int, int] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)
    wrong: list[tuple[Shot, str]] = field(default_factory=list)

    def answer(self, shot: Shot, status: int, head: bytes, body: bytes) -> None:
        """Count an answer and look at its form."""
        self.statuses[status] = self.statuses.get(status, 0) + 1
        checksum = _CHECKSUM.search(head)
        if status not in {200, 400, 413}:
            self.wrong.append((shot, f"status {status}: {body[:300]!r}"))
        elif checksum is None or int(checksum[1]) != zlib.crc32(body):
            self.wrong.append((shot, "the checksum is wrong"))
        elif status != 200:
            self._error(shot, body)

    def _error(self, shot: Shot, body: bytes) -> None:
        try:
            code = json.loads(body)["__type"].rpartition("#")[2]
        except (ValueError, KeyError, TypeError):
            self.wrong.append((shot, f"not an error's form: {body[:300]!r}"))
        else:
            self.codes[code] = self.codes.get(code, 0) + 1


def fire(port: int, shots: list[Shot], tally: Tally) -> None:
    """Send all of them and wait for all answers."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_fire(port, shots, tally))


async def _fire(port: int, shots: list[Shot], tally: Tally) -> None:
    queue = iter([shots[start : start + DEPTH] for start in range(0, len(shots), DEPTH)])
    async with asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            group.create_task(_connection(port, queue, tally))


async def _connection(port: int, queue: Iterator[list[Shot]], tally: Tally) -> None:
    streams = None
    for batch in queue:
        reader, writer = streams or await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        streams = reader, writer
        writer.write(b"".join(shot.wire() for shot in batch))
        for place, shot in enumerate(batch):
            try:
                await asyncio.wait_for(_answer(reader, shot, tally), ANSWER_SECONDS)
            except (TimeoutError, OSError, asyncio.IncompleteReadError) as error:
                rest = [behind.number for behind in batch[place + 1 :]]
                tally.wrong.append((shot, f"no answer ({error!r}); behind it: {rest}"))
                writer.transport.abort()
                streams = None
                break
    if streams is not None:
        streams[1].close()
        await streams[1].wait_closed()


async def _answer(reader: asyncio.StreamReader, shot: Shot, tally: Tally) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    body = await reader.readexactly(int(length[1])) if length else b""
    tally.answer(shot, int(head[9:12]), head, body)
