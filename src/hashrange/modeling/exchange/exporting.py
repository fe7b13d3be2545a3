"""A model for other programs, by the name of the format."""

import json
from collections.abc import Callable, Mapping

from hashrange.modeling.exchange import aws_cli, cloudformation_writing, terraform_writing, workbench_writing
from hashrange.modeling.exchange.model_file import dumps
from hashrange.modeling.exchange.trees import yaml_text
from hashrange.modeling.model import Model
from hashrange.modeling.table_requests import create_table


def _requests(model: Model) -> str:
    """One CreateTable request, or a list of them."""
    requests = [create_table(table, model).members() for table in model.tables.values()]
    return json.dumps(requests[0] if len(requests) == 1 else requests, indent=2)


FORMATS: Mapping[str, Callable[[Model], str]] = {
    "aws-cli": aws_cli.write,
    "cloudformation": lambda model: json.dumps(cloudformation_writing.write(model), indent=2),
    "cloudformation-yaml": lambda model: yaml_text(cloudformation_writing.write(model)),
    "create-table": _requests,
    "model": dumps,
    "terraform": terraform_writing.write,
    "workbench": workbench_writing.write,
}


def write(model: Model, form: str) -> str:
    """The text, which ends with a line's end."""
    return FORMATS[form](model).rstrip("\n") + "\n"
