"""What the gate admits never exceeds what the buckets allow, whichever way it is asked; and it forgets what is over."""

from collections.abc import Callable
from itertools import count

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from hashrange.api.errors import ApiError
from hashrange.api.results import Charge, ItemRead, PageRead, Result
from hashrange.api.throttling.gate import Gate
from hashrange.api.throttling.index_queues import QUEUES_MAX, IndexQueues
from hashrange.capacity.admission import Admission
from hashrange.capacity.limits import LENT_SECONDS
from hashrange.clock import ManualClock
from hashrange.core import items, partitions
from hashrange.core.schema import Table, Throughput
from hashrange.storage.engine import Reader
from hashrange.storage.pages import Page
from schemas import index, item_key
from schemas import table as record

KEYS = [item_key({"S": str(number)}) for number in range(6)]
PARTITIONS = partitions.even(3)
KB = 1024


class Asked:
    """A gate, and what it has admitted when, by partition and by the table as a whole."""

    def __init__(self, rate: int) -> None:
        self.clock = ManualClock()
        self.gate = Gate(Admission(), self.clock, "enforce")
        throughput = Throughput(read_units=rate, write_units=rate)
        self.table = record("pk:S", throughput=throughput, partitions=PARTITIONS)
        self.admitted: dict[tuple[bool, int | None], list[tuple[float, float]]] = {}

    def read_item(self, key: bytes, kilobytes: int) -> None:
        stored = items.encode({"pk": {"S": "x" * kilobytes * KB}}, kilobytes * KB, 0.0)
        self._read(self.gate.guarded, key, ItemRead(self.table, "t", key, stored, consistent=True))

    def read_page(self, key: bytes, kilobytes: int) -> None:
        first = partitions.number_of(PARTITIONS, key)
        page = Page(sizes=dict.fromkeys(range(first, len(PARTITIONS)), kilobytes * KB))
        result = PageRead(self.table, None, "t", key, page, PARTITIONS, consistent=True)
        self._read(self.gate.guarded_page, key, result)

    def _read(self, guarded: Callable[..., Callable[[Reader], Result]], key: bytes, result: Result) -> None:
        try:
            guarded(self.table, None, key, lambda _: result)(None)  # type: ignore[arg-type]
        except ApiError:
            return
        self._admit(list(result.charges()), write=False)

    def write(self, key: bytes, kilobytes: int) -> None:
        if self.gate.write_refusal(self.table, key) is None:
            charge = Charge(self.table, None, key, float(kilobytes), write=True)
            self.gate.charge([charge])
            self._admit([charge], write=True)

    def _admit(self, charges: list[Charge], *, write: bool) -> None:
        now = self.clock.now()
        for charge in charges:
            place = partitions.number_of(PARTITIONS, charge.key)
            self.admitted.setdefault((write, place), []).append((now, charge.units))
        total = sum(charge.units for charge in charges)
        self.admitted.setdefault((write, None), []).append((now, total))


Requests = st.lists(
    st.tuples(
        st.floats(0, 20),
        st.sampled_from(["item", "page", "write"]),
        st.sampled_from(KEYS),
        st.integers(1, 400),
    ),
    max_size=60,
)


@given(Requests, st.integers(1, 400))
def test_items_pages_and_writes_keep_to_the_buckets(
    requests: list[tuple[float, str, bytes, int]], rate: int
) -> None:
    asked = Asked(rate)
    for wait, kind, key, kilobytes in requests:
        asked.clock.advance(wait)
        ask = {"item": asked.read_item, "page": asked.read_page, "write": asked.write}[kind]
        ask(key, kilobytes)
    for (write, place), charges in asked.admitted.items():
        ceiling = 1_000 if write else 3_000
        per_second, depth = (rate, 300 * rate) if place is None else (ceiling, ceiling)
        # What is lent to a partition is not charged yet; its last request may cost more than was lent.
        lent = 0.0 if write else len(PARTITIONS) * (LENT_SECONDS * per_second + 100)
        for first, (begin, _) in enumerate(charges):
            total = 0.0
            for moment, units in charges[first:]:
                assert total <= depth + per_second * (moment - begin) + lent + 1e-6
                total += units


def behind(number: int) -> Table:
    throughput = Throughput(read_units=1, write_units=1)
    own = index("by-g", "g:S", throughput=throughput, slot=3)
    return msgspec.structs.replace(record("pk:S", throughput=throughput, indexes=(own,)), number=number)


def test_queues_of_indexes_that_are_behind_stay_few_and_short() -> None:
    model = Admission()
    queues = IndexQueues(model)
    for number in range(3 * QUEUES_MAX):
        table = behind(number)
        (own,) = table.indexes
        now = number / 10
        for _ in count():
            if queues.blocked(now, table, own) is not None:
                break
            queues.add(now, table, own, KEYS[0], 40.0)
        assert len(queues) <= QUEUES_MAX
    assert len(queues) > 0
