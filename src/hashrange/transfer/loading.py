"""From files to a table: chunk by chunk, in the files' order."""

from collections.abc import Iterator

from hashrange.core.schema import Table
from hashrange.transfer.errors import TransferError
from hashrange.transfer.reading import FileChange, FilesSource
from hashrange.transfer.run import Run
from hashrange.transfer.state import FilesPosition
from hashrange.transfer.writing import Put, TableWriter

_CHUNK_CHANGES = 1000
_CHUNK_BYTES = 8 * 1024 * 1024


def load(source: FilesSource, table: Table, writer: TableWriter, run: Run) -> None:
    """Write what the files say. A chunk is written as a whole before the next: the last change to a key wins."""
    position = _position(source, run)
    run.progress.begin("imported", count=position.items, total=source.item_count)
    changes = source.changes(table, file=position.file, record=position.record)
    for chunk in _chunks(changes):
        run.stop.check()
        rejected = _write(chunk, writer, run)
        with run.state.lock:
            position.file, position.record = chunk[-1].file, chunk[-1].record
            position.items += len(chunk)
            position.rejected += rejected
            run.state.save_sometimes()
        run.progress.add(len(chunk))
    position.done = True
    run.state.save()


def _position(source: FilesSource, run: Run) -> FilesPosition:
    state = run.state.state
    if state.files is None:
        state.files = FilesPosition(source.fingerprint)
    elif state.files.fingerprint != source.fingerprint:
        raise TransferError(
            f"{source.description} is not what it was when the import began: remove the state file to begin again"
        )
    return state.files


def _chunks(changes: Iterator[FileChange]) -> Iterator[list[FileChange]]:
    """Lists of changes, as many as fit into memory whatever their sizes are."""
    chunk: list[FileChange] = []
    size = 0
    for change in changes:
        chunk.append(change)
        size += change.change.size if isinstance(change.change, Put) else 0
        if len(chunk) >= _CHUNK_CHANGES or size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _write(chunk: list[FileChange], writer: TableWriter, run: Run) -> int:
    for change in chunk:
        if change.change is None:
            run.rejections.add(change.rejection)
    refusals = writer.write(change.change for change in chunk if change.change is not None)
    for refusal in refusals:
        run.rejections.add(refusal.message)
    return len(refusals) + sum(change.change is None for change in chunk)
