"""The chain around the executor: links that are to a call what middleware is to a web application's request.

The order is: authorize, admit, run, charge, log; who is calling is known before there is a call.
"""

from typing import Protocol

from hashrange.chain.executor import Call, Done


class Runner(Protocol):
    """What a call is handed to: an executor, or a link around one."""

    def __call__(self, call: Call, done: Done, /) -> None: ...


class Link(Protocol):
    """A part of the chain, as middleware is around an application.

    It looks at the call, hands it on, and may look at what comes back. To refuse a call it calls `done` with an
    error and hands nothing on.
    """

    def __call__(self, call: Call, done: Done, following: Runner, /) -> None: ...


def chained(runner: Runner, *links: Link | None) -> Runner:
    """The runner with links around it, the first one outermost. A link that is switched off (None) costs nothing."""
    for link in reversed(links):
        if link is not None:
            runner = _linked(link, runner)
    return runner


def _linked(link: Link, following: Runner) -> Runner:
    def run(call: Call, done: Done, /) -> None:
        link(call, done, following)

    return run
