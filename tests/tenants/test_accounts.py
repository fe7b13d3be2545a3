"""Two accounts on one server: nothing is shared but what a table's policy and the caller's own allow together."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import definitions, index, key_schema
from permissions.test_needs import DYNAMODB
from tenants.conftest import BUCKET, OTHER_ACCOUNT
from tenants.shared_house import ACCOUNT, CANARY, TABLES, House, allow, document, trust
from tenants.signed_callers import SignedCaller

DENIED = "AccessDeniedException"
NAME = "ledger"
ARN = f"{TABLES}/{NAME}"
KEY = {"id": {"S": "1"}}
# What the service lets other accounts do with a table, each as a request.
CROSSING: dict[str, dict[str, Any]] = {
    "GetItem": {"TableName": ARN, "Key": KEY},
    "PutItem": {"TableName": ARN, "Item": {**KEY, "city": {"S": "Rome"}, "secret": {"S": CANARY}}},
    "UpdateItem": {"TableName": ARN, "Key": KEY, "UpdateExpression": "SET a = id"},
    "Query": {
        "TableName": ARN,
        "KeyConditionExpression": "id = :i",
        "ExpressionAttributeValues": {":i": {"S": "1"}},
    },
    "Scan": {"TableName": ARN},
    "BatchGetItem": {"RequestItems": {ARN: {"Keys": [KEY]}}},
    "BatchWriteItem": {"RequestItems": {ARN: [{"PutRequest": {"Item": {"id": {"S": "2"}}}}]}},
    "DescribeTable": {"TableName": ARN},
    "TagResource": {"ResourceArn": ARN, "Tags": [{"Key": "k", "Value": "v"}]},
    "ListTagsOfResource": {"ResourceArn": ARN},
    "UntagResource": {"ResourceArn": ARN, "TagKeys": ["k"]},
    "DeleteItem": {"TableName": ARN, "Key": {"id": {"S": "2"}}},
}
# What it never does, whatever the policies say.
KEPT: dict[str, dict[str, Any]] = {
    "ExecuteStatement": {"Statement": f'SELECT * FROM "{ARN}"'},
    "DescribeTimeToLive": {"TableName": ARN},
    "DescribeContinuousBackups": {"TableName": ARN},
    "CreateBackup": {"TableName": ARN, "BackupName": "stolen"},
    "DescribeContributorInsights": {"TableName": ARN},
    "ExportTableToPointInTime": {"TableArn": ARN, "S3Bucket": "pail"},
    "RestoreTableToPointInTime": {
        "SourceTableArn": ARN,
        "TargetTableName": "stolen",
        "UseLatestRestorableTime": True,
    },
    "GetResourcePolicy": {"ResourceArn": ARN},
    "PutResourcePolicy": {"ResourceArn": ARN, "Policy": document(allow("*"))},
    "DeleteResourcePolicy": {"ResourceArn": ARN},
}


@pytest.fixture(scope="module", autouse=True)
def table(house: House) -> None:
    house.table(
        NAME,
        KeySchema=key_schema("id"),
        AttributeDefinitions=definitions(id="S", city="S"),
        GlobalSecondaryIndexes=[index("by-city", "city")],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    house.must("PutItem", TableName=NAME, Item={**KEY, "city": {"S": "Rome"}, "secret": {"S": CANARY}})


@pytest.fixture(scope="module")
def eve(stranger: SignedCaller) -> SignedCaller:
    """A user of the other account who may do everything there."""
    return made(stranger, "eve", document(allow("*")))


@pytest.fixture(scope="module")
def mallory(stranger: SignedCaller) -> SignedCaller:
    """A user of the other account who may read items of one table of this one."""
    return made(stranger, "mallory", document(allow("GetItem", resource=ARN)))


def made(admin: SignedCaller, name: str, policy: str) -> SignedCaller:
    iam = admin.client("iam")
    iam.create_user(UserName=name)
    iam.put_user_policy(UserName=name, PolicyName="own", PolicyDocument=policy)
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return SignedCaller(admin.endpoint, key["AccessKeyId"], key["SecretAccessKey"])


@pytest.fixture
def shared(house: House) -> Iterator[Any]:
    """Lets principals do something with the table, until the test ends."""

    def share(principal: str, *actions: str, resource: Any = ARN, arn: str = ARN) -> None:
        statement = {**allow(*actions, resource=resource), "Principal": {"AWS": principal}}
        house.must("PutResourcePolicy", ResourceArn=arn, Policy=document(statement))

    yield share
    house.must("DeleteResourcePolicy", ResourceArn=ARN)


def test_without_a_policy_another_account_reaches_nothing(eve: SignedCaller, stranger: SignedCaller) -> None:
    for caller in (eve, stranger):
        for name, request in {**CROSSING, **KEPT}.items():
            reply = caller.ask(name, request)
            assert (name, reply.error) in {(name, DENIED), (name, "ValidationException")}, reply.raw
            assert CANARY.encode() not in reply.raw


@pytest.mark.parametrize("principal", [OTHER_ACCOUNT, f"arn:aws:iam::{OTHER_ACCOUNT}:user/eve"])
def test_with_a_policy_it_reaches_what_that_allows(eve: SignedCaller, shared: Any, principal: str) -> None:
    shared(principal, *(f"dynamodb:{name}" for name in CROSSING))
    for name, request in CROSSING.items():
        reply = eve.ask(name, request)
        assert (name, reply.status) == (name, 200), reply.raw


def test_what_no_policy_can_share_is_kept(eve: SignedCaller, shared: Any) -> None:
    shared(OTHER_ACCOUNT, "dynamodb:*", resource="*")
    for name, request in KEPT.items():
        reply = eve.ask(name, request)
        assert (name, reply.error) in {(name, DENIED), (name, "ValidationException")}, reply.raw
        assert CANARY.encode() not in reply.raw


def test_a_transaction_reaches_across(house: House, eve: SignedCaller, shared: Any) -> None:
    shared(OTHER_ACCOUNT, "dynamodb:GetItem", "dynamodb:PutItem")
    got = eve.ask("TransactGetItems", {"TransactItems": [{"Get": {"TableName": ARN, "Key": KEY}}]})
    assert got.body["Responses"][0]["Item"]["id"] == {"S": "1"}
    item = {"id": {"S": "transacted"}}
    put = eve.ask("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": ARN, "Item": item}}]})
    assert put.status == 200
    assert house.must("GetItem", TableName=NAME, Key=item)["Item"] == item
    delete = {"TransactItems": [{"Delete": {"TableName": ARN, "Key": item}}]}
    assert eve.ask("TransactWriteItems", delete).error == DENIED


def test_the_own_side_must_allow_it_too(mallory: SignedCaller, shared: Any) -> None:
    user = f"arn:aws:iam::{OTHER_ACCOUNT}:user/mallory"
    shared(user, "dynamodb:GetItem", "dynamodb:Scan")
    assert mallory.ask("GetItem", CROSSING["GetItem"]).status == 200
    assert mallory.ask("Scan", CROSSING["Scan"]).error == DENIED


def test_a_policy_for_one_user_lets_no_other_in(
    eve: SignedCaller, mallory: SignedCaller, shared: Any
) -> None:
    shared(f"arn:aws:iam::{OTHER_ACCOUNT}:user/mallory", "dynamodb:GetItem")
    assert mallory.ask("GetItem", CROSSING["GetItem"]).status == 200
    assert eve.ask("GetItem", CROSSING["GetItem"]).error == DENIED


def test_a_policy_that_is_gone_lets_nobody_in(house: House, eve: SignedCaller, shared: Any) -> None:
    shared(OTHER_ACCOUNT, "dynamodb:GetItem")
    assert eve.ask("GetItem", CROSSING["GetItem"]).status == 200
    house.must("DeleteResourcePolicy", ResourceArn=ARN)
    assert eve.ask("GetItem", CROSSING["GetItem"]).error == DENIED


def test_an_index_is_shared_by_its_own_arn(eve: SignedCaller, shared: Any) -> None:
    request = {
        "TableName": ARN,
        "IndexName": "by-city",
        "KeyConditionExpression": "city = :c",
        "ExpressionAttributeValues": {":c": {"S": "Rome"}},
    }
    shared(OTHER_ACCOUNT, "dynamodb:Query")
    assert eve.ask("Query", request).error == DENIED
    shared(OTHER_ACCOUNT, "dynamodb:Query", resource=f"{ARN}/index/by-city")
    assert eve.ask("Query", request).body["Count"] == 1
    assert eve.ask("Query", CROSSING["Query"]).error == DENIED


def test_a_stream_is_shared_by_its_own_policy(house: House, eve: SignedCaller, shared: Any) -> None:
    stream = house.must("DescribeTable", TableName=NAME)["Table"]["LatestStreamArn"]
    shared(OTHER_ACCOUNT, "dynamodb:*", resource="*")
    assert eve.ask("DescribeStream", {"StreamArn": stream}, service="streams").error == DENIED
    shared(OTHER_ACCOUNT, "dynamodb:DescribeStream", resource=stream, arn=stream)
    assert eve.ask("DescribeStream", {"StreamArn": stream}, service="streams").status == 200
    house.must("DeleteResourcePolicy", ResourceArn=stream)


def test_a_role_is_assumed_from_another_account(
    house: House, eve: SignedCaller, mallory: SignedCaller
) -> None:
    """Both sides must allow that too; the session then belongs to the role's account."""
    trusting = house.role("for-guests", trust(OTHER_ACCOUNT), allow("GetItem", resource=ARN))
    distrusting = house.role("for-nobody-else", trust(f"arn:aws:iam::{OTHER_ACCOUNT}:user/mallory"))
    guest = eve.assume(trusting, "eve")
    assert guest.client("sts").get_caller_identity()["Account"] == ACCOUNT
    assert guest.ask("GetItem", {"TableName": NAME, "Key": KEY}).status == 200
    assert guest.ask("Scan", {"TableName": NAME}).error == DENIED
    for caller, arn in ((mallory, trusting), (eve, distrusting), (mallory, distrusting)):
        with pytest.raises(ClientError, match="AccessDenied"):
            caller.assume(arn, "guest")


def test_the_same_name_is_another_table(house: House, eve: SignedCaller, shared: Any) -> None:
    """A bare name is the caller's own table, also of the same name."""
    shared(OTHER_ACCOUNT, "dynamodb:*", resource="*")
    bare = eve.ask("GetItem", {"TableName": NAME, "Key": KEY})
    assert bare.error == "ResourceNotFoundException"
    schema = {"KeySchema": key_schema("id"), "AttributeDefinitions": definitions(id="S")}
    assert (
        eve.ask("CreateTable", {"TableName": NAME, **schema, "BillingMode": "PAY_PER_REQUEST"}).status == 200
    )
    own = f"arn:aws:dynamodb:us-east-1:{OTHER_ACCOUNT}:table/{NAME}"
    assert eve.ask("DescribeTable", {"TableName": NAME}).body["Table"]["TableArn"] == own
    assert eve.ask("DescribeTable", {"TableName": ARN}).body["Table"]["TableArn"] == ARN
    assert house.admin.ask("GetItem", {"TableName": own, "Key": KEY}).error == DENIED
    assert eve.ask("ListTables").body["TableNames"] == [NAME]


def test_an_account_sees_nothing_of_the_identities_of_another(house: House, stranger: SignedCaller) -> None:
    theirs = stranger.client("iam")
    assert {user["UserName"] for user in theirs.list_users()["Users"]} <= {"admin", "eve", "mallory"}
    assert theirs.list_roles()["Roles"] == []
    for arn in (f"arn:aws:iam::{ACCOUNT}:role/tenant", f"arn:aws:iam::{ACCOUNT}:user/alice"):
        with pytest.raises(theirs.exceptions.ClientError):
            stranger.assume(arn, "stranger")
    key = house.people["alice"].access_key
    with pytest.raises(theirs.exceptions.NoSuchEntityException):
        theirs.delete_access_key(UserName="admin", AccessKeyId=key)
    assert house.people["alice"].client("sts").get_caller_identity()["Account"] == ACCOUNT


def test_no_operation_of_an_administrator_reaches_another_account(
    house: House, stranger: SignedCaller
) -> None:
    """By names of tables that only the other account has, and by all kinds of ARNs."""
    for name, (request, needs) in DYNAMODB.items():
        if name == "ListTables" or not any(resource.startswith(TABLES) for _, resource in needs):
            continue
        service = "streams" if name in {"DescribeStream", "GetRecords", "GetShardIterator"} else "dynamodb"
        reply = stranger.ask(name, _of_house(request), service=service)
        assert (name, reply.status) == (name, 400), reply.raw
        assert CANARY.encode() not in reply.raw
    assert house.must("DescribeTable", TableName=NAME)["Table"]["TableStatus"] == "ACTIVE"


def _of_house(request: Any) -> Any:
    match request:
        case dict():
            return {_of_house(key): _of_house(value) for key, value in request.items()}
        case list():
            return [_of_house(value) for value in request]
        case "orders" | "other":
            return ARN
        case str():
            return request.replace("table/orders", f"table/{NAME}")
        case _:
            return request


def test_buckets_and_the_pages_of_the_server_are_its_own_accounts(
    house: House, stranger: SignedCaller
) -> None:
    """Whatever the other account's administrator allows themselves."""
    source = {
        "S3BucketSource": {"S3Bucket": BUCKET},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": {
            "TableName": "taken",
            "KeySchema": key_schema("id"),
            "AttributeDefinitions": definitions(id="S"),
            "BillingMode": "PAY_PER_REQUEST",
        },
    }
    assert stranger.ask("ImportTable", source).error == DENIED
    assert stranger.look_at("/metrics").status == 403
    assert house.admin.look_at("/metrics").status == 200
