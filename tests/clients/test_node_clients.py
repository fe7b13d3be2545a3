"""Clients from npm: the AWS SDK v3 with its document client, ElectroDB, Dynamoose."""

import subprocess
from typing import Any

import pytest

from clients import npm
from serving import Serving

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]  # the first run fetches the packages


@pytest.mark.parametrize("tour", ["sdk", "electrodb", "dynamoose"])
def test_a_tour_with(tour: str, server: Serving) -> None:
    folder = npm.installed()
    command: list[Any] = ["node", folder / f"{tour}.mjs", server.endpoint]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    assert "tour complete" in done.stdout
