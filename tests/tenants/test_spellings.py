"""Keys, names and ARNs that mean the same are judged the same, whatever they are spelt like; others are others."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from item_tables import definitions, key_schema
from tenants.shared_house import ACCOUNT, CANARY, ROLE, SOME_KEY, TABLE, House, allow, item_of, key_of, trust
from tenants.signed_callers import SignedCaller

DENIED = "AccessDeniedException"
REFUSED = {DENIED, "ValidationException", "SerializationException", "ResourceNotFoundException"}
_REGION_AND_ACCOUNT = "us-east-1:000000000000"


@pytest.fixture(scope="module", autouse=True)
def items(house: House) -> None:
    for owner in ("alice", "bob"):
        house.must("PutItem", TableName=TABLE, Item=item_of(owner))


@pytest.fixture(scope="module")
def alice(house: House) -> SignedCaller:
    return house.people["alice's session"]


@pytest.fixture(scope="module")
def numbered(house: House) -> SignedCaller:
    """A tenant who is the number 1, of a table of numbers, and the bytes `a`, of a table of bytes."""
    for name, kind in (("numbers", "N"), ("bytes", "B")):
        house.table(name, KeySchema=key_schema("tenant"), AttributeDefinitions=definitions(tenant=kind))
    for value in ("1", "10", "2"):
        house.must("PutItem", TableName="numbers", Item={"tenant": {"N": value}, "of": {"S": CANARY + value}})
    for value in ("YQ==", "Yg=="):
        house.must("PutItem", TableName="bytes", Item={"tenant": {"B": value}, "of": {"S": CANARY + value}})
    own = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["1", "YQ=="]}, **SOME_KEY}
    return house.user("numbered", allow("GetItem", "PutItem", "Query", "PartiQLSelect", Condition=own))


@pytest.fixture(scope="module")
def pattern_role(house: House) -> str:
    """A role whose policy compares with patterns."""
    like = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["${aws:PrincipalTag/tenant}"]}, **SOME_KEY}
    return house.role(
        "patterns", trust(f"arn:aws:iam::{ACCOUNT}:user/broker"), allow("GetItem", Condition=like)
    )


@pytest.mark.parametrize("spelt", ["1", "1.0", "1E0", "0.1e1", "10e-1", "001", "+1", "1.000000"])
def test_a_number_is_judged_by_its_value(numbered: SignedCaller, spelt: str) -> None:
    reply = numbered.ask("GetItem", {"TableName": "numbers", "Key": {"tenant": {"N": spelt}}})
    assert reply.body["Item"]["of"] == {"S": CANARY + "1"}
    query = {
        "TableName": "numbers",
        "KeyConditionExpression": "tenant = :t",
        "ExpressionAttributeValues": {":t": {"N": spelt}},
    }
    assert numbered.ask("Query", query).body["Count"] == 1


@pytest.mark.parametrize(
    "spelt", ["2", "2.0", "1E1", "0.2e1", "1.0000001", "-1", "10", "one", "", "1 ", " 2", "\u0662"]
)
def test_another_number_is_denied_in_every_spelling(numbered: SignedCaller, spelt: str) -> None:
    reply = numbered.ask("GetItem", {"TableName": "numbers", "Key": {"tenant": {"N": spelt}}})
    assert reply.error in REFUSED
    assert CANARY.encode() not in reply.raw


def test_numbers_in_statements_are_judged_by_their_value(numbered: SignedCaller) -> None:
    for text, found in (
        ("1", 1),
        ("1.0", 1),
        ("1e0", 1),
        ("2", None),
        ("10", None),
        ("1e1", None),
        ("'1'", None),
    ):
        reply = numbered.ask(
            "ExecuteStatement", {"Statement": f"SELECT * FROM numbers WHERE tenant = {text}"}
        )
        assert (text, found) == (text, len(reply.body["Items"]) if reply.status == 200 else None)
        assert found or reply.error == DENIED


@pytest.mark.parametrize("spelt", ["YQ==", "YR==", "Yf=="])
def test_bytes_are_judged_by_what_they_are(numbered: SignedCaller, spelt: str) -> None:
    """The last characters of base64 have bits that mean nothing."""
    reply = numbered.ask("GetItem", {"TableName": "bytes", "Key": {"tenant": {"B": spelt}}})
    assert reply.status == 400 or reply.body["Item"]["of"] == {"S": CANARY + "YQ=="}


@pytest.mark.parametrize("spelt", ["Yg==", "Yg", "Yg=", " Yg==", "Yg==\n", "YgA=", "", "Y\ng==", "Yg==Yg=="])
def test_other_bytes_are_denied_in_every_spelling(numbered: SignedCaller, spelt: str) -> None:
    reply = numbered.ask("GetItem", {"TableName": "bytes", "Key": {"tenant": {"B": spelt}}})
    assert reply.error in REFUSED
    assert CANARY.encode() not in reply.raw


@pytest.mark.parametrize(
    "key",
    [
        {"N": "1"},
        {"B": "Ym9i"},
        {"BOOL": True},
        {"NULL": True},
        {"SS": ["alice"]},
        {"SS": ["alice", "bob"]},
        {"L": [{"S": "alice"}]},
        {"M": {"S": {"S": "alice"}}},
        {"S": "alice", "N": "1"},
        {"S": ""},
        {},
        {"s": "bob"},
        {"S": None},
        {"S": "bob", "S ": "alice"},
        "alice",
        ["alice"],
        None,
    ],
)
def test_a_key_of_another_type_leads_nowhere(alice: SignedCaller, key: Any) -> None:
    id_ = key_of("bob")["id"]
    for operation, request in (
        ("GetItem", {"TableName": TABLE, "Key": {"tenant": key, "id": id_}}),
        ("PutItem", {"TableName": TABLE, "Item": {"tenant": key, "id": id_}}),
        ("BatchGetItem", {"RequestItems": {TABLE: {"Keys": [key_of("alice"), {"tenant": key, "id": id_}]}}}),
        (
            "Query",
            {
                "TableName": TABLE,
                "KeyConditionExpression": "tenant = :t",
                "ExpressionAttributeValues": {":t": key},
            },
        ),
    ):
        reply = alice.ask(operation, request)
        assert reply.error in REFUSED, reply.raw
        assert f'"{CANARY}"'.encode() not in reply.raw


@pytest.mark.parametrize(
    "name",
    [
        "Alice",
        "ALICE",
        "alice ",
        " alice",
        "ali\u0441e",
        "alice\u200b",
        "alice\x00",
        "\uff41lice",
        "al\u0131ce",
        "*",
        "a*",
        "alic?",
        "${aws:username}",
        "alice/bob",
    ],
)
def test_names_that_look_alike_are_other_names(alice: SignedCaller, name: str) -> None:
    for operation, member in (("GetItem", "Key"), ("PutItem", "Item")):
        request = {"TableName": TABLE, member: {"tenant": {"S": name}, "id": {"S": "1"}}}
        assert alice.ask(operation, request).error == DENIED


@pytest.mark.parametrize("tag", ["*", "b*", "bo?", "${aws:PrincipalTag/other}", "?ob"])
def test_a_tag_that_looks_like_a_pattern_is_refused(house: House, pattern_role: str, tag: str) -> None:
    tags = [{"Key": "tenant", "Value": tag}, {"Key": "other", "Value": "bob"}]
    with pytest.raises(ClientError, match="ValidationError"):
        house.people["broker"].assume(pattern_role, "pattern", Tags=tags)


@pytest.mark.parametrize(
    "body",
    [
        b'{"TableName":"orders","Key":%(mine)b,"Key":%(theirs)b}',
        b'{"TableName":"orders","Key":%(theirs)b,"key":%(mine)b}',
        b'{"TableName":"absent","TableName":"orders","Key":%(theirs)b}',
        b'{"TableName":"orders","Key":{"tenant":{"S":"alice"},"tenant":{"S":"bob"},"id":%(id)b}}',
        b'{"TableName":"orders","Key":{"tenant":{"S":"alice","S":"bob"},"id":%(id)b}}',
        b'{"TableName":"orders","Key":{"tenant":{"S":"alice"},"tena\\u006et":{"S":"bob"},"id":%(id)b}}',
        b'{"TableName":"orders","Key":{"tenant":{"S":"\\u0062ob"},"id":%(id)b}}',
        b'{"TableName":"\\u006frders","Key":%(theirs)b}',
        b'{"TableName":"orders","Key":{"tenant":{"S":"bob\\ud800"},"id":%(id)b}}',
        b'\xef\xbb\xbf{"TableName":"orders","Key":%(theirs)b}',
        b'{"TableName":"orders","Key":%(theirs)b}{"TableName":"orders","Key":%(mine)b}',
        b'{"TableName":"orders","Key":%(mine)b,"Key":null,"Key":%(theirs)b}',
    ],
)
def test_a_body_that_says_two_things_is_judged_by_what_is_done(alice: SignedCaller, body: bytes) -> None:
    mine, theirs = (json.dumps(key_of(owner)).encode() for owner in ("alice", "bob"))
    values = {b"mine": mine, b"theirs": theirs, b"id": json.dumps(key_of("bob")["id"]).encode()}
    reply = alice.ask("GetItem", body % values)
    assert reply.error in REFUSED, reply.raw
    assert f'"{CANARY}"'.encode() not in reply.raw


def test_a_large_body_is_judged_like_a_small_one(alice: SignedCaller) -> None:
    """It is read by another reader, on another thread."""
    padding = "x" * 60_000
    request = {"TableName": TABLE, "Key": key_of("bob"), "ExpressionAttributeNames": {"#n": padding}}
    reply = alice.ask("GetItem", request)
    assert reply.error in {DENIED, "ValidationException"}
    keys = [key_of("alice", str(number) + padding[:900]) for number in range(60)]
    own = {"RequestItems": {TABLE: {"Keys": keys}}}
    assert alice.ask("BatchGetItem", own).status == 200
    mixed = {"RequestItems": {TABLE: {"Keys": [*keys, key_of("bob")]}}}
    assert alice.ask("BatchGetItem", mixed).error == DENIED


@pytest.mark.parametrize(
    "name",
    [
        f"arn:aws:dynamodb:{_REGION_AND_ACCOUNT}:table/orders",
        f"arn:aws-cn:dynamodb:{_REGION_AND_ACCOUNT}:table/orders",
        f"arn:awsx:dynamodb:{_REGION_AND_ACCOUNT}:table/orders",
        f"arn:aws:DYNAMODB:{_REGION_AND_ACCOUNT}:table/orders",
        f"arn:aws:s3:{_REGION_AND_ACCOUNT}:table/orders",
        "arn:aws:dynamodb:us-east-1:111111111111:table/orders",
        "arn:aws:dynamodb:us-east-1::table/orders",
        "arn:aws:dynamodb::000000000000:table/orders",
        "arn:aws:dynamodb:eu-west-1:000000000000:table/orders",
        "arn:aws:dynamodb:US-EAST-1:000000000000:table/orders",
        f"ARN:aws:dynamodb:{_REGION_AND_ACCOUNT}:table/orders",
        f"arn:aws:dynamodb:{_REGION_AND_ACCOUNT}:Table/orders",
        f"arn:aws:dynamodb:{_REGION_AND_ACCOUNT}:table/ORDERS",
        f"arn:aws:dynamodb:{_REGION_AND_ACCOUNT}:table/orders/index/by-city",
        f"arn:aws:dynamodb:{_REGION_AND_ACCOUNT}:table/orders\n",
        f" arn:aws:dynamodb:{_REGION_AND_ACCOUNT}:table/orders",
        "Orders",
        "orders ",
        "orders\x00",
        "*",
        "orders/index/by-tenant-city",
    ],
)
def test_no_spelling_of_the_table_leads_to_the_other(alice: SignedCaller, name: str) -> None:
    for operation, request in (
        ("GetItem", {"TableName": name, "Key": key_of("bob")}),
        ("BatchGetItem", {"RequestItems": {name: {"Keys": [key_of("bob")]}}}),
        ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": name, "Key": key_of("bob")}}]}),
        ("Scan", {"TableName": name}),
        ("DescribeTable", {"TableName": name}),
        ("DeleteTable", {"TableName": name}),
    ):
        reply = alice.ask(operation, request)
        assert reply.error in REFUSED - {"ResourceNotFoundException"}, reply.raw
        assert f'"{CANARY}"'.encode() not in reply.raw


@pytest.mark.parametrize("region", ["eu-west-1", "us-east-2"])
def test_another_region_has_no_such_table(alice: SignedCaller, region: str) -> None:
    for owner in ("alice", "bob"):
        request = {"TableName": TABLE, "Key": key_of(owner)}
        assert alice.ask("GetItem", request, region=region).error == DENIED


@pytest.mark.parametrize(
    "target", ["getitem", "GETITEM", "GetItem ", "DynamoDB_20120810.GetItem", "Get\u0130tem"]
)
def test_an_operation_by_another_spelling_is_none(alice: SignedCaller, target: str) -> None:
    headers = {"X-Amz-Target": f"DynamoDB_20120810.{target}"} if target.isascii() else {}
    reply = alice.ask(
        target if target.isascii() else "", {"TableName": TABLE, "Key": key_of("bob")}, headers=headers
    )
    assert reply.status == 400
    assert CANARY.encode() not in reply.raw


def test_the_case_of_a_tag_makes_no_other_tag(house: House) -> None:
    """The keys of tags have no case, so a second spelling must not stand beside the first."""
    broker = house.people["broker"]
    for other in ("Tenant", "TENANT"):
        person = broker.assume(ROLE, "case", Tags=[{"Key": other, "Value": "alice"}])
        assert person.ask("GetItem", {"TableName": TABLE, "Key": key_of("alice")}).status == 200
        assert person.ask("GetItem", {"TableName": TABLE, "Key": key_of("bob")}).error == DENIED
    both = [{"Key": "tenant", "Value": "alice"}, {"Key": "Tenant", "Value": "bob"}]
    with pytest.raises(ClientError, match="Duplicate tag keys"):
        broker.assume(ROLE, "case", Tags=both)
