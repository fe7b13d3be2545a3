"""Answers of one turn are written together; one that cannot be written takes no other with it."""

from hashrange.api.errors import ApiError
from hashrange.wire.interfaces import ServerState
from hashrange.wire.limits import Limits


class Client:
    upload_bytes = unread_bytes = 0
    deadline = 0.0

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken
        self.told: list[str] = []

    def flush(self) -> None:
        if self.broken:
            raise RuntimeError("the transport is gone")
        self.told.append("answer")

    def abort(self) -> None:
        self.told.append("abort")

    def refuse_upload(self) -> None: ...

    def check(self, now: float) -> None: ...

    def drain(self) -> None: ...


class NoHandler:
    def handle(self, exchange: object) -> None: ...

    def refuse(self, refusal: ApiError) -> tuple[bytes, bytes]:
        return b"", b""


def test_an_answer_that_cannot_be_written_holds_up_no_other() -> None:
    shared = ServerState(NoHandler(), Limits(body_bytes_max=1))
    good, bad, other = Client(), Client(broken=True), Client()
    shared.outbox.extend((good, bad, other))
    shared.flush()
    assert (good.told, bad.told, other.told) == (["answer"], ["abort"], ["answer"])
    assert not shared.outbox
