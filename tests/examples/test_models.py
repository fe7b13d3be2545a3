"""The models of examples/: no rule speaks against them, they prove, and their pictures and pages are up to date."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from boto3.dynamodb.types import TypeDeserializer

from hashrange.cli import main
from hashrange.modeling.key_values import stored_item
from hashrange.modeling.loading import load
from hashrange.modeling.model import Entity, Model
from hashrange.modeling.sizes import table_keys
from house import ROOT

FOLDER = ROOT / "examples"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/model.yaml"))
MODELS = pytest.mark.parametrize("name", NAMES)


def model_file(name: str) -> Path:
    return FOLDER / name / "model.yaml"


@MODELS
def test_no_rule_speaks_against_a_model(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["model", "check", str(model_file(name))])
    printed = capsys.readouterr().out
    assert status == 0, printed
    assert "0 errors, 0 warnings" in printed


@MODELS
def test_a_model_proves(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["model", "prove", str(model_file(name)), "--items", "250"])
    printed = capsys.readouterr().out
    assert status == 0, printed
    assert "  ok  " in printed


@MODELS
def test_a_picture_shows_every_entity_table_and_index(name: str) -> None:
    """As `python examples/draw.py NAME` draws it; the made-up values in it may be others."""
    model = load(model_file(name))
    picture = ET.parse(FOLDER / name / "picture.svg")
    texts = {text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    wanted = {*model.entities, *(f"table {table}" for table in model.tables)}
    wanted |= {f"index {index.name}" for table in model.tables.values() for index in table.indexes}
    assert wanted <= texts


@MODELS
def test_a_page_shows_the_picture_and_how_to_run_it(name: str) -> None:
    page = (FOLDER / name / "README.md").read_text("utf-8")
    assert "(picture.svg)" in page
    assert f"examples/run.py {name}" in page
    assert f"({name}/README.md)" in (FOLDER / "README.md").read_text("utf-8")
    assert 60 <= len((FOLDER / name / "app.py").read_text("utf-8").splitlines()) <= 150


def fits(model: Model, entity: Entity, item: dict[str, Any]) -> bool:
    """Whether an item has the keys that the entity's templates make of its attributes."""
    keys = table_keys(model.tables[entity.table])
    values = {name: item[name] for name in entity.attributes if name in item}
    stored = stored_item(model, entity, values, now=0)
    return all(stored.get(key) == item.get(key) for key in keys)


@MODELS
def test_what_an_application_stores_is_what_its_model_says(
    name: str, application: Callable[[str], Any], examples_client: Any
) -> None:
    """Every item that is left in the tables has the keys of one of the entities."""
    model = load(model_file(name))
    assert list(application(name).demonstrate(examples_client))
    plain = TypeDeserializer().deserialize
    for table in model.tables:
        items = examples_client.scan(TableName=table)["Items"]
        assert items
        for wire in items:
            item = {attribute: plain(value) for attribute, value in wire.items()}
            entities = [entity for entity in model.entities.values() if entity.table == table]
            assert any(fits(model, entity, item) for entity in entities), item
