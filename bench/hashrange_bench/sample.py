"""The sample data: items of 400 bytes, the tables they live in, and how those are filled."""

from collections.abc import Iterator
from dataclasses import dataclass

ITEM_BYTES = 400
PREFIX = "hashrange-bench-"
PEOPLE = PREFIX + "people"  # a partition key only
PLAIN = PREFIX + "plain"  # the same, empty: new items are put here and deleted
INDEXED = PREFIX + "indexed"  # the same, empty, with two indexes
ORDERS = PREFIX + "orders"  # partitions of 100 items, with an index
LARGE = PREFIX + "large"  # partitions of 10 items, as many as wanted

PEOPLE_COUNT = 10_000  # 4 MB: four pages of a Scan
ORDERS_COUNT = 10_000
PER_PARTITION = 100
PER_LARGE_PARTITION = 10
KINDS = 10
_BATCH = 25
_CITIES = ("Antwerp", "Bergamo", "Cardiff", "Dresden", "Esbjerg")
# What is left of the 400 bytes for the text at the end, without and with a sort key.
_TEXT = "the quick brown fox jumps over the lazy dog " * 8
_REST, _REST_SORTED = 288, 282
REVISIONS = 44  # of an item: of the same size, but with other words in the text

Request = tuple[str, str]  # an operation and its body


@dataclass(frozen=True, slots=True)
class Table:
    """A table's definition, in the words of CreateTable."""

    name: str
    keys: str
    attributes: tuple[str, ...]
    indexes: tuple[str, ...] = ()

    def create(self, *, on_demand: bool) -> str:
        """Give the body of CreateTable; older servers know provisioned tables only."""
        billing = '"BillingMode":"PAY_PER_REQUEST"' if on_demand else _PROVISIONED
        indexes = ",".join(
            f'{{"IndexName":"{name}","KeySchema":{keys},"Projection":{{"ProjectionType":"ALL"}}'
            + ("}" if on_demand else f",{_PROVISIONED}}}")
            for name, keys in (index.split(" ", 1) for index in self.indexes)
        )
        attributes = ",".join(
            f'{{"AttributeName":"{name}","AttributeType":"{kind}"}}'
            for name, kind in (attribute.split(":") for attribute in self.attributes)
        )
        more = f',"GlobalSecondaryIndexes":[{indexes}]' if indexes else ""
        return (
            f'{{"TableName":"{self.name}","KeySchema":{self.keys},'
            f'"AttributeDefinitions":[{attributes}],{billing}{more}}}'
        )


def _schema(partition: str, sort: str | None = None) -> str:
    keys = f'{{"AttributeName":"{partition}","KeyType":"HASH"}}'
    return f"[{keys}" + (f',{{"AttributeName":"{sort}","KeyType":"RANGE"}}]' if sort else "]")


# A table and one with an index stay below the 80,000 units that an account may have.
_PROVISIONED = '"ProvisionedThroughput":{"ReadCapacityUnits":26000,"WriteCapacityUnits":26000}'
TABLES = {
    PEOPLE: Table(PEOPLE, _schema("pk"), ("pk:S",)),
    PLAIN: Table(PLAIN, _schema("pk"), ("pk:S",)),
    INDEXED: Table(
        INDEXED,
        _schema("pk"),
        ("pk:S", "kind:S", "city:S", "n:N"),
        (f"by-kind {_schema('kind', 'n')}", f"by-city {_schema('city', 'pk')}"),
    ),
    ORDERS: Table(
        ORDERS,
        _schema("pk", "sk"),
        ("pk:S", "sk:S", "bucket:S", "n:N"),
        (f"by-bucket {_schema('bucket', 'n')}",),
    ),
    LARGE: Table(LARGE, _schema("pk", "sk"), ("pk:S", "sk:S")),
}


def person_key(number: int) -> str:
    return f'{{"pk":{{"S":"person-{number:010d}"}}}}'


def person(number: int, revision: int = 0) -> str:
    """Give an item of 400 bytes, as JSON: scalars of each kind, a document, a set, and text."""
    return f'{{"pk":{{"S":"person-{number:010d}"}},{_attributes(number, revision, _REST)}}}'


def order_key(number: int, per_partition: int = PER_PARTITION) -> str:
    partition, place = divmod(number, per_partition)
    return f'{{"pk":{{"S":"customer-{partition:08d}"}},"sk":{{"S":"{place:04d}"}}}}'


def order(number: int, revision: int = 0, per_partition: int = PER_PARTITION) -> str:
    """Give an item of 400 bytes with a sort key, as JSON."""
    return f"{order_key(number, per_partition)[:-1]},{_attributes(number, revision, _REST_SORTED)}}}"


def _attributes(number: int, revision: int, rest: int) -> str:
    city = _CITIES[number % len(_CITIES)]
    return (
        f'"n":{{"N":"{1_000_001 + number * 10}"}},"kind":{{"S":"kind-{number % KINDS}"}},'
        f'"bucket":{{"S":"bucket-{number % PER_PARTITION:02d}"}},"city":{{"S":"{city}"}},'
        f'"live":{{"BOOL":true}},"address":{{"M":{{"city":{{"S":"{city}"}},"zip":{{"N":"90210"}}}}}},'
        f'"tags":{{"SS":["blue","green"]}},"text":{{"S":"{_TEXT[revision : revision + rest]}"}}'
    )


def batches(table: str, first: int, last: int, revision: int = 0) -> Iterator[Request]:
    """Give the BatchWriteItem requests that put the items first … last - 1 of a table."""
    make = {PEOPLE: person, PLAIN: person, ORDERS: order, LARGE: large}[table]
    for start in range(first, last, _BATCH):
        puts = ",".join(
            f'{{"PutRequest":{{"Item":{make(number, revision)}}}}}'
            for number in range(start, min(start + _BATCH, last))
        )
        yield "BatchWriteItem", f'{{"RequestItems":{{"{table}":[{puts}]}}}}'


def large(number: int, revision: int = 0) -> str:
    return order(number, revision, PER_LARGE_PARTITION)
