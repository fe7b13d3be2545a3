"""Running a call and waiting for its result, as no server does."""

from threading import Event

from hashrange.api.results import Result
from hashrange.chain.executor import Call, LocalExecutor


def run_now(executor: LocalExecutor, call: Call) -> Result:
    """Run a call and wait for its result. Not on the thread that delivers commits."""
    outcome: list[tuple[Result | None, BaseException | None]] = []
    finished = Event()

    def done(result: Result | None, error: BaseException | None) -> None:
        outcome.append((result, error))
        finished.set()

    executor.run(call, done)
    finished.wait()
    result, error = outcome[0]
    if error is not None:
        raise error
    if result is None:
        raise TypeError(call.operation.name)
    return result
