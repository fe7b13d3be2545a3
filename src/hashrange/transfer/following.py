"""Following a table's stream: every change since before the scan, in order, until somebody says that it is enough."""

import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from hashrange.transfer.endpoint import Endpoint
from hashrange.transfer.errors import EndpointError, TransferError
from hashrange.transfer.run import Run
from hashrange.transfer.state import ShardPosition, StreamPosition
from hashrange.transfer.table_schema import wait_until_active
from hashrange.transfer.wire_values import WireItem
from hashrange.transfer.writing import Change, Delete, Put, TableWriter

_VIEWS = ("NEW_IMAGE", "NEW_AND_OLD_IMAGES")
# Records that are older than the scan by this much are not written again: the scan has seen what they say.
_MARGIN_SECONDS = 300.0
_RETENTION_SECONDS = 24 * 3600.0
_POLL_SECONDS = 0.5
_EMPTY_PASSES = 3  # the service sometimes answers with no records though there are more
_RECORDS_MAX = 1000
_TURN_PAGES = 50  # of a shard, then it is the next one's turn
_LOST = (
    "the stream no longer has all changes since {}: it keeps 24 hours; remove the state file to begin again"
)


def prepare(source: Endpoint, description: dict[str, Any], run: Run, *, enable: bool) -> None:
    """Note where the stream is before the scan begins."""
    state = run.state.state
    if state.stream is not None:
        if state.stream.arn != description.get("LatestStreamArn"):
            raise TransferError("the source has another stream now: remove the state file to begin again")
        return
    if state.segments:
        raise TransferError(
            "the scan began without --follow, so changes may be missing: remove the state file to begin again"
        )
    view = description.get("StreamSpecification", {})
    if not view.get("StreamEnabled"):
        description = _enable(source, enable=enable)
    elif view.get("StreamViewType") not in _VIEWS:
        raise TransferError(
            f"the stream of {source.place.description} has the view type {view.get('StreamViewType')}; "
            "following needs NEW_IMAGE or NEW_AND_OLD_IMAGES"
        )
    clock = source.clock
    state.stream = StreamPosition(
        arn=description["LatestStreamArn"],
        since=None if clock is None else clock.timestamp() - _MARGIN_SECONDS,
        seen_at=time.time(),
    )
    run.state.save()


def _enable(source: Endpoint, *, enable: bool) -> dict[str, Any]:
    if not enable:
        raise TransferError(
            f"{source.place.description} has no stream to follow: enable one, or let --enable-stream do it"
        )
    source.call(
        "update_table",
        TableName=source.table,
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
    )
    return wait_until_active(source)


class Follower:
    """Reads every shard after its parent and writes what its records say."""

    def __init__(self, source: Endpoint, writer: TableWriter, run: Run) -> None:
        position = run.state.state.stream
        if position is None:
            raise AssertionError
        self._position = position
        self._source = source
        self._writer = writer
        self._run = run
        self._iterators: dict[str, str] = {}
        self._empty_passes = 0

    @property
    def caught_up(self) -> bool:
        """Whether the last passes found nothing: there is no lag."""
        return self._empty_passes >= _EMPTY_PASSES

    def follow(self, *, once: bool) -> None:
        """Write changes until a signal, or until there are none left."""
        self._run.progress.begin("followed", count=self._position.changes)
        while not (once and self.caught_up):
            began = time.time()
            if began - self._position.seen_at > _RETENTION_SECONDS:
                raise self._lost()
            progressed = self._pass()
            self._empty_passes = 0 if progressed else self._empty_passes + 1
            self._position.seen_at = began
            with self._run.state.lock:
                self._run.state.save_sometimes()
            if not progressed:
                self._run.stop.sleep(_POLL_SECONDS)

    def _pass(self) -> bool:
        """Give every shard a turn; whether there was anything."""
        shards = list(self._shards())
        known = {shard["ShardId"] for shard in shards}
        progressed = False
        for shard in shards:
            position = self._position.shards.setdefault(shard["ShardId"], ShardPosition())
            parent = str(shard.get("ParentShardId"))
            if position.done or (parent in known and not self._is_done(parent)):
                continue
            if self._read(shard["ShardId"], position):
                progressed = True
        self._forget(self._position.shards.keys() - known)
        return progressed

    def _forget(self, gone: set[str]) -> None:
        """Shards vanish when all of their records have been trimmed."""
        for shard_id in gone:
            if not self._position.shards[shard_id].done:
                raise self._lost()
            del self._position.shards[shard_id]

    def _lost(self) -> TransferError:
        return TransferError(_LOST.format(time.ctime(self._position.seen_at)))

    def _is_done(self, shard_id: str) -> bool:
        position = self._position.shards.get(shard_id)
        return position is not None and position.done

    def _shards(self) -> Iterator[dict[str, Any]]:
        start: dict[str, str] = {}
        while True:
            answer = self._source.call_streams("describe_stream", StreamArn=self._position.arn, **start)
            description = answer["StreamDescription"]
            yield from description["Shards"]
            if "LastEvaluatedShardId" not in description:
                return
            start = {"ExclusiveStartShardId": description["LastEvaluatedShardId"]}

    def _read(self, shard_id: str, position: ShardPosition) -> bool:
        """Read some of a shard, or all up to now; whether there was anything, be it only its end."""
        progressed = False
        for _ in range(_TURN_PAGES):
            self._run.stop.check()
            answer = self._records(shard_id, position)
            records = answer["Records"]
            if records:
                self._write(records)
                position.sequence_number = records[-1]["dynamodb"]["SequenceNumber"]
                progressed = True
            following = answer.get("NextShardIterator")
            if following is None:
                position.done = True
                self._iterators.pop(shard_id, None)
                return True
            self._iterators[shard_id] = following
            if not records:
                return progressed
            with self._run.state.lock:
                self._run.state.save_sometimes()
        return True

    def _records(self, shard_id: str, position: ShardPosition) -> dict[str, Any]:
        iterator = self._iterators.get(shard_id) or self._iterator(shard_id, position)
        try:
            return self._source.call_streams("get_records", ShardIterator=iterator, Limit=_RECORDS_MAX)
        except EndpointError as error:
            if error.code == "TrimmedDataAccessException":
                raise self._lost() from None
            if error.code != "ExpiredIteratorException":
                raise
        iterator = self._iterator(shard_id, position)
        return self._source.call_streams("get_records", ShardIterator=iterator, Limit=_RECORDS_MAX)

    def _iterator(self, shard_id: str, position: ShardPosition) -> str:
        place = (
            {"ShardIteratorType": "TRIM_HORIZON"}
            if position.sequence_number is None
            else {
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
                "SequenceNumber": position.sequence_number,
            }
        )
        try:
            answer = self._source.call_streams(
                "get_shard_iterator", StreamArn=self._position.arn, ShardId=shard_id, **place
            )
        except EndpointError as error:
            if error.code == "TrimmedDataAccessException":
                raise self._lost() from None
            raise
        return str(answer["ShardIterator"])

    def _write(self, records: list[dict[str, Any]]) -> None:
        changes = [_change(record["dynamodb"]) for record in records if self._matters(record["dynamodb"])]
        refusals = self._writer.write(changes)
        for refusal in refusals:
            self._run.rejections.add(refusal.message)
        self._position.rejected += len(refusals)
        self._position.changes += len(changes)
        self._run.progress.add(len(changes))

    def _matters(self, record: dict[str, Any]) -> bool:
        created = record.get("ApproximateCreationDateTime")
        if self._position.since is None or not isinstance(created, datetime):
            return True
        return created.timestamp() >= self._position.since


def _change(record: dict[str, Any]) -> Change:
    keys: WireItem = record["Keys"]
    # Numbers in keys are canonical, and the names of a table's keys are always the same.
    identity = tuple(sorted((name, *value.items()) for name, value in keys.items()))
    image = record.get("NewImage")
    return Delete(identity, keys) if image is None else Put(identity, image)
