"""The driver for aioboto3 and aiobotocore: performs steps on an event loop."""

import asyncio
import random
import time
import uuid
from inspect import isawaitable
from typing import Any, TypeVar

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
    """Runs procedures with an asynchronous client for DynamoDB and, where a pattern needs it, one for S3."""

    def __init__(self, dynamodb: Any, s3: Any = None, *, parallel_max: int = 8) -> None:
        self._clients = {"dynamodb": dynamodb, "s3": s3}
        self._places = asyncio.Semaphore(parallel_max)

    async def run(self, procedure: Procedure[T] | Steps[T]) -> T:
        """Perform all steps and give the result; an error that no step expects is raised here."""
        steps = iter(procedure)
        try:
            step = next(steps)
            while True:
                try:
                    answer = await self.perform(step)
                except Exception as error:  # noqa: BLE001 - the procedure decides what it means
                    step = steps.throw(error)
                else:
                    step = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result
        finally:
            steps.close()

    async def perform(self, step: Step) -> object:
        """Do what one step says."""
        match step:
            case SdkCall():
                return await self._call(step)
            case Parallel(calls):
                return await self._gather(calls)
            case Pause(seconds, jitter):
                await asyncio.sleep(random.uniform(0, seconds) if jitter else seconds)  # noqa: S311 - no secret
                return None
            case Monotonic():
                return time.monotonic()
            case WallClock():
                return time.time()
            case Fresh():
                return uuid.uuid4().hex
            case Invoke(function):
                result = function()
                return await result if isawaitable(result) else result

    async def _gather(self, calls: tuple[SdkCall, ...]) -> list[Answer | Refused]:
        # Not a TaskGroup: callers would have to catch groups here and plain exceptions on the other driver.
        tasks = [asyncio.ensure_future(self._outcome(call)) for call in calls]
        await asyncio.gather(*tasks, return_exceptions=True)  # all end before one of them is raised
        return [task.result() for task in tasks]

    async def _call(self, call: SdkCall) -> Answer:
        try:
            answer: Answer = await getattr(self._clients[call.service], call.operation)(**call.parameters)
        except Exception as error:
            if (refused := refusal(error)) is None:
                raise
            raise refused from error
        if call.body_bytes_max and "Body" in answer:
            return {**answer, "Body": await answer["Body"].read(call.body_bytes_max)}
        return answer

    async def _outcome(self, call: SdkCall) -> Answer | Refused:
        async with self._places:
            try:
                return await self._call(call)
            except Refused as refused:
                return refused
