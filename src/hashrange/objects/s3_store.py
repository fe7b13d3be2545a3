"""Any S3-compatible store. Its client is an extra, and is loaded when it is needed: that takes half a second."""

import threading
from functools import cached_property
from typing import Any

from hashrange.objects.interface import Bucket, BucketOptions, check_bucket_name
from hashrange.objects.s3_address import S3Address


class S3Store:
    """Buckets at an endpoint."""

    def __init__(self, address: S3Address) -> None:
        self._address = address
        self._lock = threading.Lock()

    @property
    def description(self) -> str:
        return self._address.endpoint

    @property
    def is_local(self) -> bool:
        return False

    def bucket(self, name: str, options: BucketOptions | None = None) -> Bucket:
        from hashrange.objects.s3 import S3Bucket  # noqa: PLC0415 - see above

        check_bucket_name(name)
        with self._lock:
            return S3Bucket(self._client, name, options or BucketOptions())

    @cached_property
    def _client(self) -> Any:
        from hashrange.objects.s3 import new_client  # noqa: PLC0415 - see above

        return new_client(self._address)

    def close(self) -> None:
        with self._lock:
            client = self.__dict__.pop("_client", None)
            if client is not None:
                client.close()
