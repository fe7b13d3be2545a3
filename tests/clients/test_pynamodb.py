"""PynamoDB: models with indexes, conditions, batches and transactions."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from serving import Serving

pynamodb = pytest.importorskip("pynamodb", reason="PynamoDB is not installed")

from pynamodb.attributes import (  # noqa: E402 - only where PynamoDB is at hand
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
    VersionAttribute,
)
from pynamodb.connection import Connection  # noqa: E402
from pynamodb.exceptions import PutError, TransactWriteError, UpdateError  # noqa: E402
from pynamodb.indexes import (  # noqa: E402
    AllProjection,
    GlobalSecondaryIndex,
    KeysOnlyProjection,
    LocalSecondaryIndex,
)
from pynamodb.models import Model  # noqa: E402
from pynamodb.transactions import TransactGet, TransactWrite  # noqa: E402

pytestmark = pytest.mark.slow


class ByOwner(GlobalSecondaryIndex[Any]):
    """Pets by owner, whole."""

    class Meta:  # noqa: D106 - PynamoDB's own way to name the table
        index_name = "by-owner"
        projection = AllProjection()

    owner = UnicodeAttribute(hash_key=True)
    weight = NumberAttribute(range_key=True)


class ByWeight(LocalSecondaryIndex[Any]):
    """Pets of a kind by weight, keys only."""

    class Meta:  # noqa: D106 - PynamoDB's own way to name the table
        index_name = "by-weight"
        projection = KeysOnlyProjection()

    kind = UnicodeAttribute(hash_key=True)
    weight = NumberAttribute(range_key=True)


class Pet(Model):
    """A pet, keyed by kind and name."""

    class Meta:  # noqa: D106 - PynamoDB's own way to name the table
        table_name = f"pets-{uuid4().hex}"
        region = "us-east-1"
        billing_mode = "PAY_PER_REQUEST"
        aws_access_key_id = "test"
        aws_secret_access_key = "test"
        host = ""

    kind = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute(range_key=True)
    owner = UnicodeAttribute(null=True)
    weight = NumberAttribute(default=1)
    tags = UnicodeSetAttribute(null=True)
    visits: Any = ListAttribute(of=NumberAttribute, default=list)
    details: MapAttribute[Any, Any] = MapAttribute(null=True)
    version = VersionAttribute()
    by_owner = ByOwner()
    by_weight = ByWeight()


@pytest.fixture(scope="module", autouse=True)
def table(server: Serving) -> Iterator[None]:
    Pet.Meta.host = server.endpoint
    Pet.create_table(wait=True)
    with Pet.batch_write() as batch:
        for number in range(60):
            batch.save(Pet("dog", f"d{number:02}", owner=f"o{number % 2}", weight=number))
    yield
    Pet.delete_table()


def test_save_get_update_and_refresh() -> None:
    cat = Pet("cat", "Tom", tags={"grey"}, details={"fur": {"length": 3}})
    cat.save()
    cat.update(
        actions=[
            Pet.weight.add(2),
            Pet.visits.set(Pet.visits.append([7])),
            Pet.tags.add({"fat"}),
            Pet.details["fur"]["length"].set(4),
        ]
    )
    again = Pet.get("cat", "Tom", consistent_read=True)
    assert (again.weight, list(again.visits), again.tags) == (3, [7], {"grey", "fat"})
    assert again.details["fur"]["length"] == 4
    again.refresh()
    again.delete()
    with pytest.raises(Pet.DoesNotExist):
        Pet.get("cat", "Tom")


def test_a_stale_version_is_refused() -> None:
    Pet("cat", "Jerry").save()
    first, second = Pet.get("cat", "Jerry"), Pet.get("cat", "Jerry")
    first.weight = 5
    first.save()
    second.weight = 6
    with pytest.raises(PutError) as raised:
        second.save()
    assert raised.value.cause_response_code == "ConditionalCheckFailedException"
    with pytest.raises(UpdateError):
        second.update(actions=[Pet.weight.set(9)])


def test_queries_walk_pages_and_indexes() -> None:
    found = Pet.query("dog", Pet.name.between("d10", "d39"), Pet.weight > 20, page_size=4)
    assert [pet.name for pet in found] == [f"d{number}" for number in range(21, 40)]
    heavy = Pet.by_owner.query("o1", ByOwner.weight >= 50, scan_index_forward=False)
    assert [pet.weight for pet in heavy] == [59, 57, 55, 53, 51]
    light = list(Pet.by_weight.query("dog", ByWeight.weight < 3))
    assert [pet.name for pet in light] == ["d00", "d01", "d02"]
    assert Pet.count("dog") == 60
    assert sum(1 for segment in range(3) for _ in Pet.scan(segment=segment, total_segments=3)) >= 60


def test_batches_and_transactions() -> None:
    assert len(list(Pet.batch_get([("dog", f"d{number:02}") for number in range(60)]))) == 60
    connection = Connection(region="us-east-1", host=Pet.Meta.host)
    connection.session.set_credentials("test", "test")
    with TransactWrite(connection=connection, client_request_token=uuid4().hex) as transaction:
        transaction.save(Pet("bird", "Tweety"))
        transaction.update(Pet("dog", "d00"), actions=[Pet.owner.set("o9")])
    with TransactGet(connection=connection) as transaction:
        bird, dog = transaction.get(Pet, "bird", "Tweety"), transaction.get(Pet, "dog", "d00")
    assert (bird.get().name, dog.get().owner) == ("Tweety", "o9")
    with pytest.raises(TransactWriteError) as raised:
        _refused_transaction(connection)
    assert [reason and reason.code for reason in raised.value.cancellation_reasons] == [
        "ConditionalCheckFailed",
        None,
    ]


def _refused_transaction(connection: Connection) -> None:
    with TransactWrite(connection=connection) as transaction:
        transaction.condition_check(Pet, "bird", "Tweety", condition=Pet.weight > 100)
        transaction.delete(Pet("dog", "d01"))
