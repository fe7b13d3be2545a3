"""Several server processes on one port and one data file: a parent that accepts, workers that answer.

The parent owns the listening sockets and the data directory. It sends every new connection to the next worker, round
robin, so that the load is shared evenly however the clients connect, and it restarts a worker that has died.
A worker exits at once when its parent is gone, so that nobody is left with the data open.
"""

import contextlib
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from itertools import cycle
from mmap import mmap

import msgspec

from hashrange import logs
from hashrange.clock import Offsets, new_offsets
from hashrange.config import Settings
from hashrange.restarts import Restarts

_BACKLOG = 1024  # as many as sockets.py lets wait
_COUNTER_BYTES = 8
_READY = b"r"
_CONNECTION = b"c"
_ACCEPT_PAUSE_SECONDS = 0.5  # without a free descriptor the next attempt would fail as well
_BEAT_SECONDS = 0.25  # how often a worker shows that its loop turns
_TICK_SECONDS = 0.5  # how often the parent looks
_STALLED_TICKS = 4  # a worker that has not turned for so long gets no connections
_LOST_TICKS = 60  # and after so long it is killed, so that those it has do not hang for ever
_STOP_SECONDS = 20.0  # longer than a worker takes to answer what is under way
HURRY = (
    signal.SIGUSR1
)  # tells a worker that stops to wait for nobody: SIGTERM may come twice, from a group's stop
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
RELOAD = signal.SIGHUP  # has every process load its certificate and open its log again

log = logs.Log("workers")


class SharedCounters:
    """Counters in shared memory, one per worker, and one value that belongs to all of them."""

    def __init__(self, workers: int) -> None:
        """Create them before the workers are forked: memory that is mapped by then stays shared."""
        self._memory = memoryview(mmap(-1, (workers + 1) * _COUNTER_BYTES))
        self._counters = self._memory.cast("Q")
        self._shared_value_at = workers * _COUNTER_BYTES

    def snapshot(self) -> bytes:
        """All workers' counters, to be compared with an earlier snapshot."""
        return self._memory[: self._shared_value_at].tobytes()

    def count(self, worker: int) -> int:
        """One worker's counter."""
        return self._counters[worker]

    def increment(self, worker: int) -> None:
        """Increment a worker's counter; no other worker may do that, because it is not atomic."""
        self._counters[worker] += 1

    @property
    def shared_value(self) -> int:
        """The value that belongs to all workers."""
        return self._counters[-1]

    @shared_value.setter
    def shared_value(self, value: int) -> None:
        self._counters[-1] = value


class CatalogueInvalidation(msgspec.Struct, frozen=True):
    """The catalogue's `CacheInvalidation` among workers."""

    counters: SharedCounters
    worker: int

    def version(self) -> bytes:
        """A value that differs after every change by any worker."""
        return self.counters.snapshot()

    def invalidate(self) -> None:
        """Have all workers read the catalogue again."""
        self.counters.increment(self.worker)


class SharedCommitVersion(msgspec.Struct, frozen=True):
    """The SQLite engine's `CommitVersion` among workers; the shared value is the length of the write-ahead log."""

    counters: SharedCounters
    worker: int

    def current(self) -> bytes:
        """A value that differs after every commit of any worker."""
        return self.counters.snapshot()

    def advance(self, log_pages: int) -> None:
        """Count a commit; only one worker commits at a time, so this is the newest length of the log."""
        self.counters.shared_value = log_pages
        self.counters.increment(self.worker)

    def log_emptied(self) -> None:
        """Note that no snapshot needs the log."""
        self.counters.shared_value = 0

    def log_pages(self) -> int:
        """The pages of the log that a snapshot might need, as of the last commit of any worker."""
        return self.counters.shared_value


class Worker(msgspec.Struct, frozen=True):
    """What a worker process has of its own, and what it shares with the others."""

    number: int
    catalogue_invalidation: CatalogueInvalidation
    commit_version: SharedCommitVersion
    beats: SharedCounters
    control: socket.socket
    clock_offsets: Offsets  # of a clock that can be moved, a cell for each worker

    @property
    def runs_jobs(self) -> bool:
        """Whether this worker does the background work."""
        return self.number == 0

    def beat(self) -> float:
        """Show the parent that this worker's loop turns; give the seconds until it is to be shown again."""
        self.beats.increment(self.number)
        return _BEAT_SECONDS

    def report_ready(self) -> None:
        """Tell the parent that this worker answers requests now."""
        self.control.send(_READY)


WorkerMain = Callable[[Settings, Worker], int]


class Parent:
    """Accepts connections and sends them to the workers."""

    def __init__(self, settings: Settings, sockets: list[socket.socket], main: WorkerMain) -> None:
        self._settings = settings
        self._sockets = sockets
        self._main = main
        self._catalogue_counters = SharedCounters(settings.workers)
        self._commit_counters = SharedCounters(settings.workers)
        self._clock_offsets = new_offsets(mmap(-1, settings.workers * _COUNTER_BYTES))
        self._controls: dict[int, socket.socket] = {}  # by worker number
        self._processes: dict[int, int] = {}  # process id to worker number
        self._ready: set[int] = set()  # the workers that answer requests
        self._restarts = Restarts(settings.workers)
        self._watch = Watch(SharedCounters(settings.workers))
        self._selector = selectors.DefaultSelector()
        self._round_robin = cycle(range(settings.workers))
        self._accepting = False
        self._accept_after = 0.0
        self._accept_failed = False
        self._stopping = False
        self._signal_numbers = (*_SIGNALS, RELOAD) if settings.reloads else _SIGNALS

    def run(self, started: Callable[[], None]) -> int:
        """Serve until told to stop; give the exit status."""
        self._signals, wakeup = socket.socketpair()
        self._signals.setblocking(False)
        wakeup.setblocking(False)
        signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)
        for signal_number in self._signal_numbers:
            signal.signal(signal_number, _ignore_signal)
        for number in range(self._settings.workers):
            self._start_worker(number)
        if not self._await_ready():
            return self._end(1)
        for control in self._controls.values():
            control.setblocking(False)  # a worker that is stuck must not hold up the others
        started()
        self._selector.register(self._signals, selectors.EVENT_READ, self._handle_signals)
        while not self._stopping:
            if self._restarts.are_pointless:
                log.error("workers.failed", reason="no worker can start; the lines above say why")
                return self._end(1)
            self._accept_if(time.monotonic() >= self._accept_after and bool(self._available()))
            for key, _ in self._selector.select(self._restart_timeout()):
                key.data(key.fileobj)
            self._restart_workers()
            self._kill_lost_workers()
        return self._end(0)

    def _available(self) -> set[int]:
        """The workers that take connections."""
        return self._ready - self._watch.stalled

    def _kill_lost_workers(self) -> None:
        """Look whether the workers' loops turn; one that has been stuck for too long is replaced."""
        lost = self._watch.tick(time.monotonic())
        for process, number in self._processes.items():
            if number in lost:
                log.error("worker.lost", worker=number)
                _signal(process, signal.SIGKILL)

    def _start_worker(self, number: int) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._watch.forget(number)
        process = os.fork()
        if process == 0:
            ours.close()  # or the worker itself would keep the connection open when the parent is gone
            self._become_worker(number, theirs)
        theirs.close()
        self._controls[number] = ours
        self._processes[process] = number

    def _become_worker(self, number: int, control: socket.socket) -> None:
        """Run as a worker in the forked process; never returns."""
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            for signal_number in _SIGNALS:
                signal.signal(signal_number, signal.SIG_DFL)
            if RELOAD in self._signal_numbers:
                # What it is about to load is current.
                signal.signal(RELOAD, signal.SIG_IGN)
            for inherited in [*self._controls.values(), *self._sockets]:
                inherited.close()
            self._selector.close()
            worker = Worker(
                number,
                CatalogueInvalidation(self._catalogue_counters, number),
                SharedCommitVersion(self._commit_counters, number),
                self._watch.beats,
                control,
                self._clock_offsets,
            )
            status = self._main(self._settings, worker)
        except BaseException as error:  # noqa: BLE001 - the parent's stack must not be unwound in the child
            log.error("worker.failed", worker=number, error=error)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _await_ready(self) -> bool:
        """Wait until every worker answers requests; false if one exits instead."""
        for number, control in self._controls.items():
            if control.recv(1) != _READY:
                return False
            self._ready.add(number)
        return True

    def _await_ready_later(self, number: int) -> None:
        """Give a worker that was restarted connections as soon as it says that it answers them."""
        control = self._controls[number]
        control.setblocking(False)

        def handle(_: socket.socket) -> None:
            if self._controls.get(number) is not control:
                return  # its death was noted a moment ago
            self._selector.unregister(control)
            with contextlib.suppress(OSError):
                if control.recv(1) == _READY:
                    self._ready.add(number)
                    self._restarts.succeeded(number)

        self._selector.register(control, selectors.EVENT_READ, handle)

    def _accept_if(self, has_workers: bool) -> None:
        """Accept connections while there is a worker to take them; otherwise they wait in the backlog."""
        if self._accepting == has_workers:
            return
        self._accepting = has_workers
        for listening in self._sockets:
            if has_workers:
                self._selector.register(listening, selectors.EVENT_READ, self._accept)
            else:
                self._selector.unregister(listening)

    def _accept(self, listening: socket.socket) -> None:
        try:
            connection, _ = listening.accept()
        except (BlockingIOError, ConnectionError):
            return  # it is gone already
        except OSError as problem:
            self._pause_accepting(problem)
            return
        if self._accept_failed:
            self._accept_failed = False
            log.info("accept.resumed")
        self._give_away(connection)

    def _pause_accepting(self, problem: OSError) -> None:
        """Most likely no descriptor is free. Clients wait in the backlog; it is said once until one gets in."""
        self._accept_after = time.monotonic() + _ACCEPT_PAUSE_SECONDS
        if not self._accept_failed:
            self._accept_failed = True
            log.warning("accept.failed", reason=str(problem))

    def _give_away(self, connection: socket.socket) -> None:
        """Send a connection to the next worker that takes it; if none does, it is closed."""
        with connection:
            for _ in range(self._settings.workers):
                number = next(self._round_robin)
                if number in self._available() and _send_connection(self._controls[number], connection):
                    return

    def _handle_signals(self, signals: socket.socket) -> None:
        numbers = signals.recv(64)
        if signal.SIGTERM in numbers or signal.SIGINT in numbers:
            self._stopping = True
        if RELOAD in numbers:
            for process in self._processes:
                _signal(process, RELOAD)
        if signal.SIGCHLD in numbers:
            self._reap()

    def _reap(self) -> None:
        """Note which workers have died; they are restarted a little later, while the parent goes on accepting."""
        with contextlib.suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if not process:
                    return
                self._note_death(self._processes.pop(process), os.waitstatus_to_exitcode(status))

    def _note_death(self, number: int, status: int) -> None:
        control = self._controls.pop(number)
        with contextlib.suppress(KeyError):  # it has never said that it is ready
            self._selector.unregister(control)
        control.close()
        was_ready = number in self._ready
        self._ready.discard(number)
        seconds = self._restarts.died(number, time.monotonic(), was_ready=was_ready)
        log.error("worker.died", worker=number, status=status, restart_seconds=seconds)

    def _restart_timeout(self) -> float:
        """Seconds until there is something to be looked at, whatever happens."""
        return max(0.0, min(self._restarts.next_time() - time.monotonic(), _TICK_SECONDS))

    def _restart_workers(self) -> None:
        """Start the workers whose time has come."""
        for number in self._restarts.pop_due(time.monotonic()):
            if self._stopping:
                return
            self._start_worker(number)
            self._await_ready_later(number)

    def _end(self, status: int) -> int:
        """Have all workers answer what is under way, and wait for them, but not for ever."""
        for listening in self._sockets:
            self._give_away_backlog(listening)
            listening.close()
        for process in self._processes:
            _signal(process, signal.SIGTERM)
            _signal(process, signal.SIGCONT)  # one that was stopped would not hear of it
        deadline = time.monotonic() + _STOP_SECONDS
        while self._processes:
            process, wait_status = os.waitpid(-1, os.WNOHANG)
            if process:
                del self._processes[process]
                status = status or abs(os.waitstatus_to_exitcode(wait_status))
            elif time.monotonic() > deadline:
                deadline = float("inf")
                for stuck, number in self._processes.items():
                    log.error("worker.lost", worker=number)
                    _signal(stuck, signal.SIGKILL)
            else:
                self._await_signal()
        return status

    def _await_signal(self) -> None:
        """Wait until a worker may have ended; another request to stop makes the workers hurry."""
        self._signals.settimeout(_TICK_SECONDS)
        with contextlib.suppress(TimeoutError):
            numbers = self._signals.recv(64)
            if signal.SIGTERM in numbers or signal.SIGINT in numbers:
                for process in self._processes:
                    _signal(process, HURRY)

    def _give_away_backlog(self, listening: socket.socket) -> None:
        """Let in whoever has connected already: to them the server was there."""
        if not self._accepting:
            return
        with contextlib.suppress(OSError):
            for _ in range(_BACKLOG):
                self._give_away(listening.accept()[0])


class Watch:
    """Which workers' loops turn, by counters that they increment.

    It counts the parent's own looks and not seconds: if the whole machine was asleep, no worker was late.
    """

    def __init__(self, beats: SharedCounters) -> None:
        self.beats = beats
        self.stalled: set[int] = set()
        self._last: dict[int, int] = {}  # a worker is known from its first beat on
        self._missed: dict[int, int] = {}
        self._next_tick = 0.0

    def forget(self, number: int) -> None:
        """A worker is about to be started."""
        self._last[number] = self.beats.count(number)
        self._missed.pop(number, None)
        self.stalled.discard(number)

    def tick(self, now: float) -> set[int]:
        """Look, if it is time to; give the workers that have been stuck for too long."""
        if now < self._next_tick:
            return set()
        self._next_tick = now + _TICK_SECONDS
        for number, last in self._last.items():
            count = self.beats.count(number)
            if count != last:
                self._last[number] = count
                self._missed[number] = 0
            elif number in self._missed:
                self._missed[number] += 1
        self._note_stalled({number for number, missed in self._missed.items() if missed >= _STALLED_TICKS})
        return {number for number, missed in self._missed.items() if missed >= _LOST_TICKS}

    def _note_stalled(self, stalled: set[int]) -> None:
        for number in stalled - self.stalled:
            log.warning("worker.stalled", worker=number)
        for number in self.stalled - stalled:
            log.info("worker.resumed", worker=number)
        self.stalled = stalled


def _signal(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _ignore_signal(_number: int, _frame: object) -> None:
    """Do nothing: Python writes the signal to the wakeup socket only if it has a handler."""


def _send_connection(control: socket.socket, connection: socket.socket) -> bool:
    try:
        socket.send_fds(control, [_CONNECTION], [connection.fileno()])
    except OSError:
        return False
    return True


class ParentGone(Exception):
    """The parent has ended, and with it the lock on the data."""


class NoDescriptor(Exception):
    """This process has as many connections as it may have; the kernel has closed the one that was sent."""


def receive_connection(control: socket.socket) -> socket.socket | None:
    """The next connection from the parent; None if there is none."""
    try:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except ConnectionError:  # the parent died before it had read what this worker sent
        raise ParentGone from None
    if not message:
        raise ParentGone
    if not descriptors:
        raise NoDescriptor
    return socket.socket(fileno=descriptors[0])
