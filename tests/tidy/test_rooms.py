"""The rooms of the house: who may know whom, and what does not belong where."""

import ast
from pathlib import Path

from hashrange.api.registry import DYNAMODB
from hashrange.services.autoscaling.registry import AUTO_SCALING
from hashrange.services.cloudwatch.registry import CLOUDWATCH
from hashrange.services.iam.registry import IAM
from hashrange.services.kms.registry import KMS
from hashrange.services.streams.registry import STREAMS
from hashrange.services.sts.registry import STS
from house import SOURCE, imports, modules, name, tree

# A room may import from itself and from rooms with a lower number, never from a neighbour with its own.
RANKS = {
    "core": 0,
    "addresses": 1,
    "admin": 2,
    "auth": 1,
    "capacity": 1,
    "clock": 1,
    "ids": 1,
    "logs": 1,
    "caches": 1,
    "certificates": 1,
    "client_tls": 1,
    "collector": 1,
    "durations": 1,
    "huge_pages": 1,
    "metrics": 1,
    "kms": 1,
    "passwords": 1,
    "patterns": 1,
    "process_limits": 1,
    "restarts": 1,
    "scaling": 1,
    "sockets": 1,
    "terminal": 1,
    "tls_files": 1,
    "web_settings": 1,
    "audit": 2,
    "config": 2,
    "formats": 2,
    "objects": 3,
    "remote_keys": 3,
    "storage": 3,
    "delivery": 4,
    "api": 4,
    "vaults": 4,
    "page_keys": 5,
    "wrapped_root_key": 3,
    "services": 5,
    "chain": 5,
    "jobs": 6,
    "wire": 6,
    "workers": 6,
    "metering": 6,
    "migrate": 6,
    "audit_command": 6,
    "chaos_command": 6,
    "clock_command": 6,
    "heat_command": 6,
    "tls_command": 6,
    "transfer": 6,
    "export_command": 7,
    "import_command": 7,
    "authentication": 7,
    "auditing": 7,
    "build_info": 7,
    "engines": 7,
    "own_pages": 7,
    "query_services": 7,
    "test_kit": 7,
    "root_key_command": 7,
    "verify": 7,
    "salvage": 7,
    "iam_check": 7,
    "iam_explanation": 7,
    "iam_operations": 1,
    "iam_server": 7,
    "iam_simulation": 7,
    "iam_store": 7,
    "iam_command": 8,
    "server": 8,
    "modeling": 9,
    "running": 9,
    "testing": 10,
    "pytest_plugin": 11,
    "serve_command": 10,
    "testing_command": 10,
    "cli": 11,
    "__main__": 12,
}
AWAITING = {"jobs", "patterns", "running", "server", "wire"}
# A pure core has no clock, no IO, no randomness, no logging and no threads.
IMPURE = {
    *("apsw", "asyncio", "datetime", "http", "io", "logging", "os", "pathlib", "random", "secrets", "socket"),
    *("sqlite3", "subprocess", "sys", "tempfile", "threading", "time", "urllib", "uuid", "uvloop"),
}


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def known(path: Path) -> set[str]:
    """The rooms a module imports from."""
    parts = [imported.split(".") for imported in imports(path)]
    return {
        part[1] for part in parts if part[0] == "hashrange" and len(part) > 1 and part[1] != "__version__"
    }


def test_every_room_has_its_place() -> None:
    rooms = {room(path) for path in modules("src/hashrange")} - {"__init__"}
    assert rooms <= RANKS.keys()


def test_imports_go_one_way() -> None:
    wrong = [
        f"{name(path)} imports {other}"
        for path in modules("src/hashrange")
        if room(path) != "__init__"
        for other in sorted(known(path))
        if other != room(path) and RANKS[other] >= RANKS[room(path)]
    ]
    assert wrong == []


def test_the_core_and_the_capacity_model_are_pure() -> None:
    wrong = [
        f"{name(path)} imports {imported}"
        for path in modules("src/hashrange/core", "src/hashrange/capacity")
        for imported in imports(path)
        if imported.split(".")[0] in IMPURE
    ]
    assert wrong == []


def test_the_bench_is_a_client_like_any_other() -> None:
    assert {other for path in modules("bench/hashrange_bench") for other in known(path)} == set()


def test_patterns_are_clients_like_any_other() -> None:
    paths = modules("src/hashrange/patterns")
    assert {other for path in paths for other in known(path)} == {"patterns"}


def test_patterns_leave_the_choice_of_the_sdk_to_the_application() -> None:
    imported = {name.split(".")[0] for path in modules("src/hashrange/patterns") for name in imports(path)}
    assert imported.isdisjoint({"aioboto3", "aiobotocore", "boto3", "botocore"})


def test_transfers_are_clients_like_any_other() -> None:
    rooms = {other for path in modules("src/hashrange/transfer") for other in known(path)}
    keys = {"kms", "wrapped_root_key"}  # of exports that are encrypted
    assert rooms <= {"client_tls", "core", "formats", "objects", "passwords", "terminal", "transfer", *keys}


def test_test_suites_are_clients_like_any_other() -> None:
    rooms = {other for path in modules("src/hashrange/testing") for other in known(path)}
    assert rooms <= {"durations", "modeling", "testing"}


def test_only_storage_and_jobs_know_the_layout_of_keys() -> None:
    wrong = [
        name(path)
        for path in modules("src/hashrange")
        if room(path) not in {"storage", "jobs", "engines", "own_pages"}
        if "hashrange.storage.layout" in imports(path)
    ]
    assert wrong == []


def test_operations_are_not_each_others_libraries() -> None:
    services = (DYNAMODB, STREAMS, CLOUDWATCH, AUTO_SCALING, IAM, KMS, STS)
    operations = {row.handler.__module__ for service in services for row in service.operations.values()}
    wrong = [
        f"{name(path)} imports {imported}"
        for path in modules("src/hashrange/api", "src/hashrange/services")
        if path.name != "registry.py"
        for imported in imports(path)
        if imported in operations or imported.rpartition(".")[0] in operations
    ]
    assert wrong == []


def test_only_the_rim_awaits() -> None:
    asynchronous = (ast.AsyncFunctionDef, ast.Await, ast.AsyncWith, ast.AsyncFor)
    wrong = {
        name(path)
        for path in modules("src/hashrange")
        if room(path) not in AWAITING and any(isinstance(node, asynchronous) for node in ast.walk(tree(path)))
    }
    assert wrong == set()
