/* JSON text, written straight into a growing buffer; numbers shortest round-trip (std::to_chars).
 *
 * The reply path builds no tree: a writer appends. A number that is not finite is written as null
 * and noted, so that the sender refuses the text with its place (mechp_text_beyond); only members
 * whose schema has null use mechp_text_number_or_null. owner: one request.
 *
 *   mechp_text_object(&w);
 *   mechp_text_key(&w, "time");
 *   mechp_text_number(&w, 0.1);
 *   mechp_text_end(&w);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Shortest text that reads back to the same double; at most 32 bytes, no terminator; returns
 * length. The only C++ of the project implements this function. */
size_t mechp_number_text(double value, char *out);

enum { MECHP_TEXT_DEPTH = 32 };

struct mechp_text {
    char *bytes; /* [capacity], `length` used; malloc'd, or borrowed at init */
    size_t length, capacity;
    bool borrowed; /* the first buffer is the caller's */
    bool failed;   /* out of memory or too deep; everything since is void */
    size_t beyond; /* 1 + start of the first number that is not finite; 0: all are */
    int depth;
    char closing[MECHP_TEXT_DEPTH];
    bool comma[MECHP_TEXT_DEPTH + 1];
};

/* `buffer` may be NULL; otherwise it is used until it is full. */
void mechp_text_init(struct mechp_text *w, char *buffer, size_t size);
void mechp_text_fini(struct mechp_text *w);
/* Give the bytes away (malloc'd; the caller frees) and reset. NULL: failed. */
char *mechp_text_take(struct mechp_text *w, size_t *length);

void mechp_text_object(struct mechp_text *w);
void mechp_text_array(struct mechp_text *w);
void mechp_text_end(struct mechp_text *w); /* closes the innermost object or array */
void mechp_text_key(struct mechp_text *w, const char *key);
/* The same for a key that is a literal of letters and digits: it is not examined, and if it fits it
 * is stored in place. */
#define mechp_text_literal(w, key) mechp_text_key_as_is(w, "\"" key "\":", sizeof key + 2)
void mechp_text_key_slowly(struct mechp_text *w, const char *key, size_t length);
static inline void mechp_text_key_as_is(struct mechp_text *w, const char *key, size_t length)
{
    if (w->failed || w->capacity - w->length <= length) {
        mechp_text_key_slowly(w, key, length);
        return;
    }
    char *at = w->bytes + w->length;
    const bool comma = w->comma[w->depth];
    *at = ',';
    memcpy(at + comma, key, length);
    w->length += length + comma;
    w->comma[w->depth] = false;
}
/* The same for a key of letters and digits that is no literal, such as a name of a row. */
void mechp_text_key_plain(struct mechp_text *w, const char *key);
void mechp_text_string(struct mechp_text *w, const char *text); /* NULL: null */
void mechp_text_string_n(struct mechp_text *w, const char *text, size_t length);
/* A key, or a string, of so many pieces one behind the other, each of them whole UTF-8. */
void mechp_text_key_of(struct mechp_text *w, const char *const *pieces, size_t count);
void mechp_text_string_of(struct mechp_text *w, const char *const *pieces, size_t count);
void mechp_text_number(struct mechp_text *w, double value);
/* Null for what is not finite: of a member that may be null. */
void mechp_text_number_or_null(struct mechp_text *w, double value);
void mechp_text_integer(struct mechp_text *w, int64_t value);
void mechp_text_unsigned(struct mechp_text *w, uint64_t value);
void mechp_text_bool(struct mechp_text *w, bool value);
void mechp_text_null(struct mechp_text *w);
void mechp_text_numbers(struct mechp_text *w, const double *values, size_t count); /* an array */
/* A key and its value. */
void mechp_text_member_string(struct mechp_text *w, const char *key, const char *text);
void mechp_text_member_number(struct mechp_text *w, const char *key, double value);
void mechp_text_member_integer(struct mechp_text *w, const char *key, int64_t value);
void mechp_text_member_unsigned(struct mechp_text *w, const char *key, uint64_t value);
void mechp_text_raw(struct mechp_text *w, const char *json, size_t length); /* a value, as it is */

/* Whether a number was not finite; then its place, as a JSON pointer into the text, in `pointer`
 * [size], cut where it is longer. Names with escapes in JSON keep them. */
bool mechp_text_beyond(const struct mechp_text *w, char *pointer, size_t size);

/* Text that is no JSON: as it is, and with no comma between. */
static inline void mechp_text_plain(struct mechp_text *w, const char *bytes, size_t length)
{
    w->comma[0] = false;
    mechp_text_raw(w, bytes, length);
}

/* What stands for a character in text between tags of XML and HTML, and in their attributes in
 * double quotes; NULL: itself. */
const char *mechp_text_entity(char c);

/* Append JSON laid out for people, outside any object or array: two spaces a level, what fits into
 * 100 columns on one line.
 * `json` is well-formed. */
void mechp_text_pretty(struct mechp_text *w, const char *json, size_t length);
