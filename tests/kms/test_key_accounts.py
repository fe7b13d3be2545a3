"""Keys and tables of two accounts: nobody puts a table under a key that its policy does not give them."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from enforcing import ACCOUNT, Enforcing, Key, bootstrap
from serving import serving

OTHER = "222222222222"


class House(NamedTuple):
    """A server, and the clients of both accounts' administrators."""

    server: Enforcing
    theirs: Key

    def client(self, service: str, *, theirs: bool = False) -> Any:
        return self.server.client(service, self.theirs if theirs else self.server.administrator)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    data = tmp_path_factory.mktemp("accounts") / "data"
    ours, theirs = bootstrap(data), bootstrap(data, "--account", OTHER)
    with serving("--data-dir", str(data), "--auth", "iam", "--transition-ms", "0") as running:
        yield House(Enforcing(running, ours, data), theirs)
        log = running.log_text()
    assert "Traceback" not in log, log


def under(key: str) -> dict[str, Any]:
    return {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key}


def new_key(house: House, *granted: str, theirs: bool) -> str:
    """A key of one account, whose policy lets these accounts use it, too."""
    owner = OTHER if theirs else ACCOUNT
    principals = [f"arn:aws:iam::{account}:root" for account in (owner, *granted)]
    statement = {"Effect": "Allow", "Principal": {"AWS": principals}, "Action": "kms:*", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    made = house.client("kms", theirs=theirs).create_key(Policy=document)
    return str(made["KeyMetadata"]["Arn"])


def new_table(house: House, **more: Any) -> dict[str, Any]:
    described: dict[str, Any] = house.client("dynamodb").create_table(
        TableName=f"t{uuid4().hex}",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        **more,
    )["TableDescription"]
    return described


def shared_table(house: House) -> str:
    """The ARN of a table of ours that the other account may update."""
    arn = str(new_table(house)["TableArn"])
    principal = {"AWS": f"arn:aws:iam::{OTHER}:root"}
    statement = {"Effect": "Allow", "Principal": principal, "Action": "dynamodb:UpdateTable", "Resource": arn}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    house.client("dynamodb").put_resource_policy(ResourceArn=arn, Policy=document)
    return arn


def denied(call: Callable[..., Any], **parameters: Any) -> str:
    with pytest.raises(ClientError) as failure:
        call(**parameters)
    error = failure.value.response["Error"]
    assert error["Code"] == "AccessDeniedException", error
    return str(error["Message"])


def test_a_key_of_another_account_is_taken_only_if_its_policy_says_so(house: House) -> None:
    secret = new_key(house, theirs=True)
    nobody = secret.rpartition("/")[0] + f"/{uuid4()}"
    messages = {denied(new_table, house=house, SSESpecification=under(key)) for key in (secret, nobody)}
    assert {message.partition("Request ID")[0] for message in messages} == {
        messages.pop().partition("Request ID")[0]
    }
    granted = new_key(house, ACCOUNT, theirs=True)
    described = new_table(house, SSESpecification=under(granted))
    assert described["SSEDescription"]["KMSMasterKeyArn"] == granted
    client = house.client("dynamodb")
    client.put_item(TableName=described["TableName"], Item={"pk": {"S": "a"}})
    assert client.scan(TableName=described["TableName"])["Count"] == 1


def test_who_may_update_a_table_of_another_account_cannot_put_it_under_a_key_of_their_own(
    house: House,
) -> None:
    table, theirs = shared_table(house), house.client("dynamodb", theirs=True)
    theirs.update_table(TableName=table, DeletionProtectionEnabled=False)
    for key in (new_key(house, theirs=True), new_key(house, ACCOUNT, theirs=True)):
        denied(theirs.update_table, TableName=table, SSESpecification=under(key))
        # By its id alone it would be a key of the table's account, where it is not.
        denied(theirs.update_table, TableName=table, SSESpecification=under(key.rpartition("/")[2]))
    described = house.client("dynamodb").describe_table(TableName=table)["Table"]
    assert "SSEDescription" not in described


def test_a_key_of_the_tables_account_is_taken_if_its_policy_grants_it_to_the_caller(house: House) -> None:
    table, theirs = shared_table(house), house.client("dynamodb", theirs=True)
    ours = new_key(house, theirs=False)
    denied(theirs.update_table, TableName=table, SSESpecification=under(ours))
    granted = new_key(house, OTHER, theirs=False)
    theirs.update_table(TableName=table, SSESpecification=under(granted))
    described = house.client("dynamodb").describe_table(TableName=table)["Table"]
    assert described["SSEDescription"]["KMSMasterKeyArn"] == granted
