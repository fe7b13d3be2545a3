"""Two tenants of one table, each with all the rights that the guide gives tenants, and an administrator."""

import json
from dataclasses import dataclass, field
from typing import Any

from item_tables import definitions, index, key_schema
from tenants.signed_callers import SignedCaller
from transfers import until

ACCOUNT = "000000000000"
TABLE = "orders"
TABLES = f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/tenant"
CANARY = "seen-by-nobody-but-bob"  # in every item of bob's, in a key and in an attribute
ITEM_ACTIONS = (
    *("GetItem", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem", "Query"),
    *("BatchGetItem", "BatchWriteItem"),
    *("PartiQLSelect", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete"),
)
OWN_KEYS = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:PrincipalTag/tenant}"]}}
SOME_KEY = {"Null": {"dynamodb:LeadingKeys": "false"}}


def document(*statements: dict[str, Any]) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def allow(*actions: str, resource: Any = "*", **elements: Any) -> dict[str, Any]:
    named = [action if ":" in action or action == "*" else f"dynamodb:{action}" for action in actions]
    return {"Effect": "Allow", "Action": named, "Resource": resource, **elements}


def trust(principal: str, *actions: str, **elements: Any) -> str:
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": principal},
        "Action": list(actions or ("sts:AssumeRole", "sts:TagSession")),
    }
    return document({**statement, **elements})


def key_of(owner: str, number: str = "1") -> dict[str, Any]:
    return {"tenant": {"S": owner}, "id": {"S": f"{number}-{CANARY}" if owner == "bob" else number}}


def item_of(owner: str, number: str = "1") -> dict[str, Any]:
    secret = CANARY if owner == "bob" else "own"
    more = {"secret": {"S": secret}, "city": {"S": "Rome"}, "rank": {"N": "7"}, "until": {"N": "4102444800"}}
    return {**key_of(owner, number), **more}


@dataclass
class House:
    """A server with its people."""

    admin: SignedCaller
    people: dict[str, SignedCaller] = field(default_factory=dict)

    @property
    def endpoint(self) -> str:
        return self.admin.endpoint

    def must(self, operation: str, **request: Any) -> Any:
        """What the administrator is answered."""
        reply = self.admin.ask(operation, request)
        assert reply.status == 200, reply.raw
        return reply.body

    def user(self, name: str, *statements: dict[str, Any], **tags: str) -> SignedCaller:
        """A new user with a key."""
        iam = self.admin.client("iam")
        iam.create_user(UserName=name, Tags=[{"Key": key, "Value": value} for key, value in tags.items()])
        if statements:
            iam.put_user_policy(UserName=name, PolicyName="own", PolicyDocument=document(*statements))
        made = iam.create_access_key(UserName=name)["AccessKey"]
        return SignedCaller(self.endpoint, made["AccessKeyId"], made["SecretAccessKey"])

    def role(self, name: str, trust_policy: str, *statements: dict[str, Any]) -> str:
        """A new role; gives its ARN."""
        iam = self.admin.client("iam")
        arn: str = iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust_policy)["Role"]["Arn"]
        if statements:
            iam.put_role_policy(RoleName=name, PolicyName="own", PolicyDocument=document(*statements))
        return arn

    def table(self, name: str, **options: Any) -> None:
        """A new table, once it is there."""
        self.must("CreateTable", TableName=name, BillingMode="PAY_PER_REQUEST", **options)
        self.until_active(name)

    def until_active(self, name: str) -> None:
        until(lambda: self.must("DescribeTable", TableName=name)["Table"]["TableStatus"] == "ACTIVE")


def furnished(admin: SignedCaller) -> House:
    """The house with its shared table, a role for tenants, and two of them by two ways each."""
    house = House(admin)
    house.table(
        TABLE,
        KeySchema=key_schema("tenant", "id"),
        AttributeDefinitions=definitions(tenant="S", id="S", city="S", rank="N"),
        LocalSecondaryIndexes=[index("by-rank", "tenant", "rank")],
        GlobalSecondaryIndexes=[index("by-city", "city"), index("by-tenant-city", "tenant", "city")],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    resources = [f"{TABLES}/{TABLE}", f"{TABLES}/{TABLE}/index/*"]
    own = allow(*ITEM_ACTIONS, resource=resources, Condition=OWN_KEYS | SOME_KEY)
    by_name = {
        "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]},
        **SOME_KEY,
    }
    broker = house.user("broker", allow("sts:AssumeRole", "sts:TagSession"))
    house.role("tenant", trust(f"arn:aws:iam::{ACCOUNT}:user/broker"), own)
    for name in ("alice", "bob"):
        tags = [{"Key": "tenant", "Value": name}]
        house.people[f"{name}'s session"] = broker.assume(ROLE, name, Tags=tags)
        house.people[name] = house.user(name, allow(*ITEM_ACTIONS, resource=resources, Condition=by_name))
    house.people["broker"] = broker
    return house
