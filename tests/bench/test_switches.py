"""Reading the figures of a run of all switches."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ratios import Turn


def turns(*rates: tuple[int, float]) -> "list[Turn]":
    import ratios

    return [ratios.Turn("side", requests, 1.0, cpu) for requests, cpu in rates]


def found(**by_side: "list[Turn]") -> dict[str, dict[str, dict[str, float | None]]]:
    import switches

    return switches.figures({"get": by_side})


def test_what_a_side_keeps_is_the_median_of_its_rounds() -> None:
    """Each round is compared with the plain server's turn of the same round, whatever the machine did meanwhile."""
    off = turns((1000, 0.5), (100, 0.05), (500, 0.25))
    iam = turns((700, 0.5), (70, 0.05), (100, 0.25))
    kept = found(off=off, iam=iam)["get"]["iam"]
    assert kept["kept by the clock"] == pytest.approx(0.7)
    assert kept["kept by processor time"] == pytest.approx(0.7)


def test_a_side_that_keeps_too_little_is_named() -> None:
    import switches

    measured = found(off=turns((1000, 0.5)), iam=turns((599, 0.5)), tls=turns((600, 0.5)))
    assert [line.split()[0] for line in switches.missed(measured)] == ["iam"]


def test_every_side_has_a_row() -> None:
    import switches
    from switch_sides import SIDES

    measured = found(**{side.name: turns((1000, 0.5)) for side in SIDES})
    lines = switches.markdown(measured).splitlines()
    assert len(lines) == 2 + len(SIDES)
    assert "1,000/s" in lines[2]
    assert all("100%, CPU 100%" in line for line in lines[3:])


@pytest.mark.parametrize("name", ["TEN", "CONDITIONS", "TENANT"])
def test_the_measured_policies_have_ten_statements(name: str) -> None:
    import policies

    from hashrange.auth.policy.documents import Kind, parse

    policy = parse(getattr(policies, name), Kind.IDENTITY, name="measured")
    assert len(policy.statements) == 10
    assert [bool(statement.conditions) for statement in policy.statements].count(True) >= 3


def test_all_on_has_what_any_side_has() -> None:
    from switch_sides import SIDES

    last = SIDES[-1]
    assert last.name == "all"
    for name in ("encrypts", "tls", "stream", "recovery"):
        assert getattr(last, name)
        assert [side.name for side in SIDES if getattr(side, name)][1:] == ["all"]
    assert (last.auth, last.audit, last.capacity) == ("iam", "all", "enforce")
