"""Write patterns, proved: done, done again, and tried where their condition does not hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hashrange.api.errors import ApiError
from hashrange.core.errors import Refused
from hashrange.modeling.data.generation import Data
from hashrange.modeling.data.samples import Sample
from hashrange.modeling.data.values import NOW
from hashrange.modeling.model import Model, ReadPattern, WritePattern
from hashrange.modeling.plans import AccessPath
from hashrange.modeling.prove.definition import view
from hashrange.modeling.prove.effects import Effect, Target, drawn_keys, effect_of, moved_key
from hashrange.modeling.prove.private_engine import PrivateEngine, Response
from hashrange.modeling.prove.results import ProvedWrite
from hashrange.modeling.prove.targets import Parameters, TargetFinder, plain
from hashrange.modeling.wire_values import WireItem
from hashrange.modeling.write_requests import requests_for

_CONDITIONAL = ("ConditionalCheckFailedException", "TransactionCanceledException")
_WHOLE = ReadPattern("", ())


class _Unexpected(Exception):
    """The engine did something else than the model says."""


def prove_write(engine: PrivateEngine, model: Model, pattern: WritePattern, data: Data) -> ProvedWrite:
    """Prove one pattern; the data is changed as the engine's is."""
    return _WriteProof(engine, model, pattern, data).prove()


class _WriteProof:
    def __init__(self, engine: PrivateEngine, model: Model, pattern: WritePattern, data: Data) -> None:
        self._engine = engine
        self._model = model
        self._pattern = pattern
        self._data = data
        self._operations: dict[str, None] = {}
        self._units = 0.0
        self._tokens = 0

    def prove(self) -> ProvedWrite:
        again, unmet = "-", "-"
        finder = TargetFinder(self._model, self._pattern, self._data)
        met = finder.met()
        if met is None:
            return self._proved(0.0, again, unmet, ("none of the made-up items meets its condition",))
        targets, parameters = met
        try:
            self._attempt(targets, parameters, self._token())
            units = self._units
            again = self._again(targets, parameters)
            others = finder.unmet([self._stored(target) for target in targets], parameters)
            if others is not None:
                unmet = self._attempt(others, parameters, self._token())
        except _Unexpected as unexpected:
            return self._proved(self._units, again, unmet, (str(unexpected),))
        self._remove_begun([*targets, *(others or [])])
        return self._proved(units, again, unmet, ())

    def _remove_begun(self, targets: Sequence[Target]) -> None:
        """Remove what an update has made of nothing: it lacks attributes that the reads go by."""
        for target in targets:
            if target.step.action == "update" and target.before is None:
                self._engine.call("DeleteItem", self._address(target))
                self._data.replace(target.key, None)

    def _address(self, target: Target) -> Response:
        table = self._model.tables[target.sample.entity.table]
        key = {key.name: target.sample.wire[key.name] for key in AccessPath(table).key}
        return {"TableName": table.name, "Key": key}

    def _token(self) -> str:
        """An application makes a new one for each write, and keeps it for its retries."""
        self._tokens += 1
        return f"{self._pattern.id[:20]}-{self._tokens}"

    def _again(self, targets: Sequence[Target], parameters: Parameters) -> str:
        """The same write once more, as after a timeout: what an application's retry does."""
        stored = [self._stored(target) for target in targets]
        if not self._pattern.idempotency_token:
            return self._attempt(stored, parameters, self._token(), retried=True)
        refused = self._send(targets, parameters, f"{self._pattern.id[:20]}-1")
        self._compare(
            stored, Effect(tuple(target.before for target in stored), refused=False), refused, parameters
        )
        return "same"

    def _stored(self, target: Target) -> Target:
        return replace(target, before=self._data.by_key.get(target.key))

    def _attempt(
        self, targets: Sequence[Target], parameters: Parameters, token: str, *, retried: bool = False
    ) -> str:
        """Send the write, compare what is stored then; say what it did."""
        effect = self._effect(targets, parameters)
        for target, after in zip(targets, effect.after, strict=True):
            if target.step.action == "update" and moved_key(self._model, target, after):
                raise _Unexpected(f"it changes what the key of {target.sample.entity.name} is made of")
        refused = self._send(targets, parameters, token)
        self._compare(targets, effect, refused, parameters)
        if effect.refused:
            return "refused"
        same = all(
            _seen(target.before) == _seen(after) for target, after in zip(targets, effect.after, strict=True)
        )
        return "same" if same and retried else "changes"

    def _effect(self, targets: Sequence[Target], parameters: Parameters) -> Effect:
        try:
            return effect_of(self._model, self._pattern, targets, parameters)
        except (Refused, ValueError) as error:
            raise _Unexpected(f"it cannot be done: {error}") from error

    def _send(self, targets: Sequence[Target], parameters: Parameters, token: str) -> bool:
        """Whether a condition was not met."""
        items = [(target.before or target.sample).stored if target.step.action == "update" else target.sample.stored
                 for target in targets]  # fmt: skip
        refused = False
        try:
            requests = requests_for(self._pattern, items, parameters, self._model, now=NOW, token=token)
        except (Refused, ValueError) as error:
            raise _Unexpected(f"it cannot be sent: {error}") from error
        for request in requests:
            self._operations[request.operation] = None
            try:
                self._note(self._engine.send(request, ReturnConsumedCapacity="TOTAL"))
            except ApiError as error:
                if (
                    error.code not in _CONDITIONAL
                    or "ConditionalCheckFailed" not in f"{error.code}{error.message}"
                ):
                    raise _Unexpected(
                        f"{request.operation} is refused: {error.message or error.code}"
                    ) from error
                refused = True
        return refused

    def _note(self, response: Response) -> None:
        consumed = response.get("ConsumedCapacity", [])
        for part in consumed if isinstance(consumed, list) else [consumed]:
            self._units += part["CapacityUnits"]

    def _compare(
        self, targets: Sequence[Target], effect: Effect, refused: bool, parameters: Parameters
    ) -> None:
        if refused != effect.refused:
            expected, found = ("refuses", "does it") if effect.refused else ("allows it", "refuses")
            raise _Unexpected(f"the model {expected}, the engine {found}, with {plain(parameters)}")
        for target, after in zip(targets, effect.after, strict=True):
            stored = self._item(target)
            drawn = drawn_keys(target.sample.entity)
            if _seen(after, drawn) != _view(stored, drawn):
                raise _Unexpected(
                    f"{target.step.action} {target.step.entity} leaves {_shown(_view(stored, drawn))}, "
                    f"not {_shown(_seen(after, drawn))}"
                )
            if after is not target.before:
                self._data.replace(
                    target.key, after if after is None or stored is None else _as_stored(after, stored, drawn)
                )

    def _item(self, target: Target) -> WireItem | None:
        request = self._address(target) | {"ConsistentRead": True}
        item: WireItem | None = self._engine.call("GetItem", request).get("Item")
        return item

    def _proved(self, units: float, again: str, unmet: str, failures: tuple[str, ...]) -> ProvedWrite:
        steps = ", ".join(f"{step.action} {step.entity}" for step in self._pattern.steps)
        return ProvedWrite(
            self._pattern.id,
            self._pattern.name or steps,
            ", ".join(self._operations),
            steps,
            units,
            again,
            unmet,
            failures,
        )


def _as_stored(after: Sample | None, wire: WireItem | None, drawn: set[str]) -> Sample | None:
    """The sample with the shards that the write has drawn."""
    if not drawn or after is None or wire is None:
        return after
    shards = {name: wire[name].get("S") for name in drawn if name in wire}
    return replace(after, stored={**after.stored, **shards}, wire=wire)


def _seen(sample: Sample | None, without: set[str] | None = None) -> bytes | None:
    return None if sample is None else _view(sample.wire, without)


def _view(wire: WireItem | None, without: set[str] | None = None) -> bytes | None:
    if wire is None:
        return None
    return view(_WHOLE, {name: value for name, value in wire.items() if name not in (without or ())})


def _shown(item: bytes | None) -> str:
    return "nothing" if item is None else item.decode()[:300]
