"""`hashrange model import --endpoint`: tables of a server become a model that loads and makes the same keys again."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hashrange.cli import main
from hashrange.modeling.exchange import live
from hashrange.modeling.exchange.model_file import dumps
from hashrange.modeling.loading import load, loads
from hashrange.modeling.model import Entity, Literally, Model, Template
from hashrange.modeling.problems import ModelErrors
from hashrange.modeling.templates import fill
from item_tables import index, make_table
from serving import Serving

USERS, ORDERS = 12, 3
GSI = index("GSI1", "GSI1PK", "GSI1SK", projection="INCLUDE", included=("total", "coupon"))


def _user(number: int) -> dict[str, str]:
    item = {
        "PK": f"USER#u{number}",
        "SK": "PROFILE",
        "GSI1PK": f"EMAIL#p{number}@example.org",
        "GSI1SK": f"USER#u{number}",
        "user_id": f"u{number}",
        "email": f"p{number}@example.org",
    }
    return item if number % 2 else {**item, "bio": "x" * 300}


def _order(user: int, number: int) -> dict[str, str]:
    day = f"2026-01-{number + 1:02}"
    return {"PK": f"USER#u{user}", "SK": f"ORDER#{day}#{user}-{number}", "placed_on": day, "total": "12"}


@pytest.fixture(scope="module", autouse=True)
def keys() -> Iterator[None]:
    """What AWS's tools would find; nothing of the machine's own."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
            patch.delenv(name, raising=False)
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        yield


@pytest.fixture(scope="module")
def items() -> list[dict[str, str]]:
    users = [_user(user) for user in range(USERS)]
    return users + [_order(user, number) for user in range(USERS) for number in range(ORDERS)]


@pytest.fixture(scope="module")
def table(client: Any, items: list[dict[str, str]]) -> str:
    types = dict.fromkeys(("GSI1PK", "GSI1SK"), "S")
    name = make_table(client, "PK", "SK", types=types, GlobalSecondaryIndexes=[GSI])
    client.update_time_to_live(
        TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires"}
    )
    for item in items:
        client.put_item(TableName=name, Item={key: {"S": value} for key, value in item.items()})
    return name


@pytest.fixture(scope="module")
def model(shared_server: Serving, table: str) -> Model:
    """What the import writes, loaded as a person's file is."""
    return loads(dumps(live.read(live.LiveTables(endpoint=shared_server.endpoint, tables=[table]))))


def test_entities_come_from_prefixes_with_counts_formats_and_optional_attributes(model: Model) -> None:
    assert {name: entity.count for name, entity in model.entities.items()} == {
        "User": USERS,
        "Order": USERS * ORDERS,
    }
    user = model.entities["User"]
    assert user.attributes["email"].format == "email"
    assert (user.attributes["bio"].size, user.attributes["bio"].optional) == (300, 0.5)
    assert {name: key.text for name, key in user.keys.items()} == {
        "PK": "USER#{user_id}",
        "SK": "PROFILE",
        "GSI1PK": "EMAIL#{email}",
        "GSI1SK": "USER#{user_id}",
    }


def test_the_table_has_its_index_and_time_to_live(model: Model, table: str) -> None:
    described = model.tables[table]
    assert described.ttl_attribute == "expires"
    assert [(index.name, index.included) for index in described.indexes] == [("GSI1", ("coupon", "total"))]


def _parts(template: Template, key: str) -> dict[str, str]:
    """What the attributes of a template have to be for a key to come out."""
    pattern = "".join(
        re.escape(piece.text) if isinstance(piece, Literally) else f"(?P<{piece.attribute}>.+?)"
        for piece in template.pieces
    )
    match = re.fullmatch(pattern, key)
    assert match, (template.text, key)
    return match.groupdict()


def _made_again(entity: Entity, item: Mapping[str, str]) -> dict[str, object]:
    keys = {name: template for name, template in entity.keys.items() if name in item}
    derived = {
        name: value for key, template in keys.items() for name, value in _parts(template, item[key]).items()
    }
    return {name: fill(template, {**derived, **item}) for name, template in keys.items()}


def test_the_templates_make_the_keys_of_every_item_again(model: Model, items: list[dict[str, str]]) -> None:
    for item in items:
        entity = model.entities["User" if item["SK"] == "PROFILE" else "Order"]
        assert _made_again(entity, item) == {name: item[name] for name in entity.keys}


def test_the_command_writes_a_file_that_loads(
    shared_server: Serving, table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "live.yaml"
    words = ("model", "import", "--endpoint", shared_server.endpoint, "--table", table, "--out", str(path))
    assert main(words) == 0
    assert "no patterns in it yet" in capsys.readouterr().err
    assert load(path).tables.keys() == {table}


def test_a_sample_stays_within_its_number_and_counts_are_estimated_from_all(
    shared_server: Serving, table: str
) -> None:
    source = live.LiveTables(endpoint=shared_server.endpoint, tables=[table], sample=20)
    counts = [entity.count for entity in live.read(source).entities.values()]
    assert 20 <= sum(counts) <= USERS * (1 + ORDERS) + len(counts)


def test_an_empty_table_gets_an_entity_to_fill_in(client: Any, shared_server: Serving, table: str) -> None:
    empty = make_table(client, "id")
    model = live.read(live.LiveTables(endpoint=shared_server.endpoint, tables=[empty, table]))
    assert loads(dumps(model)).tables.keys() == {empty, table}
    assert len(model.entities_of(empty)) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--table", "not-there"), "ResourceNotFoundException"),
        ((), "0 tables"),
        (("--table", "abc", "--sample", "0"), "a sample of 0 items"),
        (("--table", "abc", "--sample", "10001"), "choose 1 to 10000"),
        (("--table", "abc", "--rate-units", "nan"), "read units per second"),
        (("--table", "../abc"), "this is no endpoint"),
        (("--table", "a b"), "names no table"),
        (("file.json", "--table", "abc"), "name a file, or live tables"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(
    shared_server: Serving, words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("model", "import", *words, "--endpoint", shared_server.endpoint)) == 2
    assert message in capsys.readouterr().err


def test_keys_in_the_address_are_not_shown(
    capsys: pytest.CaptureFixture[str], shared_server: Serving
) -> None:
    address = shared_server.endpoint.replace("http://", "http://me:hidden-words@")
    assert main(("model", "import", "--endpoint", address, "--table", "not-there")) == 2
    assert "hidden-words" not in capsys.readouterr().err


def test_no_more_than_fifty_tables() -> None:
    tables = [f"table-{number}" for number in range(live.TABLES_MAX + 1)]
    with pytest.raises(ModelErrors, match="51 tables"):
        live.read(live.LiveTables(endpoint="http://localhost:1", tables=tables))
