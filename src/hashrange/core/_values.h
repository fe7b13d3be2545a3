/* What checks and writes the parts of an item, for the helpers that walk one: _plain.c over objects, and
 * api/items/_sent_puts.c over the bytes of a request.
 *
 * An output grows; whoever writes into it bounds it by ITEM_BYTES_MAX.
 */

#ifndef HASHRANGE_VALUES_H
#define HASHRANGE_VALUES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum {
    FIRST_BYTES = 4096,
    ITEM_BYTES_MAX = 409600,  /* core/limits.py */
    LEVELS_MAX = 32,          /* NESTING_LEVELS_MAX of core/limits.py */
    DIGITS_MAX = 38,          /* NUMBER_DIGITS_MAX of core/limits.py */
    NAME_CHARS_MAX = 16383,   /* longer names are measured in core/values.py */
    SET_MEMBERS_MAX = 1024,
    ESCAPED_BYTES_MAX = 6,    /* that one character takes at most */
};

#define GIVEN_UP (-1) /* where a size is expected; an exception may be set */

typedef struct {
    uint8_t *start, *at, *end;
    uint8_t first[FIRST_BYTES]; /* most items need no other memory */
} Output;

typedef struct {
    const char *start;
    Py_ssize_t length; /* in UTF-8 */
} Text;

static inline void begin_output(Output *output)
{
    output->start = output->at = output->first;
    output->end = output->first + FIRST_BYTES;
}

static inline void end_output(Output *output)
{
    if (output->start != output->first)
        PyMem_Free(output->start);
}

static inline int grow(Output *output, Py_ssize_t more)
{
    Py_ssize_t used = output->at - output->start, size = output->end - output->start;
    Py_ssize_t wanted = 2 * size > used + more ? 2 * size : used + more;
    uint8_t *larger = PyMem_Malloc((size_t)wanted);
    if (larger == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    memcpy(larger, output->start, (size_t)used);
    if (output->start != output->first)
        PyMem_Free(output->start);
    output->start = larger;
    output->at = larger + used;
    output->end = larger + wanted;
    return 1;
}

static inline int reserve(Output *output, Py_ssize_t more)
{
    return output->end - output->at >= more || grow(output, more);
}

static inline int put(Output *output, const char *text, Py_ssize_t length)
{
    if (!reserve(output, length))
        return 0;
    memcpy(output->at, text, (size_t)length);
    output->at += length;
    return 1;
}

static inline void put_escaped(Output *output, uint8_t character)
{
    static const char hex[] = "0123456789abcdef";
    static const char names[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    *output->at++ = '\\';
    for (const char *name = names; *name; name += 2)
        if ((uint8_t)name[0] == character) {
            *output->at++ = (uint8_t)name[1];
            return;
        }
    memcpy(output->at, "u00", 3);
    output->at[3] = (uint8_t)hex[character >> 4];
    output->at[4] = (uint8_t)hex[character & 15];
    output->at += 5;
}

#define ONES 0x0101010101010101ULL
#define HIGHS 0x8080808080808080ULL
#define HAS_ZERO(word) (((word) - ONES) & ~(word) & HIGHS)

/* How many of these bytes stand for themselves: those before a quote, a backslash or a control character. */
static inline Py_ssize_t plain_length(const char *start, Py_ssize_t length)
{
    Py_ssize_t at = 0;
    for (; length - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, start + at, 8);
        uint64_t control = (word - ONES * 0x20) & ~word & HIGHS;
        if (control | HAS_ZERO(word ^ ONES * '"') | HAS_ZERO(word ^ ONES * '\\'))
            break;
    }
    while (at < length && (uint8_t)start[at] >= 0x20 && start[at] != '"' && start[at] != '\\')
        at++;
    return at;
}

static inline int put_string(Output *output, const Text *text)
{
    if (text->length > ITEM_BYTES_MAX)
        return 0;
    Py_ssize_t plain = plain_length(text->start, text->length);
    if (!reserve(output, plain + (text->length - plain) * ESCAPED_BYTES_MAX + 2))
        return 0;
    const char *at = text->start, *end = at + text->length;
    *output->at++ = '"';
    for (;;) {
        memcpy(output->at, at, (size_t)plain);
        output->at += plain;
        at += plain;
        if (at == end)
            break;
        put_escaped(output, (uint8_t)*at++);
        plain = plain_length(at, end - at);
    }
    *output->at++ = '"';
    return 1;
}

/* The size of a number that is canonical as it is; 0 if it is not. See core/numbers.py. */
static inline Py_ssize_t number_size(const Text *text)
{
    const char *at = text->start, *end = at + text->length;
    int negative = at < end && *at == '-';
    at += negative;
    const char *whole = at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    Py_ssize_t whole_digits = at - whole;
    if (whole_digits == 0 || whole_digits > DIGITS_MAX || (*whole == '0' && whole_digits > 1))
        return 0;
    if (at == end) {
        if (*whole == '0')
            return negative ? 0 : 1;
        const char *last = end;
        while (last[-1] == '0')
            last--;
        return 1 + negative + (last - whole + 1) / 2;
    }
    if (*at++ != '.')
        return 0;
    const char *fraction = at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    Py_ssize_t fraction_digits = at - fraction;
    if (at != end || fraction_digits == 0 || end[-1] == '0' || whole_digits + fraction_digits > DIGITS_MAX)
        return 0;
    if (*whole != '0')
        return 1 + negative + (whole_digits + 1) / 2 + (fraction_digits + 1) / 2;
    while (*fraction == '0')
        fraction++;
    return 1 + negative + (end - fraction + 1) / 2;
}

/* Whether one whole number is below another; both are canonical. */
static inline int is_integer_below(const Text *left, const Text *right)
{
    int negative = *left->start == '-';
    if (negative != (*right->start == '-'))
        return negative;
    if (left->length != right->length)
        return (left->length < right->length) != negative;
    int order = memcmp(left->start, right->start, (size_t)left->length);
    return negative ? order > 0 : order < 0;
}

static inline int is_string_below(const Text *left, const Text *right)
{
    Py_ssize_t shorter = left->length < right->length ? left->length : right->length;
    int order = memcmp(left->start, right->start, (size_t)shorter);
    return order < 0 || (order == 0 && left->length < right->length);
}

static inline int is_base64_letter(char letter)
{
    return (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
           letter == '+' || letter == '/';
}

/* How many bytes a canonical base64 text stands for, or GIVEN_UP. */
static inline Py_ssize_t binary_size(const Text *text)
{
    Py_ssize_t length = text->length, letters = length;
    const char *start = text->start;
    if (length % 4 != 0)
        return GIVEN_UP;
    if (length > 0 && start[length - 1] == '=')
        letters -= start[length - 2] == '=' ? 2 : 1;
    for (Py_ssize_t at = 0; at < letters; at++)
        if (!is_base64_letter(start[at]))
            return GIVEN_UP;
    /* The last letter may have no bits beyond the last byte. */
    Py_ssize_t padding = length - letters;
    if ((padding == 1 && strchr("AEIMQUYcgkosw048", start[letters - 1]) == NULL) ||
        (padding == 2 && strchr("AQgw", start[letters - 1]) == NULL))
        return GIVEN_UP;
    return length / 4 * 3 - padding;
}

#endif
