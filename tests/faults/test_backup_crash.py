"""kill -9 while backups and restores are under way and transfers are made: every copy is exactly one moment."""

import time
from pathlib import Path
from random import Random

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
from hashrange import cli
from serving import serving
from sizes import size

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SEED = 20261116


@pytest.mark.parametrize(("workers", "rounds"), [(1, size(3, 6)), (2, size(2, 4))])
def test_backups_and_restores_across_crashes(tmp_path: Path, workers: int, rounds: int) -> None:
    random = Random(SEED)
    flags = ("--data-dir", str(tmp_path), "--log-level", "warning", "--workers", str(workers))
    tellers = [Teller(f"teller-{number}", f"{SEED}-{number}") for number in range(4)]
    backups: list[Copy] = []
    restored: list[Copy] = []
    enabled_at = 0.0
    for round_number in range(rounds):
        with serving(*flags) as server:
            port = server.port
            with Line(port) as line:
                if round_number == 0:
                    enabled_at = open_bank(line, tellers)
                with trading(tellers, lambda: port):  # noqa: B023 - used within the round only
                    time.sleep(1.1)  # there is a whole second more to go back to
                    await_transfers(tellers, 20 * (round_number + 1))
                    backups.append(back_up(line))
                    second = random.randrange(int(enabled_at), int(time.time()))
                    restored.append(restore_to(line, second, f"to-second-{round_number}"))
                    time.sleep(random.uniform(0, 0.5))
                    server.process.kill()
                    server.process.wait(60)
            assert "Traceback" not in server.log_text()
    with serving(*flags) as server, Line(server.port) as line:
        restored += [restore_backup(line, copy, f"copy-{at}") for at, copy in enumerate(backups)]
        check_copies(line, restored, tellers)
        assert cli.main(["verify", str(tmp_path)]) == 0  # beside the server
    assert cli.main(["verify", str(tmp_path)]) == 0
    assert not list((tmp_path / "backups").rglob("*.tmp"))
