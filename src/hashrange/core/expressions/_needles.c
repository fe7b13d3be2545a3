/* The lines of stored JSON that have a member with a known value, or what Python does in needles.py.
 *
 * A member's bytes begin with the quote of its name. In canonical JSON a quote that is preceded by a brace or a comma
 * begins a string; inside of strings quotes are preceded by a backslash. So only such places are compared, and what two
 * of them compare hardly overlaps: the search takes time by the length of the lines, whatever they and the member are.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef const uint8_t *Place;

typedef struct {
    Place begin, end; /* of all lines */
    Place member;
    Py_ssize_t length; /* of the member: two at least */
} Search;

static inline int is_at(const Search *search, Place at)
{
    return at > search->begin && (at[-1] == '{' || at[-1] == ',') && search->end - at >= search->length
           && memcmp(at, search->member, (size_t)search->length) == 0;
}

/* Where the member stands next, or NULL. */
static Place next_member(const Search *search, Place at)
{
    const uint8_t first = search->member[0], second = search->member[1];
#ifdef __SSE2__
    const __m128i firsts = _mm_set1_epi8((char)first), seconds = _mm_set1_epi8((char)second);
    for (; search->end - at >= 17; at += 16) {
        __m128i here = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)at), firsts);
        __m128i behind = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(at + 1)), seconds);
        unsigned mask = (unsigned)_mm_movemask_epi8(_mm_and_si128(here, behind));
        for (; mask; mask &= mask - 1) {
            Place place = at + __builtin_ctz(mask);
            if (is_at(search, place))
                return place;
        }
    }
#endif
    for (; search->end - at >= 2; at++)
        if (at[0] == first && at[1] == second && is_at(search, at))
            return at;
    return NULL;
}

/* The end of the line that begins here. */
static inline Place line_end(const Search *search, Place at)
{
    Place end = memchr(at, '\n', (size_t)(search->end - at));
    return end == NULL ? search->end : end;
}

/* Add each line that has the member to a list; 0 if there is no memory. */
static int add_lines(const Search *search, PyObject *found)
{
    Place start = search->begin, at = search->begin;
    while ((at = next_member(search, at)) != NULL) {
        Place end = line_end(search, start);
        while (end < at) {
            start = end + 1;
            end = line_end(search, start);
        }
        PyObject *line = PyBytes_FromStringAndSize((const char *)start, end - start);
        if (line == NULL)
            return 0;
        int failed = PyList_Append(found, line);
        Py_DECREF(line);
        if (failed)
            return 0;
        if (end == search->end)
            break;
        at = start = end + 1;
    }
    return 1;
}

static PyObject *lines_with(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2 || !PyBytes_CheckExact(arguments[0]) || !PyBytes_CheckExact(arguments[1])
        || PyBytes_GET_SIZE(arguments[0]) < 2) {
        PyErr_SetString(PyExc_TypeError, "lines_with takes a member and lines");
        return NULL;
    }
    Search search;
    search.member = (Place)PyBytes_AS_STRING(arguments[0]);
    search.length = PyBytes_GET_SIZE(arguments[0]);
    search.begin = (Place)PyBytes_AS_STRING(arguments[1]);
    search.end = search.begin + PyBytes_GET_SIZE(arguments[1]);
    PyObject *found = PyList_New(0);
    if (found != NULL && !add_lines(&search, found))
        Py_CLEAR(found);
    return found;
}

static PyMethodDef methods[] = {
    {"lines_with", (PyCFunction)(void (*)(void))lines_with, METH_FASTCALL, "The lines that have a member."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "hashrange.core.expressions._needles", "Lines with a member.", -1, methods, NULL, NULL, NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__needles(void)
{
    return PyModule_Create(&definition);
}
