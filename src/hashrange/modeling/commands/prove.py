"""`hashrange model prove`: every pattern, asked of the real engine, beside its definition."""

import argparse

from hashrange.modeling.columns import amount, columns, printable
from hashrange.modeling.data.amounts import ITEMS_MAX
from hashrange.modeling.data.generation import ITEMS
from hashrange.modeling.model import Model
from hashrange.modeling.prove.proving import prove
from hashrange.modeling.prove.results import Proof, ProvedRead, ProvedWrite
from hashrange.modeling.report.page import page
from hashrange.modeling.report.proof_section import proof_section

DESCRIPTION = (
    "Prove a model: create its tables on a private engine in memory, fill them with made-up items, run every access "
    "pattern, and compare each answer with what the pattern's definition gives over all items. A pattern that needs a "
    "Scan or a second round trip fails. The exit status is 1 if anything does."
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser the command's flags."""
    parser.add_argument("--seed", type=int, default=1, help="of the made-up items (default: %(default)s)")
    parser.add_argument(
        "--items",
        type=_items,
        default=ITEMS,
        help=f"how many are made at most, up to {ITEMS_MAX} (default: %(default)s)",
    )


def _items(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= ITEMS_MAX:
        raise argparse.ArgumentTypeError(f"a number from 1 to {ITEMS_MAX}")
    return int(text)


def run(model: Model, options: argparse.Namespace) -> Proof:
    """Prove it."""
    return prove(model, seed=options.seed, items=options.items)


def status(proof: Proof) -> int:
    """The exit status."""
    return 0 if proof.holds else 1


def html(proof: Proof) -> str:
    """The proof as a page."""
    return page(proof.name, [proof_section(proof)], kind="Proof")


_HEADINGS = ["", "id", "pattern", "operation", "on", "answers", "read", "returned", "units", "pages", "by"]
_WRITE_HEADINGS = ["", "id", "pattern", "operation", "units", "again", "unmet", "steps"]


def render(proof: Proof) -> str:
    """The proof as text."""
    lines = [f"{printable(proof.name)}: {proof.items} items, seed {proof.seed}"]
    lines += [f"  FAILED {printable(failure)}" for failure in proof.failures]
    if proof.reads:
        lines += ["", "reads, per answer", *columns([_HEADINGS, *map(_row, proof.reads)])]
    if proof.writes:
        lines += ["", "writes", *columns([_WRITE_HEADINGS, *map(_write_row, proof.writes)])]
    for pattern in proof.patterns:
        lines += [f"  {pattern.id}: {printable(failure)}" for failure in pattern.failures]
    return "\n".join(lines)


def _row(read: ProvedRead) -> list[str]:
    return [
        "FAILED" if read.failures else "ok",
        read.id,
        read.name,
        read.operation if read.requests == 1 else f"{read.requests} x {read.operation}",
        read.key,
        str(read.answers),
        amount(read.items_read),
        amount(read.items_returned),
        amount(read.units),
        str(read.pages),
        read.conditions,
    ]


def _write_row(write: ProvedWrite) -> list[str]:
    return [
        "FAILED" if write.failures else "ok",
        write.id,
        write.name,
        write.operation,
        amount(write.units),
        write.again,
        write.unmet,
        write.steps,
    ]
