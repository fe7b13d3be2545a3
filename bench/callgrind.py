"""Valgrind's callgrind, told from inside the process when to begin and where to put a mark.

A process says something to valgrind by a sequence of instructions that do nothing on a processor: four rotations that
come to a full turn, and an exchange of a register with itself (valgrind.h has it for each architecture). What runs
before `begin` is not counted, which is several times faster, and no other process has to interfere.
"""

import ctypes
import itertools
import mmap
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ARCHITECTURE = "x86_64"
# mov rax, rdi; xor edx, edx; rol rdi by 3, 13, 61 and 51; xchg rbx, rbx; mov rax, rdx; ret
_ASK = bytes.fromhex("4889f8 31d2 48c1c703 48c1c70d 48c1c73d 48c1c733 4887db 4889d0 c3")
_REQUESTS = int.from_bytes(b"CT\0\0", "big")  # callgrind's own begin here
_DUMP, _START = 0, 4
_TOTALS = re.compile(r"^(?:totals|summary): (\d+)", re.MULTILINE)
_SECONDS_MAX = 3600  # on a machine that others keep busy


class Uncountable(Exception):
    """Nothing can be counted on this machine; the message says why."""


class Callgrind:
    """Speaks to the valgrind that runs this process; without one nothing happens."""

    def __init__(self) -> None:
        self._page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self._page.write(_ASK)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self._page))
        self._ask = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(address)

    def begin(self) -> None:
        """Count from here on."""
        self._tell(_START)

    def mark(self) -> None:
        """End a count, begin the next."""
        self._tell(_DUMP)

    def _tell(self, request: int) -> None:
        arguments = (ctypes.c_uint64 * 6)(_REQUESTS + request)
        self._ask(ctypes.addressof(arguments))


def version() -> str:
    """The valgrind of this machine."""
    if platform.machine() != ARCHITECTURE:
        raise Uncountable(f"counting is written for {ARCHITECTURE}, and this is {platform.machine()}")
    if shutil.which("valgrind") is None:
        raise Uncountable("valgrind is not installed")
    return subprocess.run(
        ["valgrind", "--version"], capture_output=True, text=True, check=True
    ).stdout.strip()


def counts(command: Sequence[str], environment: Mapping[str, str], scratch: Path) -> list[int]:
    """Run a command; give the instructions of all its threads before each mark, from the last one on."""
    out = scratch / "counts"
    # One thread after the other gets its turn, in the order in which they came.
    options = ("--tool=callgrind", "--instr-atstart=no", "--dump-line=no", "--fair-sched=try")
    done = subprocess.run(
        ["valgrind", *options, f"--callgrind-out-file={out}", *command],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=_SECONDS_MAX,
    )
    if done.returncode:
        raise Uncountable("\n".join(done.stderr.splitlines()[-20:]))
    return list(_totals(out))


def _totals(out: Path) -> Iterator[int]:
    for number in itertools.count(1):
        dump = out.with_name(f"{out.name}.{number}")
        if not dump.exists():
            return
        yield total(dump.read_text("utf-8", "replace"))


def total(dump: str) -> int:
    """The instructions that one of callgrind's files tells of."""
    told = _TOTALS.search(dump)
    if told is None:
        raise Uncountable("a file of callgrind's has no total")
    return int(told[1])
