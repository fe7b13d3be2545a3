"""The AWS SDK for JavaScript with verified signatures, policies and roles."""

import pytest

from clients import toolchains
from clients.toolchains import NODE
from enforcing import Enforcing

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]  # packages are fetched in a first run


def test_a_tour_with_identities(iam_server: Enforcing) -> None:
    toolchains.tour(NODE, "iam", iam_server.endpoint, iam_server.administrator.environment)
