"""Jobs that ended long ago are forgotten."""

from clocked import Clocked
from hashrange.jobs.old_jobs import ForgetJobs
from hashrange.storage.job_rows import JobPlace
from hashrange.storage.job_tokens import JOB_TOKENS
from hashrange.storage.restore_rows import RESTORES, Restore
from item_tables import definitions, key_schema
from new_tables import request as new_table

DAY = 86_400


def test_failed_restores_are_forgotten_with_the_other_jobs() -> None:
    service = Clocked(transition_ms=0)
    service.call("CreateTable", **new_table("pk", TableName="tab"))
    table = service.catalogue.find("000000000000", "us-east-1", "tab")
    assert table is not None
    place = JobPlace("000000000000", "us-east-1", "id")
    now = service.clock.now()
    restore = Restore(target="x", target_number=1, source=table, moment_us=0, ended_at=now, failure="why")
    service.engine.write(lambda tx: RESTORES.save(tx, place, restore, active=False))
    forgetting = ForgetJobs(service.engine)
    forgetting.step(now + 89 * DAY)
    assert service.engine.read(lambda reader: RESTORES.find(reader, place)) == restore
    forgetting.step(now + 90 * DAY)
    assert service.engine.read(lambda reader: RESTORES.find(reader, place)) is None


def test_jobs_are_listed_for_ninety_days_and_tokens_count_for_eight_hours() -> None:
    service = Clocked(transition_ms=0)
    forgetting = ForgetJobs(service.engine)
    service.make_bucket()
    parameters = {
        "TableName": "tab",
        "KeySchema": key_schema("pk"),
        "AttributeDefinitions": definitions(pk="S"),
        "BillingMode": "PAY_PER_REQUEST",
    }
    service.call(
        "ImportTable",
        S3BucketSource={"S3Bucket": "bucket"},
        InputFormat="CSV",
        TableCreationParameters=parameters,
        ClientToken="token",
    )
    service.run_jobs()
    target = {"S3Bucket": "bucket", "OutputType": ["ERROR"]}
    source = {"S3Bucket": "bucket", "S3KeyPrefix": "x", "InputFormat": "ION"}
    service.call(
        "StartBulkPutItems", TableName="tab", InputS3Configuration=source, OutputS3Configuration=target
    )
    spec = {"PointInTimeRecoveryEnabled": True}
    service.call("UpdateContinuousBackups", TableName="tab", PointInTimeRecoverySpecification=spec)
    arn = service.describe("tab")["TableArn"]
    service.call("ExportTableToPointInTime", TableArn=arn, S3Bucket="bucket")
    service.run_jobs()

    def remaining() -> tuple[int, ...]:
        return (
            len(service.call("ListImports")["ImportSummaryList"]),
            len(service.call("ListBulkOperations")["BulkOperationsSummaryList"]),
            len(service.call("ListExports")["ExportSummaries"]),
            len(list(service.engine.read(lambda reader: list(JOB_TOKENS.everywhere(reader))))),
        )

    assert remaining() == (1, 1, 1, 1)
    service.clock.advance(8 * 3600 + 1)
    forgetting.step(service.clock.now())
    assert remaining() == (1, 1, 1, 0)
    service.clock.advance(89 * DAY)
    forgetting.step(service.clock.now())
    assert remaining() == (1, 1, 1, 0)
    service.clock.advance(DAY)
    forgetting.step(service.clock.now())
    assert remaining() == (0, 0, 0, 0)
