"""A table for every tenant, encrypted under a key of the tenant's own: without the key nobody reads it."""

import time
from typing import Any

from callers import ACCOUNT, REGION, Caller, attempt, document, own_server

NAMES = ("example-key-red", "example-key-blue")
OWN_TABLES = {
    "Effect": "Allow",
    "Action": "dynamodb:*",
    "Resource": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/${{aws:username}}*",
}
KEY = {"id": {"S": "1"}}
WAIT_SECONDS = 600


def key_policy(tenant: str) -> str:
    """The account may manage the key, and the tenant may encrypt tables with it; nobody else may."""
    managers = {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
    users = {"AWS": f"arn:aws:iam::{ACCOUNT}:user/{tenant}"}
    using = ["kms:DescribeKey", "kms:CreateGrant", "kms:Encrypt", "kms:Decrypt", "kms:GenerateDataKey*"]
    return document(
        {"Effect": "Allow", "Principal": managers, "Action": "kms:*", "Resource": "*"},
        {"Effect": "Allow", "Principal": users, "Action": using, "Resource": "*"},
    )


def under(key_arn: str) -> dict[str, Any]:
    """How a table is encrypted under a key."""
    return {"SSESpecification": {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": key_arn}}


def run(administrator: Caller) -> None:
    """Make two tenants with a key and a table each; clean up."""
    kms = administrator.client("kms")
    tenants = {name: administrator.new_user(name, OWN_TABLES) for name in NAMES}
    keys = {name: kms.create_key(Policy=key_policy(name))["KeyMetadata"]["Arn"] for name in NAMES}
    try:
        for name, caller in tenants.items():
            caller.new_table(name, "id", **under(keys[name]))
            caller.client().put_item(TableName=name, Item=KEY)
            read(caller, name)
        switch_off(administrator, tenants, keys)
    finally:
        for name, key in keys.items():
            attempt(f"{name} is deleted", administrator.client().delete_table, TableName=name)
            administrator.delete_user(name)
            kms.schedule_key_deletion(KeyId=key, PendingWindowInDays=7)


def switch_off(administrator: Caller, tenants: dict[str, Caller], keys: dict[str, str]) -> None:
    """Try the key of the other; switch one key off and on again."""
    kms, (red, blue) = administrator.client("kms"), NAMES
    attempt(
        f"{blue} encrypts a table under the key of {red}",
        tenants[blue].client().update_table,
        TableName=blue,
        **under(keys[red]),
    )
    kms.disable_key(KeyId=keys[red])
    until_status(administrator, red, "INACCESSIBLE_ENCRYPTION_CREDENTIALS")
    print(f"the key of {red} is: off")
    for name, caller in tenants.items():
        read(caller, name)
    attempt(f"the administrator scans {red}", administrator.client().scan, TableName=red)
    kms.enable_key(KeyId=keys[red])
    until_status(administrator, red, "ACTIVE")
    print(f"the key of {red} is: on")
    read(tenants[red], red)


def read(caller: Caller, name: str) -> None:
    """Read the own table."""
    attempt(f"{name} reads the own table", caller.client().get_item, TableName=name, Key=KEY)


def until_status(administrator: Caller, table: str, status: str) -> None:
    """Wait: servers keep the unwrapped key of a table for `--data-key-cache`."""
    client, deadline = administrator.client(), time.monotonic() + WAIT_SECONDS
    while client.describe_table(TableName=table)["Table"]["TableStatus"] != status:
        assert time.monotonic() < deadline, f"{table} did not become {status}"
        time.sleep(0.2)


if __name__ == "__main__":
    with own_server(ACCOUNT, flags=("--data-key-cache", "1s")) as (admin,):
        run(admin)
