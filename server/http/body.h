/* The bytes of a request's body as they arrive: small ones in the heap, large ones in a mapping of
 * their own, which leaves nothing in the heap of the connection's thread when it ends.
 *
 * Pure but for memory; any thread.
 */
#pragma once

#include <stddef.h>

/* `room` bytes that begin with the first `used` of `body`, which had `old` (NULL, 0: none) and is
 * freed. NULL: no memory, `body` is unchanged. */
unsigned char *mechd_body_grow(unsigned char *body, size_t old, size_t used, size_t room);
void mechd_body_free(unsigned char *body, size_t room);
