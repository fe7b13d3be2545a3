"""Attribute names in PartiQL statements: what PutItem refuses to store is not stored this way either."""

from typing import Any

import pytest

from item_tables import index, invalid, make_table, unique
from partiql_calls import Statements

EMPTY_COMPONENT = "Path component cannot be an empty string"
EMPTY_NAME = "Empty attribute name"
LONG_NAME = "Attribute name is too large, must be less than 65536 bytes"
LONGEST = "n" * 65_535
SCALARS = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed"


@pytest.fixture(scope="module")
def songs(client: Any, range_table: str) -> Statements:
    return Statements(client, range_table)


@pytest.fixture
def pk(songs: Statements) -> str:
    name = unique()
    songs.put(pk=name, sk="1", m={"M": {"x": {"N": "1"}}}, l={"L": []})
    return name


@pytest.mark.parametrize(
    "action",
    [
        'SET "" = 1',
        'SET m."" = 1',
        "SET m[''] = 1",
        "SET z = {'': 1}",
        "SET z = [{'a': {'': 1}}]",
        "SET z = list_append(l, [{'': 1}])",
        "SET z = if_not_exists(y, {'': 1})",
        'SET "" = set_add("", <<1>>)',
        'SET z = ""',
        'SET z = m.""',
        'REMOVE ""',
        'REMOVE m.""',
    ],
)
def test_an_empty_name_is_not_updated(songs: Statements, pk: str, action: str) -> None:
    before = songs.get(pk=pk, sk="1")
    assert songs.invalid(f"UPDATE {{t}} {action} WHERE pk = '{pk}' AND sk = '1'") == EMPTY_COMPONENT
    assert songs.invalid(f"FROM {{t}} WHERE pk = '{pk}' AND sk = '1' {action}") == EMPTY_COMPONENT
    assert songs.get(pk=pk, sk="1") == before


@pytest.mark.parametrize(
    "attribute", ["'': 1", "'m': {'': 1}", "'l': [{'': 1}]", "'l': [1, {'m': {'': ''}}]"]
)
def test_an_empty_name_is_not_inserted(songs: Statements, attribute: str) -> None:
    pk = unique()
    statement = f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '1', {attribute}}}"
    assert songs.invalid(statement) == EMPTY_COMPONENT
    assert songs.get(pk=pk, sk="1") is None


@pytest.mark.parametrize(
    "statement",
    [
        'SELECT "" FROM {t}',
        'SELECT m."" FROM {t}',
        "SELECT m[''] FROM {t}",
        'SELECT * FROM {t} WHERE "" = 1',
        "SELECT * FROM {t} WHERE m[''] = 1",
        'SELECT * FROM {t} WHERE attribute_exists("")',
        "SELECT * FROM {t} WHERE m = {'': 1}",
        "DELETE FROM {t} WHERE pk = 'x' AND sk = '1' AND \"\" = 1",
        'SELECT "" FROM nowhere',
        "INSERT INTO nowhere VALUE {'m': {'': 1}}",
        'UPDATE nowhere SET "" = 1 WHERE pk = 1',
    ],
)
def test_an_empty_name_is_refused_before_the_table_is_looked_for(songs: Statements, statement: str) -> None:
    assert songs.invalid(statement) == EMPTY_COMPONENT


@pytest.mark.parametrize(
    ("statement", "key"),
    [
        ("INSERT INTO {t} VALUE {'pk': '%s', 'sk': '2', 'm': ?}", "2"),
        ("UPDATE {t} SET z = ? WHERE pk = '%s' AND sk = '1'", "1"),
        ("UPDATE {t} SET l = list_append(l, ?) WHERE pk = '%s' AND sk = '1'", "1"),
    ],
)
def test_names_inside_parameters_are_checked(songs: Statements, pk: str, statement: str, key: str) -> None:
    before = songs.get(pk=pk, sk=key)
    for name, message in (("", EMPTY_NAME), (LONGEST + "n", LONG_NAME), ("é" * 32_768, LONG_NAME)):
        for parameter in ({"M": {name: {"N": "1"}}}, {"L": [{"M": {"m": {"M": {name: {"N": "1"}}}}}]}):
            assert songs.invalid(statement % pk, parameter) == message
    assert songs.get(pk=pk, sk=key) == before


def test_the_longest_name_is_stored(songs: Statements, pk: str) -> None:
    songs.run(f"UPDATE {{t}} SET z = ? WHERE pk = '{pk}' AND sk = '1'", {"M": {LONGEST: {"N": "1"}}})
    item = songs.get(pk=pk, sk="1")
    assert item is not None
    assert item["z"] == {"M": {LONGEST: {"N": "1"}}}


def test_members_of_batches_and_transactions_are_held_to_the_same_names(songs: Statements, pk: str) -> None:
    statement = songs.text(f"UPDATE {{t}} SET \"\" = 1 WHERE pk = '{pk}' AND sk = '1'")
    answer = songs.client.batch_execute_statement(Statements=[{"Statement": statement}])
    assert answer["Responses"] == [{"Error": {"Code": "ValidationError", "Message": EMPTY_COMPONENT}}]
    with pytest.raises(songs.client.exceptions.ClientError) as caught:
        songs.client.execute_transaction(TransactStatements=[{"Statement": statement}])
    assert caught.value.response["Error"] == {
        "Code": "ValidationException",
        "Message": f"Validation failed in TransactStatements[0]: {EMPTY_COMPONENT}",
    }


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT {} FROM nowhere",
        "SELECT * FROM nowhere WHERE {} = 1",
        "UPDATE nowhere SET {} = 1 WHERE pk = 'x'",
        "UPDATE nowhere REMOVE {} WHERE pk = 'x'",
        "UPDATE nowhere SET z = {} WHERE pk = 'x'",
        "DELETE FROM nowhere WHERE attribute_exists({})",
    ],
)
def test_paths_have_as_many_levels_as_documents(songs: Statements, statement: str) -> None:
    message = "The document path has too many nesting levels; nesting levels: 33"
    assert songs.invalid(statement.format("a" + ".a" * 32)) == message
    assert songs.invalid(statement.format("a" + "[0]" * 32)) == message
    code, _ = songs.refused(statement.format("a" + ".a" * 31))
    assert code == "ResourceNotFoundException"


def test_reads_do_not_look_into_keys_of_any_index(client: Any) -> None:
    table = make_table(
        client, "pk", "sk", types={"g": "S"}, GlobalSecondaryIndexes=[index("by-g", "g", projection="ALL")]
    )
    statements = Statements(client, table)
    for target in ("{t}", '{t}."by-g"'):
        for statement in (f"SELECT g.x FROM {target}", f"SELECT * FROM {target} WHERE g[0] = 1"):
            assert statements.invalid(statement) == f"{SCALARS}: IndexKey: g"
        assert statements.invalid(f"SELECT sk.x FROM {target}") == f"{SCALARS}: Key: sk"
    refusal = {"Statement": statements.text("SELECT g.x FROM {t} WHERE pk = 'x' AND sk = '1'")}
    assert invalid(client.execute_transaction, TransactStatements=[refusal]) == (
        f"Validation failed in TransactStatements[0]: {SCALARS}: IndexKey: g"
    )


def test_is_null_is_an_equality(songs: Statements, pk: str) -> None:
    songs.put(pk=pk, sk="2", z={"NULL": True})
    assert songs.keys(f"pk = '{pk}' AND z IS NULL") == ["2"]
    assert songs.keys(f"pk = '{pk}' AND z IS NOT NULL") == ["1"]
    assert songs.invalid(f"UPDATE {{t}} SET a = 1 WHERE pk = '{pk}' AND sk = '1' AND sk IS NULL") == (
        "Multiple conditions on same key sk. Only single item Update/Insert/Delete are supported"
    )
