/* Syncing the log on a thread that never needs Python's lock.
 *
 * A thread of Python's would have to wait for the interpreter's lock before and after each sync. This one is told by a
 * condition variable, and tells by a pipe that the event loop watches; meanwhile the loop goes on with other requests.
 *
 * The log is synced by the function that SQLite itself would call, the one of the file's own methods
 * (https://sqlite.org/c3ref/io_methods.html): so whatever stands between SQLite and the disk is passed as ever. One sync
 * at a time: whoever begins one keeps everybody else from the connection until it is over.
 */

#define PY_SSIZE_T_CLEAN
#define _GNU_SOURCE
#include <Python.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { SYNC_NORMAL = 2 }; /* as SQLite syncs the log at the end of a commit */

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
    int code; /* what the last sync gave: SQLite's result */
    double seconds;
} Syncer;

static const char NAME[] = "hashrange.sync";

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
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
        double start = now();
        int code = self->file->methods->sync(self->file, SYNC_NORMAL);
        double seconds = now() - start;
        pthread_mutex_lock(&self->lock);
        self->code = code;
        self->seconds = seconds;
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

/* begin(syncer, file): begin to sync what SQLite calls a file; gives the number of this sync. */
static PyObject *begin(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "begin takes a syncer and the address of a file");
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
    pthread_mutex_lock(&self->lock);
    int is_free = self->begun == self->over && !self->is_closing;
    unsigned long long number = self->begun + 1;
    if (is_free) {
        self->file = file;
        self->begun = number;
        pthread_cond_broadcast(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    if (!is_free) {
        PyErr_SetString(PyExc_RuntimeError, "a sync is under way");
        return NULL;
    }
    return PyLong_FromUnsignedLongLong(number);
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

/* wait(syncer, number): wait until that sync is over; gives what the last one gave, and the seconds it took. */
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
    int code;
    double seconds;
    /* With Python's lock: `close` must not miss whoever has a pointer. */
    pthread_mutex_lock(&self->lock);
    self->waiting++;
    Py_BEGIN_ALLOW_THREADS
    while (self->over < number && !self->is_closing)
        pthread_cond_wait(&self->changed, &self->lock);
    code = self->code;
    seconds = self->seconds;
    self->waiting--;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    Py_END_ALLOW_THREADS
    return Py_BuildValue("id", code, seconds);
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
    pthread_mutex_destroy(&self->lock);
    pthread_cond_destroy(&self->changed);
    PyMem_RawFree(self);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"start", start_syncer, METH_O, "Start a thread that writes a byte to this file after every sync."},
    {"begin", (PyCFunction)(void (*)(void))begin, METH_FASTCALL, "Begin to sync a file of SQLite's."},
    {"skip", skip, METH_O, "Count a sync that is not needed."},
    {"over", over, METH_O, "The number of the last sync that is over."},
    {"wait", (PyCFunction)(void (*)(void))wait_over, METH_FASTCALL, "Wait for a sync; gives SQLite's result, seconds."},
    {"close", close_syncer, METH_O, "End the thread."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_background_sync", NULL, -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__background_sync(void)
{
    return PyModule_Create(&definition);
}
