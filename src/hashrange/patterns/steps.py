"""What a pattern asks of the outside: requests, pauses, clocks. A driver performs it, on threads or with asyncio."""

import functools
import warnings
from collections.abc import Callable, Generator, Mapping
from typing import Any, Generic, Literal, ParamSpec, TypeAlias, TypeVar

import msgspec

T = TypeVar("T")
P = ParamSpec("P")
Answer: TypeAlias = Mapping[str, Any]  # as the SDK gives it


class SdkCall(msgspec.Struct, frozen=True):
    """One request, by the name of the SDK's method. It is answered by what the method gives, or raises Refused.

    Of an answer with a body (S3's) the driver reads so many bytes at most, and puts them in its place.
    """

    operation: str
    parameters: dict[str, Any]
    service: Literal["dynamodb", "s3"] = "dynamodb"
    body_bytes_max: int = 0


class Parallel(msgspec.Struct, frozen=True):
    """Requests that are under way at once. Answered by a list: for each its answer, or the Refused that it met."""

    calls: tuple[SdkCall, ...]


class Pause(msgspec.Struct, frozen=True):
    """Wait. With jitter it is any time up to this one, so that those who collided once do not do so again."""

    seconds: float
    jitter: bool = False


class Monotonic(msgspec.Struct, frozen=True):
    """The seconds of a clock that only this process knows; what a lease is waited for by."""


class WallClock(msgspec.Struct, frozen=True):
    """Seconds since 1970. Only what TTL will delete is computed from it: clocks of two machines differ."""


class Fresh(msgspec.Struct, frozen=True):
    """A random name that nobody else has: 32 hexadecimal digits."""


class Invoke(msgspec.Struct, frozen=True):
    """Call the application's own function. On the asynchronous driver it may be a coroutine function."""

    function: Callable[[], object]


Step: TypeAlias = SdkCall | Parallel | Pause | Monotonic | WallClock | Fresh | Invoke
Steps: TypeAlias = Generator[Step, Any, T]


class Procedure(Generic[T]):
    """What a method of a pattern gives: nothing has happened before a runner runs it. It may be run again."""

    def __init__(self, name: str, begin: Callable[[], Steps[T]]) -> None:
        self._name, self._begin = name, begin
        self._is_begun = False

    def __iter__(self) -> Steps[T]:
        self._is_begun = True
        return self._begin()

    def __del__(self) -> None:
        # Like a coroutine that nobody awaits: a write that is forgotten this way would be missed much later.
        if not self._is_begun:
            warnings.warn(f"{self._name} was never run", RuntimeWarning, stacklevel=2)


def procedure(function: Callable[P, Steps[T]]) -> Callable[P, Procedure[T]]:
    """Make a function of steps one that gives a procedure."""

    @functools.wraps(function)
    def make(*args: P.args, **kwargs: P.kwargs) -> Procedure[T]:
        return Procedure(function.__qualname__, lambda: function(*args, **kwargs))

    return make


def pause(seconds: float) -> Steps[None]:
    """Wait for exactly so long."""
    yield Pause(seconds)


def monotonic() -> Steps[float]:
    seconds: float = yield Monotonic()
    return seconds


def wall_clock() -> Steps[float]:
    seconds: float = yield WallClock()
    return seconds


def fresh() -> Steps[str]:
    name: str = yield Fresh()
    return name


def invoke(function: Callable[..., object], *args: object) -> Steps[Any]:
    """Give what the application's function gives; what it raises is raised here."""
    return (yield Invoke(functools.partial(function, *args)))
