"""`hashrange import` and `hashrange export`: a transfer at the command line."""

import argparse
import os
import sys
from pathlib import Path

from hashrange.formats.errors import Damaged
from hashrange.objects.errors import ObjectStoreError
from hashrange.passwords import masked
from hashrange.terminal import show
from hashrange.transfer.errors import BadArguments, Interrupted, TransferError
from hashrange.transfer.options import Options, checked
from hashrange.transfer.places import Place, TablePlace, place
from hashrange.transfer.progress import Progress
from hashrange.transfer.rates import Rate
from hashrange.transfer.rejections import Rejections
from hashrange.transfer.run import Run
from hashrange.transfer.scanning import Pace, page_items_max
from hashrange.transfer.state import State, StateFile, default_path, open_state
from hashrange.transfer.stopping import Stop, at_signals
from hashrange.transfer.transferring import Outcome, Transfer

FAILED = 1
BAD_ARGUMENTS = 2
REJECTED = 3
DIFFERENT = 4
INTERRUPTED = 130  # the status that shells give for SIGINT


def run(parsed: argparse.Namespace, *, is_import: bool) -> int:
    """Run a command; give the exit status."""
    progress = Progress(is_terminal=sys.stderr.isatty())
    try:
        options = checked(parsed)
        source, target = _places(options, is_import=is_import)
        return _transfer(options, source, target, progress)
    except BadArguments as error:
        return _fail(progress, str(error), BAD_ARGUMENTS)
    except (TransferError, Damaged, ObjectStoreError) as error:
        return _fail(progress, str(error), FAILED)
    except OSError as error:
        return _fail(progress, error.strerror or str(error), FAILED)
    except (Interrupted, KeyboardInterrupt):
        return _fail(progress, "interrupted; run the same command again to go on from here", INTERRUPTED)


def _fail(progress: Progress, message: str, status: int) -> int:
    progress.message(f"hashrange: {masked(message)}")
    return status


def _places(options: Options, *, is_import: bool) -> tuple[Place, Place]:
    region = options.region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    source = place(options.source, region=region, profile=options.from_profile)
    target = place(options.target, region=region, profile=options.to_profile)
    if is_import and not isinstance(target, TablePlace):
        raise BadArguments("import writes into a table: --to http(s)://HOST/TABLE")
    if not is_import and not isinstance(source, TablePlace):
        raise BadArguments("export reads a table: --from http(s)://HOST/TABLE")
    if _identity(source) == _identity(target):
        raise BadArguments("source and target are the same")
    return source, target


def _identity(side: Place) -> tuple[str, str]:
    """One endpoint has a table of the same name in every region."""
    return side.description, side.region if isinstance(side, TablePlace) else ""


def _transfer(options: Options, source: Place, target: Place, progress: Progress) -> int:
    stop = Stop()
    names = (":".join(_identity(source)), ":".join(_identity(target)))
    path = Path(options.state) if options.state else default_path(*names)
    with open_state(path, *names) as state, at_signals(stop):
        run = Run(
            state=state,
            stop=stop,
            progress=progress,
            rejections=Rejections(progress, _rejected(state.state)),
            parallel=options.parallel,
            pace=Pace(Rate(options.rate, stop), Rate(options.rate_units, stop), page_items_max(options.rate)),
        )
        try:
            outcome = Transfer(options, source, target, run).run()
        except BaseException:
            _keep(state)
            raise
        if outcome.keeps_state:
            _keep(state)
            progress.message(f"run the same command again to follow on; remove {path} when you are done")
        else:
            state.remove()
    progress.finish()
    return _report(outcome, source, target, progress)


def _keep(state: StateFile) -> None:
    """Remember what was done, if anything was."""
    if state.state.segments or state.state.files or state.state.stream:
        with state.lock:
            state.save()


def _rejected(state: State) -> int:
    counts = [segment.rejected for segment in state.segments]
    counts += [part.rejected for part in (state.files, state.stream) if part is not None]
    return sum(counts)


def _report(outcome: Outcome, source: Place, target: Place, progress: Progress) -> int:
    show(f"{outcome.moved:,} items from {source.description} to {outcome.folder or target.description}")
    status = 0
    if outcome.rejected:
        show(f"{outcome.rejected:,} items were rejected")
        status = REJECTED
    if outcome.sums is not None:
        left, right = outcome.sums
        if left == right:
            show(f"verified: both sides have {left}")
        else:
            progress.message(f"hashrange: the sides differ: the source has {left}; the target has {right}")
            status = DIFFERENT
    return status
