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
from hashrange.config import Settings

_BACKLOG = 1024
_COUNTER_BYTES = 8
_READY = b"r"
_CONNECTION = b"c"
_RESTART_SECONDS = 0.2  # a worker that cannot start must not be restarted in a tight loop
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)

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
    control: socket.socket

    @property
    def runs_jobs(self) -> bool:
        """Whether this worker does the background work."""
        return self.number == 0

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
        self._controls: dict[int, socket.socket] = {}  # by worker number
        self._processes: dict[int, int] = {}  # process id to worker number
        self._restart_times: dict[int, float] = {}  # by number of a worker that has died
        self._selector = selectors.DefaultSelector()
        self._round_robin = cycle(range(settings.workers))
        self._accepting = False
        self._stopping = False

    def run(self, started: Callable[[], None]) -> int:
        """Serve until told to stop; give the exit status."""
        signals, wakeup = socket.socketpair()
        signals.setblocking(False)
        wakeup.setblocking(False)
        signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)
        for signal_number in _SIGNALS:
            signal.signal(signal_number, _ignore_signal)
        for number in range(self._settings.workers):
            self._start_worker(number)
        if not self._await_ready():
            return self._end(1)
        for control in self._controls.values():
            control.setblocking(False)  # a worker that is stuck must not hold up the others
        started()
        self._selector.register(signals, selectors.EVENT_READ, self._handle_signals)
        while not self._stopping:
            self._accept_if(bool(self._controls))
            for key, _ in self._selector.select(self._restart_timeout()):
                key.data(key.fileobj)
            self._restart_workers()
        return self._end(0)

    def _start_worker(self, number: int) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
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
            for inherited in [*self._controls.values(), *self._sockets]:
                inherited.close()
            self._selector.close()
            worker = Worker(
                number,
                CatalogueInvalidation(self._catalogue_counters, number),
                SharedCommitVersion(self._commit_counters, number),
                control,
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
        return all(control.recv(1) == _READY for control in self._controls.values())

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
        except OSError as error:
            log.warning("accept.failed", error=error)
            return
        with connection:
            for _ in range(self._settings.workers):
                control = self._controls.get(next(self._round_robin))
                if control is not None and _send_connection(control, connection):
                    return

    def _handle_signals(self, signals: socket.socket) -> None:
        numbers = signals.recv(64)
        if signal.SIGTERM in numbers or signal.SIGINT in numbers:
            self._stopping = True
        if signal.SIGCHLD in numbers:
            self._reap()

    def _reap(self) -> None:
        """Note which workers have died; they are restarted a little later, while the parent goes on accepting."""
        with contextlib.suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if not process:
                    return
                number = self._processes.pop(process)
                self._controls.pop(number).close()
                self._restart_times[number] = time.monotonic() + _RESTART_SECONDS
                log.error("worker.died", worker=number, status=os.waitstatus_to_exitcode(status))

    def _restart_timeout(self) -> float | None:
        """Seconds until the next worker is to be restarted; None if all are running."""
        if not self._restart_times:
            return None
        return max(0.0, min(self._restart_times.values()) - time.monotonic())

    def _restart_workers(self) -> None:
        """Start the workers whose time has come."""
        now = time.monotonic()
        due = [number for number, restart_at in self._restart_times.items() if restart_at <= now]
        for number in due:
            if self._stopping:
                return
            del self._restart_times[number]
            self._start_worker(number)
            self._controls[number].setblocking(False)

    def _end(self, status: int) -> int:
        for listening in self._sockets:
            listening.close()
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
        for process in list(self._processes):
            with contextlib.suppress(ChildProcessError):
                _, wait_status = os.waitpid(process, 0)
                status = status or abs(os.waitstatus_to_exitcode(wait_status))
        return status


def _ignore_signal(_number: int, _frame: object) -> None:
    """Do nothing: Python writes the signal to the wakeup socket only if it has a handler."""


def _send_connection(control: socket.socket, connection: socket.socket) -> bool:
    try:
        socket.send_fds(control, [_CONNECTION], [connection.fileno()])
    except OSError:
        return False
    return True


def receive_connection(control: socket.socket) -> socket.socket | None:
    """The next connection from the parent; None when the parent is gone."""
    try:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    except ConnectionError:  # the parent died before it had read what this worker sent
        return None
    if not message:
        return None
    return socket.socket(fileno=descriptors[0])


def listen(host: str, port: int) -> list[socket.socket]:
    """Bound and listening sockets for every address of a host, all on one port."""
    sockets: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            listening = socket.socket(family, kind, protocol)
            sockets.append(listening)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            bound_port = port or (sockets[0].getsockname()[1] if len(sockets) > 1 else 0)
            listening.bind((address[0], bound_port, *address[2:]))
            listening.listen(_BACKLOG)
            listening.setblocking(False)
    except BaseException:
        for listening in sockets:
            listening.close()
        raise
    return sockets
