"""An access key for every tenant: a user each, who looks after the key and is locked out by switching it off."""

from callers import ACCOUNT, REGION, Caller, attempt, main

TABLE = "example-notes"
ARN = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{TABLE}"
OWN_ITEMS = {
    "Effect": "Allow",
    "Action": ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query"],
    "Resource": ARN,
    "Condition": {
        "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]},
        "Null": {"dynamodb:LeadingKeys": "false"},
    },
}
OWN_KEYS = {
    "Effect": "Allow",
    "Action": ["iam:CreateAccessKey", "iam:ListAccessKeys", "iam:UpdateAccessKey", "iam:DeleteAccessKey"],
    "Resource": f"arn:aws:iam::{ACCOUNT}:user/${{aws:username}}",
}


def run(administrator: Caller) -> None:
    """Make a table and two users with a key each; rotate one, switch the other off; clean up."""
    administrator.new_table(TABLE, "user", "id")
    names = ("example-red", "example-blue")
    red, blue = (administrator.new_user(name, OWN_ITEMS, OWN_KEYS) for name in names)
    try:
        for owner in names:
            read(red, "example-red", owner)
        rotated = rotate(red)
        read(rotated, "example-red with the new key", "example-red")
        read(red, "example-red with the old key", "example-red")
        iam = administrator.client("iam")
        iam.update_access_key(UserName="example-blue", AccessKeyId=blue.access_key_id, Status="Inactive")
        read(blue, "example-blue, switched off", "example-blue")
    finally:
        for name in names:
            administrator.delete_user(name)
        administrator.client().delete_table(TableName=TABLE)


def read(caller: Caller, who: str, owner: str) -> None:
    """Read a note of somebody."""
    key = {"user": {"S": owner}, "id": {"S": "1"}}
    attempt(f"{who} reads a note of {owner}", caller.client().get_item, TableName=TABLE, Key=key)


def rotate(caller: Caller) -> Caller:
    """A new key in place of the old one, which the tenant does alone."""
    made = caller.client("iam").create_access_key()["AccessKey"]
    fresh = Caller(caller.endpoint, made["AccessKeyId"], made["SecretAccessKey"])
    fresh.client("iam").delete_access_key(AccessKeyId=caller.access_key_id)
    return fresh


if __name__ == "__main__":
    main(run)
