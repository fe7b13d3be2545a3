/* Key bytes of keys that are strings, which is what most are: see core/keys/encoding.py for their form.
 *
 * `string_key` makes a primary key of an item or a Key member as JSON decoding made it, `entry_key` that of an item's entry
 * in an index. Whatever is not plainly right makes them give None: Python judges that, so that every error has one home.
 * Without this module Python does all of it; tests hold the two against each other.
 *
 * Limits: a key has at most PARTITION_BYTES_MAX and SORT_BYTES_MAX, so that the work and the output are bounded.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    PARTITION_BYTES_MAX = 2048, /* core/limits.py */
    SORT_BYTES_MAX = 1024,      /* core/limits.py */
    HASH_BYTES = 8,             /* core/keys/encoding.py */
    LENGTH_BYTES = 2,
    SALT_BYTES = 8,
    BLOCK_BYTES = 64, /* of MD5 */
    TAIL_BYTES = 9,   /* what MD5 adds at least: a bit, and the length */
    STRING_END_BYTES = 2,
};

static const char salt[] = "Outliers"; /* this and the next: core/keys/encoding.py */
static const char string_end[] = {0, 1};

typedef struct {
    const char *start;
    Py_ssize_t length; /* in UTF-8 */
} Text;

static PyObject *kind_string; /* "S" */
static uint32_t sines[BLOCK_BYTES]; /* RFC 1321, 3.4: 2^32 times the sines of 1 to 64 */

static inline uint32_t word_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint32_t rotated(uint32_t word, int bits)
{
    return word << bits | word >> (32 - bits);
}

/* One step of the four rounds of RFC 1321, 3.4; the names of the words move on by one with every step. */
#define STEP(mixed, place, word, bits) \
    do { \
        uint32_t sum = a + (mixed) + sines[place] + words[(word) % 16]; \
        a = d; \
        d = c; \
        c = b; \
        b += rotated(sum, bits); \
    } while (0)
#define ROUND(mixed, first, factor, offset, bits_1, bits_2, bits_3, bits_4) \
    for (int place = 0; place < 16; place += 4) { \
        STEP(mixed, (first) + place, (factor) * place + (offset), bits_1); \
        STEP(mixed, (first) + place + 1, (factor) * (place + 1) + (offset), bits_2); \
        STEP(mixed, (first) + place + 2, (factor) * (place + 2) + (offset), bits_3); \
        STEP(mixed, (first) + place + 3, (factor) * (place + 3) + (offset), bits_4); \
    }

static void add_block(uint32_t state[4], const uint8_t *block)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], words[16];
    for (int place = 0; place < 16; place++)
        words[place] = word_at(block + 4 * place);
#pragma GCC unroll 4
    ROUND(d ^ (b & (c ^ d)), 0, 1, 0, 7, 12, 17, 22)
#pragma GCC unroll 4
    ROUND(c ^ (d & (b ^ c)), 16, 5, 1, 5, 9, 14, 20)
#pragma GCC unroll 4
    ROUND(b ^ c ^ d, 32, 3, 5, 4, 11, 16, 23)
#pragma GCC unroll 4
    ROUND(c ^ (b | ~d), 48, 7, 0, 6, 10, 15, 21)
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

/* The first bytes of the MD5 of salt and partition key. */
static void put_hash(uint8_t *output, const Text *partition)
{
    uint8_t bytes[SALT_BYTES + PARTITION_BYTES_MAX + BLOCK_BYTES + TAIL_BYTES];
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    size_t length = SALT_BYTES + (size_t)partition->length;
    size_t padded = (length + TAIL_BYTES + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
    memcpy(bytes, salt, SALT_BYTES);
    memcpy(bytes + SALT_BYTES, partition->start, (size_t)partition->length);
    memset(bytes + length, 0, padded - length);
    bytes[length] = 0x80;
    for (int place = 0; place < 4; place++) /* keys are far below 2^29 bytes */
        bytes[padded - 8 + place] = (uint8_t)(length * 8 >> 8 * place);
    for (size_t at = 0; at < padded; at += BLOCK_BYTES)
        add_block(state, bytes + at);
    for (int place = 0; place < HASH_BYTES; place++)
        output[place] = (uint8_t)(state[place / 4] >> 8 * (place % 4));
}

/* The UTF-8 of an attribute that is a string of some bytes; 0 if it is anything else, maybe with an exception. */
static int read_attribute(PyObject *item, PyObject *name, Py_ssize_t bytes_max, Text *text)
{
    PyObject *value = PyDict_GetItemWithError(item, name);
    if (value == NULL || !PyDict_CheckExact(value) || PyDict_GET_SIZE(value) != 1)
        return 0;
    PyObject *content = PyDict_GetItemWithError(value, kind_string);
    if (content == NULL || !PyUnicode_CheckExact(content))
        return 0;
    text->start = PyUnicode_AsUTF8AndSize(content, &text->length);
    if (text->start == NULL) {
        if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            PyErr_Clear(); /* half a surrogate pair: Python finds the words */
        return 0;
    }
    return text->length > 0 && text->length <= bytes_max;
}

/* Writes what all keys of a partition begin with; gives the place behind it. */
static uint8_t *put_partition(uint8_t *output, const Text *partition)
{
    put_hash(output, partition);
    output[HASH_BYTES] = (uint8_t)(partition->length >> 8);
    output[HASH_BYTES + 1] = (uint8_t)partition->length;
    output += HASH_BYTES + LENGTH_BYTES;
    memcpy(output, partition->start, (size_t)partition->length);
    return output + partition->length;
}

static uint8_t *put_text(uint8_t *output, const Text *text)
{
    if (text->length)
        memcpy(output, text->start, (size_t)text->length);
    return output + text->length;
}

static PyObject *joined(const Text *partition, const Text *sort)
{
    Py_ssize_t length = HASH_BYTES + LENGTH_BYTES + partition->length + sort->length;
    PyObject *key = PyBytes_FromStringAndSize(NULL, length);
    if (key != NULL)
        put_text(put_partition((uint8_t *)PyBytes_AS_STRING(key), partition), sort);
    return key;
}

static PyObject *string_key(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Text partition, sort = {NULL, 0};
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "string_key takes an item, two names, and whether it has nothing else");
        return NULL;
    }
    PyObject *item = args[0], *hash_name = args[1], *range_name = args[2];
    int has_range = range_name != Py_None;
    if (!PyDict_CheckExact(item) || (args[3] == Py_True && PyDict_GET_SIZE(item) != 1 + has_range) ||
        !read_attribute(item, hash_name, PARTITION_BYTES_MAX, &partition) ||
        (has_range && !read_attribute(item, range_name, SORT_BYTES_MAX, &sort))) {
        if (PyErr_Occurred())
            return NULL;
        Py_RETURN_NONE;
    }
    return joined(&partition, &sort);
}

/* The sort key of an index entry: the bytes that were given, or a string attribute, which gets an end; 0 as above. */
static int read_entry_sort(PyObject *item, PyObject *given, Text *sort, Text *end)
{
    if (PyBytes_CheckExact(given)) {
        sort->start = PyBytes_AS_STRING(given);
        sort->length = PyBytes_GET_SIZE(given);
        return 1;
    }
    if (given == Py_None)
        return 1;
    end->start = string_end;
    end->length = STRING_END_BYTES;
    /* Zero bytes would have to be kept apart from the end. */
    return read_attribute(item, given, SORT_BYTES_MAX, sort) && !memchr(sort->start, 0, (size_t)sort->length);
}

static PyObject *entry_key(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t count)
{
    Text partition, sort = {NULL, 0}, end = {NULL, 0};
    if (count != 4 || !PyBytes_CheckExact(args[3])) {
        PyErr_SetString(PyExc_TypeError, "entry_key takes an item, a name, a sort key and the item's own key");
        return NULL;
    }
    PyObject *item = args[0];
    if (!PyDict_CheckExact(item) || !read_attribute(item, args[1], PARTITION_BYTES_MAX, &partition) ||
        !read_entry_sort(item, args[2], &sort, &end)) {
        if (PyErr_Occurred())
            return NULL;
        Py_RETURN_NONE;
    }
    Text own = {PyBytes_AS_STRING(args[3]), PyBytes_GET_SIZE(args[3])};
    Py_ssize_t length = HASH_BYTES + LENGTH_BYTES + partition.length + sort.length + end.length + own.length;
    PyObject *key = PyBytes_FromStringAndSize(NULL, length);
    if (key != NULL) {
        uint8_t *output = put_partition((uint8_t *)PyBytes_AS_STRING(key), &partition);
        put_text(put_text(put_text(output, &sort), &end), &own);
    }
    return key;
}

static PyMethodDef methods[] = {
    {"entry_key", (PyCFunction)(void (*)(void))entry_key, METH_FASTCALL,
     "The key bytes of an index entry by a string and maybe a sort key, likewise. The sort key is None, the name of a "
     "string attribute, or bytes that have an end."},
    {"string_key", (PyCFunction)(void (*)(void))string_key, METH_FASTCALL,
     "The key bytes of an item whose key attributes are strings, or None: Python has to judge."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "hashrange.core._keys", "Keys of strings.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__keys(void)
{
    for (int step = 0; step < BLOCK_BYTES; step++)
        sines[step] = (uint32_t)(fabs(sin(step + 1)) * 4294967296.0);
    kind_string = PyUnicode_InternFromString("S");
    return kind_string == NULL ? NULL : PyModule_Create(&definition);
}
