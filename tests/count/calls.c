/* What a program asks of the heap and copies, counted for the program that has started it: loaded
 * in front of the C library by LD_PRELOAD, it adds to the file that MECHD_TESTS_CALLS names (five
 * 64-bit numbers: blocks allocated, blocks resized, blocks freed, bytes copied by memcpy and
 * memmove, bytes in use as malloc_usable_size has them), which the other side reads at any time.
 * Copies that the compiler has put in line, those within the C library, and free memory that the C
 * library keeps are not in them. Of any thread. */
#define _GNU_SOURCE /* secure_getenv */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* glibc's allocator under its internal names */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

struct calls {
    _Atomic uint64_t allocated, resized, freed, copied, in_use;
};

static struct calls at_start; /* until the file is there */
static struct calls *calls = &at_start;

__attribute__((constructor)) static void share(void)
{
    const char *const path = secure_getenv("MECHD_TESTS_CALLS");
    const int fd = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0 || ftruncate(fd, sizeof *calls) != 0) {
        return;
    }
    struct calls *const shared =
        mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (shared != MAP_FAILED) {
        shared->in_use = calls->in_use; // what is freed later was allocated before
        calls = shared;
    }
}

static void add(_Atomic uint64_t *number, uint64_t n)
{
    atomic_fetch_add_explicit(number, n, memory_order_relaxed);
}

/* --- the heap --------------------------------------------------------------------------------- */

static size_t size_of(void *block)
{
    return block != NULL ? malloc_usable_size(block) : 0;
}

static void *made(void *block)
{
    add(&calls->allocated, block != NULL);
    add(&calls->in_use, size_of(block));
    return block;
}

EXPORTED void *malloc(size_t size)
{
    return made(__libc_malloc(size));
}

EXPORTED void *calloc(size_t number, size_t size)
{
    return made(__libc_calloc(number, size));
}

EXPORTED void *memalign(size_t alignment, size_t size)
{
    return made(__libc_memalign(alignment, size));
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *const found = memalign(alignment, size);
    if (found == NULL) {
        return ENOMEM;
    }
    *block = found;
    return 0;
}

EXPORTED void free(void *block)
{
    add(&calls->freed, block != NULL);
    add(&calls->in_use, 0 - size_of(block));
    __libc_free(block);
}

EXPORTED void *realloc(void *block, size_t size)
{
    if (block == NULL) {
        return malloc(size);
    }
    const size_t before = size_of(block);
    void *const found = __libc_realloc(block, size);
    if (found != NULL) {
        add(&calls->resized, 1);
        add(&calls->in_use, size_of(found) - before);
    } else if (size == 0) {
        add(&calls->freed, 1);
        add(&calls->in_use, 0 - before);
    }
    return found;
}

/* --- copies ----------------------------------------------------------------------------------- */

EXPORTED void *memmove(void *to, const void *from, size_t size)
{
    unsigned char *const a = to;
    const unsigned char *const b = from;
    add(&calls->copied, size);
    if ((uintptr_t)a - (uintptr_t)b >= size) {
        for (size_t k = 0; k < size; k++) {
            a[k] = b[k];
        }
    } else {
        for (size_t k = size; k > 0; k--) {
            a[k - 1] = b[k - 1];
        }
    }
    return to;
}

/* what _FORTIFY_SOURCE makes of them where the room is known */
void *__memmove_chk(void *to, const void *from, size_t size, size_t room);
void *__memcpy_chk(void *restrict to, const void *restrict from, size_t size, size_t room);

EXPORTED void *__memmove_chk(void *to, const void *from, size_t size, size_t room)
{
    if (size > room) {
        abort();
    }
    return memmove(to, from, size);
}

EXPORTED void *__memcpy_chk(void *restrict to, const void *restrict from, size_t size, size_t room)
{
    return __memmove_chk(to, from, size, room);
}

EXPORTED void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    return memmove(to, from, size);
}
