"""The chain's last word on a request: a line in the log with what was wanted, what came of it and what it cost."""

import time

from hashrange import logs
from hashrange.api.errors import as_api_error
from hashrange.api.results import Result
from hashrange.chain.executor import Call, Done
from hashrange.chain.links import Runner

log = logs.Log("requests")


def log_request(call: Call, done: Done, following: Runner, /) -> None:
    """Note how a call ends."""
    began = time.monotonic()

    def ended(result: Result | None, error: BaseException | None) -> None:
        failure = None if error is None else as_api_error(error)
        log.debug(
            "request.answered",
            operation=call.operation.name,
            status=200 if failure is None else failure.status,
            error=None if failure is None else failure.code,
            units=None if result is None else sum(charge.units for charge in result.charges()),
            ms=round((time.monotonic() - began) * 1000, 2),
        )
        done(result, error)

    following(call, ended)
