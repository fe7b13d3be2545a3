from typing import Self

import apsw

class Rows:
    def __new__(
        cls, connection: apsw.Connection, database: int, forward: str, reverse: str, large: str, /
    ) -> Self: ...
    def joined(
        self, start: bytes, end: bytes, head: int, limit: int, separator: bytes, reverse: bool, /
    ) -> tuple[int, bytes, bytes, bytes] | None: ...
    def close(self) -> None: ...

def sqlite_version() -> int: ...
