"""One server with `--auth iam` for all attacks, set up as the guide says: bootstrap, serve, then IAM by the API."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hashrange.config import Settings
from hashrange.iam_store import IamStore
from serving import serving
from tenants.shared_house import House, furnished
from tenants.signed_callers import SignedCaller

OTHER_ACCOUNT = "222222222222"
BUCKET = "transfers"


def bootstrap(data: Path, account_id: str) -> tuple[str, str]:
    """The first administrator's key, as `hashrange iam bootstrap --account` makes it."""
    with closing(IamStore(Settings(data_dir=data), account_id)) as store:
        key = store.bootstrap()
    return key["AccessKeyId"], key["SecretAccessKey"]


@pytest.fixture(scope="session")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, SignedCaller]]:
    """A furnished house, and the administrator of another account on the same server."""
    data = tmp_path_factory.mktemp("tenants") / "data"
    keys = [bootstrap(data, account) for account in ("000000000000", OTHER_ACCOUNT)]
    (data / "buckets" / BUCKET).mkdir(parents=True)
    flags = ("--auth", "iam", "--data-key-cache", "1s", "--log-level", "warning")
    with serving("--data-dir", str(data), *flags) as running:
        ours, theirs = (SignedCaller(running.endpoint, *key) for key in keys)
        yield furnished(ours), theirs
        log = running.log_text()
    assert "Traceback" not in log, log


@pytest.fixture(scope="session")
def house(houses: tuple[House, SignedCaller]) -> House:
    return houses[0]


@pytest.fixture(scope="session")
def stranger(houses: tuple[House, SignedCaller]) -> SignedCaller:
    """The administrator of the other account."""
    return houses[1]
