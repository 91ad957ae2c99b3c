/* Lengths, islands and scales of a problem's sets; see acceptance.h. */
#include "solver/sys/acceptance.h"

#include "solver/base/err.h"
#include "solver/sys/slide.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* under this part of its row, a diagonal entry gives no scale: √ε */
static const double negligible = 1.5e-8;
/* of ‖r‖ of a cone, what its speeds are rounded to in a projection: some ε */
static const double rounded = 16. * DBL_EPSILON;
/* of what presses, what is never missed: κ */
static const double missed = 1e-6;
/* rows of a set with the unit of its first; those behind are of torques */
enum { LINEAR_ROWS = 3 };

struct mech_acceptance {
    double *length;  /* [most] of each set: g */
    double *scale;   /* [most] of each set: s; in weighing first of each root */
    double *largest; /* [most] of each set: the largest s, for any l */
    double *least;   /* [most] of each set: s for l = 0 */
    double *reach;   /* [most] of each set: largest |N_ij| in its rows and columns */
    double *sum;     /* [most] of each set: Σ_β ‖N_αβ‖‖l_β‖; the first line */
    double *arm;     /* [most] of each set: a length beside which turns are speeds; ROLLING */
    double *slides;  /* [most] of each set: what friction could make of r_T, Σ μ‖r_T‖ */
    int32_t *first;  /* [most] of each set: its first row */
    int32_t *of;     /* [most] of each row: its set */
    int32_t *above;  /* [most] of each set: a set of its island, of the root itself */
    int32_t *asks;   /* [most] of each set: 1 where a set of its island asks beyond rounding */
    int32_t islands;
    double reach_most; /* of all sets, and of all lengths */
    bool cones;        /* CONE or ROLLING sets are among them */
    bool exact;        /* r is */
};

int mech_acceptance_create(int32_t most, struct mech_acceptance **self)
{
    const size_t n = most > 0 ? (size_t)most : 1;
    struct mech_acceptance *const a = malloc(sizeof *a);
    double *const memory = malloc(n * (8 * sizeof *memory + 4 * sizeof *a->of));

    if (!a || !memory) {
        free(a);
        free(memory);
        return MECH_NO_MEMORY;
    }
    *a = (struct mech_acceptance){.length = memory,
                                  .scale = memory + n,
                                  .reach = memory + 2 * n,
                                  .sum = memory + 3 * n,
                                  .arm = memory + 4 * n,
                                  .slides = memory + 5 * n,
                                  .largest = memory + 6 * n,
                                  .least = memory + 7 * n,
                                  .of = (int32_t *)(void *)(memory + 8 * n)};
    a->above = a->of + n;
    a->first = a->above + n;
    a->asks = a->first + n;
    *self = a;
    return 0;
}

void mech_acceptance_destroy(struct mech_acceptance *self)
{
    if (self) {
        free(self->length);
        free(self);
    }
}

/* --- N ---------------------------------------------------------------------------------------- */

static int32_t root_of(struct mech_acceptance *a, int32_t i)
{
    while (a->above[i] != i) {
        a->above[i] = a->above[a->above[i]];
        i = a->above[i];
    }
    return i;
}

static void join(struct mech_acceptance *a, int32_t i, int32_t j)
{
    const int32_t one = root_of(a, i), other = root_of(a, j);

    if (one != other) {
        a->above[one > other ? one : other] = one > other ? other : one;
        a->islands--;
    }
}

/* Of a row: whether it is one of torques and turns, as the last of a ROLLING set are. */
static bool turns(const struct mech_acceptance *a, int32_t row)
{
    return row - a->first[a->of[row]] >= LINEAR_ROWS;
}

/* The entry at row i of column j. */
static void take(struct mech_acceptance *a, int32_t i, int32_t j, double entry)
{
    const int32_t at = a->of[i], from = a->of[j];
    const double size = fabs(entry);

    const bool turning = turns(a, i) || turns(a, j);

    if (i == j) {
        *(turning ? &a->arm[at] : &a->length[at]) += size;
    }
    if (size > a->reach[at] && !turning) {
        a->reach[at] = size;
    }
    if (size > a->reach[from] && !turning) {
        a->reach[from] = size;
    }
    if (at != from && size > 0. && a->islands > 1) {
        join(a, at, from);
    }
}

static void take_all(struct mech_acceptance *a, const struct mech_problem *p)
{
    const struct mech_mat *const N = p->N;

    for (int32_t j = 0; j < p->m; j++) {
        if (N->kind == MECH_MAT_DENSE) {
            const double *const column = N->values + (size_t)j * (size_t)p->m;

            for (int32_t i = N->symmetric ? j : 0; i < p->m; i++) {
                take(a, i, j, column[i]);
            }
        } else {
            for (int32_t k = N->colptr[j]; k < N->colptr[j + 1]; k++) {
                take(a, N->rowind[k], j, N->values[k]);
            }
        }
    }
}

/* ‖N x‖/‖x‖ of an N that is not formed, for x along no pattern of the rows */
static double size_of(struct mech_acceptance *a, const struct mech_problem *p)
{
    double size = 0., grown = 0.;

    for (int32_t i = 0; i < p->m; i++) {
        a->reach[i] = 1. + 0.3 * (double)(i % 5) - (double)(i % 2);
        size += a->reach[i] * a->reach[i];
    }
    p->schur->product(p->schur->self, a->reach, a->sum);
    for (int32_t i = 0; i < p->m; i++) {
        grown += a->sum[i] * a->sum[i];
    }
    return size > 0. ? sqrt(grown / size) : 0.;
}

void mech_acceptance_form(struct mech_acceptance *a, const struct mech_problem *p)
{
    const int32_t sets = mech_problem_sets(p);
    const double whole = p->schur ? size_of(a, p) : 0.;
    double longest = 0.;
    int32_t row = 0;

    a->cones = false;
    for (int32_t i = 0; i < sets; i++) {
        const int32_t rows = mech_problem_set(p, i).rows;

        a->cones |= mech_problem_set(p, i).kind >= MECH_SET_CONE;
        a->first[i] = row;
        a->length[i] = whole * (rows < LINEAR_ROWS ? rows : LINEAR_ROWS);
        a->arm[i] = 0.;
        a->reach[i] = whole;
        a->above[i] = p->schur ? 0 : i;
        for (int32_t k = 0; k < rows; k++) {
            a->of[row++] = i;
        }
    }
    a->islands = p->schur ? 1 : sets;
    if (!p->schur) {
        take_all(a, p);
    }
    a->reach_most = 0.;
    for (int32_t i = 0; i < sets; i++) {
        const int32_t rows = mech_problem_set(p, i).rows;

        /* N_NN/N_SS is an inertia over a mass */
        a->arm[i] = a->arm[i] > 0. && a->length[i] > 0. ? sqrt(a->length[i] / a->arm[i]) : 1.;
        a->length[i] /= rows < LINEAR_ROWS ? rows : LINEAR_ROWS;
        if (!(a->length[i] > negligible * a->reach[i])) {
            a->length[i] = a->reach[i];
        }
        longest = fmax(longest, a->length[i]);
        a->reach_most = fmax(a->reach_most, a->reach[i]);
    }
    for (int32_t i = 0; i < sets; i++) {
        if (!(a->length[i] > DBL_EPSILON * longest)) {
            a->length[i] = longest > 0. ? fmax(a->length[i], DBL_EPSILON * longest) : 1.;
        }
        if (!(a->reach[i] > 0.)) {
            a->length[i] = longest > 0. ? longest : 1.;
        }
        a->reach_most = fmax(a->reach_most, a->length[i]);
    }
}

/* --- r ---------------------------------------------------------------------------------------- */

/* The set with its bounds as speeds, in the lengths of set number i. */
static struct mech_set set_of(const struct mech_acceptance *a, const struct mech_problem *p,
                              int32_t i)
{
    struct mech_set set = mech_problem_set(p, i);

    if (set.kind == MECH_SET_BOX) {
        set.lower *= a->length[i];
        set.upper *= a->length[i];
    }
    set.spinning /= a->arm[i];
    set.rolling /= a->arm[i];
    return set;
}

/* Rows of set number i as speeds. */
static void rows_of(const struct mech_acceptance *a, int32_t i, int32_t rows, const double *x,
                    double *out)
{
    for (int32_t k = 0; k < rows; k++) {
        out[k] = x[k] * (k < LINEAR_ROWS ? 1. : a->arm[i]);
    }
}

/* What of r may ask for a force of a set: ‖P_K(−r)‖; *sure: what does without any l. Of a cone
 * under Coulomb's law that is how r_N presses; a slide is stopped, or goes on. */
static double data_of(const struct mech_acceptance *a, const struct mech_problem *p, int32_t i,
                      double *sure)
{
    const struct mech_set set = set_of(a, p, i);
    double x[MECH_SET_ROWS] = {0.};

    rows_of(a, i, set.rows, p->r + a->first[i], x);
    const double whole = mech_slide_norm(set.rows, x);

    if (set.kind >= MECH_SET_CONE && p->friction == MECH_COULOMB) {
        *sure = isnan(whole) ? whole : fmax(0., -x[0]);
        return *sure == 0. ? 0. : a->slides[i] > 0. ? whole : *sure;
    }
    for (int32_t k = 0; k < set.rows; k++) {
        x[k] = -x[k];
    }
    mech_set_project(&set, x);
    const double data = mech_slide_norm(set.rows, x);

    /* squares may overflow in a projection onto a cone */
    *sure = set.kind < MECH_SET_CONE || data < whole ? data : whole;
    return *sure;
}

/* What rounding of a set's r makes of the map: of r_N, and of how fast r_T opens the cone. */
static double rounding_of_set(const struct mech_acceptance *a, const struct mech_problem *p,
                              int32_t i)
{
    return rounded * (fabs(p->r[a->first[i]]) + a->slides[i]);
}

/* *most := the larger; not fmax, which hides what is not a number */
static void raise_to(double *most, double value)
{
    *most = value > *most || isnan(value) ? value : *most;
}

void mech_acceptance_weigh(struct mech_acceptance *a, const struct mech_problem *p)
{
    const int32_t sets = mech_problem_sets(p);
    const size_t bytes = (size_t)sets * sizeof *a->scale;

    a->exact = p->rounding == 0.;
    memset(a->slides, 0, bytes);
    memset(a->largest, 0, bytes);
    memset(a->least, 0, bytes);
    memset(a->asks, 0, (size_t)sets * sizeof *a->asks);
    for (int32_t i = 0; i < sets; i++) {
        const int32_t root = root_of(a, i);
        double sure, least = p->noise ? p->noise[i] : 0.;

        if (a->cones && mech_problem_set(p, i).kind >= MECH_SET_CONE) {
            const struct mech_set set = set_of(a, p, i);
            double x[MECH_SET_ROWS] = {0.};

            rows_of(a, i, set.rows, p->r + a->first[i], x);
            a->slides[i] = mech_slide_of(&set, x);
            least = fmax(least, p->rounding * mech_slide_norm(set.rows, x));
        }
        raise_to(&a->largest[root], data_of(a, p, i, &sure));
        raise_to(&a->least[root], sure);
        a->asks[root] |= sure > least;
    }
    for (int32_t i = 0; i < sets; i++) {
        const int32_t root = root_of(a, i);

        a->largest[i] = a->scale[i] = a->largest[root];
        a->least[i] = a->least[root];
        a->asks[i] = a->asks[root];
    }
}

/* s, no larger than what presses in the island of a set allows. */
static double bounded(const struct mech_acceptance *a, int32_t set, double s, double tolerance)
{
    const double most = a->least[set] * fmax(1., missed / tolerance);

    return a->asks[set] && s > most ? most : s;
}

void mech_acceptance_weigh_at(struct mech_acceptance *a, const struct mech_problem *p,
                              const double *l, double tolerance)
{
    const int32_t sets = mech_problem_sets(p);

    if (!a->cones || p->friction != MECH_COULOMB) {
        return;
    }
    if (!l) {
        memcpy(a->scale, a->largest, (size_t)sets * sizeof *a->scale);
        return;
    }
    memset(a->scale, 0, (size_t)sets * sizeof *a->scale);
    for (int32_t i = 0, row = 0; i < sets; i++) {
        for (int32_t k = 0; k < mech_problem_set(p, i).rows; k++, row++) {
            const double own = fabs(l[row]) * a->length[i] / (k < LINEAR_ROWS ? 1. : a->arm[i]);

            raise_to(&a->scale[root_of(a, i)], own);
        }
    }
    for (int32_t i = 0; i < sets; i++) {
        const double made = a->scale[root_of(a, i)], most = a->largest[i];

        a->scale[i] = bounded(a, i, made < most ? made : most, tolerance);
        a->scale[i] = a->scale[i] < a->least[i] || isnan(most) ? a->least[i] : a->scale[i];
    }
}

void mech_acceptance_rest(const struct mech_acceptance *a, const struct mech_problem *p, double *l)
{
    for (int32_t i = 0; i < p->m; i++) {
        l[i] = a->least[a->of[i]] == 0. ? 0. : l[i];
    }
}

/* --- l ---------------------------------------------------------------------------------------- */

/* A set with l and c as speeds: g l, torques over the arm, turns times it. */
struct speeds {
    struct mech_set set;
    double l[MECH_SET_ROWS], c[MECH_SET_ROWS], map[MECH_SET_ROWS];
};

static void as_speeds(const struct mech_acceptance *a, const struct mech_problem *p, int32_t i,
                      const double *l, const double *c, struct speeds *out)
{
    const double g = a->length[i], arm = a->arm[i];
    struct mech_set *const set = &out->set;

    *set = set_of(a, p, i);
    for (int32_t k = 0; k < set->rows; k++) {
        out->l[k] = g * l[k] / (k < LINEAR_ROWS ? 1. : arm);
        out->c[k] = c[k] * (k < LINEAR_ROWS ? 1. : arm);
    }
    mech_set_map(set, p->friction, out->l, out->c, out->map);
}

/* How fast a cone opens under the associated law: what Coulomb's would add, that one asks for. */
static double opening(const struct speeds *x)
{
    double back[MECH_SET_ROWS];

    memcpy(back, x->c, sizeof back);
    mech_set_correct(&x->set, MECH_COULOMB, back);
    return x->c[0] - (back[0] - x->c[0]);
}

double mech_acceptance_set(const struct mech_acceptance *a, const struct mech_problem *p, int32_t i,
                           const double *l, const double *c)
{
    struct speeds x;

    as_speeds(a, p, i, l, c, &x);
    const double map = mech_slide_norm(x.set.rows, x.map);

    if (x.set.kind < MECH_SET_CONE) {
        return map;
    }
    const double floor = rounding_of_set(a, p, i);

    if (p->friction != MECH_COULOMB) {
        return map <= floor && opening(&x) <= floor ? 0. : map;
    }
    /* without a force, c_N says all, and r_T is not in it */
    const double loose = mech_slide_norm(x.set.rows, x.l) == 0.
                             ? 0. * mech_slide_norm(x.set.rows, x.c)
                             : mech_slide_miss(&x.set, x.l, x.c, x.map);
    const double size = fmax(loose, fabs(fmin(x.l[0], x.c[0]))) + 0. * loose;

    return size <= floor && !a->asks[i] ? 0. : size;
}

double mech_acceptance_residual(const struct mech_acceptance *a, const struct mech_problem *p,
                                const double *l, const double *c)
{
    double map = 0., scale = 0., sum_l = 0., sum_c = 0.;
    bool linear = true;
    int32_t row = 0;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        struct speeds x;

        as_speeds(a, p, i, l + row, c + row, &x);
        linear &= x.set.kind == MECH_SET_BILATERAL || x.set.kind == MECH_SET_UNILATERAL;
        for (int32_t k = 0; k < x.set.rows; k++) {
            const double r = p->r[row + k] * (k < LINEAR_ROWS ? 1. : a->arm[i]);

            map += x.map[k] * x.map[k];
            scale += r * r;
            sum_l += x.l[k] * x.l[k];
            sum_c += x.c[k] * x.c[k];
        }
        row += x.set.rows;
    }
    if (!linear) {
        scale = fmax(scale, fmax(sum_l, sum_c));
    }
    return map == 0. ? 0. : sqrt(map / scale);
}

/* The first line of each set into a->sum. False: NaN is among them. */
static bool take_misses(const struct mech_acceptance *a, const struct mech_problem *p,
                        const double *l, const double *c)
{
    int32_t row = 0;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        a->sum[i] = mech_acceptance_set(a, p, i, l + row, c + row);
        if (isnan(a->sum[i])) {
            return false;
        }
        row += mech_problem_set(p, i).rows;
    }
    return true;
}

/* The largest of a->sum over s: a->scale, or a->least where something asks. */
static double largest_miss(const struct mech_acceptance *a, const struct mech_problem *p,
                           const double *s)
{
    double most = 0.;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        const bool counts = a->sum[i] > 0. && (s != a->least || a->asks[i]);

        most = counts ? fmax(most, a->sum[i] / s[i]) : most;
    }
    return most;
}

double mech_acceptance_of(const struct mech_acceptance *a, const struct mech_problem *p,
                          const double *l, const double *c)
{
    return take_misses(a, p, l, c) ? largest_miss(a, p, a->scale) : NAN;
}

double mech_acceptance_pressing(const struct mech_acceptance *a, const struct mech_problem *p,
                                const double *l, const double *c)
{
    return take_misses(a, p, l, c) ? largest_miss(a, p, a->least) : NAN;
}

/* a->sum[α] += |N_ij||l_j| */
static void add_sizes(struct mech_acceptance *a, const struct mech_problem *p, const double *l)
{
    const struct mech_mat *const N = p->N;

    for (int32_t j = 0; j < p->m; j++) {
        if (l[j] == 0.) {
            continue;
        }
        if (N->kind == MECH_MAT_DENSE) {
            for (int32_t i = 0; i < p->m; i++) {
                a->sum[a->of[i]] +=
                    turns(a, i) ? 0. : fabs(N->values[(size_t)j * (size_t)p->m + (size_t)i] * l[j]);
            }
        } else {
            for (int32_t k = N->colptr[j]; k < N->colptr[j + 1]; k++) {
                a->sum[a->of[N->rowind[k]]] +=
                    turns(a, N->rowind[k]) ? 0. : fabs(N->values[k] * l[j]);
            }
        }
    }
}

/* What rounding of a set's c may be of: s, or where l is held at 0 or at a bound, how far c holds
 * it there. */
static double resolved_beside(const struct mech_acceptance *a, const struct mech_problem *p,
                              int32_t i, const double *l, const double *c)
{
    struct speeds x;

    as_speeds(a, p, i, l, c, &x);
    if (x.set.kind == MECH_SET_BILATERAL || (x.set.kind != MECH_SET_BOX && x.l[0] != 0.)) {
        return a->scale[i];
    }
    if (x.set.kind == MECH_SET_BOX && x.l[0] > x.set.lower && x.l[0] < x.set.upper) {
        return a->scale[i];
    }
    const bool opens = x.set.kind >= MECH_SET_CONE && p->friction == MECH_ASSOCIATED;

    return fmax(a->scale[i], opens ? opening(&x) : fabs(x.c[0]));
}

/* The largest of ε Σ ‖N‖‖l‖ over s; where a bound of it is under `enough`, 0. */
static double rounding_of(struct mech_acceptance *a, const struct mech_problem *p, const double *l,
                          const double *c, double enough)
{
    const int32_t sets = mech_problem_sets(p);
    double all = 0., least = HUGE_VAL, most = 0., own;
    bool turning = false;

    for (int32_t i = 0; i < p->m; i++) {
        all += fabs(l[i]);
        turning |= turns(a, i);
    }
    for (int32_t i = 0; i < sets; i++) {
        /* where there is no data, l is 0 and rounds nothing */
        least = a->scale[i] > 0. ? fmin(least, a->scale[i]) : least;
    }
    const double bound = DBL_EPSILON * MECH_SET_ROWS * a->reach_most * all / least;

    if (all == 0. || (!turning && bound <= enough)) {
        return 0.;
    }
    memset(a->sum, 0, (size_t)sets * sizeof *a->sum);
    if (!p->schur) {
        add_sizes(a, p, l);
    }
    for (int32_t j = 0; j < p->m; j++) {
        own = fabs(l[j]) * a->length[a->of[j]] / (turns(a, j) ? a->arm[a->of[j]] : 1.);
        a->sum[a->of[j]] = fmax(a->sum[a->of[j]], own);
    }
    for (int32_t i = 0, row = 0; i < sets; row += mech_problem_set(p, i).rows, i++) {
        if (a->sum[i] > 0.) {
            const double beside = resolved_beside(a, p, i, l + row, c + row);

            most = fmax(most, DBL_EPSILON * a->sum[i] / beside);
        }
    }
    return most;
}

double mech_acceptance_whole(struct mech_acceptance *a, const struct mech_problem *p,
                             const double *l, const double *c, double tolerance, double *miss)
{
    const double course = mech_acceptance_of(a, p, l, c);

    if (miss) {
        *miss = course;
    }
    if (!(course <= tolerance)) {
        return course;
    }
    mech_acceptance_weigh_at(a, p, l, tolerance);
    double verdict = largest_miss(a, p, a->scale);

    if (verdict <= tolerance) {
        const double residual = mech_problem_residual(p, l, c);

        verdict = isnan(residual)
                      ? NAN
                      : fmax(fmax(verdict, residual), rounding_of(a, p, l, c, tolerance));
    }
    mech_acceptance_weigh_at(a, p, NULL, tolerance);
    return verdict;
}

double mech_acceptance_scale(const struct mech_acceptance *a, int32_t set)
{
    return a->scale[set];
}

double mech_acceptance_least(const struct mech_acceptance *a, int32_t set)
{
    return a->least[set];
}

double mech_acceptance_most(const struct mech_acceptance *a, int32_t set, double tolerance)
{
    const double s = a->exact ? a->scale[set] : bounded(a, set, a->scale[set], tolerance);

    return tolerance * s / (DBL_EPSILON * a->length[set]);
}
