"""What a model is written as for other programs, and that it makes the same tables."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from hashrange.cli import main
from hashrange.modeling.commands.new import starter
from hashrange.modeling.exchange import exporting, importing
from hashrange.modeling.loading import loads
from hashrange.modeling.model import Model, Scaling, Table
from hashrange.modeling.table_requests import create_table
from item_tables import unique
from modeling.plain_models import plain
from modeling.test_loading import SHOP

MODELS = {"shop": SHOP, "starter": starter()}
TABLE_FORMATS = ["cloudformation", "cloudformation-yaml", "terraform"]


def stripped(model: Model) -> list[Table]:
    """The tables without what no such format says: backups, DAX, readers of streams."""
    return [
        replace(
            table,
            indexes=tuple(sorted(table.indexes, key=lambda index: (index.local, index.name))),
            kept_backups=0,
            dax_node=None,
            dax_nodes=0,
            stream_readers=1,
        )
        for table in plain(model).tables.values()
    ]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("form", TABLE_FORMATS)
def test_exported_tables_are_imported_as_the_same(form: str, name: str) -> None:
    model = loads(MODELS[name])
    again = importing.read(exporting.write(model, form), name)
    assert stripped(again) == stripped(model)


@pytest.mark.parametrize("form", TABLE_FORMATS)
def test_bounds_of_auto_scaling_come_back(form: str) -> None:
    """Those of a table that is in one region are resources of their own, which refer to the table."""
    billing = "{mode: provisioned, reads: {minimum: 5, maximum: 500, target: 60%}, writes: {minimum: 2, maximum: 9}}"
    text = "\n".join(
        f"    billing: {billing}" if "billing:" in line else line
        for line in SHOP.replace("    replicas: [us-east-1]\n", "").splitlines()
    )
    again = importing.read(exporting.write(loads(text), form), "shop")
    assert again.tables["shop"].read_scaling == Scaling(5, 500, 60.0)
    assert again.tables["shop"].write_scaling == Scaling(2, 9, 70.0)


def test_a_target_names_its_table_by_a_reference() -> None:
    template = json.loads(
        exporting.write(loads(SHOP.replace("    replicas: [us-east-1]\n", "")), "cloudformation")
    )
    template["Resources"]["ShopTable"]["Properties"]["TableName"] = "another"
    for target in ("ShopReadTarget", "ShopWriteTarget"):
        reference = {"Fn::Join": ["/", ["table", {"Ref": "ShopTable"}]]}
        template["Resources"][target]["Properties"]["ResourceId"] = reference
    model = importing.read(json.dumps(template), "shop")
    assert model.tables["another"].read_scaling == Scaling(5, 500, 60.0)


@pytest.mark.parametrize("form", exporting.FORMATS)
def test_several_tables_are_exported_in_every_format(form: str) -> None:
    other = "tables:\n  sessions: {partition_key: id, ttl: ends_at}\n"
    entity = "entities:\n  Session: {table: sessions, attributes: {id: uuid, ends_at: epoch}}\n"
    text = SHOP.replace("tables:\n", other).replace("entities:\n", entity)
    text = text.replace("  User:\n", "  User:\n    table: shop\n").replace(
        "  Order:\n", "  Order:\n    table: shop\n"
    )
    written = exporting.write(loads(text), form)
    assert written.endswith("\n")
    assert "sessions" in written


def test_the_model_itself_is_exported() -> None:
    model = loads(SHOP)
    assert plain(loads(exporting.write(model, "model"))) == plain(model)


def test_an_exported_request_makes_a_table_that_describes_itself_as_the_model_does(client: Any) -> None:
    model = loads(SHOP)
    table = replace(model.tables["shop"], name=unique("exported"), replicas=())
    client.create_table(**create_table(table, model).members())
    described = client.describe_table(TableName=table.name)
    answer = json.dumps({"Table": described["Table"]}, default=str)
    (imported,) = stripped(importing.read(answer, "live"))
    (expected,) = stripped(replace(model, tables={table.name: table}))
    # Other requests set TTL and the bounds of auto scaling.
    assert imported == replace(
        expected, ttl_attribute=None, read_scaling=Scaling(5), write_scaling=Scaling(1)
    )


def test_the_script_sends_every_request(tmp_path: Path) -> None:
    """With a program in the place of the AWS CLI that writes down how it was called."""
    fake = tmp_path / "aws"
    fake.write_text(
        '#!/bin/sh\nfor word; do printf "%s\\0" "$word"; done >> "$CALLS"; printf "\\n\\0" >> "$CALLS"\n'
    )
    fake.chmod(0o755)
    script = tmp_path / "make.sh"
    script.write_text(exporting.write(loads(SHOP), "aws-cli"), "utf-8")
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "CALLS": str(tmp_path / "calls")}
    subprocess.run(["/bin/sh", script, "--endpoint-url", "http://x"], env=environment, check=True, timeout=60)
    text = (tmp_path / "calls").read_text("utf-8")
    calls = [call.split("\0")[:-1] for call in text.split("\n\0")[:-1]]
    assert [call[1] for call in calls[:4]] == ["create-table", "wait", "update-time-to-live", "update-table"]
    assert all(["--region", "eu-central-1", "--endpoint-url", "http://x"] in _quads(call) for call in calls)
    assert json.loads(calls[0][-1])["TableName"] == "shop"
    scaled = [json.loads(call[-1])["ResourceId"] for call in calls if call[1] == "register-scalable-target"]
    assert scaled == [
        f"table/shop{part}" for part in ("", "/index/GSI1", "/index/by_place") for _ in range(2)
    ]


def _quads(call: list[str]) -> list[list[str]]:
    return [call[at : at + 4] for at in range(len(call))]


def test_a_template_has_scaling_and_no_aliases() -> None:
    text = exporting.write(loads(SHOP.replace("    replicas: [us-east-1]\n", "")), "cloudformation-yaml")
    resources = yaml.safe_load(text)["Resources"]
    assert resources["ShopTable"]["Type"] == "AWS::DynamoDB::Table"
    assert resources["ShopReadTarget"]["Properties"]["MaxCapacity"] == 500
    assert resources["ShopGSI1WritePolicy"]["Properties"]["ScalingTargetId"] == {"Ref": "ShopGSI1WriteTarget"}
    assert "&id" not in text


def test_a_global_table_scales_its_replicas() -> None:
    template = json.loads(exporting.write(loads(SHOP), "cloudformation"))
    properties = template["Resources"]["ShopTable"]["Properties"]
    assert [replica["Region"] for replica in properties["Replicas"]] == ["eu-central-1", "us-east-1"]
    reads = properties["Replicas"][0]["ReadProvisionedThroughputSettings"]["ReadCapacityAutoScalingSettings"]
    assert (reads["MinCapacity"], reads["MaxCapacity"]) == (5, 500)
    assert "ProvisionedThroughput" not in json.dumps(properties).replace("ProvisionedThroughputSettings", "")


def test_a_configuration_refers_to_the_table_that_it_scales() -> None:
    text = exporting.write(loads(SHOP), "terraform")
    assert '  resource_id = "table/${aws_dynamodb_table.shop.name}/index/GSI1"\n' in text
    assert "resource_id = aws_appautoscaling_target.shop_GSI1_read.resource_id" in text


def test_the_command_writes_to_standard_output_or_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, target = tmp_path / "model.yaml", tmp_path / "model.json"
    path.write_text(SHOP, "utf-8")
    assert main(["model", "export", str(path), "--format", "create-table"]) == 0
    assert json.loads(capsys.readouterr().out)["TableName"] == "shop"
    assert main(["model", "export", str(path), "--format", "workbench", "--out", str(target)]) == 0
    assert json.loads(target.read_text("utf-8"))["ModelName"] == "shop"
    assert "index LSI1 of shop" in capsys.readouterr().err
    assert main(["model", "export", str(path), "--format", "workbench", "--out", str(target)]) == 1
    path.write_text("no", "utf-8")
    assert main(["model", "export", str(path), "--format", "model"]) == 2
