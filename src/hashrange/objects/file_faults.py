"""What the file system says, in the words of an object store."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from hashrange.objects.errors import (
    AccessDenied,
    KeyTooLong,
    NoSpace,
    NoSuchBucket,
    ObjectStoreError,
    Unreachable,
)

_KINDS: dict[int, type[ObjectStoreError]] = {
    errno.EACCES: AccessDenied,
    errno.EPERM: AccessDenied,
    errno.EROFS: AccessDenied,
    errno.ENAMETOOLONG: KeyTooLong,
    errno.ENOSPC: NoSpace,
    errno.EDQUOT: NoSpace,
    errno.ENOENT: NoSuchBucket,  # objects are looked for by hand: only the bucket can be missing
}


@contextmanager
def mapped() -> Iterator[None]:
    """Raise the file system's errors as ours."""
    try:
        yield
    except OSError as error:
        kind = _KINDS.get(error.errno or 0, Unreachable)
        raise kind(error.strerror or str(error)) from error
