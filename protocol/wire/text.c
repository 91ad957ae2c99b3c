/* JSON text appended to a growing buffer. Commas are put before the value that needs one: each
 * depth remembers whether something stands there already; a key clears that for its value. Capacity
 * doubles, so that writing n bytes costs O(n). Bytes that are not UTF-8 become U+FFFD.
 */
#include "protocol/wire/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 512, NUMBER_ROOM = 33 };

void mechp_text_init(struct mechp_text *w, char *buffer, size_t size)
{
    *w = (struct mechp_text){
        .bytes = buffer, .capacity = buffer == NULL ? 0 : size, .borrowed = buffer != NULL};
}

void mechp_text_fini(struct mechp_text *w)
{
    if (!w->borrowed) {
        free(w->bytes);
    }
    *w = (struct mechp_text){0};
}

char *mechp_text_take(struct mechp_text *w, size_t *length)
{
    char *bytes = NULL;
    if (!w->failed && w->depth == 0) {
        if (w->borrowed) {
            bytes = malloc(w->length + 1);
            if (bytes != NULL && w->length > 0) {
                memcpy(bytes, w->bytes, w->length);
            }
        } else if (w->bytes == NULL) {
            bytes = malloc(1);
        } else {
            bytes = w->bytes;
            w->bytes = NULL;
        }
    }
    *length = bytes == NULL ? 0 : w->length;
    mechp_text_fini(w);
    return bytes;
}

/* Room for `more` bytes at the end, or NULL. */
static char *room(struct mechp_text *w, size_t more)
{
    if (w->failed) {
        return NULL;
    }
    if (more <= w->capacity - w->length) {
        return w->bytes + w->length;
    }
    if (more > SIZE_MAX / 2 - w->length) {
        w->failed = true;
        return NULL;
    }
    // double until it fits
    size_t capacity = w->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : w->capacity;
    while (capacity < w->length + more) {
        capacity *= 2;
    }
    char *const bytes = w->borrowed ? malloc(capacity) : realloc(w->bytes, capacity);
    if (bytes == NULL) {
        w->failed = true;
        return NULL;
    }
    if (w->borrowed && w->length > 0) {
        memcpy(bytes, w->bytes, w->length);
    }
    w->borrowed = false;
    w->bytes = bytes;
    w->capacity = capacity;
    return bytes + w->length;
}

static void append(struct mechp_text *w, const char *bytes, size_t length)
{
    char *const at = length > 0 ? room(w, length) : NULL;
    if (at != NULL) {
        memcpy(at, bytes, length);
        w->length += length;
    }
}

static void append_char(struct mechp_text *w, char c)
{
    char *const at = room(w, 1);
    if (at != NULL) {
        *at = c;
        w->length++;
    }
}

/* The comma before a value or key, if one is due. */
static void separate(struct mechp_text *w)
{
    if (w->comma[w->depth]) {
        append_char(w, ',');
    }
    w->comma[w->depth] = true;
}

static void open_level(struct mechp_text *w, char opening, char closing)
{
    separate(w);
    if (w->depth >= MECHP_TEXT_DEPTH) {
        w->failed = true;
        return;
    }
    append_char(w, opening);
    w->closing[w->depth] = closing;
    w->depth++;
    w->comma[w->depth] = false;
}

void mechp_text_object(struct mechp_text *w)
{
    open_level(w, '{', '}');
}

void mechp_text_array(struct mechp_text *w)
{
    open_level(w, '[', ']');
}

void mechp_text_end(struct mechp_text *w)
{
    if (w->depth == 0) {
        w->failed = true;
        return;
    }
    w->depth--;
    append_char(w, w->closing[w->depth]);
}

/* Length of the UTF-8 sequence at `s`, 0 when it is not one (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF). */
static size_t sequence_length(const unsigned char *s, size_t rest)
{
    const unsigned c = s[0];
    const size_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : 4;
    if ((c >= 0x80 && c < 0xc2) || c > 0xf4 || n > rest) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0u) != 0x80) {
            return 0;
        }
    }
    const bool bad = (c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] >= 0xa0) ||
                     (c == 0xf0 && s[1] < 0x90) || (c == 0xf4 && s[1] >= 0x90);
    return bad ? 0 : n;
}

/* What a control character, quote or backslash is written as; "" when it stays. */
static void escape(struct mechp_text *w, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char from[] = "\"\\\b\f\n\r\t";
    static const char to[] = "\"\\bfnrt";
    const char *const found = memchr(from, c, sizeof from - 1);
    if (found != NULL) {
        append(w, (const char[]){'\\', to[found - from]}, 2);
    } else {
        append(w, (const char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
    }
}

/* Bytes at the beginning that need no escape: printable ASCII but quote and backslash. */
static size_t plain_length(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && text[i] >= ' ' && text[i] < 0x7f && text[i] != '"' && text[i] != '\\') {
        i++;
    }
    return i;
}

/* Text of a string, its exceptions escaped. */
static void escaped(struct mechp_text *w, const char *text, size_t length)
{
    size_t start = 0;
    size_t i = 0;
    while (i < length) {
        const unsigned char c = (unsigned char)text[i];
        const bool special = c < 0x20 || c == '"' || c == '\\' || c == 0x7f;
        const size_t n = special ? 0 : sequence_length((const unsigned char *)text + i, length - i);
        if (n > 0) {
            i += n;
            continue;
        }
        // copy what was plain, then the exception
        append(w, text + start, i - start);
        if (special) {
            escape(w, c);
        } else {
            append(w, "\\ufffd", 6);
        }
        i++;
        start = i;
    }
    append(w, text + start, length - start);
}

static void quoted(struct mechp_text *w, const char *text, size_t length)
{
    // nearly always nothing is special
    if (plain_length(text, length) == length) {
        char *const at = room(w, length + 2);
        if (at != NULL) {
            at[0] = '"';
            memcpy(at + 1, text, length);
            at[length + 1] = '"';
            w->length += length + 2;
        }
        return;
    }
    append_char(w, '"');
    escaped(w, text, length);
    append_char(w, '"');
}

/* The same of several texts, one behind the other. */
static void quoted_pieces(struct mechp_text *w, const char *const *pieces, size_t count)
{
    separate(w);
    append_char(w, '"');
    for (size_t k = 0; k < count; k++) {
        escaped(w, pieces[k], strlen(pieces[k]));
    }
    append_char(w, '"');
}

void mechp_text_key(struct mechp_text *w, const char *key)
{
    separate(w);
    quoted(w, key, strlen(key));
    append_char(w, ':');
    w->comma[w->depth] = false;
}

void mechp_text_key_of(struct mechp_text *w, const char *const *pieces, size_t count)
{
    quoted_pieces(w, pieces, count);
    append_char(w, ':');
    w->comma[w->depth] = false;
}

void mechp_text_string_of(struct mechp_text *w, const char *const *pieces, size_t count)
{
    quoted_pieces(w, pieces, count);
}

/* A short text, by words that overlap: a call would cost more. */
static void copy_short(char *to, const char *from, size_t n)
{
    if (n >= 8) {
        for (size_t k = 0; k + 8 < n; k += 8) {
            memcpy(to + k, from + k, 8);
        }
        memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, from, 4);
        memcpy(to + n - 4, from + n - 4, 4);
    } else {
        for (size_t k = 0; k < n; k++) {
            to[k] = from[k];
        }
    }
}

void mechp_text_key_plain(struct mechp_text *w, const char *key)
{
    const size_t n = strlen(key);
    if (w->failed || w->capacity - w->length < n + sizeof ",\"\":") {
        mechp_text_key(w, key);
        return;
    }
    char *at = w->bytes + w->length;
    const bool comma = w->comma[w->depth];
    *at = ',';
    at += comma;
    *at = '"';
    copy_short(at + 1, key, n);
    at[n + 1] = '"';
    at[n + 2] = ':';
    w->length += n + 3 + comma;
    w->comma[w->depth] = false;
}

void mechp_text_key_slowly(struct mechp_text *w, const char *key, size_t length)
{
    separate(w);
    append(w, key, length);
    w->comma[w->depth] = false;
}

void mechp_text_string(struct mechp_text *w, const char *text)
{
    if (text == NULL) {
        mechp_text_null(w);
        return;
    }
    mechp_text_string_n(w, text, strlen(text));
}

void mechp_text_string_n(struct mechp_text *w, const char *text, size_t length)
{
    separate(w);
    quoted(w, text, length);
}

/* What was written at `at` is null for a number that is not finite. */
static void note_beyond(struct mechp_text *w, const char *at)
{
    if (w->beyond == 0) {
        w->beyond = 1 + (size_t)(at - w->bytes);
    }
}

void mechp_text_number(struct mechp_text *w, double value)
{
    separate(w);
    char *const at = room(w, NUMBER_ROOM);
    if (at != NULL) {
        w->length += mechp_number_text(value, at);
        if (!isfinite(value)) {
            note_beyond(w, at);
        }
    }
}

void mechp_text_number_or_null(struct mechp_text *w, double value)
{
    if (isfinite(value)) {
        mechp_text_number(w, value);
    } else {
        mechp_text_null(w);
    }
}

void mechp_text_integer(struct mechp_text *w, int64_t value)
{
    if (value >= 0) {
        mechp_text_unsigned(w, (uint64_t)value);
        return;
    }
    separate(w);
    append_char(w, '-');
    w->comma[w->depth] = false;
    mechp_text_unsigned(w, ~(uint64_t)value + 1);
}

void mechp_text_unsigned(struct mechp_text *w, uint64_t value)
{
    // most counts have one digit
    if (value < 10 && !w->failed && w->capacity - w->length > 1) {
        const bool comma = w->comma[w->depth];
        w->bytes[w->length] = ',';
        w->bytes[w->length + comma] = (char)('0' + value);
        w->length += 1u + comma;
        w->comma[w->depth] = true;
        return;
    }
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    separate(w);
    append(w, digits + at, sizeof digits - at);
}

void mechp_text_bool(struct mechp_text *w, bool value)
{
    mechp_text_raw(w, value ? "true" : "false", value ? 4 : 5);
}

void mechp_text_null(struct mechp_text *w)
{
    mechp_text_raw(w, "null", 4);
}

void mechp_text_numbers(struct mechp_text *w, const double *values, size_t count)
{
    mechp_text_array(w);
    for (size_t i = 0; i < count; i++) {
        char *at = room(w, NUMBER_ROOM);
        if (at == NULL) {
            return;
        }
        size_t used = 0;
        if (i > 0) {
            at[used++] = ',';
        }
        if (!isfinite(values[i])) {
            note_beyond(w, at + used);
        }
        used += mechp_number_text(values[i], at + used);
        w->length += used;
    }
    mechp_text_end(w);
}

void mechp_text_member_string(struct mechp_text *w, const char *key, const char *text)
{
    mechp_text_key(w, key);
    mechp_text_string(w, text);
}

void mechp_text_member_number(struct mechp_text *w, const char *key, double value)
{
    mechp_text_key(w, key);
    mechp_text_number(w, value);
}

void mechp_text_member_integer(struct mechp_text *w, const char *key, int64_t value)
{
    mechp_text_key(w, key);
    mechp_text_integer(w, value);
}

void mechp_text_member_unsigned(struct mechp_text *w, const char *key, uint64_t value)
{
    mechp_text_key(w, key);
    mechp_text_unsigned(w, value);
}

void mechp_text_raw(struct mechp_text *w, const char *json, size_t length)
{
    separate(w);
    append(w, json, length);
}
