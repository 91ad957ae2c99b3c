/* Counts allocations: the program's own malloc family in front of glibc's, or the hook of the
 * sanitizers where these have replaced it. */
#include "tests/unit/alloc_count.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#endif

static _Thread_local bool counting;
static _Thread_local long counted;

static void count(void)
{
    if (counting) {
        counted++;
    }
}

#ifdef HAS_SANITIZER

int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

static void on_malloc(const volatile void *block, size_t size)
{
    (void)block;
    (void)size;
    count();
}

static void on_free(const volatile void *block)
{
    (void)block;
}

static void install(void)
{
    static bool is_installed;
    if (!is_installed) {
        is_installed = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free) != 0;
    }
}

#else

/* glibc's allocator under its internal names */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

/* prototypes of what stdlib.h would declare with other attributes */
void *malloc(size_t size);
void *calloc(size_t number, size_t size);
void *realloc(void *block, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size);
int posix_memalign(void **block, size_t alignment, size_t size);
void free(void *block);

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

EXPORTED void *calloc(size_t number, size_t size)
{
    count();
    return __libc_calloc(number, size);
}

EXPORTED void *realloc(void *block, size_t size)
{
    count();
    return __libc_realloc(block, size);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

EXPORTED void *memalign(size_t alignment, size_t size)
{
    count();
    return __libc_memalign(alignment, size);
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t size)
{
    count();
    void *const found = __libc_memalign(alignment, size);
    if (found == NULL) {
        return ENOMEM;
    }
    *block = found;
    return 0;
}

EXPORTED void free(void *block)
{
    __libc_free(block);
}

static void install(void)
{
}

#endif

void alloc_count_start(void)
{
    install();
    counted = 0;
    counting = true;
}

long alloc_count_stop(void)
{
    counting = false;
    return counted;
}
