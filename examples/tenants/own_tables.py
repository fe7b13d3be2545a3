"""Tables for every tenant, told apart by a tag: each makes and uses tables that have the tenant's own."""

from callers import ACCOUNT, REGION, Caller, attempt, document, main

ROLE, BROKER = "example-table-owner", "example-table-broker"
ROLE_ARN = f"arn:aws:iam::{ACCOUNT}:role/{ROLE}"
TABLES = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/*"
OWN = "${aws:PrincipalTag/tenant}"
TOUCHES_THE_TAG = {"ForAnyValue:StringEqualsIgnoreCase": {"aws:TagKeys": ["tenant"]}}
POLICY = (
    # A new table has the tags that it is made with, so this lets tenants make tables with their own tag only.
    {
        "Effect": "Allow",
        "Action": "dynamodb:*",
        "Resource": TABLES,
        "Condition": {"StringEquals": {"aws:ResourceTag/tenant": OWN}},
    },
    # What decides whose a table is must not be in the tenants' hands.
    {
        "Effect": "Deny",
        "Action": "dynamodb:TagResource",
        "Resource": TABLES,
        "Condition": {"StringNotEquals": {"aws:RequestTag/tenant": OWN}, **TOUCHES_THE_TAG},
    },
    {"Effect": "Deny", "Action": "dynamodb:UntagResource", "Resource": TABLES, "Condition": TOUCHES_THE_TAG},
    # A policy on a table could let others in.
    {"Effect": "Deny", "Action": "dynamodb:*ResourcePolicy", "Resource": "*"},
)
MAY_BECOME_OWNERS = {"Effect": "Allow", "Action": ["sts:AssumeRole", "sts:TagSession"], "Resource": ROLE_ARN}
TRUST = {
    "Effect": "Allow",
    "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:user/{BROKER}"},
    "Action": ["sts:AssumeRole", "sts:TagSession"],
}


def run(administrator: Caller) -> None:
    """Make the role and the broker; be two tenants; clean up."""
    iam = administrator.client("iam")
    broker = administrator.new_user(BROKER, MAY_BECOME_OWNERS)
    iam.create_role(RoleName=ROLE, AssumeRolePolicyDocument=document(TRUST))
    iam.put_role_policy(RoleName=ROLE, PolicyName="own-tables", PolicyDocument=document(*POLICY))
    tenants = {name: broker.assumed(ROLE_ARN, tenant=name) for name in ("red", "blue")}
    try:
        for name, caller in tenants.items():
            caller.new_table(f"example-{name}", "id", Tags=[{"Key": "tenant", "Value": name}])
        for name, other in (("red", "blue"), ("blue", "red")):
            be_tenant(tenants[name], name, other)
    finally:
        for name, caller in tenants.items():
            attempt(
                f"{name} deletes the own table", caller.client().delete_table, TableName=f"example-{name}"
            )
        iam.delete_role_policy(RoleName=ROLE, PolicyName="own-tables")
        iam.delete_role(RoleName=ROLE)
        administrator.delete_user(BROKER)


def be_tenant(caller: Caller, tenant: str, other: str) -> None:
    """Use one's own table, and try the other's."""
    client = caller.client()
    for owner in (tenant, other):
        table = f"example-{owner}"
        attempt(f"{tenant} scans the table of {owner}", client.scan, TableName=table)
        attempt(f"{tenant} describes the table of {owner}", client.describe_table, TableName=table)
        own = [{"Key": "tenant", "Value": tenant}]
        arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{table}"
        attempt(f"{tenant} tags the table of {owner}", client.tag_resource, ResourceArn=arn, Tags=own)
    attempt(f"{tenant} deletes the table of {other}", client.delete_table, TableName=f"example-{other}")
    attempt(
        f"{tenant} makes a table for {other}",
        client.create_table,
        TableName="example-planted",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        Tags=[{"Key": "tenant", "Value": other}],
    )


if __name__ == "__main__":
    main(run)
