"""The link that notes calls in the audit log. There is none where nothing is audited."""

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

import msgspec

from hashrange import logs
from hashrange.api.context import Context
from hashrange.api.errors import ApiError, as_api_error
from hashrange.api.permissions.denials import AccessDenied
from hashrange.api.permissions.guard import BATCH
from hashrange.api.permissions.needs import PARTITION_KEYS
from hashrange.api.protocol.operation import Operation
from hashrange.api.results import Result
from hashrange.audit.events import DATA_EVENTS, STATEMENTS, Action, Origin, Outcome, event, is_reading
from hashrange.audit.identity import identity_of
from hashrange.audit.redaction import Redaction, TooLong
from hashrange.chain.executor import Call, Done
from hashrange.chain.floods import Floods
from hashrange.chain.links import Link, Runner
from hashrange.chain.partition_keys import VALUES_MAX, partition_keys
from hashrange.clock import Clock
from hashrange.core.errors import Refused
from hashrange.core.values import Malformed
from hashrange.storage.errors import StorageError

# Their messages quote what was sent, which may be a value of an item.
_QUOTING = frozenset({"ValidationException", "SerializationException"})

_RESOURCES_MAX = 100
_PARTITION_CHARS_MAX = 16 * 1024
_ADDRESSING = frozenset({"Query", *STATEMENTS})  # whose keys are in expressions
_PUT_OFF = Outcome("ThrottlingException", "Rate exceeded")  # for too many signatures that were refused

NoteDenial = Callable[[Call, Origin, BaseException], None]  # of a call whose answer has left

log = logs.Log("audit")


class Events(Protocol):
    """What takes events."""

    def append(self, event: dict[str, Any], chars: int = 0, /) -> None: ...


class _About(NamedTuple):
    """What an event says of the request itself."""

    parameters: dict[str, Any] | None = None
    chars: int = 0
    resources: Sequence[str] = ()
    statements: tuple[str, ...] = ()


class Audit:
    """Notes calls, and requests that never became one."""

    def __init__(
        self,
        events: Events,
        redaction: Redaction,
        clock: Clock,
        *,
        with_data: bool = True,
        with_denials: bool = True,
    ) -> None:
        """Note everything, or without data events only what is about tables, settings and identities, and denials.

        Where nobody asks for permissions there are no denials, and data events cost nothing but a look at their name.
        """
        self._events = events
        self._redaction = redaction
        self._clock = clock
        self._with_data = with_data
        self._with_denials = with_denials
        self._floods = Floods()

    def link_of(self, operation: Operation[Any]) -> Link | None:
        """The link for calls of an operation; None where there is nothing to note but what `note_denial_of` notes."""
        has_denied_parts = self._with_denials and operation.action == BATCH
        return self.link if self._notes(operation) or has_denied_parts else None

    def note_denial_of(self, operation: Operation[Any]) -> "NoteDenial | None":
        """What is to be told of denials, if `link_of` does not."""
        return self._try if self._with_denials and self.link_of(operation) is None else None

    def _notes(self, operation: Operation[Any]) -> bool:
        """Whether calls of an operation are noted however they end."""
        return self._with_data or operation.name not in DATA_EVENTS

    def link(self, call: Call, done: Done, following: Runner, /) -> None:
        """Note how a call ends, when its answer has left."""
        is_noted = self._notes(call.operation)
        if not is_noted and not self._with_denials:
            following(call, done)
            return
        # A large request is taken apart on its own thread, and gone when the call ends.
        about = self._about_large(call) if call.patient else None
        if not is_noted:
            following(call, self._noting_denials(call, done, about))
            return
        origin = call.origin()

        def ended(result: Result | None, error: BaseException | None) -> None:
            done(result, error)
            self._try(call, origin, error, about)

        following(call, ended)

    def _about_large(self, call: Call) -> "_About":
        if call.request is None:
            try:
                call.request = call.operation.shape.explain(call.sent())
            except (ApiError, Malformed, Refused):
                return _About()  # it will be refused for that
        return self._about(call)

    def _noting_denials(self, call: Call, done: Done, about: "_About | None") -> Done:
        """Of data events that are not noted, what policies have denied is."""

        def ended(result: Result | None, error: BaseException | None) -> None:
            denied = type(error) is AccessDenied or call.context.denied_statements
            # Where permissions are asked for, the context is that of the request and knows its origin; now, while the
            # request is there.
            origin = call.context.origin() if denied else None
            done(result, error)
            if origin is not None:
                self._try(call, origin, error, about)

        return ended

    def _try(
        self, call: Call, origin: Origin, error: BaseException | None, about: "_About | None" = None
    ) -> None:
        try:
            known = self._about(call) if about is None else about
            self._note(call, origin, None if error is None else as_api_error(error), known)
        except Exception as problem:  # noqa: BLE001 - the answer has left; this must not end its connection
            log.error("audit.not_noted", operation=call.operation.name, error=problem)

    def refused(self, operation: str, origin: Origin, claimed: Context | None, error: BaseException) -> None:
        """Note a request that was refused before it was a call; `claimed` is who it says it is from, if anybody."""
        problem = as_api_error(error)
        action = Action(operation, claimed.account_id if claimed else "", claimed.region if claimed else "")
        if claimed is None and problem.code == _PUT_OFF.code:
            self._floods.note(action, origin, self._clock.now())
            return
        self._events.append(
            event(
                action,
                origin,
                _outcome(problem, is_data=action.is_data),
                now=self._clock.now(),
                identity=_claimed_identity(origin) if claimed is None else user_identity(claimed),
                parameters=None,
                resources=[],
                read_only=is_reading(action.operation),
                additional=self._decisions(problem, {}),
            )
        )

    def note_floods(self, is_last: bool) -> None:
        """Note how many requests were put off, for each address that has sent such; `is_last`: also in this minute."""
        now = self._clock.now()
        for action, origin, _, count in self._floods.ended(now, all_of_them=is_last):
            self._events.append(
                event(
                    action,
                    origin,
                    _PUT_OFF,
                    now=now,
                    identity=_claimed_identity(origin),
                    parameters=None,
                    resources=[],
                    read_only=is_reading(action.operation),
                    additional={"requests": count},
                )
            )

    def page(
        self, action: str, origin: Origin, caller: Context | None, sent: dict[str, Any], outcome: Outcome
    ) -> None:
        """Note that one of the server's own pages was asked to change something."""
        account_id, region = (caller.account_id, caller.region) if caller is not None else ("", "")
        self._events.append(
            event(
                Action(action, account_id, region),
                origin,
                outcome,
                now=self._clock.now(),
                identity=_claimed_identity(origin) if caller is None else user_identity(caller),
                parameters=sent,
                resources=[],
                read_only=False,
            )
        )

    def _about(self, call: Call) -> "_About":
        context, request = call.context, call.request
        parameters: dict[str, Any] | None = None
        chars = 0
        if request is not None:
            try:
                parameters, chars = self._redaction.parameters(
                    request, lambda name: _key_names(context, name)
                )
                chars += self._add_partition_keys(call, parameters)
            except TooLong:
                parameters = {"omitted": "the request is too long to be shown"}
        statements = _statements(request) if call.operation.name in STATEMENTS else ()
        return _About(parameters, chars, _resources(call), statements)

    def _add_partition_keys(self, call: Call, parameters: dict[str, Any]) -> int:
        """Show which partitions a query or a statement is about, as keys are shown; gives how much that is."""
        if call.operation.name not in _ADDRESSING:
            return 0
        shown: dict[str, dict[str, list[object]]] = {}
        chars = 0
        keys = partition_keys(call.operation.name, call.context, call.request)
        for number, (resource, attribute, value) in enumerate(keys, start=1):
            chars += sum(map(len, (attribute, *value.values())))
            if chars > _PARTITION_CHARS_MAX or number == VALUES_MAX:
                parameters["partitionKeysTruncated"] = True
                break
            values = shown.setdefault(resource, {}).setdefault(attribute, [])
            values.append(self._redaction.key(value))
        if shown:
            parameters["partitionKeys"] = shown
        return chars

    def _note(self, call: Call, origin: Origin, error: ApiError | None, about: "_About") -> None:
        context, operation = call.context, call.operation
        action = Action(operation.action, context.account_id, context.region)
        self._events.append(
            event(
                action,
                origin,
                Outcome() if error is None else _outcome(error, is_data=action.is_data),
                now=self._clock.now(),
                identity=user_identity(context),
                parameters=about.parameters,
                resources=list(about.resources),
                read_only=is_reading(operation.name, about.statements),
                additional=self._decisions(error, context.denied_statements),
            ),
            about.chars,
        )

    def _decisions(self, error: ApiError | None, statements: Mapping[int, ApiError]) -> dict[str, Any] | None:
        """Why policies have denied a request, or some statements of a batch."""
        if isinstance(error, AccessDenied):
            return {"decision": self._decision(error)}
        denied = {
            str(number): self._decision(one)
            for number, one in statements.items()
            if isinstance(one, AccessDenied)
        }
        return {"deniedStatements": denied} if denied else None

    def _decision(self, denied: AccessDenied) -> Any:
        reasons = denied.reasons()
        keys = {key: self._condition_value(key, value) for key, value in reasons.condition_keys.items()}
        return msgspec.to_builtins(msgspec.structs.replace(reasons, condition_keys=keys))

    def _condition_value(self, key: str, value: str | list[str] | None) -> str | list[str] | None:
        """The value of a condition key; those of partition keys are shown as keys of items are."""
        if value is None or key not in PARTITION_KEYS:
            return value
        shown = self._redaction.key_text
        return shown(value) if isinstance(value, str) else [shown(text) for text in value]


def user_identity(context: Context) -> dict[str, Any]:
    """Who asked. Without a principal nobody has verified that, and what the request says of itself is all there is."""
    if context.principal is not None:
        return identity_of(context.principal, context.access_key)
    return {"type": "Unknown", "accountId": context.account_id, "accessKeyId": context.access_key[:128]}


def _claimed_identity(origin: Origin) -> dict[str, Any]:
    return {"type": "Unknown", **({"accessKeyId": origin.claimed_key} if origin.claimed_key else {})}


def _outcome(error: ApiError, *, is_data: bool) -> Outcome:
    return Outcome(error.code, None if is_data and error.code in _QUOTING else error.message)


def _key_names(context: Context, name: str) -> Sequence[str]:
    try:
        table = context.catalogue.find(context.account_id, context.region, name.rpartition("/")[2])
    except StorageError:
        return ()
    return () if table is None else tuple(attribute.name for attribute in table.keys)


def _resources(call: Call) -> list[str]:
    """The ARNs of what a request is about, each once."""
    if not call.operation.action.startswith("dynamodb:") or call.request is None:
        return []
    try:
        names = dict.fromkeys(call.operation.resources(call.request))
    except Exception:  # noqa: BLE001 - a request that is wrong may name anything
        return []
    prefix = f"arn:aws:dynamodb:{call.context.region}:{call.context.account_id}:table/"
    return [
        name if name.startswith("arn:") else prefix + name for name in map(str, islice(names, _RESOURCES_MAX))
    ]


def _statements(request: Any) -> tuple[str, ...]:
    parts = (
        getattr(request, "statements", None) or getattr(request, "transact_statements", None) or (request,)
    )
    return tuple(text for part in parts if isinstance(text := getattr(part, "statement", None), str))
