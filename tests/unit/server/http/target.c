/* Targets of request lines: which are taken, and which are refused before anything is decoded. */
#include "server/http/target.h"

#include "tests/unit/unit.h"

#include <stddef.h>

static void plain_targets_are_taken(void)
{
    static const char *const good[] = {
        "/",
        "/livez",
        "/v1/instances/a.b/step",
        "/v1/instances/..a",
        "/v1/instances/a..",
        "/v1/...",
        "/v1/instances/a%2Db%7e",
        "/v1/x?a=../..&b=%2f%2E%2e&c=/../",
        "/v1/~!$&'()*+,;=:@",
        "/a%2fb",
        "//",
    };
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        CU_ASSERT_PTR_NULL(mechd_target_fault(good[k]));
    }
}

static void odd_targets_are_refused(void)
{
    static const char *const bad[] = {
        "",          "*",        "livez",     "http://localhost/livez",
        "/a b",      "/a\tb",    "/a\x7f",    "/\xc3\xa4",
        "/a#b",      "/%",       "/%4",       "/%zz",
        "/%00",      "/a?b=%00", "/a?b=%0",   "/.",
        "/..",       "/./a",     "/a/..",     "/a/../b",
        "/a/%2e",    "/%2E%2e/", "/a/.%2e?b", "/a/%2e.",
        "/a/.?b=..", "/\x01",    "/a\r",      "/a?\n",
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CU_ASSERT_PTR_NOT_NULL(mechd_target_fault(bad[k]));
    }
}

UNIT_TESTS(UNIT_TEST(plain_targets_are_taken), UNIT_TEST(odd_targets_are_refused))
