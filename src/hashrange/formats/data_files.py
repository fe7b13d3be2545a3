"""Writing lines into data files of bounded size, packed, counted and with their checksums."""

from collections.abc import Callable
from typing import Protocol

from hashrange.formats.compression import Compression, Packer, packer
from hashrange.formats.manifest import DataFile, md5_text

# Of lines, before they are packed. The service's own files have some tens of megabytes, packed.
FILE_BYTES_MAX = 256 * 1024 * 1024
_WRITE_BYTES = 256 * 1024


class Stored(Protocol):
    """What is known of an object that has been written."""

    @property
    def key(self) -> str: ...
    @property
    def etag(self) -> str: ...
    @property
    def md5(self) -> bytes: ...


class Sink(Protocol):
    """An object on its way: see `objects.interface.Writer`."""

    def write(self, data: bytes) -> None: ...
    def commit(self) -> Stored: ...
    def abort(self) -> None: ...


class DataFiles:
    """Lines, in as many files as they take. A file is complete, and in the manifest, or it does not exist."""

    def __init__(
        self,
        open_sink: Callable[[], Sink],
        compression: Compression = "GZIP",
        bytes_max: int = FILE_BYTES_MAX,
    ) -> None:
        self.files: list[DataFile] = []
        self._open_sink = open_sink
        self._compression = compression
        self._bytes_max = bytes_max
        self._sink: Sink | None = None
        self._packer: Packer = packer("NONE")
        self._waiting = bytearray()
        self._lines = 0
        self._bytes = 0

    def add(self, line: bytes) -> None:
        """Write a line, and begin a new file if this one has become large enough."""
        if self._sink is None:
            self._begin()
        self._waiting += line
        self._lines += 1
        self._bytes += len(line)
        if len(self._waiting) >= _WRITE_BYTES:
            self._flush()
        if self._bytes >= self._bytes_max:
            self.finish_file()

    def _begin(self) -> None:
        self._sink = self._open_sink()
        self._packer = packer(self._compression)
        self._lines = self._bytes = 0

    def _flush(self) -> None:
        packed = self._packer.pack(bytes(self._waiting))
        self._waiting.clear()
        if packed and self._sink is not None:
            self._sink.write(packed)

    def finish_file(self) -> None:
        """Complete the file that is being written; a partition without items has a file without lines."""
        if self._sink is None:
            self._begin()
        sink = self._sink
        if sink is None:
            raise AssertionError
        self._flush()
        if rest := self._packer.finish():
            sink.write(rest)
        stored = sink.commit()
        self._sink = None
        self.files.append(
            DataFile(
                item_count=self._lines,
                md5_checksum=md5_text(stored.md5),
                etag=stored.etag,
                data_file_s3_key=stored.key,
            )
        )

    def finish(self) -> list[DataFile]:
        """Complete the last file; all of them, of which there is at least one."""
        if self._sink is not None or not self.files:
            self.finish_file()
        return self.files

    def abort(self) -> None:
        """Throw away the file that is not complete."""
        sink, self._sink = self._sink, None
        self._waiting.clear()
        if sink is not None:
            sink.abort()
