"""Two accounts on one server: a table of one, shared with a user of the other by the table's ARN."""

from callers import ACCOUNT, REGION, Caller, attempt, document, own_server

OTHER = "222222222222"
TABLE = "example-ledger"
ARN = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{TABLE}"
KEY = {"id": {"S": "1"}}
AUDITOR = f"arn:aws:iam::{OTHER}:user/auditor"
# The owner's side, on the table: who may do what.
SHARED = {
    "Effect": "Allow",
    "Principal": {"AWS": AUDITOR},
    "Action": ["dynamodb:GetItem", "dynamodb:Scan"],
    "Resource": ARN,
}
# The other side, on the user. Both must allow it.
MAY_READ = {"Effect": "Allow", "Action": "dynamodb:GetItem", "Resource": ARN}


def run(owner: Caller, other: Caller) -> None:
    """Share a table, use it from the other account, take it back; clean up."""
    client = owner.client()
    owner.new_table(TABLE, "id")
    client.put_item(TableName=TABLE, Item=KEY)
    auditor = other.new_user("auditor", MAY_READ)
    theirs = auditor.client()
    try:
        attempt("before it is shared, the auditor reads", theirs.get_item, TableName=ARN, Key=KEY)
        client.put_resource_policy(ResourceArn=ARN, Policy=document(SHARED))
        attempt("the auditor reads", theirs.get_item, TableName=ARN, Key=KEY)
        attempt("the auditor scans, which their own policy does not allow", theirs.scan, TableName=ARN)
        attempt("the auditor writes, which neither allows", theirs.put_item, TableName=ARN, Item=KEY)
        attempt("the auditor reads by the bare name", theirs.get_item, TableName=TABLE, Key=KEY)
        administrator = other.client()
        attempt(
            "the auditor's administrator reads, who is not named",
            administrator.get_item,
            TableName=ARN,
            Key=KEY,
        )
        client.delete_resource_policy(ResourceArn=ARN)
        attempt("when it is not shared any more, the auditor reads", theirs.get_item, TableName=ARN, Key=KEY)
    finally:
        other.delete_user("auditor")
        client.delete_table(TableName=TABLE)


if __name__ == "__main__":
    with own_server(ACCOUNT, OTHER) as (first, second):
        run(first, second)
