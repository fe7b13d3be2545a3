/* An item as sent, checked, measured and written as JSON in one walk, or left to Python.
 *
 * `canonical` takes an attribute map as JSON decoding made it. Where everything in it is plain it gives the bytes that
 * orjson would make of the canonical item, and the item's size in the service's own bytes; core/values.py would have
 * changed nothing but the order of sets, which is changed here too. Whatever is unusual or wrong makes it give None:
 * Python judges that, so that every error has one home. Without this module Python does all of it; tests hold the two
 * against each other.
 *
 * Limits: nesting ends at LEVELS_MAX; an item that is larger than ITEM_BYTES_MAX is given up as soon as that is known,
 * so that the output, whose size is at most some times that of the item, is bounded; sets beyond SET_MEMBERS_MAX are
 * left to Python, which sorts them in runs so as not to hold up other threads.
 */

#include "_values.h"

static PyObject *set_of_strings; /* "SS" */

/* The UTF-8 of a string, which is not copied if it is ASCII. */
static inline int read_text(PyObject *object, Text *text)
{
    if (!PyUnicode_CheckExact(object))
        return 0;
    if (PyUnicode_IS_COMPACT_ASCII(object)) {
        text->start = (const char *)PyUnicode_1BYTE_DATA(object);
        text->length = PyUnicode_GET_LENGTH(object);
        return 1;
    }
    text->start = PyUnicode_AsUTF8AndSize(object, &text->length);
    if (text->start != NULL)
        return 1;
    if (PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
        PyErr_Clear(); /* half a surrogate pair: Python finds the words */
    return 0;
}

static Py_ssize_t put_number_set(Output *output, PyObject *members)
{
    Text previous = {NULL, 0}, member;
    Py_ssize_t total = 0, count = PyList_GET_SIZE(members);
    for (Py_ssize_t at = 0; at < count; at++) {
        if (!read_text(PyList_GET_ITEM(members, at), &member))
            return GIVEN_UP;
        Py_ssize_t size = number_size(&member);
        if (size == 0 || memchr(member.start, '.', (size_t)member.length) != NULL)
            return GIVEN_UP;
        if (previous.start != NULL && !is_integer_below(&previous, &member))
            return GIVEN_UP;
        if (!put(output, at ? "," : "[", 1) || !put_string(output, &member))
            return GIVEN_UP;
        total += size;
        previous = member;
    }
    return put(output, "]", 1) ? total : GIVEN_UP;
}

/* Whether all are strings, each above the one before: 1 yes, 0 no, -1 something is no string. */
static int is_sorted(PyObject *members)
{
    Text previous = {NULL, 0}, member;
    int sorted = 1;
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(members); at++) {
        if (!read_text(PyList_GET_ITEM(members, at), &member))
            return -1;
        sorted = sorted && (previous.start == NULL || is_string_below(&previous, &member));
        previous = member;
    }
    return sorted;
}

/* A copy in order, which takes the place of the members; NULL if a member is there twice, or with an exception. */
static PyObject *in_order(PyObject *value, PyObject *members)
{
    PyObject *sorted = PyList_GetSlice(members, 0, PyList_GET_SIZE(members));
    if (sorted == NULL)
        return NULL;
    if (PyList_Sort(sorted) == 0 && is_sorted(sorted) == 1 && PyDict_SetItem(value, set_of_strings, sorted) == 0) {
        Py_DECREF(sorted); /* the value has it */
        return sorted;
    }
    Py_DECREF(sorted);
    return NULL;
}

static Py_ssize_t put_string_set(Output *output, PyObject *value, PyObject *members)
{
    Text member;
    Py_ssize_t total = 0, count = PyList_GET_SIZE(members);
    int sorted = is_sorted(members);
    if (sorted < 0 || (!sorted && (members = in_order(value, members)) == NULL))
        return GIVEN_UP;
    for (Py_ssize_t at = 0; at < count; at++) {
        if (!read_text(PyList_GET_ITEM(members, at), &member) || !put(output, at ? "," : "[", 1) ||
            !put_string(output, &member))
            return GIVEN_UP;
        total += member.length;
    }
    return put(output, "]", 1) ? total : GIVEN_UP;
}

static Py_ssize_t put_set(Output *output, int of_numbers, PyObject *value, PyObject *members)
{
    if (!PyList_CheckExact(members) || PyList_GET_SIZE(members) == 0 || PyList_GET_SIZE(members) > SET_MEMBERS_MAX)
        return GIVEN_UP;
    return of_numbers ? put_number_set(output, members) : put_string_set(output, value, members);
}

static Py_ssize_t put_value(Output *output, PyObject *value, int level);
static Py_ssize_t put_map(Output *output, PyObject *map, int level, int per_entry);

static Py_ssize_t put_list(Output *output, PyObject *list, int level)
{
    if (!PyList_CheckExact(list) || level > LEVELS_MAX || !put(output, "[", 1))
        return GIVEN_UP;
    Py_ssize_t total = 3;
    for (Py_ssize_t at = 0; at < PyList_GET_SIZE(list); at++) {
        if (at && !put(output, ",", 1))
            return GIVEN_UP;
        Py_ssize_t size = put_value(output, PyList_GET_ITEM(list, at), level);
        if (size < 0)
            return GIVEN_UP;
        total += 1 + size;
        if (total > ITEM_BYTES_MAX)
            return GIVEN_UP;
    }
    return put(output, "]", 1) ? total : GIVEN_UP;
}

static Py_ssize_t put_flag(Output *output, PyObject *content, int may_be_false)
{
    if (content == Py_True)
        return put(output, "true", 4) ? 1 : GIVEN_UP;
    if (content == Py_False && may_be_false)
        return put(output, "false", 5) ? 1 : GIVEN_UP;
    return GIVEN_UP;
}

static Py_ssize_t put_scalar(Output *output, char kind, PyObject *content)
{
    Text text;
    if (!read_text(content, &text))
        return GIVEN_UP;
    Py_ssize_t size = text.length;
    if (kind == 'N')
        size = number_size(&text) ? number_size(&text) : GIVEN_UP;
    else if (kind == 'B')
        size = binary_size(&text);
    return size >= 0 && put_string(output, &text) ? size : GIVEN_UP;
}

static Py_ssize_t put_content(Output *output, const Text *kind, PyObject *value, PyObject *content, int level)
{
    const char *name = kind->start;
    if (kind->length == 1)
        switch (*name) {
        case 'S': case 'N': case 'B':
            return put_scalar(output, *name, content);
        case 'M': {
            Py_ssize_t size = put_map(output, content, level + 1, 1);
            return size < 0 ? GIVEN_UP : size + 3;
        }
        case 'L':
            return put_list(output, content, level + 1);
        default:
            return GIVEN_UP;
        }
    if (kind->length == 2 && name[1] == 'S' && (*name == 'S' || *name == 'N'))
        return put_set(output, *name == 'N', value, content);
    if (kind->length == 4 && memcmp(name, "BOOL", 4) == 0)
        return put_flag(output, content, 1);
    if (kind->length == 4 && memcmp(name, "NULL", 4) == 0)
        return put_flag(output, content, 0);
    return GIVEN_UP;
}

static Py_ssize_t put_value(Output *output, PyObject *value, int level)
{
    PyObject *name, *content;
    Py_ssize_t position = 0;
    Text kind;
    if (!PyDict_CheckExact(value) || PyDict_GET_SIZE(value) != 1 || !PyDict_Next(value, &position, &name, &content))
        return GIVEN_UP;
    if (!read_text(name, &kind) || kind.length > 4 || !reserve(output, 4 + kind.length))
        return GIVEN_UP;
    memcpy(output->at, "{\"", 2);
    memcpy(output->at + 2, kind.start, (size_t)kind.length);
    memcpy(output->at + 2 + kind.length, "\":", 2);
    output->at += 4 + kind.length;
    Py_ssize_t size = put_content(output, &kind, value, content, level);
    return size >= 0 && put(output, "}", 1) ? size : GIVEN_UP;
}

/* Names and values of a map added up, and so many bytes more for each of them. */
static Py_ssize_t put_map(Output *output, PyObject *map, int level, int per_entry)
{
    PyObject *name, *value;
    Py_ssize_t position = 0, total = 0;
    Text text;
    if (!PyDict_CheckExact(map) || level > LEVELS_MAX || !put(output, "{", 1))
        return GIVEN_UP;
    while (PyDict_Next(map, &position, &name, &value)) {
        if ((total && !put(output, ",", 1)) || !read_text(name, &text) || text.length == 0 ||
            text.length > NAME_CHARS_MAX)
            return GIVEN_UP;
        if (!put_string(output, &text) || !put(output, ":", 1))
            return GIVEN_UP;
        Py_ssize_t size = put_value(output, value, level);
        if (size < 0)
            return GIVEN_UP;
        total += text.length + size + per_entry;
        if (total > ITEM_BYTES_MAX)
            return GIVEN_UP;
    }
    return put(output, "}", 1) ? total : GIVEN_UP;
}

static PyObject *canonical(PyObject *Py_UNUSED(module), PyObject *item)
{
    Output output;
    begin_output(&output);
    PyObject *answer = NULL;
    Py_ssize_t size = put_map(&output, item, 1, 0);
    if (size >= 0)
        answer = Py_BuildValue("(y#n)", output.start, output.at - output.start, size);
    end_output(&output);
    if (answer == NULL && !PyErr_Occurred())
        Py_RETURN_NONE;
    return answer;
}

static PyMethodDef methods[] = {
    {"canonical", canonical, METH_O, "The JSON of an item as sent and its size, or None: Python has to judge."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "hashrange.core._plain", "Items in one walk.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__plain(void)
{
    set_of_strings = PyUnicode_InternFromString("SS");
    return set_of_strings == NULL ? NULL : PyModule_Create(&definition);
}
