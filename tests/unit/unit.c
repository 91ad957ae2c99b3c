/* Runs the tests of one program through CUnit's framework and reports them in its own words. Where
 * MECHD_TESTS_NUMBERS names a file, each comparison of numbers is appended to it as a line of JSON,
 * from which tests/verify/book.py prints the verification book. */
#define _GNU_SOURCE /* clone */
#include "tests/unit/unit.h"

#include <CUnit/TestDB.h>
#include <CUnit/TestRun.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* asserts counted before the test that runs now */
static unsigned asserts_before;
static unsigned passed;
static unsigned failed;

/* which cases of the test that runs do so, and whether it has asked */
static struct {
    long first, each; /* 0: all */
    bool asked;
} cases;

/* the words of the command line */
static char **words;
static int word_count;

/* where comparisons are noted; NULL: nowhere */
static FILE *numbers;

/* what is compared, and where; `order`: how an observed order is compared, "" for other numbers */
struct place {
    const char *text, *order, *file;
    int line;
};

/* One line of JSON for a comparison. What is not finite has no number there. */
static void note(double actual, double expected, double tolerance, const struct place *at)
{
    const CU_pTest test = numbers != NULL ? CU_get_current_test() : NULL;
    if (test == NULL || !isfinite(actual) || !isfinite(expected) || !isfinite(tolerance)) {
        return;
    }
    const char *const slash = strrchr(at->file, '/');
    (void)fprintf(numbers,
                  "{\"file\":\"%s\",\"line\":%d,\"test\":\"%s\",\"order\":\"%s\",\"found\":%.17g,"
                  "\"expected\":%.17g,\"bar\":%.17g,\"text\":\"",
                  slash != NULL ? slash + 1 : at->file, at->line, test->pName, at->order, actual,
                  expected, tolerance);
    for (const char *c = at->text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            (void)fputc('\\', numbers);
        }
        (void)fputc(*c, numbers);
    }
    (void)fputs("\"}\n", numbers);
}

enum { STACK = 1 << 20 };

struct task {
    int (*run)(void *context);
    void *context;
};

static int run_task(void *context)
{
    const struct task *const t = context;
    _exit(t->run(t->context));
}

int unit_status_of(int (*run)(void *context), void *context)
{
    struct task t = {run, context};
    char *const stack = malloc(STACK);
    int status = -1;
    pid_t child = -1;
    if (UNIT_SANITIZED) {
        child = fork();
        if (child == 0) {
            (void)run_task(&t);
        }
    } else if (stack != NULL) {
        // this thread stands still until the child has ended: both are the same thread to the
        // C library
        child = clone(run_task, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, &t);
    }
    if (child > 0 && waitpid(child, &status, 0) != child) {
        status = -1;
    }
    free(stack);
    return status;
}

static bool near(double actual, double expected, double tolerance, const struct place *at)
{
    // equal infinities are near each other; a NaN fails both comparisons
    const bool is_near = actual == expected || fabs(actual - expected) <= tolerance;
    note(actual, expected, tolerance, at);
    char message[400];
    (void)snprintf(message, sizeof(message),
                   "%s%s is %.17g, expected %.17g within %.3g (off by %.3g)",
                   at->order[0] != '\0' ? "order of " : "", at->text, actual, expected, tolerance,
                   fabs(actual - expected));
    CU_assertImplementation(is_near, (unsigned)at->line, message, at->file, "", CU_FALSE);
    return is_near;
}

bool unit_near(double actual, double expected, double tolerance, const char *text, int line,
               const char *file)
{
    return near(actual, expected, tolerance, &(struct place){text, "", file, line});
}

bool unit_order(const char *of, double observed, double expected, double tolerance, int line,
                const char *file)
{
    return near(observed, expected, tolerance, &(struct place){of, "near", file, line});
}

bool unit_order_from(const char *of, double observed, double least, int line, const char *file)
{
    const bool passes = observed >= least;
    note(observed, least, 0., &(struct place){of, "from", file, line});
    char message[400];
    (void)snprintf(message, sizeof(message), "order of %s is %.3f, at least %.3f", of, observed,
                   least);
    CU_assertImplementation(passes, (unsigned)line, message, file, "", CU_FALSE);
    return passes;
}

/* What a word of the command line says of a test: '=' names it, or with *number its first cases,
 * '/' each *number-th of them, '-' leaves it out. 0: nothing. */
static char about(const char *word, const char *name, long *number)
{
    const bool leaves = word[0] == '-';
    const size_t length = strlen(name);
    char *end;

    *number = 0;
    if (strncmp(word + leaves, name, length) != 0) {
        return 0;
    }
    const char *const behind = word + leaves + length;
    if (*behind == '\0') {
        return leaves ? '-' : '=';
    }
    if (leaves) {
        return 0;
    }
    *number = strtol(behind + 1, &end, 10);
    return (*behind == '=' || *behind == '/') && *end == '\0' && *number > 0 ? *behind : 0;
}

bool unit_case(int k)
{
    cases.asked = true;
    return (cases.first == 0 || k < cases.first) && (cases.each == 0 || k % cases.each == 0);
}

static void before_test(const CU_pTest test, const CU_pSuite suite)
{
    (void)suite;
    asserts_before = CU_get_number_of_asserts();
    memset(&cases, 0, sizeof(cases));
    for (int i = 0; i < word_count; i++) {
        long number;
        const char what = about(words[i], test->pName, &number);

        cases.first = what == '=' && number > 0 ? number : cases.first;
        cases.each = what == '/' ? number : cases.each;
    }
}

static void after_test(const CU_pTest test, const CU_pSuite suite,
                       const CU_pFailureRecord first_failure)
{
    (void)suite;
    const bool checked = CU_get_number_of_asserts() > asserts_before;
    const bool chosen = cases.asked || (cases.first == 0 && cases.each == 0);
    if (first_failure == NULL && checked && chosen) {
        passed++;
        return;
    }

    // each failed check on its own line, as compilers write
    failed++;
    printf("FAILED %s\n", test->pName);
    if (!checked) {
        printf("    the test checks nothing\n");
    }
    if (!chosen) {
        printf("    the test has no cases of which some could be chosen\n");
    }
    for (const CU_FailureRecord *f = first_failure; f != NULL; f = f->pNext) {
        printf("    %s:%u: %s\n", f->strFileName, f->uiLineNumber, f->strCondition);
    }
}

/* By the words of the command line: all where none of them names a test. */
static bool is_wanted(const char *name, bool all)
{
    bool wanted = all;
    for (int i = 0; i < word_count; i++) {
        long number;
        const char what = about(words[i], name, &number);

        wanted = what == '-' ? false : wanted || (what == '=' && number == 0);
    }
    return wanted;
}

/* Each word is about a test; whether one names a test in *named. */
static bool words_are_known(const struct unit_test *tests, size_t count, bool *named)
{
    bool known = true;
    *named = false;
    for (int i = 0; i < word_count; i++) {
        char what = 0;
        long number = 0;
        for (size_t k = 0; k < count && what == 0; k++) {
            what = about(words[i], tests[k].name, &number);
        }
        *named = *named || (what == '=' && number == 0);
        if (what == 0) {
            printf("FAILED %s\n    there is no such test\n", words[i]);
            known = false;
        }
    }
    return known;
}

int unit_main(const struct unit_test *tests, size_t count, int argc, char **argv)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 2;
    }
    bool named;
    words = argv + 1;
    word_count = argc - 1;
    if (!words_are_known(tests, count, &named)) {
        failed++;
        count = 0;
    }
    CU_pSuite suite = CU_add_suite("tests", NULL, NULL);
    for (size_t i = 0; suite != NULL && i < count; i++) {
        if (is_wanted(tests[i].name, !named) &&
            CU_add_test(suite, tests[i].name, tests[i].run) == NULL) {
            printf("FAILED %s\n    %s\n", tests[i].name, CU_get_error_msg());
            failed++;
        }
    }
    const char *const path = getenv("MECHD_TESTS_NUMBERS");
    numbers = path != NULL ? fopen(path, "a") : NULL;
    if (path != NULL && numbers == NULL) {
        printf("FAILED %s: %s\n", path, strerror(errno));
        failed++;
    }
    CU_set_test_start_handler(before_test);
    CU_set_test_complete_handler(after_test);
    (void)CU_run_all_tests();
    CU_cleanup_registry();
    if (numbers != NULL && fclose(numbers) != 0) {
        printf("FAILED %s: %s\n", path, strerror(errno));
        failed++;
    }
    if (passed + failed == 0) {
        printf("FAILED no test was run\n");
        failed++;
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
