/* Projections onto sets of multipliers and the natural map; see sets.h. */
#include "solver/sys/sets.h"

#include <math.h>
#include <string.h>

/* ‖x_T‖; not hypot, whose bits depend on the processor */
static double tangential(int32_t rows, const double *x)
{
    return rows == 3 ? sqrt(x[1] * x[1] + x[2] * x[2]) : fabs(x[1]);
}

void mech_cone_project(double mu, int32_t rows, double *l)
{
    const double t = tangential(rows, l);
    double n, share;

    if (mu == 0.) {
        n = l[0] < 0. ? 0. : l[0];
        share = 0.;
    } else if (t <= mu * l[0]) {
        return;
    } else if (mu * t <= -l[0]) {
        n = share = 0.;
    } else {
        n = (l[0] + mu * t) / (1. + mu * mu);
        share = mu * n / t;
    }
    l[0] = n;
    for (int32_t i = 1; i < rows; i++) {
        l[i] *= share;
    }
}

/* first row and rows of the parts of a ROLLING set that its normal row bounds */
static const int32_t part_row[3] = {1, 3, 4}, part_rows[3] = {2, 1, 2};

static void parts_of(const struct mech_set *set, const double *x, double coefficient[3],
                     double length[3])
{
    coefficient[0] = set->mu;
    coefficient[1] = set->spinning;
    coefficient[2] = set->rolling;
    for (int k = 0; k < 3; k++) {
        const double *const p = x + part_row[k];

        length[k] = part_rows[k] == 2 ? sqrt(p[0] * p[0] + p[1] * p[1]) : fabs(p[0]);
    }
}

/* The nearest point has the normal component n ≥ 0 with n − l_N = Σ μ_k max(0, t_k − μ_k n): the
 * right side falls with n, and part k is in the sum as long as n < t_k/μ_k. Parts join in the order
 * of these ends, the largest first, until the next one would lie outside. */
static void project_rolling(const struct mech_set *set, double *l)
{
    double mu[3], t[3], sum = l[0], share = 1., n = l[0];
    bool joined[3] = {false, false, false};

    parts_of(set, l, mu, t);
    for (int round = 0; round < 3; round++) {
        int next = -1;

        for (int k = 0; k < 3; k++) {
            if (!joined[k] && mu[k] > 0. && (next < 0 || t[k] * mu[next] > t[next] * mu[k])) {
                next = k;
            }
        }
        if (next < 0 || mu[next] * n >= t[next]) {
            break;
        }
        joined[next] = true;
        sum += mu[next] * t[next];
        share += mu[next] * mu[next];
        n = sum / share;
    }
    l[0] = n > 0. || isnan(n) ? n : 0.;
    for (int k = 0; k < 3; k++) {
        const double scale = t[k] > mu[k] * l[0] ? mu[k] * l[0] / t[k] : 1.;

        for (int32_t i = 0; i < part_rows[k]; i++) {
            l[part_row[k] + i] *= scale;
        }
    }
}

void mech_set_project(const struct mech_set *set, double *l)
{
    switch (set->kind) {
    case MECH_SET_BILATERAL:
        break;
    case MECH_SET_UNILATERAL:
        l[0] = l[0] < 0. ? 0. : l[0];
        break;
    case MECH_SET_BOX:
        l[0] = l[0] < set->lower ? set->lower : l[0] > set->upper ? set->upper : l[0];
        break;
    case MECH_SET_CONE:
        mech_cone_project(set->mu, set->rows, l);
        break;
    case MECH_SET_ROLLING:
        project_rolling(set, l);
        break;
    }
}

void mech_sets_project(const struct mech_set *sets, int32_t count, const bool *enabled, double *l)
{
    int32_t row = 0;

    for (int32_t i = 0; i < count; row += sets[i].rows, i++) {
        if (!enabled || enabled[row]) {
            mech_set_project(&sets[i], l + row);
        }
    }
}

int32_t mech_sets_rows(const struct mech_set *sets, int32_t count)
{
    int32_t rows = 0;

    for (int32_t i = 0; i < count; i++) {
        rows += sets[i].rows;
    }
    return rows;
}

void mech_set_correct(const struct mech_set *set, enum mech_friction friction, double *c)
{
    if (set->kind == MECH_SET_CONE && friction == MECH_COULOMB) {
        c[0] += set->mu * tangential(set->rows, c);
    }
    if (set->kind == MECH_SET_ROLLING && friction == MECH_COULOMB) {
        double mu[3], t[3];

        parts_of(set, c, mu, t);
        c[0] += mu[0] * t[0] + mu[1] * t[1] + mu[2] * t[2];
    }
}

/* l − P(l − c) on an interval: c, as far as it stays inside */
static double interval_map(double lower, double upper, double l, double c)
{
    if (c > l - lower) {
        return l - lower;
    }
    return c < l - upper ? l - upper : c;
}

static void cone_map(const struct mech_set *set, enum mech_friction friction, const double *l,
                     const double *c, double *map)
{
    double x[MECH_SET_ROWS] = {0.}, corrected[MECH_SET_ROWS] = {0.};

    memcpy(corrected, c, (size_t)set->rows * sizeof *c);
    mech_set_correct(set, friction, corrected);
    for (int32_t k = 0; k < set->rows; k++) {
        x[k] = l[k] - corrected[k];
    }
    bool inside = true;
    double next[MECH_SET_ROWS] = {0.};

    memcpy(next, x, sizeof next);
    mech_set_project(set, next);
    for (int32_t k = 0; k < set->rows; k++) {
        inside &= next[k] == x[k];
    }
    for (int32_t k = 0; k < set->rows; k++) {
        map[k] = inside ? corrected[k] : l[k] - next[k];
    }
}

void mech_set_map(const struct mech_set *set, enum mech_friction friction, const double *l,
                  const double *c, double *map)
{
    switch (set->kind) {
    case MECH_SET_BILATERAL:
        map[0] = c[0];
        break;
    case MECH_SET_UNILATERAL:
        map[0] = interval_map(0., HUGE_VAL, l[0], c[0]);
        break;
    case MECH_SET_BOX:
        map[0] = interval_map(set->lower, set->upper, l[0], c[0]);
        break;
    case MECH_SET_CONE:
    case MECH_SET_ROLLING:
        cone_map(set, friction, l, c, map);
        break;
    }
    for (int32_t k = 0; k < set->rows; k++) {
        map[k] += 0. * (l[k] + c[k]);
    }
}

double mech_sets_residual(const struct mech_set *sets, int32_t count, enum mech_friction friction,
                          const double *l, const double *c, const double *r)
{
    double map = 0., scale = 0., sum_l = 0., sum_c = 0.;
    int32_t row = 0;
    bool linear = true;

    for (int32_t i = 0; i < count; row += sets[i].rows, i++) {
        double d[MECH_SET_ROWS];

        linear &= sets[i].kind == MECH_SET_BILATERAL || sets[i].kind == MECH_SET_UNILATERAL;
        mech_set_map(&sets[i], friction, l + row, c + row, d);
        for (int32_t k = 0; k < sets[i].rows; k++) {
            map += d[k] * d[k];
            scale += r[row + k] * r[row + k];
            sum_l += l[row + k] * l[row + k];
            sum_c += c[row + k] * c[row + k];
        }
    }
    if (!linear) {
        scale = fmax(scale, fmax(sum_l, sum_c));
    }
    return map == 0. ? 0. : sqrt(map / scale);
}
