"""examples/social: a post reaches every follower once, whoever dies on the way, and a like counts once."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pytest

from faulty_client import Death, FaultyClient

AT = int(time.time())  # entries expire a month later


@pytest.fixture
def module(application: Callable[[str], Any]) -> Any:
    return application("social")


@pytest.fixture
def feed(module: Any, examples_client: Any) -> Any:
    return module.Feed(examples_client)


def users(feed: Any, count: int, *, star: bool = False) -> list[str]:
    names = sorted(uuid4().hex for _ in range(count))
    for name in names:
        feed.sign_up(name, star=star)
    return names


def send_all(module: Any, feed: Any) -> None:
    for shard in range(module.SHARDS):
        feed.fan_out(shard)


def timeline(client: Any, user_id: str) -> list[str]:
    answer = client.query(
        TableName="social",
        KeyConditionExpression="PK = :user",
        ExpressionAttributeValues={":user": {"S": f"TIMELINE#{user_id}"}},
    )
    return [item["SK"]["S"] for item in answer["Items"]]


def test_a_timeline_is_in_order_and_can_be_paged(module: Any, feed: Any) -> None:
    reader, *authors = users(feed, 3)
    (star,) = users(feed, 1, star=True)
    prefix = uuid4().hex
    for author in (*authors, star):
        feed.follow(reader, author)
    for number in range(9):
        feed.post(f"{prefix}{number}", (*authors, star)[number % 3], f"post {number}", AT)
    send_all(module, feed)
    first = feed.home(reader, limit=5)
    assert [post["text"] for post in first] == [f"post {number}" for number in (8, 7, 6, 5, 4)]
    rest = feed.home(reader, before=first[-1]["post_id"], limit=5)
    assert [post["text"] for post in rest] == [f"post {number}" for number in (3, 2, 1, 0)]


def test_posts_of_stars_are_read_and_not_sent(module: Any, feed: Any, examples_client: Any) -> None:
    (reader,), (star,), post_id = users(feed, 1), users(feed, 1, star=True), uuid4().hex
    feed.follow(reader, star)
    feed.post(post_id, star, "hello", AT)
    send_all(module, feed)
    assert timeline(examples_client, reader) == []
    assert [post["post_id"] for post in feed.home(reader)] == [post_id]


def test_a_post_that_is_sent_again_is_one_and_another_with_its_id_is_refused(feed: Any, module: Any) -> None:
    (author,), post_id = users(feed, 1), uuid4().hex
    for _ in range(2):
        feed.post(post_id, author, "hello", AT)
    assert [post["post_id"] for post in feed.posts(author)] == [post_id]
    with pytest.raises(module.patterns.TransactionCanceled):
        feed.post(post_id, author, "goodbye", AT)


def test_nobody_posts_or_is_followed_who_is_not_there(module: Any, feed: Any) -> None:
    (user,) = users(feed, 1)
    with pytest.raises(module.patterns.NotFound):
        feed.follow(user, uuid4().hex)
    with pytest.raises(module.patterns.NotFound):
        feed.post(uuid4().hex, uuid4().hex, "hello", AT)


def test_a_worker_that_dies_at_any_request_leaves_the_rest_to_the_next(
    module: Any, feed: Any, examples_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK", 2)
    author, *followers = users(feed, 6)
    for follower in followers:
        feed.follow(follower, author)
    for number in range(100):
        post_id = uuid4().hex
        feed.post(post_id, author, "hello", AT)
        shard = module.patterns.shard_of(post_id, module.SHARDS)
        faulty = FaultyClient(examples_client, "dies after", number)
        with suppress(Death):
            module.Feed(faulty).fan_out(shard)
        feed.fan_out(shard)
        assert [timeline(examples_client, follower).count(post_id) for follower in followers] == [1] * 5
        assert feed.fan_out(shard) == 0
        if not faulty.is_met:
            break
    # The list of work; a page, a batch and a mark for each chunk of two, no mark for the last; the end of the work.
    chunk = ["query", "batch_write_item", "update_item"]
    assert faulty.sent == ["query", *chunk, *chunk, *chunk[:2], "delete_item"]


def test_the_next_worker_goes_on_where_the_dead_one_was(
    module: Any, feed: Any, examples_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHUNK", 2)
    author, *followers = users(feed, 6)
    for follower in followers:
        feed.follow(follower, author)
    post_id = uuid4().hex
    feed.post(post_id, author, "hello", AT)
    shard = module.patterns.shard_of(post_id, module.SHARDS)
    with pytest.raises(Death):
        module.Feed(FaultyClient(examples_client, "dies after", 6)).fan_out(shard)
    second = FaultyClient(examples_client)
    module.Feed(second).fan_out(shard)
    assert second.sent == ["query", "query", "batch_write_item", "delete_item"]


def test_a_like_counts_once_and_can_be_taken_back(feed: Any) -> None:
    (author, *fans), post_id = users(feed, 4), uuid4().hex
    feed.post(post_id, author, "hello", AT)
    assert [feed.like(post_id, fan) for fan in (*fans, *fans)] == [True] * 3 + [False] * 3
    assert feed.like_count(post_id) == 3
    assert [feed.like(post_id, fans[0], likes=False) for _ in range(2)] == [True, False]
    assert feed.like_count(post_id) == 2
    assert feed.like(post_id, fans[0])
    assert feed.like_count(post_id) == 3


def test_likes_at_the_same_time_are_all_counted(feed: Any) -> None:
    (author, *fans), post_id = users(feed, 9), uuid4().hex
    feed.post(post_id, author, "hello", AT)
    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(lambda fan: feed.like(post_id, fan), fans))
        assert not any(pool.map(lambda fan: feed.like(post_id, fan), fans))
        assert feed.like_count(post_id) == 8
        assert all(pool.map(lambda fan: feed.like(post_id, fan, likes=False), fans))
    assert feed.like_count(post_id) == 0


@pytest.mark.parametrize("fault", ["dies after", "sent twice", "throttled"])
def test_a_like_counts_once_whatever_happens_to_the_request(
    module: Any, feed: Any, examples_client: Any, fault: Any
) -> None:
    (author, fan), post_id = users(feed, 2), uuid4().hex
    feed.post(post_id, author, "hello", AT)
    shaky = module.Feed(FaultyClient(examples_client, fault, 0))
    if fault == "dies after":
        with pytest.raises(Death):
            shaky.like(post_id, fan)
        assert not feed.like(post_id, fan)
    else:
        assert shaky.like(post_id, fan)
    assert feed.like_count(post_id) == 1
