"""Unique constraints: no two items share a value, and no value is lost."""

from typing import Any

import pytest

from faulty_client import InterruptedRunner, StillRunner, survives
from hashrange.patterns import AlreadyExists, NotFound, Table, Taken, UniqueConstraint
from hashrange.patterns.values import Item
from item_tables import unique


@pytest.fixture
def users(table: Table) -> UniqueConstraint:
    return UniqueConstraint(table, ("email", "name"))


def user(table: Table, key: str, **fields: str) -> Item:
    return {**table.key(f"USER#{key}", "USER"), **fields}


def test_a_value_belongs_to_one_item(table: Table, users: UniqueConstraint, runner: StillRunner) -> None:
    one, email = unique(), unique()
    runner.run(users.create(user(table, one, email=email, name=one)))
    with pytest.raises(Taken) as caught:
        runner.run(users.create(user(table, unique(), email=email, name=unique())))
    assert (caught.value.field, caught.value.value) == ("email", email)
    with pytest.raises(AlreadyExists):
        runner.run(users.create(user(table, one, email=unique())))
    assert runner.run(users.owner("email", email)) == table.key(f"USER#{one}", "USER")


def test_a_replacement_gives_up_the_old_value(
    table: Table, users: UniqueConstraint, runner: StillRunner
) -> None:
    one, two, old, new = (unique() for _ in range(4))
    runner.run(users.create(user(table, one, email=old)))
    runner.run(users.replace(user(table, one, email=new, name=one)))
    runner.run(users.create(user(table, two, email=old)))
    with pytest.raises(Taken):
        runner.run(users.replace(user(table, two, email=new)))
    assert runner.run(users.owner("email", old)) == table.key(f"USER#{two}", "USER")
    runner.run(users.delete(table.key(f"USER#{one}", "USER")))
    runner.run(users.delete(table.key(f"USER#{one}", "USER")))
    runner.run(users.replace(user(table, two, email=new)))
    with pytest.raises(NotFound):
        runner.run(users.replace(user(table, one, email=unique())))


def test_long_values_and_short_ones_that_look_like_them(
    table: Table, users: UniqueConstraint, runner: StillRunner
) -> None:
    long = unique() + "x" * 3_000
    runner.run(users.create(user(table, unique(), email=long)))
    with pytest.raises(Taken):
        runner.run(users.create(user(table, unique(), email=long)))
    assert users._key("email", "x" * 1_024)["pk"] == "UNIQUE#email#" + "x" * 1_024
    assert users._key("email", "x" * 1_025)["pk"].startswith("UNIQUE-DIGEST#email#")


@pytest.mark.parametrize("fields", [(), ("e-mail",), ("pk",), tuple(f"f{number}" for number in range(50))])
def test_fields_that_cannot_be_unique(table: Table, fields: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="unique"):
        UniqueConstraint(table, fields)


def test_most_fields_at_once_and_values_that_are_no_text(table: Table, runner: StillRunner) -> None:
    fields = tuple(f"f{number}" for number in range(49))
    many, name = UniqueConstraint(table, fields), unique()
    runner.run(many.create(user(table, name, **{field: name + field for field in fields})))
    runner.run(many.replace(user(table, name, **{field: name + field.upper() for field in fields})))
    assert runner.run(many.owner("f48", f"{name}F48")) == table.key(f"USER#{name}", "USER")
    with pytest.raises(TypeError, match="f0 is no text"):
        runner.run(many.create({**table.key(unique(), "x"), "f0": 5}))


def test_items_and_their_values_agree_whatever_goes_wrong(
    client: Any, table: Table, users: UniqueConstraint, runner: StillRunner
) -> None:
    name = unique()

    def work(faulty: StillRunner) -> None:
        faulty.run(users.create(user(table, name, email=name), token=name))
        faulty.run(users.replace(user(table, name, email=name + "new")))

    for _ in survives(client, work):
        assert runner.run(users.owner("email", name)) is None
        assert runner.run(users.owner("email", name + "new")) == table.key(f"USER#{name}", "USER")
        name = unique()


def test_who_loses_a_race_gives_up_the_values_that_are_there_by_then(
    client: Any, table: Table, users: UniqueConstraint, runner: StillRunner
) -> None:
    name = unique()
    key = table.key(f"USER#{name}", "USER")
    for replaced in (True, False):
        runner.run(users.create(user(table, name, email=name)))
        rival = users.replace(user(table, name, email=name + "rival"))
        with InterruptedRunner(client, "transact_write_items", lambda rival=rival: runner.run(rival)) as slow:
            slow.run(users.replace(user(table, name, email=name + "slow")) if replaced else users.delete(key))
        for value in (name, name + "rival"):
            assert runner.run(users.owner("email", value)) is None
        assert runner.run(users.owner("email", name + "slow")) == (key if replaced else None)
        runner.run(users.delete(key))


def test_a_deletion_leaves_nothing_whatever_goes_wrong(
    client: Any, table: Table, users: UniqueConstraint, runner: StillRunner
) -> None:
    name = unique()
    runner.run(users.create(user(table, name, email=name)))

    def work(faulty: StillRunner) -> None:
        faulty.run(users.delete(table.key(f"USER#{name}", "USER")))

    for _ in survives(client, work):
        assert runner.run(users.owner("email", name)) is None
        assert runner.run(table.get(table.key(f"USER#{name}", "USER"))) is None
        name = unique()
        runner.run(users.create(user(table, name, email=name)))
