/* Rows of a range in one piece, read from SQLite without making an object of each, or a value of SQLite's own.
 *
 * In SQL a page of rows is joined by `substr`, `CAST` and `group_concat`, which copy every byte several times. The
 * function here steps through the rows and copies each once. What it gives is what the statement of `reader.py` gives.
 * Of an error it says no more than that there was one: the statement is asked, and finds it too.
 *
 * SQLite is the one inside APSW. It gives its functions to every extension that a connection loads, so this file is a
 * module for Python and an extension for SQLite. The table of functions only grows at its end
 * (https://sqlite.org/loadext.html), so that the places below hold for every version that has them.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

enum { /* places in SQLite's table of functions */
    BIND_BLOB = 2,
    BIND_INT64 = 5,
    COLUMN_BLOB = 19,
    COLUMN_BYTES = 20,
    COLUMN_INT64 = 29,
    COLUMN_TYPE = 38,
    FINALIZE = 57,
    LIBVERSION_NUMBER = 67,
    RESET = 77,
    STEP = 94,
    PREPARE_V2 = 116,
};

enum { OK = 0, ROW = 100, DONE = 101 };  /* SQLite's results */
enum { INTEGER = 1, BLOB = 4 };          /* and its types */
enum {
    CHECKSUM_BYTES = 4,                  /* before every stored value */
    KEY_BYTES_MAX = 1 << 16,
    KEPT_BYTES = 256 << 10,              /* larger buffers are given back when the page is done */
};
enum { NOT_JOINED = -1, FAILED = -2, NO_MEMORY = -3 };

typedef int (*BindBlob)(void *, int, const void *, int, void (*)(void *));
typedef int (*BindInt64)(void *, int, int64_t);
typedef const void *(*ColumnBlob)(void *, int);
typedef int (*ColumnInt)(void *, int);
typedef int64_t (*ColumnInt64)(void *, int);
typedef int (*OfStatement)(void *);
typedef int (*Prepare)(void *, const char *, int, void **, const char **);

static void *const *routines;

#define CALL(type, place) ((type)routines[place])

typedef struct {
    uint8_t *bytes;
    size_t used, size;
} Buffer;

typedef struct {
    PyObject_HEAD
    PyObject *connection;            /* APSW's: it cannot go before the statements do */
    void *forward, *reverse, *large; /* statements; none: closed */
    Buffer heads, rest;
    uint8_t last[KEY_BYTES_MAX];
    size_t last_bytes;
} Rows;

typedef struct {
    Py_ssize_t head, limit;
    const char *separator;
    size_t separator_bytes;
} Form;

static int put(Buffer *buffer, const void *bytes, size_t count)
{
    if (buffer->size - buffer->used < count) {
        size_t size = buffer->size ? buffer->size : 4096;
        while (size - buffer->used < count)
            size *= 2;
        uint8_t *larger = PyMem_RawRealloc(buffer->bytes, size);
        if (!larger)
            return 0;
        buffer->bytes = larger;
        buffer->size = size;
    }
    if (count)
        memcpy(buffer->bytes + buffer->used, bytes, count);
    buffer->used += count;
    return 1;
}

static void empty(Buffer *buffer)
{
    buffer->used = 0;
    if (buffer->size > KEPT_BYTES) {
        PyMem_RawFree(buffer->bytes);
        buffer->bytes = NULL;
        buffer->size = 0;
    }
}

/* Add one stored value. */
static int take(Rows *self, const Form *form, const uint8_t *stored, int count, int is_first)
{
    size_t before = CHECKSUM_BYTES + (size_t)form->head;
    if (!stored || (size_t)count < before)
        return NOT_JOINED;
    if (put(&self->heads, stored + CHECKSUM_BYTES, (size_t)form->head) &&
        (is_first || put(&self->rest, form->separator, form->separator_bytes)) &&
        put(&self->rest, stored + before, (size_t)count - before))
        return OK;
    return NO_MEMORY;
}

/* Add the large value that a row has the number of; the statement gives nothing for one that is missing or too large. */
static int take_large(Rows *self, const Form *form, int64_t number, int is_first)
{
    int result = FAILED;
    if (CALL(BindInt64, BIND_INT64)(self->large, 1, number) == OK) {
        int code = CALL(OfStatement, STEP)(self->large);
        if (code == ROW) {
            const uint8_t *stored = CALL(ColumnBlob, COLUMN_BLOB)(self->large, 0);
            result = take(self, form, stored, CALL(ColumnInt, COLUMN_BYTES)(self->large, 0), is_first);
        } else if (code == DONE) {
            result = NOT_JOINED;
        }
    }
    CALL(OfStatement, RESET)(self->large);
    return result;
}

static int take_row(Rows *self, void *statement, const Form *form, int is_first)
{
    int type = CALL(ColumnInt, COLUMN_TYPE)(statement, 1);
    if (type == INTEGER)
        return take_large(self, form, CALL(ColumnInt64, COLUMN_INT64)(statement, 1), is_first);
    if (type != BLOB)
        return NOT_JOINED;
    const uint8_t *stored = CALL(ColumnBlob, COLUMN_BLOB)(statement, 1);
    return take(self, form, stored, CALL(ColumnInt, COLUMN_BYTES)(statement, 1), is_first);
}

/* Join the rows of a range, up to a limit; gives how many there are. */
static Py_ssize_t read_rows(Rows *self, void *statement, const Form *form)
{
    Py_ssize_t rows = 0;
    while (rows < form->limit) {
        int code = CALL(OfStatement, STEP)(statement);
        if (code == DONE)
            return rows;
        if (code != ROW)
            return FAILED;
        int taken = take_row(self, statement, form, !rows);
        if (taken != OK)
            return taken;
        rows++;
        const void *key = CALL(ColumnBlob, COLUMN_BLOB)(statement, 0);
        int count = CALL(ColumnInt, COLUMN_BYTES)(statement, 0);
        if (count > KEY_BYTES_MAX)
            return NOT_JOINED;
        if (!key && count)
            return FAILED;
        self->last_bytes = (size_t)count;
        if (count)
            memcpy(self->last, key, self->last_bytes);
    }
    return rows;
}

static PyObject *answer(const Rows *self, Py_ssize_t rows)
{
    return Py_BuildValue("ny#y#y#", rows, self->last, (Py_ssize_t)self->last_bytes,
                         self->heads.used ? (char *)self->heads.bytes : "", (Py_ssize_t)self->heads.used,
                         self->rest.used ? (char *)self->rest.bytes : "", (Py_ssize_t)self->rest.used);
}

PyDoc_STRVAR(joined_doc, "joined(start, end, head, limit, separator, reverse): (rows, last key, heads, rest).\n\n"
                         "None if a value is too large or too short; raises RuntimeError if SQLite gives an error.");

static PyObject *joined(PyObject *object, PyObject *const *arguments, Py_ssize_t count)
{
    Rows *self = (Rows *)object;
    if (count != 6 || !PyBytes_CheckExact(arguments[0]) || !PyBytes_CheckExact(arguments[1]) ||
        !PyBytes_CheckExact(arguments[4])) {
        PyErr_SetString(PyExc_TypeError, "joined takes two keys, two numbers, a separator and a truth value");
        return NULL;
    }
    Form form = {
        .head = PyLong_AsSsize_t(arguments[2]),
        .limit = PyLong_AsSsize_t(arguments[3]),
        .separator = PyBytes_AS_STRING(arguments[4]),
        .separator_bytes = (size_t)PyBytes_GET_SIZE(arguments[4]),
    };
    if (PyErr_Occurred())
        return NULL;
    void *statement = arguments[5] == Py_True ? self->reverse : self->forward;
    Py_ssize_t start = PyBytes_GET_SIZE(arguments[0]), end = PyBytes_GET_SIZE(arguments[1]);
    if (!statement || form.head < 0 || start > INT_MAX || end > INT_MAX) {
        PyErr_SetString(PyExc_RuntimeError, statement ? "out of range" : "closed");
        return NULL;
    }
    Py_ssize_t rows = FAILED;
    self->last_bytes = 0;
    Py_BEGIN_ALLOW_THREADS
    if (CALL(BindBlob, BIND_BLOB)(statement, 1, PyBytes_AS_STRING(arguments[0]), (int)start, NULL) == OK &&
        CALL(BindBlob, BIND_BLOB)(statement, 2, PyBytes_AS_STRING(arguments[1]), (int)end, NULL) == OK)
        rows = read_rows(self, statement, &form);
    CALL(OfStatement, RESET)(statement);
    Py_END_ALLOW_THREADS
    PyObject *result = NULL;
    if (rows >= 0)
        result = answer(self, rows);
    else if (rows == NOT_JOINED)
        result = Py_NewRef(Py_None);
    else if (rows == NO_MEMORY)
        PyErr_NoMemory();
    else
        PyErr_SetString(PyExc_RuntimeError, "SQLite gives an error");
    empty(&self->heads);
    empty(&self->rest);
    return result;
}

static void finalize(void **statement)
{
    if (*statement)
        CALL(OfStatement, FINALIZE)(*statement);
    *statement = NULL;
}

static PyObject *close_rows(PyObject *object, PyObject *nothing)
{
    (void)nothing;
    Rows *self = (Rows *)object;
    finalize(&self->forward);
    finalize(&self->reverse);
    finalize(&self->large);
    Py_RETURN_NONE;
}

static void deallocate(PyObject *object)
{
    Rows *self = (Rows *)object;
    Py_XDECREF(close_rows(object, NULL));
    PyMem_RawFree(self->heads.bytes);
    PyMem_RawFree(self->rest.bytes);
    Py_CLEAR(self->connection);
    PyTypeObject *type = Py_TYPE(object);
    type->tp_free(object);
    Py_DECREF(type);
}

PyDoc_STRVAR(rows_doc, "Rows(connection, database, forward, reverse, large): reads by these statements; to be closed before it.");

static PyObject *new_rows(PyTypeObject *type, PyObject *arguments, PyObject *names)
{
    (void)names;
    PyObject *connection;
    unsigned long long database;
    const char *forward, *reverse, *large;
    if (!PyArg_ParseTuple(arguments, "OKsss", &connection, &database, &forward, &reverse, &large))
        return NULL;
    if (!routines) {
        PyErr_SetString(PyExc_RuntimeError, "SQLite has not loaded this module");
        return NULL;
    }
    Rows *self = (Rows *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->connection = Py_NewRef(connection);
    void *pointer = (void *)(uintptr_t)database;
    Prepare prepare = CALL(Prepare, PREPARE_V2);
    if (prepare(pointer, forward, -1, &self->forward, NULL) != OK ||
        prepare(pointer, reverse, -1, &self->reverse, NULL) != OK ||
        prepare(pointer, large, -1, &self->large, NULL) != OK) {
        Py_DECREF(self);
        PyErr_SetString(PyExc_ValueError, "SQLite does not take these statements");
        return NULL;
    }
    return (PyObject *)self;
}

static PyMethodDef rows_methods[] = {
    {"joined", (PyCFunction)(void (*)(void))joined, METH_FASTCALL, joined_doc},
    {"close", close_rows, METH_NOARGS, "Give the statements back."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot rows_slots[] = {
    {Py_tp_doc, (void *)rows_doc},      {Py_tp_new, new_rows}, {Py_tp_dealloc, deallocate},
    {Py_tp_methods, rows_methods}, {0, NULL},
};

static PyType_Spec rows_type = {
    .name = "hashrange.storage.sqlite._rows.Rows",
    .basicsize = sizeof(Rows),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = rows_slots,
};

static PyObject *sqlite_version(PyObject *module, PyObject *nothing)
{
    (void)module;
    (void)nothing;
    return PyLong_FromLong(routines ? ((int (*)(void))routines[LIBVERSION_NUMBER])() : 0);
}

/* What SQLite calls when a connection loads this file. */
int hashrange_rows_init(void *database, char **message, void *const *table);
int hashrange_rows_init(void *database, char **message, void *const *table)
{
    (void)database;
    (void)message;
    routines = table;
    return OK;
}

static PyMethodDef functions[] = {
    {"sqlite_version", sqlite_version, METH_NOARGS, "The version of the SQLite that has loaded this module, or 0."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_rows", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__rows(void)
{
    PyObject *module = PyModule_Create(&definition);
    PyObject *type = module ? PyType_FromSpec(&rows_type) : NULL;
    if (!type || PyModule_AddObject(module, "Rows", type) < 0) {
        Py_XDECREF(type);
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
