/* Puts without conditions, read from the bytes of a request without making objects of what the items hold.
 *
 * `one` and `batch` take the body of a PutItem or a BatchWriteItem. Where nothing in it is unusual they give the names of
 * the tables, and of every item the canonical JSON and the size that core/plain_items.py would give once it was decoded.
 * Whatever else is in a body makes them give None: it is decoded then, and Python judges all of it, so that every error
 * has one home. That includes escapes in strings, names that come twice, members that hardly any request has, and all
 * that is not JSON. Without this module all bodies are decoded; tests hold the two against each other.
 *
 * `key` finds the key attributes in such a canonical JSON.
 *
 * Limits: no byte is read before it is known to be there, and each a fixed number of times. Nesting ends at LEVELS_MAX,
 * maps at NAMES_MAX, sets that have to be sorted at SORTED_MAX and others at SET_MEMBERS_MAX, a batch at ITEMS_MAX. The
 * output is never longer than what was read for it.
 */

#include "../../core/_values.h"

enum {
    ITEMS_MAX = 25,        /* BATCH_WRITE_ITEMS_MAX of core/limits.py */
    NAMES_MAX = 64,        /* each is compared with all before it */
    SORTED_MAX = 64,       /* likewise */
    TABLE_NAME_MAX = 1024, /* TABLE_ARN_CHARS_MAX of core/limits.py */
};

typedef struct {
    const char *at, *end;
} Input;

static PyObject *kind_string, *kind_number, *kind_binary;

static inline void skip_space(Input *input)
{
    while (input->at < input->end &&
           (*input->at == ' ' || *input->at == '\n' || *input->at == '\r' || *input->at == '\t'))
        input->at++;
}

/* Whether this character is the next one, which is then behind us. */
static inline int take(Input *input, char character)
{
    skip_space(input);
    if (input->at == input->end || *input->at != character)
        return 0;
    input->at++;
    return 1;
}

static int take_word(Input *input, const char *word, Py_ssize_t length)
{
    skip_space(input);
    if (input->end - input->at < length || memcmp(input->at, word, (size_t)length) != 0)
        return 0;
    input->at += length;
    return 1;
}

/* How many bytes the character here has in UTF-8 (RFC 3629, 4); 0 if they are none. */
static int character_bytes(const uint8_t *at, Py_ssize_t left)
{
    uint8_t first = at[0];
    int count = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (count > left)
        return 0;
    for (int place = 1; place < count; place++)
        if ((at[place] & 0xC0) != 0x80)
            return 0;
    if ((first == 0xE0 && at[1] < 0xA0) || (first == 0xED && at[1] > 0x9F) || (first == 0xF0 && at[1] < 0x90) ||
        (first == 0xF4 && at[1] > 0x8F))
        return 0;
    return count;
}

static int is_utf8(const Text *text)
{
    const uint8_t *start = (const uint8_t *)text->start;
    Py_ssize_t at = 0;
    while (at < text->length) {
        int count = character_bytes(start + at, text->length - at);
        if (count == 0)
            return 0;
        at += count;
    }
    return 1;
}

/* A string in which every byte stands for itself. */
static int read_string(Input *input, Text *text)
{
    if (!take(input, '"'))
        return 0;
    const char *start = input->at;
    Py_ssize_t length = plain_length(start, input->end - start);
    if (length == input->end - start || start[length] != '"')
        return 0;
    text->start = start;
    text->length = length;
    input->at = start + length + 1;
    return 1;
}

static inline int is_ascii(const Text *text)
{
    uint64_t high = 0, word;
    Py_ssize_t at = 0;
    for (; text->length - at >= 8; at += 8) {
        memcpy(&word, text->start + at, 8);
        high |= word;
    }
    for (; at < text->length; at++)
        high |= (uint8_t)text->start[at];
    return !(high & HIGHS);
}

static inline int read_text(Input *input, Text *text)
{
    return read_string(input, text) && (is_ascii(text) || is_utf8(text));
}

static inline int is_same(const Text *left, const Text *right)
{
    return left->length == right->length && memcmp(left->start, right->start, (size_t)left->length) == 0;
}

static inline int is_named(const Text *text, const char *name, Py_ssize_t length)
{
    return text->length == length && memcmp(text->start, name, (size_t)length) == 0;
}
#define IS(text, literal) is_named(text, literal, sizeof(literal) - 1)

/* Writes a text that needs no escapes. */
static inline int put_text(Output *output, const Text *text)
{
    if (text->length > ITEM_BYTES_MAX || !reserve(output, text->length + 2))
        return 0;
    *output->at++ = '"';
    memcpy(output->at, text->start, (size_t)text->length);
    output->at += text->length;
    *output->at++ = '"';
    return 1;
}

static Py_ssize_t walk_number_set(Input *input, Output *output)
{
    Text previous = {NULL, 0}, member;
    Py_ssize_t total = 0;
    for (int count = 0; count < SET_MEMBERS_MAX; count++) {
        if (!read_string(input, &member))
            return GIVEN_UP;
        Py_ssize_t size = number_size(&member);
        if (size == 0 || memchr(member.start, '.', (size_t)member.length) != NULL)
            return GIVEN_UP;
        if (previous.start != NULL && !is_integer_below(&previous, &member))
            return GIVEN_UP;
        if (!put(output, count ? "," : "[", 1) || !put_text(output, &member))
            return GIVEN_UP;
        total += size;
        previous = member;
        if (take(input, ']'))
            return put(output, "]", 1) ? total : GIVEN_UP;
        if (!take(input, ','))
            return GIVEN_UP;
    }
    return GIVEN_UP;
}

/* Puts a member in its place among those before it, which are in order; 0 if it is one of them. */
static int insert(Text *members, int count, Text member)
{
    int at = count;
    while (at > 0 && is_string_below(&member, &members[at - 1])) {
        members[at] = members[at - 1];
        at--;
    }
    members[at] = member;
    return at == 0 || !is_same(&members[at - 1], &member);
}

static Py_ssize_t walk_string_set(Input *input, Output *output)
{
    Text members[SORTED_MAX], member;
    int count = 0;
    do {
        if (count == SORTED_MAX || !read_text(input, &member) || !insert(members, count, member))
            return GIVEN_UP;
        count++;
    } while (take(input, ','));
    if (!take(input, ']'))
        return GIVEN_UP;
    Py_ssize_t total = 0;
    for (int at = 0; at < count; at++) {
        if (!put(output, at ? "," : "[", 1) || !put_text(output, &members[at]))
            return GIVEN_UP;
        total += members[at].length;
    }
    return put(output, "]", 1) ? total : GIVEN_UP;
}

static Py_ssize_t walk_value(Input *input, Output *output, int level);
static Py_ssize_t walk_map(Input *input, Output *output, int level, int per_entry);

static Py_ssize_t walk_list(Input *input, Output *output, int level)
{
    if (level > LEVELS_MAX || !take(input, '[') || !put(output, "[", 1))
        return GIVEN_UP;
    Py_ssize_t total = 3;
    if (take(input, ']'))
        return put(output, "]", 1) ? total : GIVEN_UP;
    for (;;) {
        Py_ssize_t size = walk_value(input, output, level);
        if (size < 0)
            return GIVEN_UP;
        total += 1 + size;
        if (total > ITEM_BYTES_MAX)
            return GIVEN_UP;
        if (take(input, ']'))
            return put(output, "]", 1) ? total : GIVEN_UP;
        if (!take(input, ',') || !put(output, ",", 1))
            return GIVEN_UP;
    }
}

static Py_ssize_t walk_scalar(Input *input, Output *output, char kind)
{
    Text text;
    if (!read_text(input, &text))
        return GIVEN_UP;
    Py_ssize_t size = text.length;
    if (kind == 'N') {
        size = number_size(&text);
        if (size == 0)
            return GIVEN_UP;
    } else if (kind == 'B')
        size = binary_size(&text);
    return size >= 0 && put_text(output, &text) ? size : GIVEN_UP;
}

static Py_ssize_t walk_flag(Input *input, Output *output, int may_be_false)
{
    if (take_word(input, "true", 4))
        return put(output, "true", 4) ? 1 : GIVEN_UP;
    if (may_be_false && take_word(input, "false", 5))
        return put(output, "false", 5) ? 1 : GIVEN_UP;
    return GIVEN_UP;
}

static Py_ssize_t walk_content(Input *input, Output *output, const Text *kind, int level)
{
    const char *name = kind->start;
    if (kind->length == 1)
        switch (*name) {
        case 'S': case 'N': case 'B':
            return walk_scalar(input, output, *name);
        case 'M': {
            Py_ssize_t size = walk_map(input, output, level + 1, 1);
            return size < 0 ? GIVEN_UP : size + 3;
        }
        case 'L':
            return walk_list(input, output, level + 1);
        default:
            return GIVEN_UP;
        }
    if (IS(kind, "SS"))
        return take(input, '[') ? walk_string_set(input, output) : GIVEN_UP;
    if (IS(kind, "NS"))
        return take(input, '[') ? walk_number_set(input, output) : GIVEN_UP;
    if (IS(kind, "BOOL"))
        return walk_flag(input, output, 1);
    if (IS(kind, "NULL"))
        return walk_flag(input, output, 0);
    return GIVEN_UP;
}

static Py_ssize_t walk_value(Input *input, Output *output, int level)
{
    Text kind;
    if (!take(input, '{') || !read_string(input, &kind) || kind.length > 4 || !take(input, ':'))
        return GIVEN_UP;
    if (!reserve(output, 4 + kind.length))
        return GIVEN_UP;
    memcpy(output->at, "{\"", 2);
    memcpy(output->at + 2, kind.start, (size_t)kind.length);
    memcpy(output->at + 2 + kind.length, "\":", 2);
    output->at += 4 + kind.length;
    Py_ssize_t size = walk_content(input, output, &kind, level);
    return size >= 0 && take(input, '}') && put(output, "}", 1) ? size : GIVEN_UP;
}

/* Whether a name can be one and is none of those before it. */
static int is_new_name(const Text *names, int count, const Text *name)
{
    if (name->length == 0 || name->length > NAME_CHARS_MAX)
        return 0;
    for (int at = 0; at < count; at++)
        if (is_same(&names[at], name))
            return 0;
    return 1;
}

/* Names and values of a map added up, and so many bytes more for each of them. */
static Py_ssize_t walk_map(Input *input, Output *output, int level, int per_entry)
{
    Text names[NAMES_MAX];
    Py_ssize_t total = 0;
    if (level > LEVELS_MAX || !take(input, '{') || !put(output, "{", 1))
        return GIVEN_UP;
    if (take(input, '}'))
        return put(output, "}", 1) ? 0 : GIVEN_UP;
    for (int count = 0; count < NAMES_MAX; count++) {
        Text *name = &names[count];
        if (!read_text(input, name) || !is_new_name(names, count, name) || !take(input, ':'))
            return GIVEN_UP;
        if (!put_text(output, name) || !put(output, ":", 1))
            return GIVEN_UP;
        Py_ssize_t size = walk_value(input, output, level);
        if (size < 0)
            return GIVEN_UP;
        total += name->length + size + per_entry;
        if (total > ITEM_BYTES_MAX)
            return GIVEN_UP;
        if (take(input, '}'))
            return put(output, "}", 1) ? total : GIVEN_UP;
        if (!take(input, ',') || !put(output, ",", 1))
            return GIVEN_UP;
    }
    return GIVEN_UP;
}

/* The next item: its JSON, and its size in the last argument; NULL if it is given up, or with an exception. */
static PyObject *read_item(Input *input, Output *output, Py_ssize_t *size)
{
    output->at = output->start;
    *size = walk_map(input, output, 1, 0);
    if (*size < 0)
        return NULL;
    return PyBytes_FromStringAndSize((const char *)output->start, output->at - output->start);
}

/* A table's name: of ASCII, and not too long. */
static PyObject *read_name(Input *input)
{
    Text text;
    if (!read_string(input, &text) || text.length > TABLE_NAME_MAX || !is_ascii(&text))
        return NULL;
    return PyUnicode_DecodeASCII(text.start, text.length, NULL);
}

/* A value of ReturnConsumedCapacity. */
static PyObject *read_mode(Input *input)
{
    Text text;
    if (!read_string(input, &text) || !(IS(&text, "TOTAL") || IS(&text, "INDEXES") || IS(&text, "NONE")))
        return NULL;
    return PyUnicode_DecodeASCII(text.start, text.length, NULL);
}

static PyObject *read_one(Input *input, Output *output)
{
    PyObject *table = NULL, *mode = NULL, *json = NULL, *answer = NULL;
    Py_ssize_t size = 0;
    Text name;
    if (!take(input, '{'))
        return NULL;
    do {
        if (!read_string(input, &name) || !take(input, ':'))
            goto end;
        if (IS(&name, "Item")) {
            if (json != NULL || (json = read_item(input, output, &size)) == NULL)
                goto end;
        } else if (IS(&name, "TableName")) {
            if (table != NULL || (table = read_name(input)) == NULL)
                goto end;
        } else if (!IS(&name, "ReturnConsumedCapacity") || mode != NULL || (mode = read_mode(input)) == NULL)
            goto end;
    } while (take(input, ','));
    if (take(input, '}') && table != NULL && json != NULL)
        answer = Py_BuildValue("(OOOn)", table, mode == NULL ? Py_None : mode, json, size);
end:
    Py_XDECREF(table);
    Py_XDECREF(mode);
    Py_XDECREF(json);
    return answer;
}

/* Adds one element of a batch, {"PutRequest": {"Item": ...}}, to the JSON and the sizes of its table. */
static int read_put(Input *input, Output *output, PyObject *jsons, PyObject *sizes)
{
    Text name;
    Py_ssize_t size;
    if (!take(input, '{') || !read_string(input, &name) || !IS(&name, "PutRequest") || !take(input, ':'))
        return 0;
    if (!take(input, '{') || !read_string(input, &name) || !IS(&name, "Item") || !take(input, ':'))
        return 0;
    PyObject *json = read_item(input, output, &size);
    if (json == NULL)
        return 0;
    PyObject *number = PyLong_FromSsize_t(size);
    int done = number != NULL && PyList_Append(jsons, json) == 0 && PyList_Append(sizes, number) == 0;
    Py_DECREF(json);
    Py_XDECREF(number);
    return done && take(input, '}') && take(input, '}');
}

/* Adds one table of a batch, "name": [...], to the tables; `left` is how many items there may still be. */
static int read_table(Input *input, Output *output, PyObject *tables, int *left)
{
    int done = 0;
    PyObject *jsons = NULL, *sizes = NULL, *columns = NULL, *table = read_name(input);
    if (table == NULL || PyDict_Contains(tables, table) != 0 || !take(input, ':') || !take(input, '['))
        goto end;
    jsons = PyList_New(0);
    sizes = PyList_New(0);
    if (jsons == NULL || sizes == NULL)
        goto end;
    do {
        if ((*left)-- == 0 || !read_put(input, output, jsons, sizes))
            goto end;
    } while (take(input, ','));
    if (!take(input, ']') || (columns = PyTuple_Pack(2, jsons, sizes)) == NULL)
        goto end;
    done = PyDict_SetItem(tables, table, columns) == 0;
end:
    Py_XDECREF(table);
    Py_XDECREF(jsons);
    Py_XDECREF(sizes);
    Py_XDECREF(columns);
    return done;
}

static PyObject *read_tables(Input *input, Output *output)
{
    int left = ITEMS_MAX;
    PyObject *tables = PyDict_New();
    if (tables == NULL || !take(input, '{'))
        goto given_up;
    do {
        if (!read_table(input, output, tables, &left))
            goto given_up;
    } while (take(input, ','));
    if (take(input, '}'))
        return tables;
given_up:
    Py_XDECREF(tables);
    return NULL;
}

static PyObject *read_batch(Input *input, Output *output)
{
    PyObject *tables = NULL, *mode = NULL, *answer = NULL;
    Text name;
    if (!take(input, '{'))
        return NULL;
    do {
        if (!read_string(input, &name) || !take(input, ':'))
            goto end;
        if (IS(&name, "RequestItems")) {
            if (tables != NULL || (tables = read_tables(input, output)) == NULL)
                goto end;
        } else if (!IS(&name, "ReturnConsumedCapacity") || mode != NULL || (mode = read_mode(input)) == NULL)
            goto end;
    } while (take(input, ','));
    if (take(input, '}') && tables != NULL)
        answer = PyTuple_Pack(2, tables, mode == NULL ? Py_None : mode);
end:
    Py_XDECREF(tables);
    Py_XDECREF(mode);
    return answer;
}

/* What a function makes of all of a body; None where it gives up, or where something is left. */
static PyObject *read_body(PyObject *body, PyObject *(*read)(Input *, Output *))
{
    Py_buffer view;
    if (PyObject_GetBuffer(body, &view, PyBUF_SIMPLE) < 0)
        return NULL;
    Output output;
    begin_output(&output);
    Input input = {view.buf, (const char *)view.buf + view.len};
    PyObject *answer = read(&input, &output);
    skip_space(&input);
    if (answer != NULL && input.at != input.end)
        Py_CLEAR(answer);
    end_output(&output);
    PyBuffer_Release(&view);
    if (answer == NULL && !PyErr_Occurred())
        Py_RETURN_NONE;
    return answer;
}

static PyObject *one(PyObject *Py_UNUSED(module), PyObject *body)
{
    return read_body(body, read_one);
}

static PyObject *batch(PyObject *Py_UNUSED(module), PyObject *body)
{
    return read_body(body, read_batch);
}

/* Passes over a value of canonical JSON. */
static int skip_value(Input *input)
{
    int depth = 0;
    Text text;
    while (input->at < input->end) {
        char next = *input->at;
        if (next == '"') {
            if (!read_string(input, &text))
                return 0;
            continue;
        }
        input->at++;
        if (next == '{' || next == '[')
            depth++;
        else if ((next == '}' || next == ']') && --depth == 0)
            return 1;
    }
    return 0;
}

/* Adds a key attribute, which is a string, a number or a binary, to the key. */
static int read_key_attribute(Input *input, PyObject *key, PyObject *name)
{
    Text kind, text;
    if (!take(input, '{') || !read_string(input, &kind) || !take(input, ':') || kind.length != 1)
        return 0;
    PyObject *type = *kind.start == 'S' ? kind_string : *kind.start == 'N' ? kind_number : kind_binary;
    if (strchr("SNB", *kind.start) == NULL || !read_string(input, &text) || !take(input, '}'))
        return 0;
    PyObject *value = PyDict_New(), *content = PyUnicode_DecodeUTF8(text.start, text.length, NULL);
    int done = value != NULL && content != NULL && PyDict_SetItem(value, type, content) == 0 &&
               PyDict_SetItem(key, name, value) == 0;
    Py_XDECREF(value);
    Py_XDECREF(content);
    return done;
}

/* Finds the attributes of these names and adds them to the key; 0 if one of them is missing or is no scalar. */
static int read_key(Input *input, PyObject *key, PyObject *const *names, Py_ssize_t count)
{
    Text wanted[2], name;
    for (Py_ssize_t at = 0; at < count; at++) {
        wanted[at].start = PyUnicode_AsUTF8AndSize(names[at], &wanted[at].length);
        if (wanted[at].start == NULL)
            return 0;
    }
    if (!take(input, '{'))
        return 0;
    for (Py_ssize_t left = count;;) {
        if (!read_string(input, &name) || !take(input, ':'))
            return 0;
        Py_ssize_t at = 0;
        while (at < count && !is_same(&name, &wanted[at]))
            at++;
        if (at == count ? !skip_value(input) : !read_key_attribute(input, key, names[at]))
            return 0;
        if (at < count && --left == 0)
            return 1;
        if (!take(input, ','))
            return 0;
    }
}

static PyObject *key(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    if (count < 2 || count > 3 || !PyBytes_CheckExact(arguments[0])) {
        PyErr_SetString(PyExc_TypeError, "the JSON of an item and one name or two are expected");
        return NULL;
    }
    const char *start = PyBytes_AS_STRING(arguments[0]);
    Input input = {start, start + PyBytes_GET_SIZE(arguments[0])};
    PyObject *answer = PyDict_New();
    if (answer != NULL && !read_key(&input, answer, arguments + 1, count - 1))
        Py_CLEAR(answer);
    if (answer == NULL && !PyErr_Occurred())
        Py_RETURN_NONE;
    return answer;
}

static PyMethodDef methods[] = {
    {"one", one, METH_O, "Table, ReturnConsumedCapacity, JSON and size of a PutItem's body; or None."},
    {"batch", batch, METH_O, "JSON and sizes by table, and ReturnConsumedCapacity, of a BatchWriteItem's body; or None."},
    {"key", (PyCFunction)(void (*)(void))key, METH_FASTCALL, "Attributes of these names in an item's JSON; or None."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "hashrange.api.items._sent_puts", "Puts as bytes.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__sent_puts(void)
{
    kind_string = PyUnicode_InternFromString("S");
    kind_number = PyUnicode_InternFromString("N");
    kind_binary = PyUnicode_InternFromString("B");
    if (kind_string == NULL || kind_number == NULL || kind_binary == NULL)
        return NULL;
    return PyModule_Create(&definition);
}
