"""Distributions of keys and of children: a text, or a mapping with one member."""

from hashrange.modeling.model import Distribution
from hashrange.modeling.problems import Problems
from hashrange.modeling.reading import quantities, vocabulary
from hashrange.modeling.reading.members import Members, read
from hashrange.modeling.reading.nodes import Node, ScalarNode

UNIFORM = Distribution()


def read_distribution(node: Node | None, what: str, problems: Problems) -> Distribution:
    """`zipf 1.1`, or `{time-rolling: 1h}`."""
    if node is None:
        return UNIFORM
    if isinstance(node, ScalarNode):
        return read(node, quantities.distribution, UNIFORM, problems)
    members = Members(node, f"the distribution of {what}", vocabulary.DISTRIBUTION, problems)
    if "zipf" in members:
        return Distribution("zipf", exponent=members.read("zipf", quantities.exponent, 1.0))
    if "time-rolling" in members:
        return Distribution(
            "time-rolling", window_seconds=members.read("time-rolling", quantities.seconds, 3600)
        )
    return UNIFORM
