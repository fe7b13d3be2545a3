"""Writing changes into a table by batches, all of them, in whatever time the table takes."""

import time
from collections.abc import Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

import msgspec

from hashrange.transfer.endpoint import Endpoint, backoff_seconds
from hashrange.transfer.errors import EndpointError, TransferError
from hashrange.transfer.wire_values import WireItem

BATCH_ITEMS_MAX = 25  # API_BatchWriteItem
_NO_PROGRESS_SECONDS = 300.0
# What is wrong with a single item is said of the whole batch.
_ABOUT_ITEMS = frozenset(
    {
        "ItemCollectionSizeLimitExceededException",
        "RequestEntityTooLargeException",
        "SerializationException",
        "ValidationException",
        "413",
    }
)


class Put(msgspec.Struct, frozen=True):
    """Store an item. The identity tells its key from those of other changes."""

    identity: Hashable
    item: WireItem
    size: int = 0  # in the service's bytes, where somebody has measured it


class Delete(msgspec.Struct, frozen=True):
    """Remove the item with a key."""

    identity: Hashable
    key: WireItem


Change = Put | Delete


class Refusal(msgspec.Struct, frozen=True):
    """A change that the table does not take."""

    identity: Hashable
    message: str


class TableWriter:
    """Writes into one table, with several batches at a time."""

    def __init__(self, endpoint: Endpoint, pool: ThreadPoolExecutor) -> None:
        self._endpoint = endpoint
        self._pool = pool

    def write(self, changes: Iterable[Change]) -> list[Refusal]:
        """Write changes of which the last to a key wins; gives those that the table refused."""
        batches = self._batches(changes)
        return [refusal for refusals in self._pool.map(self._write_batch, batches) for refusal in refusals]

    def write_here(self, changes: Iterable[Change]) -> list[Refusal]:
        """Write changes by this thread alone."""
        batches = self._batches(changes)
        return [refusal for batch in batches for refusal in self._write_batch(batch)]

    def _batches(self, changes: Iterable[Change]) -> Iterator[list[Change]]:
        # A batch may have a key only once, and batches are written in any order.
        last = iter({change.identity: change for change in changes}.values())
        while batch := list(islice(last, BATCH_ITEMS_MAX)):
            yield batch

    def _write_batch(self, batch: list[Change]) -> list[Refusal]:
        try:
            self._send([_request(change) for change in batch])
        except EndpointError as error:
            if error.code not in _ABOUT_ITEMS:
                raise
            if len(batch) == 1:
                return [Refusal(batch[0].identity, error.message)]
            return [refusal for change in batch for refusal in self._write_batch([change])]
        return []

    def _send(self, requests: list[dict[str, Any]]) -> None:
        table = self._endpoint.table
        progress_at = time.monotonic()
        attempt = 0
        while True:
            answer = self._endpoint.call("batch_write_item", RequestItems={table: requests})
            unprocessed = answer.get("UnprocessedItems", {}).get(table, [])
            if not unprocessed:
                return
            if len(unprocessed) < len(requests):
                progress_at, attempt = time.monotonic(), 0
            elif time.monotonic() - progress_at > _NO_PROGRESS_SECONDS:
                raise TransferError(
                    f"{self._endpoint.place.description} takes no items any more: it throttles"
                )
            requests = unprocessed
            self._endpoint.stop.sleep(backoff_seconds(attempt))
            attempt += 1


def _request(change: Change) -> dict[str, Any]:
    if isinstance(change, Put):
        return {"PutRequest": {"Item": change.item}}
    return {"DeleteRequest": {"Key": change.key}}
