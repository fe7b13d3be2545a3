"""A root key that another key service keeps: here another Hashrange, with signatures and permissions."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from enforcing import Enforcing, Key, enforcing, statement
from item_tables import make_table
from serving import serving


@pytest.fixture(scope="module")
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Enforcing]:
    with enforcing(tmp_path_factory.mktemp("keeper") / "data") as running:
        yield running


def created(path: Path, keeper: Enforcing, key: str, signer: Key) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hashrange", "root-key", "create", str(path)]
    command += ["--kms-endpoint", keeper.endpoint, "--kms-key", key]
    environment = {**os.environ, **signer.environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)


def test_data_opens_only_with_a_word_of_the_other_service(
    keeper: Enforcing, tmp_path: Path, make_client: Callable[..., Any]
) -> None:
    kms = keeper.client("kms", keeper.administrator)
    arn = kms.create_key()["KeyMetadata"]["Arn"]
    user = keeper.user("opener", statement(["kms:GenerateDataKeyWithoutPlaintext", "kms:Decrypt"], arn))
    path = tmp_path / "root.wrapped"
    assert created(path, keeper, arn.replace("key/", "key/0"), user).returncode == 1
    assert not path.exists()
    done = created(path, keeper, arn, user)
    assert (done.returncode, done.stdout) == (0, f"--root-key kms:{path} is under {arn}\n"), done.stderr
    assert created(path, keeper, arn, user).returncode == 1  # it is there already
    flags = ("--data-dir", str(tmp_path / "data"), "--transition-ms", "0", "--root-key", f"kms:{path}")
    with serving(*flags, environment=user.environment) as running:
        client = make_client(endpoint=running.endpoint)
        table = make_table(client, "pk")
        client.put_item(TableName=table, Item={"pk": {"S": "a"}})
    nobody = keeper.user("nobody").environment
    with (
        pytest.raises(RuntimeError, match="refused Decrypt: AccessDenied"),
        serving(*flags, environment=nobody),
    ):
        pass
    kms.disable_key(KeyId=arn)
    with (
        pytest.raises(RuntimeError, match="refused Decrypt: DisabledException"),
        serving(*flags, environment=user.environment),
    ):
        pass
    kms.enable_key(KeyId=arn)
    with serving(*flags, "--workers", "2", environment=user.environment) as running:
        client = make_client(endpoint=running.endpoint)
        assert client.get_item(TableName=table, Key={"pk": {"S": "a"}})["Item"] == {"pk": {"S": "a"}}


def test_a_file_that_is_no_wrapped_key_is_said_to_be_none(tmp_path: Path) -> None:
    path = tmp_path / "root.wrapped"
    for content, message in (("{}", "no wrapped root key"), (None, "cannot be read")):
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_text(content)
        with pytest.raises(RuntimeError, match=message), serving("--in-memory", "--root-key", f"kms:{path}"):
            pass
