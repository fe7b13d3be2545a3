"""Metrics in Prometheus' text form.

What is measured belongs to the data and not to a process: a scrape may reach any worker of any server and must get the
same answer. So a metric is read from the engine when it is asked for: a total is one of the engine's counters, added to
in the transaction that it counts, and a gauge is computed from the rows.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


class Sample(msgspec.Struct, frozen=True):
    """One value of a metric; those of a histogram have names with a suffix."""

    labels: Mapping[str, str]
    value: float
    suffix: Literal["", "_bucket", "_sum", "_count"] = ""


class Metric(msgspec.Struct, frozen=True):
    """A metric with its values. Names end with their unit, and those of counters with `_total`."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    samples: list[Sample]


def render(metrics: Iterable[Metric]) -> bytes:
    """The metrics as a page that Prometheus reads."""
    lines = []
    for metric in metrics:
        lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}"]
        lines += [
            f"{metric.name}{sample.suffix}{_labels(sample)} {_number(sample.value)}"
            for sample in metric.samples
        ]
    return "".join(f"{line}\n" for line in lines).encode()


def _number(value: float) -> str:
    """Whole numbers without a point, however large."""
    return str(int(value)) if value == int(value) else repr(value)


def _labels(sample: Sample) -> str:
    pairs = [f'{name}="{value.translate(_ESCAPES)}"' for name, value in sample.labels.items()]
    return f"{{{','.join(pairs)}}}" if pairs else ""
