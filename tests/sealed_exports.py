"""Exports of an encrypted store, with buckets in its data directory as a server has them."""

from pathlib import Path
from typing import Any

from clocked import Clocked
from hashrange.objects.folder import FolderStore
from new_tables import request as new_table

SECRET = "canary-in-an-export"
_REGION_ARN = "arn:aws:dynamodb:us-east-1:000000000000:table"


def fill(service: Clocked, data: Path, name: str = "one", items: int = 10) -> None:
    """Make a table that can be exported, and a bucket."""
    use_buckets(service, data)
    service.call("CreateTable", **new_table("pk", TableName=name))
    service.settle()
    recovery = {"PointInTimeRecoveryEnabled": True}
    service.call("UpdateContinuousBackups", TableName=name, PointInTimeRecoverySpecification=recovery)
    for number in range(items):
        item = {"pk": {"S": f"k{number}"}, "v": {"S": f"{SECRET}-{number}"}}
        service.call("PutItem", TableName=name, Item=item)


def use_buckets(service: Clocked, data: Path) -> Path:
    """Have buckets where a server has them; gives the folder of the one that is used here."""
    bucket = data / "buckets" / "bucket"
    bucket.mkdir(parents=True, exist_ok=True)
    service.objects = FolderStore(bucket.parent)
    service.start_long_jobs()
    return bucket


def begin(service: Clocked, name: str = "one", **options: Any) -> str:
    """Ask for an export; gives its id."""
    request = {"TableArn": f"{_REGION_ARN}/{name}", "S3Bucket": "bucket", **options}
    made = service.call("ExportTableToPointInTime", **request)["ExportDescription"]
    return str(made["ExportArn"]).rpartition("/")[2]


def export(service: Clocked, name: str = "one", **options: Any) -> str:
    """Export a table; gives the export's id."""
    export_id = begin(service, name, **options)
    service.run_jobs()
    arn = f"{_REGION_ARN}/{name}/export/{export_id}"
    assert service.call("DescribeExport", ExportArn=arn)["ExportDescription"]["ExportStatus"] == "COMPLETED"
    return export_id


def imported(service: Clocked, export_id: str, name: str = "again", *, bucket: str = "bucket") -> Any:
    """Import an export; gives the description of how it ended."""
    made = service.call(
        "ImportTable",
        S3BucketSource={"S3Bucket": bucket, "S3KeyPrefix": f"AWSDynamoDB/{export_id}/data/"},
        InputFormat="DYNAMODB_JSON",
        InputCompressionType="GZIP",
        TableCreationParameters=new_table("pk", TableName=name),
    )["ImportTableDescription"]
    service.settle()
    return service.call("DescribeImport", ImportArn=made["ImportArn"])["ImportTableDescription"]


def values(service: Clocked, name: str = "again") -> list[str]:
    """What the items of a table have."""
    return sorted(item["v"]["S"] for item in service.call("Scan", TableName=name)["Items"])
