"""A laboratory: the same evening of log lines goes to a table whose key is the day, and to one with shards."""

import json
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError

import boto3
from botocore.config import Config

from hashrange import patterns

SHARDS = {"log_by_day": 1, "log_sharded": 10}  # as in model.yaml
LINE_UNITS = 40  # a line of 40 KB: few requests make many units
BATCH = 25  # lines
EVENING = (400, 400, 600, 1000, 1400, 2000, 2000, 2000, 2000, 1400, 1000, 600, 400, 400)  # units a second
DAY = "2026-05-01"


@dataclass(frozen=True)
class Second:
    """What came of a second's lines, in write units by partition key."""

    accepted: Counter[str] = field(default_factory=Counter)
    throttled: Counter[str] = field(default_factory=Counter)


class Log:
    """One of the two tables."""

    def __init__(self, client: Any, table: str) -> None:
        self._client, self.table, self.shards = client, table, SHARDS[table]

    def enforce(self) -> None:
        """Let this table refuse what is beyond its capacity, whatever the server does about others."""
        arn = self._client.describe_table(TableName=self.table)["Table"]["TableArn"]
        self._client.tag_resource(ResourceArn=arn, Tags=[{"Key": "hashrange:capacity", "Value": "enforce"}])

    def partition(self, line_id: str) -> str:
        """The day, and where there are shards, the one that follows from the line."""
        return f"DAY#{DAY}" if self.shards == 1 else f"DAY#{DAY}#{patterns.shard_of(line_id, self.shards)}"

    def write(self, second: int, units: int) -> Second:
        """Write a second's lines once; those that are throttled are counted, and not sent again."""
        lines = [self._item(second, number) for number in range(units // LINE_UNITS)]
        result = Second()
        for start in range(0, len(lines), BATCH):
            batch = lines[start : start + BATCH]
            left = self._left_out(batch)
            for line in batch:
                partition = line["PK"]["S"]
                counts = result.throttled if line["SK"]["S"] in left else result.accepted
                counts[partition] += LINE_UNITS
        return result

    def _item(self, second: int, number: int) -> dict[str, Any]:
        line_id, at = f"{second:04}-{number:04}", f"{DAY}T20:{second // 60:02}:{second % 60:02}Z"
        item = {"PK": self.partition(line_id), "SK": f"{at}#{line_id}", "day": DAY, "at": at}
        item |= {"line_id": line_id, "text": "x" * (LINE_UNITS * 1024 - 200)}
        return {name: {"S": value} for name, value in item.items()}

    def _left_out(self, lines: list[dict[str, Any]]) -> set[str]:
        """The sort keys of the lines that were not written; where it is all of them, that is an error."""
        puts = [{"PutRequest": {"Item": line}} for line in lines]
        try:
            answer = self._client.batch_write_item(RequestItems={self.table: puts})
        except self._client.exceptions.ClientError as error:
            if not error.response.get("Error", {}).get("Code", "").startswith(("Throttling", "Provisioned")):
                raise
            return {line["SK"]["S"] for line in lines}
        left = answer.get("UnprocessedItems", {}).get(self.table, [])
        return {put["PutRequest"]["Item"]["SK"]["S"] for put in left}


def evening(
    client: Any, pass_second: Callable[[], object], units: Sequence[int] = EVENING
) -> dict[str, list[Second]]:
    """The same traffic to both tables, second by second."""
    logs = [Log(client, table) for table in SHARDS]
    seconds: dict[str, list[Second]] = {log.table: [] for log in logs}
    for log in logs:
        log.enforce()
    for second, offered in enumerate(units):
        if second:
            pass_second()
        for log in logs:
            seconds[log.table].append(log.write(second, offered))
    return seconds


def clock_of(endpoint: str) -> Callable[[], object]:
    """Lets a second pass: at once on a server with --test-clock, and otherwise as it does."""

    def pass_second() -> None:
        move = json.dumps({"advance_seconds": 1}).encode()
        try:
            urllib.request.urlopen(f"{endpoint}/_hashrange/clock", move).close()
        except HTTPError:
            time.sleep(1)

    return pass_second


def impatient(client: Any) -> Any:
    """The same client without retries, which would only hide what is throttled."""
    keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
    meta, config = client.meta, Config(retries={"total_max_attempts": 1})
    return boto3.client(
        "dynamodb", endpoint_url=meta.endpoint_url, region_name=meta.region_name, config=config, **keys
    )


def demonstrate(client: Any) -> Iterator[str]:
    """Two seconds of the peak."""
    results = evening(impatient(client), clock_of(client.meta.endpoint_url), units=(2000, 2000))
    for table, seconds in results.items():
        accepted = sum(second.accepted.total() for second in seconds)
        throttled = sum(second.throttled.total() for second in seconds)
        yield f"{table}, {SHARDS[table]} keys a day: {accepted} units accepted, {throttled} throttled"
