"""Places in a shard: the five types of iterators, how long they are good, and that nobody else can make one."""

import base64
from typing import Any

import pytest

from clocked import Clocked
from hashrange.storage import appends, layout
from hashrange.storage.engine import Transaction
from stream_tables import ONE_SHARD, Streamed

DAY = 24 * 3600


@pytest.fixture
def table() -> Streamed:
    """A stream of one shard with changes of a, b and c, ten seconds apart."""
    made = Streamed(**ONE_SHARD)
    for pk in "abc":
        made.put(pk)
        made.clock.advance(10)
    return made


def keys(table: Streamed, iterator: str, **parameters: Any) -> str:
    answer = table.call("GetRecords", ShardIterator=iterator, **parameters)
    return "".join(one["dynamodb"]["Keys"]["pk"]["S"] for one in answer["Records"])


def numbers(table: Streamed) -> list[str]:
    return [one["dynamodb"]["SequenceNumber"] for one in table.records()]


def test_the_oldest_record_and_the_end(table: Streamed) -> None:
    latest = table.iterator(kind="LATEST")
    assert keys(table, table.iterator(kind="TRIM_HORIZON")) == "abc"
    assert keys(table, latest) == ""
    table.put("d")
    assert keys(table, latest) == "d"


def test_at_and_after_a_sequence_number(table: Streamed) -> None:
    for at, number in enumerate(numbers(table)):
        assert keys(table, table.iterator(kind="AT_SEQUENCE_NUMBER", SequenceNumber=number)) == "abc"[at:]
        after = table.iterator(kind="AFTER_SEQUENCE_NUMBER", SequenceNumber=number)
        assert keys(table, after) == "abc"[at + 1 :]


def test_the_number_need_not_be_that_of_a_record(table: Streamed) -> None:
    for number, at in zip(numbers(table), range(3), strict=True):
        for kind in ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"):
            before, behind = (str(int(number) + step) for step in (-10_000, 10_000))
            assert keys(table, table.iterator(kind=kind, SequenceNumber=before)) == "abc"[at:]
            assert keys(table, table.iterator(kind=kind, SequenceNumber=behind)) == "abc"[at + 1 :]


@pytest.mark.parametrize("kind", ["AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"])
def test_the_first_number_of_a_shard_is_good_before_there_is_a_record(kind: str) -> None:
    table = Streamed(**ONE_SHARD)
    start = table.shards()[0]["SequenceNumberRange"]["StartingSequenceNumber"]
    iterator = table.iterator(kind=kind, SequenceNumber=start)
    assert keys(table, iterator) == ""
    table.put("a")
    assert keys(table, iterator) == "a"
    assert keys(table, table.iterator(kind=kind, SequenceNumber=start)) == "a"


def test_the_last_number_of_a_closed_shard(table: Streamed) -> None:
    table.switch(None)
    end = table.shards()[0]["SequenceNumberRange"]["EndingSequenceNumber"]
    assert keys(table, table.iterator(kind="AT_SEQUENCE_NUMBER", SequenceNumber=end)) in ("c", "")
    after = table.iterator(kind="AFTER_SEQUENCE_NUMBER", SequenceNumber=end)
    assert table.call("GetRecords", ShardIterator=after) == {"Records": []}


def test_a_number_from_before_the_shard_is_trimmed(table: Streamed) -> None:
    for kind in ("AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"):
        refusal = table.service.refused(
            "GetShardIterator",
            StreamArn=table.arn,
            ShardId=table.shards()[0]["ShardId"],
            ShardIteratorType=kind,
            SequenceNumber="0" * 21,
        )
        assert refusal == (
            "TrimmedDataAccessException",
            "The data you are trying to access has been trimmed",
        )


@pytest.mark.parametrize("is_closed", [False, True])
@pytest.mark.parametrize("kind", ["AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"])
def test_a_number_behind_the_end_is_refused(table: Streamed, kind: str, is_closed: bool) -> None:
    """A consumer that began there would hear nothing for ever."""
    last = numbers(table)[-1]
    if is_closed:
        table.switch(None)
    for number in ("9" * 40, str(int(last) + 2 * 10**20)):
        refusal = table.service.refused(
            "GetShardIterator",
            StreamArn=table.arn,
            ShardId=table.shards()[0]["ShardId"],
            ShardIteratorType=kind,
            SequenceNumber=number,
        )
        assert refusal == (
            "ValidationException",
            "Invalid SequenceNumber: it is behind the end of the shard",
        )


def lose(table: Streamed, *positions: int) -> None:
    """Remove records as `hashrange salvage` leaves out damaged ones."""
    found = table.service.catalogue.find("000000000000", "us-east-1", table.name)
    assert found is not None
    assert found.log is not None
    prefix = layout.log_prefix(found.number, found.log.shards[0].number)

    def remove(tx: Transaction) -> None:
        for position in positions:
            tx.delete(appends.row_key(prefix, position))

    table.service.engine.write(remove)


LETTERS = "abcdefgh"


@pytest.mark.parametrize("lost", [{1}, {2}, {4}, {5}, {1, 2, 5}, {3, 4, 5}, {7, 8}, {1, 8}, {4, 6}])
def test_records_that_are_lost_are_passed_over(lost: set[int]) -> None:
    table = Streamed(**ONE_SHARD)
    times = []
    for pk in LETTERS:
        times.append(table.clock.now())
        table.put(pk)
        table.clock.advance(10)
    written = numbers(table)
    lose(table, *lost)
    left = {at: pk for at, pk in enumerate(LETTERS, 1) if at not in lost}
    assert [pk for _, pk in table.events()] == list(left.values())
    for limit in (1, 2):
        iterator: str | None = table.iterator()
        shown = ""
        for _ in LETTERS:
            answer = table.call("GetRecords", ShardIterator=iterator, Limit=limit)
            shown += "".join(one["dynamodb"]["Keys"]["pk"]["S"] for one in answer["Records"])
            iterator = answer["NextShardIterator"]
        assert shown == "".join(left.values())
    for at, moment in enumerate(times, 1):
        behind = "".join(pk for position, pk in left.items() if position >= at)
        assert keys(table, table.iterator(kind="AT_TIMESTAMP", Timestamp=moment)) == behind
    for at, number in enumerate(written, 1):
        if at < min(left):
            continue
        behind = "".join(pk for position, pk in left.items() if position > at)
        assert keys(table, table.iterator(kind="AFTER_SEQUENCE_NUMBER", SequenceNumber=number)) == behind
    table.put("z")
    assert table.events()[-1] == ("INSERT", "z")


def test_at_a_timestamp(table: Streamed) -> None:
    now = table.clock.now()
    for moment, shown in ((now - 31, "abc"), (now - 30, "abc"), (now - 25.5, "bc"), (now, "")):
        assert keys(table, table.iterator(kind="AT_TIMESTAMP", Timestamp=moment)) == shown
    assert keys(table, table.iterator(kind="AT_TIMESTAMP", Timestamp=0)) == "abc"
    assert keys(table, table.iterator(kind="AT_TIMESTAMP", Timestamp=-(10**12))) == "abc"


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        ("AT_SEQUENCE_NUMBER", {}, 'Missing required parameter "SequenceNumber"'),
        ("AFTER_SEQUENCE_NUMBER", {}, 'Missing required parameter "SequenceNumber"'),
        ("AT_SEQUENCE_NUMBER", {"SequenceNumber": "x" * 21}, "Invalid SequenceNumber"),
        ("AT_SEQUENCE_NUMBER", {"SequenceNumber": "٣" * 21}, "Invalid SequenceNumber"),
        (
            "LATEST",
            {"SequenceNumber": "1" * 21},
            "Iterator of this type should not have sequence number",
        ),
        (
            "TRIM_HORIZON",
            {"SequenceNumber": "1" * 21},
            "Iterator of this type should not have sequence number",
        ),
        ("LATEST", {"Timestamp": 1}, "Iterator of this type should not have timestamp"),
        ("AT_TIMESTAMP", {}, 'Missing required parameter "Timestamp"'),
        ("AT_TIMESTAMP", {"Timestamp": 10**12}, "Timestamp must not be in the future"),
        (
            "FIRST",
            {},
            (
                "1 validation error detected: Value 'FIRST' at 'shardIteratorType' failed to satisfy constraint: "
                "Member must satisfy enum value set: [TRIM_HORIZON, LATEST, AT_SEQUENCE_NUMBER, "
                "AFTER_SEQUENCE_NUMBER, AT_TIMESTAMP]"
            ),
        ),
        (
            "AT_SEQUENCE_NUMBER",
            {"SequenceNumber": "1" * 20},
            (
                "1 validation error detected: Value '11111111111111111111' at 'sequenceNumber' failed to satisfy "
                "constraint: Member must have length greater than or equal to 21"
            ),
        ),
    ],
)
def test_what_does_not_go_with_a_type(
    table: Streamed, kind: str, parameters: dict[str, Any], message: str
) -> None:
    refusal = table.service.refused(
        "GetShardIterator",
        StreamArn=table.arn,
        ShardId=table.shards()[0]["ShardId"],
        ShardIteratorType=kind,
        **parameters,
    )
    assert refusal == ("ValidationException", message)


def test_a_timestamp_that_is_none(table: Streamed) -> None:
    wrong_types: tuple[Any, ...] = ("now", True, [], {})
    for wrong in wrong_types:
        refusal = table.service.refused(
            "GetShardIterator",
            StreamArn=table.arn,
            ShardId=table.shards()[0]["ShardId"],
            ShardIteratorType="AT_TIMESTAMP",
            Timestamp=wrong,
        )
        assert refusal[0] == "SerializationException"


def test_a_shard_that_is_none_of_the_stream(table: Streamed) -> None:
    own = table.shards()[0]["ShardId"]
    unknown = (own[:-8] + "0000ffff", own[:-9] + "9" + own[-8:], "x" * 28, own[:20] + "7" + own[21:])
    for shard_id in unknown:
        refusal = table.service.refused(
            "GetShardIterator", StreamArn=table.arn, ShardId=shard_id, ShardIteratorType="LATEST"
        )
        assert refusal == (
            "ResourceNotFoundException",
            "Requested resource not found: Shard does not exist",
        )


def test_a_shard_of_another_stream_of_the_table(table: Streamed) -> None:
    old = table.shards()[0]["ShardId"]
    table.switch(None)
    table.switch("KEYS_ONLY")
    refusal = table.service.refused(
        "GetShardIterator", StreamArn=table.arn, ShardId=old, ShardIteratorType="LATEST"
    )
    assert refusal[1] == "Requested resource not found: Shard does not exist"


# How long.


def test_an_iterator_is_good_for_fifteen_minutes_and_a_new_one_comes_with_every_page(
    table: Streamed,
) -> None:
    iterator = table.iterator()
    table.clock.advance(15 * 60)
    answer = table.call("GetRecords", ShardIterator=iterator)
    assert len(answer["Records"]) == 3
    table.clock.advance(0.01)
    code, message = table.service.refused("GetRecords", ShardIterator=iterator)
    assert code == "ExpiredIteratorException"
    assert str(message).startswith(
        "The shard iterator has expired and can no longer be used to retrieve stream records"
    )
    assert keys(table, answer["NextShardIterator"]) == ""


def test_the_same_iterator_reads_the_same_again(table: Streamed) -> None:
    iterator = table.iterator()
    assert keys(table, iterator, Limit=2) == keys(table, iterator, Limit=2) == "ab"


def test_iterators_are_good_on_every_server_and_after_a_restart(table: Streamed) -> None:
    iterator = table.iterator()
    other = Clocked(table.service.engine, now=table.clock.now())
    assert len(other.call("GetRecords", ShardIterator=iterator)["Records"]) == 3


# Nobody else can make one.


def test_an_iterator_that_was_changed_is_refused(table: Streamed) -> None:
    head, _, content = table.iterator().rpartition("|")
    sent = bytearray(base64.b64decode(content))
    for at in range(len(sent)):
        sent[at] ^= 1
        forged = f"{head}|{base64.b64encode(sent).decode()}"
        sent[at] ^= 1
        assert table.service.refused("GetRecords", ShardIterator=forged) == (
            "ValidationException",
            "Invalid ShardIterator",
        )


def test_an_iterator_of_one_stream_does_not_read_another(table: Streamed) -> None:
    other = Streamed("KEYS_ONLY", service=table.service, name="other", **ONE_SHARD)
    content = other.iterator().rpartition("|")[2]
    forged = f"{table.arn}|1|{content}"
    assert table.service.refused("GetRecords", ShardIterator=forged)[1] == "Invalid ShardIterator"


@pytest.mark.parametrize("garbage", ["x", "|", "||", "a|1|b", "arn:aws:dynamodb|1|AAAA", "é", "x" * 2048])
def test_garbage_is_no_iterator(table: Streamed, garbage: str) -> None:
    assert table.service.refused("GetRecords", ShardIterator=garbage) == (
        "ValidationException",
        "Invalid ShardIterator",
    )


def test_an_iterator_with_other_ends_is_refused(table: Streamed) -> None:
    iterator = table.iterator()
    for forged in (iterator[:-4], iterator + "AAAA", iterator + "|", iterator.replace("|1|", "|2|")):
        assert table.service.refused("GetRecords", ShardIterator=forged)[0] == "ValidationException"


def test_an_iterator_is_good_in_its_own_region_only(table: Streamed) -> None:
    iterator = table.iterator()
    table.service.context.region = "eu-west-1"
    code, message = table.service.refused("GetRecords", ShardIterator=iterator)
    assert code == "ResourceNotFoundException"
    assert "not found" in str(message)


# Records that are too old.


def test_records_cannot_be_read_after_a_day_whether_they_were_trimmed_or_not(table: Streamed) -> None:
    first = numbers(table)[0]
    table.clock.advance(DAY - 30 - 60)  # the table is 2 s older than its first change
    late = table.iterator(kind="AT_SEQUENCE_NUMBER", SequenceNumber=first)
    horizon = table.iterator(kind="TRIM_HORIZON")
    assert keys(table, late) == "abc"
    table.clock.advance(61)  # a is too old now
    assert table.service.refused("GetRecords", ShardIterator=late)[0] == "TrimmedDataAccessException"
    assert keys(table, horizon) == "bc"
    assert keys(table, table.iterator(kind="AT_TIMESTAMP", Timestamp=0)) == "bc"
    for kind, readable in (("AT_SEQUENCE_NUMBER", False), ("AFTER_SEQUENCE_NUMBER", True)):
        request = {"StreamArn": table.arn, "ShardId": table.shards()[0]["ShardId"]}
        place = {"ShardIteratorType": kind, "SequenceNumber": first}
        if readable:  # nothing behind it is missing
            assert keys(table, table.iterator(kind=kind, SequenceNumber=first)) == "bc"
        else:
            refusal = table.service.refused("GetShardIterator", **request, **place)
            assert refusal[0] == "TrimmedDataAccessException"


def test_a_consumer_that_was_away_for_too_long_is_told_so(table: Streamed) -> None:
    first, second, _ = numbers(table)
    table.clock.advance(DAY)
    table.service.trimming.step(table.clock.now())
    for number in (first, second):
        refusal = table.service.refused(
            "GetShardIterator",
            StreamArn=table.arn,
            ShardId=table.shards()[0]["ShardId"],
            ShardIteratorType="AFTER_SEQUENCE_NUMBER",
            SequenceNumber=number,
        )
        assert refusal[0] == "TrimmedDataAccessException"
    assert keys(table, table.iterator(kind="TRIM_HORIZON")) == ""
