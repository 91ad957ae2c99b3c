/* Up to 256 KiB by the C library, beyond by mmap; a mapping grows where it is or moves without a
 * copy (mremap). */
#define _GNU_SOURCE /* mremap */
#include "server/http/body.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HEAP_MOST = 256 << 10 };

unsigned char *mechd_body_grow(unsigned char *body, size_t old, size_t used, size_t room)
{
    if (room <= HEAP_MOST) {
        return realloc(body, room);
    }
    void *const more = old > HEAP_MOST ? mremap(body, old, room, MREMAP_MAYMOVE)
                                       : mmap(NULL, room, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED) {
        return NULL;
    }
    if (old <= HEAP_MOST) {
        if (used > 0) {
            memcpy(more, body, used);
        }
        free(body);
    }
    return more;
}

void mechd_body_free(unsigned char *body, size_t room)
{
    if (room > HEAP_MOST) {
        (void)munmap(body, room); // the arguments are those of a mapping: it cannot fail
    } else {
        free(body);
    }
}
