"""The ceiling: what uvloop and httptools leave to a Python server that does next to nothing per request.

It decodes the body, looks up one key and answers. GetItem finds its item among ten thousand; every other
operation is answered with the bytes that were put at /Operation before, so that as much is read and written
as a database would, without the database.
"""

import asyncio
import signal
import sys

import httptools
import orjson
import uvloop

from hashrange_bench import sample

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n"

items: dict[str, bytes] = {}
answers: dict[bytes, bytes] = {}


class Ceiling(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._parser = httptools.HttpRequestParser(self)
        self._body = b""
        self._target = b""
        self._url = b""

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        self._url = url

    def on_header(self, name: bytes, value: bytes) -> None:
        if name == b"X-Amz-Target":
            self._target = value

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        if self._parser.get_method() == b"PUT":
            answers[b"DynamoDB_20120810." + self._url[1:]] = self._body
            answer = b"{}"
        else:
            request = orjson.loads(self._body)
            found = items.get(request["Key"]["pk"]["S"]) if "Key" in request else None
            answer = found or answers.get(self._target, b"{}")
        self._body = b""
        self._transport.write(_HEAD % len(answer) + answer)  # type: ignore[attr-defined]


async def serve(port: int) -> None:
    for number in range(sample.PEOPLE_COUNT):
        items[f"person-{number:010d}"] = f'{{"Item":{sample.person(number)}}}'.encode()
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    await loop.create_server(Ceiling, "127.0.0.1", port)
    await stop.wait()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve(int(sys.argv[1])))
