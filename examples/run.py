"""Run one of the applications: its tables are made from its model file, then it shows what it does.

python examples/run.py ecommerce http://127.0.0.1:8000
"""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import boto3

from hashrange.modeling.loading import load
from hashrange.modeling.table_requests import requests_for

FOLDER = Path(__file__).parent
ENDPOINT = {"region_name": "us-east-1", "aws_access_key_id": "local", "aws_secret_access_key": "local"}


def make_tables(client: Any, name: str) -> None:
    """Create the tables of an application's model; those that are there already are left alone."""
    model = load(FOLDER / name / "model.yaml")
    there = set(client.list_tables()["TableNames"])
    for table in model.tables.values():
        if table.name in there:
            continue
        for request in requests_for(table, model):
            method = client.meta.method_to_api_mapping
            (call,) = (python for python, operation in method.items() if operation == request.operation)
            getattr(client, call)(**request.members())
            client.get_waiter("table_exists").wait(TableName=table.name, WaiterConfig={"Delay": 1})


def application(name: str) -> ModuleType:
    """The module of an application; it may import those beside it."""
    if str(FOLDER / name) not in sys.path:
        sys.path.append(str(FOLDER / name))
    spec = importlib.util.spec_from_file_location(f"{name}_application", FOLDER / name / "app.py")
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(name: str, endpoint: str = "http://127.0.0.1:8000") -> None:
    """Make the tables and run the application."""
    client = boto3.client("dynamodb", endpoint_url=endpoint, **ENDPOINT)
    make_tables(client, name)
    for line in application(name).demonstrate(client):
        print(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
