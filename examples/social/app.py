"""A social feed: a post is written to the timelines of all followers, and a like counts once."""

import heapq
import time
from collections.abc import Iterator
from typing import Any

from hashrange import patterns
from hashrange.patterns.values import plain_item

TABLE = patterns.Table("social", partition_key="PK", sort_key="SK")
SHARDS = SLOTS = 4  # of the list of posts on their way, and of a post's likes, as in model.yaml
CHUNK = 25  # timelines in one batch
KEPT_SECONDS = 30 * 86_400
NEW = "attribute_not_exists(#PK)"
Item = dict[str, Any]


class Feed:
    """Users, posts and timelines. Post ids sort by time, as ULIDs do; who posts makes them."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._run = patterns.Runner(client).run

    def sign_up(self, user_id: str, *, star: bool = False) -> None:
        """Add a user. A star has too many followers to write to all of them."""
        user = {"user_id": user_id, "kind": "STAR" if star else "FRIEND"}
        self._run(TABLE.write(TABLE.putting(TABLE.key(f"USER#{user_id}", "PROFILE") | user, NEW)))

    def _kind(self, user_id: str) -> str:
        user = self._run(TABLE.get(TABLE.key(f"USER#{user_id}", "PROFILE")))
        if user is None:
            raise patterns.NotFound(user_id)
        return str(user["kind"])

    def follow(self, follower_id: str, user_id: str) -> None:
        """To follow twice is to follow once. Whoever stops (a delete) keeps old entries until they expire."""
        kind = self._kind(user_id)
        keys = TABLE.key(f"USER#{user_id}", f"FOLLOWER#{follower_id}")
        keys |= {"GSI1PK": f"FOLLOWER#{follower_id}", "GSI1SK": f"{kind}#{user_id}"}
        follow = {**keys, "user_id": user_id, "follower_id": follower_id, "kind": kind}
        self._run(TABLE.tried(TABLE.putting(follow, NEW)))

    def post(self, post_id: str, author_id: str, text: str, at: int) -> None:
        """Store a post and the work of sending it, all or nothing. Those of stars are read where they are."""
        names = {"post_id": post_id, "author_id": author_id}
        keys = {**TABLE.key(f"POST#{post_id}", "POST"), "GSI1PK": f"AUTHOR#{author_id}", "GSI1SK": post_id}
        writes = [TABLE.putting({**keys, **names, "text": text}, NEW)]
        if self._kind(author_id) == "FRIEND":
            key = TABLE.key(f"FANOUT#{patterns.shard_of(post_id, SHARDS)}", post_id)
            work = {**key, **names, "done_to": "FOLLOWER#", "expires_at": at + KEPT_SECONDS}
            writes.append(TABLE.putting(work, NEW))
        try:
            self._run(TABLE.transact(writes, token=f"{post_id} {author_id} {text}"))
        except patterns.TransactionCanceled as canceled:
            stored = canceled.reasons[0].stored or {}
            if (stored.get("author_id"), stored.get("text")) != (author_id, text):
                raise  # not this post, sent again, but another with its id

    def fan_out(self, shard: int) -> int:
        """Bring the posts of a shard to their followers; give how many have arrived.

        Whoever dies leaves the work, and how far it has come. A chunk that is written twice makes the same entries.
        """
        works = self._run(TABLE.query(f"FANOUT#{shard}", patterns.Span(), limit=40)).items
        for work in works:
            while self._chunk(work):
                pass
            self._run(TABLE.write(TABLE.deleting(TABLE.key_of(work))))
        return len(works)

    def _chunk(self, work: Item) -> bool:
        """Write the entries of the next followers; give whether there may be more."""
        followed = f"USER#{work['author_id']}"
        span = patterns.Span("FOLLOWER#", "FOLLOWER$")  # `$` comes behind `#`
        start = TABLE.key(followed, work["done_to"])
        page = self._run(TABLE.query(followed, span, limit=CHUNK, after=start))
        shared = {name: work[name] for name in ("post_id", "author_id", "expires_at")}
        users = [str(follow["follower_id"]) for follow in page.items]
        keys = {user: TABLE.key(f"TIMELINE#{user}", work["post_id"]) for user in users}
        self._run(TABLE.write_many([{**keys[user], "user_id": user, **shared} for user in users]))
        if page.last_key is not None:
            work["done_to"] = to = page.last_key["SK"]
            # It fails where another worker is ahead.
            moved = TABLE.updating(TABLE.key_of(work), "SET #done_to = :to", "#done_to < :to", to=to)
            self._run(TABLE.tried(moved))
        return page.last_key is not None

    def home(self, user_id: str, before: str = "~", limit: int = 20) -> list[Item]:
        """What those whom a user follows have posted before a post, the newest first."""
        span = patterns.Span(high=before, forward=False)
        entries = self._run(TABLE.query(f"TIMELINE#{user_id}", span, limit=limit + 1)).items
        stars = self._index(f"FOLLOWER#{user_id}", "begins_with(GSI1SK, :sort)", "STAR#", 20)
        lists = [entries, *(self.posts(star["user_id"], before, limit) for star in stars)]
        ids = heapq.merge(*([entry["post_id"] for entry in entries] for entries in lists), reverse=True)
        shown = [post_id for post_id in dict.fromkeys(ids) if post_id != before][:limit]
        posts = self._run(TABLE.get_many([TABLE.key(f"POST#{post_id}", "POST") for post_id in shown]))
        return sorted(posts, key=lambda post: str(post["post_id"]), reverse=True)

    def posts(self, author_id: str, before: str = "~", limit: int = 20) -> list[Item]:
        """What an author has posted before a post, the newest first."""
        return self._index(f"AUTHOR#{author_id}", "GSI1SK < :sort", before, limit)

    def _index(self, partition: str, condition: str, sort: str, limit: int) -> list[Item]:
        answer = self._client.query(
            TableName=TABLE.name,
            IndexName="GSI1",
            KeyConditionExpression=f"GSI1PK = :partition AND {condition}",
            ExpressionAttributeValues={":partition": {"S": partition}, ":sort": {"S": sort}},
            ScanIndexForward=False,
            Limit=limit,
        )
        return [plain_item(item) for item in answer["Items"]]

    def like(self, post_id: str, user_id: str, *, likes: bool = True) -> bool:
        """Like a post, or no longer; False if that is so already. The like and its count are one transaction."""
        key, slot = TABLE.key(f"LIKES#{post_id}", user_id), patterns.shard_of(user_id, SLOTS)
        like = TABLE.putting({**key, "post_id": post_id, "user_id": user_id}, NEW)
        unlike = TABLE.deleting(key, "attribute_exists(#PK)")
        count, values = TABLE.key(f"POST#{post_id}", f"COUNT#{slot}"), {"post": post_id, "slot": slot}
        update = "ADD #likes :change SET #post_id = :post, #slot = :slot"
        counted = TABLE.updating(count, update, change=1 if likes else -1, **values)
        try:
            self._run(TABLE.transact([like if likes else unlike, counted]))
        except patterns.TransactionCanceled as canceled:
            if not canceled.failed:
                raise
            return False
        return True

    def like_count(self, post_id: str) -> int:
        """One Query has the post and its counts, and not one of the likes."""
        items = self._run(TABLE.query(f"POST#{post_id}", patterns.Span(), limit=10)).items
        return sum(int(item.get("likes", 0)) for item in items)


def demonstrate(client: Any) -> Iterator[str]:
    """Three users, and what they see."""
    feed = Feed(client)
    for user, star in (("ann", False), ("bob", False), ("eve", True)):
        feed.sign_up(user, star=star)
    for user in ("bob", "eve"):
        feed.follow("ann", user)
    feed.post("01A", "bob", "Rain again", at=int(time.time()))
    feed.post("01B", "eve", "On tour", at=int(time.time()))
    yield f"on their way to followers: {sum(feed.fan_out(shard) for shard in range(SHARDS))} post"
    yield f"Ann reads: {', '.join(post['text'] for post in feed.home('ann'))}"
    yield f"likes: {[feed.like('01A', 'ann') for _ in range(2)]}, counted {feed.like_count('01A')}"
