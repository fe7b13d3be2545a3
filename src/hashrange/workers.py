"""Several server processes on one port and one data file: a parent that accepts, workers that answer.

The parent owns the listening sockets and the data directory. It hands each new connection to the next worker in
turn, so that the load is shared evenly however the clients connect, and it starts a new worker where one has died.
A worker ends at once when its parent is gone, so nobody is left with the data open.
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
_SLOT_BYTES = 8
_READY = b"r"
_CONNECTION = b"c"
_RESTART_SECONDS = 0.2  # a worker that cannot live must not be started in a loop as fast as it dies

log = logs.Log("workers")


class Board:
    """Numbers that all workers see: each raises one of its own to say that something has changed."""

    def __init__(self, workers: int) -> None:
        """Make it before the workers part; memory that is mapped by then stays shared."""
        self._memory = memoryview(mmap(-1, (workers + 1) * _SLOT_BYTES))
        self._numbers = self._memory.cast("Q")
        self._own = workers * _SLOT_BYTES

    def seen(self) -> bytes:
        """All workers' numbers as they are now, to be compared with what was seen before."""
        return self._memory[: self._own].tobytes()

    def raise_number(self, worker: int) -> None:
        """Say that something has changed; only the worker itself writes its number."""
        self._numbers[worker] += 1

    @property
    def note(self) -> int:
        """One number that belongs to all of them."""
        return self._numbers[-1]

    @note.setter
    def note(self, value: int) -> None:
        self._numbers[-1] = value


class Changes(msgspec.Struct, frozen=True):
    """One worker's view of who has changed the catalogue: the catalogue's `CacheInvalidation`."""

    board: Board
    worker: int

    def version(self) -> bytes:
        """What differs after every change of any worker."""
        return self.board.seen()

    def invalidate(self) -> None:
        """Have all workers read the catalogue again."""
        self.board.raise_number(self.worker)


class Commits(msgspec.Struct, frozen=True):
    """One worker's view of who has committed: the engine's `CommitVersion`."""

    board: Board
    worker: int

    def current(self) -> bytes:
        """What differs after every commit of any worker."""
        return self.board.seen()

    def advance(self, log_pages: int) -> None:
        """Note a commit; only one worker commits at a time, so the length of the log is the newest."""
        self.board.note = log_pages
        self.board.raise_number(self.worker)

    def log_emptied(self) -> None:
        """Note that the whole log is in the file."""
        self.board.note = 0

    def log_pages(self) -> int:
        """The pages of the log that are not in the file, as of the last commit of any worker."""
        return self.board.note


class Place(msgspec.Struct, frozen=True):
    """What a worker process needs to know of its place among the others."""

    number: int
    changes: Changes
    commits: Commits
    control: socket.socket

    @property
    def leads(self) -> bool:
        """The first worker also does the background work."""
        return self.number == 0

    def ready(self) -> None:
        """Tell the parent that requests are answered now."""
        self.control.send(_READY)


WorkerMain = Callable[[Settings, Place], int]


class Parent:
    """Accepts connections and deals them out."""

    def __init__(self, settings: Settings, sockets: list[socket.socket], main: WorkerMain) -> None:
        self._settings = settings
        self._sockets = sockets
        self._main = main
        self._changes = Board(settings.workers)
        self._commits = Board(settings.workers)
        self._controls: dict[int, socket.socket] = {}  # by worker number
        self._processes: dict[int, int] = {}  # process id to worker number
        self._selector = selectors.DefaultSelector()
        self._turns = cycle(range(settings.workers))
        self._stopping = False

    def run(self, started: Callable[[], None]) -> int:
        """Serve until told to stop; give the exit status."""
        wake, bell = socket.socketpair()
        wake.setblocking(False)
        bell.setblocking(False)
        signal.set_wakeup_fd(bell.fileno(), warn_on_full_buffer=False)
        for caught in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
            signal.signal(caught, _noted)
        for number in range(self._settings.workers):
            self._start_worker(number)
        if not self._await_ready():
            return self._end(1)
        for control in self._controls.values():
            control.setblocking(False)  # a worker that is stuck must not hold up the others
        started()
        self._selector.register(wake, selectors.EVENT_READ, self._signalled)
        for each in self._sockets:
            self._selector.register(each, selectors.EVENT_READ, self._accept)
        while not self._stopping:
            for key, _ in self._selector.select():
                key.data(key.fileobj)
        return self._end(0)

    def _start_worker(self, number: int) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        process = os.fork()
        if process == 0:
            ours.close()  # or the worker would keep its own line open when the parent is gone
            self._become_worker(number, theirs)
        theirs.close()
        self._controls[number] = ours
        self._processes[process] = number

    def _become_worker(self, number: int, control: socket.socket) -> None:
        """Never returns: the child does a worker's work and ends."""
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            for caught in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
                signal.signal(caught, signal.SIG_DFL)
            for other in [*self._controls.values(), *self._sockets]:
                other.close()
            self._selector.close()
            changes, commits = Changes(self._changes, number), Commits(self._commits, number)
            status = self._main(self._settings, Place(number, changes, commits, control))
        except BaseException as error:  # noqa: BLE001 - the parent's stack must not be unwound in the child
            log.error("worker.failed", worker=number, error=error)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _await_ready(self) -> bool:
        """Wait until every worker answers requests; false if one ends instead."""
        return all(control.recv(1) == _READY for control in self._controls.values())

    def _accept(self, listening: socket.socket) -> None:
        try:
            connection, _ = listening.accept()
        except OSError as error:
            log.warning("accept.failed", error=error)
            return
        with connection:
            for _ in range(self._settings.workers):
                control = self._controls.get(next(self._turns))
                if control is not None and _handed(control, connection):
                    return

    def _signalled(self, wake: socket.socket) -> None:
        numbers = wake.recv(64)
        if signal.SIGTERM in numbers or signal.SIGINT in numbers:
            self._stopping = True
        if signal.SIGCHLD in numbers:
            self._reap()

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                number = self._processes.pop(found[0])
                self._controls.pop(number).close()
                log.error("worker.died", worker=number, status=os.waitstatus_to_exitcode(found[1]))
                if not self._stopping:
                    time.sleep(_RESTART_SECONDS)
                    self._start_worker(number)
                    self._controls[number].setblocking(False)

    def _end(self, status: int) -> int:
        for each in self._sockets:
            each.close()
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
        for process in list(self._processes):
            with contextlib.suppress(ChildProcessError):
                _, ended = os.waitpid(process, 0)
                status = status or abs(os.waitstatus_to_exitcode(ended))
        return status


def _noted(_number: int, _frame: object) -> None:
    """The wake-up socket has the signal's number; a handler must exist for it to be written there."""


def _handed(control: socket.socket, connection: socket.socket) -> bool:
    try:
        socket.send_fds(control, [_CONNECTION], [connection.fileno()])
    except OSError:
        return False
    return True


def received(control: socket.socket) -> socket.socket | None:
    """The next connection from the parent; None when the parent is gone."""
    try:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    except ConnectionError:  # it left something of ours unread
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
            bound = socket.socket(family, kind, protocol)
            sockets.append(bound)
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            chosen = port or (sockets[0].getsockname()[1] if len(sockets) > 1 else 0)
            bound.bind((address[0], chosen, *address[2:]))
            bound.listen(_BACKLOG)
            bound.setblocking(False)
    except BaseException:
        for each in sockets:
            each.close()
        raise
    return sockets
