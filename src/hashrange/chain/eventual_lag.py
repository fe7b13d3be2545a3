"""Reads that lag: what need not be strongly consistent is read as it was some time ago.

--eventual-lag says how long ago; in a server for tests, tests say so for their accounts.
"""

from copy import copy
from functools import partial
from typing import Any, NamedTuple

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.operation import Operation, Service
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Result
from hashrange.storage.engine import Reader
from hashrange.storage.past import PastReader

ACCOUNTS_MAX = 1000


class TooManyLags(Exception):
    """There are as many accounts with a lag of their own as there may be."""


class _Lag(NamedTuple):
    seconds: float
    since: float  # what was written before that is seen at once


class Lags:
    """How far reads are behind, by account."""

    def __init__(self, usual_seconds: float) -> None:
        self._usual = _Lag(usual_seconds, float("-inf"))
        self._by_account: dict[str, _Lag] = {}

    def moment(self, account_id: str, now: float) -> float:
        """The moment as of which an account reads."""
        lag = self._by_account.get(account_id, self._usual)
        return max(now - lag.seconds, min(lag.since, now))

    @property
    def any(self) -> bool:
        """Whether anybody's reads lag, so that writes have to keep what they replace."""
        return bool(self._usual.seconds or self._by_account)

    def set(self, account_id: str, seconds: float, now: float) -> None:
        """Give an account a lag of its own; with 0 it has the usual one."""
        if not seconds:
            self._by_account.pop(account_id, None)
        elif account_id not in self._by_account and len(self._by_account) >= ACCOUNTS_MAX:
            raise TooManyLags
        else:
            self._by_account[account_id] = _Lag(seconds, now)


def lagging(service: Service, lags: Lags) -> Service:
    """The service with operations that read the past where they may."""
    operations = {name: _lagging(operation, lags) for name, operation in service.operations.items()}
    return msgspec.structs.replace(service, operations=operations)


def _lagging(operation: Operation[Any], lags: Lags) -> Operation[Any]:
    prompt = operation.handler

    def handler(context: Context, request: Request) -> Plan:
        plan = prompt(context, request)
        if not isinstance(plan, Read) or not (plan.eventual or plan.mixed is not None):
            return plan
        now = context.clock.now()
        moment = lags.moment(context.account_id, now)
        if moment == now:
            return plan
        moment_us = int(moment * 1_000_000)
        # Nobody knows beforehand which rows of the past there are, hence no hints.
        return msgspec.structs.replace(plan, step=partial(_read, plan, moment_us), reads=())

    lagging_operation = copy(operation)
    lagging_operation.handler = handler
    return lagging_operation


def _read(plan: Read, moment_us: int, reader: Reader) -> Result:
    past = PastReader(reader, moment_us)
    return plan.step(past) if plan.mixed is None else plan.mixed(reader, past)
