"""Capacity units."""

import pytest

from hashrange.core import capacity


@pytest.mark.parametrize(("size", "units"), [(0, 1), (1, 1), (1024, 1), (1025, 2), (409_600, 400)])
def test_write_units(size: int, units: int) -> None:
    assert capacity.write_units(size) == units


@pytest.mark.parametrize(("size", "units"), [(0, 1), (1, 1), (4096, 1), (4097, 2), (409_600, 100)])
def test_read_units(size: int, units: int) -> None:
    assert capacity.read_units(size, consistent=True) == units
    assert capacity.read_units(size, consistent=False) == units / 2
