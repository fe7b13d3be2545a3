"""When the passing statuses of a table and its indexes end."""

from hashrange.core.table_life import next_moment
from schemas import index, table


def test_the_next_moment_is_that_of_the_first_status_to_pass() -> None:
    indexes = (
        index("passing", "g:S", status="CREATING", settles_at=50.0),
        index("passed", "h:S", slot=2, status="UPDATING", settles_at=10.0),
        index("steady", "i:S", slot=3, settles_at=30.0),
    )
    steady = table("pk:S", indexes=indexes, settles_at=20.0)
    assert next_moment(steady, 10.0) == 50.0
    assert next_moment(steady, 49.9) == 50.0
    assert next_moment(steady, 50.0) is None
    updating = table("pk:S", indexes=indexes, status="UPDATING", settles_at=40.0)
    assert next_moment(updating, 10.0) == 40.0
    assert next_moment(updating, 40.0) == 50.0
    assert next_moment(table("pk:S"), 0.0) is None
