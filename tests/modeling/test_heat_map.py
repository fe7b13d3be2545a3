"""The heat of partitions over a day, by those that there are at its end."""

from hashrange.modeling.load.heat_map import ROWS_MAX, SLOTS, HeatRecord


def test_parts_of_a_split_partition_show_its_heat_before_the_split() -> None:
    record = HeatRecord()
    record.note(0, (b"", b"\x80"), [0.1, 0.9])
    record.note(29, (b"", b"\x80"), [0.3, 0.2])
    record.note(30, (b"", b"\x80", b"\xc0"), [0.1, 0.4, 0.5])
    rows = record.map((b"", b"\x80", b"\xc0")).rows
    assert [row.partition for row in rows] == [1, 2, 3]
    assert [row.uses[:3] for row in rows] == [(0.3, 0.1, 0.0), (0.9, 0.4, 0.0), (0.9, 0.5, 0.0)]
    assert {len(row.uses) for row in rows} == {SLOTS}


def test_the_hottest_partitions_are_kept_in_the_order_of_their_keys() -> None:
    bounds = tuple(bytes([at]) if at else b"" for at in range(60))
    record = HeatRecord()
    record.note(600, bounds, [float(at % 30) for at in range(60)])
    heat = record.map(bounds)
    assert (len(heat.rows), heat.cooler) == (ROWS_MAX, 60 - ROWS_MAX)
    numbers = [row.partition for row in heat.rows]
    assert numbers == sorted(numbers)
    assert min(row.uses[20] for row in heat.rows) == 18.0
