"""The consumer of the outbox: it waits for the stream to ring, and delivers.

python examples/events/consumer.py http://127.0.0.1:8000
"""

import sys
import time
from typing import Any

import boto3

Iterators = dict[str, str]  # of the stream's shards; empty at the end of one
ENDPOINT = {"region_name": "us-east-1", "aws_access_key_id": "local", "aws_secret_access_key": "local"}


def rung(streams: Any, stream_arn: str, iterators: Iterators) -> set[int]:
    """The shards of the outbox to which something was added since the last call.

    The stream rings, the outbox has the messages: a bell that rings twice, or is not heard for a day, loses nothing.
    """
    shards: set[int] = set()
    for shard in streams.describe_stream(StreamArn=stream_arn)["StreamDescription"]["Shards"]:
        shard_id = shard["ShardId"]
        if shard_id not in iterators:
            place = {"StreamArn": stream_arn, "ShardId": shard_id, "ShardIteratorType": "TRIM_HORIZON"}
            iterators[shard_id] = streams.get_shard_iterator(**place)["ShardIterator"]
        if iterators[shard_id]:
            page = streams.get_records(ShardIterator=iterators[shard_id])
            iterators[shard_id] = page.get("NextShardIterator", "")
            added = [
                record["dynamodb"]["Keys"] for record in page["Records"] if record["eventName"] == "INSERT"
            ]
            names = [key["PK"]["S"].split("#") for key in added]
            shards |= {int(name[1]) for name in names if name[0] == "OUTBOX"}
    return shards


def main(endpoint: str) -> None:
    """Deliver for ever. What was left by a consumer before this one is delivered first."""
    # Only where this is the program is `app` the one beside it.
    from app import OUTBOX, TABLE, Payments, Shop  # noqa: PLC0415

    client = boto3.client("dynamodb", endpoint_url=endpoint, **ENDPOINT)
    streams = boto3.client("dynamodbstreams", endpoint_url=endpoint, **ENDPOINT)
    stream_arn = client.describe_table(TableName=TABLE.name)["Table"]["LatestStreamArn"]
    shop, iterators = Shop(client, Payments()), Iterators()
    shards = set(range(OUTBOX.shards))
    while True:
        for shard in sorted(shards):
            print(f"shard {shard}: {shop.deliver(shard)} delivered")
        shards = rung(streams, stream_arn, iterators)
        if not shards:
            time.sleep(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
