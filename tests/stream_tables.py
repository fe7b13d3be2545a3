"""Tables with streams, and what tests look at in their records."""

from typing import Any

from clocked import Clocked
from new_tables import request as new_table
from stream_consumer import read_all

# Options of a table that has one partition, and its stream one shard.
ONE_SHARD: dict[str, Any] = {
    "BillingMode": None,
    "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
}
VIEW_TYPES = ("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")


def stream(view_type: str = "NEW_AND_OLD_IMAGES") -> dict[str, Any]:
    return {"StreamEnabled": True, "StreamViewType": view_type}


class Streamed:
    """A service with one table and its stream, and a clock that the test moves."""

    def __init__(
        self,
        view_type: str = "NEW_AND_OLD_IMAGES",
        *keys: str,
        service: Clocked | None = None,
        name: str = "tab",
        **options: Any,
    ) -> None:
        self.service = service or Clocked()
        self.name = name
        self.call = self.service.call
        self.clock = self.service.clock
        self.call(
            "CreateTable",
            **new_table(*(keys or ("pk",)), TableName=name, StreamSpecification=stream(view_type), **options),
        )
        self.service.settle()

    @property
    def arn(self) -> str:
        return str(self.service.describe(self.name)["LatestStreamArn"])

    def describe(self, **parameters: Any) -> Any:
        return self.call("DescribeStream", StreamArn=self.arn, **parameters)["StreamDescription"]

    def shards(self) -> list[Any]:
        return list(self.describe()["Shards"])

    def put(self, pk: str, **attributes: Any) -> None:
        self.call("PutItem", TableName=self.name, Item={"pk": {"S": pk}, **attributes})

    def delete(self, pk: str) -> None:
        self.call("DeleteItem", TableName=self.name, Key={"pk": {"S": pk}})

    def update(self, pk: str, expression: str | None = None, **parameters: Any) -> None:
        if expression is not None:
            parameters["UpdateExpression"] = expression
        self.call("UpdateItem", TableName=self.name, Key={"pk": {"S": pk}}, **parameters)

    def switch(self, view_type: str | None) -> None:
        """Switch the stream on or off, and let that pass."""
        spec = {"StreamEnabled": False} if view_type is None else stream(view_type)
        self.call("UpdateTable", TableName=self.name, StreamSpecification=spec)
        self.service.settle()

    def iterator(self, shard: int = 0, kind: str = "TRIM_HORIZON", **parameters: Any) -> str:
        answer = self.call(
            "GetShardIterator",
            StreamArn=self.arn,
            ShardId=self.shards()[shard]["ShardId"],
            ShardIteratorType=kind,
            **parameters,
        )
        return str(answer["ShardIterator"])

    def records(self) -> list[Any]:
        return read_all(self.call, self.arn)

    def events(self) -> list[tuple[str, str]]:
        """Event and partition key of every change."""
        return [(one["eventName"], one["dynamodb"]["Keys"]["pk"]["S"]) for one in self.records()]
