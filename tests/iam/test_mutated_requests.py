"""Changed requests to a whole server with --auth iam: nothing is written that nobody both signed and may do.

The requests are those of a user who may read, of a session of hers, and writes that she has signed and may not do.
HASHRANGE_MUTATIONS says how many changed ones are sent, a hundredth of them here.
"""

import json
import os
import random
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from enforcing import REGION, Enforcing, Key, enforcing, statement
from hashrange.auth.signature.verifier import SignedRequest
from wire.test_mutated_signatures import SEED, Mutations

COUNT = max(300, int(os.environ.get("HASHRANGE_MUTATIONS", "0")) // 100)
FORM = "application/x-www-form-urlencoded; charset=utf-8"
ITEM = {"pk": {"S": "a"}, "sk": {"S": "1"}}
QUERY = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "a"}}}
READS: dict[str, Any] = {
    "GetItem": {"TableName": "kept", "Key": ITEM},
    "Query": {"TableName": "kept", **QUERY},
    "ListTables": {},
    "DescribeTable": {"TableName": "kept"},
}
WRITES: dict[str, Any] = {
    "PutItem": {"TableName": "kept", "Item": {"pk": {"S": "a"}, "sk": {"S": "2"}}},
    "DeleteItem": {"TableName": "kept", "Key": ITEM},
    "DeleteTable": {"TableName": "kept"},
    "ExecuteStatement": {"Statement": "DELETE FROM kept WHERE pk = 'a' AND sk = '1'"},
    "TransactWriteItems": {"TransactItems": [{"Delete": {"TableName": "kept", "Key": ITEM}}]},
}
FORMS = {
    "iam": "Action=CreateUser&Version=2010-05-08&UserName=intruder",
    "sts": "Action=GetCallerIdentity&Version=2011-06-15",
}


def signed(endpoint: str, key: Key, service: str, headers: dict[str, str], body: str) -> SignedRequest:
    request = AWSRequest("POST", f"{endpoint}/", data=body.encode(), headers=headers)
    SigV4Auth(Credentials(key.access_key_id, key.secret, key.token), service, REGION).add_auth(request)
    fields = [(b"Host", urlsplit(endpoint).netloc.encode())]
    fields += [(name.title().encode(), str(value).encode()) for name, value in request.headers.items()]
    return SignedRequest(b"POST", b"/", b"", dict(fields), fields, body.encode())


def call(endpoint: str, key: Key, operation: str, body: Any) -> SignedRequest:
    headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": f"DynamoDB_20120810.{operation}"}
    return signed(endpoint, key, "dynamodb", headers, json.dumps(body))


def corpus(endpoint: str, keys: list[Key]) -> list[SignedRequest]:
    operations = (READS | WRITES).items()
    calls = [call(endpoint, key, name, body) for key in keys for name, body in operations]
    forms = [
        signed(endpoint, key, service, {"Content-Type": FORM}, body)
        for key in keys
        for service, body in FORMS.items()
    ]
    return calls + forms


def answered(port: int, sent: bytes) -> bytes:
    """What comes back until the server closes, for nothing follows."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65536), b""))
        except ConnectionError:
            return b""  # refused before all of it was sent


def reader_keys(server: Enforcing) -> list[Key]:
    """A user who may read, and her session."""
    actions = [f"dynamodb:{name}" for name in READS]
    key = server.user("reader", statement([*actions, "dynamodb:PartiQLSelect"]))
    made = server.client("sts", key).get_session_token()["Credentials"]
    return [key, Key(made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"])]


def state(server: Enforcing) -> Any:
    """Everything that the requests could have changed."""
    dynamodb = server.client("dynamodb", server.administrator)
    users = server.client("iam", server.administrator).list_users()["Users"]
    return (
        dynamodb.list_tables()["TableNames"],
        dynamodb.scan(TableName="kept", ConsistentRead=True)["Items"],
        [user["UserName"] for user in users],
    )


def test_nothing_is_written_that_nobody_signed_and_may_do(tmp_path: Path) -> None:
    with enforcing(tmp_path / "data", "--failed-signatures", "0", "--log-level", "error") as server:
        server.table("kept")
        server.client("dynamodb", server.administrator).put_item(TableName="kept", Item=ITEM)
        requests = corpus(server.endpoint, reader_keys(server))
        before = state(server)
        assert before == (["kept"], [ITEM], ["admin", "reader"])
        chance = random.Random(SEED)
        mutations = Mutations(requests, chance)
        seen = {b"200": 0, b"AccessDenied": 0, b"Signature": 0}
        for number in range(COUNT):
            sent = mutations.mutated()
            answer = answered(server.server.port, sent)
            assert b"InternalServerError" not in answer, (SEED, number, sent)
            for word in seen:
                seen[word] += word in answer
        assert state(server) == before
        assert all(seen.values()), seen  # some were served, some denied, some not signed like this
