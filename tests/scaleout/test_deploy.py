"""The files to start from say what the settings are called, and can be read."""

import os
import re
import subprocess
from typing import Any

import pytest
import yaml

from hashrange.config import Settings
from house import ROOT
from postgres_server import FAST, PostgresServer, directory

FILES = sorted((ROOT / "deploy").rglob("*.y*ml"))
STARTING = [path for path in FILES if "HASHRANGE_" in path.read_text()]  # servers; others watch them
VARIABLES = {f"HASHRANGE_{name.upper()}" for name in Settings.__dataclass_fields__}


def documents() -> list[Any]:
    return [document for path in FILES for document in yaml.safe_load_all(path.read_text())]


def test_they_are_yaml() -> None:
    assert [path.name for path in STARTING] == ["docker-compose.yml", "hashrange.yaml"]
    assert all(documents())


def test_the_leader_of_the_compose_file_waits_for_replicas_only_when_there_can_be_some() -> None:
    """Its image creates the database on a server that nobody can reach; waiting there would never end."""
    compose = yaml.safe_load((ROOT / "deploy/docker-compose.yml").read_text())
    leader = compose["services"]["db1"]
    assert "synchronous" not in str(leader["command"])
    (script,) = (volume.split(":")[0] for volume in leader["volumes"] if "initdb.d" in volume)
    with directory() as path:
        server = PostgresServer(path)
        server.create(**FAST)
        subprocess.run(
            ["sh", ROOT / "deploy" / script], check=True, env={**os.environ, "PGDATA": str(server.data)}
        )
        server.start()
        try:
            assert server.execute("SHOW synchronous_standby_names") == [("ANY 1 (db1, db2, db3)",)]
            assert server.execute("SELECT error FROM pg_hba_file_rules WHERE error IS NOT NULL") == []
        finally:
            server.stop()


def test_servers_of_a_compose_file_share_their_buckets_and_backups() -> None:
    """Any of them may work at an export or a backup; a folder of its own would be gone with its container."""
    services = yaml.safe_load((ROOT / "deploy/docker-compose.yml").read_text())["services"]
    servers = [
        service for service in services.values() if "HASHRANGE_ENGINE" in service.get("environment", {})
    ]
    assert len(servers) == 2
    for server in servers:
        folders = [volume.split(":")[1] for volume in server["volumes"]]
        for name in ("HASHRANGE_S3", "HASHRANGE_BACKUPS"):
            assert any(server["environment"][name].startswith(f"{folder}/") for folder in folders)
    assert servers[0]["volumes"] == servers[1]["volumes"]


def test_pods_keep_backups_in_a_bucket_and_have_room_for_scratch_files() -> None:
    (deployment,) = (document for document in documents() if document.get("kind") == "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    environment = {variable["name"]: variable for variable in container["env"]}
    assert "secretKeyRef" in environment["HASHRANGE_S3"]["valueFrom"]
    assert environment["HASHRANGE_BACKUPS"]["value"].startswith("s3://")
    assert container["securityContext"]["readOnlyRootFilesystem"]
    (mount,) = container["volumeMounts"]
    assert mount["mountPath"] == "/tmp"  # where scratch files are with PostgreSQL
    assert [volume["name"] for volume in pod["volumes"]] == [mount["name"]]


@pytest.mark.parametrize("path", STARTING, ids=lambda path: path.name)
def test_they_name_settings_that_exist(path: Any) -> None:
    text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("#"))
    named = set(re.findall(r"HASHRANGE_[A-Z0-9_]+", text)) - {"HASHRANGE_DB_PASSWORD"}
    assert named
    assert named <= VARIABLES
    flags = {flag.replace("-", "_") for flag in re.findall(r"[\[ \"]--([a-z-]+)", text)}
    assert flags <= set(Settings.__dataclass_fields__)
