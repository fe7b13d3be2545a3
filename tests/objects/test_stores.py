"""What every object store does, whatever is behind it."""

import hashlib
import re
from collections.abc import Callable

import pytest

from hashrange.objects.errors import Changed, InvalidKey, KeyTooLong, NoSuchBucket, NoSuchKey
from hashrange.objects.interface import CHUNK_BYTES, Bucket, ObjectStore, exists
from moto_server import LISTED_PER_PAGE

STRANGE_KEYS = [
    "..",
    ".",
    "../escape",
    "a/../../b",
    "//",
    "/leading",
    "trailing/",
    "two//slashes",
    "%2E",
    "100%.csv",
    "%uploads/x",
    "x%object",
    "tab\tand\x01",
    "\x7f",
    "Größe/日本語/😀",
    "a'b\"c<d>&e?f#g h+i",
    "C:\\x\\y",
    ".hidden",
    "x" * 1024,
    "y" * 248,
    "y" * 249,
    "z" * 248 + ".",
    "z" * 248 + "..",
    "ü" * 512,
    "/".join(["d"] * 200),
]


def keys(bucket: Bucket, prefix: str = "", after: str = "") -> list[str]:
    return [info.key for info in bucket.list(prefix, after=after)]


def text(bucket: Bucket, key: str, offset: int = 0) -> bytes:
    return b"".join(bucket.read(key, offset=offset))


def test_what_is_put_is_read(bucket: Bucket) -> None:
    written = bucket.put("a/b.txt", b"hello")
    assert (written.size, written.md5) == (5, hashlib.md5(b"hello").digest())
    assert text(bucket, "a/b.txt") == b"hello"
    assert bucket.head("a/b.txt") == next(bucket.list())
    assert bucket.head("a/b.txt").etag == written.etag
    assert bucket.head("a/b.txt").size == 5


def test_a_read_begins_where_it_is_told_to(bucket: Bucket) -> None:
    bucket.put("k", b"0123456789")
    assert [text(bucket, "k", offset) for offset in (0, 4, 9, 10, 11)] == [
        b"0123456789",
        b"456789",
        b"9",
        b"",
        b"",
    ]


def test_an_empty_object_is_an_object(bucket: Bucket) -> None:
    bucket.put("_started", b"")
    assert text(bucket, "_started") == b""
    assert bucket.head("_started").size == 0


def test_a_large_object_becomes_visible_when_it_is_complete(bucket: Bucket) -> None:
    piece = bytes(range(256)) * 4096
    with bucket.writer("large") as writer:
        for _ in range(20):
            writer.write(piece)
        assert keys(bucket) == []
        written = writer.commit()
    assert (written.size, written.md5) == (20 * len(piece), hashlib.md5(piece * 20).digest())
    assert bucket.head("large").etag == written.etag
    pieces = list(bucket.read("large"))
    assert b"".join(pieces) == piece * 20
    assert max(map(len, pieces)) <= CHUNK_BYTES
    assert text(bucket, "large", 19 * len(piece)) == piece


@pytest.mark.parametrize("size", [10, 17 * 1024 * 1024])
def test_a_write_that_is_given_up_leaves_what_was_there(bucket: Bucket, size: int) -> None:
    bucket.put("k", b"before")

    with bucket.writer("k") as writer:
        writer.write(bytes(size))
    assert text(bucket, "k") == b"before"


def test_an_object_is_replaced_whole(bucket: Bucket) -> None:
    first = bucket.put("k", b"a long first version")
    second = bucket.put("k", b"second")
    assert text(bucket, "k") == b"second"
    assert first.etag != second.etag


def test_a_listing_is_in_the_order_of_bytes_with_raw_prefixes(bucket: Bucket) -> None:
    names = [
        "data",
        "data-1",
        "data.bak",
        "data/a",
        "data/b/c",
        "data/B",
        "data2/x",
        "Data",
        "\U0001f600",
        "\uffee",
    ]
    for name in names:
        bucket.put(name, b"x")
    assert keys(bucket) == sorted(names, key=lambda name: name.encode())
    assert keys(bucket, "data") == ["data", "data-1", "data.bak", "data/B", "data/a", "data/b/c", "data2/x"]
    assert keys(bucket, "data/") == ["data/B", "data/a", "data/b/c"]
    assert keys(bucket, "data/b") == ["data/b/c"]
    assert keys(bucket, "data/b/c") == ["data/b/c"]
    assert keys(bucket, "nothing") == []


def test_a_listing_goes_on_after_a_key(bucket: Bucket) -> None:
    names = ["a", "a/b", "a/c", "a/c/d", "a0", "b"]
    for name in names:
        bucket.put(name, b"x")
    for position, name in enumerate(names):
        assert keys(bucket, after=name) == names[position + 1 :]
    assert keys(bucket, "a/", after="a/b") == ["a/c", "a/c/d"]
    assert keys(bucket, after="a/bb") == ["a/c", "a/c/d", "a0", "b"]


def test_a_listing_has_as_many_pages_as_it_takes(bucket: Bucket) -> None:
    names = [f"{number:05}" for number in range(2 * LISTED_PER_PAGE + 1)]
    for name in names:
        bucket.put(name, b"")
    assert keys(bucket) == names


def test_keys_that_are_no_file_names_work_and_stay_in_the_bucket(bucket: Bucket) -> None:
    for number, key in enumerate(STRANGE_KEYS):
        bucket.put(key, str(number).encode())
    assert keys(bucket) == sorted(STRANGE_KEYS, key=lambda key: key.encode())
    for number, key in enumerate(STRANGE_KEYS):
        assert text(bucket, key) == str(number).encode(), key
        assert bucket.head(key).key == key
        assert keys(bucket, key)[0] == key
    for key in STRANGE_KEYS:
        bucket.delete(key)
    assert keys(bucket) == []


def test_a_key_may_be_the_directory_of_others(bucket: Bucket) -> None:
    for name in ["a", "a/b", "a/b/c", "a/", "a//"]:
        bucket.put(name, name.encode())
    for name in ["x/y/z", "x/y", "x"]:
        bucket.put(name, name.encode())
    names = ["a", "a/", "a//", "a/b", "a/b/c", "x", "x/y", "x/y/z"]
    assert keys(bucket) == names
    assert [text(bucket, name) for name in names] == [name.encode() for name in names]
    bucket.put("a/b", b"again")
    assert text(bucket, "a/b") == b"again"
    bucket.delete("a/b/c")
    bucket.delete("x")
    bucket.put("a/b", b"once more")
    assert text(bucket, "a/b") == b"once more"
    assert keys(bucket) == ["a", "a/", "a//", "a/b", "x/y", "x/y/z"]


def test_deleting_what_is_not_there_is_no_error(bucket: Bucket) -> None:
    bucket.delete("nothing")
    bucket.put("k/l", b"x")
    bucket.delete("k")
    assert keys(bucket) == ["k/l"]
    bucket.delete("k/l")
    assert not exists(bucket, "k/l")


def test_a_missing_key_is_told_from_a_missing_bucket(bucket: Bucket, store: ObjectStore) -> None:
    missing = store.bucket("no-such-bucket")
    bucket.put("directory/x", b"")
    for key in ("nothing", "directory", "directory/x/y"):
        with pytest.raises(NoSuchKey):
            bucket.head(key)
        with pytest.raises(NoSuchKey):
            next(bucket.read(key))
    calls: list[Callable[[], object]] = [
        lambda: missing.head("k"),
        lambda: next(missing.read("k")),
        lambda: next(missing.list()),
        lambda: missing.put("k", b""),
        lambda: missing.delete("k"),
    ]
    for call in calls:
        with pytest.raises(NoSuchBucket) as caught:
            call()
        assert re.fullmatch(
            r"The specified bucket does not exist \(Service: Amazon S3; Status Code: 404; Error Code: NoSuchBucket; "
            r"Request ID: \w+; S3 Extended Request ID: \S+; Proxy: null\)",
            caught.value.message,
        )


def test_keys_that_s3_has_not_are_refused(bucket: Bucket) -> None:
    with pytest.raises(KeyTooLong):
        bucket.put("x" * 1025, b"")
    with pytest.raises(KeyTooLong):
        bucket.put("ü" * 513, b"")
    with pytest.raises(InvalidKey):
        bucket.put("", b"")
    with pytest.raises(InvalidKey):
        bucket.put("\ud800", b"")


def test_a_read_says_when_the_object_is_another(bucket: Bucket) -> None:
    etag = bucket.put("k", b"first").etag
    assert b"".join(bucket.read("k", etag=etag)) == b"first"
    bucket.put("k", b"other")
    with pytest.raises(Changed):
        next(bucket.read("k", etag=etag))


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "../x", "%uploads", "-x", "x" * 300])
def test_a_name_that_no_bucket_has_is_no_bucket(store: ObjectStore, name: str) -> None:
    with pytest.raises(NoSuchBucket) as caught:
        next(store.bucket(name).list())
    assert caught.value.failure_code == "S3NoSuchBucket"
