"""How much of somebody else's file is held in memory at once."""

KB = 1024
MB = 1024 * KB

# The largest item is 400 KB in the service's bytes. In JSON it may have 19 MB: 1e125 is two bytes to the service, but
# 126 digits in its canonical text, with which an export writes it.
LINE_BYTES_MAX = 24 * MB
# Ion writes 1e125 as 1d125; what takes most room is a control character in a string, which is one byte of six.
ION_TEXT_BYTES_MAX = 4 * MB
# Every byte may be a value, and a value takes 100 bytes of memory and more.
ION_BINARY_BYTES_MAX = 1 * MB
ION_SYMBOLS_BYTES_MAX = 8 * MB
ION_LEVELS_MAX = 100
ION_ANNOTATIONS_MAX = 10  # of one value; ours have one at most
CSV_RECORD_BYTES_MAX = 4 * MB
CSV_FIELD_CHARS_MAX = 1 * MB
CSV_COLUMNS_MAX = 4096  # our own; with HeaderList the service has 255
# Decompressors give pieces of so many bytes, however well they were packed.
PIECE_BYTES = 256 * KB
EMPTY_MEMBERS_MAX = 1024  # of gzip, frames of zstd, in a row: each costs a decompressor and gives nothing
ZSTD_WINDOW_BYTES_MAX = 128 * MB  # what the command line tool takes without being asked
MANIFEST_BYTES_MAX = 64 * MB  # 50,000 objects of 1 KB each
