/* Compression of answers (RFC 9110, 8.4; RFC 1952). Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* True if the value of Accept-Encoding, or NULL, takes gzip. */
bool mechd_gzip_wanted(const char *accept);
/* True if bytes of this media type become much smaller: text does, float64 does not. */
bool mechd_gzip_worth(const char *type);
/* Fresh memory with the compressed bytes, and their number; NULL: no memory, or no gain. */
char *mechd_gzip(const char *bytes, size_t size, size_t *out);

/* The same for bytes that come piece by piece. owner: one answer. */
struct mechd_gzip_flow;
/* NULL: no memory. */
struct mechd_gzip_flow *mechd_gzip_begin(void);
/* Compress from *in, which moves on with *left, into out [most]; `last`: nothing follows. The bytes
 * written; 0 means that all of *in was taken, and with `last` that all has been written. */
size_t mechd_gzip_put(struct mechd_gzip_flow *f, const char **in, size_t *left, bool last,
                      char *out, size_t most);
void mechd_gzip_end(struct mechd_gzip_flow *f); /* accepts NULL */
