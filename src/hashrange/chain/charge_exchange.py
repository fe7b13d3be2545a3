"""Exchanging charges: the processes on the same data tell each other, about once a second, what they have charged.

So all of them together keep to the capacity of a table, to within what they admit in that second. Nothing is written
by a process that has charged nothing, nor read by one that guards no table.
"""

import secrets
from collections import deque

from hashrange import logs
from hashrange.api.throttling.gate import Gate
from hashrange.clock import Clock
from hashrange.core.schema import Table
from hashrange.storage import charge_rows
from hashrange.storage.catalogue import Catalogue
from hashrange.storage.charge_rows import GONE_SECONDS, TURNS_KEPT, Turn
from hashrange.storage.engine import Engine

TURN_SECONDS = 1.0
_IDLE_TURNS = 60  # after which a process that has charged nothing stops to look at the others
_OLD_SECONDS = TURNS_KEPT * TURN_SECONDS
_PROCESS_BYTES = 8

log = logs.Log("capacity")


class ChargeExchange:
    """One process's side of it. All of it happens on the event loop."""

    def __init__(self, engine: Engine, catalogue: Catalogue, gate: Gate, clock: Clock) -> None:
        self._engine = engine
        self._catalogue = catalogue
        self._gate = gate
        self._clock = clock
        self._process = secrets.token_bytes(_PROCESS_BYTES)
        self._number = 0
        self._turns: deque[Turn] = deque(maxlen=TURNS_KEPT)
        self._seen: dict[bytes, int] = {}  # the last turn of each other process
        self._idle_turns = 0

    def turn(self) -> None:
        """Tell what was charged since the last turn, and hear what the others charged."""
        charges = self._gate.take_charges()
        self._number += 1
        self._idle_turns = 0 if charges else self._idle_turns + 1
        if charges:
            self._turns.append(Turn(self._number, self._clock.now(), tuple(charges)))
            turns = tuple(self._turns)
            self._engine.submit(lambda tx: charge_rows.write(tx, self._process, turns), self._written)
        if self._gate.guards_all or self._idle_turns < _IDLE_TURNS:
            self._engine.submit_read(charge_rows.read, self._heard, more=True)

    def _written(self, _: None, error: BaseException | None) -> None:
        if error is not None:
            log.warning("charges.not_told", error=error)

    def _heard(self, rows: dict[bytes, tuple[Turn, ...]] | None, _error: BaseException | None) -> None:
        if rows is None:
            return
        now = self._clock.now()
        tables: dict[int, Table] | None = None
        for process, turns in rows.items():
            last = self._seen.get(process, 0)
            new = [turn for turn in turns if turn.number > last and now - turn.time < _OLD_SECONDS]
            if process == self._process or not new:
                continue
            self._seen[process] = new[-1].number
            if tables is None:
                tables = {table.number: table for table in self._catalogue.tables()}
            for turn in new:
                self._gate.absorb(tables, turn.charges)
        self._seen = {process: number for process, number in self._seen.items() if process in rows}
        gone = [process for process, turns in rows.items() if now - turns[-1].time > GONE_SECONDS]
        if gone:
            self._engine.submit(lambda tx: charge_rows.remove(tx, gone), self._written)
