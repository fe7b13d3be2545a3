"""A table with a partition key and a sort key, and the requests that patterns make of it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from hashrange.patterns.errors import ConditionFailed, Refused
from hashrange.patterns.retries import Retry, send, send_all
from hashrange.patterns.steps import Answer, SdkCall, Steps, fresh
from hashrange.patterns.values import Item, Scalar, digest, plain_item, wire_item, wire_value

TRANSACT_WRITES_MAX = 100  # API_TransactWriteItems
BATCH_WRITES_MAX = 25  # API_BatchWriteItem
BATCH_GETS_MAX = 100  # API_BatchGetItem
_NAMES = re.compile(r"#\w+")


class Write(msgspec.Struct, frozen=True):
    """A write that can be made by itself or as part of a transaction."""

    kind: Literal["Put", "Update", "Delete", "ConditionCheck"]
    parameters: dict[str, Any]


class Span(msgspec.Struct, frozen=True):
    """The sort keys that a query wants: from low to high, both included, in one direction or the other."""

    low: Scalar | None = None
    high: Scalar | None = None
    forward: bool = True

    def has(self, sort: Scalar) -> bool:
        """Whether a sort key is within; the service refuses a start that is not."""
        bounds = [bound for bound in (self.low, self.high) if bound is not None]
        if any(_kind(bound) != _kind(sort) for bound in bounds):
            return False
        is_below = self.low is not None and sort < self.low  # type: ignore[operator]
        return not is_below and not (self.high is not None and sort > self.high)  # type: ignore[operator]


class TablePage(msgspec.Struct, frozen=True):
    """Items of a query or scan, and the key that the next page starts after."""

    items: list[Item]
    last_key: Item | None


class Table(msgspec.Struct, frozen=True):
    """The names of a table and its keys. In expressions `#name` is the attribute `name`, `#pk` the partition key."""

    name: str
    partition_key: str = "pk"
    sort_key: str = "sk"
    retry: Retry = Retry()

    def key(self, partition: Scalar, sort: Scalar) -> Item:
        return {self.partition_key: partition, self.sort_key: sort}

    def key_of(self, item: Mapping[str, Any]) -> Item:
        return {name: item[name] for name in (self.partition_key, self.sort_key)}

    def without_key(self, item: Mapping[str, Any]) -> Item:
        return {name: item[name] for name in item if name not in (self.partition_key, self.sort_key)}

    # Writes, to be made alone or in a transaction.

    def putting(self, item: Mapping[str, Any], condition: str = "", /, **values: object) -> Write:
        return Write("Put", {"Item": wire_item(item), **self._guarded(condition, "", values)})

    def updating(
        self, key: Mapping[str, Any], update: str, condition: str = "", /, **values: object
    ) -> Write:
        parameters = {"Key": wire_item(key), "UpdateExpression": update}
        return Write("Update", {**parameters, **self._guarded(condition, update, values)})

    def deleting(self, key: Mapping[str, Any], condition: str = "", /, **values: object) -> Write:
        return Write("Delete", {"Key": wire_item(key), **self._guarded(condition, "", values)})

    def checking(self, key: Mapping[str, Any], condition: str, /, **values: object) -> Write:
        return Write("ConditionCheck", {"Key": wire_item(key), **self._guarded(condition, "", values)})

    def _guarded(self, condition: str, other: str, values: dict[str, Any]) -> dict[str, Any]:
        """The parameters that all writes share; a condition that fails shows the item it failed on."""
        parameters: dict[str, Any] = {"TableName": self.name, **self._names(condition + " " + other)}
        if condition:
            parameters["ConditionExpression"] = condition
            parameters["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        if values:
            parameters["ExpressionAttributeValues"] = _placeholders(values)
        return parameters

    def _names(self, text: str) -> dict[str, Any]:
        keys = {"#pk": self.partition_key, "#sk": self.sort_key}
        names = {name: keys.get(name, name[1:]) for name in _NAMES.findall(text)}
        return {"ExpressionAttributeNames": names} if names else {}

    # Requests.

    def write(self, write: Write) -> Steps[Item]:
        """Make one write; gives the item as an update has left it."""
        operation = {"Put": "put_item", "Update": "update_item", "Delete": "delete_item"}[write.kind]
        parameters = dict(write.parameters)
        if write.kind == "Update":
            parameters["ReturnValues"] = "ALL_NEW"
        answer = yield from send(SdkCall(operation, parameters), self.retry)
        return plain_item(answer.get("Attributes", {}))

    def tried(self, write: Write) -> Steps[ConditionFailed | None]:
        """Make one write; give the failed condition instead of raising it."""
        try:
            yield from self.write(write)
        except ConditionFailed as failed:
            return failed
        return None

    def get(self, key: Mapping[str, Any]) -> Steps[Item | None]:
        """Read one item, strongly consistent."""
        parameters = {"TableName": self.name, "Key": wire_item(key), "ConsistentRead": True}
        answer = yield from send(SdkCall("get_item", parameters), self.retry)
        return plain_item(answer["Item"]) if answer.get("Item") else None

    def querying(
        self, partition: Scalar, span: Span, *, limit: int, after: Mapping[str, Any] | None = None
    ) -> SdkCall:
        """One page of an item collection, strongly consistent."""
        condition, values = _key_condition(partition, span)
        parameters: dict[str, Any] = {
            "TableName": self.name,
            "KeyConditionExpression": condition,
            **self._names(condition),
            "ExpressionAttributeValues": _placeholders(values),
            "ScanIndexForward": span.forward,
            "ConsistentRead": True,
            "Limit": limit,
        }
        if after is not None:
            parameters["ExclusiveStartKey"] = wire_item(after)
        return SdkCall("query", parameters)

    def query(
        self, partition: Scalar, span: Span, *, limit: int, after: Mapping[str, Any] | None = None
    ) -> Steps[TablePage]:
        answer = yield from send(self.querying(partition, span, limit=limit, after=after), self.retry)
        return table_page(answer)

    def get_many(self, keys: Sequence[Mapping[str, Any]]) -> Steps[list[Item]]:
        """Read up to a hundred items, strongly consistent, in any order; asks again for those left out."""
        waiting = [wire_item(key) for key in keys]
        items: list[Item] = []
        attempt = 1
        while waiting:
            asked = {self.name: {"Keys": waiting, "ConsistentRead": True}}
            answer = yield from send(SdkCall("batch_get_item", {"RequestItems": asked}), self.retry)
            items += [plain_item(item) for item in answer["Responses"].get(self.name, ())]
            left = answer.get("UnprocessedKeys", {}).get(self.name, {}).get("Keys", [])
            attempt = yield from self._left_out(attempt, len(waiting), len(left))
            waiting = left
        return items

    def write_many(self, puts: Sequence[Item] = (), deletes: Sequence[Item] = ()) -> Steps[None]:
        """Put or delete any number of items, in batches; sends again what a batch has left out."""
        requests = [{"PutRequest": {"Item": wire_item(item)}} for item in puts]
        requests += [{"DeleteRequest": {"Key": wire_item(key)}} for key in deletes]
        for start in range(0, len(requests), BATCH_WRITES_MAX):
            waiting = requests[start : start + BATCH_WRITES_MAX]
            attempt = 1
            while waiting:
                asked = {self.name: waiting}
                answer = yield from send(SdkCall("batch_write_item", {"RequestItems": asked}), self.retry)
                left = answer.get("UnprocessedItems", {}).get(self.name, [])
                attempt = yield from self._left_out(attempt, len(waiting), len(left))
                waiting = left

    def _left_out(self, attempt: int, before: int, left: int) -> Steps[int]:
        """Pause before what a batch has left out is sent again; give up when it is the same each time."""
        attempt = attempt + 1 if left == before else 1
        if attempt > self.retry.attempts_max:
            raise Refused("ProvisionedThroughputExceededException", "A batch is left out every time.")
        if left:
            yield self.retry.pause(attempt)
        return attempt

    def transact(self, writes: Sequence[Write], token: str = "") -> Steps[None]:
        """Make all writes or none. With the same token they are made once, for as long as the service remembers it.

        A token of the caller's may have any length. Without one there is a fresh one, so that an SDK which sends the
        request again after a broken connection does not make it twice.
        """
        name = digest(token)[:36] if token else (yield from fresh())
        actions = [{write.kind: write.parameters} for write in writes]
        parameters = {"TransactItems": actions, "ClientRequestToken": name}
        yield from send(SdkCall("transact_write_items", parameters), self.retry)

    def query_all(self, calls: Sequence[SdkCall]) -> Steps[list[TablePage]]:
        """Several queries at once."""
        answers = yield from send_all(calls, self.retry)
        return [table_page(answer) for answer in answers]


def _kind(value: Scalar) -> str:
    return next(iter(wire_value(value)))


def table_page(answer: Answer) -> TablePage:
    last = answer.get("LastEvaluatedKey")
    return TablePage([plain_item(item) for item in answer["Items"]], plain_item(last) if last else None)


def _placeholders(values: Mapping[str, Any]) -> dict[str, Any]:
    return {f":{name}": wire_value(value) for name, value in values.items()}


def _key_condition(partition: Scalar, span: Span) -> tuple[str, dict[str, Any]]:
    values = {"pk": partition, "low": span.low, "high": span.high}
    match span.low is not None, span.high is not None:
        case True, True:
            condition = "#pk = :pk AND #sk BETWEEN :low AND :high"
        case True, False:
            condition = "#pk = :pk AND #sk >= :low"
        case False, True:
            condition = "#pk = :pk AND #sk <= :high"
        case _:
            condition = "#pk = :pk"
    return condition, {name: value for name, value in values.items() if value is not None}
