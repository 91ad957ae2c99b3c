/* Factors in panels: those of LAPACK, for every caller; they can be interrupted at every query. */
#include "solver/linalg/panels.h"

#include "solver/base/err.h"
#include "tests/unit/unit.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL = 64 };

enum kind { LU, CHOLESKY, LDLT, KINDS };

struct question {
    int asked, from; /* times; wanted from this one on, 0: never */
};

static bool wanted(void *context)
{
    struct question *const q = context;
    q->asked++;
    return q->from > 0 && q->asked >= q->from;
}

struct matrix {
    int32_t n;
    double *a, *out, *x, *work;
    int32_t *pivot, *expected;
};

/* A fixed matrix of this kind; x = A (1, 1, …). */
static struct matrix make(enum kind kind, int32_t n)
{
    const size_t size = (size_t)n * (size_t)n;
    struct matrix m = {.n = n,
                       .a = calloc(size, sizeof(double)),
                       .out = calloc(size, sizeof(double)),
                       .x = calloc((size_t)n, sizeof(double)),
                       .work = calloc((size_t)n * PANEL, sizeof(double)),
                       .pivot = calloc((size_t)n, sizeof(int32_t)),
                       .expected = calloc((size_t)n, sizeof(int32_t))};
    CU_ASSERT_FATAL(m.a && m.out && m.x && m.work && m.pivot && m.expected);
    uint64_t seed = 7;
    for (int32_t j = 0; j < n; j++) {
        for (int32_t i = kind == LU ? 0 : j; i < n; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const double value = (double)(seed >> 11) * 0x1p-53 - 0.5;
            const double more = i == j && kind == CHOLESKY ? n : 0.;
            m.a[(size_t)j * (size_t)n + (size_t)i] = value + more;
            if (kind != LU) {
                m.a[(size_t)i * (size_t)n + (size_t)j] = value + more;
            }
        }
    }
    for (size_t k = 0; k < size; k++) {
        m.x[k % (size_t)n] += m.a[k];
    }
    return m;
}

static void drop(struct matrix *m)
{
    free(m->a);
    free(m->out);
    free(m->x);
    free(m->work);
    free(m->pivot);
    free(m->expected);
}

static int factor(enum kind kind, struct matrix *m, struct mech_interrupt *interrupt)
{
    memcpy(m->out, m->a, (size_t)m->n * (size_t)m->n * sizeof *m->a);
    return kind == LU         ? mech_panels_lu(m->n, m->out, m->pivot, interrupt)
           : kind == CHOLESKY ? mech_panels_cholesky(m->n, m->out, interrupt)
                              : mech_panels_ldlt(m->n, m->out, PANEL, m->pivot, m->work, interrupt);
}

/* What LAPACK's solver makes of the factors is the solution. */
static void check_solution(enum kind kind, struct matrix *m)
{
    double worst = 0.;
    if (kind == LU) {
        LAPACKE_dgetrs(LAPACK_COL_MAJOR, 'N', m->n, 1, m->out, m->n, m->pivot, m->x, m->n);
    } else if (kind == CHOLESKY) {
        LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', m->n, 1, m->out, m->n, m->x, m->n);
    } else {
        LAPACKE_dsytrs(LAPACK_COL_MAJOR, 'L', m->n, 1, m->out, m->n, m->pivot, m->x, m->n);
    }
    for (int32_t i = 0; i < m->n; i++) {
        worst = fmax(worst, fabs(m->x[i] - 1.));
    }
    CU_ASSERT(worst < 1e-8);
}

static void factors_are_those_of_lapack(void)
{
    static const int32_t orders[] = {9, MECH_PANELS_LEAST - 1, MECH_PANELS_LEAST, 777, 1100};
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
            struct matrix m = make((enum kind)kind, orders[k]);
            const size_t n = (size_t)m.n;
            CU_ASSERT_EQUAL(factor((enum kind)kind, &m, NULL), 0);
            if (kind == LU) {
                LAPACKE_dgetrf(LAPACK_COL_MAJOR, m.n, m.n, m.a, m.n, m.expected);
            } else if (kind == LDLT) {
                LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, 'L', m.n, m.a, m.n, m.expected, m.work,
                                    m.n * PANEL);
                CU_ASSERT_EQUAL(memcmp(m.a, m.out, n * n * sizeof *m.a), 0);
            }
            CU_ASSERT_EQUAL(memcmp(m.pivot, m.expected, n * sizeof *m.pivot), 0);
            check_solution((enum kind)kind, &m);
            drop(&m);
        }
    }
}

static void all_of_them_end_at_an_interrupt(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct matrix m = make((enum kind)kind, 1100), same = make((enum kind)kind, 1100);
        struct question q = {.from = 0};
        struct mech_interrupt interrupt = {.wanted = wanted, .context = &q};
        CU_ASSERT_EQUAL(factor((enum kind)kind, &same, NULL), 0);
        CU_ASSERT_EQUAL(factor((enum kind)kind, &m, &interrupt), 0);
        CU_ASSERT_EQUAL(memcmp(m.out, same.out, 1100 * 1100 * sizeof *m.out), 0);
        const int all = q.asked;
        CU_ASSERT(all >= 4);
        for (int from = 1; from <= all; from++) {
            q = (struct question){.from = from};
            interrupt.came = false;
            CU_ASSERT_EQUAL(factor((enum kind)kind, &m, &interrupt), MECH_CANCELLED);
            CU_ASSERT_EQUAL(q.asked, from);
        }
        drop(&m);
        drop(&same);
    }
}

static void what_is_not_definite_or_has_no_pivot_is_reported(void)
{
    struct matrix m = make(CHOLESKY, 700);
    m.a[650 * 700 + 650] = -1.;
    CU_ASSERT_EQUAL(factor(CHOLESKY, &m, NULL), MECH_SINGULAR);
    memset(m.a + (size_t)300 * 700, 0, 700 * sizeof *m.a);
    CU_ASSERT_EQUAL(factor(LU, &m, NULL), 0);
    CU_ASSERT_EQUAL(m.out[300 * 700 + 300], 0.);
    drop(&m);
}

UNIT_TESTS(UNIT_TEST(factors_are_those_of_lapack), UNIT_TEST(all_of_them_end_at_an_interrupt),
           UNIT_TEST(what_is_not_definite_or_has_no_pivot_is_reported))
