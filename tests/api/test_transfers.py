"""Export and import through an SDK, to a folder and to a real S3 API."""

import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import boto3
import pytest
from botocore.config import Config

from item_tables import definitions, key_schema, make_table
from moto_server import ACCESS_KEY, SECRET_KEY, moto_server, s3_client
from serving import serving

_SECONDS = 60


class World(NamedTuple):
    """A server, and where its buckets are."""

    client: Any
    make_bucket: Callable[[], str]
    objects: Callable[[str], dict[str, bytes]]


def client_of(endpoint: str) -> Any:
    return boto3.client(
        "dynamodb",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(parameter_validation=False),
    )


@pytest.fixture(scope="module", params=["folder", pytest.param("s3", marks=pytest.mark.slow)])
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder: Path = tmp_path_factory.mktemp("data")
    flags = ("--data-dir", str(folder), "--log-level", "warning")
    if request.param == "folder":
        with serving(*flags) as server:
            buckets = folder / "buckets"

            def make_folder() -> str:
                name = f"bucket-{secrets.token_hex(6)}"
                (buckets / name).mkdir(parents=True)
                return name

            def files(bucket: str) -> dict[str, bytes]:
                root = buckets / bucket
                paths = [path for path in root.rglob("*") if path.is_file()]
                return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}

            yield World(client_of(server.endpoint), make_folder, files)
        return
    with moto_server() as endpoint:
        s3 = s3_client(endpoint)
        keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}

        def make_bucket() -> str:
            name = f"bucket-{secrets.token_hex(6)}"
            s3.create_bucket(Bucket=name)
            return name

        def objects(bucket: str) -> dict[str, bytes]:
            pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket)
            found = [entry["Key"] for page in pages for entry in page.get("Contents", ())]
            return {key: s3.get_object(Bucket=bucket, Key=key)["Body"].read() for key in found}

        with serving(*flags, "--s3", endpoint, environment=keys) as server:
            yield World(client_of(server.endpoint), make_bucket, objects)


def awaited(describe: Callable[[], Any], status: str) -> Any:
    """The description of a job that is over."""
    deadline = time.monotonic() + _SECONDS
    while (description := describe())[status] in ("IN_PROGRESS", "CANCELLING"):
        assert time.monotonic() < deadline, description
        time.sleep(0.02)
    return description


def exported(world: World, name: str, bucket: str, **options: Any) -> Any:
    spec = {"PointInTimeRecoveryEnabled": True}
    world.client.update_continuous_backups(TableName=name, PointInTimeRecoverySpecification=spec)
    table_arn = world.client.describe_table(TableName=name)["Table"]["TableArn"]
    begun = world.client.export_table_to_point_in_time(TableArn=table_arn, S3Bucket=bucket, **options)
    arn = begun["ExportDescription"]["ExportArn"]
    return awaited(lambda: world.client.describe_export(ExportArn=arn)["ExportDescription"], "ExportStatus")


def imported(world: World, name: str, bucket: str, prefix: str, **options: Any) -> Any:
    begun = world.client.import_table(
        S3BucketSource={"S3Bucket": bucket, "S3KeyPrefix": prefix},
        TableCreationParameters={
            "TableName": name,
            "KeySchema": key_schema("pk", "sk"),
            "AttributeDefinitions": definitions(pk="S", sk="N"),
            "BillingMode": "PAY_PER_REQUEST",
        },
        **options,
    )
    arn = begun["ImportTableDescription"]["ImportArn"]
    return awaited(
        lambda: world.client.describe_import(ImportArn=arn)["ImportTableDescription"], "ImportStatus"
    )


def content(world: World, name: str) -> list[Any]:
    pages = world.client.get_paginator("scan").paginate(TableName=name)
    return sorted(
        (item for page in pages for item in page["Items"]),
        key=lambda item: (item["pk"]["S"], item["sk"]["N"]),
    )


@pytest.mark.parametrize("form", ["DYNAMODB_JSON", "ION"])
def test_a_table_goes_out_and_comes_in(world: World, form: str) -> None:
    name, bucket = make_table(world.client, "pk", "sk", types={"sk": "N"}), world.make_bucket()
    for number in range(50):
        item: dict[str, Any] = {
            "pk": {"S": f"k{number % 7}"},
            "sk": {"N": str(number)},
            "set": {"SS": ["a", "b"]},
            "deep": {"M": {"l": {"L": [{"NULL": True}, {"BOOL": False}, {"B": b"\x00\xff"}]}}},
        }
        world.client.put_item(TableName=name, Item=item)
    done = exported(world, name, bucket, S3Prefix="out", ExportFormat=form)
    assert (done["ExportStatus"], done["ItemCount"]) == ("COMPLETED", 50), done
    export_id = done["ExportArn"].rpartition("/")[2]
    objects = world.objects(bucket)
    assert len(objects) == 9
    assert done["ExportManifest"] in objects
    prefix = f"out/AWSDynamoDB/{export_id}/data/"
    copy = f"{name}-copy"
    came = imported(world, copy, bucket, prefix, InputFormat=form, InputCompressionType="GZIP")
    assert (came["ImportStatus"], came["ImportedItemCount"]) == ("COMPLETED", 50), came
    assert content(world, copy) == content(world, name)


def test_a_bucket_that_is_not_there(world: World) -> None:
    name = make_table(world.client, "pk")
    missing = f"missing-{secrets.token_hex(4)}"
    done = exported(world, name, missing)
    assert (done["ExportStatus"], done["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    assert done["FailureMessage"].startswith("The specified bucket does not exist (Service: Amazon S3;")
    came = imported(world, f"{name}-copy", missing, "x", InputFormat="CSV")
    assert (came["ImportStatus"], came["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
