/* Passing over the canonical JSON of stored items, for the helpers that read some of its attributes.
 *
 * Each function takes where something begins and where all bytes end, and gives where it ends, or NULL: the bytes are
 * not what `orjson` makes of an item. Nobody has compared their checksums, so they may be anything: no byte is read
 * before it is known to be there, and nesting ends at LEVELS_MAX. White space, other escapes than the ones that are
 * needed, bytes below 0x20 in strings, unknown types, empty sets: NULL. UTF-8 is not looked at.
 */

#ifndef HASHRANGE_STORED_JSON_H
#define HASHRANGE_STORED_JSON_H

#include "../_values.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef const uint8_t *Place;

enum {
    VALUE_BYTES_MIN = 8, /* {"S":""} */
    FLAG_BYTES_MIN = 13, /* {"NULL":true} */
};

/* Where a string has its next quote, backslash or control character, or the end of all. */
static inline Place past_plain(Place at, Place end)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);
    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)at);
        __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
        marks = _mm_or_si128(marks, _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
        int mask = _mm_movemask_epi8(marks);
        if (mask)
            return at + __builtin_ctz((unsigned)mask);
    }
#endif
    return at + plain_length((const char *)at, end - at);
}

/* Past an escape that orjson writes: of a quote, a backslash or a control character. So an escaped text never equals
 * one that needs no escapes. */
static inline Place past_escape(Place at, Place end)
{
    if (end - at < 2)
        return NULL;
    switch (at[1]) {
    case '"': case '\\': case 'b': case 'f': case 'n': case 'r': case 't':
        return at + 2;
    case 'u':
        if (end - at < 6 || at[2] != '0' || at[3] != '0' || (at[4] != '0' && at[4] != '1'))
            return NULL;
        return (at[5] >= '0' && at[5] <= '9') || (at[5] >= 'a' && at[5] <= 'f') ? at + 6 : NULL;
    default:
        return NULL;
    }
}

/* The closing quote of a string, from behind its opening one. */
static inline Place closing_quote(Place at, Place end)
{
    for (;;) {
        at = past_plain(at, end);
        if (at == end)
            return NULL;
        if (*at == '"')
            return at;
        if (*at != '\\' || (at = past_escape(at, end)) == NULL)
            return NULL;
    }
}

/* Past a string, from its opening quote. */
static inline Place past_string(Place at, Place end)
{
    if (at >= end || *at != '"')
        return NULL;
    at = closing_quote(at + 1, end);
    return at == NULL ? NULL : at + 1;
}

/* Past the members of a set, from behind its bracket; there is one at least. */
static inline Place past_strings(Place at, Place end)
{
    for (;;) {
        at = past_string(at, end);
        if (at == NULL || at == end)
            return NULL;
        if (*at == ']')
            return at + 1;
        if (*at++ != ',')
            return NULL;
    }
}

static inline Place past_flag(Place at, Place end)
{
    if (end - at < FLAG_BYTES_MIN)
        return NULL;
    if (memcmp(at, "{\"BOOL\":true", 12) == 0 || memcmp(at, "{\"NULL\":true", 12) == 0)
        return at + 12;
    return memcmp(at, "{\"BOOL\":false", 13) == 0 ? at + 13 : NULL;
}

static Place past_value(Place at, Place end, int level);

/* Past the elements of a list, from behind its bracket. */
static Place past_elements(Place at, Place end, int level)
{
    if (level > LEVELS_MAX || at >= end)
        return NULL;
    if (*at == ']')
        return at + 1;
    for (;;) {
        at = past_value(at, end, level);
        if (at == NULL || at == end)
            return NULL;
        if (*at == ']')
            return at + 1;
        if (*at++ != ',')
            return NULL;
    }
}

/* Past the members of a map, from behind its brace. */
static Place past_members(Place at, Place end, int level)
{
    if (level > LEVELS_MAX || at >= end)
        return NULL;
    if (*at == '}')
        return at + 1;
    for (;;) {
        at = past_string(at, end);
        if (at == NULL || at == end || *at++ != ':')
            return NULL;
        at = past_value(at, end, level);
        if (at == NULL || at == end)
            return NULL;
        if (*at == '}')
            return at + 1;
        if (*at++ != ',')
            return NULL;
    }
}

/* Past the content of a value, and so to its closing brace. */
static inline Place past_content(Place at, Place end, int level)
{
    if (at[3] == '"' && at[4] == ':')
        switch (at[2]) {
        case 'S': case 'N': case 'B':
            return past_string(at + 5, end);
        case 'M':
            return at[5] == '{' ? past_members(at + 6, end, level + 1) : NULL;
        case 'L':
            return at[5] == '[' ? past_elements(at + 6, end, level + 1) : NULL;
        default:
            return NULL;
        }
    if (at[3] == 'S' && at[4] == '"' && at[5] == ':' && at[6] == '[')
        return at[2] == 'S' || at[2] == 'N' || at[2] == 'B' ? past_strings(at + 7, end) : NULL;
    return past_flag(at, end);
}

/* Past an attribute value, which is inside so many lists and maps. */
static Place past_value(Place at, Place end, int level)
{
    if (end - at < VALUE_BYTES_MIN || at[0] != '{' || at[1] != '"')
        return NULL;
    at = past_content(at, end, level);
    return at == NULL || at == end || *at != '}' ? NULL : at + 1;
}

#endif
