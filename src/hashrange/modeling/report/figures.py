"""Figures for people: shares and sizes in a few characters."""

_UNITS = ("B", "KB", "MB", "GB", "TB", "PB", "EB")


def percent(share: float) -> str:
    """`4.2 %` below ten, `87 %` above."""
    return f"{share * 100:.1f} %" if 0 < share < 0.1 else f"{share * 100:,.0f} %"


def size(count: float) -> str:
    """`340 B`, `2.4 GB`."""
    unit = 0
    while count >= 1000 and unit < len(_UNITS) - 1:
        count, unit = count / 1024, unit + 1
    return f"{count:,.3g} {_UNITS[unit]}" if count < 1000 else f"{count:,.0f} {_UNITS[unit]}"


def counted(count: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
