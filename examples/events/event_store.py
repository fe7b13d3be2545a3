"""Aggregates as the events that happened to them, each with its message in an outbox."""

import time
from collections.abc import Callable
from typing import Any

from hashrange import patterns

TABLE = patterns.Table("events", partition_key="PK", sort_key="SK")
OUTBOX = patterns.Outbox(TABLE, shards=4)
SNAPSHOT_EVERY = 10  # events
WEEK_SECONDS = 7 * 86_400
State = dict[str, Any]


def applied(state: State, kind: str, data: State) -> State:
    """The state after an event. It refuses nothing: what is stored has happened."""
    if kind in ("Received", "Reserved", "Released"):
        return {"free": state.get("free", 0) + data["change"]}
    return {**state, **data, "status": kind}


class EventStore:
    """Aggregates as their events, with a snapshot now and then."""

    def __init__(self, runner: patterns.Runner) -> None:
        self._run = runner.run

    def load(self, aggregate: str) -> tuple[State, int]:
        """The state of an aggregate and its version: the snapshot, and what happened since."""
        partition, span = f"AGGREGATE#{aggregate}", patterns.Span("EVENT#", "EVENT$")
        snapshot = self._run(TABLE.get(TABLE.key(partition, "SNAPSHOT"))) or {"state": {}, "version": 0}
        state, version = snapshot["state"], snapshot["version"]
        after: State | None = TABLE.key(partition, f"EVENT#{version:010}")
        while after is not None:
            page = self._run(TABLE.query(partition, span, limit=100, after=after))
            for event in page.items:
                state, version = applied(state, event["type"], event["data"]), event["version"]
            after = page.last_key
        return state, version

    def is_done(self, command_id: str) -> bool:
        return self._run(TABLE.get(TABLE.key(f"COMMAND#{command_id}", "COMMAND"))) is not None

    def append(self, command_id: str, aggregate: str, kind: str, decide: Callable[[State], State]) -> None:
        """Let something happen, once for a command. `decide` gives the event's data, or raises.

        It decides anew, on the new state, when somebody else has taken the version in between.
        """
        for _ in range(10):
            if self.is_done(command_id):
                return
            state, version = self.load(aggregate)
            data = decide(state)
            try:
                self._store(command_id, aggregate, version + 1, {"type": kind, "data": data})
            except patterns.TransactionCanceled as canceled:
                if not canceled.failed:
                    raise
                continue
            if (version + 1) % SNAPSHOT_EVERY == 0:
                self._snapshot(aggregate, version + 1, applied(state, kind, data))
            return
        raise patterns.Stale(aggregate)

    def _store(self, command_id: str, aggregate: str, version: int, body: State) -> None:
        """Event, command and the message for others are one transaction."""
        event = {**TABLE.key(f"AGGREGATE#{aggregate}", f"EVENT#{version:010}"), "aggregate": aggregate}
        command = {**TABLE.key(f"COMMAND#{command_id}", "COMMAND"), "command_id": command_id}
        new = [event | body | {"version": version}, command | {"expires_at": int(time.time()) + WEEK_SECONDS}]
        writes = [TABLE.putting(item, "attribute_not_exists(#PK)") for item in new]
        self._run(OUTBOX.write(writes, [patterns.Event(aggregate, version, body)]))

    def _snapshot(self, aggregate: str, version: int, state: State) -> None:
        """Whoever dies before it is stored leaves a longer load, and no other harm."""
        item = {**TABLE.key(f"AGGREGATE#{aggregate}", "SNAPSHOT"), "aggregate": aggregate}
        newer = "attribute_not_exists(#PK) OR #version < :version"
        write = TABLE.putting(item | {"version": version, "state": state}, newer, version=version)
        self._run(TABLE.tried(write))
