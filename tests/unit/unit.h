/* One test program: its tests are functions named by sentences, listed at the end of the file.
 *
 *     #include "tests/unit/unit.h"
 *     static void spring_energy_is_half_k_x2(void)
 *     {
 *         CHECK_NEAR(energy(4000, 0.1), 20, 1e-12);
 *     }
 *     UNIT_TESTS(UNIT_TEST(spring_energy_is_half_k_x2))
 *
 * The checks are CUnit's (CU_ASSERT…), CHECK_NEAR and CHECK_ORDER. The program runs its tests in
 * order, or those whose names stand on its command line, prints one line for each failed check and
 * ends with the line "N passed, N failed". It exits 0 if all passed; a test without a single check
 * fails, and so does a program without tests. Data files of the tests lie under MECH_TESTS_FOLDER.
 *
 * The command line may also shorten tests: "-TEST" leaves one out, of the cases of "TEST=4" the
 * first 4 run, of those of "TEST/4" each fourth from the first on. tests/sanitized.def says with
 * which the gate runs programs under sanitizers.
 */
#pragma once

#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stddef.h>

/* 1 if this program is built for a sanitizer of addresses or threads */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNIT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNIT_SANITIZED 1
#endif
#endif
#ifndef UNIT_SANITIZED
#define UNIT_SANITIZED 0
#endif

struct unit_test {
    const char *name;
    void (*run)(void);
};

/* runs the tests; returns the exit code of the program */
int unit_main(const struct unit_test *tests, size_t count, int argc, char **argv);

/* False if the command line leaves out case k of this test; k counts from 0. */
bool unit_case(int k);

/* The wait status of a child process that calls run(context) and ends with what that returns. It
 * has this process's memory, and with it its counters of coverage, whatever it may do no longer;
 * this thread waits for it. Under sanitizers it has a copy, as by fork(2). -1: there is none. */
int unit_status_of(int (*run)(void *context), void *context);

/* true if |actual - expected| <= tolerance; otherwise reports both with 17 digits. NaN never
 * passes. */
bool unit_near(double actual, double expected, double tolerance, const char *text, int line,
               const char *file);

#define CHECK_NEAR(actual, expected, tolerance)                                                    \
    ((void)unit_near((actual), (expected), (tolerance), #actual, __LINE__, __FILE__))

/* an observed order of convergence, and what is of this order in a few words; the second passes
 * from `least` on */
bool unit_order(const char *of, double observed, double expected, double tolerance, int line,
                const char *file);
bool unit_order_from(const char *of, double observed, double least, int line, const char *file);

#define CHECK_ORDER(of, observed, expected, tolerance)                                             \
    ((void)unit_order((of), (observed), (expected), (tolerance), __LINE__, __FILE__))
#define CHECK_ORDER_FROM(of, observed, least)                                                      \
    ((void)unit_order_from((of), (observed), (least), __LINE__, __FILE__))

// clang-format off
#define UNIT_TEST(function) {#function, (function)}
// clang-format on

#define UNIT_TESTS(...)                                                                            \
    static const struct unit_test unit_tests[] = {__VA_ARGS__};                                    \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return unit_main(unit_tests, sizeof(unit_tests) / sizeof(unit_tests[0]), argc, argv);      \
    }
