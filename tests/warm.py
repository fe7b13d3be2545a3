"""The command in processes forked off one that has imported it already: a start takes a tenth of the time.

Starting Python and importing the server takes most of a second, hundreds of times in a run of the tests. Here one
process per worker of pytest, the nursery, imports it once; each start is a fork of it, which then is what
`python -m hashrange` is after its imports: arguments, environment, folder, standard output and standard error are
the caller's. What depends on the interpreter's own start (arguments as others see them, variables that Python itself
reads) is started cold.
"""

import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

COLD = (sys.executable, "-m", "hashrange")
_MESSAGE_BYTES_MAX = 150_000
_DESCRIPTORS = 2  # standard output and standard error


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that Python and the loader of libraries read before anything else."""
    return {name: value for name, value in environment.items() if name.startswith(("PYTHON", "LD_"))}


_ENVIRONMENT = dict(os.environ)  # the nursery's, whatever a test has changed by the time it is started


class Process(Protocol):
    """What the tests use of `subprocess.Popen`."""

    returncode: Any
    stdout: IO[str] | None

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...
    def terminate(self) -> None: ...
    def kill(self) -> None: ...


class Nursery:
    """A process that forks whenever it is told to, and tells how its children ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=_ENVIRONMENT,
            )

    def start(self, words: Sequence[str], output: int, errors: int, environment: Mapping[str, str]) -> int:
        """Run the command in a fork; give its process id."""
        message = {"words": list(words), "environment": dict(environment), "folder": str(Path.cwd())}
        return self._ask(message, [output, errors])

    def end_of(self, pid: int) -> int:
        """The exit status of a child that has ended; nobody else has its id before this was asked."""
        return os.waitstatus_to_exitcode(self._ask({"ended": pid}, []))

    def _ask(self, message: dict[str, Any], descriptors: list[int]) -> int:
        with self._lock:
            socket.send_fds(self._line, [json.dumps(message).encode()], descriptors)
            return int(self._line.recv(_MESSAGE_BYTES_MAX))

    def close(self) -> None:
        self._line.close()
        self._process.wait()


class Forked:
    """A child of the nursery, with the interface of `subprocess.Popen`."""

    def __init__(self, nursery: Nursery, pid: int, stdout: IO[str] | None = None) -> None:
        self.pid, self.stdout = pid, stdout
        self.returncode: int | None = None
        self._nursery = nursery
        self._descriptor = os.pidfd_open(pid)

    def poll(self) -> int | None:
        return self.returncode if self._has_ended(0) else None

    def wait(self, timeout: float | None = None) -> int:
        if not self._has_ended(timeout):
            raise subprocess.TimeoutExpired("hashrange", timeout or 0)
        assert self.returncode is not None
        return self.returncode

    def _has_ended(self, timeout: float | None) -> bool:
        if self.returncode is None:
            waiting = select.poll()
            waiting.register(self._descriptor, select.POLLIN)
            if not waiting.poll(None if timeout is None else timeout * 1000):
                return False
            self.returncode = self._nursery.end_of(self.pid)
            os.close(self._descriptor)
        return True

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class _Nurseries:
    """The nursery of this process, if it is to have one."""

    def __init__(self) -> None:
        self.is_wanted = False
        self._nursery: Nursery | None = None

    def nursery(self, environment: Mapping[str, str]) -> Nursery | None:
        """None where every start is to be cold, or where Python itself would have started differently."""
        is_same = _read_at_start(environment) == _read_at_start(_ENVIRONMENT)
        if not self.is_wanted or not is_same or not hasattr(os, "pidfd_open"):
            return None
        self._nursery = self._nursery or Nursery()
        return self._nursery

    def close(self) -> None:
        self.is_wanted = False
        if self._nursery is not None:
            self._nursery.close()
            self._nursery = None


nurseries = _Nurseries()


def start(words: Sequence[str], *, errors: IO[Any], environment: Mapping[str, str]) -> Process:
    """Run the command with a pipe for its standard output."""
    nursery = nurseries.nursery(environment)
    if nursery is None:
        return subprocess.Popen(
            [*COLD, *words], stdout=subprocess.PIPE, stderr=errors, text=True, env=dict(environment)
        )
    reading, writing = os.pipe()
    stdout = os.fdopen(reading, encoding="utf-8")
    try:
        return Forked(nursery, nursery.start(words, writing, errors.fileno(), environment), stdout)
    finally:
        os.close(writing)


def run(
    *words: str,
    environment: Mapping[str, str] | None = None,
    output: int | None = None,
    errors: int | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end; give its exit status, and what it has written where no descriptor was given."""
    variables = {**os.environ, **(environment or {})}
    with tempfile.TemporaryFile() as written, tempfile.TemporaryFile() as told:
        process = _started(
            words,
            written.fileno() if output is None else output,
            told.fileno() if errors is None else errors,
            variables,
        )
        try:
            status = process.wait(timeout)
        finally:
            process.kill()
        return subprocess.CompletedProcess(words, status, _text(written), _text(told))


def _started(words: Sequence[str], output: int, errors: int, variables: Mapping[str, str]) -> Process:
    if (nursery := nurseries.nursery(variables)) is not None:
        return Forked(nursery, nursery.start(words, output, errors, variables))
    return subprocess.Popen([*COLD, *words], stdout=output, stderr=errors, env=dict(variables), text=True)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


# In the nursery.


def _fork_when_told(line: socket.socket) -> list[str]:
    """In the nursery this never returns; in each fork it gives the words behind `hashrange`."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(line, _MESSAGE_BYTES_MAX, _DESCRIPTORS)
        if not message:
            sys.exit()
        told = json.loads(message)
        if "ended" in told:
            line.send(b"%d" % os.waitpid(told["ended"], 0)[1])
        elif (pid := os.fork()) == 0:
            line.close()
            return _become(told, descriptors)
        else:
            for descriptor in descriptors:
                os.close(descriptor)
            line.send(b"%d" % pid)


def _become(told: dict[str, Any], descriptors: list[int]) -> list[str]:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, descriptor in zip((1, 2), descriptors, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(told["environment"])
    os.chdir(told["folder"])
    words: list[str] = told["words"]
    sys.argv[:] = ["hashrange", *words]
    return words


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the keyboard's, which whoever runs pytest gets as well
    from hashrange.cli import COMMANDS, main

    for command in COMMANDS:
        command.load()
    gc.collect()
    gc.freeze()
    sys.exit(main(_fork_when_told(socket.socket(fileno=int(sys.argv[1])))))
