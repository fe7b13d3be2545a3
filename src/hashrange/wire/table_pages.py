"""Pages about one table, for programs: JSON at an address that names the table, and maybe an index of it."""

import re
from collections.abc import Callable, Mapping
from urllib.parse import parse_qs

import msgspec

from hashrange.core.schema import Index, Table
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.errors import StorageError
from hashrange.wire import plain
from hashrange.wire.interfaces import Exchange

_QUERY_FIELDS_MAX = 10
_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,255}")  # of tables and regions

Answer = Callable[[bytes, bytes], None]  # takes the status and the body
Fields = Mapping[str, list[str]]


class WrongFields(ValueError):
    """The address asks for something that there is not; the message says what there is."""


class TableFinder(msgspec.Struct, frozen=True):
    """Whose tables are meant where nobody has signed; the `region` is that of addresses that name none."""

    catalogue: Catalogue
    account_id: str
    region: str


class TablePage:
    """Answers `GET path?table=NAME`, with `index` and `region` where they are wanted."""

    path: bytes
    rule: bytes  # what one can ask for

    def __init__(self, finder: TableFinder) -> None:
        self._finder = finder

    def handle(self, exchange: Exchange, request_id: bytes) -> None:
        """Answer a request, now or when the rows have been read."""
        self.handle_for(self._finder.account_id, exchange, request_id)

    def resource(self, account_id: str, exchange: Exchange) -> str:
        """The table that a request is about. Who names none, or one that cannot be, must be allowed to ask for all."""
        try:
            fields = _fields(exchange)
            name, region = fields["table"][0], self._region(fields)
        except (ValueError, LookupError):
            return "*"
        if not _NAME.fullmatch(name) or not _NAME.fullmatch(region):
            return "*"
        return f"arn:aws:dynamodb:{region}:{account_id}:table/{name}"

    def handle_for(self, account_id: str, exchange: Exchange, request_id: bytes) -> None:
        """The same for the tables of an account."""
        path = exchange.url.partition(b"?")[0]
        if path != self.path or exchange.method not in {b"GET", b"HEAD"}:
            plain.not_found(exchange, request_id)
            return
        answer = plain.answering(exchange, request_id)
        try:
            fields = _fields(exchange)
            name = fields["table"][0]
        except (ValueError, LookupError):
            answer(b"400 Bad Request", self.rule)
            return
        try:
            self._find(account_id, fields, name, answer)
        except WrongFields as error:
            answer(b"400 Bad Request", f"{error}\n".encode())
        except StorageError:
            unavailable(answer)

    def _find(self, account_id: str, fields: Fields, name: str, answer: Answer) -> None:
        finder = self._finder
        region = self._region(fields)
        table = finder.catalogue.find(account_id, region, name)
        index_name = fields.get("index", [None])[0]
        index = None if table is None or index_name is None else table.index_by_name.get(index_name)
        if table is None:
            answer(b"404 Not Found", f"there is no table {name!r} in {region}\n".encode())
        elif index_name is not None and (index is None or index.local):
            answer(b"404 Not Found", f"{name!r} has no global index {index_name!r}\n".encode())
        else:
            self.show(table, index, fields, answer)

    def _region(self, fields: Fields) -> str:
        return fields.get("region", [self._finder.region])[0]

    def show(self, table: Table, index: Index | None, fields: Fields, answer: Answer) -> None:
        """Answer what is asked about a table or one of its global indexes."""
        raise NotImplementedError


def _fields(exchange: Exchange) -> Fields:
    query = exchange.url.partition(b"?")[2]
    return parse_qs(query.decode(), errors="strict", max_num_fields=_QUERY_FIELDS_MAX)


def unavailable(answer: Answer) -> None:
    """Say that the rows cannot be read now."""
    answer(b"503 Service Unavailable", b"the storage does not answer\n")
