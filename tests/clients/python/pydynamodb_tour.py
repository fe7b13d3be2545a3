"""PyDynamoDB: the DB API over PartiQL with DDL of its own, and its SQLAlchemy dialect."""

from collections.abc import Sequence
from datetime import date
from typing import Any
from urllib.parse import quote_plus

import pydynamodb
from pydynamodb.error import OperationalError
from settings import ENDPOINT, KEY, REGION, SECRET, refused, unique
from sqlalchemy import (
    Column,
    MetaData,
    Numeric,
    String,
    Table,
    create_engine,
    delete,
    insert,
    inspect,
    select,
    update,
)

TABLE = unique("pydynamodb").replace("-", "_")
connection = pydynamodb.connect(
    aws_access_key_id=KEY, aws_secret_access_key=SECRET, region_name=REGION, endpoint_url=ENDPOINT
)


def rows(statement: str, parameters: Sequence[object] | None = None) -> list[Any]:
    cursor = connection.cursor()
    cursor.execute(statement, parameters)
    return list(cursor.fetchall())


def defines_table() -> None:
    rows(
        f"""CREATE TABLE {TABLE} (
            kind STRING HASH, num NUMERIC RANGE, owner STRING,
            INDEX by_owner GLOBAL (owner HASH, num RANGE) Projection.ProjectionType=ALL)
            BillingMode PAY_PER_REQUEST"""
    )
    assert TABLE in rows("SHOW TABLES")


def keeps_items() -> None:
    values: list[object] = ["cat", 1, "ann", b"ABC", {"a", "b"}, {1, 2}, [1, "two"], {"deep": {"x": 5}}]
    rows(
        f"""INSERT INTO {TABLE} VALUE {{'kind': ?, 'num': ?, 'owner': ?, 'photo': ?, 'tags': ?,
            'sizes': ?, 'meals': ?, 'nested': ?, 'born': ?}}""",
        [*values, date(2020, 2, 29)],
    )
    ((owner, photo, meal, deep),) = rows(
        f"SELECT owner, photo, meals[1], nested.deep FROM {TABLE} WHERE kind = ? AND num = ?", ["cat", 1]
    )
    assert (owner, photo, meal, deep) == ("ann", b"ABC", "two", {"x": 5})
    rows(f"UPDATE {TABLE} SET owner = ? WHERE kind = 'cat' AND num = 1", ["bob"])
    assert rows(f"SELECT owner, DATE(born) FROM {TABLE} WHERE kind = 'cat'") == [("bob", date(2020, 2, 29))]
    assert "DuplicateItem" in str(
        caught(lambda: rows(f"INSERT INTO {TABLE} VALUE {{'kind': 'cat', 'num': 1}}"))
    )
    rows(f"DELETE FROM {TABLE} WHERE kind = 'cat' AND num = 1")
    assert rows(f"SELECT * FROM {TABLE} WHERE kind = 'cat'") == []


def reads_many() -> None:
    cursor = connection.cursor()
    many = [["dog", number, f"o{number % 2}", {"deep": [number]}] for number in range(60)]
    statement = f"INSERT INTO {TABLE} VALUE {{'kind': ?, 'num': ?, 'owner': ?, 'nested': ?}}"
    refused(OperationalError, caught(lambda: cursor.executemany(statement, many)))
    for start in range(0, 60, 25):
        cursor.executemany(statement, many[start : start + 25])
    found = rows(f"SELECT num FROM {TABLE} WHERE kind = ? AND num BETWEEN ? AND ?", ["dog", 10, 39])
    assert found == [(number,) for number in range(10, 40)]
    odd = rows(f'SELECT num FROM "{TABLE}"."by_owner" WHERE owner = ? AND num > ?', ["o1", 50])
    assert odd == [(51,), (53,), (55,), (57,), (59,)]
    assert len(rows(f"SELECT num FROM {TABLE} WHERE kind = 'dog' LIMIT 7")) == 7
    deep = rows(f"SELECT nested.deep[0] FROM {TABLE} WHERE kind = ? AND num < ?", ["dog", 3])
    assert deep == [(0,), (1,), (2,)]


def runs_transactions() -> None:
    cursor = connection.cursor()
    connection.begin()
    for number in (1, 2):
        cursor.execute(f"INSERT INTO {TABLE} VALUE {{'kind': 'bird', 'num': {number}}}")
    connection.commit()
    assert len(rows(f"SELECT * FROM {TABLE} WHERE kind = 'bird'")) == 2
    connection.begin()
    cursor.execute(f"INSERT INTO {TABLE} VALUE {{'kind': 'bird', 'num': 3}}")
    cursor.execute(f"INSERT INTO {TABLE} VALUE {{'kind': 'bird', 'num': 1}}")
    refused(OperationalError, caught(connection.commit))
    assert len(rows(f"SELECT * FROM {TABLE} WHERE kind = 'bird'")) == 2


def speaks_sqlalchemy() -> None:
    engine = create_engine(
        f"dynamodb://{KEY}:{SECRET}@dynamodb.{REGION}.amazonaws.com:443?endpoint_url={quote_plus(ENDPOINT)}"
    )
    pets = Table(TABLE, MetaData(), Column("kind", String), Column("num", Numeric), Column("owner", String))
    with engine.connect() as session:
        assert inspect(engine).has_table(TABLE)
        session.execute(insert(pets).values(kind="fish", num=1, owner="eve"))
        of_fish = pets.c.kind == "fish"
        wanted = select(pets.c.owner, pets.c.num).where(of_fish, pets.c.num == 1)
        assert session.execute(wanted).one().owner == "eve"
        session.execute(update(pets).where(of_fish, pets.c.num == 1).values(owner="dan"))
        assert session.execute(wanted).one().owner == "dan"
        few = select(pets.c.num).where(pets.c.kind == "dog").limit(5)
        assert len(session.execute(few).all()) == 5
        session.execute(delete(pets).where(of_fish, pets.c.num == 1))
        assert session.execute(wanted).all() == []


def caught(call: object) -> BaseException | None:
    try:
        call()  # type: ignore[operator]
    except Exception as problem:  # noqa: BLE001 - the caller looks at it
        return problem
    return None


defines_table()
keeps_items()
reads_many()
runs_transactions()
speaks_sqlalchemy()
rows(f"DROP TABLE {TABLE}")
refused(OperationalError, caught(lambda: rows(f"SELECT * FROM {TABLE}")))
print("tour complete")
