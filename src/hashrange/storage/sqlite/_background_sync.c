/* Syncing the log, and large commits as a whole, on a thread that never needs Python's lock.
 *
 * A thread of Python's would have to wait for the interpreter's lock before and after each sync. This one is told by a
 * condition variable, and tells by a pipe that the event loop watches; meanwhile the loop goes on with other requests.
 *
 * The log is synced by the function that SQLite itself would call, the one of the file's own methods
 * (https://sqlite.org/c3ref/io_methods.html): so whatever stands between SQLite and the disk is passed as ever. One sync
 * at a time: whoever begins one keeps everybody else from the connection until it is over.
 *
 * Of a commit with many rows the thread also stores these and commits them, before it syncs. It calls SQLite by the table
 * of functions that an extension is given, as `_rows.c` does, and is therefore loaded as one. The hook that tells of
 * commits is its own meanwhile: Python's would wait for Python's lock. Of an error it says no more than where it came: the
 * commit is rolled back then and made anew by Python, which has the words for it.
 */

#define PY_SSIZE_T_CLEAN
#define _GNU_SOURCE
#include <Python.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SYNC_NORMAL = 2 }; /* as SQLite syncs the log at the end of a commit */

enum { /* places in SQLite's table of functions */
    BIND_BLOB = 2,
    FINALIZE = 57,
    LIBVERSION_NUMBER = 67,
    RESET = 77,
    STEP = 94,
    TOTAL_CHANGES = 97,
    PREPARE_V2 = 116,
    CLEAR_BINDINGS = 118,
    WAL_HOOK = 175,
};

enum { OK = 0, DONE = 101 };     /* SQLite's results */
enum { STORE = 1, COMMIT, SYNC }; /* how far a commit came */
enum { NOT_ALL_STORED = -1 };    /* some rows replace large values */
enum {
    CHECKSUM_BYTES = 4,          /* before every stored value */
    STORED_BYTES_MAX = 2048,     /* more than a row in the tree has: see large_values.py */
};

typedef int (*BindBlob)(void *, int, const void *, int, void (*)(void *));
typedef int (*OfStatement)(void *);
typedef int (*OfDatabase)(void *);
typedef int (*Prepare)(void *, const char *, int, void **, const char **);
typedef uint32_t (*Crc32)(uint32_t before, const uint8_t *bytes, uint32_t count);
typedef void *(*WalHook)(void *, int (*)(void *, void *, const char *, int), void *);

static void *const *routines;

#define CALL(type, place) ((type)routines[place])

typedef struct {
    const char *key, *value;
    int key_bytes, value_bytes;
} Row;

/* The first of a file's methods. */
typedef struct {
    int version;
    void *close, *read, *write, *truncate;
    int (*sync)(void *file, int flags);
} Methods;

typedef struct {
    const Methods *methods;
} File;

typedef struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned long long begun, over; /* numbers of the last sync that was begun, and that is over */
    int is_closing, waiting; /* threads that are in `wait` */
    int told; /* a byte is written to this file when a sync is over */
    File *file;
    void *database, *put, *commit; /* statements; none: nothing is stored here */
    Crc32 crc32;
    Row *rows; /* of the commit under way; none: it is made already */
    Py_ssize_t count;
    PyObject *held;   /* what has their bytes; for threads with Python's lock */
    int stage, code;  /* how far the last one came, and SQLite's result of that */
    int log_pages;    /* the log has after it, or -1: it is as it was */
    double seconds;   /* that the sync took */
} Syncer;

static const char NAME[] = "hashrange.sync";

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* What is stored for a value, as checksums.py has it; it has CHECKSUM_BYTES more. */
static void seal(const Syncer *self, const Row *row, uint8_t *stored)
{
    uint32_t sum = self->crc32(0, (const uint8_t *)row->key, (uint32_t)row->key_bytes);
    sum = self->crc32(sum, (const uint8_t *)row->value, (uint32_t)row->value_bytes);
    for (int place = 0; place < CHECKSUM_BYTES; place++)
        stored[place] = (uint8_t)(sum >> (24 - 8 * place));
    memcpy(stored + CHECKSUM_BYTES, row->value, (size_t)row->value_bytes);
}

static int store_row(Syncer *self, const Row *row)
{
    uint8_t stored[STORED_BYTES_MAX];
    seal(self, row, stored);
    BindBlob bind = CALL(BindBlob, BIND_BLOB);
    int code = bind(self->put, 1, row->key, row->key_bytes, NULL);
    if (code == OK)
        code = bind(self->put, 2, stored, row->value_bytes + CHECKSUM_BYTES, NULL);
    if (code == OK)
        code = CALL(OfStatement, STEP)(self->put);
    int reset = CALL(OfStatement, RESET)(self->put);
    CALL(OfStatement, CLEAR_BINDINGS)(self->put);
    return code == DONE ? reset : code;
}

static int store_rows(Syncer *self)
{
    int before = CALL(OfDatabase, TOTAL_CHANGES)(self->database), code = OK;
    for (Py_ssize_t at = 0; code == OK && at < self->count; at++)
        code = store_row(self, &self->rows[at]);
    if (code != OK)
        return code;
    return CALL(OfDatabase, TOTAL_CHANGES)(self->database) - before == self->count ? OK : NOT_ALL_STORED;
}

static int note_pages(void *syncer, void *database, const char *name, int pages)
{
    (void)database;
    (void)name;
    ((Syncer *)syncer)->log_pages = pages;
    return OK;
}

static int commit_rows(Syncer *self)
{
    self->log_pages = -1; /* SQLite tells of no commit that changes nothing */
    CALL(WalHook, WAL_HOOK)(self->database, note_pages, self);
    int code = CALL(OfStatement, STEP)(self->commit);
    int reset = CALL(OfStatement, RESET)(self->commit);
    CALL(WalHook, WAL_HOOK)(self->database, NULL, NULL);
    return code == DONE ? reset : code;
}

/* Everything that is left of a commit. */
static void finish(Syncer *self)
{
    self->stage = SYNC;
    self->code = OK;
    self->seconds = 0;
    if (self->rows) {
        self->stage = STORE;
        self->code = store_rows(self);
        if (self->code == OK) {
            self->stage = COMMIT;
            self->code = commit_rows(self);
        }
    }
    if (self->code == OK) {
        self->stage = SYNC;
        double start = now();
        self->code = self->file->methods->sync(self->file, SYNC_NORMAL);
        self->seconds = now() - start;
    }
}

static void *serve(void *syncer)
{
    Syncer *self = syncer;
    pthread_mutex_lock(&self->lock);
    for (;;) {
        while (self->begun == self->over && !self->is_closing)
            pthread_cond_wait(&self->changed, &self->lock);
        if (self->begun == self->over)
            break;
        pthread_mutex_unlock(&self->lock);
        finish(self); /* nobody else looks at these before `over` says so */
        pthread_mutex_lock(&self->lock);
        self->over = self->begun;
        pthread_cond_broadcast(&self->changed);
        /* A pipe that is full has bytes enough to wake the loop. */
        while (write(self->told, "", 1) < 0 && errno == EINTR)
            ;
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

static Syncer *opened(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, NAME);
}

static PyObject *start_syncer(PyObject *module, PyObject *file)
{
    (void)module;
    int told = PyObject_AsFileDescriptor(file);
    if (told < 0)
        return NULL;
    Syncer *self = PyMem_RawCalloc(1, sizeof *self);
    if (!self)
        return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(self, NAME, NULL);
    if (!capsule) {
        PyMem_RawFree(self);
        return NULL;
    }
    self->told = told;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    /* Signals are for the threads that Python has made. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&self->thread, NULL, serve, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error) {
        PyCapsule_SetName(capsule, "closed");
        PyMem_RawFree(self);
        Py_DECREF(capsule);
        errno = error;
        return PyErr_SetFromErrno(PyExc_OSError);
    }
#ifdef __linux__
    pthread_setname_np(self->thread, "hashrange-sync");
#endif
    return capsule;
}

/* What is needed of a row: two bytes objects, which stay as long as the list does. */
static int read_row(PyObject *pair, Row *row)
{
    if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2)
        return 0;
    PyObject *key = PyTuple_GET_ITEM(pair, 0), *value = PyTuple_GET_ITEM(pair, 1);
    if (!PyBytes_CheckExact(key) || !PyBytes_CheckExact(value) || PyBytes_GET_SIZE(key) > STORED_BYTES_MAX ||
        PyBytes_GET_SIZE(value) > STORED_BYTES_MAX - CHECKSUM_BYTES)
        return 0;
    *row = (Row){PyBytes_AS_STRING(key), PyBytes_AS_STRING(value), (int)PyBytes_GET_SIZE(key), (int)PyBytes_GET_SIZE(value)};
    return 1;
}

static Row *read_rows(PyObject *pairs)
{
    Py_ssize_t count = PyTuple_GET_SIZE(pairs);
    Row *rows = PyMem_RawMalloc((size_t)(count ? count : 1) * sizeof *rows);
    if (!rows) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t at = 0; at < count; at++)
        if (!read_row(PyTuple_GET_ITEM(pairs, at), &rows[at])) {
            PyMem_RawFree(rows);
            PyErr_SetString(PyExc_TypeError, "rows are pairs of bytes, and small");
            return NULL;
        }
    return rows;
}

static void drop_rows(Syncer *self)
{
    PyMem_RawFree(self->rows);
    self->rows = NULL;
    self->count = 0;
    Py_CLEAR(self->held);
}

/* begin(syncer, file, rows): begin to sync what SQLite calls a file, after rows were stored and committed if there are
 * any; gives the number of this sync. */
static PyObject *begin(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 3 || !(arguments[2] == Py_None || PyTuple_CheckExact(arguments[2]))) {
        PyErr_SetString(PyExc_TypeError, "begin takes a syncer, the address of a file, and a tuple of rows or None");
        return NULL;
    }
    Syncer *self = opened(arguments[0]);
    File *file = self ? PyLong_AsVoidPtr(arguments[1]) : NULL;
    if (PyErr_Occurred())
        return NULL;
    if (!file || !file->methods || !file->methods->sync) {
        PyErr_SetString(PyExc_ValueError, "that file is not open");
        return NULL;
    }
    int has_rows = arguments[2] != Py_None;
    if (has_rows && !self->put) {
        PyErr_SetString(PyExc_ValueError, "nothing was prepared");
        return NULL;
    }
    Row *rows = has_rows ? read_rows(arguments[2]) : NULL;
    if (has_rows && !rows)
        return NULL;
    pthread_mutex_lock(&self->lock);
    int is_free = self->begun == self->over && !self->is_closing;
    unsigned long long number = self->begun + 1;
    if (is_free) {
        drop_rows(self);
        if (has_rows) {
            self->rows = rows;
            self->count = PyTuple_GET_SIZE(arguments[2]);
            self->held = Py_NewRef(arguments[2]);
        }
        self->file = file;
        self->begun = number;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    if (!is_free) {
        PyMem_RawFree(rows);
        PyErr_SetString(PyExc_RuntimeError, "a sync is under way");
        return NULL;
    }
    return PyLong_FromUnsignedLongLong(number);
}

static void finalize(void **statement)
{
    if (*statement)
        CALL(OfStatement, FINALIZE)(*statement);
    *statement = NULL;
}

/* prepare(syncer, database, put, crc32): the connection whose rows are to be stored, the statement that stores one, and the
 * address of zlib-ng's checksum. */
static PyObject *prepare(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *capsule;
    unsigned long long database, crc32;
    const char *put;
    if (!PyArg_ParseTuple(arguments, "OKsK", &capsule, &database, &put, &crc32))
        return NULL;
    Syncer *self = opened(capsule);
    if (!self)
        return NULL;
    if (!database || !crc32) {
        PyErr_SetString(PyExc_ValueError, "there is nothing at 0");
        return NULL;
    }
    self->crc32 = (Crc32)(uintptr_t)crc32;
    if (!routines || self->put) {
        PyErr_SetString(PyExc_RuntimeError, routines ? "prepared already" : "SQLite has not loaded this module");
        return NULL;
    }
    self->database = (void *)(uintptr_t)database;
    if (CALL(Prepare, PREPARE_V2)(self->database, put, -1, &self->put, NULL) != OK ||
        CALL(Prepare, PREPARE_V2)(self->database, "COMMIT", -1, &self->commit, NULL) != OK) {
        finalize(&self->put);
        PyErr_SetString(PyExc_ValueError, "SQLite does not take this statement");
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Have the next number be over without a sync: there is nothing to sync after all. */
static PyObject *skip(PyObject *module, PyObject *capsule)
{
    (void)module;
    Syncer *self = opened(capsule);
    if (!self)
        return NULL;
    pthread_mutex_lock(&self->lock);
    if (self->begun == self->over)
        self->begun = ++self->over;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    Py_RETURN_NONE;
}

/* The number of the last sync that is over. */
static PyObject *over(PyObject *module, PyObject *capsule)
{
    (void)module;
    Syncer *self = opened(capsule);
    if (!self)
        return NULL;
    pthread_mutex_lock(&self->lock);
    unsigned long long number = self->over;
    pthread_mutex_unlock(&self->lock);
    return PyLong_FromUnsignedLongLong(number);
}

/* wait(syncer, number): wait until that sync is over; gives how far the last one came, SQLite's result of that, the
 * seconds that it took to sync, and the pages of the log if rows were stored. */
static PyObject *wait_over(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "wait takes a syncer and a number");
        return NULL;
    }
    Syncer *self = opened(arguments[0]);
    if (!self)
        return NULL;
    unsigned long long number = PyLong_AsUnsignedLongLong(arguments[1]);
    if (PyErr_Occurred())
        return NULL;
    int stage, code, log_pages;
    double seconds;
    /* With Python's lock: `close` must not miss whoever has a pointer. */
    pthread_mutex_lock(&self->lock);
    self->waiting++;
    Py_BEGIN_ALLOW_THREADS
    while (self->over < number && !self->is_closing)
        pthread_cond_wait(&self->changed, &self->lock);
    stage = self->stage;
    code = self->code;
    log_pages = self->log_pages;
    seconds = self->seconds;
    self->waiting--;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    Py_END_ALLOW_THREADS
    if (PyCapsule_IsValid(arguments[0], NAME)) { /* else `close` has given it back while this thread waited for Python's lock */
        pthread_mutex_lock(&self->lock);
        int is_idle = self->begun == self->over; /* and stays so: only threads with Python's lock begin anything */
        pthread_mutex_unlock(&self->lock);
        if (is_idle)
            drop_rows(self);
    }
    return Py_BuildValue("iidi", stage, code, seconds, log_pages);
}

/* End the thread, after the sync under way, and send those home who wait for another one. */
static PyObject *close_syncer(PyObject *module, PyObject *capsule)
{
    (void)module;
    Syncer *self = opened(capsule);
    if (!self)
        return NULL;
    PyCapsule_SetName(capsule, "closed");
    Py_BEGIN_ALLOW_THREADS
    pthread_mutex_lock(&self->lock);
    self->is_closing = 1;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    pthread_mutex_lock(&self->lock);
    while (self->waiting)
        pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
    Py_END_ALLOW_THREADS
    finalize(&self->put);
    finalize(&self->commit);
    drop_rows(self);
    pthread_mutex_destroy(&self->lock);
    pthread_cond_destroy(&self->changed);
    PyMem_RawFree(self);
    Py_RETURN_NONE;
}

static PyObject *sqlite_version(PyObject *module, PyObject *nothing)
{
    (void)module;
    (void)nothing;
    return PyLong_FromLong(routines ? ((int (*)(void))routines[LIBVERSION_NUMBER])() : 0);
}

/* What SQLite calls when a connection loads this file. */
int hashrange_sync_init(void *database, char **message, void *const *table);
int hashrange_sync_init(void *database, char **message, void *const *table)
{
    (void)database;
    (void)message;
    routines = table;
    return OK;
}

static PyMethodDef methods[] = {
    {"start", start_syncer, METH_O, "Start a thread that writes a byte to this file after every sync."},
    {"prepare", prepare, METH_VARARGS, "Prepare to store rows on a connection."},
    {"begin", (PyCFunction)(void (*)(void))begin, METH_FASTCALL, "Begin to sync a file of SQLite's, maybe to commit before."},
    {"skip", skip, METH_O, "Count a sync that is not needed."},
    {"over", over, METH_O, "The number of the last sync that is over."},
    {"wait", (PyCFunction)(void (*)(void))wait_over, METH_FASTCALL,
     "Wait for a sync; gives the stage, SQLite's result, seconds, pages of the log."},
    {"close", close_syncer, METH_O, "End the thread."},
    {"sqlite_version", sqlite_version, METH_NOARGS, "The version of the SQLite that has loaded this module, or 0."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_background_sync", NULL, -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__background_sync(void)
{
    return PyModule_Create(&definition);
}
