/* What a traceparent hands on, and what makes a new trace. */
#include "server/http/trace.h"

#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stddef.h>
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

UNIT_TESTS(UNIT_TEST(a_trace_is_kept_with_its_flags_under_an_id_of_its_own),
           UNIT_TEST(what_is_missing_or_faulty_makes_a_new_trace))
