/* How many bytes and blocks of the heap a program has in use, told to who started it: loaded in
 * front of glibc's allocator by LD_PRELOAD, it counts in the file that MECHD_TESTS_HEAP names (two
 * 64-bit numbers: bytes as malloc_usable_size has them, blocks), which the other side reads at any
 * time. Free memory that the C library keeps, as resident pages have it, is not in them.
 * Of any thread. */
#define _GNU_SOURCE /* secure_getenv */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* glibc's allocator under its internal names */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

struct count {
    _Atomic int64_t bytes, blocks;
};

static struct count at_start; /* until the file is there */
static struct count *counts = &at_start;

__attribute__((constructor)) static void share(void)
{
    const char *const path = secure_getenv("MECHD_TESTS_HEAP");
    const int fd = path != NULL ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0 || ftruncate(fd, sizeof *counts) != 0) {
        return;
    }
    struct count *const shared =
        mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (shared != MAP_FAILED) {
        shared->bytes = counts->bytes;
        shared->blocks = counts->blocks;
        counts = shared;
    }
}

static void add(int64_t bytes, int64_t blocks)
{
    atomic_fetch_add_explicit(&counts->bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&counts->blocks, blocks, memory_order_relaxed);
}

static int64_t size_of(void *block)
{
    return (int64_t)malloc_usable_size(block);
}

static void *made(void *block)
{
    if (block != NULL) {
        add(size_of(block), 1);
    }
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
    if (block != NULL) {
        add(-size_of(block), -1);
        __libc_free(block);
    }
}

EXPORTED void *realloc(void *block, size_t size)
{
    if (block == NULL) {
        return malloc(size);
    }
    const int64_t before = size_of(block);
    void *const found = __libc_realloc(block, size);
    if (found != NULL) {
        add(size_of(found) - before, 0);
    } else if (size == 0) {
        add(-before, -1);
    }
    return found;
}
