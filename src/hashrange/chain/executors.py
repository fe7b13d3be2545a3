"""Choosing what runs calls."""

from hashrange.chain.background import Background
from hashrange.chain.executor import LocalExecutor
from hashrange.chain.shared_executor import SharedExecutor
from hashrange.storage.engine import Engine
from hashrange.storage.follower import Follower


def executor_for(
    engine: Engine, followed: Follower | None, background: Background
) -> LocalExecutor | SharedExecutor:
    """What runs calls; an engine that waits for a network is never asked on the loop's thread."""
    if followed is None:
        return LocalExecutor(engine, background)
    return SharedExecutor(engine, followed, background)
