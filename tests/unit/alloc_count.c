/* Counts and refuses allocations: the program's own malloc family in front of glibc's, or of the
 * sanitizers' where these have replaced it; there their hook counts. */
#include "tests/unit/alloc_count.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#endif

#if defined(__SANITIZE_ADDRESS__)
#define SEES_LEAKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SEES_LEAKS
#endif
#endif
#ifdef SEES_LEAKS
#include <sanitizer/lsan_interface.h>
#endif

static _Thread_local bool counting;
static _Thread_local long counted;

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
/* ld.so allocates by these before ThreadSanitizer has begun, which would see each call */
#pragma clang attribute push(__attribute__((disable_sanitizer_instrumentation)),                   \
                             apply_to = function)
#define WITHOUT_SANITIZER
#endif
#endif

static _Thread_local bool refusing, refuse_forever;
static _Thread_local long passing, refused;

static _Thread_local bool exempt;

/* of all threads */
static _Atomic bool everywhere, everywhere_forever;
static _Atomic long everywhere_passing, everywhere_refused;

static void count(void)
{
    if (counting) {
        counted++;
    }
}

static bool refuse_everywhere(void)
{
    const long left = atomic_fetch_sub(&everywhere_passing, 1);
    if (left > 0 || (left < 0 && !atomic_load(&everywhere_forever))) {
        return false;
    }
    atomic_fetch_add(&everywhere_refused, 1);
    return true;
}

static bool refuse(void)
{
    if (exempt) {
        return false;
    }
    if (atomic_load_explicit(&everywhere, memory_order_relaxed)) {
        return refuse_everywhere();
    }
    if (!refusing || passing-- > 0 || (!refuse_forever && refused > 0)) {
        return false;
    }
    refused++;
    return true;
}

/* prototypes of what stdlib.h would declare with other attributes */
void *malloc(size_t size);
void *calloc(size_t number, size_t size);
void *realloc(void *block, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size);
int posix_memalign(void **block, size_t alignment, size_t size);
void free(void *block);

#define EXPORTED __attribute__((visibility("default")))

#ifdef HAS_SANITIZER

int __sanitizer_install_malloc_and_free_hooks(void (*on_malloc)(const volatile void *, size_t),
                                              void (*on_free)(const volatile void *));

/* the sanitizers' allocator under its internal names */
void *__interceptor_malloc(size_t size);
void *__interceptor_calloc(size_t number, size_t size);
void *__interceptor_realloc(void *block, size_t size);
void *__interceptor_memalign(size_t alignment, size_t size);

#define REAL_malloc __interceptor_malloc
#define REAL_calloc __interceptor_calloc
#define REAL_realloc __interceptor_realloc
#define REAL_memalign __interceptor_memalign

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

static bool enter(void)
{
    return !refuse();
}

#else

/* glibc's allocator under its internal names */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

#define REAL_malloc __libc_malloc
#define REAL_calloc __libc_calloc
#define REAL_realloc __libc_realloc
#define REAL_memalign __libc_memalign

EXPORTED void free(void *block)
{
    __libc_free(block);
}

/* operator new and new[] of C++, which the sanitizers replace on their own: counted */
void *_Znwm(size_t size);
void *_Znam(size_t size);

EXPORTED void *_Znwm(size_t size)
{
    count();
    return __libc_malloc(size);
}

EXPORTED void *_Znam(size_t size)
{
    return _Znwm(size);
}

static void install(void)
{
}

static bool enter(void)
{
    count();
    return !refuse();
}

#endif

EXPORTED void *malloc(size_t size)
{
    return enter() ? REAL_malloc(size) : NULL;
}

EXPORTED void *calloc(size_t number, size_t size)
{
    return enter() ? REAL_calloc(number, size) : NULL;
}

EXPORTED void *realloc(void *block, size_t size)
{
    return enter() ? REAL_realloc(block, size) : NULL;
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size)
{
    return enter() ? REAL_memalign(alignment, size) : NULL;
}

EXPORTED void *memalign(size_t alignment, size_t size)
{
    return enter() ? REAL_memalign(alignment, size) : NULL;
}

EXPORTED int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *const found = enter() ? REAL_memalign(alignment, size) : NULL;
    if (found == NULL) {
        return ENOMEM;
    }
    *block = found;
    return 0;
}

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

void alloc_refuse_start(long first, bool forever)
{
    refuse_forever = forever;
    passing = first;
    refused = 0;
    refusing = true;
}

long alloc_refuse_stop(void)
{
    refusing = false;
    return refused;
}

void alloc_refuse_everywhere(long first, bool forever)
{
    atomic_store(&everywhere_forever, forever);
    atomic_store(&everywhere_passing, first);
    atomic_store(&everywhere_refused, 0);
    atomic_store(&everywhere, true);
}

void alloc_exempt(bool yes)
{
    exempt = yes;
}

long alloc_refuse_nowhere(void)
{
    atomic_store(&everywhere, false);
    return atomic_load(&everywhere_refused);
}

#ifdef WITHOUT_SANITIZER
#pragma clang attribute pop
#endif

void alloc_leaks_taken(bool yes)
{
#ifdef SEES_LEAKS
    if (yes) {
        __lsan_disable();
    } else {
        __lsan_enable();
    }
#else
    (void)yes;
#endif
}
