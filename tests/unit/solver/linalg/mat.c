/* Matrices: choice of the form, conversions, sums, and products against plain loops. */
#include "solver/linalg/mat.h"

#include "solver/base/err.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 700 };

/* A small generator of our own, so that every run tests the same (xorshift64, Marsaglia 2003). */
static uint64_t state = 88172645463325252u;
static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-52 - 1.;
}

/* Random triplets with places by a rule; returns how many. */
enum rule { EMPTY, DIAGONAL, TRIDIAGONAL, PENTADIAGONAL, SKEW_BAND, FULL, SPARSE };
static size_t make(enum rule rule, bool symmetric, int32_t n, int32_t m, struct mech_triplet *t)
{
    size_t count = 0;
    for (int32_t j = 0; j < m; j++) {
        for (int32_t i = 0; i < n; i++) {
            const int32_t d = j - i;
            const bool in = rule == DIAGONAL        ? d == 0
                            : rule == TRIDIAGONAL   ? abs(d) <= 1
                            : rule == PENTADIAGONAL ? abs(d) <= 2
                            : rule == SKEW_BAND     ? d >= -1 && d <= 3
                            : rule == FULL          ? true
                            : rule == SPARSE        ? (i * 7 + j * 7 + i * j) % 23 == 0
                                                    : false;
            if (in && (!symmetric || i >= j)) {
                const double x = uniform();
                t[count++] = (struct mech_triplet){.row = i, .col = j, .value = x};
                if (symmetric && i > j) {
                    t[count++] = (struct mech_triplet){.row = j, .col = i, .value = x};
                }
            }
        }
    }
    return count;
}

struct sample {
    struct mech_arena arena;
    struct mech_mat a;
    double *plain; /* [rows · cols] by columns */
};

static struct sample sample(enum rule rule, bool symmetric, int32_t n, int32_t m)
{
    struct sample s = {.plain = calloc((size_t)n * (size_t)m + 1, sizeof(double))};
    mech_arena_init(&s.arena, 0);
    struct mech_triplet *const t = calloc((size_t)n * (size_t)m + 1, sizeof *t);
    const size_t count = make(rule, symmetric, n, m, t);
    for (size_t k = 0; k < count; k++) {
        s.plain[(size_t)t[k].col * (size_t)n + (size_t)t[k].row] = t[k].value;
    }
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(&s.arena, n, m, t, count, &s.a), 0);
    free(t);
    return s;
}

static void drop(struct sample *s)
{
    mech_arena_fini(&s->arena);
    free(s->plain);
}

static void the_leanest_form_is_chosen(void)
{
    static const struct {
        enum rule rule;
        bool symmetric;
        int32_t n, m;
        enum mech_mat_kind kind;
    } cases[] = {
        {EMPTY, false, 5, 5, MECH_MAT_ZERO},       {DIAGONAL, false, 1, 1, MECH_MAT_DIAG},
        {DIAGONAL, false, 50, 50, MECH_MAT_DIAG},  {FULL, false, 8, 8, MECH_MAT_DENSE},
        {TRIDIAGONAL, true, 8, 8, MECH_MAT_DENSE}, {TRIDIAGONAL, true, 9, 9, MECH_MAT_BAND},
        {SKEW_BAND, false, 40, 40, MECH_MAT_BAND}, {FULL, true, 100, 100, MECH_MAT_DENSE},
        {SPARSE, true, 60, 60, MECH_MAT_CSC},      {DIAGONAL, false, 3, 60, MECH_MAT_CSC},
        {FULL, false, 3, 60, MECH_MAT_DENSE},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct sample s = sample(cases[k].rule, cases[k].symmetric, cases[k].n, cases[k].m);
        CU_ASSERT_EQUAL(s.a.kind, cases[k].kind);
        CU_ASSERT_EQUAL(s.a.symmetric, cases[k].symmetric ||
                                           (cases[k].n == cases[k].m &&
                                            (cases[k].rule == EMPTY || cases[k].rule == DIAGONAL)));
        drop(&s);
    }
}

static void one_bit_off_is_not_symmetric(void)
{
    static const enum rule rules[] = {TRIDIAGONAL, FULL, SPARSE};
    for (size_t k = 0; k < 3; k++) {
        struct sample s = sample(rules[k], true, 60, 60);
        struct mech_triplet *t = NULL;
        size_t count = 0;
        CU_ASSERT_EQUAL_FATAL(mech_mat_triplets(&s.arena, &s.a, &t, &count), 0);
        struct mech_mat b;
        CU_ASSERT_EQUAL(mech_mat_from_triplets(&s.arena, 60, 60, t, count, &b), 0);
        CU_ASSERT(b.symmetric);
        // the last entry off the diagonal
        size_t last = count - 1;
        while (t[last].row == t[last].col) {
            last--;
        }
        t[last].value = nextafter(t[last].value, 10.);
        CU_ASSERT_EQUAL(mech_mat_from_triplets(&s.arena, 60, 60, t, count, &b), 0);
        CU_ASSERT(!b.symmetric);
        drop(&s);
    }
}

static void duplicates_are_added_in_their_order(void)
{
    struct mech_arena arena;
    mech_arena_init(&arena, 0);
    // (1e16 + 1) − 1e16 = 0 but (1e16 − 1e16) + 1 = 1
    struct mech_triplet t[] = {{1, 0, 1e16}, {0, 0, 2.}, {1, 0, -1e16}, {1, 0, 1.}, {0, 1, 3.}};
    struct mech_mat a;
    CU_ASSERT_EQUAL(mech_mat_from_triplets(&arena, 2, 2, t, 5, &a), 0);
    CHECK_NEAR(mech_mat_get(&a, 1, 0), 1., 0);
    struct mech_triplet u[] = {{1, 0, 1e16}, {1, 0, 1.}, {0, 0, 2.}, {1, 0, -1e16}, {0, 1, 3.}};
    CU_ASSERT_EQUAL(mech_mat_from_triplets(&arena, 2, 2, u, 5, &a), 0);
    CHECK_NEAR(mech_mat_get(&a, 1, 0), 0., 0);
    mech_arena_fini(&arena);
}

static const struct {
    enum rule rule;
    bool symmetric;
    int32_t n, m;
} shapes[] = {
    {EMPTY, false, 4, 6},
    {DIAGONAL, false, 1, 1},
    {DIAGONAL, false, 300, 300},
    {TRIDIAGONAL, true, 300, 300},
    {TRIDIAGONAL, false, 259, 259},
    {PENTADIAGONAL, true, 600, 600},
    {SKEW_BAND, false, 258, 258},
    {FULL, true, 2, 2},
    {FULL, false, 5, 3},
    {FULL, false, 8, 8},
    {FULL, true, 100, 100},
    {FULL, false, 90, 110},
    {SPARSE, true, 150, 150},
    {SPARSE, false, 150, 90},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Bound of |error| of s Σ + c y with sums of at most 700 terms below 1 in size, and |s|, |c| <= 3.
 * */
static const double bound = 3. * MOST * DBL_EPSILON * MOST;

static void products_agree_with_plain_loops(void)
{
    static const double factors[][2] = {{1., 0.}, {-2.5, 0.}, {1., 1.}, {3., -0.5}};
    for (size_t k = 0; k < SHAPES; k++) {
        struct sample s = sample(shapes[k].rule, shapes[k].symmetric, shapes[k].n, shapes[k].m);
        const size_t n = (size_t)shapes[k].n;
        const size_t m = (size_t)shapes[k].m;
        // what lies before and behind x must not be read
        double guarded[MOST + 16], y[MOST], start[MOST];
        double *const x = guarded + 8;
        for (size_t f = 0; f < 8; f++) {
            const bool transposed = f >= 4;
            const double a = factors[f % 4][0];
            const double c = factors[f % 4][1];
            for (size_t i = 0; i < MOST + 16; i++) {
                guarded[i] = NAN;
            }
            for (size_t i = 0; i < (transposed ? n : m); i++) {
                x[i] = uniform();
            }
            for (size_t i = 0; i < MOST; i++) {
                // with c = 0 the old y must not be read
                start[i] = c == 0. ? NAN : uniform();
            }
            memcpy(y, start, sizeof y);
            (transposed ? mech_mat_mul_transposed : mech_mat_mul)(&s.a, a, x, c, y);
            const size_t outs = transposed ? m : n;
            const size_t ins = transposed ? n : m;
            size_t wrong = 0;
            for (size_t i = 0; i < outs; i++) {
                double sum = 0.;
                for (size_t j = 0; j < ins; j++) {
                    sum += s.plain[transposed ? i * n + j : j * n + i] * x[j];
                }
                const double expected = a * sum + (c == 0. ? 0. : c * start[i]);
                // written so that NaN is wrong
                wrong += !(fabs(y[i] - expected) <= bound);
            }
            CU_ASSERT_EQUAL(wrong, 0);
            // nothing is written behind the end
            CU_ASSERT(memcmp(y + outs, start + outs, (MOST - outs) * sizeof *y) == 0);
        }
        drop(&s);
    }
}

static void every_place_can_be_read_and_walked(void)
{
    for (size_t k = 0; k < SHAPES; k++) {
        struct sample s = sample(shapes[k].rule, shapes[k].symmetric, shapes[k].n, shapes[k].m);
        size_t differ = 0, entries = 0;
        for (int32_t j = 0; j < shapes[k].m; j++) {
            for (int32_t i = 0; i < shapes[k].n; i++) {
                const double x = s.plain[(size_t)j * (size_t)shapes[k].n + (size_t)i];
                differ += mech_mat_get(&s.a, i, j) != x;
                entries += x != 0.;
            }
        }
        CU_ASSERT_EQUAL(differ, 0);
        struct mech_triplet *t = NULL;
        size_t count = 0;
        CU_ASSERT_EQUAL_FATAL(mech_mat_triplets(&s.arena, &s.a, &t, &count), 0);
        CU_ASSERT_EQUAL(count, entries);
        for (size_t e = 0; e < count; e++) {
            differ += t[e].value != mech_mat_get(&s.a, t[e].row, t[e].col);
            differ += e > 0 && (t[e].col < t[e - 1].col ||
                                (t[e].col == t[e - 1].col && t[e].row <= t[e - 1].row));
        }
        CU_ASSERT_EQUAL(differ, 0);
        drop(&s);
    }
}

/* Number of places where out differs from the sum of s[k] a[k]. */
static size_t wrong_places(size_t count, const double *s, const struct mech_mat *const *a,
                           const struct mech_mat *out)
{
    size_t wrong = 0;
    for (int32_t j = 0; j < out->cols; j++) {
        for (int32_t i = 0; i < out->rows; i++) {
            double sum = 0.;
            for (size_t k = 0; k < count; k++) {
                sum += s[k] * mech_mat_get(a[k], i, j);
            }
            wrong += mech_mat_get(out, i, j) != sum;
        }
    }
    return wrong;
}

static void sums_hold_every_pair_of_forms(void)
{
    static const enum rule rules[] = {EMPTY,     DIAGONAL, TRIDIAGONAL, PENTADIAGONAL,
                                      SKEW_BAND, FULL,     SPARSE};
    enum { N = 60 };
    for (size_t p = 0; p < 7; p++) {
        for (size_t q = 0; q < 7; q++) {
            struct sample x = sample(rules[p], rules[p] != SKEW_BAND, N, N);
            struct sample y = sample(rules[q], rules[q] != SKEW_BAND, N, N);
            const struct mech_mat *const a[] = {&x.a, &y.a};
            const double s[] = {2., -0.75};
            const double again[] = {-1., 0.};
            struct mech_mat out;
            CU_ASSERT_EQUAL(mech_mat_sum(&x.arena, 2, s, a, &out), 0);
            CU_ASSERT_EQUAL(wrong_places(2, s, a, &out), 0);
            CU_ASSERT_EQUAL(out.symmetric, rules[p] != SKEW_BAND && rules[q] != SKEW_BAND);
            CU_ASSERT(out.kind <= (x.a.kind > y.a.kind ? x.a.kind : y.a.kind));
            alloc_count_start();
            mech_mat_sum_again(2, again, a, &out);
            CU_ASSERT_EQUAL(alloc_count_stop(), 0);
            CU_ASSERT_EQUAL(wrong_places(2, again, a, &out), 0);
            drop(&x);
            drop(&y);
        }
    }
}

static void conversions_keep_every_value(void)
{
    for (size_t k = 0; k < SHAPES; k++) {
        struct sample s = sample(shapes[k].rule, shapes[k].symmetric, shapes[k].n, shapes[k].m);
        const struct mech_mat *const a[] = {&s.a};
        const double one = 1.;
        for (int kind = MECH_MAT_ZERO; kind <= MECH_MAT_CSC; kind++) {
            struct mech_mat out;
            const int code = mech_mat_convert(&s.arena, &s.a, (enum mech_mat_kind)kind, &out);
            const bool square = shapes[k].n == shapes[k].m;
            const bool holds = kind == MECH_MAT_DENSE || kind == MECH_MAT_CSC ||
                               (kind == MECH_MAT_BAND && square) ||
                               (kind == MECH_MAT_DIAG && square && shapes[k].rule <= DIAGONAL) ||
                               (kind == MECH_MAT_ZERO && shapes[k].rule == EMPTY);
            CU_ASSERT_EQUAL(code, holds ? 0 : MECH_UNSUPPORTED);
            if (code == 0) {
                CU_ASSERT_EQUAL((int)out.kind, kind);
                CU_ASSERT_EQUAL(wrong_places(1, &one, a, &out), 0);
            }
        }
        struct mech_arena other;
        mech_arena_init(&other, 0);
        struct mech_mat copy;
        CU_ASSERT_EQUAL(mech_mat_copy(&other, &s.a, &copy), 0);
        CU_ASSERT_EQUAL(copy.kind, s.a.kind);
        CU_ASSERT_EQUAL(wrong_places(1, &one, a, &copy), 0);
        mech_arena_fini(&other);
        drop(&s);
    }
}

static void a_value_that_is_not_finite_is_found_at_any_place(void)
{
    static const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL};
    for (size_t k = 1; k < SHAPES; k++) {
        struct sample s = sample(shapes[k].rule, shapes[k].symmetric, shapes[k].n, shapes[k].m);
        CU_ASSERT(mech_mat_is_finite(&s.a));
        const size_t stored = mech_mat_stored(&s.a);
        for (size_t p = 0; p < stored; p += stored / 13 + 1) {
            const double good = s.a.values[p];
            for (size_t b = 0; b < 3; b++) {
                s.a.values[p] = bad[b];
                CU_ASSERT(!mech_mat_is_finite(&s.a));
            }
            s.a.values[p] = good;
        }
        s.a.values[stored - 1] = NAN;
        CU_ASSERT(!mech_mat_is_finite(&s.a));
        s.a.values[stored - 1] = DBL_MAX;
        s.a.values[0] = DBL_MAX;
        CU_ASSERT(mech_mat_is_finite(&s.a));
        drop(&s);
    }
}

static void without_memory_the_building_says_so(void)
{
    for (size_t limit = 0; limit < 8; limit++) {
        struct mech_arena arena;
        mech_arena_init(&arena, 4096 + limit * 1024);
        struct mech_triplet t[200];
        for (int32_t k = 0; k < 200; k++) {
            t[k] = (struct mech_triplet){.row = k % 2 * k, .col = k, .value = 1.};
        }
        struct mech_mat a;
        // sorting alone takes 200 · 16 + 202 · 8 bytes
        CU_ASSERT_EQUAL(mech_mat_from_triplets(&arena, 200, 200, t, 200, &a),
                        limit < 2 ? MECH_NO_MEMORY : 0);
        mech_arena_fini(&arena);
    }
}

UNIT_TESTS(UNIT_TEST(the_leanest_form_is_chosen), UNIT_TEST(one_bit_off_is_not_symmetric),
           UNIT_TEST(duplicates_are_added_in_their_order),
           UNIT_TEST(products_agree_with_plain_loops),
           UNIT_TEST(every_place_can_be_read_and_walked), UNIT_TEST(sums_hold_every_pair_of_forms),
           UNIT_TEST(conversions_keep_every_value),
           UNIT_TEST(a_value_that_is_not_finite_is_found_at_any_place),
           UNIT_TEST(without_memory_the_building_says_so))
