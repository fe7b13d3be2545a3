"""What can go wrong in a cluster, one thing after the other, each undone before the next."""

import random
import signal
import time
from collections.abc import Callable

from scaleout.cluster import Cluster, Node
from scaleout.servers import Servers


class Faults:
    """A random sequence of faults, all kinds equally often."""

    def __init__(self, cluster: Cluster, servers: Servers, chance: random.Random) -> None:
        self._cluster = cluster
        self._servers = servers
        self._chance = chance

    def sequence(self, count: int) -> list[Callable[[], None]]:
        kinds = [
            self.kill_server,
            self.pause_server,
            self.kill_replica,
            self.pause_replica,
            self.lose_replicas,
            self.pause_leader,
            self.fail_over,
            self.cut_lines,
            self.silence_lines,
        ]
        found = [kinds[number % len(kinds)] for number in range(count)]
        self._chance.shuffle(found)
        return found

    def kill_server(self) -> None:
        self._servers.kill(self._server())

    def pause_server(self) -> None:
        number = self._server()
        self._servers.signal(number, signal.SIGSTOP)
        time.sleep(self._chance.uniform(0.3, 1.5))
        self._servers.signal(number, signal.SIGCONT)

    def kill_replica(self) -> None:
        node = self._chance.choice(self._cluster.replicas)
        node.server.kill()
        time.sleep(self._chance.uniform(0.1, 0.5))
        self._cluster.restart(node)

    def pause_replica(self) -> None:
        self._pause(self._chance.choice(self._cluster.replicas))

    def lose_replicas(self) -> None:
        """No commit can be confirmed for a while."""
        replicas = self._cluster.replicas
        for node in replicas:
            node.server.kill()
        time.sleep(self._chance.uniform(0.5, 3))
        for node in replicas:
            self._cluster.restart(node)

    def pause_leader(self) -> None:
        self._pause(self._cluster.leader)

    def fail_over(self) -> None:
        self._cluster.fail_over()

    def cut_lines(self) -> None:
        """Every connection between servers and databases ends at once."""
        for _ in range(self._chance.randint(1, 3)):
            for node in self._cluster.nodes:
                node.proxy.cut()
            time.sleep(self._chance.uniform(0, 0.2))

    def silence_lines(self) -> None:
        """What is sent arrives, what is answered does not; then the lines break."""
        for node in self._cluster.nodes:
            node.proxy.answers.clear()
        time.sleep(self._chance.uniform(0.1, 0.5))
        for node in self._cluster.nodes:
            node.proxy.cut()
            node.proxy.answers.set()

    def _pause(self, node: Node) -> None:
        node.signal(signal.SIGSTOP)
        time.sleep(self._chance.uniform(0.3, 1.5))
        node.signal(signal.SIGCONT)

    def _server(self) -> int:
        return self._chance.randrange(len(self._servers.running))
