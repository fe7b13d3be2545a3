"""Pipelines: the shortest way of every operation through the links, found once, when the server starts.

A link that is on for some operations only would ask every call whether it is meant. Here that is asked for every
operation instead, and its calls then pass nothing but the links that have something to do.
"""

from typing import Any, NamedTuple

from hashrange.api.protocol.operation import Operation, Shortcut
from hashrange.chain.audit import Audit, NoteDenial
from hashrange.chain.authorize import Authorize
from hashrange.chain.executor import Call, Done
from hashrange.chain.links import Link, Runner, chained


class Pipeline(NamedTuple):
    """What becomes of the calls of one operation, unless they come on a thread of their own."""

    operation: Operation[Any]  # that calls are made with; it asks for its permissions, where somebody has to
    run: Runner
    note_denial: NoteDenial | None = None  # what to call after an answer that says AccessDenied
    shortcut: Shortcut | None = None  # where no link looks at requests


class Pipelines:
    """Makes the pipelines, from the links that are on."""

    def __init__(
        self,
        executor: Runner,
        *,
        audit: Audit | None = None,
        log: Link | None = None,
        authorize: Authorize | None = None,
        recorded: Link | None = None,
        chaos: Link | None = None,
    ) -> None:
        self._audit = audit
        self._log = log
        self._authorize = authorize
        # Whether there is a link that looks at the requests of all operations.
        self._looks = any(link is not None for link in (log, authorize, recorded, chaos))
        self._innermost = chained(executor, recorded, chaos)
        # The whole chain, for calls of every operation and on every thread.
        self.run = chained(executor, None if audit is None else audit.link, log, authorize, recorded, chaos)

    def of(self, operation: Operation[Any]) -> Pipeline:
        """The pipeline of an operation."""
        audit, authorize, run = self._audit, self._authorize, self._innermost
        if authorize is not None:
            operation, run = authorize.guarded(operation), _placed(run)
        link = None if audit is None else audit.link_of(operation)
        note_denial = None if audit is None else audit.note_denial_of(operation)
        shortcut = operation.shortcut if link is None and not self._looks else None
        return Pipeline(operation, chained(run, link, self._log), note_denial, shortcut)


def _placed(following: Runner) -> Runner:
    """Have calls know where they come from, as conditions of policies may ask; their operation asks by itself."""

    def run(call: Call, done: Done, /) -> None:
        # All requests of a caller share one context, and come from different places.
        context = call.context = call.context.__copy__()  # type: ignore[attr-defined] # see `coming_from`
        context.origin = call.arrival()
        following(call, done)

    return run
