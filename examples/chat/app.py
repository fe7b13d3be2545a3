"""Chat rooms: a room is one item collection, read from its end; only members are heard."""

from collections.abc import Iterator
from typing import Any

from hashrange import patterns

TABLE = patterns.Table("chat", partition_key="PK", sort_key="SK")
NOTHING = "0"  # sorts before every message
Item = dict[str, Any]


class NotAMember(Exception):
    """Who is not in the room does not speak there."""


class Chat:
    """Rooms, members, messages. Message ids sort by time, as ULIDs do; the sender makes them."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._runner = patterns.Runner(client)

    def open(self, room_id: str, title: str) -> None:
        room = {**TABLE.key(f"ROOM#{room_id}", "ROOM"), "room_id": room_id, "title": title}
        self._runner.run(TABLE.write(TABLE.putting(room, "attribute_not_exists(#PK)")))

    def join(self, room_id: str, user_id: str) -> bool:
        """Enter a room; False if the user is in it already, or there is no such room."""
        keys = {**_member(room_id, user_id), "GSI1PK": f"USER#{user_id}", "GSI1SK": f"ROOM#{room_id}"}
        member = {**keys, "room_id": room_id, "user_id": user_id, "read_to": NOTHING}
        there = TABLE.checking(TABLE.key(f"ROOM#{room_id}", "ROOM"), "attribute_exists(#PK)")
        try:
            self._runner.run(TABLE.transact([there, TABLE.putting(member, "attribute_not_exists(#PK)")]))
        except patterns.TransactionCanceled:
            return False
        return True

    def say(self, room_id: str, sender: str, message_id: str, text: str) -> None:
        """Say something. The id is the token: a phone that sends again after a tunnel says it once."""
        key = TABLE.key(f"ROOM#{room_id}", f"MESSAGE#{message_id}")
        message = {**key, "room_id": room_id, "message_id": message_id, "sender": sender, "text": text}
        writes = [
            TABLE.checking(_member(room_id, sender), "attribute_exists(#PK)"),
            TABLE.putting(message, "attribute_not_exists(#PK)"),
        ]
        try:
            self._runner.run(TABLE.transact(writes, token=f"{room_id} {message_id}"))
        except patterns.TransactionCanceled:
            if self._runner.run(TABLE.get(_member(room_id, sender))) is None:
                raise NotAMember(sender) from None
            said = self._runner.run(TABLE.get(key))
            if said != message:
                raise

    def latest(self, room_id: str, before: str = "~", limit: int = 30) -> list[Item]:
        """The last messages before one, the newest first: to scroll back, give the oldest that is shown."""
        # The bounds of a span are included, so the message itself is asked for and left out.
        span = patterns.Span("MESSAGE#", f"MESSAGE#{before}", forward=False)
        page = self._runner.run(TABLE.query(f"ROOM#{room_id}", span, limit=limit + 1))
        return [message for message in page.items if message["message_id"] != before][:limit]

    def unread(self, room_id: str, user_id: str) -> list[Item]:
        """What a member has not seen, the oldest first."""
        member = self._runner.run(TABLE.get(_member(room_id, user_id)))
        if member is None:
            raise NotAMember(user_id)
        span = patterns.Span(f"MESSAGE#{member['read_to']}", "MESSAGE#~")
        page = self._runner.run(TABLE.query(f"ROOM#{room_id}", span, limit=101))
        return [message for message in page.items if message["message_id"] != member["read_to"]][:100]

    def mark_read(self, room_id: str, user_id: str, message_id: str) -> None:
        """Move the mark, never back: a second device may be ahead."""
        moved = TABLE.updating(
            _member(room_id, user_id), "SET #read_to = :id", "#read_to < :id", id=message_id
        )
        self._runner.run(TABLE.tried(moved))

    def members(self, room_id: str) -> list[str]:
        span = patterns.Span("MEMBER#", "MEMBER#~")
        page = self._runner.run(TABLE.query(f"ROOM#{room_id}", span, limit=100))
        return [member["user_id"] for member in page.items]

    def rooms(self, user_id: str) -> list[str]:
        answer = self._client.query(
            TableName=TABLE.name,
            IndexName="GSI1",
            KeyConditionExpression="GSI1PK = :user",
            ExpressionAttributeValues={":user": {"S": f"USER#{user_id}"}},
            Limit=100,
        )
        return [item["room_id"]["S"] for item in answer["Items"]]


def _member(room_id: str, user_id: str) -> Item:
    return TABLE.key(f"ROOM#{room_id}", f"MEMBER#{user_id}")


def demonstrate(client: Any) -> Iterator[str]:
    """A short conversation."""
    chat = Chat(client)
    chat.open("tea", "Tea at five")
    for user in ("ann", "bob"):
        chat.join("tea", user)
    for number, (sender, text) in enumerate([("ann", "Milk?"), ("bob", "Please."), ("ann", "Sugar?")], 1):
        chat.say("tea", sender, f"01{number:024}", text)
    yield f"in the room: {', '.join(chat.members('tea'))}"
    yield f"new for Bob: {' '.join(message['text'] for message in chat.unread('tea', 'bob'))}"
    chat.mark_read("tea", "bob", f"01{3:024}")
    yield f"then: {len(chat.unread('tea', 'bob'))} new"
    try:
        chat.say("tea", "eve", f"01{4:024}", "Hello?")
    except NotAMember:
        yield "Eve is not heard"
