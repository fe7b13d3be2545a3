"""Tables of symbols: the names that binary Ion writes as numbers (Ion specification: symbols)."""

from hashrange.formats import limits
from hashrange.formats.errors import Garbage
from hashrange.formats.ion_decoder import Decoder, Kind
from hashrange.formats.ion_values import NOT_ION

_TABLE = "$ion_symbol_table"
_SYSTEM: list[str | None] = [
    None,
    "$ion",
    "$ion_1_0",
    _TABLE,
    "name",
    "version",
    "imports",
    "symbols",
    "max_id",
    "$ion_shared_symbol_table",
]
_TOO_LONG = "The tables of symbols are too long"


class Symbols:
    """The names that are known at a place in an object."""

    def __init__(self) -> None:
        self.names: list[str | None] = []
        self._size = 0
        self.reset()

    def reset(self) -> None:
        """Forget all but Ion's own."""
        self.names = list(_SYSTEM)
        self._size = 0

    def take(self, value: bytes) -> bool:
        """Take the names of a table; false if the value is none."""
        if value[0] >> 4 != Kind.ANNOTATED:
            return False
        decoder = Decoder(value, self.names)
        if decoder.annotations()[:1] != [_TABLE]:
            return False
        table = decoder.struct()
        match table.get("imports"):
            case {"SYMBOL": "$ion_symbol_table"}:
                pass
            case None | {"NULL": _} | {"L": []}:
                self.reset()
            case _:
                raise Garbage(NOT_ION)  # it needs a table of somebody else's, which is not here
        self._size += len(value)
        if self._size > limits.ION_SYMBOLS_BYTES_MAX:
            raise Garbage(_TOO_LONG)
        # What is no string is a symbol without a name.
        self.names += [name.get("S") for name in table.get("symbols", {}).get("L", ())]
        return True
