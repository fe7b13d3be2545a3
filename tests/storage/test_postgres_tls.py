"""TLS to the database: as the URL asks for it, checked, and with large values in both directions."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hashrange.storage.engine import Transaction
from hashrange.storage.errors import OpenError
from hashrange.storage.postgres import PostgresEngine
from postgres_server import PostgresServer
from tls_proxy import TlsProxy, certificate

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made by openssl")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two certificates, of which the server has one."""
    path = tmp_path_factory.mktemp("certificates")
    certificate(path, "localhost")
    certificate(path, "another")
    return path


@pytest.fixture
def url(postgres: PostgresServer, folder: Path) -> Iterator[str]:
    with closing(TlsProxy(postgres.port, folder / "localhost.pem", folder / "localhost.key")) as proxy:
        yield f"postgresql://postgres@localhost:{proxy.port}/postgres"


def test_everything_goes_through(url: str, schema: str, folder: Path) -> None:
    checked = f"{url}?sslmode=verify-full&sslrootcert={folder}/localhost.pem"
    with closing(PostgresEngine.open(checked, schema_name=schema)) as engine:
        rows = {
            b"%03d" % number: bytes([number]) * size for number, size in enumerate((1, 9_000, 400_000) * 8)
        }

        def put_all(tx: Transaction) -> None:
            for key, value in rows.items():
                tx.put(key, value)

        engine.write(put_all)
        assert dict(engine.read(lambda reader: list(reader.scan(b"", b"\xff")))) == rows
        for key, value in rows.items():
            assert engine.read(lambda reader, key=key: reader.get(key)) == value


@pytest.mark.parametrize(
    ("host", "root"), [("localhost", "another"), ("127.0.0.1", "localhost"), ("localhost", "missing")]
)
def test_a_server_that_cannot_prove_who_it_is_gets_nothing(
    url: str, schema: str, folder: Path, host: str, root: str
) -> None:
    checked = f"{url.replace('localhost', host)}?sslmode=verify-full&sslrootcert={folder}/{root}.pem"
    with pytest.raises(OpenError, match="certificate"):
        PostgresEngine.open(checked, schema_name=schema)
