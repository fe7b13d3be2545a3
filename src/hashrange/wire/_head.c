/* Heads of requests and of answers: a usual request, received in one piece, taken apart in one walk, or left to Python;
 * and the head of a good answer, put together.
 *
 * `read` takes the bytes of a request and two dictionaries, of headers and of repeats. Where everything about the
 * request is usual it gives the body, and the first dictionary then has the headers, all of them and nothing else, under
 * names in Title-Case. With the body it gives what the repeats have under the request's target, if the head is that of
 * the request before but for what differs from one request of a client to its next: target, date, length, the digits of
 * the signature and the SDK's own counts. If more differs, nothing is left in the repeats.
 *
 * Whatever is unusual or wrong makes it give None: the parser and request_head.py judge that from the start, so that
 * every refusal has one home. Without this module usual_requests.py does the same with the parser, and knows no repeats;
 * tests hold the two against each other.
 *
 * Usual is: POST / of HTTP/1.1; at most HEADERS_MAX lines `Name: value` within HEAD_BYTES_MAX bytes, each with a name of
 * token characters, one space, and a value of visible characters with spaces between them; no name twice, in whatever
 * case; no header that decides where a request ends or what becomes of its connection, apart from one Content-Length,
 * which says exactly how many bytes follow, and `Connection: keep-alive`. Whether Host is one is asked elsewhere.
 *
 * Limits: no byte is read before it is known to be inside of the bytes received. Each byte of a head is looked at a fixed
 * number of times, and nothing is made before the whole head has passed. No Python code is run: only bytes are compared,
 * and the headers' dictionary is the connection's own, with nothing but bytes in it. Nor does dropping the repeats run any.
 *
 * `ok_head` does what `codec.OK_HEAD %` does, in a tenth of the instructions. Nothing in it comes from a client.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum {
    HEAD_BYTES_MAX = 4096, /* these two are those of usual_requests.py */
    HEADERS_MAX = 20,
    NAME_BYTES_MAX = 64,
    KNOWN_BYTES_MAX = 21,
    LENGTH_DIGITS_MAX = 7,
    NUMBER_DIGITS_MAX = 20, /* of 64 bits */
    SIGNATURE_DIGITS = 64,
};

#define FIRST_LINE "POST / HTTP/1.1\r\n"
#define FIRST_LINE_BYTES ((Py_ssize_t)sizeof(FIRST_LINE) - 1)

/* Those from CHANGING on may differ where everything else is repeated; of a SIGNATURE only the end. */
typedef enum { PLAIN, CONNECTION, SPECIAL, CHANGING, LENGTH, SIGNATURE } Meaning;

typedef struct {
    const char *titled, *lowered;
    Meaning meaning;
    PyObject *name; /* the titled bytes, made once */
} Known;

/* By length. The special ones decide where a request ends, or what becomes of its connection; the others are those that
 * SDKs send, so that no request has to make their names. */
static Known known[] = {
    {"Te", "te", SPECIAL, NULL},
    {"Host", "host", PLAIN, NULL},
    {"Accept", "accept", PLAIN, NULL},
    {"Expect", "expect", SPECIAL, NULL},
    {"Origin", "origin", PLAIN, NULL},
    {"Trailer", "trailer", SPECIAL, NULL},
    {"Upgrade", "upgrade", SPECIAL, NULL},
    {"User-Agent", "user-agent", PLAIN, NULL},
    {"X-Amz-Date", "x-amz-date", CHANGING, NULL},
    {"Connection", "connection", CONNECTION, NULL},
    {"Keep-Alive", "keep-alive", PLAIN, NULL},
    {"X-Amz-Target", "x-amz-target", CHANGING, NULL},
    {"Content-Type", "content-type", PLAIN, NULL},
    {"Authorization", "authorization", SIGNATURE, NULL},
    {"Content-Length", "content-length", LENGTH, NULL},
    {"Http2-Settings", "http2-settings", SPECIAL, NULL},
    {"Accept-Encoding", "accept-encoding", PLAIN, NULL},
    {"Amz-Sdk-Request", "amz-sdk-request", CHANGING, NULL},
    {"X-Amzn-Trace-Id", "x-amzn-trace-id", CHANGING, NULL},
    {"X-Amz-User-Agent", "x-amz-user-agent", PLAIN, NULL},
    {"Proxy-Connection", "proxy-connection", SPECIAL, NULL},
    {"Transfer-Encoding", "transfer-encoding", SPECIAL, NULL},
    {"X-Amz-Content-Sha256", "x-amz-content-sha256", CHANGING, NULL},
    {"X-Amz-Security-Token", "x-amz-security-token", PLAIN, NULL},
    {"Amz-Sdk-Invocation-Id", "amz-sdk-invocation-id", CHANGING, NULL},
};

enum { KNOWN_COUNT = sizeof(known) / sizeof(known[0]) };
_Static_assert(KNOWN_COUNT <= 32, "one bit for each");

static PyObject *target_name; /* the name of the table */
static uint8_t first_known[KNOWN_BYTES_MAX + 2]; /* where the names of a length begin in the table */
static uint8_t lower[256], upper[256];           /* 0 for what is no token character: RFC 9110 5.6.2 */

typedef struct {
    const uint8_t *start;
    Py_ssize_t length;
} Text;

typedef struct {
    const Known *known; /* of the table, or NULL */
    Text name, value;
} Header;

typedef struct {
    int count, unknown; /* how many headers; how many of them are not in the table */
    uint32_t seen;      /* of the table */
    Py_ssize_t body_bytes; /* as Content-Length says; 0 as long as there is none */
    Header headers[HEADERS_MAX];
} Head;

/* The name in Title-Case, as bytes.title makes it; 0 if it has a character that no name may have. */
static int title(const Text *name, uint8_t *titled)
{
    int after_letter = 0;
    for (Py_ssize_t at = 0; at < name->length; at++) {
        uint8_t byte = (after_letter ? lower : upper)[name->start[at]];
        if (byte == 0)
            return 0;
        titled[at] = byte;
        after_letter = (uint8_t)((byte | 0x20) - 'a') < 26;
    }
    return 1;
}

static Known *find_known(const uint8_t *name, Py_ssize_t length)
{
    if (length > KNOWN_BYTES_MAX)
        return NULL;
    for (Known *candidate = known + first_known[length]; candidate < known + first_known[length + 1]; candidate++)
        if ((uint8_t)candidate->lowered[0] == (name[0] | 0x20) &&
            (memcmp(name, candidate->titled, (size_t)length) == 0 ||
             memcmp(name, candidate->lowered, (size_t)length) == 0))
            return candidate;
    return NULL;
}

/* Where a header's name ends, which is not empty and stands before a colon and one space; NULL if it does not. */
static const uint8_t *read_name(const uint8_t *at, const uint8_t *end, Header *header, Known **found)
{
    uint8_t titled[NAME_BYTES_MAX];
    Py_ssize_t room = end - at < NAME_BYTES_MAX + 1 ? end - at : NAME_BYTES_MAX + 1;
    const uint8_t *colon = memchr(at, ':', (size_t)room);
    if (colon == NULL || colon == at || end - colon < 2 || colon[1] != ' ')
        return NULL;
    header->name = (Text){at, colon - at};
    *found = find_known(at, colon - at);
    if (*found == NULL) {
        if (!title(&header->name, titled))
            return NULL;
        *found = find_known(titled, colon - at); /* in a case that nobody uses */
    }
    header->known = *found;
    return colon + 2;
}

#define ONES 0x0101010101010101ULL
#define HIGHS 0x8080808080808080ULL
#define HAS_ZERO(word) (((word) - ONES) & ~(word) & HIGHS)

/* Where a value ends, which is not empty, has no space at either end, and stands before a line end; NULL if not. */
static const uint8_t *read_value(const uint8_t *at, const uint8_t *end, Text *value)
{
    value->start = at;
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        uint64_t control = (word - ONES * 0x20) & ~word;
        if (((control | word) & HIGHS) | HAS_ZERO(word ^ ONES * 0x7f))
            break;
    }
    while (at < end && *at >= 0x20 && *at < 0x7f)
        at++;
    value->length = at - value->start;
    if (value->length == 0 || value->start[0] == ' ' || at[-1] == ' ')
        return NULL;
    return end - at >= 2 && at[0] == '\r' && at[1] == '\n' ? at + 2 : NULL;
}

/* What a Content-Length says; 0 if it is not plain, or says that there is no body. */
static Py_ssize_t body_length(const Text *value)
{
    Py_ssize_t length = 0;
    if (value->length > LENGTH_DIGITS_MAX || value->start[0] == '0')
        return 0;
    for (Py_ssize_t at = 0; at < value->length; at++) {
        if (value->start[at] < '0' || value->start[at] > '9')
            return 0;
        length = length * 10 + (value->start[at] - '0');
    }
    return length;
}

static int is_kept(const Text *value)
{
    return value->length == 10 &&
           (memcmp(value->start, "keep-alive", 10) == 0 || memcmp(value->start, "Keep-Alive", 10) == 0);
}

/* Whether a header of the table comes for the first time and means nothing unusual. */
static int is_usual(Head *head, const Known *found, const Text *value)
{
    uint32_t bit = (uint32_t)1 << (found - known);
    if (head->seen & bit)
        return 0;
    head->seen |= bit;
    switch (found->meaning) {
    case LENGTH:
        head->body_bytes = body_length(value);
        return head->body_bytes > 0;
    case CONNECTION:
        return is_kept(value);
    case SPECIAL:
        return 0;
    default:
        return 1;
    }
}

/* Where the body begins; NULL if something about the head is not usual. */
static const uint8_t *read_head(const uint8_t *at, const uint8_t *end, Head *head)
{
    head->count = head->unknown = 0;
    head->seen = 0;
    head->body_bytes = 0;
    if (end - at < FIRST_LINE_BYTES || memcmp(at, FIRST_LINE, (size_t)FIRST_LINE_BYTES) != 0)
        return NULL;
    at += FIRST_LINE_BYTES;
    while (end - at >= 2 && at[0] != '\r') {
        Known *found;
        if (head->count == HEADERS_MAX)
            return NULL;
        Header *header = &head->headers[head->count++];
        if ((at = read_name(at, end, header, &found)) == NULL || (at = read_value(at, end, &header->value)) == NULL)
            return NULL;
        if (found == NULL)
            head->unknown++;
        else if (!is_usual(head, found, &header->value))
            return NULL;
    }
    return end - at >= 2 && at[1] == '\n' ? at + 2 : NULL;
}

#define SIGNATURE_NAME "Signature="

static int are_digits(const uint8_t *at)
{
    for (const uint8_t *end = at + SIGNATURE_DIGITS; at < end; at++)
        if (!((uint8_t)(*at - '0') < 10 || (uint8_t)((*at | 0x20) - 'a') < 6))
            return 0;
    return 1;
}

/* Whether two values of the same length differ in the digits of a signature only, which both end with. */
static int same_signer(const uint8_t *last, const Text *text)
{
    Py_ssize_t name = sizeof(SIGNATURE_NAME) - 1, before = text->length - SIGNATURE_DIGITS;
    return before >= name && memcmp(text->start + before - name, SIGNATURE_NAME, (size_t)name) == 0 &&
           memcmp(last, text->start, (size_t)before) == 0 && are_digits(last + before) &&
           are_digits(text->start + before);
}

/* Put a header into the dictionary. A value that is there already stays: most are those of the last request. */
static int put(PyObject *headers, PyObject *name, const Text *text, Meaning meaning, int *repeated)
{
    PyObject *last = PyDict_GetItemWithError(headers, name);
    if (last == NULL && PyErr_Occurred())
        return 0;
    int as_long = last != NULL && PyBytes_CheckExact(last) && PyBytes_GET_SIZE(last) == text->length;
    if (as_long && memcmp(PyBytes_AS_STRING(last), text->start, (size_t)text->length) == 0)
        return 1;
    if (last == NULL || meaning < CHANGING ||
        (meaning == SIGNATURE && !(as_long && same_signer((const uint8_t *)PyBytes_AS_STRING(last), text))))
        *repeated = 0;
    PyObject *value = PyBytes_FromStringAndSize((const char *)text->start, text->length);
    if (value == NULL)
        return 0;
    int status = PyDict_SetItem(headers, name, value);
    Py_DECREF(value);
    return status == 0;
}

static int put_unknown(PyObject *headers, const Header *header)
{
    int repeated;
    PyObject *name = PyBytes_FromStringAndSize(NULL, header->name.length);
    if (name == NULL)
        return 0;
    int done = title(&header->name, (uint8_t *)PyBytes_AS_STRING(name)) &&
               put(headers, name, &header->value, PLAIN, &repeated);
    Py_DECREF(name);
    return done;
}

static int put_known(PyObject *headers, const Header *header, int *repeated)
{
    return put(headers, header->known->name, &header->value, header->known->meaning, repeated);
}

/* Have the dictionary hold these headers and no others; 0 if a name comes twice, or with an exception. */
static int fill(PyObject *headers, const Head *head, int *repeated)
{
    if (head->unknown == 0) {
        for (int at = 0; at < head->count; at++)
            if (!put_known(headers, &head->headers[at], repeated))
                return 0;
        /* They are all different and all in there; with as many entries nothing is left of the last request. */
        if (PyDict_GET_SIZE(headers) == head->count)
            return 1;
    }
    *repeated = 0;
    PyDict_Clear(headers);
    for (int at = 0; at < head->count; at++) {
        const Header *header = &head->headers[at];
        if (!(header->known == NULL ? put_unknown(headers, header) : put_known(headers, header, repeated)))
            return 0;
    }
    return PyDict_GET_SIZE(headers) == head->count; /* fewer entries than lines: a name came twice */
}

/* What the repeats have for a request like the last one, borrowed; NULL with an exception. */
static PyObject *find_repeat(PyObject *headers, PyObject *repeats)
{
    PyObject *target = PyDict_GetItemWithError(headers, target_name);
    PyObject *repeat = target == NULL ? NULL : PyDict_GetItemWithError(repeats, target);
    return repeat != NULL ? repeat : PyErr_Occurred() ? NULL : Py_None;
}

static PyObject *read_request(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    Head head;
    int repeated = 1;
    if (count != 3 || !PyDict_CheckExact(arguments[1]) || !PyDict_CheckExact(arguments[2])) {
        PyErr_SetString(PyExc_TypeError, "read() takes bytes and two dictionaries");
        return NULL;
    }
    if (!PyBytes_CheckExact(arguments[0]))
        Py_RETURN_NONE;
    const uint8_t *start = (const uint8_t *)PyBytes_AS_STRING(arguments[0]);
    Py_ssize_t length = PyBytes_GET_SIZE(arguments[0]);
    const uint8_t *body = read_head(start, start + (length < HEAD_BYTES_MAX ? length : HEAD_BYTES_MAX), &head);
    if (body == NULL || head.body_bytes == 0 || head.body_bytes != start + length - body)
        Py_RETURN_NONE;
    int filled = fill(arguments[1], &head, &repeated);
    if (!filled || !repeated)
        PyDict_Clear(arguments[2]);
    if (!filled) {
        if (PyErr_Occurred())
            return NULL;
        Py_RETURN_NONE;
    }
    PyObject *repeat = find_repeat(arguments[1], arguments[2]);
    return repeat == NULL ? NULL : Py_BuildValue("y#O", (const char *)body, head.body_bytes, repeat);
}

static uint8_t *put_text(uint8_t *at, const char *text, Py_ssize_t length)
{
    memcpy(at, text, (size_t)length);
    return at + length;
}

static uint8_t *put_number(uint8_t *at, uint64_t number)
{
    uint8_t digits[NUMBER_DIGITS_MAX], *first = digits + NUMBER_DIGITS_MAX;
    do
        *--first = (uint8_t)('0' + number % 10);
    while (number /= 10);
    return put_text(at, (const char *)first, digits + NUMBER_DIGITS_MAX - first);
}

/* See `codec.OK_HEAD`, which has the same lines. */
static PyObject *ok_head(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    static const char checksum_line[] = "\r\nx-amz-crc32: ", length_line[] = "\r\nContent-Length: ", end[] = "\r\n";
    if (count != 4 || !PyBytes_CheckExact(arguments[0]) || !PyBytes_CheckExact(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "ok_head() takes two bytes and two numbers");
        return NULL;
    }
    unsigned long long checksum = PyLong_AsUnsignedLongLong(arguments[2]);
    unsigned long long length = PyErr_Occurred() ? 0 : PyLong_AsUnsignedLongLong(arguments[3]);
    if (PyErr_Occurred())
        return NULL;
    Py_ssize_t begin_bytes = PyBytes_GET_SIZE(arguments[0]), id_bytes = PyBytes_GET_SIZE(arguments[1]);
    if (begin_bytes > HEAD_BYTES_MAX || id_bytes > HEAD_BYTES_MAX) {
        PyErr_SetString(PyExc_ValueError, "the head is too long");
        return NULL;
    }
    uint8_t head[2 * HEAD_BYTES_MAX + sizeof(checksum_line) + sizeof(length_line) + sizeof(end) + 2 * NUMBER_DIGITS_MAX];
    uint8_t *at = put_text(head, PyBytes_AS_STRING(arguments[0]), begin_bytes);
    at = put_text(at, PyBytes_AS_STRING(arguments[1]), id_bytes);
    at = put_text(at, checksum_line, sizeof(checksum_line) - 1);
    at = put_number(at, checksum);
    at = put_text(at, length_line, sizeof(length_line) - 1);
    at = put_number(at, length);
    at = put_text(at, end, sizeof(end) - 1);
    return PyBytes_FromStringAndSize((const char *)head, at - head);
}

static void make_tables(void)
{
    static const char tokens[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz";
    for (const char *at = tokens; *at; at++) {
        uint8_t byte = (uint8_t)*at, raised = byte >= 'a' && byte <= 'z' ? byte - 0x20 : byte;
        lower[byte] = lower[raised] = byte;
        upper[byte] = upper[raised] = raised;
    }
    for (int length = 0, at = 0; length <= KNOWN_BYTES_MAX + 1; length++) {
        while (at < KNOWN_COUNT && strlen(known[at].titled) < (size_t)length)
            at++;
        first_known[length] = (uint8_t)at;
    }
}

static PyMethodDef methods[] = {
    {"read", (PyCFunction)(void (*)(void))read_request, METH_FASTCALL,
     "The body of a usual request, whose headers the first dictionary has then, with what the second has for one like the "
     "last; or None: the parser has to judge."},
    {"ok_head", (PyCFunction)(void (*)(void))ok_head, METH_FASTCALL,
     "The head of a good answer: its beginning, the request's id, checksum and length of the body."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "hashrange.wire._head", "Heads of requests and answers.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__head(void)
{
    make_tables();
    for (int at = 0; at < KNOWN_COUNT; at++)
        if (known[at].name == NULL && (known[at].name = PyBytes_FromString(known[at].titled)) == NULL)
            return NULL;
    target_name = find_known((const uint8_t *)"X-Amz-Target", 12)->name;
    return PyModule_Create(&definition);
}
