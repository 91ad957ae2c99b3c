/* Projections onto sets of multipliers and the natural map; see sets.h. */
#include "solver/sys/sets.h"

#include <math.h>
#include <string.h>

enum { CONE_ROWS = 3 };

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
    double x[CONE_ROWS] = {0.}, corrected[CONE_ROWS] = {0.};

    memcpy(corrected, c, (size_t)set->rows * sizeof *c);
    mech_set_correct(set, friction, corrected);
    for (int32_t k = 0; k < set->rows; k++) {
        x[k] = l[k] - corrected[k];
    }
    const bool inside = tangential(set->rows, x) <= set->mu * x[0];

    mech_cone_project(set->mu, set->rows, x);
    for (int32_t k = 0; k < set->rows; k++) {
        map[k] = inside ? corrected[k] : l[k] - x[k];
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
        double d[CONE_ROWS];

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
