"""docs/clients.md tells what is toured, in the versions that are pinned."""

import json
import re

from clients.test_tours import TOURS
from clients.toolchains import SOURCES
from house import ROOT

PAGE = (ROOT / "docs" / "clients.md").read_text("utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("|")]


def _pins() -> dict[str, str]:
    """The version of every client, by the name of a file or package in its row."""
    node = json.loads((SOURCES / "node" / "package.json").read_text("utf-8"))["dependencies"]
    python = dict(_pairs("python/requirements.txt", r"^([\w-]+)==(\S+)$") + _pairs_of_server())
    rust = dict(_pairs("rust/Cargo.toml", r'^([\w-]+) = \{ version = "=([^"]+)"'))
    go = dict(_pairs("go/go.mod", r"^\s+(\S+) v(\S+)$"))
    java = dict(_pairs("java/pom.xml", r"<(aws)\.version>([^<]+)<"))
    kcl = dict(_pairs("kcl/pom.xml", r"<(adapter)\.version>([^<]+)<"))
    return {
        "sdk.mjs": node["@aws-sdk/client-dynamodb"],
        "dynamoose.mjs": node["dynamoose"],
        "electrodb.mjs": node["electrodb"],
        "onetable.mjs": node["dynamodb-onetable"],
        "toolbox.mjs": node["dynamodb-toolbox"],
        "connect-dynamodb": node["connect-dynamodb"],
        "test_dynamodb_admin.py": node["dynamodb-admin"],
        "sessions.mjs": node["express-session"],
        "aiodynamo_tour.py": python["aiodynamo"],
        "celery_tour.py": python["celery"],
        "dynamo3_tour.py": python["dynamo3"],
        "PyDynamoDB": python["pydynamodb"],
        "pydynamodb_tour.py": python["SQLAlchemy"],
        "pyiceberg_tour.py": python["pyiceberg"],
        "test_aioboto3.py": python["aioboto3"],
        "test_aws_cli.py": python["awscli"],
        "test_boto3_resource.py": python["server-boto3"],
        "test_pynamodb.py": python["pynamodb"],
        "tour.rs": rust["aws-sdk-dynamodb"],
        "tour.go": go["github.com/aws/aws-sdk-go-v2/service/dynamodb"],
        "Sdk.java": java["aws"],
        "Enhanced.java": java["aws"],
        "Consumer.java": kcl["adapter"],
    }


def _pairs(path: str, pattern: str) -> list[tuple[str, str]]:
    return re.findall(pattern, (SOURCES / path).read_text("utf-8"), re.MULTILINE)


def _pairs_of_server() -> list[tuple[str, str]]:
    """What the server's own environment has; boto3 is in both."""
    text = (ROOT / "constraints.txt").read_text("utf-8")
    pairs = re.findall(r"^(aioboto3|awscli|boto3|pynamodb)==(\S+)$", text, re.MULTILINE)
    return [(f"server-{name}" if name == "boto3" else name, version) for name, version in pairs]


def test_the_table_has_the_pinned_versions() -> None:
    for name, version in _pins().items():
        (row,) = (row for row in ROWS if name in row)
        assert f" {version} " in row or f" {version}," in row, f"{name} is pinned to {version}: {row}"


def test_every_tour_has_its_row() -> None:
    files = {path.name for toolchain, _ in TOURS for path in (SOURCES / toolchain.name).iterdir()}
    named = {name for name in files if any(f"/{name})" in row for row in ROWS)}
    assert len(named) == len(TOURS)
    assert re.findall(r"\(\.\./(tests/clients/\S+?)\)", PAGE) != []
    for path in re.findall(r"\(\.\./(tests/clients/\S+?)\)", PAGE):
        assert (ROOT / path).exists(), path
