/* Reading JSON text in place (RFC 8259). One recursive descent checks the text; afterwards a value
 * is skipped by matching brackets outside strings, so that a walk over a container is linear. */
#include "clients/c/scan.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')) {
        p++;
    }
    return p;
}

static bool is_digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* --- the check: each returns the place after the text it read, or NULL ------------------------ */

static const char *check_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++) {
        if ((unsigned char)*p < 0x20) {
            return NULL;
        }
        if (*p != '\\') {
            continue;
        }
        // an escape: one letter, or u and four hex digits
        if (++p >= end || *p == 0 || !strchr("\"\\/bfnrtu", *p)) {
            return NULL;
        }
        if (*p == 'u') {
            if (end - p < 5) {
                return NULL;
            }
            for (int i = 1; i <= 4; i++) {
                if (hex_digit(p[i]) < 0) {
                    return NULL;
                }
            }
            p += 4;
        }
    }
    return p < end ? p + 1 : NULL;
}

static const char *check_digits(const char *p, const char *end)
{
    if (!is_digit(p, end)) {
        return NULL;
    }
    while (is_digit(p, end)) {
        p++;
    }
    return p;
}

static const char *check_number(const char *p, const char *end)
{
    p += *p == '-';
    // no digit follows a leading zero
    if (p < end && *p == '0') {
        p++;
    } else {
        p = check_digits(p, end);
    }
    if (p && p < end && *p == '.') {
        p = check_digits(p + 1, end);
    }
    if (p && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        p = check_digits(p, end);
    }
    return p;
}

static const char *check_word(const char *p, const char *end, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0 ? p + n : NULL;
}

static const char *check_value(const char *p, const char *end, int depth);

static const char *check_container(const char *p, const char *end, int depth)
{
    const bool object = *p == '{';
    const char close = object ? '}' : ']';
    p = skip_space(p + 1, end);
    if (p < end && *p == close) {
        return p + 1;
    }
    while (p < end) {
        if (object) {
            // the key and its colon
            p = *p == '"' ? check_string(p, end) : NULL;
            p = p ? skip_space(p, end) : NULL;
            if (!p || p >= end || *p != ':') {
                return NULL;
            }
            p++;
        }
        p = check_value(p, end, depth + 1);
        if (!p) {
            return NULL;
        }
        p = skip_space(p, end);
        if (p < end && *p == close) {
            return p + 1;
        }
        if (p >= end || *p != ',') {
            return NULL;
        }
        p = skip_space(p + 1, end);
    }
    return NULL;
}

static const char *check_value(const char *p, const char *end, int depth)
{
    p = skip_space(p, end);
    if (p >= end || depth > DEEPEST) {
        return NULL;
    }
    switch (*p) {
    case '{':
    case '[':
        return check_container(p, end, depth);
    case '"':
        return check_string(p, end);
    case 't':
        return check_word(p, end, "true");
    case 'f':
        return check_word(p, end, "false");
    case 'n':
        return check_word(p, end, "null");
    default:
        return check_number(p, end);
    }
}

bool mechc_json_open(const char *text, size_t size, struct mechc_json *out)
{
    const char *const end = text + size;
    const char *const at = skip_space(text, end);
    const char *const behind = check_value(at, end, 0);
    if (!behind || skip_space(behind, end) != end) {
        return false;
    }
    *out = (struct mechc_json){.at = at, .end = behind};
    return true;
}

const char *mechc_json_unmarked(const char *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    return strncmp(text, mark, sizeof mark - 1) == 0 ? text + sizeof mark - 1 : text;
}

/* --- walking a checked text ------------------------------------------------------------------- */

static const char *skip_string(const char *p)
{
    for (p++; *p != '"'; p++) {
        p += *p == '\\';
    }
    return p + 1;
}

static const char *skip_value(const char *p, const char *end)
{
    int depth = 0;
    while (p < end) {
        if (*p == '"') {
            p = skip_string(p);
        } else if (*p == '{' || *p == '[') {
            depth++;
            p++;
            continue;
        } else if (*p == '}' || *p == ']') {
            if (depth == 0) {
                return p;
            }
            depth--;
            p++;
        } else if (depth > 0) {
            p++;
            continue;
        } else {
            // a number or a word ends at any other character
            while (p < end && !strchr(",]} \t\r\n", *p)) {
                p++;
            }
        }
        if (depth == 0) {
            return p;
        }
    }
    return p;
}

char mechc_json_kind(struct mechc_json v)
{
    const char c = *v.at;
    return c == '-' || (c >= '0' && c <= '9') ? '0' : c;
}

struct mechc_json_walk mechc_json_walk(struct mechc_json container)
{
    const char kind = mechc_json_kind(container);
    if (kind != '{' && kind != '[') {
        return (struct mechc_json_walk){.at = container.end, .end = container.end};
    }
    return (struct mechc_json_walk){
        .at = container.at + 1, .end = container.end - 1, .object = kind == '{'};
}

bool mechc_json_next(struct mechc_json_walk *w)
{
    const char *p = skip_space(w->at, w->end);
    if (p < w->end && *p == ',') {
        p = skip_space(p + 1, w->end);
    }
    if (p >= w->end) {
        return false;
    }
    if (w->object) {
        w->key = (struct mechc_json){.at = p, .end = skip_string(p)};
        p = skip_space(skip_space(w->key.end, w->end) + 1, w->end);
    }
    w->value = (struct mechc_json){.at = p, .end = skip_value(p, w->end)};
    w->at = w->value.end;
    return true;
}

size_t mechc_json_count(struct mechc_json container)
{
    size_t n = 0;
    for (struct mechc_json_walk w = mechc_json_walk(container); mechc_json_next(&w);) {
        n++;
    }
    return n;
}

static uint32_t unit_at(const char *p)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        unit = unit << 4 | (uint32_t)hex_digit(p[i]);
    }
    return unit;
}

/* A \u escape, p behind the u; surrogate pairs are joined, lone ones become U+FFFD. */
static uint32_t decode_unicode(const char **p, const char *end)
{
    uint32_t code = unit_at(*p);
    *p += 4;
    if (code >= 0xd800 && code < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        const uint32_t low = unit_at(*p + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            *p += 6;
            return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return code >= 0xd800 && code < 0xe000 ? 0xfffd : code;
}

static size_t encode_utf8(uint32_t code, char out[4])
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    const size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned lead[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[more] | code >> (6 * more));
    for (size_t i = 1; i <= more; i++) {
        out[i] = (char)(0x80 | (code >> (6 * (more - i)) & 0x3f));
    }
    return more + 1;
}

/* The next character of a string, p behind a backslash's escape too. Returns its bytes. */
static size_t decode(const char **p, const char *end, char piece[4])
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    piece[0] = *(*p)++;
    if (piece[0] != '\\') {
        return 1;
    }
    const char c = *(*p)++;
    const char *const known = strchr(from, c);
    if (c == 'u') {
        return encode_utf8(decode_unicode(p, end), piece);
    }
    piece[0] = known ? to[known - from] : c;
    return 1;
}

/* Whether the string has this text, of any length. */
static bool string_is(struct mechc_json v, const char *text, size_t size)
{
    const char *p = v.at + 1;
    const char *const end = v.end - 1;
    char piece[4];
    size_t at = 0;
    while (p < end) {
        const size_t n = decode(&p, end, piece);
        if (n > size - at || memcmp(text + at, piece, n) != 0) {
            return false;
        }
        at += n;
    }
    return at == size;
}

bool mechc_json_is(struct mechc_json v, const char *text)
{
    return mechc_json_kind(v) == '"' && string_is(v, text, strlen(text));
}

static bool find(struct mechc_json object, const char *name, size_t size, struct mechc_json *out)
{
    if (mechc_json_kind(object) != '{') {
        return false;
    }
    for (struct mechc_json_walk w = mechc_json_walk(object); mechc_json_next(&w);) {
        if (string_is(w.key, name, size)) {
            *out = w.value;
            return true;
        }
    }
    return false;
}

bool mechc_json_named(struct mechc_json object, const char *name, struct mechc_json *out)
{
    return find(object, name, strlen(name), out);
}

bool mechc_json_member(struct mechc_json object, const char *path, struct mechc_json *out)
{
    for (;;) {
        const size_t n = strcspn(path, "/");
        if (!find(object, path, n, &object)) {
            return false;
        }
        if (path[n] == 0) {
            *out = object;
            return true;
        }
        path += n + 1;
    }
}

/* --- values ----------------------------------------------------------------------------------- */

bool mechc_json_number(struct mechc_json v, double *out)
{
    char text[400];
    const size_t n = (size_t)(v.end - v.at);
    if (mechc_json_kind(v) != '0' || n >= sizeof text) {
        return false;
    }
    memcpy(text, v.at, n);
    text[n] = 0;
    // strtod reads the locale's decimal point
    char *const point = strchr(text, '.');
    if (point) {
        *point = *localeconv()->decimal_point;
    }
    *out = strtod(text, NULL);
    return true;
}

bool mechc_json_unsigned(struct mechc_json v, uint64_t *out)
{
    uint64_t n = 0;
    for (const char *p = v.at; p < v.end; p++) {
        if (*p < '0' || *p > '9' || n > (UINT64_MAX - 9) / 10) {
            return false;
        }
        n = n * 10 + (uint64_t)(*p - '0');
    }
    *out = n;
    return true;
}

size_t mechc_json_text(struct mechc_json v, char *out, size_t size)
{
    const bool string = mechc_json_kind(v) == '"';
    const char *p = string ? v.at + 1 : v.at;
    const char *const end = string ? v.end - 1 : v.end;
    size_t length = 0, kept = 0;
    while (p < end) {
        char piece[4] = {*p};
        const size_t n = string ? decode(&p, end, piece) : 1;
        p += !string;
        // whole characters only, so that a cut text stays UTF-8 where it was escaped
        if (kept == length && length + n < size) {
            memcpy(out + kept, piece, n);
            kept += n;
        }
        length += n;
    }
    if (size > 0) {
        out[kept] = 0;
    }
    return length;
}
