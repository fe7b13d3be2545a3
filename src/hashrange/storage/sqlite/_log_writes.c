/* The frames of a commit in one write to the log, not in two for each page.
 *
 * SQLite hands every page of a commit to the file system twice: 24 bytes of header, then the page. The calls cost more
 * than what they copy. The functions here take the place of SQLite's own system calls (`xSetSystemCall`): what is
 * appended to a write-ahead log is held back until the page of the commit frame, and then written at once, before
 * SQLite syncs the log. Nothing is acknowledged earlier, and nothing is on disk later, than without them.
 *
 * What is held back is only ever a run of whole frames at the end of the log, and at most one header behind them whose
 * page comes next. Everything else goes through at once, what was held back first: another place in the file, another
 * size, headers that are written again where they were. What is still held back when SQLite gives up the lock of writers
 * was rolled back, and is dropped: from then on that part of the log belongs to whoever writes next, maybe in another
 * process. There is one buffer for the process; while it is in use for one log, writes to others go through. Python is
 * not called from here: SQLite has released its lock.
 *
 * A database is written by checkpoints only. SQLite writes all pages and then syncs them, and until the disk has them all
 * no commit gets its own sync done. So a checkpoint waits for its pages here, some at a time.
 */

#define PY_SSIZE_T_CLEAN
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <Python.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum {
    HEADER_BYTES = 24,       /* of a frame; https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
    COMMIT_AT = 4,           /* where a header says whether its frame is the last of a commit: not zero */
    COMMIT_BYTES = 4,
    PAGE_BYTES_MAX = 65536,
    BUFFER_BYTES = 1 << 20,
    FILES_MAX = 4096,        /* files with larger numbers are written as ever */
    WRITE_LOCK_AT = 120,     /* of the log's index; https://www.sqlite.org/walformat.html#wal_locks */
    SUFFIX_BYTES = 4,
    PACE_BYTES = 128 << 10,  /* of a database that are on their way to the disk at most */
};

#ifdef SYNC_FILE_RANGE_WRITE
#define WAIT_AND_WRITE (SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER)
#endif

typedef ssize_t (*Read)(int, void *, size_t, off_t);
typedef ssize_t (*Write)(int, const void *, size_t, off_t);
typedef int (*Open)(const char *, int, int);
typedef int (*Close)(int);
typedef int (*Control)(int, int, ...);

/* What SQLite called before. */
static struct {
    Open open;
    Close close;
    Control control;
    Read read;
    Write write;
} original;

static uint8_t is_log[FILES_MAX];
static uint64_t databases[FILES_MAX]; /* which one a log, or the index of a log, belongs to; 0: it is neither */
static off_t ends[FILES_MAX]; /* of what was written last to each log */
static uint8_t is_database[FILES_MAX];
static struct {
    off_t start, end; /* of what was written to a database and not waited for */
    size_t bytes;
} unwaited[FILES_MAX];
static _Atomic int misses_locks; /* an index has a number beyond these: who gives up its locks is not seen */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    _Atomic int file; /* -1: nothing is held back */
    off_t start;
    size_t used;
    int awaits_page, is_commit;
    uint8_t bytes[BUFFER_BYTES];
} held = {.file = -1};

static inline int is_written_here(int file)
{
    return file >= 0 && file < FILES_MAX && is_log[file];
}

/* Write what is held back; gives 0 with errno if that fails, and then nobody may count on any of it. */
static int flush(void)
{
    size_t done = 0;
    int file = held.file;
    held.file = -1;
    while (done < held.used) {
        ssize_t wrote = original.write(file, held.bytes + done, held.used - done, held.start + (off_t)done);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            if (wrote == 0)
                errno = ENOSPC;
            return 0;
        }
        done += (size_t)wrote;
    }
    return 1;
}

static void hold(int file, const void *bytes, size_t count, off_t at)
{
    if (held.file < 0) {
        held.file = file;
        held.start = at;
        held.used = 0;
    }
    memcpy(held.bytes + held.used, bytes, count);
    held.used += count;
    ends[file] = at + (off_t)count;
}

static int is_commit_frame(const uint8_t *header)
{
    static const uint8_t none[COMMIT_BYTES];
    return memcmp(header + COMMIT_AT, none, COMMIT_BYTES) != 0;
}

/* Whether a write was held back, or made together with what was; -1 with errno if that failed. */
static int take(int file, const void *bytes, size_t count, off_t at)
{
    int continues = held.file == file && at == held.start + (off_t)held.used;
    if (continues && held.awaits_page && count > HEADER_BYTES && count <= PAGE_BYTES_MAX) {
        held.awaits_page = 0;
        hold(file, bytes, count, at);
        return !held.is_commit || flush() ? 1 : -1;
    }
    if (held.file == file && (!continues || held.awaits_page || held.used > BUFFER_BYTES - 2 * PAGE_BYTES_MAX) &&
        !flush())
        return -1;
    /* A header that does not come right behind the last write is one that is written again: no page follows. */
    if (held.file >= 0 && held.file != file)
        return 0;
    if (count != HEADER_BYTES || at != ends[file] || misses_locks)
        return held.file == file && !flush() ? -1 : 0;
    hold(file, bytes, count, at);
    held.awaits_page = 1;
    held.is_commit = is_commit_frame(bytes);
    return 1;
}

/* Whether waiting cannot be done at all: not by this kernel, not in this sandbox, or not with what this is. */
static inline int is_unable(int error)
{
    return error == ENOSYS || error == EPERM || error == EINVAL || error == ESPIPE;
}

/* A write to a database; now and then it waits for those before it. Only one thread at a time uses a file. */
static ssize_t write_database(int file, const void *bytes, size_t count, off_t at)
{
    ssize_t wrote = original.write(file, bytes, count, at);
#ifdef SYNC_FILE_RANGE_WRITE
    if (wrote <= 0)
        return wrote;
    if (unwaited[file].bytes == 0 || at < unwaited[file].start)
        unwaited[file].start = at;
    if (unwaited[file].bytes == 0 || at + wrote > unwaited[file].end)
        unwaited[file].end = at + wrote;
    unwaited[file].bytes += (size_t)wrote;
    if (unwaited[file].bytes >= PACE_BYTES) {
        off_t start = unwaited[file].start, length = unwaited[file].end - start;
        unwaited[file].bytes = 0;
        /* The disk's error is told once only: this write fails of it, since the sync behind it would succeed. */
        if (sync_file_range(file, start, length, WAIT_AND_WRITE) < 0 && !is_unable(errno))
            return -1;
    }
#endif
    return wrote;
}

static ssize_t log_write(int file, const void *bytes, size_t count, off_t at)
{
    if (!is_written_here(file))
        return file >= 0 && file < FILES_MAX && is_database[file] ? write_database(file, bytes, count, at)
                                                                  : original.write(file, bytes, count, at);
    pthread_mutex_lock(&lock);
    int taken = take(file, bytes, count, at);
    ssize_t wrote = taken > 0 ? (ssize_t)count : taken;
    if (taken == 0) {
        wrote = original.write(file, bytes, count, at);
        /* What is left of a write that was cut short comes next, and may be as long as a header. */
        ends[file] = wrote == (ssize_t)count ? at + wrote : -1;
    }
    pthread_mutex_unlock(&lock);
    return wrote;
}

static ssize_t log_read(int file, void *bytes, size_t count, off_t at)
{
    /* Only whoever uses this file has anything held back for it: others need not wait for a write to the disk. */
    if (is_written_here(file) && held.file == file) {
        pthread_mutex_lock(&lock);
        int failed = held.file == file && !flush();
        pthread_mutex_unlock(&lock);
        if (failed)
            return -1;
    }
    return original.read(file, bytes, count, at);
}

/* A number for a database, by the name of its file (FNV-1a); not 0. */
static uint64_t number_of(const char *path, size_t length)
{
    uint64_t number = 0xcbf29ce484222325ULL;
    for (size_t at = 0; at < length; at++)
        number = (number ^ (uint8_t)path[at]) * 0x100000001b3ULL;
    return number ? number : 1;
}

static int log_open(const char *path, int flags, int mode)
{
    size_t length = strlen(path), stem = length > SUFFIX_BYTES ? length - SUFFIX_BYTES : 0;
    int is_index = stem && memcmp(path + stem, "-shm", SUFFIX_BYTES) == 0;
    int file = original.open(path, flags, mode);
    if (is_index && file >= FILES_MAX)
        misses_locks = 1;
    if (file >= 0 && file < FILES_MAX) {
        is_log[file] = stem && memcmp(path + stem, "-wal", SUFFIX_BYTES) == 0;
        databases[file] = is_log[file] || is_index ? number_of(path, stem) : 0;
        ends[file] = -1;
        is_database[file] = length > 3 && memcmp(path + length - 3, ".db", 3) == 0;
        unwaited[file].bytes = 0;
    }
    return file;
}

static int log_close(int file)
{
    if (is_written_here(file)) {
        pthread_mutex_lock(&lock);
        if (held.file == file)
            held.file = -1; /* frames of a transaction that was not committed */
        is_log[file] = 0;
        pthread_mutex_unlock(&lock);
    }
    if (file >= 0 && file < FILES_MAX) {
        databases[file] = 0;
        is_database[file] = 0;
    }
    return original.close(file);
}

static int gives_up_writing(int file, int command, const struct flock *locks)
{
    return command == F_SETLK && file >= 0 && file < FILES_MAX && databases[file] && locks->l_type == F_UNLCK &&
           locks->l_start <= WRITE_LOCK_AT && (locks->l_len == 0 || locks->l_start + locks->l_len > WRITE_LOCK_AT);
}

/* A transaction that was committed has nothing held back by now; what a rolled back one has must not be written later. */
static int log_control(int file, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *); /* a number comes in the same register */
    va_end(arguments);
    if (gives_up_writing(file, command, argument)) {
        pthread_mutex_lock(&lock);
        if (held.file >= 0 && databases[held.file] == databases[file])
            held.file = -1;
        pthread_mutex_unlock(&lock);
    }
    return original.control(file, command, argument);
}

/* The frames of a parent's transaction are not its child's. */
static void forget_in_child(void)
{
    held.file = -1;
    pthread_mutex_init(&lock, NULL);
}

static PyObject *replacements(PyObject *module, PyObject *args)
{
    unsigned long long open, close, control, read, write;
    (void)module;
    if (!PyArg_ParseTuple(args, "KKKKK", &open, &close, &control, &read, &write))
        return NULL;
    if (original.open == NULL && pthread_atfork(NULL, NULL, forget_in_child) != 0)
        return PyErr_NoMemory();
    original.open = (Open)(uintptr_t)open;
    original.close = (Close)(uintptr_t)close;
    original.control = (Control)(uintptr_t)control;
    original.read = (Read)(uintptr_t)read;
    original.write = (Write)(uintptr_t)write;
    return Py_BuildValue("(KKKKK)", (unsigned long long)(uintptr_t)log_open, (unsigned long long)(uintptr_t)log_close,
                         (unsigned long long)(uintptr_t)log_control, (unsigned long long)(uintptr_t)log_read,
                         (unsigned long long)(uintptr_t)log_write);
}

static PyMethodDef methods[] = {
    {"replacements", replacements, METH_VARARGS,
     "Give the addresses to call instead of these, for open, close, fcntl, pread64 and pwrite64."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT, .m_name = "_log_writes", .m_size = -1, .m_methods = methods,
};

PyMODINIT_FUNC PyInit__log_writes(void)
{
    return PyModule_Create(&definition);
}
