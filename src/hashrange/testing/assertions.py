"""What a test expects of the requests that a block of it makes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hashrange.testing import current
from hashrange.testing.request_log import RequestLog


@contextmanager
def assert_no_scans(requests: RequestLog | None = None, *, allow: Sequence[str] = ()) -> Iterator[RequestLog]:
    """Expect no Scan in the block, nor a SELECT that is one, but of the tables in `allow`.

    Without `requests` those of the running test's namespace are meant.
    """
    with _watched(requests) as log:
        yield log
        log.assert_no_scans(allow=allow)


@contextmanager
def assert_capacity(
    requests: RequestLog | None = None, *, max_rcu: float | None = None, max_wcu: float | None = None
) -> Iterator[RequestLog]:
    """Expect the block to consume no more read and write capacity units, its retries included."""
    with _watched(requests) as log:
        yield log
        log.assert_capacity(max_rcu=max_rcu, max_wcu=max_wcu)


@contextmanager
def _watched(requests: RequestLog | None) -> Iterator[RequestLog]:
    # Not `or`: a log without a request is false.
    with (current.namespace().requests if requests is None else requests).watch() as log:
        yield log
