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
