"""The stores under test: the same tests run over a folder and over a real S3 API."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hashrange.objects.folder import FolderStore
from hashrange.objects.interface import Bucket, ObjectStore
from hashrange.objects.s3_address import S3Address
from hashrange.objects.s3_store import S3Store
from moto_server import ACCESS_KEY, SECRET_KEY, moto_server, s3_client


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    with moto_server() as endpoint:
        yield endpoint


def s3_store(endpoint: str) -> S3Store:
    return S3Store(S3Address(endpoint, "us-east-1", ACCESS_KEY, SECRET_KEY))


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.slow)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ObjectStore]:
    opened: ObjectStore
    if request.param == "folder":
        opened = FolderStore(tmp_path)
    else:
        opened = s3_store(request.getfixturevalue("s3_endpoint"))
    yield opened
    opened.close()


@pytest.fixture
def make_bucket(request: pytest.FixtureRequest, store: ObjectStore, tmp_path: Path) -> Callable[[], Bucket]:
    """Make a bucket by other means than the store: it has none."""

    def make() -> Bucket:
        name = f"bucket-{secrets.token_hex(6)}"
        if isinstance(store, FolderStore):
            (tmp_path / name).mkdir()
        else:
            s3_client(request.getfixturevalue("s3_endpoint")).create_bucket(Bucket=name)
        return store.bucket(name)

    return make


@pytest.fixture
def bucket(make_bucket: Callable[[], Bucket]) -> Bucket:
    return make_bucket()
