"""The driver for boto3: performs steps one after the other, parallel requests on threads."""

import random
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from inspect import isawaitable
from types import TracebackType
from typing import Any, Self, TypeVar

from hashrange.patterns.errors import Refused, refusal
from hashrange.patterns.steps import (
    Answer,
    Fresh,
    Invoke,
    Monotonic,
    Parallel,
    Pause,
    Procedure,
    SdkCall,
    Step,
    Steps,
    WallClock,
)

T = TypeVar("T")


class Runner:
    """Runs procedures with a boto3 client for DynamoDB and, where a pattern needs it, one for S3.

    Clients of boto3 may be shared by threads; sessions and resources may not. Only parallel requests use threads.
    """

    def __init__(self, dynamodb: Any, s3: Any = None, *, parallel_max: int = 8) -> None:
        self._clients = {"dynamodb": dynamodb, "s3": s3}
        self._threads = ThreadPoolExecutor(parallel_max, thread_name_prefix="patterns")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the threads, which are only there if there were parallel requests."""
        self._threads.shutdown()

    def run(self, procedure: Procedure[T] | Steps[T]) -> T:
        """Perform all steps and give the result; an error that no step expects is raised here."""
        steps = iter(procedure)
        try:
            step = next(steps)
            while True:
                try:
                    answer = self.perform(step)
                except Exception as error:  # noqa: BLE001 - the procedure decides what it means
                    step = steps.throw(error)
                else:
                    step = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            steps.close()

    def perform(self, step: Step) -> object:
        """Do what one step says."""
        match step:
            case SdkCall():
                return self._call(step)
            case Parallel(calls):
                return list(self._threads.map(self._outcome, calls))
            case Pause(seconds, jitter):
                time.sleep(random.uniform(0, seconds) if jitter else seconds)  # noqa: S311 - no secret
                return None
            case Monotonic():
                return time.monotonic()
            case WallClock():
                return time.time()
            case Fresh():
                return uuid.uuid4().hex
            case Invoke(function):
                result = function()
                if isawaitable(result):
                    raise TypeError("a coroutine function needs the asynchronous runner, patterns.aio.Runner")
                return result

    def _call(self, call: SdkCall) -> Answer:
        try:
            answer: Answer = getattr(self._clients[call.service], call.operation)(**call.parameters)
        except Exception as error:
            if (refused := refusal(error)) is None:
                raise
            raise refused from error
        if call.body_bytes_max and "Body" in answer:
            return {**answer, "Body": answer["Body"].read(call.body_bytes_max)}
        return answer

    def _outcome(self, call: SdkCall) -> Answer | Refused:
        try:
            return self._call(call)
        except Refused as refused:
            return refused
