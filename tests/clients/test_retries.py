"""SDKs send again what was lost: on the way to the server, or after it was done."""

import os
import subprocess
from typing import Any
from uuid import uuid4

import boto3
import pytest

from clients import toolchains
from clients.lossy_proxy import lossy_proxy
from clients.toolchains import GO, JAVA, NODE, RUST, Toolchain
from serving import Serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]
_ATTEMPTS = "8"
_TOUR_SECONDS_MAX = 900  # an SDK waits up to 20 s before it tries again
SDKS = [(NODE, "sdk"), (GO, "tour"), (JAVA, "Sdk"), (RUST, "tour")]


@pytest.mark.parametrize(("toolchain", "tour"), SDKS, ids=[toolchain.name for toolchain, _ in SDKS])
def test_a_tour_goes_well_where_requests_and_answers_are_lost(
    toolchain: Toolchain, tour: str, server: Serving
) -> None:
    folder = toolchains.ready(toolchain)
    with lossy_proxy(server.port) as lossy:
        command = [*toolchain.command(tour, lossy.endpoint), f"attempts={_ATTEMPTS}"]
        # The tours of Go, Java and Rust leave this to their SDK. Three attempts, which two of them make by default, are
        # just enough for a transaction, which is lost twice: with one more hiccup of a busy machine they are not.
        environment = {**os.environ, "AWS_MAX_ATTEMPTS": _ATTEMPTS}
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_TOUR_SECONDS_MAX,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "tour complete" in done.stdout
    assert lossy.lost.keys() == {"cut", "failed", "throttled", "answer"}


def test_a_transaction_whose_answer_was_lost_is_done_once(server: Serving, client: Any) -> None:
    table = f"retries-{uuid4().hex}"
    client.create_table(
        TableName=table,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    client.get_waiter("table_exists").wait(TableName=table)
    update = {
        "TableName": table,
        "Key": {"pk": {"S": "counter"}},
        "UpdateExpression": "ADD hits :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    with lossy_proxy(server.port) as lossy:
        session = boto3.session.Session(
            aws_access_key_id="test", aws_secret_access_key="test", region_name="us-east-1"
        )
        through = session.client("dynamodb", endpoint_url=lossy.endpoint)  # with the SDK's own retries
        for _ in range(20):
            through.transact_write_items(TransactItems=[{"Update": update}])
    counter = client.get_item(TableName=table, Key=update["Key"], ConsistentRead=True)["Item"]
    assert counter["hits"] == {"N": "20"}
    assert lossy.lost["answer"] == 20
