"""What a client is told when it is refused."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.exceptions import ClientError

ACCOUNT = "000000000000"
ANYTHING = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}'
TRUST = (
    '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"'
    + ACCOUNT
    + '"},"Action":"sts:AssumeRole"}]}'
)


@contextmanager
def refused(code: str, status: int, words: str = "") -> Iterator[None]:
    with pytest.raises(ClientError) as caught:
        yield
    response = caught.value.response
    assert (response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]) == (code, status)
    assert words in response["Error"]["Message"]


def pages(operation: Callable[..., Any], member: str, **request: Any) -> list[Any]:
    """All entries of a list, one a page."""
    listed: list[Any] = []
    answer = operation(**request, MaxItems=1)
    while True:
        assert len(answer[member]) <= 1
        listed += answer[member]
        if not answer["IsTruncated"]:
            return listed
        answer = operation(**request, MaxItems=1, Marker=answer["Marker"])
