/* Pivots of Lemke's method on a dictionary  x_B = b + D x_N.
 *
 * At first x_B = w, x_N = (z, z_0), D = [A, 1], b = q (a covering vector of ones).
 * Bilateral rows are pivoted out first: their z stays basic and free, their w stays at 0; they are
 * not covered.
 * Ties of the ratio test are broken lexicographically: q is thought of as q + (ε, ε², …), and since
 * w_k enters its row as w_k − ε^k, the coefficient of ε^k in row i is −D_ik when w_k is nonbasic in
 * column k, and 1 in the row of w_k when it is basic. See lemke.c for the source.
 */
#include "solver/base/err.h"
#include "solver/vi/lemke.h"

#include <float.h>
#include <math.h>

/* A sum that is this small beside its terms is rounding, and so is a difference of ratios. For 40
 * degenerate rows (lcp_tobenna) every value from 1e-14 to 1e-9 gives the 126 pivots of exact
 * arithmetic. */
static const double rounding = 1e-12;

struct dictionary {
    struct lemke *s;
    const struct mech_problem *p;
    int32_t n;
    size_t stride;
};

static double *row_of(const struct dictionary *d, int32_t i)
{
    return d->s->d + (size_t)i * d->stride;
}

static bool is_bilateral(const struct dictionary *d, int32_t i)
{
    return d->p->sets && d->p->sets[i].kind == MECH_SET_BILATERAL;
}

/* Row whose basic variable has a sign to keep. */
static bool is_bound(const struct dictionary *d, int32_t row)
{
    const int32_t variable = d->s->basic[row];
    return variable == 2 * d->n || !is_bilateral(d, variable % d->n);
}

static void fill(struct dictionary *d)
{
    const int32_t n = d->n;
    for (int32_t i = 0; i < n; i++) {
        double *const row = row_of(d, i);
        for (int32_t j = 0; j < n; j++) {
            row[j] = d->p->N->values[(size_t)j * (size_t)n + (size_t)i];
        }
        row[n] = 1.;
        row[n + 1] = d->p->r[i];
        d->s->basic[i] = i;
        d->s->where[i] = i;
        d->s->nonbasic[i] = n + i;
        d->s->where[n + i] = ~i;
    }
    d->s->nonbasic[n] = 2 * n;
    d->s->where[2 * n] = ~n;
}

/* The variable of column c enters, that of row r leaves. */
static void exchange(struct dictionary *d, int32_t r, int32_t c)
{
    const int32_t columns = d->n + 2;
    double *const pivot = row_of(d, r);
    const double inverse = 1. / pivot[c];
    for (int32_t k = 0; k < columns; k++) {
        pivot[k] *= -inverse;
    }
    pivot[c] = inverse;
    for (int32_t i = 0; i < d->n; i++) {
        double *const row = row_of(d, i);
        const double f = row[c];
        if (i == r || f == 0.) {
            continue;
        }
        for (int32_t k = 0; k < columns; k++) {
            // what cancels to its last digits is a zero: the ratio test must see ties as ties
            const double sum = row[k] + f * pivot[k];
            row[k] = fabs(sum) <= rounding * fabs(row[k]) ? 0. : sum;
        }
        row[c] = f * inverse;
    }
    const int32_t leaves = d->s->basic[r];
    const int32_t enters = d->s->nonbasic[c];
    d->s->basic[r] = enters;
    d->s->where[enters] = r;
    d->s->nonbasic[c] = leaves;
    d->s->where[leaves] = ~c;
}

/* Make the z of all bilateral rows basic. */
static int remove_bilateral(struct dictionary *d)
{
    for (;;) {
        // the largest pivot between a bilateral w that is basic and a bilateral z that is not
        int32_t r = -1, c = -1, left = 0;
        double largest = 0.;
        for (int32_t i = 0; i < d->n; i++) {
            if (!is_bilateral(d, i) || d->s->where[i] < 0) {
                continue;
            }
            left++;
            const double *const row = row_of(d, d->s->where[i]);
            for (int32_t j = 0; j < d->n; j++) {
                const int32_t column = ~d->s->where[d->n + j];
                if (is_bilateral(d, j) && column >= 0 && fabs(row[column]) > largest) {
                    largest = fabs(row[column]);
                    r = d->s->where[i];
                    c = column;
                }
            }
        }
        if (left == 0) {
            return 0;
        }
        if (!(largest > DBL_MIN) || !isfinite(1. / largest)) {
            return MECH_SINGULAR;
        }
        exchange(d, r, c);
    }
}

/* Coefficient of ε^k in row i. */
static double epsilon(const struct dictionary *d, int32_t i, int32_t k)
{
    const int32_t where = d->s->where[k];
    if (where >= 0) {
        return where == i ? 1. : 0.;
    }
    return -row_of(d, i)[~where];
}

/* True when row i has the lexicographically smaller ratio than row best; c enters. */
static bool lexicographically_less(const struct dictionary *d, int32_t i, int32_t best, int32_t c)
{
    const double fi = -row_of(d, i)[c], fb = -row_of(d, best)[c];
    const double bi = row_of(d, i)[d->n + 1] / fi, bb = row_of(d, best)[d->n + 1] / fb;
    if (fabs(bi - bb) > rounding * fmax(fabs(bi), fabs(bb))) {
        return bi < bb;
    }
    // on a tie z_0 leaves if it can: that ends the path
    if (d->s->basic[i] == 2 * d->n || d->s->basic[best] == 2 * d->n) {
        return d->s->basic[i] == 2 * d->n;
    }
    for (int32_t k = 0; k < d->n; k++) {
        if (is_bilateral(d, k)) {
            continue;
        }
        const double ei = epsilon(d, i, k) / fi, eb = epsilon(d, best, k) / fb;
        if (fabs(ei - eb) > rounding * fmax(fabs(ei), fabs(eb))) {
            return ei < eb;
        }
    }
    return false;
}

/* Row that blocks the entering column first, or -1: a ray. */
static int32_t ratio_test(const struct dictionary *d, int32_t c)
{
    double largest = 0.;
    for (int32_t i = 0; i < d->n; i++) {
        if (is_bound(d, i)) {
            largest = fmax(largest, -row_of(d, i)[c]);
        }
    }
    // entries that are rounding beside the largest of their column are no pivots
    const double least = rounding * largest;
    int32_t best = -1;
    for (int32_t i = 0; i < d->n; i++) {
        if (is_bound(d, i) && -row_of(d, i)[c] > least &&
            (best < 0 || lexicographically_less(d, i, best, c))) {
            best = i;
        }
    }
    return best;
}

/* Row of the most negative b among those that z_0 covers (the last on a tie: its ε is smallest). */
static int32_t first_row(const struct dictionary *d)
{
    int32_t best = -1;
    double least = 0.;
    for (int32_t i = 0; i < d->n; i++) {
        const double *const row = row_of(d, i);
        if (is_bound(d, i) && row[d->n + 1] < 0. && row[d->n + 1] <= least) {
            least = row[d->n + 1];
            best = i;
        }
    }
    return best;
}

int mech_lemke_pivot(struct lemke *s, const struct mech_problem *p,
                     const struct mech_vi_limits *limits, double *z, int32_t *pivots)
{
    struct dictionary d = {.s = s, .p = p, .n = p->m, .stride = (size_t)p->m + 2};
    const int32_t n = p->m;
    fill(&d);
    MECH_TRY(remove_bilateral(&d));
    if (p->sets) {
        // elimination has mixed the rows: cover each of the others again
        for (int32_t i = 0; i < n; i++) {
            row_of(&d, i)[n] = is_bound(&d, i) ? 1. : 0.;
        }
    }

    // z_0 rises until no b is negative, then complements follow each other
    int code = 0;
    int32_t row = first_row(&d);
    int32_t column = n;
    for (int32_t count = 0; row >= 0; count++) {
        const int32_t leaves = s->basic[row];
        exchange(&d, row, column);
        *pivots += count > 0;
        if (leaves == 2 * n) {
            break;
        }
        if (count >= limits->max_iterations ||
            (count % 16 == 15 && mech_interrupted(limits->interrupt))) {
            code = MECH_VI_NOT_CONVERGED;
            break;
        }
        column = ~s->where[leaves < n ? leaves + n : leaves - n];
        row = ratio_test(&d, column);
        if (row < 0) {
            code = MECH_VI_NOT_CONVERGED;
        }
    }

    for (int32_t i = 0; i < n; i++) {
        const int32_t where = s->where[n + i];
        const double value = where >= 0 ? row_of(&d, where)[n + 1] : 0.;
        z[i] = !isfinite(value) || (value < 0. && !is_bilateral(&d, i)) ? 0. : value;
    }
    return code;
}
