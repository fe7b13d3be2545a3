"""Pipelines: calls of an operation pass the links that have something to do, and no others."""

from typing import Any

import pytest

from clocked import OPERATIONS
from hashrange.audit.redaction import Redaction
from hashrange.chain.audit import Audit
from hashrange.chain.authorize import Authorize
from hashrange.chain.executor import Call, Done
from hashrange.chain.links import Runner
from hashrange.chain.pipelines import Pipelines
from hashrange.clock import SystemClock


class Events:
    """Nothing is noted by these tests."""

    def append(self, event: dict[str, Any], chars: int = 0, /) -> None:
        raise NotImplementedError


def execute(call: Call, done: Done, /) -> None:
    raise NotImplementedError


def audit(*, with_data: bool = False, with_denials: bool = False) -> Audit:
    redaction = Redaction("plain", b"")
    return Audit(Events(), redaction, SystemClock(), with_data=with_data, with_denials=with_denials)


def pass_on(call: Call, done: Done, following: Runner, /) -> None:
    following(call, done)


def test_with_nothing_on_every_operation_is_run_by_the_executor_itself() -> None:
    pipelines = Pipelines(execute)
    assert pipelines.run is execute
    for operation in OPERATIONS.values():
        assert pipelines.of(operation) == (operation, execute, None, operation.shortcut)


@pytest.mark.parametrize(
    "links",
    [
        {"log": pass_on},
        {"authorize": Authorize()},
        {"recorded": pass_on},
        {"chaos": pass_on},
        {"audit": audit(with_data=True)},
    ],
    ids=lambda links: next(iter(links)),
)
def test_where_a_link_looks_at_requests_there_is_no_shortcut(links: Any) -> None:
    for name in ("PutItem", "BatchWriteItem"):
        assert OPERATIONS[name].shortcut is not None
        assert Pipelines(execute, **links).of(OPERATIONS[name]).shortcut is None
        assert Pipelines(execute, audit=audit()).of(OPERATIONS[name]).shortcut is not None


def test_data_events_that_nobody_notes_pass_no_audit() -> None:
    pipelines = Pipelines(execute, audit=audit())
    assert pipelines.of(OPERATIONS["GetItem"]).run is execute
    assert pipelines.of(OPERATIONS["CreateTable"]).run is not execute


def test_all_events_pass_the_audit_where_all_are_noted() -> None:
    pipelines = Pipelines(execute, audit=audit(with_data=True, with_denials=True))
    for operation in OPERATIONS.values():
        pipeline = pipelines.of(operation)
        assert pipeline.run is not execute
        assert pipeline.note_denial is None  # by the link, and not twice


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_denials_are_noted_by_the_link_or_by_whoever_answers(name: str) -> None:
    pipeline = Pipelines(execute, audit=audit(with_denials=True)).of(OPERATIONS[name])
    assert (pipeline.run is execute) is (pipeline.note_denial is not None)


def test_a_batch_of_statements_succeeds_with_denials_and_passes_the_audit() -> None:
    pipelines = Pipelines(execute, audit=audit(with_denials=True))
    assert pipelines.of(OPERATIONS["BatchExecuteStatement"]).run is not execute
    assert pipelines.of(OPERATIONS["GetItem"]).run is execute


def test_with_permissions_no_operation_plans_without_asking() -> None:
    pipelines = Pipelines(execute, authorize=Authorize())
    for operation in OPERATIONS.values():
        pipeline = pipelines.of(operation)
        assert pipeline.operation.handler is not operation.handler
        assert pipeline.operation.action == operation.action
        assert pipeline.run is not execute


def test_links_for_every_call_are_in_every_pipeline() -> None:
    for pipelines in (Pipelines(execute, log=pass_on), Pipelines(execute, chaos=pass_on)):
        assert pipelines.of(OPERATIONS["GetItem"]).run is not execute
