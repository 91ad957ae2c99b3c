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

static void before_test(const CU_pTest test, const CU_pSuite suite)
{
    (void)test;
    (void)suite;
    asserts_before = CU_get_number_of_asserts();
}

static void after_test(const CU_pTest test, const CU_pSuite suite,
                       const CU_pFailureRecord first_failure)
{
    (void)suite;
    const bool checked = CU_get_number_of_asserts() > asserts_before;
    if (first_failure == NULL && checked) {
        passed++;
        return;
    }

    // each failed check on its own line, as compilers write
    failed++;
    printf("FAILED %s\n", test->pName);
    if (!checked) {
        printf("    the test checks nothing\n");
    }
    for (const CU_FailureRecord *f = first_failure; f != NULL; f = f->pNext) {
        printf("    %s:%u: %s\n", f->strFileName, f->uiLineNumber, f->strCondition);
    }
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    if (argc < 2) {
        return true;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return true;
        }
    }
    return false;
}

int unit_main(const struct unit_test *tests, size_t count, int argc, char **argv)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 2;
    }
    CU_pSuite suite = CU_add_suite("tests", NULL, NULL);
    for (size_t i = 0; suite != NULL && i < count; i++) {
        if (is_wanted(tests[i].name, argc, argv) &&
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
