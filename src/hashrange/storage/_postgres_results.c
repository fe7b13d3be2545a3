/* Rows of a result of PostgreSQL's in one piece, without an object for each key and value.
 *
 * libpq has a result in memory, and says by two functions where a value is and how long. Python makes two objects for
 * each row, cuts each value in three and compares its checksum, which was a third of a Query of 100 items. The function
 * here looks at every row twice: to compare checksums and add up lengths, and to copy. What it gives is what
 * `SealedReader` makes of the same rows. Of a row that it does not like it says nothing: Python finds out which.
 *
 * libpq is the one that psycopg brings, and the checksum that of zlib-ng; `joined_results` passes their functions.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

enum { CHECKSUM_BYTES = 4 }; /* before every stored value */
enum { KEY, VALUE };         /* columns */

typedef char *(*GetValue)(const void *result, int row, int column);
typedef int (*GetLength)(const void *result, int row, int column);
typedef int (*CountRows)(const void *result);
typedef uint32_t (*Crc32)(uint32_t before, const uint8_t *bytes, uint32_t count);

static GetValue get_value;
static GetLength get_length;
static CountRows count_rows;
static Crc32 crc32;

typedef struct {
    const uint8_t *bytes;
    size_t count;
} Bytes;

static Bytes cell(const void *result, int row, int column)
{
    int count = get_length(result, row, column);
    return (Bytes){(const uint8_t *)get_value(result, row, column), count > 0 ? (size_t)count : 0};
}

/* Whether a value is whole, and has a head. */
static int is_good(const void *result, int row, size_t head, size_t key_bytes_max)
{
    Bytes key = cell(result, row, KEY), stored = cell(result, row, VALUE);
    if (!key.bytes || !stored.bytes || key.count > key_bytes_max || stored.count < CHECKSUM_BYTES + head)
        return 0;
    const uint8_t *sum = stored.bytes;
    uint32_t expected = (uint32_t)sum[0] << 24 | (uint32_t)sum[1] << 16 | (uint32_t)sum[2] << 8 | sum[3];
    uint32_t actual = crc32(0, key.bytes, (uint32_t)key.count);
    return crc32(actual, stored.bytes + CHECKSUM_BYTES, (uint32_t)(stored.count - CHECKSUM_BYTES)) == expected;
}

static uint8_t *put(uint8_t *output, const void *bytes, size_t count)
{
    memcpy(output, bytes, count);
    return output + count;
}

static PyObject *join(const void *result, int first, int last, size_t head, const char *separator, size_t separator_bytes,
                      size_t rest_bytes)
{
    PyObject *heads = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(head * (size_t)(last - first)));
    PyObject *rests = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)rest_bytes);
    if (!heads || !rests) {
        Py_XDECREF(heads);
        Py_XDECREF(rests);
        return NULL;
    }
    uint8_t *to_heads = (uint8_t *)PyBytes_AS_STRING(heads), *to_rests = (uint8_t *)PyBytes_AS_STRING(rests);
    for (int row = first; row < last; row++) {
        Bytes stored = cell(result, row, VALUE);
        const uint8_t *value = stored.bytes + CHECKSUM_BYTES;
        if (row > first)
            to_rests = put(to_rests, separator, separator_bytes);
        to_heads = put(to_heads, value, head);
        to_rests = put(to_rests, value + head, stored.count - CHECKSUM_BYTES - head);
    }
    Bytes key = cell(result, last - 1, KEY), stored = cell(result, last - 1, VALUE);
    return Py_BuildValue("y#y#NN", key.bytes, (Py_ssize_t)key.count, stored.bytes, (Py_ssize_t)stored.count, heads, rests);
}

PyDoc_STRVAR(joined_doc,
             "joined(result, first, last, head, separator, key_bytes_max): (last key, what is stored there, heads, rest) of "
             "the rows from first to before last.\n\nNone if one of them is damaged, too short, or has a longer key.");

static PyObject *joined(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 6 || !PyBytes_CheckExact(arguments[4])) {
        PyErr_SetString(PyExc_TypeError, "joined takes a result, four numbers and a separator");
        return NULL;
    }
    const void *result = PyLong_AsVoidPtr(arguments[0]);
    Py_ssize_t first = PyLong_AsSsize_t(arguments[1]), last = PyLong_AsSsize_t(arguments[2]);
    Py_ssize_t head = PyLong_AsSsize_t(arguments[3]), key_bytes_max = PyLong_AsSsize_t(arguments[5]);
    if (PyErr_Occurred())
        return NULL;
    if (!crc32 || !result || first < 0 || first >= last || last > count_rows(result) || head < 0 || key_bytes_max < 0) {
        PyErr_SetString(PyExc_ValueError, crc32 ? "out of range" : "not bound");
        return NULL;
    }
    size_t separator_bytes = (size_t)PyBytes_GET_SIZE(arguments[4]);
    size_t rest_bytes = separator_bytes * (size_t)(last - first - 1);
    for (int row = (int)first; row < last; row++) {
        if (!is_good(result, row, (size_t)head, (size_t)key_bytes_max))
            Py_RETURN_NONE;
        rest_bytes += (size_t)get_length(result, row, VALUE) - CHECKSUM_BYTES - (size_t)head;
    }
    return join(result, (int)first, (int)last, (size_t)head, PyBytes_AS_STRING(arguments[4]), separator_bytes, rest_bytes);
}

PyDoc_STRVAR(bind_doc, "bind(get_value, get_length, count_rows, crc32): the addresses of PQgetvalue, PQgetlength, PQntuples "
                       "and zng_crc32, for the life of the process.");

static PyObject *bind(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    unsigned long long addresses[4];
    if (!PyArg_ParseTuple(arguments, "KKKK", &addresses[0], &addresses[1], &addresses[2], &addresses[3]))
        return NULL;
    if (!addresses[0] || !addresses[1] || !addresses[2] || !addresses[3]) {
        PyErr_SetString(PyExc_ValueError, "there is nothing at 0");
        return NULL;
    }
    get_value = (GetValue)(uintptr_t)addresses[0];
    get_length = (GetLength)(uintptr_t)addresses[1];
    count_rows = (CountRows)(uintptr_t)addresses[2];
    crc32 = (Crc32)(uintptr_t)addresses[3];
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"bind", bind, METH_VARARGS, bind_doc},
    {"joined", (PyCFunction)(void (*)(void))joined, METH_FASTCALL, joined_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "hashrange.storage._postgres_results", "Rows of results.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__postgres_results(void)
{
    return PyModule_Create(&definition);
}
