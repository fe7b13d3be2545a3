"""One table for all tenants: each reaches the items whose partition key is the tenant, and no others."""

from callers import ACCOUNT, REGION, Caller, attempt, document, main

TABLE, ROLE, BROKER = "example-orders", "example-tenant", "example-broker"
ARN = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{TABLE}"
ROLE_ARN = f"arn:aws:iam::{ACCOUNT}:role/{ROLE}"
OWN_ITEMS = {
    "Effect": "Allow",
    "Action": [
        *("dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"),
        *("dynamodb:ConditionCheckItem", "dynamodb:Query"),
        *("dynamodb:BatchGetItem", "dynamodb:BatchWriteItem"),
        *(
            "dynamodb:PartiQLSelect",
            "dynamodb:PartiQLInsert",
            "dynamodb:PartiQLUpdate",
            "dynamodb:PartiQLDelete",
        ),
    ],
    # The table alone. An index whose partition key is not the tenant must not be here: see docs/tenants.md.
    "Resource": ARN,
    "Condition": {
        "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:PrincipalTag/tenant}"]},
        # ForAllValues is true of a request without leading keys; this is not.
        "Null": {"dynamodb:LeadingKeys": "false"},
    },
}
MAY_BECOME_TENANTS = {"Effect": "Allow", "Action": ["sts:AssumeRole", "sts:TagSession"], "Resource": ROLE_ARN}
TRUST = {
    "Effect": "Allow",
    "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:user/{BROKER}"},
    "Action": ["sts:AssumeRole", "sts:TagSession"],
}


def run(administrator: Caller) -> None:
    """Make the table, the role and the broker; be two tenants; clean up."""
    iam = administrator.client("iam")
    administrator.new_table(TABLE, "tenant", "id")
    broker = administrator.new_user(BROKER, MAY_BECOME_TENANTS)
    iam.create_role(RoleName=ROLE, AssumeRolePolicyDocument=document(TRUST))
    iam.put_role_policy(RoleName=ROLE, PolicyName="own-items", PolicyDocument=document(OWN_ITEMS))
    try:
        # In a real system the broker is your service: it knows the tenant once somebody has logged in.
        for tenant, other in (("red", "blue"), ("blue", "red")):
            be_tenant(broker.assumed(ROLE_ARN, tenant=tenant), tenant, other)
    finally:
        iam.delete_role_policy(RoleName=ROLE, PolicyName="own-items")
        iam.delete_role(RoleName=ROLE)
        administrator.delete_user(BROKER)
        administrator.client().delete_table(TableName=TABLE)


def be_tenant(caller: Caller, tenant: str, other: str) -> None:
    """Use one's own items, and try others."""
    client = caller.client()
    for owner in (tenant, other):
        key = {"tenant": {"S": owner}, "id": {"S": "1"}}
        value = {"S": owner}
        attempt(f"{tenant} writes an order of {owner}", client.put_item, TableName=TABLE, Item=key)
        attempt(f"{tenant} reads an order of {owner}", client.get_item, TableName=TABLE, Key=key)
        attempt(
            f"{tenant} queries the orders of {owner}",
            client.query,
            TableName=TABLE,
            KeyConditionExpression="tenant = :t",
            ExpressionAttributeValues={":t": value},
        )
        statement = f'SELECT * FROM "{TABLE}" WHERE tenant = ?'
        attempt(
            f"{tenant} selects the orders of {owner}",
            client.execute_statement,
            Statement=statement,
            Parameters=[value],
        )
    attempt(f"{tenant} selects all orders", client.execute_statement, Statement=f'SELECT * FROM "{TABLE}"')
    attempt(f"{tenant} scans the table", client.scan, TableName=TABLE)


if __name__ == "__main__":
    main(run)
