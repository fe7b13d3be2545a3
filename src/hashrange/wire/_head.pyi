from typing import TypeVar

_T = TypeVar("_T")

def read(
    received: bytes, headers: dict[bytes, bytes], repeats: dict[bytes, _T], /
) -> tuple[bytes, _T | None] | None: ...
def ok_head(begin: bytes, request_id: bytes, checksum: int, length: int, /) -> bytes: ...
