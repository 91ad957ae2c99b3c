/* The lines of a head are compared with the bytes from which libmicrohttpd took them. Up to 0.9.77
 * it parses in place: `method` is the first byte of the head, each name begins a line, the colon is
 * a NUL, and so are CR and LF. So a line must begin where the one before has ended, two NULs behind
 * its value, and the last ends two NULs before the end of the head: one comparison a line finds
 * bare line feeds, NULs and continued lines, of which the parsed values show no trace. Later
 * versions are set to be strict by themselves. Cost: one look at each byte. */
#include "server/http/head.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define NAME(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1, false                                                              \
    }
#define ONCE(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1, true                                                               \
    }

static const struct {
    const char *name;
    size_t length;
    bool once; /* twice is a fault */
} names[MECHD_HEADERS] = {
    [MECHD_HEADER_ACCEPT] = NAME("Accept"),
    [MECHD_HEADER_ACCEPT_ENCODING] = NAME("Accept-Encoding"),
    [MECHD_HEADER_REQUEST_METHOD] = ONCE("Access-Control-Request-Method"),
    [MECHD_HEADER_PRIVATE_NETWORK] = NAME("Access-Control-Request-Private-Network"),
    [MECHD_HEADER_AUTHORIZATION] = ONCE("Authorization"),
    [MECHD_HEADER_CONTENT_ENCODING] = NAME("Content-Encoding"),
    [MECHD_HEADER_CONTENT_LENGTH] = ONCE("Content-Length"),
    [MECHD_HEADER_CONTENT_TYPE] = ONCE("Content-Type"),
    [MECHD_HEADER_EXPECT] = NAME("Expect"),
    [MECHD_HEADER_HOST] = ONCE("Host"),
    [MECHD_HEADER_IDEMPOTENCY_KEY] = ONCE("Idempotency-Key"),
    [MECHD_HEADER_IF_MATCH] = ONCE("If-Match"),
    [MECHD_HEADER_IF_NONE_MATCH] = NAME("If-None-Match"),
    [MECHD_HEADER_LEASE] = ONCE("Lease"),
    [MECHD_HEADER_ORIGIN] = ONCE("Origin"),
    [MECHD_HEADER_PREFER] = NAME("Prefer"),
    [MECHD_HEADER_TRACEPARENT] = NAME("traceparent"),
    [MECHD_HEADER_TRANSFER_ENCODING] = ONCE("Transfer-Encoding"),
};

/* A letter of a name: a token (RFC 9110, 5.6.2), one bit a byte of ASCII. */
static bool is_token(unsigned char c)
{
    static const uint64_t bits[2] = {UINT64_C(0x3ff6cfa00000000), UINT64_C(0x57ffffffc7fffffe)};
    return c < 128 && (bits[c >> 6] >> (c & 63) & 1) != 0;
}

/* True if a name is a token. */
static bool is_name(const char *name, size_t length)
{
    size_t k = 0;
    while (k < length && is_token((unsigned char)name[k])) {
        k++;
    }
    return k == length && length > 0;
}

/* True if a value holds no control byte but tabs (RFC 9110, 5.5); its bytes are summed up without
 * branches. */
static bool is_text(const char *value, size_t length)
{
    unsigned char odd = 0;
    for (size_t k = 0; k < length; k++) {
        const unsigned char c = (unsigned char)value[k];
        odd |= (unsigned char)((c < ' ' && c != '\t') || c == 127);
    }
    return odd == 0;
}

/* The blanks and tabs behind a value do not belong to it (RFC 9110, 5.5). libmicrohttpd up to
 * 0.9.77 leaves them, so the value ends before them, in the library's memory of the request. Not
 * where the library has read the value as it came: what frames the body is refused with them. */
static void trim(const char *value, size_t length)
{
    size_t n = length;
    while (n > 0 && (value[n - 1] == ' ' || value[n - 1] == '\t')) {
        n--;
    }
    if (n < length) {
        *(char *)(uintptr_t)(value + n) = '\0';
    }
}

/* The header of this name; MECHD_HEADERS: one that is not read here. */
static int find(const char *name, size_t length)
{
    int k = 0;
    while (k < MECHD_HEADERS &&
           (names[k].length != length || strncasecmp(names[k].name, name, length) != 0)) {
        k++;
    }
    return k;
}

static const char unequal[] =
    "a line of the head does not end with CR and LF, contains NUL, or continues on the next line";

static void note(struct mechd_head *h, const char *fault)
{
    h->fault = h->fault != NULL ? h->fault : fault;
}

static enum MHD_Result take_line(void *context, enum MHD_ValueKind kind, const char *name,
                                 size_t name_length, const char *value, size_t length)
{
    struct mechd_head *h = context;
    (void)kind;
    value = value != NULL ? value : "";
    const int k = find(name, name_length);
    // one of the known names is a token
    if ((k == MECHD_HEADERS && !is_name(name, name_length)) || !is_text(value, length)) {
        note(h, "a header must be a token, a colon, and text without control bytes");
    }
    if (h->at != NULL) {
        if (name != h->at || value[length] != '\0' || value[length + 1] != '\0') {
            note(h, unequal);
        }
        h->at = value + length + 2;
    }
    if (k != MECHD_HEADER_CONTENT_LENGTH && k != MECHD_HEADER_TRANSFER_ENCODING) {
        trim(value, length);
    }
    if (k < MECHD_HEADERS) {
        if ((h->seen >> k & 1u) != 0 && names[k].once) {
            note(h, "one of these headers, which may occur only once, occurs twice: Host, "
                    "Content-Length, Content-Type, Transfer-Encoding, Authorization, Origin, "
                    "If-Match or Idempotency-Key");
        }
        h->value[k] = (h->seen >> k & 1u) != 0 ? h->value[k] : value;
        h->seen |= 1u << k;
    }
    return MHD_YES;
}

/* Where the first line begins behind "METHOD target HTTP/1.1"; NULL where this library does not
 * parse in place. */
static const char *begin(struct mechd_head *h, const struct mechd_request_line *line)
{
    enum { VERSION = 8 };
    if (strncmp(MHD_get_version(), "0.9.", 4) != 0) {
        return NULL;
    }
    if (line->target != line->method + strlen(line->method) + 1 ||
        line->version != line->target + line->length + 1 || strlen(line->version) != VERSION ||
        line->version[VERSION + 1] != '\0') {
        note(h, "a request line must be method, target and version with one space between, ended "
                "by CR and LF");
    }
    return line->version + VERSION + 2;
}

/* The end of the request and its host have only one interpretation. */
static void check_framing(struct mechd_head *h, const char *version)
{
    const bool is_old = strcmp(version, "HTTP/1.0") == 0;
    const char *encoding = h->value[MECHD_HEADER_TRANSFER_ENCODING];
    if (encoding != NULL && h->value[MECHD_HEADER_CONTENT_LENGTH] != NULL) {
        note(h, "Content-Length and Transfer-Encoding must not be given together");
    }
    if (encoding != NULL && (is_old || strcasecmp(encoding, "chunked") != 0)) {
        note(h, "the only supported Transfer-Encoding is chunked, in HTTP/1.1");
    }
    const char *host = h->value[MECHD_HEADER_HOST];
    if (host == NULL ? !is_old : *host == '\0') {
        note(h, "a Host header is required");
    }
}

/* The head ends where it is thought to end. */
static void check_end(struct mechd_head *h, struct MHD_Connection *connection, const char *method)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (info == NULL || h->at + 2 != method + info->header_size || h->at[0] != '\0') {
        note(h, unequal);
    }
}

void mechd_head_read(struct mechd_head *h, struct MHD_Connection *connection,
                     const struct mechd_request_line *line)
{
    *h = (struct mechd_head){.fault = NULL};
    h->at = begin(h, line);
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, take_line, h);
    if (h->at != NULL && h->fault == NULL) {
        check_end(h, connection, line->method);
    }
    check_framing(h, line->version);
}

bool mechd_head_has_body(const struct mechd_head *h)
{
    const char *length = h->value[MECHD_HEADER_CONTENT_LENGTH];
    return h->value[MECHD_HEADER_TRANSFER_ENCODING] != NULL ||
           (length != NULL && strspn(length, "0") != strlen(length));
}

const char *mechd_head_list(const struct mechd_head *h, enum mechd_header which)
{
    const char *const value = h->value[which];
    return value != NULL && value[strspn(value, ", \t")] != '\0' ? value : NULL;
}
