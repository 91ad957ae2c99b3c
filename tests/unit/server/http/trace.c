/* What a traceparent hands on, and what makes a new trace. */
#include "server/http/trace.h"

#include "tests/unit/unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char given[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

static bool is_whole(const char *t)
{
    bool whole = strlen(t) == MECHD_TRACE - 1 && memcmp(t, "00-", 3) == 0;
    for (size_t k = 0; whole && k < MECHD_TRACE - 1; k++) {
        const bool dash = k == 2 || k == 35 || k == 52;
        whole = dash ? t[k] == '-' : strchr("0123456789abcdef", t[k]) != NULL;
    }
    return whole;
}

static void a_trace_is_kept_with_its_flags_under_an_id_of_its_own(void)
{
    char out[MECHD_TRACE];
    mechd_trace_take(given, out);
    CU_ASSERT(is_whole(out));
    CU_ASSERT_EQUAL(memcmp(out, given, 36), 0);
    CU_ASSERT_NOT_EQUAL(memcmp(out + 36, given + 36, 16), 0);
    CU_ASSERT_STRING_EQUAL(out + 52, "-01");

    // a later version may say more
    mechd_trace_take("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what", out);
    CU_ASSERT(is_whole(out));
    CU_ASSERT_EQUAL(memcmp(out + 2, given + 2, 34), 0);
}

static void what_is_missing_or_faulty_makes_a_new_trace(void)
{
    static const char *const faulty[] = {
        NULL,
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-011",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what",
        "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01what",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902bg-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7_01",
    };
    char before[MECHD_TRACE] = "";
    for (size_t k = 0; k < sizeof faulty / sizeof *faulty; k++) {
        char out[MECHD_TRACE];
        mechd_trace_take(faulty[k], out);
        CU_ASSERT(is_whole(out));
        CU_ASSERT_NOT_EQUAL(memcmp(out + 3, given + 3, 32), 0);
        CU_ASSERT_NOT_EQUAL(memcmp(out + 3, before + 3, 32), 0);
        CU_ASSERT_STRING_EQUAL(out + 52, "-00");
        memcpy(before, out, sizeof before);
    }
}

enum { THREADS = 4, TRACES = 3000, DIGITS = 16 };

/* Half of a trace and the span, of each of a thread's. */
struct taken {
    char ids[TRACES][2][DIGITS + 1];
};

static void *take_them(void *of)
{
    struct taken *const t = of;
    for (int k = 0; k < TRACES; k++) {
        char out[MECHD_TRACE];
        mechd_trace_take(NULL, out);
        memcpy(t->ids[k][0], out + 3, DIGITS);
        memcpy(t->ids[k][1], out + 36, DIGITS);
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void no_two_ids_of_any_threads_are_alike(void)
{
    enum { ALL = 2 * THREADS * TRACES };
    struct taken *const all = calloc(THREADS, sizeof *all);
    pthread_t threads[THREADS];
    CU_ASSERT_PTR_NOT_NULL_FATAL(all);
    for (int k = 0; k < THREADS; k++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[k], NULL, take_them, &all[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        (void)pthread_join(threads[k], NULL);
    }
    char(*const ids)[DIGITS + 1] = all[0].ids[0];
    qsort(ids, ALL, sizeof *ids, compare);
    for (int k = 1; k < ALL; k++) {
        CU_ASSERT_FATAL(strcmp(ids[k - 1], ids[k]) < 0);
    }
    free(all);
}

UNIT_TESTS(UNIT_TEST(no_two_ids_of_any_threads_are_alike),
           UNIT_TEST(a_trace_is_kept_with_its_flags_under_an_id_of_its_own),
           UNIT_TEST(what_is_missing_or_faulty_makes_a_new_trace))
