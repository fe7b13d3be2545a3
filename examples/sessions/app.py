"""Sessions that end by themselves: TTL clears them away, and a check of the time makes them end to the second."""

import hashlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

TABLE = "sessions"
LIFE_SECONDS = 30 * 60
_NOBODY_ELSE = "attribute_not_exists(token_hash)"
_STILL_VALID = "attribute_exists(token_hash) AND expires_at > :now"


@dataclass(frozen=True)
class Session:
    """Who is signed in, and until when."""

    user_id: str
    device: str
    expires_at: int
    visits: int


class Sessions:
    """Sign in, come back, sign out."""

    def __init__(self, client: Any, clock: Callable[[], float]) -> None:
        self._client = client
        self._clock = clock

    def sign_in(self, user_id: str, device: str) -> str:
        """Begin a session; give the token that the browser keeps. The table has its hash only."""
        token = secrets.token_urlsafe(32)
        now = int(self._clock())
        item = {
            **_key(token),
            "user_id": {"S": user_id},
            "device": {"S": device},
            "created_at": {"S": datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")},
            "expires_at": {"N": str(now + LIFE_SECONDS)},
            "visits": {"N": "0"},
        }
        self._client.put_item(TableName=TABLE, Item=item, ConditionExpression=_NOBODY_ELSE)
        return token

    def session(self, token: str) -> Session | None:
        """The session of a token. What has expired may still be in the table for days, and counts as gone."""
        answer = self._client.get_item(TableName=TABLE, Key=_key(token), ConsistentRead=True)
        item = answer.get("Item")
        if item is None or int(item["expires_at"]["N"]) <= self._clock():
            return None
        return _session(item)

    def visit(self, token: str) -> Session | None:
        """Lengthen the session, in one request; one that has ended is not brought back."""
        now = int(self._clock())
        values = {":now": {"N": str(now)}, ":end": {"N": str(now + LIFE_SECONDS)}, ":one": {"N": "1"}}
        try:
            answer = self._client.update_item(
                TableName=TABLE,
                Key=_key(token),
                UpdateExpression="SET expires_at = :end ADD visits :one",
                ConditionExpression=_STILL_VALID,
                ExpressionAttributeValues=values,
                ReturnValues="ALL_NEW",
            )
        except self._client.exceptions.ConditionalCheckFailedException:
            return None
        return _session(answer["Attributes"])

    def devices(self, user_id: str) -> list[str]:
        """Where a user is signed in, the latest first."""
        return [item["device"]["S"] for item in self._of_user(user_id) if self._is_valid(item)]

    def sign_out(self, token: str) -> None:
        self._client.delete_item(TableName=TABLE, Key=_key(token))

    def sign_out_everywhere(self, user_id: str) -> int:
        """End all sessions of a user; give how many there were."""
        items = self._of_user(user_id)
        for item in items:
            self._client.delete_item(TableName=TABLE, Key={"token_hash": item["token_hash"]})
        return len(items)

    def _of_user(self, user_id: str) -> list[dict[str, Any]]:
        answer = self._client.query(
            TableName=TABLE,
            IndexName="by_user",
            KeyConditionExpression="user_id = :user",
            ExpressionAttributeValues={":user": {"S": user_id}},
            ScanIndexForward=False,
            Limit=25,
        )
        items: list[dict[str, Any]] = answer["Items"]
        return items

    def _is_valid(self, item: dict[str, Any]) -> bool:
        return int(item["expires_at"]["N"]) > self._clock()


def _key(token: str) -> dict[str, Any]:
    return {"token_hash": {"S": hashlib.sha256(token.encode()).hexdigest()}}


def _session(item: dict[str, Any]) -> Session:
    texts = {name: item[name]["S"] for name in ("user_id", "device")}
    return Session(**texts, expires_at=int(item["expires_at"]["N"]), visits=int(item["visits"]["N"]))


def demonstrate(client: Any) -> Iterator[str]:
    """A session, and its end."""
    now = datetime(2100, 5, 1, 12, tzinfo=UTC).timestamp()  # far ahead: the server deletes nothing meanwhile
    sessions = Sessions(client, lambda: now)
    token = sessions.sign_in("ann", "phone")
    sessions.sign_in("ann", "laptop")
    yield f"signed in: {', '.join(sorted(sessions.devices('ann')))}"
    now += LIFE_SECONDS - 1
    visited = sessions.visit(token)
    yield f"a visit in the last second: {'welcome' if visited else 'sign in again'}"
    now += 1
    yield f"a second later: {', '.join(sessions.devices('ann'))}"
    now += LIFE_SECONDS
    yield f"half an hour later: {'welcome' if sessions.session(token) else 'sign in again'}"
