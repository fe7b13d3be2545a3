"""A boto3 client on which one request goes wrong, and a runner whose clock stands still unless a pattern waits."""

import threading
from collections.abc import Callable, Iterator
from typing import Any, Literal

from botocore.exceptions import ClientError

from hashrange.patterns import Runner
from hashrange.patterns.steps import Monotonic, Pause, SdkCall, Step

Fault = Literal["dies before", "dies after", "throttled", "sent twice"]
FAULTS: tuple[Fault, ...] = ("dies before", "dies after", "throttled", "sent twice")
# To die before a request is to die after the one before, where the application does nothing in between.
FEWER_FAULTS: tuple[Fault, ...] = ("dies after", "throttled", "sent twice")


class Death(BaseException):
    """The process ends here: no pattern may catch it."""


class FaultyClient:
    """The request with this number, from zero, meets the fault; all others go through."""

    def __init__(self, client: Any, fault: Fault | None = None, number: int = -1) -> None:
        self._client, self._fault, self._number = client, fault, number
        self.dies = fault is not None and fault.startswith("dies")
        self._lock = threading.Lock()
        self.sent: list[str] = []
        self.is_met = False

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        method = getattr(self._client, operation)

        def send(**parameters: Any) -> Any:
            with self._lock:
                self.sent.append(operation)
                is_here = len(self.sent) - 1 == self._number
                self.is_met = self.is_met or is_here
            return self._met(method, parameters) if is_here else method(**parameters)

        return send

    def _met(self, method: Callable[..., Any], parameters: dict[str, Any]) -> Any:
        if self._fault == "throttled":
            error = {"Code": "ProvisionedThroughputExceededException", "Message": "Too fast."}
            raise ClientError({"Error": error}, method.__name__)
        if self._fault == "dies before":
            raise Death
        answer = method(**parameters)
        if self._fault == "dies after":
            raise Death
        # As an SDK does whose connection broke before the answer came.
        return method(**parameters) if self._fault == "sent twice" else answer


class StillRunner(Runner):
    """Pauses take no time; they move the clock that leases are waited for by."""

    def __init__(self, dynamodb: Any, s3: Any = None) -> None:
        super().__init__(dynamodb, s3, parallel_max=2)
        self.now = 1_000.0
        self.pauses: list[Pause] = []

    def perform(self, step: Step) -> object:
        if isinstance(step, Pause):
            self.pauses.append(step)
            self.now += step.seconds
            return None
        return self.now if isinstance(step, Monotonic) else super().perform(step)


class InterruptedRunner(StillRunner):
    """Somebody else does something, once, just before the first request of this operation."""

    def __init__(self, client: Any, operation: str, interrupt: Callable[[], object]) -> None:
        super().__init__(client)
        self._operation = operation
        self._interrupts = [interrupt]

    def perform(self, step: Step) -> object:
        if isinstance(step, SdkCall) and step.operation == self._operation and self._interrupts:
            self._interrupts.pop()()
        return super().perform(step)


def every_fault(
    client: Any, s3: Any = None, faults: tuple[Fault, ...] = FAULTS
) -> Iterator[tuple[StillRunner, FaultyClient, bool]]:
    """For each fault and each of the requests: a runner on which it happens.

    Goes on for as long as the caller's work gets far enough to meet the fault. The last value says that the process
    dies, and the work is to be done again by another.
    """
    for fault in faults:
        for number in range(100):
            faulty = FaultyClient(client, fault, number)
            with StillRunner(faulty, s3) as runner:
                yield runner, faulty, faulty.dies
            if not faulty.is_met:
                break
        else:
            raise AssertionError("the work does not end")


def survives(
    client: Any,
    work: Callable[[StillRunner], None],
    *,
    s3: Any = None,
    faults: tuple[Fault, ...] = FEWER_FAULTS,
) -> Iterator[FaultyClient]:
    """Do the work once for every fault, again after each death; gives control back to check what came of it.

    The caller changes names between two of them, so that each begins with nothing.
    """
    for runner, faulty, _ in every_fault(client, s3, faults):
        try:
            work(runner)
        except Death:
            with StillRunner(client, s3) as other:
                work(other)
        yield faulty
