"""Links around an executor: each sees the call on its way in and the result on its way out."""

from typing import Any

import pytest

from calls import fake_call, noted, real_call, value_of
from clocked import Clocked
from hashrange.api.errors import ApiError
from hashrange.api.items.get_item import GetItem
from hashrange.api.protocol.plan import Answer, Plan
from hashrange.api.results import Result
from hashrange.chain import log as request_log
from hashrange.chain.executor import Call, Done, LocalExecutor
from hashrange.chain.links import Link, Runner, chained
from hashrange.chain.log import log_request
from new_tables import request as new_table

REFUSAL = ApiError("AccessDeniedException", "not you")


@pytest.fixture
def service() -> Clocked:
    service = Clocked()
    service.call("CreateTable", **new_table("pk", TableName="tab"))
    service.settle()
    return service


def run(runner: Runner, call: Call) -> tuple[Result | None, BaseException | None]:
    outcomes: list[tuple[Result | None, BaseException | None]] = []
    runner(call, lambda result, error: outcomes.append((result, error)))
    (outcome,) = outcomes
    return outcome


def named(name: str, trace: list[str]) -> Link:
    """A link that notes when it is passed, both ways."""

    def link(call: Call, done: Done, following: Runner, /) -> None:
        trace.append(f"{name} in")

        def ended(result: Result | None, error: BaseException | None) -> None:
            trace.append(f"{name} out")
            done(result, error)

        following(call, ended)

    return link


def refuse(_call: Call, done: Done, _following: Runner, /) -> None:
    done(None, REFUSAL)


def answer(_context: Any, _request: Any) -> Plan:
    return Answer(noted("answered"))


def test_without_links_the_executor_itself_is_run(service: Clocked) -> None:
    executor_run = service.executor.run
    assert chained(executor_run) is executor_run
    assert chained(executor_run, None, None) is executor_run


def test_the_first_link_is_outermost(service: Clocked) -> None:
    trace: list[str] = []
    runner = chained(service.executor.run, named("first", trace), None, named("second", trace))
    assert value_of(run(runner, fake_call(None, answer))) == "answered"
    assert trace == ["first in", "second in", "second out", "first out"]


def test_a_link_that_refuses_hands_nothing_on(service: Clocked) -> None:
    trace: list[str] = []
    runner = chained(service.executor.run, named("outer", trace), refuse, named("inner", trace))
    planned: list[Any] = []

    def handler(_context: Any, request: Any) -> Plan:
        planned.append(request)
        return answer(None, None)

    assert run(runner, fake_call(None, handler)) == (None, REFUSAL)
    assert trace == ["outer in", "outer out"]
    assert planned == []


def test_a_link_sees_the_typed_request_and_the_charges_of_its_result(service: Clocked) -> None:
    service.call("PutItem", TableName="tab", Item={"pk": {"S": "a"}, "v": {"S": "x" * 5000}})
    seen: list[Any] = []

    def charge(call: Call, done: Done, following: Runner, /) -> None:
        assert isinstance(call.request, GetItem)
        seen.append((call.request.table_name, call.operation.kind, *call.operation.resources(call.request)))

        def ended(result: Result | None, error: BaseException | None) -> None:
            assert result is not None
            seen.extend((charge.table.name, charge.units, charge.write) for charge in result.charges())
            done(result, error)

        following(call, ended)

    runner = chained(service.executor.run, charge)
    run(runner, real_call(service, "GetItem", TableName="tab", Key={"pk": {"S": "a"}}))
    assert seen == [("tab", "read", "tab"), ("tab", 1.0, False)]


def test_a_link_sees_a_request_that_does_not_decode_and_the_error(service: Clocked) -> None:
    seen: list[Any] = []

    def look(call: Call, done: Done, following: Runner, /) -> None:
        seen.append(call.request)

        def ended(result: Result | None, error: BaseException | None) -> None:
            seen.append((result, type(error)))
            done(result, error)

        following(call, ended)

    runner = chained(service.executor.run, look)
    _, error = run(runner, real_call(service, "GetItem", TableName=["tab"]))
    assert isinstance(error, ApiError)
    assert error.code == "SerializationException"
    assert seen == [None, (None, ApiError)]


class Recorder:
    """Stands in for the log."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def debug(self, message: str, **fields: Any) -> None:
        self.lines.append((message, fields))


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    recorder = Recorder()
    monkeypatch.setattr(request_log, "log", recorder)
    return recorder


def test_the_log_says_what_a_request_came_to_and_what_it_cost(service: Clocked, recorder: Recorder) -> None:
    runner = chained(service.executor.run, log_request)
    item = {"pk": {"S": "a"}, "v": {"S": "x" * 1500}}
    result, _ = run(runner, real_call(service, "PutItem", TableName="tab", Item=item))
    assert result is not None
    ((message, fields),) = recorder.lines
    assert fields.pop("ms") >= 0
    assert (message, fields) == (
        "request.answered",
        {"operation": "PutItem", "status": 200, "error": None, "units": 2.0},
    )


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (REFUSAL, 400, "AccessDeniedException"),
        (ApiError("ThrottlingException", None, status=429), 429, "ThrottlingException"),
        (RuntimeError("a bug"), 500, "InternalServerError"),
    ],
)
def test_the_log_has_the_code_that_the_client_gets(
    service: Clocked, recorder: Recorder, error: Exception, status: int, code: str
) -> None:
    def fail(_context: Any, _request: Any) -> Plan:
        raise error

    runner = chained(LocalExecutor(service.engine).run, log_request)
    assert run(runner, fake_call(None, fail)) == (None, error)
    ((_, fields),) = recorder.lines
    assert (fields["status"], fields["error"], fields["units"]) == (status, code, None)
