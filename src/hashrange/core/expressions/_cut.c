/* What a projection keeps of stored items, copied out of their JSON in one pass, or left to Python.
 *
 * `plan` takes the names of a projection level by level, and `cut` rows by commas: it gives what is kept of each, by
 * commas, in the order of the projection. Rows that are not canonical as far as `_stored_json.h` looks, and those that
 * have a kept name twice, make it give None, and partial_json.py has msgspec judge them. Tests hold the two against each
 * other.
 *
 * Limits: each attribute's name is compared with NAMES_MAX names at most, and only with those of its length; what is
 * written is never longer than what was read.
 */

#include "_stored_json.h"

enum { NAMES_MAX = 32 }; /* partial_json.py */

#define CAPSULE "hashrange.core.expressions._cut.plan"

/* The names at one place of the projection's tree, which are side by side in the plan. */
typedef struct {
    int first, count;
    uint64_t lengths; /* a bit for each of their lengths */
} Group;

typedef struct {
    const uint8_t *name; /* points into the tuple that the plan keeps */
    Py_ssize_t length;
    Group below; /* empty: all of the attribute is kept */
} Node;

typedef struct {
    PyObject *names;
    Group top;
    int count;
    Node nodes[NAMES_MAX];
} Plan;

/* From the quote of a kept name to the end of its value, or to behind {"M":{ if parts of it are kept. */
typedef struct {
    Place start, end;
} Kept;

typedef struct {
    const Plan *plan;
    Place end;
    Kept kept[NAMES_MAX];
} Scan;

static inline uint64_t length_bit(Py_ssize_t length)
{
    return (uint64_t)1 << (length & 63);
}

/* The number of a name in the plan, or -1. */
static inline int number_of(const Plan *plan, const Group *group, Place name, Py_ssize_t length)
{
    if (!(group->lengths & length_bit(length)))
        return -1;
    for (int number = group->first; number < group->first + group->count; number++) {
        const Node *node = &plan->nodes[number];
        if (node->length == length && memcmp(node->name, name, (size_t)length) == 0)
            return number;
    }
    return -1;
}

static Place scan_members(Scan *scan, const Group *group, Place at, int level);

/* Past a value of which parts are kept: if it is a map, those of its members that are. */
static Place scan_map(Scan *scan, int number, Place name, Place at, int level)
{
    if (scan->end - at < VALUE_BYTES_MIN || memcmp(at, "{\"M\":{", 6) != 0)
        return past_value(at, scan->end, level);
    scan->kept[number] = (Kept){name, at + 6};
    at = scan_members(scan, &scan->plan->nodes[number].below, at + 6, level + 1);
    return at == NULL || at == scan->end || *at != '}' ? NULL : at + 1;
}

/* Past the members of an item or of a map, from behind its brace. */
static Place scan_members(Scan *scan, const Group *group, Place at, int level)
{
    const Plan *plan = scan->plan;
    Place end = scan->end;
    if (at >= end)
        return NULL;
    if (*at == '}')
        return at + 1;
    for (;;) {
        Place name = at;
        at = past_string(at, end);
        if (at == NULL || at == end || *at != ':')
            return NULL;
        int number = number_of(plan, group, name + 1, at - name - 2);
        at++;
        if (number >= 0 && scan->kept[number].start != NULL)
            return NULL;
        if (number >= 0 && plan->nodes[number].below.count)
            at = scan_map(scan, number, name, at, level);
        else {
            at = past_value(at, end, level);
            if (number >= 0)
                scan->kept[number] = (Kept){name, at};
        }
        if (at == NULL || at == end)
            return NULL;
        if (*at == '}')
            return at + 1;
        if (*at++ != ',')
            return NULL;
    }
}

static inline uint8_t *copied(uint8_t *to, Place start, Place end)
{
    memcpy(to, start, (size_t)(end - start));
    return to + (end - start);
}

/* Write what was found of some names; gives where it began if there is nothing. It is never more than was read: every
 * piece comes from the row, and so do as many commas and braces. */
static uint8_t *put_group(const Scan *scan, const Group *group, uint8_t *const begin)
{
    uint8_t *to = begin;
    for (int number = group->first; number < group->first + group->count; number++) {
        const Kept *kept = &scan->kept[number];
        if (kept->start == NULL)
            continue;
        const Group *below = &scan->plan->nodes[number].below;
        uint8_t *piece = to;
        if (to != begin)
            *to++ = ',';
        to = copied(to, kept->start, kept->end);
        if (below->count) {
            uint8_t *inner = to;
            to = put_group(scan, below, inner);
            to = to == inner ? piece : copied(to, (Place) "}}", (Place) "}}" + 2);
        }
    }
    return to;
}

/* Cut all rows; gives the end of what was written, or NULL. */
static uint8_t *cut_rows(Scan *scan, Place at, uint8_t *to)
{
    for (;;) {
        if (at >= scan->end || *at != '{')
            return NULL;
        memset(scan->kept, 0, (size_t)scan->plan->count * sizeof(Kept));
        at = scan_members(scan, &scan->plan->top, at + 1, 0);
        if (at == NULL)
            return NULL;
        *to++ = '{';
        to = put_group(scan, &scan->plan->top, to);
        *to++ = '}';
        if (at == scan->end)
            return to;
        if (*at++ != ',')
            return NULL;
        *to++ = ',';
    }
}

static PyObject *cut(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2 || !PyBytes_CheckExact(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "cut takes a plan and rows");
        return NULL;
    }
    Scan scan;
    scan.plan = PyCapsule_GetPointer(arguments[0], CAPSULE);
    if (scan.plan == NULL)
        return NULL;
    Place rows = (Place)PyBytes_AS_STRING(arguments[1]);
    Py_ssize_t length = PyBytes_GET_SIZE(arguments[1]);
    scan.end = rows + length;
    if (length == 0)
        Py_RETURN_NONE;
    PyObject *answer = PyBytes_FromStringAndSize(NULL, length);
    if (answer == NULL)
        return NULL;
    uint8_t *start = (uint8_t *)PyBytes_AS_STRING(answer);
    uint8_t *end = cut_rows(&scan, rows, start);
    if (end == NULL) {
        Py_DECREF(answer);
        Py_RETURN_NONE;
    }
    _PyBytes_Resize(&answer, end - start);
    return answer;
}

/* Enter a name below another, or at the top. Those of one place have to follow each other. */
static int add_name(Plan *plan, PyObject *name, Py_ssize_t parent)
{
    int number = plan->count;
    if (!PyBytes_CheckExact(name) || parent < -1 || parent >= number || number >= NAMES_MAX)
        return 0;
    Group *group = parent < 0 ? &plan->top : &plan->nodes[parent].below;
    if (group->count == 0)
        group->first = number;
    if (group->first + group->count != number)
        return 0;
    Node *node = &plan->nodes[number];
    node->name = (Place)PyBytes_AS_STRING(name);
    node->length = PyBytes_GET_SIZE(name);
    group->count++;
    group->lengths |= length_bit(node->length);
    plan->count++;
    return 1;
}

static void free_plan(PyObject *capsule)
{
    Plan *plan = PyCapsule_GetPointer(capsule, CAPSULE);
    Py_XDECREF(plan->names);
    PyMem_Free(plan);
}

/* Takes two tuples: names, and for each the number of the one above it, or -1. */
static PyObject *make_plan(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *names, *parents;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyTuple_Type, &names, &PyTuple_Type, &parents))
        return NULL;
    Plan *plan = PyMem_Calloc(1, sizeof(Plan));
    if (plan == NULL)
        return PyErr_NoMemory();
    int right = PyTuple_GET_SIZE(names) == PyTuple_GET_SIZE(parents);
    for (Py_ssize_t at = 0; right && at < PyTuple_GET_SIZE(names); at++) {
        Py_ssize_t parent = PyLong_AsSsize_t(PyTuple_GET_ITEM(parents, at));
        right = !PyErr_Occurred() && add_name(plan, PyTuple_GET_ITEM(names, at), parent);
    }
    PyObject *capsule = right ? PyCapsule_New(plan, CAPSULE, free_plan) : NULL;
    if (capsule == NULL) {
        PyMem_Free(plan);
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "names are not in order, or too many");
        return NULL;
    }
    plan->names = Py_NewRef(names);
    return capsule;
}

static PyMethodDef methods[] = {
    {"plan", make_plan, METH_VARARGS, "The names of a projection, level by level, ready to be looked for."},
    {"cut", (PyCFunction)(void (*)(void))cut, METH_FASTCALL, "What a plan keeps of rows, or None: Python has to read."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "hashrange.core.expressions._cut", "Parts of items.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__cut(void)
{
    return PyModule_Create(&definition);
}
