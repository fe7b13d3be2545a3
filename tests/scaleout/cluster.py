"""Three PostgreSQL nodes on loopback, a leader and two replicas; a commit counts when it is on two of three."""

import contextlib
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg

from postgres_server import FAST, PostgresServer, directory, own, run
from tcp_proxy import Proxy

NAMES = ("n0", "n1", "n2")
_SETTINGS = {
    "wal_level": "replica",
    "full_page_writes": "on",  # or pg_rewind refuses
    "max_wal_senders": "10",
    "wal_log_hints": "on",
    "hot_standby": "on",
    "wal_keep_size": "'256MB'",
    "wal_receiver_timeout": "'5s'",
    "wal_retrieve_retry_interval": "'200ms'",
    "synchronous_standby_names": "'ANY 1 (n0, n1, n2)'",
}


class Node:
    """One server, and the line on which everyone reaches it."""

    def __init__(self, name: str, path: Path) -> None:
        path.mkdir()
        own(path)
        self.name = name
        self.server = PostgresServer(path)
        self.proxy = Proxy(self.server.port)

    @property
    def is_up(self) -> bool:
        return self.server.process is not None and self.server.process.poll() is None

    def signal(self, number: int) -> None:
        """Send a signal to all of its processes."""
        for process in self.server.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def conninfo(self) -> str:
        return f"host=127.0.0.1 port={self.server.port} user=postgres"


class Cluster:
    """The nodes, of which one leads."""

    def __init__(self, path: Path) -> None:
        self.nodes = [Node(name, path / name) for name in NAMES]
        self.leader = self.nodes[0]
        self.leader.server.create(**{**FAST, **_SETTINGS})
        # Until there are replicas, nobody could confirm a commit.
        self.leader.server.configure(synchronous_standby_names="''")
        self.leader.server.start()
        for node in self.nodes[1:]:
            self._clone(node)
            node.server.start()
        self.leader.server.configure(synchronous_standby_names=_SETTINGS["synchronous_standby_names"])
        self.leader.server.execute("SELECT pg_reload_conf()")
        self.wait_for_replicas(2)

    @property
    def replicas(self) -> list[Node]:
        return [node for node in self.nodes if node is not self.leader]

    def url(self) -> str:
        """All nodes, by their lines; whoever takes writes is meant."""
        places = ",".join(f"127.0.0.1:{node.proxy.port}" for node in self.nodes)
        return f"postgresql://postgres@{places}/postgres?connect_timeout=2"

    def replica_urls(self) -> str:
        return ",".join(f"postgresql://postgres@127.0.0.1:{node.proxy.port}/postgres" for node in self.nodes)

    def wait_for_replicas(self, count: int, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while len(self._streaming()) < count:
            assert time.monotonic() < deadline, "the replicas do not follow"
            time.sleep(0.05)

    def fail_over(self) -> None:
        """Kill the leader, promote the replica that has received most, and make the old leader follow it."""
        old = self.leader
        old.server.kill()
        running = [node for node in self.replicas if node.is_up]
        new = max(running, key=received)
        new.server.execute("SELECT pg_promote(true, 30)")
        self.leader = new
        for node in running:
            if node is not new:
                self._follow(node)
        self._rejoin(old)

    def restart(self, node: Node) -> None:
        """Start a replica that was killed."""
        node.server.start()

    def close(self) -> None:
        for node in self.nodes:
            node.signal(signal.SIGCONT)
            if node.is_up:
                node.server.stop(signal.SIGQUIT)
            node.proxy.close()

    def _streaming(self) -> list[str]:
        with contextlib.suppress(psycopg.Error):
            rows = self.leader.server.execute(
                "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'"
            )
            return [name for (name,) in rows]
        return []

    def _clone(self, node: Node) -> None:
        run(
            "pg_basebackup", "-d", self.leader.conninfo(), "-D", str(node.server.data), "-X", "stream",
            "-c", "fast", "--no-sync",
        )  # fmt: skip
        self._set_up_standby(node)

    def _set_up_standby(self, node: Node) -> None:
        (node.server.data / "standby.signal").touch()
        own(node.server.data / "standby.signal")
        node.server.configure(
            primary_conninfo=f"'{self.leader.conninfo()} application_name={node.name}'",
            synchronous_standby_names=_SETTINGS["synchronous_standby_names"],
        )

    def _follow(self, node: Node) -> None:
        """Have a running replica follow the leader of now."""
        node.server.configure(primary_conninfo=f"'{self.leader.conninfo()} application_name={node.name}'")
        node.server.execute("SELECT pg_reload_conf()")

    def _rejoin(self, node: Node) -> None:
        """Bring a former leader, which may have commits that nobody knows of, back as a replica."""
        run(
            "pg_rewind", "-D", str(node.server.data), "--source-server", f"{self.leader.conninfo()} dbname=postgres",
            "--no-sync",
        )  # fmt: skip
        self._set_up_standby(node)
        node.server.start()


def received(node: Node) -> int:
    """How much of the log a replica has."""
    ((position,),) = node.server.execute(
        "SELECT pg_wal_lsn_diff(greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()), '0/0')"
    )
    return int(position)


@contextmanager
def cluster() -> Iterator[Cluster]:
    with directory() as path:
        running = Cluster(path)
        try:
            yield running
        finally:
            running.close()
