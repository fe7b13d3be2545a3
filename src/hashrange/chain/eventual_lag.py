"""Reads that lag: with --eventual-lag, what need not be strongly consistent is read as it was some time ago."""

from copy import copy
from functools import partial
from typing import Any

import msgspec

from hashrange.api.context import Context
from hashrange.api.protocol.operation import Operation, Service
from hashrange.api.protocol.plan import Plan, Read
from hashrange.api.protocol.structures import Request
from hashrange.api.results import Result
from hashrange.storage.engine import Reader
from hashrange.storage.past import PastReader


def lagging(service: Service, lag_seconds: float) -> Service:
    """The service with operations that read the past where they may; without a lag it is what it was."""
    if not lag_seconds:
        return service
    operations = {name: _lagging(operation, lag_seconds) for name, operation in service.operations.items()}
    return msgspec.structs.replace(service, operations=operations)


def _lagging(operation: Operation[Any], lag_seconds: float) -> Operation[Any]:
    prompt = operation.handler

    def handler(context: Context, request: Request) -> Plan:
        plan = prompt(context, request)
        if not isinstance(plan, Read) or not (plan.eventual or plan.mixed is not None):
            return plan
        moment_us = int((context.clock.now() - lag_seconds) * 1_000_000)
        # Nobody knows beforehand which rows of the past there are, hence no hints.
        return msgspec.structs.replace(plan, step=partial(_read, plan, moment_us), reads=())

    lagging_operation = copy(operation)
    lagging_operation.handler = handler
    return lagging_operation


def _read(plan: Read, moment_us: int, reader: Reader) -> Result:
    past = PastReader(reader, moment_us)
    return plan.step(past) if plan.mixed is None else plan.mixed(reader, past)
