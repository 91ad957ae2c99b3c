/* Options from flags, environment and file: which one wins, and what is refused. */
#include "server/daemon/configuration.h"
#include "server/instance/durable.h"
#include "server/os/config.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char fault[512];

static int read_config(struct mechd_config *c, const char *a, const char *b, const char *third)
{
    char words[4][128];
    char *argv[5] = {NULL};
    const char *given[4] = {"mechd", a, b, third};
    int argc = 0;
    for (int k = 0; k < 4 && given[k] != NULL; k++) {
        snprintf(words[argc], sizeof words[0], "%s", given[k]);
        argv[argc] = words[argc];
        argc++;
    }
    fault[0] = '\0';
    return mechd_config_read(c, argc, argv, fault, sizeof fault);
}

static void nothing_given_listens_on_loopback(void)
{
    struct mechd_config c;
    CU_ASSERT_EQUAL(read_config(&c, NULL, NULL, NULL), 0);
    CU_ASSERT_EQUAL(c.listen_count, 1);
    CU_ASSERT_STRING_EQUAL(c.listen[0], "127.0.0.1:8080");
    CU_ASSERT_STRING_EQUAL(c.control, "tcp://127.0.0.1:5555");
    CU_ASSERT(c.workers >= 1);
    CU_ASSERT_EQUAL(c.finish_ms + c.stuck_ms + c.settle_ms, 1900);
}

static void a_path_is_cut_at_no_hash_and_no_quoted_comma(void)
{
    char path[] = "/tmp/mechd-config-XXXXXX";
    const int file = mkstemp(path);
    static const char text[] = "ready-file = /tmp/a#b# # why\n# state = /x\n\t#\n"
                               "listen = \"unix:/tmp/a,b\",127.0.0.1:1\n";
    CU_ASSERT(write(file, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    close(file);
    struct mechd_config c;
    CU_ASSERT_EQUAL(read_config(&c, "--config", path, NULL), 0);
    CU_ASSERT_STRING_EQUAL(c.ready_file, "/tmp/a#b#");
    CU_ASSERT_EQUAL(c.listen_count, 2);
    CU_ASSERT_STRING_EQUAL(c.listen[0], "unix:/tmp/a,b");
    CU_ASSERT_EQUAL(read_config(&c, "--listen", "\"unix:/tmp/a", NULL), -1);
    unlink(path);
}

static void flags_win_over_environment_over_file(void)
{
    char path[] = "/tmp/mechd-config-XXXXXX";
    const int file = mkstemp(path);
    static const char text[] = "# a comment\nworkers = 3\nlog-level = error # why\nlisten = "
                               "127.0.0.1:1\nlisten = 127.0.0.1:2\nstream = none\n";
    CU_ASSERT(write(file, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    close(file);
    setenv("MECHD_LOG_LEVEL", "debug", 1);
    setenv("MECHD_WORKERS", "5", 1);
    struct mechd_config c;
    char flag[64];
    snprintf(flag, sizeof flag, "--config=%s", path);
    CU_ASSERT_EQUAL(read_config(&c, "--model-size=128", NULL, NULL), 0);
    CU_ASSERT_EQUAL(c.model_size, 128);
    CU_ASSERT_EQUAL(read_config(&c, flag, "--workers", "7"), 0);
    CU_ASSERT_EQUAL(c.model_size, 64);
    CU_ASSERT_EQUAL(c.workers, 7);
    CU_ASSERT_STRING_EQUAL(c.log_level, "debug");
    CU_ASSERT_STRING_EQUAL(c.stream, "none");
    CU_ASSERT_EQUAL(c.listen_count, 2);
    unsetenv("MECHD_LOG_LEVEL");
    unsetenv("MECHD_WORKERS");
    unlink(path);
}

static void addresses_that_others_reach_need_the_word_insecure(void)
{
    struct mechd_config c;
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--listen", "0.0.0.0:8080", NULL), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "--insecure"));
    CU_ASSERT_EQUAL(read_config(&c, "--listen=0.0.0.0:8080", "--insecure", NULL), 0);
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--control", "tcp://*:5555", NULL), 0);
    CU_ASSERT_EQUAL(read_config(&c, "--listen", "unix:/tmp/x", NULL), 0);
    CU_ASSERT_FALSE(mechd_address_is_local("128.0.0.1:80"));
    CU_ASSERT_FALSE(mechd_address_is_local("localhost.example:80"));
    CU_ASSERT_TRUE(mechd_address_is_local("[::1]:80"));
}

static void what_is_no_option_or_no_value_is_refused_with_its_name(void)
{
    struct mechd_config c;
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--nonsense", NULL, NULL), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "nonsense"));
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--workers", "many", NULL), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "many"));
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--workers=257", NULL, NULL), 0);
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--model-size=2001", NULL, NULL), 0);
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--log-level", "loud", NULL), 0);
    CU_ASSERT_EQUAL(read_config(&c, "--state", "/var/lib/mechd", NULL), 0);
    CU_ASSERT_STRING_EQUAL(c.durability, "none");
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--durability", "every-step", NULL), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "--state DIR"));
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--state=/var/lib/mechd", "--durability=always", NULL), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "every-step"));
    CU_ASSERT_EQUAL(read_config(&c, "--state=/var/lib/mechd", "--durability=checkpoint", NULL), 0);
    CU_ASSERT_EQUAL(mechd_durability_find(c.durability), 1);
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--config", "/nowhere/at/all", NULL), 0);
    CU_ASSERT_NOT_EQUAL(read_config(&c, "word", NULL, NULL), 0);
}

static void a_file_after_a_hyphen_may_be_missing(void)
{
    char path[] = "-/tmp/mechd-config-XXXXXX";
    const int file = mkstemp(path + 1);
    CU_ASSERT_FATAL(file >= 0);
    CU_ASSERT_EQUAL(dprintf(file, "workers = 3\n"), 12);
    struct mechd_config c;
    CU_ASSERT_EQUAL(read_config(&c, "--config", path, NULL), 0);
    CU_ASSERT_EQUAL(c.workers, 3);
    CU_ASSERT_EQUAL(dprintf(file, "work = 3\n"), 9);
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--config", path, NULL), 0);
    close(file);
    unlink(path + 1);
    CU_ASSERT_EQUAL(read_config(&c, "--config", path, NULL), 0);
    // only what is missing is no fault
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--config", "-/tmp", NULL), 0);
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--config", path + 1, NULL), 0);
    // no path is no missing file
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--config", "-", NULL), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "has no path"));
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--config=", NULL, NULL), 0);
}

static void defaults_of_the_environment_are_the_weakest(void)
{
    char path[] = "/tmp/mechd-config-XXXXXX";
    const int file = mkstemp(path);
    CU_ASSERT_FATAL(file >= 0);
    CU_ASSERT_EQUAL(dprintf(file, "workers = 3\nlisten = 127.0.0.1:1\n"), 33);
    setenv("MECHD_DEFAULT_WORKERS", "5", 1);
    setenv("MECHD_DEFAULT_LISTEN", "127.0.0.1:2,127.0.0.1:3", 1);
    setenv("MECHD_DEFAULT_LOG_LEVEL", "debug", 1);
    struct mechd_config c;
    CU_ASSERT_EQUAL(read_config(&c, "--config", path, NULL), 0);
    CU_ASSERT_EQUAL(c.workers, 3);
    CU_ASSERT_EQUAL(c.listen_count, 1);
    CU_ASSERT_STRING_EQUAL(c.listen[0], "127.0.0.1:1");
    CU_ASSERT_STRING_EQUAL(c.log_level, "debug");
    CU_ASSERT_EQUAL(read_config(&c, "--log-level=error", NULL, NULL), 0);
    CU_ASSERT_EQUAL(c.workers, 5);
    CU_ASSERT_EQUAL(c.listen_count, 2);
    CU_ASSERT_STRING_EQUAL(c.log_level, "error");
    setenv("MECHD_DEFAULT_WORKERS", "many", 1);
    CU_ASSERT_NOT_EQUAL(read_config(&c, NULL, NULL, NULL), 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault, "MECHD_DEFAULT_WORKERS cannot be 'many'"));
    CU_ASSERT_EQUAL(read_config(&c, "--workers=2", NULL, NULL), 0);
    unsetenv("MECHD_DEFAULT_WORKERS");
    unsetenv("MECHD_DEFAULT_LISTEN");
    unsetenv("MECHD_DEFAULT_LOG_LEVEL");
    close(file);
    unlink(path);
}

static void settings_can_be_asked_of_what_cannot_start(void)
{
    struct mechd_config c;
    CU_ASSERT_EQUAL(read_config(&c, "--listen=0.0.0.0:1", "--print=settings", NULL), 0);
    CU_ASSERT_STRING_EQUAL(c.listen[0], "0.0.0.0:1");
    CU_ASSERT_EQUAL(c.action, MECHD_PRINT);
    CU_ASSERT_NOT_EQUAL(read_config(&c, "--print=settings", "--config=/nowhere", NULL), 0);
}

UNIT_TESTS(UNIT_TEST(nothing_given_listens_on_loopback),
           UNIT_TEST(a_path_is_cut_at_no_hash_and_no_quoted_comma),
           UNIT_TEST(flags_win_over_environment_over_file),
           UNIT_TEST(a_file_after_a_hyphen_may_be_missing),
           UNIT_TEST(defaults_of_the_environment_are_the_weakest),
           UNIT_TEST(settings_can_be_asked_of_what_cannot_start),
           UNIT_TEST(addresses_that_others_reach_need_the_word_insecure),
           UNIT_TEST(what_is_no_option_or_no_value_is_refused_with_its_name))
