"""Requests that are sent again when the service was too busy for them, after a pause that grows."""

from collections.abc import Sequence

import msgspec

from hashrange.patterns.errors import Refused
from hashrange.patterns.steps import Answer, Parallel, Pause, SdkCall, Steps


class Retry(msgspec.Struct, frozen=True):
    """How often, and how long between: up to 50 ms, 100, 200, … with full jitter.

    Only what the service has not performed is sent again. A connection that broke, or an internal error, says
    nothing about that; they go to the caller, beyond what the SDK itself retries.
    """

    attempts_max: int = 8
    base_seconds: float = 0.05
    cap_seconds: float = 5.0

    def pause(self, attempt: int) -> Pause:
        """The pause after so many attempts."""
        return Pause(min(self.cap_seconds, self.base_seconds * 2.0 ** min(attempt - 1, 30)), jitter=True)


def send(call: SdkCall, retry: Retry) -> Steps[Answer]:
    """Send one request until it is performed, refused for good, or all attempts are used."""
    attempt = 1
    while True:
        try:
            answer: Answer = yield call
        except Refused as refused:
            if not refused.is_passing or attempt >= retry.attempts_max:
                raise
        else:
            return answer
        yield retry.pause(attempt)
        attempt += 1


def send_all(calls: Sequence[SdkCall], retry: Retry) -> Steps[list[Answer]]:
    """Send requests at once, those that were throttled again; give all answers in the requests' order."""
    answers: dict[int, Answer] = {}
    waiting = list(range(len(calls)))
    attempt = 1
    while waiting:
        outcomes: list[Answer | Refused] = yield Parallel(tuple(calls[number] for number in waiting))
        throttled = []
        for number, outcome in zip(waiting, outcomes, strict=True):
            if not isinstance(outcome, Refused):
                answers[number] = outcome
            elif outcome.is_passing and attempt < retry.attempts_max:
                throttled.append(number)
            else:
                raise outcome
        if throttled:
            yield retry.pause(attempt)
        waiting = throttled
        attempt += 1
    return [answers[number] for number in range(len(calls))]
