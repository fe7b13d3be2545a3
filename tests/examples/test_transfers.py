"""examples/transfers: no cent is made or lost, no balance is below zero, and a transfer is made once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any
from uuid import uuid4

import pytest

AT = "2026-05-01T12:00:00Z"


@pytest.fixture
def module(application: Callable[[str], Any]) -> Any:
    return application("transfers")


@pytest.fixture
def bank(module: Any, examples_client: Any) -> Any:
    return module.Bank(examples_client)


def accounts(bank: Any, *balances: int) -> list[str]:
    names = [uuid4().hex for _ in balances]
    for name, balance in zip(names, balances, strict=True):
        bank.open(name, "somebody", balance)
    return names


def test_a_transfer_that_is_sent_again_moves_nothing(bank: Any) -> None:
    (source, target), transfer = accounts(bank, 100, 0), uuid4().hex
    assert [bank.transfer(transfer, source, target, 60, AT) for _ in range(2)] == [True, False]
    assert (bank.balance(source), bank.balance(target)) == (40, 60)
    assert (bank.statement(source), bank.statement(target)) == ([(AT, -60)], [(AT, 60)])
    with pytest.raises(ValueError, match="another transfer"):
        bank.transfer(transfer, source, target, 10, AT)


def test_a_balance_does_not_fall_below_zero(module: Any, bank: Any) -> None:
    source, target = accounts(bank, 100, 0)
    with pytest.raises(module.NotEnough):
        bank.transfer(uuid4().hex, source, target, 101, AT)
    assert (bank.balance(source), bank.statement(source), bank.statement(target)) == (100, [], [])
    assert bank.transfer(uuid4().hex, source, target, 100, AT)
    assert bank.balance(source) == 0


def test_money_does_not_go_to_an_account_that_is_not_there(module: Any, bank: Any) -> None:
    (source,) = accounts(bank, 100)
    with pytest.raises(module.NoAccount):
        bank.transfer(uuid4().hex, source, "nobody", 1, AT)
    assert bank.balance(source) == 100


@pytest.mark.parametrize("amount", [0, -5])
def test_a_transfer_does_not_take_money_from_its_target(bank: Any, amount: int) -> None:
    source, target = accounts(bank, 100, 100)
    with pytest.raises(ValueError, match="at least one cent"):
        bank.transfer(uuid4().hex, source, target, amount, AT)


def test_transfers_at_the_same_time_keep_the_sum(module: Any, bank: Any) -> None:
    names = accounts(bank, 50, 50, 50)

    def move(number: int) -> None:
        source, target = names[number % 3], names[(number + 1 + number // 3 % 2) % 3]
        with suppress(module.NotEnough):
            bank.transfer(f"{names[0]}-{number}", source, target, 20, AT)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(move, range(24)))
    balances = [bank.balance(name) for name in names]
    assert sum(balances) == 150
    assert min(balances) >= 0
    for name, balance in zip(names, balances, strict=True):
        assert 50 + sum(amount for _, amount in bank.statement(name)) == balance
