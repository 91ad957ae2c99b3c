/* Targets of request lines: which are taken, and which are refused before anything is decoded. */
#include "server/http/target.h"

#include "tests/unit/unit.h"

#include <stddef.h>
#include <string.h>

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
        const struct mechd_target t = mechd_target_read(good[k], false);
        CU_ASSERT_PTR_NULL(t.fault);
        CU_ASSERT_EQUAL(t.form, MECHD_TARGET_PATH);
        CU_ASSERT_EQUAL(t.path, 0);
    }
}

static void odd_targets_are_refused(void)
{
    static const char *const bad[] = {
        "",          "**",        "livez",   "localhost:80", "/a b",  "/a\tb",   "/a\x7f",
        "/\xc3\xa4", "/a#b",      "/%",      "/%4",          "/%zz",  "/%00",    "/a?b=%00",
        "/a?b=%0",   "/.",        "/..",     "/./a",         "/a/..", "/a/../b", "/a/%2e",
        "/%2E%2e/",  "/a/.%2e?b", "/a/%2e.", "/a/.?b=..",    "/\x01", "/a\r",    "/a?\n",
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CU_ASSERT_PTR_NOT_NULL(mechd_target_read(bad[k], false).fault);
    }
}

static void an_address_is_taken_apart(void)
{
    static const struct {
        const char *target, *host, *path;
    } good[] = {
        {"http://localhost/livez", "localhost", "/livez"},
        {"HTTP://[::1]:8080/v1?a=b", "[::1]:8080", "/v1?a=b"},
        {"http://a.b", "a.b", ""},
        {"http://a.b:1?x=/../", "a.b:1", "?x=/../"},
        {"http://../v1", "..", "/v1"},
    };
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        const struct mechd_target t = mechd_target_read(good[k].target, false);
        CU_ASSERT_PTR_NULL(t.fault);
        CU_ASSERT_EQUAL(t.form, MECHD_TARGET_ADDRESS);
        CU_ASSERT_EQUAL(t.length, strlen(good[k].host));
        CU_ASSERT_EQUAL(strncmp(good[k].target + t.host, good[k].host, t.length), 0);
        CU_ASSERT_STRING_EQUAL(good[k].target + t.path, good[k].path);
    }
    static const char *const bad[] = {
        "http:/localhost/",  "http://",       "http:///v1",     "http://me@localhost/v1",
        "http://a%2fb/v1",   "http://:80/v1", "http://a/../v1", "http://a/v1#x",
        "ftp://localhost/",  "http://a b/",   "http://a/%",     "http://a\\b/",
        "https://localhost/"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CU_ASSERT_PTR_NOT_NULL(mechd_target_read(bad[k], false).fault);
    }
    CU_ASSERT_PTR_NULL(mechd_target_read("https://localhost/", true).fault);
}

static void all_of_the_server_is_for_options(void)
{
    static const struct {
        const char *target, *method;
        enum mechd_target_form form;
        bool good;
    } asked[] = {{"*", "OPTIONS", MECHD_TARGET_SERVER, true},
                 {"*", "GET", MECHD_TARGET_SERVER, false},
                 {"http://a:1", "OPTIONS", MECHD_TARGET_SERVER, true},
                 {"http://a:1/", "OPTIONS", MECHD_TARGET_ADDRESS, true},
                 {"http://a:1", "GET", MECHD_TARGET_ADDRESS, true},
                 {"/", "OPTIONS", MECHD_TARGET_PATH, true}};
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        struct mechd_target t = mechd_target_read(asked[k].target, false);
        mechd_target_method(&t, asked[k].target, asked[k].method);
        CU_ASSERT_EQUAL(t.form, asked[k].form);
        CU_ASSERT_EQUAL(t.fault == NULL, asked[k].good);
    }
}

UNIT_TESTS(UNIT_TEST(plain_targets_are_taken), UNIT_TEST(odd_targets_are_refused),
           UNIT_TEST(an_address_is_taken_apart), UNIT_TEST(all_of_the_server_is_for_options))
