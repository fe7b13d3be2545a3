"""Signed requests that were changed on their way: none is served that nobody has signed.

Changes are made to the bytes, and read by the same parser as all requests are. What reaches an operation must be what
one of the keys has signed: operation, body, key and region. Changes of what is not signed, such as User-Agent, may
pass. The environment variable HASHRANGE_MUTATIONS says how many are tried.
"""

import gzip
import os
import random
from collections.abc import Callable
from hashlib import sha256

from auth.signature.signing import HEADERS, SESSION_KEY, TOKEN, signed
from hashrange.auth.signature.verifier import SignedRequest
from signed_wire import OWN_PATH, Served, SignedClient, SignedWire, as_bytes

EMPTY_HASH = sha256(b"{}").hexdigest()
COUNT = int(os.environ.get("HASHRANGE_MUTATIONS", "6000"))
SEED = int(os.environ.get("HASHRANGE_SEED", "13"))
TARGETS = ["GetItem", "PutItem", "DeleteItem", "Query", "DeleteTable", "ListTables"]
FORM = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
CBOR = {"Content-Type": "application/cbor", "Smithy-Protocol": "rpc-v2-cbor"}
CBOR_URL = "http://localhost:8000/service/GraniteServiceVersion20100801/operation/ListMetrics"
DETOURS = [
    b"/_hashrange/chaos/.." + OWN_PATH,
    b"/_hashrange/chaos/../clock",
    b"/_hashrange//clock",
    b"/x/../",
]
FORM_URL = "http://localhost:8000/?Action=GetAccessKeyInfo&Version=2011-06-15&AccessKeyId=AKIDEXAMPLE"
OWN_URL = f"http://localhost:8000{OWN_PATH.decode()}?table=a&index=b"
INTERESTING = [
    b"\r\n",
    b"\n",
    b"\r",
    b" ",
    b"\t",
    b"\0",
    b":",
    b",",
    b";",
    b"=",
    b"%",
    b"+",
    b"/",
    b"?",
    b"&",
    b"\xff",
]
NAMES = [
    *(
        b"Authorization",
        b"X-Amz-Target",
        b"X-Amz-Date",
        b"Date",
        b"Host",
        b"Content-Type",
        b"X-Amz-Security-Token",
    ),
    *(
        b"Content-Encoding",
        b"Transfer-Encoding",
        b"Content-Length",
        b"X-Amz-Content-Sha256",
        b"Expect",
        b"Connection",
    ),
    *(b"X-HTTP-Method-Override", b"Smithy-Protocol", b"X-Forwarded-Host", b"User-Agent"),
]
VALUES = [
    *(
        b"",
        b"gzip",
        b"chunked",
        b"identity",
        b"0",
        b"2",
        b"UNSIGNED-PAYLOAD",
        b"application/json",
        b"20260102T030405Z",
    ),
    *(
        b"DynamoDB_20120810.DeleteTable",
        b"application/x-www-form-urlencoded",
        b"localhost",
        b"100-continue",
        b"close",
    ),
    *(b"application/cbor", b"rpc-v2-cbor", TOKEN.encode()),
]


def corpus() -> list[SignedRequest]:
    """Requests of all protocols and both keys, as botocore signs them."""
    bodies = [b"{}", b'{"TableName":"a"}', b'{"TableName":"b","Limit":1}']
    requests = [
        signed(body, headers={**HEADERS, "X-Amz-Target": f"DynamoDB_20120810.{target}"}, session=session)
        for target in TARGETS
        for body in bodies
        for session in (False, True)
    ]
    requests += [
        signed(b'{"TableName":"eu"}', region="eu-west-1"),
        signed(
            headers={
                **HEADERS,
                "X-Amz-Meta-A": "a   b",
                "User-Agent": "sdk",
                "X-Amz-Content-SHA256": EMPTY_HASH,
            }
        ),
        signed(gzip.compress(b'{"Limit":3}', mtime=0), headers={**HEADERS, "Content-Encoding": "gzip"}),
        signed(b'{"ExclusiveStartTableName":"%b"}' % (b"x" * 40_000)),
        signed(b"Action=GetCallerIdentity&Version=2011-06-15", headers=FORM, service="sts"),
        signed(b"Action=ListMetrics&Version=2010-08-01", headers=FORM, service="monitoring"),
        signed(b"\xa0", headers=CBOR, url=CBOR_URL, service="monitoring"),
        signed(b"", headers={}, url=OWN_URL, service="hashrange", method="GET"),
        signed(b"", headers={}, url=OWN_URL, service="hashrange", method="GET", session=True),
        signed(b"", headers={}, url=OWN_URL, service="hashrange", method="GET", presigned_seconds=60),
        signed(b"", headers={}, url=FORM_URL, service="sts", method="GET", presigned_seconds=60),
        signed(
            b"", headers={}, url=FORM_URL, service="sts", method="GET", presigned_seconds=60, session=True
        ),
    ]
    return requests


class Mutations:
    """Changes requests, in one way or several."""

    def __init__(self, requests: list[SignedRequest], chance: random.Random) -> None:
        self._requests, self._chance = requests, chance
        self._of_requests: list[Callable[[SignedRequest], SignedRequest]] = [
            self._add_field,
            self._repeat_field,
            self._drop_field,
            self._swap_field,
            self._spoil_field,
            self._rename_field,
            self._swap_body,
            self._spoil_body,
            self._move,
            self._reword_authorization,
            self._shuffle,
        ]

    def mutated(self) -> bytes:
        """The bytes of a request that was changed."""
        chance = self._chance
        request = chance.choice(self._requests)
        for _ in range(chance.choice([0, 1, 1, 1, 2, 3])):
            request = chance.choice(self._of_requests)(request)
        sent = self._chunked(request) if chance.random() < 0.05 else as_bytes(request)
        for _ in range(chance.choice([0, 0, 1, 1, 2])):
            sent = self._spoilt(sent)
        return sent

    def _other(self) -> SignedRequest:
        return self._chance.choice(self._requests)

    def _spoilt(self, text: bytes) -> bytes:
        chance = self._chance
        # Mostly in the head, which is short where a body is long.
        at = chance.randrange(min(len(text), 700) + 1)
        piece = chance.choice(
            [*INTERESTING, bytes([chance.randrange(256)]), bytes([chance.randrange(32, 127)])]
        )
        match chance.randrange(5):
            case 0:
                return text[:at] + piece + text[at:]
            case 1:
                return text[:at] + text[at + 1 :]
            case 2:
                return text[:at] + text[at : at + 1].swapcase() + text[at + 1 :]
            case 3:
                end = at + chance.randrange(1, 20)
                return text[:end] + text[at:end] + text[end:]
            case _:
                return text[:at] + piece + text[at + 1 :]

    def _fields(self, request: SignedRequest) -> list[tuple[bytes, bytes]]:
        return list(request.fields)

    def _at(self, fields: list[tuple[bytes, bytes]]) -> int:
        return self._chance.randrange(len(fields)) if fields else 0

    def _add_field(self, request: SignedRequest) -> SignedRequest:
        fields = self._fields(request)
        name, value = self._chance.choice(NAMES), self._chance.choice(VALUES)
        fields.insert(self._at(fields), (name, value))
        return request._replace(fields=fields)

    def _repeat_field(self, request: SignedRequest) -> SignedRequest:
        fields = self._fields(request)
        name, value = self._chance.choice([*fields, *self._other().fields])
        fields.insert(self._at(fields), (self._chance.choice([name, name.lower(), name.upper()]), value))
        return request._replace(fields=fields)

    def _drop_field(self, request: SignedRequest) -> SignedRequest:
        fields = self._fields(request)
        if fields:
            del fields[self._at(fields)]
        return request._replace(fields=fields)

    def _swap_field(self, request: SignedRequest) -> SignedRequest:
        fields, others = self._fields(request), dict(self._other().fields)
        at = self._at(fields)
        if fields:
            name, value = fields[at]
            fields[at] = name, others.get(name, value)
        return request._replace(fields=fields)

    def _spoil_field(self, request: SignedRequest) -> SignedRequest:
        fields = self._fields(request)
        if fields:
            at = self._at(fields)
            fields[at] = fields[at][0], self._spoilt(fields[at][1])
        return request._replace(fields=fields)

    def _rename_field(self, request: SignedRequest) -> SignedRequest:
        fields = self._fields(request)
        if fields:
            at = self._at(fields)
            fields[at] = self._chance.choice(NAMES), fields[at][1]
        return request._replace(fields=fields)

    def _swap_body(self, request: SignedRequest) -> SignedRequest:
        return request._replace(body=self._other().body)

    def _spoil_body(self, request: SignedRequest) -> SignedRequest:
        return request._replace(body=self._spoilt(bytes(request.body)))

    def _move(self, request: SignedRequest) -> SignedRequest:
        chance, other = self._chance, self._other()
        match chance.randrange(4):
            case 0:
                return request._replace(method=chance.choice([b"GET", b"POST", b"PUT", b"HEAD", b"OPTIONS"]))
            case 1:
                return request._replace(
                    path=chance.choice([other.path, b"//", b"/.", b"/a/..", b"/%2e", b"*", *DETOURS])
                )
            case 2:
                return request._replace(query=chance.choice([other.query, b"a", b"&", b"X-Amz-Algorithm=x"]))
            case _:
                return request._replace(query=self._spoilt(request.query))

    def _reword_authorization(self, request: SignedRequest) -> SignedRequest:
        chance = self._chance
        theirs, ours = (dict(one.fields).get(b"Authorization", b"") for one in (self._other(), request))
        rewordings = [
            lambda: theirs[:-64] + ours[-64:],
            lambda: ours[:-64] + theirs[-64:],
            lambda: ours.replace(
                b"us-east-1", chance.choice([b"eu-west-1", b"", b"us-east-1/x", b"US-EAST-1"])
            ),
            lambda: ours.replace(
                b"dynamodb", chance.choice([b"sts", b"hashrange", b"monitoring", b"DynamoDB"])
            ),
            lambda: ours.replace(b"AKIDEXAMPLE", SESSION_KEY.encode()),
            lambda: ours.replace(b";x-amz-target", b""),
            lambda: ours.replace(b"host;", b""),
            lambda: ours.replace(
                b";x-amz-date", chance.choice([b"", b";x-amz-date;x-new", b";X-AMZ-DATE;;"])
            ),
            lambda: ours.replace(b"content-type;", b""),
            lambda: ours.replace(b"20260102", chance.choice([b"20260103", b"20250102", b"2026"])),
            lambda: ours.replace(b", ", chance.choice([b",", b" ", b" , ", b",,"])),
            lambda: (
                ours + chance.choice([b", Signature=" + theirs[-64:], b", Credential=x/1/2/3/4", b"0", b","])
            ),
            lambda: ours[:-64] + ours[-64:].upper(),
            lambda: ours[: -chance.randrange(1, 70)],
            lambda: ours.replace(
                b"AWS4-HMAC-SHA256", chance.choice([b"AWS4-ECDSA-P256-SHA256", b"AWS3", b"aws4"])
            ),
        ]
        fields = [field for field in request.fields if field[0] != b"Authorization"]
        fields.insert(self._at(fields), (b"Authorization", chance.choice(rewordings)()))
        return request._replace(fields=fields)

    def _shuffle(self, request: SignedRequest) -> SignedRequest:
        fields = self._fields(request)
        self._chance.shuffle(fields)
        return request._replace(fields=fields)

    def _chunked(self, request: SignedRequest) -> bytes:
        head = as_bytes(
            request._replace(fields=[*request.fields, (b"Transfer-Encoding", b"chunked")]), length=False
        ).partition(b"\r\n\r\n")[0]
        body = bytes(request.body)
        cut = self._chance.randrange(len(body) + 1)
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:cut], body[cut:]) if part)
        trailer = self._chance.choice([b"", b"X-Amz-Target: DynamoDB_20120810.DeleteTable\r\n"])
        return head + b"\r\n\r\n" + chunks + b"0\r\n" + trailer + b"\r\n"


def sent_in_pieces(client: SignedClient, sent: bytes, chance: random.Random) -> bytes:
    """Some requests arrive in two packets."""
    if chance.random() < 0.1:
        cut = chance.randrange(len(sent) + 1)
        return client.send(sent[:cut], sent[cut:])
    return client.send(sent)


def test_no_changed_request_is_served() -> None:
    requests = corpus()
    wire = SignedWire()
    for request in requests:
        client = wire.client()
        assert client.send(as_bytes(request)), request
        client.close()
    signed_calls: set[Served] = set(wire.served)
    assert len(wire.served) == len(requests), "the corpus is not what it is meant to be"
    chance = random.Random(SEED)
    mutations = Mutations(requests, chance)
    refused = passed = 0
    client = wire.client()
    for number in range(COUNT):
        if chance.random() < 0.3 or not client.is_open:
            client.close()
            client = wire.client()
            if chance.random() < 0.5:
                client.send(as_bytes(chance.choice(requests)))  # so that something is remembered of it
        wire.served.clear()
        sent = mutations.mutated()
        answer = sent_in_pieces(client, sent, chance)
        assert set(wire.served) <= signed_calls, (SEED, number, sent, wire.served)
        assert b"HTTP/1.1 5" not in answer[:10] or b"InternalServerError" not in answer, (SEED, number, sent)
        passed += bool(wire.served)
        refused += (
            b"Signature" in answer or b"AuthenticationToken" in answer or b"UnrecognizedClient" in answer
        )
        if not answer:
            client.close()
            client = wire.client()
    # Otherwise the mutations say nothing: most have to come as far as the signature, and some change nothing of it.
    assert refused > COUNT * 0.3, refused
    assert COUNT * 0.05 < passed < COUNT * 0.6, passed
