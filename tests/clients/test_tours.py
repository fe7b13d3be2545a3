"""Tours of the SDKs of other languages, and of what people put on top of them."""

import pytest

from clients import toolchains
from clients.toolchains import GO, JAVA, KCL, NODE, PYTHON, RUST, Toolchain
from serving import Serving

TOURS = [
    *((NODE, tour) for tour in ("sdk", "dynamoose", "electrodb", "onetable", "sessions", "toolbox")),
    *((PYTHON, tour) for tour in ("aiodynamo", "celery", "dynamo3", "pydynamodb", "pyiceberg")),
    (GO, "tour"),
    (JAVA, "Sdk"),
    (JAVA, "Enhanced"),
    (KCL, "Consumer"),
    (RUST, "tour"),
]
# Packages are fetched in a first run, and compiled by `make clients`.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]


@pytest.mark.parametrize(
    ("toolchain", "tour"), TOURS, ids=[f"{toolchain.name}-{tour}" for toolchain, tour in TOURS]
)
def test_a_tour_with(toolchain: Toolchain, tour: str, server: Serving) -> None:
    problems = toolchains.tour(toolchain, tour, server.endpoint)
    assert "checksum" not in problems  # Go's SDK verifies it, and goes on with a warning


def test_every_tour_is_taken() -> None:
    taken = {(toolchain.name, tour) for toolchain, tour in TOURS}
    suffixes = {
        "node": ".mjs",
        "python": "_tour.py",
        "go": ".go",
        "java": ".java",
        "kcl": ".java",
        "rust": ".rs",
    }
    helpers = {("node", "settings"), ("java", "Settings"), ("node", "iam")}  # whose server wants signatures
    there = {
        (name, path.name.removesuffix(suffix))
        for name, suffix in suffixes.items()
        for path in (toolchains.SOURCES / name).iterdir()
        if path.name.endswith(suffix)
    }
    assert there - helpers == taken
