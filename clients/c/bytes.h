/* Bytes that grow, and JSON text written into them.
 *
 *   struct mechc_bytes b = {0};
 *   mechc_bytes_text(&b, "{\"load\":"); mechc_bytes_number(&b, 0.1); mechc_bytes_text(&b, "}");
 *   if (!b.failed) { … b.at, b.length … }
 *   mechc_bytes_fini(&b);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Always closed by a zero that `length` does not count. Zeroed is empty. owner: the caller. */
struct mechc_bytes {
    char *at; /* malloc'd, or NULL */
    size_t length, capacity;
    bool failed; /* out of memory; everything since is void */
};

void mechc_bytes_add(struct mechc_bytes *b, const void *bytes, size_t size);
void mechc_bytes_text(struct mechc_bytes *b, const char *text);
/* A quoted JSON string with its escapes. */
void mechc_bytes_string(struct mechc_bytes *b, const char *text);
/* A finite number that reads back to the same double, whatever the locale. */
void mechc_bytes_number(struct mechc_bytes *b, double value);
void mechc_bytes_clear(struct mechc_bytes *b);
void mechc_bytes_fini(struct mechc_bytes *b);

/* A copy of a string, malloc'd, or NULL. */
char *mechc_copy(const char *text);
