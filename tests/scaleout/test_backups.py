"""Two servers on one database, killed in turn while one makes backups and restores: every copy is one moment."""

import random
import time
from pathlib import Path

import pytest

from bank import (
    Copy,
    Teller,
    await_transfers,
    back_up,
    check_copies,
    open_bank,
    restore_backup,
    restore_to,
    trading,
)
from faults.line import Line
from scaleout.servers import Servers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_backups_and_restores_when_a_server_dies(
    database: str, isolation: str, seed: int, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    servers = Servers(
        2, "--engine", database, "--postgres-isolation", isolation, "--backups", str(tmp_path / "backups")
    )
    tellers = [Teller(f"teller-{number}", f"{seed}-{number}") for number in range(3)]
    backups: list[Copy] = []
    restored: list[Copy] = []

    def port() -> int:
        return chance.choice(servers.ports())

    try:
        with Line(port()) as line:
            enabled_at = open_bank(line, tellers)
        for round_number in range(4):
            with trading(tellers, port), Line(servers.ports()[1 - round_number % 2]) as line:
                time.sleep(1.1)  # there is a whole second more to go back to
                await_transfers(tellers, 20 * (round_number + 1))
                backups.append(back_up(line))
                second = chance.randrange(int(enabled_at), int(time.time()))
                restored.append(restore_to(line, second, f"to-second-{round_number}"))
                time.sleep(chance.uniform(0, 0.5))
                servers.kill(round_number % 2)
        with Line(port(), timeout=60) as line:
            restored += [restore_backup(line, copy, f"copy-{at}") for at, copy in enumerate(backups)]
            check_copies(line, restored, tellers)
    finally:
        servers.close()
    assert not [log for log in servers.logs if "Traceback" in log]
