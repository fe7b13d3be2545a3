"""A bucket of any S3-compatible store, by botocore: path-style addresses, timeouts, and retries that end."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import ClientError

from hashrange.objects.errors import NoSuchBucket, NoSuchKey, Unreachable
from hashrange.objects.interface import CHUNK_BYTES, BucketOptions, ObjectInfo, Written, check_key
from hashrange.objects.s3_address import S3Address
from hashrange.objects.s3_faults import is_code, mapped
from hashrange.objects.s3_writer import S3Writer, put, unquoted

_CONNECT_SECONDS = 10
_READ_SECONDS = 60
_ATTEMPTS = 5
_RESUMES_MAX = 5  # how often a download that breaks off goes on without having brought anything new
_ALGORITHMS = {"KMS": "aws:kms", "AES256": "AES256"}


def new_client(address: S3Address) -> Any:
    """A client for an endpoint; it may be used by several threads."""
    config = Config(
        s3={"addressing_style": "path"},
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
        retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
        # Many compatible stores do not know S3's newer checksums; Content-MD5 is sent by hand.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    with mapped():
        return botocore.session.Session().create_client(
            "s3",
            endpoint_url=address.endpoint,
            region_name=address.region,
            aws_access_key_id=address.access_key_id,
            aws_secret_access_key=address.secret_access_key,
            config=config,
        )


class S3Bucket:
    """One bucket at an endpoint."""

    def __init__(self, client: Any, name: str, options: BucketOptions) -> None:
        self.name = name
        self._client = client
        self._bucket = {"Bucket": name}
        if options.owner is not None:
            self._bucket["ExpectedBucketOwner"] = options.owner
        self._encryption: dict[str, str] = {}
        if options.sse_algorithm is not None:
            self._encryption["ServerSideEncryption"] = _ALGORITHMS[options.sse_algorithm]
        if options.sse_kms_key_id is not None:
            self._encryption["SSEKMSKeyId"] = options.sse_kms_key_id

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        request = {**self._bucket, "Prefix": prefix, **({"StartAfter": after} if after else {})}
        while True:
            with mapped():
                page = self._client.list_objects_v2(**request)
            for found in page.get("Contents", ()):
                yield ObjectInfo(found["Key"], found["Size"], unquoted(found["ETag"]))
            if not page.get("IsTruncated"):
                return
            request["ContinuationToken"] = page["NextContinuationToken"]

    def head(self, key: str) -> ObjectInfo:
        target = self._target(key)
        try:
            with mapped():
                answer = self._client.head_object(**target)
        except NoSuchKey:
            self._check_bucket()
            raise
        return ObjectInfo(key, answer["ContentLength"], unquoted(answer["ETag"]))

    def _check_bucket(self) -> None:
        """An answer to HEAD does not say whether the key is missing or the bucket."""
        try:
            with mapped():
                self._client.head_bucket(**self._bucket)
        except NoSuchKey:
            raise NoSuchBucket from None

    def read(self, key: str, *, offset: int = 0, etag: str | None = None) -> Iterator[bytes]:
        target = self._target(key)
        failures = 0
        while True:
            try:
                body, etag = self._get(target, offset, etag)
                if body is None:
                    return
                with closing(body), mapped():
                    for piece in body.iter_chunks(CHUNK_BYTES):
                        failures = 0
                        offset += len(piece)
                        yield piece
            except Unreachable:
                # Requests are retried by botocore; what breaks off later is asked for from there on.
                failures += 1
                if failures > _RESUMES_MAX:
                    raise
            else:
                return

    def _get(self, target: dict[str, str], offset: int, etag: str | None) -> tuple[Any, str]:
        request = dict(target)
        if offset:
            request["Range"] = f"bytes={offset}-"
        if etag is not None:
            request["IfMatch"] = f'"{etag}"'
        with mapped():
            try:
                answer = self._client.get_object(**request)
            except ClientError as error:
                if is_code(error, "InvalidRange", "416"):
                    return None, etag or ""
                raise
        return answer["Body"], unquoted(answer["ETag"])

    def put(self, key: str, data: bytes) -> Written:
        return put(self._client, self._target(key), self._encryption, data)

    def writer(self, key: str) -> S3Writer:
        return S3Writer(self._client, self._target(key), self._encryption)

    def delete(self, key: str) -> None:
        with mapped():
            self._client.delete_object(**self._target(key))

    def _target(self, key: str) -> dict[str, str]:
        check_key(key)
        return {**self._bucket, "Key": key}
