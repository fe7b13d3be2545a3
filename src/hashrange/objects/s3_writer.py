"""Writing one object of an S3-compatible store: small ones in one request, large ones in parts."""

import base64
import hashlib
from typing import Any, Self

from hashrange import logs
from hashrange.objects.errors import ObjectStoreError
from hashrange.objects.interface import Written
from hashrange.objects.s3_faults import mapped

PART_BYTES = 8 * 1024 * 1024  # S3 wants at least 5 MB
# A thousand parts later they become larger by as much: 10,000 of them, which S3 allows, are then 440 GB.
_PARTS_PER_SIZE = 1000

log = logs.Log("objects")


class S3Writer:
    """An object on its way into a bucket; one part of it is in memory."""

    def __init__(self, client: Any, target: dict[str, str], encryption: dict[str, str]) -> None:
        self._client = client
        self._target = target
        self._encryption = encryption
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._size = 0
        self._part = bytearray()
        self._upload_id: str | None = None
        self._etags: list[str] = []

    def write(self, data: bytes | memoryview) -> None:
        self._md5.update(data)
        self._size += len(data)
        self._part += data
        while len(self._part) > self._part_bytes:
            self._send_part(bytes(self._part[: self._part_bytes]))
            del self._part[: self._part_bytes]

    @property
    def _part_bytes(self) -> int:
        return PART_BYTES * (1 + len(self._etags) // _PARTS_PER_SIZE)

    def _send_part(self, data: bytes) -> None:
        with mapped():
            if self._upload_id is None:
                answer = self._client.create_multipart_upload(**self._target, **self._encryption)
                self._upload_id = answer["UploadId"]
            answer = self._client.upload_part(
                **self._target,
                UploadId=self._upload_id,
                PartNumber=len(self._etags) + 1,
                Body=data,
                ContentMD5=content_md5(data),
            )
        self._etags.append(answer["ETag"])

    def commit(self) -> Written:
        if self._upload_id is None:
            return put(self._client, self._target, self._encryption, bytes(self._part))
        self._send_part(bytes(self._part))
        parts = [{"PartNumber": number, "ETag": etag} for number, etag in enumerate(self._etags, 1)]
        with mapped():
            answer = self._client.complete_multipart_upload(
                **self._target, UploadId=self._upload_id, MultipartUpload={"Parts": parts}
            )
        self._upload_id = None
        return Written(self._target["Key"], self._size, unquoted(answer["ETag"]), self._md5.digest())

    def abort(self) -> None:
        upload_id, self._upload_id = self._upload_id, None
        if upload_id is None:
            return
        try:
            with mapped():
                self._client.abort_multipart_upload(**self._target, UploadId=upload_id)
        except ObjectStoreError as error:
            # The parts cost money until a lifecycle rule removes them.
            log.warning(
                "upload.left", bucket=self._target["Bucket"], key=self._target["Key"], reason=str(error)
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()


def put(client: Any, target: dict[str, str], encryption: dict[str, str], data: bytes) -> Written:
    """Store an object in one request."""
    with mapped():
        answer = client.put_object(**target, **encryption, Body=data, ContentMD5=content_md5(data))
    md5 = hashlib.md5(data, usedforsecurity=False).digest()
    return Written(target["Key"], len(data), unquoted(answer["ETag"]), md5)


def content_md5(data: bytes) -> str:
    """The header with which the store checks what it has received."""
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode("ascii")


def unquoted(etag: str) -> str:
    """An ETag without the quotes that HTTP puts around it."""
    return etag.strip('"')
