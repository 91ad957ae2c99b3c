/* Certificates by projected gradients; see certificate.h. With e(d) what Nᵀ d lacks of −K*,
 *
 *     f(d) = ½ ‖e(d)‖² + r·d
 *
 * falls without bound along a certificate and along nothing else, and what descends on it turns
 * that way: by accelerated projected gradients (Y. Nesterov), from the l that a solver has reached,
 * which has mostly gone far that way itself. From there ½ ‖e‖² alone leads to the d nearby that
 * lacks nothing. */
#include "solver/vi/certificate.h"

#include "solver/base/err.h"
#include "solver/lsol/lsol.h"
#include "solver/sys/acceptance.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 100, ROUNDS = 12, POWER_STEPS = 8, TRIES = 6, INVERSE_STEPS = 3, PART_MOST = 1500 };

/* entries of d without a contact to name */
static const double small = 1e-6;
/* flops of a search at most: seconds, where a solve may have had milliseconds; and between two
 * questions whether to go on, but within a factorization, which asks by itself (lsol/lsol.h) */
static const double work_most = 2e10, unasked_most = 1e6;
/* of the terms of Nᵀ d and r·d, what rounding leaves, and what cones that slide fast lose of r·d:
 * some ε */
static const double rounded = 16. * DBL_EPSILON;

struct search {
    const struct mech_problem *p;
    struct mech_acceptance *accept;
    double tolerance;
    struct mech_interrupt *interrupt;
    double work, unasked;                /* flops so far; since the last question */
    bool over;                           /* nothing more is to be done: interrupt, or work_most */
    double *x, *y, *last, *e, *gradient; /* [m] */
    double largest;                      /* of N, or of N Nᵀ */
    struct mech_lsol *factors;           /* of a part of N, NULL: none */
    int32_t *part, count;                /* [m]; [count] of the part */
};

/* Before so many flops; `ask`: whatever was asked before. True: none are to be spent. */
static bool is_over(struct search *s, double flops, bool ask)
{
    s->work += flops;
    s->unasked += flops;
    s->over = s->over || s->work > work_most;
    if (!s->over && (ask || s->unasked > unasked_most)) {
        s->unasked = 0.;
        s->over = mech_interrupted(s->interrupt);
    }
    return s->over;
}

static double flops_of_product(const struct search *s)
{
    return 2. * (double)mech_mat_stored(s->p->N);
}

/* An entry of Nᵀ d, and what rounding leaves of its terms into *rounds. */
static double entry_of(const struct mech_mat *N, int32_t j, const double *d, double *rounds)
{
    double sum = 0., terms = 0.;

    if (N->kind == MECH_MAT_DENSE) {
        const double *const column = N->values + (size_t)j * (size_t)N->rows;

        for (int32_t i = 0; i < N->rows; i++) {
            sum += column[i] * d[i];
            terms += fabs(column[i] * d[i]);
        }
    } else {
        for (int32_t k = N->colptr[j]; k < N->colptr[j + 1]; k++) {
            sum += N->values[k] * d[N->rowind[k]];
            terms += fabs(N->values[k] * d[N->rowind[k]]);
        }
    }
    *rounds = rounded * terms;
    return sum;
}

/* out = Nᵀ d */
static void product_transposed(const struct mech_problem *p, const double *d, double *out)
{
    double ignored;

    for (int32_t j = 0; j < p->m; j++) {
        out[j] = entry_of(p->N, j, d, &ignored);
    }
}

/* into K, without what a certificate may not hold */
static void project(const struct mech_problem *p, double *d)
{
    int32_t row = 0;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        const struct mech_set set = mech_problem_set(p, i);
        const bool tangents = p->friction == MECH_ASSOCIATED;

        if (set.kind == MECH_SET_BOX) {
            d[row] = 0.;
        } else if (set.kind >= MECH_SET_CONE && !tangents) {
            memset(d + row, 0, (size_t)set.rows * sizeof *d * (d[row] < 0.));
            memset(d + row + 1, 0, (size_t)(set.rows - 1) * sizeof *d);
        } else {
            mech_set_project(&set, d + row);
        }
        row += set.rows;
    }
}

/* u := what u lacks of −K*: its nearest point of K, by Moreau's decomposition. A box is bounded:
 * all of u. */
static void lack(const struct mech_problem *p, double *u)
{
    int32_t row = 0;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        const struct mech_set set = mech_problem_set(p, i);

        if (set.kind != MECH_SET_BOX) {
            mech_set_project(&set, u + row);
        }
        row += set.rows;
    }
}

/* s->e = e(d), s->gradient = N e + r. Returns r·d. */
static double evaluate(struct search *s, const double *d)
{
    double fall = 0.;

    product_transposed(s->p, d, s->e);
    lack(s->p, s->e);
    mech_problem_speed(s->p, s->e, s->gradient);
    for (int32_t i = 0; i < s->p->m; i++) {
        fall += s->p->r[i] * d[i];
    }
    return fall;
}

/* Whether d, as last evaluated with r·d = fall, is one. */
static bool proves(const struct search *s, const double *d, double fall)
{
    double made_up = 0.;
    int32_t row = 0;

    for (int32_t i = 0; i < mech_problem_sets(s->p); i++) {
        const struct mech_set set = mech_problem_set(s->p, i);
        double missing = 0., size = 0.;

        for (int32_t k = 0; k < set.rows; k++) {
            missing = hypot(missing, s->e[row + k]);
            size = hypot(size, d[row + k]);
            made_up += rounded * fabs(s->p->r[row + k] * d[row + k]); /* of r·d */
        }
        made_up += missing * mech_acceptance_most(s->accept, i, s->tolerance) +
                   size * s->tolerance * mech_acceptance_least(s->accept, i);
        row += set.rows;
    }
    return fall < 0. && made_up < -fall;
}

/* ‖N Nᵀ‖, of a symmetric N ‖N‖, by the power method */
static double largest_of(struct search *s)
{
    const int32_t m = s->p->m;
    double largest = 0.;

    for (int32_t i = 0; i < m; i++) {
        s->y[i] = 1. + 0.3 * (double)(i % 5) - (double)(i % 2);
    }
    for (int k = 0; k < POWER_STEPS && !is_over(s, flops_of_product(s), false); k++) {
        double before = 0., after = 0.;

        product_transposed(s->p, s->y, s->p->N->symmetric ? s->gradient : s->e);
        if (!s->p->N->symmetric) {
            mech_problem_product(s->p, s->e, s->gradient);
        }
        for (int32_t i = 0; i < m; i++) {
            before += s->y[i] * s->y[i];
            after += s->gradient[i] * s->gradient[i];
        }
        largest = before > 0. ? fmax(largest, sqrt(after / before)) : largest;
        for (int32_t i = 0; i < m && after > 0.; i++) {
            s->y[i] = s->gradient[i] / sqrt(after);
        }
    }
    return 1.2 * largest;
}

static void clean(struct search *s, double *d)
{
    double largest = 0.;

    for (int32_t i = 0; i < s->p->m; i++) {
        largest = fmax(largest, fabs(d[i]));
    }
    for (int32_t i = 0; i < s->p->m; i++) {
        d[i] = fabs(d[i]) > small * largest ? d[i] / largest : 0.;
    }
}

/* Whether d is one, perhaps without its smallest entries. */
static bool look(struct search *s, double *d)
{
    if (proves(s, d, evaluate(s, d))) {
        return true;
    }
    clean(s, d);
    return proves(s, d, evaluate(s, d));
}

/* s->gradient of f at d, of a symmetric N of ½ dᵀ N d + r·d, which has the same certificates and
 * half as many digits between fast and slow; without r·d when it does not push */
static void rise(struct search *s, const double *d, bool pushed)
{
    if (s->p->N->symmetric) {
        mech_problem_speed(s->p, d, s->gradient);
    } else {
        (void)evaluate(s, d);
    }
    for (int32_t i = 0; i < s->p->m; i++) {
        s->gradient[i] -= pushed ? 0. : s->p->r[i];
    }
}

/* `steps` on f from x, or without r·d, which brings e to 0 nearby; fewer when it is over. */
static void descend(struct search *s, double *x, double step, bool pushed, int steps)
{
    const int32_t m = s->p->m;
    double theta = 1.;

    memcpy(s->last, x, (size_t)m * sizeof *x);
    for (int k = 0; k < steps && !is_over(s, flops_of_product(s), false); k++) {
        const double next = 0.5 * (1. + sqrt(1. + 4. * theta * theta)), share = (theta - 1.) / next;
        double back = 0.;

        for (int32_t i = 0; i < m; i++) {
            s->y[i] = x[i] + share * (x[i] - s->last[i]);
        }
        rise(s, s->y, pushed);
        memcpy(s->last, x, (size_t)m * sizeof *x);
        for (int32_t i = 0; i < m; i++) {
            x[i] = s->y[i] - step * s->gradient[i];
        }
        project(s->p, x);
        for (int32_t i = 0; i < m; i++) {
            back += s->gradient[i] * (x[i] - s->last[i]);
        }
        theta = back > 0. ? 1. : next;
    }
}

/* Entries of d that are not 0: their rows and columns of N + shift, factored into s->factors. 0;
 * MECH_UNSUPPORTED: they are too many; MECH_SINGULAR; MECH_CANCELLED; MECH_NO_MEMORY. */
static int factor_part(struct search *s, const double *d, double shift)
{
    const size_t m = (size_t)s->p->m;
    size_t n = 0;

    for (size_t i = 0; i < m; i++) {
        if (d[i] != 0.) {
            s->part[n++] = (int32_t)i;
        }
    }
    s->count = (int32_t)n;
    mech_lsol_destroy(s->factors);
    s->factors = NULL;
    if (n == 0 || n > PART_MOST) {
        return n == 0 ? MECH_SINGULAR : MECH_UNSUPPORTED;
    }
    if (is_over(s, 2. / 3. * (double)n * (double)n * (double)n, true)) {
        return MECH_CANCELLED;
    }
    double *const values = malloc((n * n + 1) * sizeof *values);
    const struct mech_mat part = {
        .kind = MECH_MAT_DENSE, .rows = s->count, .cols = s->count, .values = values};

    if (!values) {
        return MECH_NO_MEMORY;
    }
    for (size_t j = 0; j < n; j++) {
        memset(s->e, 0, m * sizeof *s->e);
        mech_problem_add_column(s->p, s->part[j], 1., s->e);
        for (size_t i = 0; i < n; i++) {
            values[j * n + i] = s->e[s->part[i]] + (i == j ? shift : 0.);
        }
    }
    int code = mech_lsol_create("dense_lu", &part, &s->factors);

    if (code == 0) {
        mech_lsol_listen(s->factors, s->interrupt);
        code = mech_lsol_factor(s->factors, &part);
    }
    s->over = s->over || code == MECH_CANCELLED;
    free(values);
    return code;
}

/* d into what N does not reach, by inverse iterations on its own entries; those that would become
 * negative leave. False: there are too many, or no memory. */
static bool reach(struct search *s, double *d)
{
    const double shift = 1e-9 * s->largest;
    bool left = shift > 0.; /* N = 0 reaches nothing */

    for (int tries = 0; tries < TRIES && left; tries++) {
        const int code = factor_part(s, d, shift);

        if (code != 0) {
            return code == MECH_SINGULAR || code == MECH_CANCELLED;
        }
        for (int k = 0; k < INVERSE_STEPS; k++) {
            for (int32_t i = 0; i < s->count; i++) {
                s->y[i] = shift * d[s->part[i]];
            }
            if (mech_lsol_solve(s->factors, s->y, 1) != 0) {
                return true;
            }
            for (int32_t i = 0; i < s->count; i++) {
                d[s->part[i]] = s->y[i];
            }
        }
        memcpy(s->y, d, (size_t)s->p->m * sizeof *d);
        project(s->p, s->y);
        left = false;
        for (int32_t i = 0; i < s->p->m; i++) {
            left |= s->y[i] == 0. && d[i] != 0.;
        }
        memcpy(d, s->y, (size_t)s->p->m * sizeof *d);
    }
    return true;
}

static bool search(struct search *s, const double *l, double *d)
{
    const size_t bytes = (size_t)s->p->m * sizeof *d;
    s->largest = largest_of(s);
    /* N = 0: any step falls */
    const double step = s->largest > 0. ? 1. / s->largest : 1.;

    for (int32_t i = 0; i < s->p->m; i++) {
        s->x[i] = isfinite(l[i]) ? l[i] : 0.;
    }
    clean(s, s->x);
    project(s->p, s->x);
    for (int k = 0; k < ROUNDS && !is_over(s, 0., true); k++) {
        memcpy(d, s->x, bytes);
        clean(s, d);
        if (!s->p->N->symmetric) {
            descend(s, d, step, false, STEPS);
        } else if (!reach(s, d)) {
            return false;
        }
        if (look(s, d)) {
            return true;
        }
        descend(s, s->x, step, true, STEPS);
    }
    return false;
}

int mech_certificate_find(const struct mech_problem *p, double tolerance,
                          struct mech_interrupt *interrupt, const double *l, double *d)
{
    const size_t n = p->m > 0 ? (size_t)p->m : 1;
    double *const memory = calloc(5 * n, sizeof *memory);
    struct search s = {.p = p,
                       .tolerance = tolerance,
                       .interrupt = interrupt,
                       .x = memory,
                       .y = memory + n,
                       .last = memory + 2 * n,
                       .e = memory + 3 * n,
                       .gradient = memory + 4 * n,
                       .part = calloc(n, sizeof *s.part)};

    if (!memory || !s.part || mech_acceptance_create(p->m, &s.accept) != 0) {
        free(memory);
        free(s.part);
        return MECH_NO_MEMORY;
    }
    mech_acceptance_form(s.accept, p);
    mech_acceptance_weigh(s.accept, p);
    const bool found = search(&s, l, d);

    if (found) {
        clean(&s, d);
    }
    mech_acceptance_destroy(s.accept);
    mech_lsol_destroy(s.factors);
    free(s.part);
    free(memory);
    return found ? 1 : 0;
}

/* l·Nᵀ d of one set, of its entries beyond rounding u [rows], and what rounding of them makes of
 * it, into *rounds; l = NULL: HUGE_VAL, where some l of K has any such product above 0. */
static double makes_up(const struct mech_set *set, const double *l, const double *u,
                       const double *lost, double *rounds)
{
    double sum = 0., lacks[MECH_SET_ROWS];

    for (int32_t k = 0; k < set->rows; k++) {
        const bool counts = fabs(u[k]) > lost[k];

        lacks[k] = counts ? u[k] : 0.;
        sum += l ? l[k] * lacks[k] : 0.;
        *rounds += l && counts ? fabs(l[k]) * lost[k] : 0.;
    }
    if (l) {
        return sum;
    }
    if (set->kind != MECH_SET_BOX) {
        mech_set_project(set, lacks);
    }
    for (int32_t k = 0; k < set->rows; k++) {
        sum = fabs(lacks[k]) > lost[k] ? HUGE_VAL : sum;
    }
    return sum;
}

bool mech_certificate_refutes(const struct mech_problem *p, const double *d, const double *l)
{
    double sum = 0., rounds = 0.;
    int32_t row = 0;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        const struct mech_set set = mech_problem_set(p, i);
        double u[MECH_SET_ROWS], lost[MECH_SET_ROWS];

        for (int32_t k = 0; k < set.rows; k++) {
            u[k] = entry_of(p->N, row + k, d, &lost[k]);
            sum += p->r[row + k] * d[row + k];
            rounds += rounded * fabs(p->r[row + k] * d[row + k]);
        }
        sum += makes_up(&set, l ? l + row : NULL, u, lost, &rounds);
        row += set.rows;
    }
    return sum < -rounds;
}
