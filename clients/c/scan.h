/* Reading JSON text in place: no tree, no allocation. A value is a span of the text.
 *
 *   struct mechc_json reply, id;
 *   if (mechc_json_open(text, size, &reply) && mechc_json_member(reply, "id", &id)) { … }
 *
 * mechc_json_open checks the whole text once (syntax, nesting at most 64), so that all the others
 * can walk without failing. Spans live as long as the text. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mechc_json {
    const char *at, *end; /* first character of the value and one past its last */
};

/* Check a whole text and give its value; false: not JSON. */
bool mechc_json_open(const char *text, size_t size, struct mechc_json *out);

/* A text behind the byte order mark of UTF-8, with which some editors begin a file. */
const char *mechc_json_unmarked(const char *text);

/* '{', '[', '"', 't', 'f', 'n', or '0' for a number. */
char mechc_json_kind(struct mechc_json v);

/* The member of an object; false: no such member, or not an object. A path with slashes walks
 * down: "report/steps". */
bool mechc_json_member(struct mechc_json object, const char *path, struct mechc_json *out);
/* The same for the member of exactly this name, which may have slashes. */
bool mechc_json_named(struct mechc_json object, const char *name, struct mechc_json *out);

/* Walk the members of an object or the elements of an array:
 *   for (struct mechc_json_walk w = mechc_json_walk(v); mechc_json_next(&w);) { w.key, w.value } */
struct mechc_json_walk {
    const char *at, *end;
    bool object;
    struct mechc_json key; /* objects: the key, a string */
    struct mechc_json value;
};
struct mechc_json_walk mechc_json_walk(struct mechc_json container);
bool mechc_json_next(struct mechc_json_walk *w);
size_t mechc_json_count(struct mechc_json container);

/* A number; false if it is none. Independent of the locale. */
bool mechc_json_number(struct mechc_json v, double *out);
bool mechc_json_unsigned(struct mechc_json v, uint64_t *out);

/* The text of a string, decoded to UTF-8, cut to `size` - 1 bytes and closed by a zero. Returns its
 * whole length; any other kind gives its own text. */
size_t mechc_json_text(struct mechc_json v, char *out, size_t size);

/* True for a string with exactly this text. */
bool mechc_json_is(struct mechc_json v, const char *text);
