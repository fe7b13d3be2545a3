"""How much the long tests do: enough to notice what breaks, and more with HASHRANGE_THOROUGH=1."""

import os

IS_THOROUGH = os.environ.get("HASHRANGE_THOROUGH", "") not in {"", "0"}


def size(usual: int, thorough: int) -> int:
    """So many rounds, requests or examples."""
    return thorough if IS_THOROUGH else usual
