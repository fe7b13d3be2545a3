"""ExecuteStatement, writing: INSERT, UPDATE and DELETE, what they return, and what they refuse."""

from typing import Any

import pytest

from item_tables import refused, unique
from partiql_calls import WELL_FORMED, Statements

VALUES = "One or more parameter values were invalid: "
WRONG_TYPE = "Incorrect operand type for operator or function; operator or function: "
CHECK_FAILED = ("ConditionalCheckFailedException", "The conditional request failed")
DUPLICATE = ("DuplicateItemException", "Duplicate primary key exists in table")
OVERLAP = (
    "Two document paths overlap with each other; must remove or rewrite one of these paths; "
    "path one: [m], path two: [m, x]"
)
EMPTY_KEY = (
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain "
    "an empty string value. Key: pk"
)
TOO_DEEP = "Nesting Levels have exceeded supported limits"


@pytest.fixture(scope="module")
def songs(client: Any, range_table: str) -> Statements:
    return Statements(client, range_table)


@pytest.fixture
def pk(songs: Statements) -> str:
    """The partition of one item with sort key 1."""
    name = unique()
    songs.put(
        pk=name,
        sk="1",
        n={"N": "5"},
        flag="x",
        l={"L": [{"S": "a"}, {"S": "b"}, {"S": "c"}]},
        m={"M": {"x": {"N": "1"}}},
        s={"SS": ["a", "b"]},
    )
    return name


def where(pk: str) -> str:
    return f"WHERE pk = '{pk}' AND sk = '1'"


def test_insert_makes_an_item_of_literals(songs: Statements) -> None:
    pk = unique()
    answer = songs.run(
        f"INSERT INTO {{t}} value {{'pk': '{pk}', 'sk': '1', 'n': 1E3, 'f': -1.5e-3, 'z': 2.50, 'zero': -0, "
        "'m' : {'a': 'value', 'b': 4}, 'l': [1, 'x', [true, null]], 'ns': <<1, 34, 32, 4.5>>, "
        "'ss': <<'b', 'a'>>, 'q': 'it''s'}"
    )
    assert answer == {"Items": []}
    assert songs.get(pk=pk, sk="1") == {
        "pk": {"S": pk},
        "sk": {"S": "1"},
        "n": {"N": "1000"},
        "f": {"N": "-0.0015"},
        "z": {"N": "2.5"},
        "zero": {"N": "0"},
        "m": {"M": {"a": {"S": "value"}, "b": {"N": "4"}}},
        "l": {"L": [{"N": "1"}, {"S": "x"}, {"L": [{"BOOL": True}, {"NULL": True}]}]},
        "ns": {"NS": ["1", "4.5", "32", "34"]},
        "ss": {"SS": ["a", "b"]},
        "q": {"S": "it's"},
    }


def test_insert_takes_parameters(songs: Statements) -> None:
    pk = unique()
    parameters = [{"S": pk}, {"B": b"\x00\xff"}, {"M": {"a": {"L": [{"N": "1.0"}]}}}]
    songs.run("INSERT INTO {t} VALUE {'pk': ?, 'sk': '1', 'b': ?, 'm': ?}", *parameters)
    found = songs.get(pk=pk, sk="1")
    assert found is not None
    assert (found["b"], found["m"]) == ({"B": b"\x00\xff"}, {"M": {"a": {"L": [{"N": "1"}]}}})


def test_insert_is_not_an_upsert(songs: Statements, pk: str) -> None:
    statement = f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '1'}}"
    assert songs.refused(statement) == DUPLICATE
    found = songs.get(pk=pk, sk="1")
    assert found is not None
    assert found["n"] == {"N": "5"}


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("{'pk': 'x'}", VALUES + "Missing the key sk in the item"),
        ("{'pk': 'x', 'sk': 1}", VALUES + "Type mismatch for key sk expected: S actual: N"),
        (
            "{'pk': '', 'sk': '1'}",
            EMPTY_KEY,
        ),
        ("{'pk': 'x', 'sk': '1', '': 1}", "Path component cannot be an empty string"),
        ("{'pk': 'x', 'sk': '1', 's': <<>>}", "Empty bags are not supported"),
        (
            "{'pk': 'x', 'sk': '1', 's': <<1, true>>}",
            "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags",
        ),
        (
            "{'pk': 'x', 'sk': '1', 's': <<2, 2.0>>}",
            VALUES + "Input collection [2, 2.0] contains duplicates! under root",
        ),
    ],
)
def test_items_that_insert_refuses(songs: Statements, item: str, message: str) -> None:
    assert songs.invalid(f"INSERT INTO {{t}} VALUE {item}") == message


def test_a_parameter_cannot_stand_inside_a_literal(songs: Statements) -> None:
    update = songs.text("UPDATE {t} SET x = ")
    assert songs.invalid(update + "[?] " + where("x"), {"S": "v"}) == (
        f"Unsupported data type: Parameter under key root[0] at 1:{len(update) + 2}:1"
    )
    insert = songs.text("INSERT INTO {t} VALUE {'pk': 'x', 'sk': '1', 'm': {'k': ?}}")
    assert songs.invalid(insert, {"S": "v"}) == (
        f"Unsupported data type: Parameter under key root.k at 1:{insert.index('?') + 1}:1"
    )


def test_literals_nest_31_levels(songs: Statements) -> None:
    pk = unique()
    update = "UPDATE {t} SET d = "
    deep = "{'a':" * 32 + "1" + "}" * 32
    assert songs.invalid(update + deep + where("x")) == f"{TOO_DEEP} under root" + ".a" * 32
    mixed = "{'a':" + "[" * 31 + "1" + "]" * 31 + "}"
    assert songs.invalid(update + mixed + where("x")) == f"{TOO_DEEP} under root.a" + "[0]" * 31
    fits = "{'a':" * 31 + "1" + "}" * 31
    songs.run(f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '1', 'd': {fits}}}")


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"S": "x"}
    for _ in range(levels):
        value = {"M": {"a": value}}
    return value


def test_parameters_may_be_too_deep_for_where_they_land(songs: Statements, pk: str) -> None:
    assert songs.invalid(f"UPDATE {{t}} SET m.deep = ? {where(pk)}", nested(31)) == TOO_DEEP
    songs.run(f"UPDATE {{t}} SET deep = ? {where(pk)}", nested(31))
    assert songs.invalid(f"UPDATE {{t}} SET deep = ? {where(pk)}", nested(32)) == TOO_DEEP
    assert songs.invalid("INSERT INTO {t} VALUE {'pk': 'x', 'sk': '1', 'd': ?}", nested(32)) == TOO_DEEP
    assert songs.invalid(f"UPDATE {{t}} SET deep = ? {where(pk)}", nested(33)) == (
        f"{TOO_DEEP}: Attributes in the item have nested levels beyond supported limit"
    )


@pytest.mark.parametrize(
    ("actions", "name", "value"),
    [
        ("SET n = n + 1", "n", {"N": "6"}),
        ("SET n=n-1", "n", {"N": "4"}),
        ("SET n = n - - 2", "n", {"N": "7"}),
        ("SET n = 10 - n", "n", {"N": "5"}),
        ("SET fresh = flag", "fresh", {"S": "x"}),
        (
            "SET m.y = [2020, 'text', 2.4]",
            "m",
            {"M": {"x": {"N": "1"}, "y": {"L": [{"N": "2020"}, {"S": "text"}, {"N": "2.4"}]}}},
        ),
        ("SET l[1] = 'B'", "l", {"L": [{"S": "a"}, {"S": "B"}, {"S": "c"}]}),
        ("SET l[9] = 'd'", "l", {"L": [{"S": "a"}, {"S": "b"}, {"S": "c"}, {"S": "d"}]}),
        (
            "SET l = LIST_APPEND(l, [4, <<'s'>>])",
            "l",
            {"L": [{"S": "a"}, {"S": "b"}, {"S": "c"}, {"N": "4"}, {"SS": ["s"]}]},
        ),
        ("SET l = list_append([0], l)", "l", {"L": [{"N": "0"}, {"S": "a"}, {"S": "b"}, {"S": "c"}]}),
        ("SET s = set_add(s, <<'c', 'a'>>)", "s", {"SS": ["a", "b", "c"]}),
        ("SET fresh = SET_ADD(fresh, <<1>>)", "fresh", {"NS": ["1"]}),
        ("SET s = set_delete(s, <<'a'>>)", "s", {"SS": ["b"]}),
        ("SET s = set_delete(s, <<'a', 'b'>>)", "s", None),
        ("SET c = if_not_exists(c, 1) + 2", "c", {"N": "3"}),
        ("SET n = if_not_exists(n, 1)", "n", {"N": "5"}),
        ("REMOVE flag", "flag", None),
        ("REMOVE l[0] REMOVE l[2]", "l", {"L": [{"S": "b"}]}),
        ("REMOVE m.x", "m", {"M": {}}),
        ("SET a = 1, b = 2 REMOVE flag SET c = 3", "c", {"N": "3"}),
        ('SET "select" = true', "select", {"BOOL": True}),
    ],
)
def test_an_update(songs: Statements, pk: str, actions: str, name: str, value: Any) -> None:
    assert songs.run(f"UPDATE {{t}} {actions} {where(pk)}") == {"Items": []}
    found = songs.get(pk=pk, sk="1")
    assert found is not None
    assert found.get(name) == value


def test_an_update_can_start_with_from(songs: Statements, pk: str) -> None:
    songs.run(f"FROM {{t}} {where(pk)} SET a = 1 REMOVE flag")
    found = songs.get(pk=pk, sk="1")
    assert found is not None
    assert found["a"] == {"N": "1"}
    assert "flag" not in found


def test_an_update_needs_its_item_and_its_condition(songs: Statements, pk: str) -> None:
    assert songs.refused(f"UPDATE {{t}} SET a = 1 {where('ghost')}") == CHECK_FAILED
    assert songs.get(pk="ghost", sk="1") is None
    assert songs.refused(f"UPDATE {{t}} SET a = 1 {where(pk)} AND flag = 'y'") == CHECK_FAILED
    assert songs.refused(f"UPDATE {{t}} SET a = 1 {where(pk)} AND attribute_exists(nope)") == CHECK_FAILED
    songs.run(f"UPDATE {{t}} SET a = 1 WHERE (pk = '{pk}' AND sk = '1') AND flag = 'x' AND pk = '{pk}'")


def test_a_failed_condition_can_show_the_item(client: Any, songs: Statements, pk: str) -> None:
    for statement in (
        f"UPDATE {{t}} SET a = 1 {where(pk)} AND n = 0",
        f"DELETE FROM {{t}} {where(pk)} AND n = 0",
    ):
        for option, shown in (("ALL_OLD", True), ("NONE", False)):
            with pytest.raises(client.exceptions.ConditionalCheckFailedException) as caught:
                songs.run(statement, ReturnValuesOnConditionCheckFailure=option)
            assert ("Item" in caught.value.response) is shown


def test_delete(songs: Statements, pk: str) -> None:
    assert songs.refused(f"DELETE FROM {{t}} {where(pk)} AND n = 0") == CHECK_FAILED
    assert songs.run(f"DELETE FROM {{t}} {where(pk)} AND n = 5") == {"Items": []}
    assert songs.get(pk=pk, sk="1") is None
    assert songs.run(f"DELETE FROM {{t}} {where(pk)}") == {"Items": []}
    assert songs.run(f"DELETE FROM {{t}} {where(pk)} AND n = 5") == {"Items": []}


@pytest.mark.parametrize(
    ("actions", "which", "returned"),
    [
        ("SET n = 6", "ALL OLD", {"n": {"N": "5"}, "flag": {"S": "x"}}),
        ("SET n = 6", "ALL NEW", {"n": {"N": "6"}, "flag": {"S": "x"}}),
        ("SET n = 6, fresh = 1", "MODIFIED OLD", {"n": {"N": "5"}}),
        ("SET n = 6, fresh = 1", "MODIFIED NEW", {"n": {"N": "6"}, "fresh": {"N": "1"}}),
        ("SET m.x = 2", "MODIFIED NEW", {"m": {"M": {"x": {"N": "2"}}}}),
        ("SET l[2] = 'C', l[0] = 'A'", "MODIFIED NEW", {"l": {"L": [{"S": "A"}, {"S": "C"}]}}),
        ("SET l[2] = 'C', l[0] = 'A'", "MODIFIED OLD", {"l": {"L": [{"S": "a"}, {"S": "c"}]}}),
        ("SET l[9] = 'd'", "MODIFIED NEW", None),
        ("REMOVE flag", "MODIFIED NEW", None),
        ("SET fresh = 1", "MODIFIED OLD", None),
    ],
)
def test_returning(songs: Statements, pk: str, actions: str, which: str, returned: Any) -> None:
    found = songs.items(f"UPDATE {{t}} {actions} {where(pk)} RETURNING {which} *")
    if returned is None:
        assert found == []
    elif which.startswith("ALL"):
        assert found[0].items() >= returned.items()
        assert len(found[0]) == 7
    else:
        assert found == [returned]


def test_delete_returns_the_old_item_only(songs: Statements, pk: str) -> None:
    for which in ("ALL NEW", "MODIFIED OLD", "MODIFIED NEW"):
        assert songs.invalid(f"DELETE FROM {{t}} {where(pk)} RETURNING {which} *") == (
            f"Invalid returning clause: RETURNING {which} *. "
            "Only RETURNING ALL OLD * is allowed in DELETE statements."
        )
    old = songs.get(pk=pk, sk="1")
    assert songs.items(f"DELETE FROM {{t}} {where(pk)} RETURNING ALL OLD *") == [old]
    assert songs.items(f"DELETE FROM {{t}} {where(pk)} RETURNING ALL OLD *") == []


@pytest.mark.parametrize("write", ["UPDATE {t} SET a = 1", "DELETE FROM {t}"])
def test_writes_name_one_item(songs: Statements, pk: str, write: str) -> None:
    unnamed = "Where clause does not contain a mandatory equality on all key attributes"
    for rest in (
        "",
        "WHERE flag = 'x'",
        f"WHERE pk = '{pk}'",
        f"WHERE pk IN ['{pk}'] AND sk = '1'",
        f"WHERE pk = '{pk}' AND sk > '0'",
        f"{where(pk)} OR a = 1",
    ):
        assert songs.invalid(f"{write} {rest}") == unnamed
    assert songs.invalid(f"{write} {where(pk)} AND pk = 'other'") == (
        "Multiple conditions on same key pk. Only single item Update/Insert/Delete are supported"
    )
    assert songs.invalid(f"{write} WHERE pk = '{pk}' AND sk = 1") == (
        "The provided key element does not match the schema"
    )


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ("SET n = 'a' + 1", WRONG_TYPE + "+, operand type: S"),
        ("SET n = n - null", WRONG_TYPE + "-, operand type: NULL"),
        ("SET l = list_append(l, 1)", WRONG_TYPE + "list_append, operand type: N"),
        ("SET pk = 'y'", VALUES + "Cannot update attribute pk. This attribute is part of the key"),
        ("REMOVE sk", VALUES + "Cannot update attribute sk. This attribute is part of the key"),
        (
            "SET a = nope + 1",
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            "SET a = list_append(nope, [1])",
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        ("SET s = set_add(s, <<1>>)", "An operand in the update expression has an incorrect data type"),
        ("SET n = flag + 1", "An operand in the update expression has an incorrect data type"),
        ("SET none.path = 1", "The document path provided in the update expression is invalid for update"),
        (
            "SET m = 1, m.x = 2",
            OVERLAP,
        ),
        ("SET s = set_add(s, <<'b', 'b'>>)", VALUES + "Input collection [b, b] contains duplicates."),
        ("SET l[-1] = 1", "List index is not within the allowable range; index: [-1] at 1:{l}:1"),
        ("SET", WELL_FORMED + "Expected identifier for simple path"),
        ("", WELL_FORMED + "Expected data manipulation"),
    ],
)
def test_updates_that_are_refused(songs: Statements, pk: str, actions: str, message: str) -> None:
    expected = message.replace("{l}", str(len(songs.text("UPDATE {t} SET l[-")) + 1))
    assert songs.invalid(f"UPDATE {{t}} {actions} {where(pk)}") == expected


def test_set_functions_say_where_they_are_misused(songs: Statements, pk: str) -> None:
    prefix = songs.text("UPDATE {t} SET Other = ")
    assert songs.invalid(f"{prefix}set_add(s, <<'x'>>) {where(pk)}") == (
        f"The first argument to SET_ADD must equal the assignment value at 1:{len(prefix) + 1}:7"
    )
    prefix = "UPDATE {t}\nSET members = set_add("
    assert songs.invalid(f"{prefix}members, 'x')\n{where(pk)}") == (
        "The second argument to SET_ADD must be a value with type SET at 2:23:7"
    )
    prefix = songs.text('UPDATE {t} SET "s" = set_delete(')
    assert songs.invalid(f"{prefix}\"s\", ['x']) {where(pk)}") == (
        f"The second argument to SET_DELETE must be a value with type SET at 1:{len(prefix) + 1}:3"
    )
    assert songs.invalid(f'{prefix}"s", ?) {where(pk)}', {"S": "x"}) == (
        f"The second argument to SET_DELETE must be a value with type SET at 1:{len(prefix) + 1}:3"
    )


def test_operands_are_checked_before_the_condition(songs: Statements, pk: str) -> None:
    assert songs.invalid(f"UPDATE {{t}} SET n = 'a' + 1 {where(pk)} AND nope = 'x'").startswith(WRONG_TYPE)


def test_writes_go_to_tables_not_to_indexes(songs: Statements) -> None:
    for statement in (
        f'UPDATE {{t}}."i" SET a = 1 {where("x")}',
        f'DELETE FROM {{t}}."i" {where("x")}',
        f'UPDATE nowhere."i" SET a = 1 {where("x")}',
    ):
        assert songs.invalid(statement) == "This operation is not supported on an index"
    assert songs.invalid("INSERT INTO {t}.\"i\" VALUE {'pk': 'x', 'sk': '1'}") == (
        "FROM clause may only contain a single table name in data manipulation statements at "
        f"1:13:{len(songs.table) + 2}"
    )


def test_unknown_tables(client: Any) -> None:
    for statement in (
        "INSERT INTO nowhere VALUE {'pk': 'x'}",
        "UPDATE nowhere SET a = 1 WHERE pk = 'x'",
        "DELETE FROM nowhere WHERE pk = 'x'",
    ):
        assert refused(client.execute_statement, Statement=statement) == (
            "ResourceNotFoundException",
            "Requested resource not found",
        )


def test_the_finished_item_is_measured_flat(songs: Statements) -> None:
    pk = unique()
    name_bytes = len("pk" + "sk" + "v") + len(pk) + 1
    fits = {"S": "v" * (409600 - name_bytes)}
    songs.run(f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '1', 'v': ?}}", fits)
    songs.run(f"UPDATE {{t}} SET v = ? {where(pk)}", fits)
    over = {"S": fits["S"] + "v"}
    assert songs.invalid(f"UPDATE {{t}} SET v = ? {where(pk)}", over) == (
        "Item size to update has exceeded the maximum allowed size"
    )
    assert songs.invalid(f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '1', 'v': ?}}", over) == (
        "Item size has exceeded the maximum allowed size"
    )


def test_capacity_of_writes(client: Any, indexed_table: str) -> None:
    songs = Statements(client, indexed_table)
    pk = unique()
    units = songs.run(
        f"INSERT INTO {{t}} VALUE {{'pk': '{pk}', 'sk': '1', 'g': 'x', 'n': 1}}",
        ReturnConsumedCapacity="INDEXES",
    )["ConsumedCapacity"]
    assert units["CapacityUnits"] == 5.0
    assert units["Table"] == {"CapacityUnits": 1.0}
    assert set(units["GlobalSecondaryIndexes"]) == {"global-all", "global-keys", "global-some", "global-hash"}
    assert "WriteCapacityUnits" not in units
    gone = songs.run(f"DELETE FROM {{t}} {where('absent')}", ReturnConsumedCapacity="TOTAL")
    assert gone["ConsumedCapacity"] == {"TableName": indexed_table, "CapacityUnits": 1.0}
