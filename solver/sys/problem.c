/* Columns, blocks and the residual of a problem in multipliers; see problem.h. */
#include "solver/sys/problem.h"

#include <math.h>
#include <string.h>

uint32_t mech_problem_kinds(const struct mech_problem *p)
{
    uint32_t kinds = 0;

    for (int32_t i = 0; i < mech_problem_sets(p); i++) {
        kinds |= 1u << mech_problem_set(p, i).kind;
    }
    return kinds;
}

void mech_problem_add_column(const struct mech_problem *p, int32_t j, double s, double *c)
{
    const struct mech_mat *const N = p->N;

    if (N->kind == MECH_MAT_DENSE) {
        const double *const a = N->values + (size_t)j * (size_t)p->m;

        for (int32_t i = 0; i < p->m; i++) {
            c[i] += s * a[i];
        }
        return;
    }
    for (int32_t k = N->colptr[j]; k < N->colptr[j + 1]; k++) {
        c[N->rowind[k]] += s * N->values[k];
    }
}

static void add_columns(const struct mech_problem *p, const double *l, double *c)
{
    for (int32_t j = 0; j < p->m; j++) {
        if (l[j] != 0.) {
            mech_problem_add_column(p, j, l[j], c);
        }
    }
}

void mech_problem_speed(const struct mech_problem *p, const double *l, double *c)
{
    if (p->schur) {
        p->schur->product(p->schur->self, l, c);
        for (int32_t i = 0; i < p->m; i++) {
            c[i] += p->r[i];
        }
        return;
    }
    memcpy(c, p->r, (size_t)p->m * sizeof *c);
    add_columns(p, l, c);
}

void mech_problem_product(const struct mech_problem *p, const double *l, double *out)
{
    if (p->schur) {
        p->schur->product(p->schur->self, l, out);
        return;
    }
    memset(out, 0, (size_t)p->m * sizeof *out);
    add_columns(p, l, out);
}

void mech_problem_block(const struct mech_problem *p, int32_t row, int32_t rows, double *block)
{
    const struct mech_mat *const N = p->N;

    memset(block, 0, (size_t)(rows * rows) * sizeof *block);
    for (int32_t j = 0; j < rows; j++) {
        if (N->kind == MECH_MAT_DENSE) {
            for (int32_t i = 0; i < rows; i++) {
                block[i * rows + j] =
                    N->values[(size_t)(row + j) * (size_t)p->m + (size_t)row + (size_t)i];
            }
            continue;
        }
        for (int32_t k = N->colptr[row + j]; k < N->colptr[row + j + 1]; k++) {
            const int32_t i = N->rowind[k] - row;

            if (i >= 0 && i < rows) {
                block[i * rows + j] = N->values[k];
            }
        }
    }
}

void mech_problem_project(const struct mech_problem *p, double *l)
{
    if (p->sets) {
        mech_sets_project(p->sets, p->count, NULL, l);
        return;
    }
    for (int32_t i = 0; i < p->m; i++) {
        l[i] = l[i] < 0. ? 0. : l[i];
    }
}

double mech_problem_residual(const struct mech_problem *p, const double *l, const double *c)
{
    double map = 0., scale = 0.;

    if (p->sets) {
        return mech_sets_residual(p->sets, p->count, p->friction, l, c, p->r);
    }
    for (int32_t i = 0; i < p->m; i++) {
        const double d = (c[i] > l[i] ? l[i] : c[i]) + 0. * (l[i] + c[i]);

        map += d * d;
        scale += p->r[i] * p->r[i];
    }
    return map == 0. ? 0. : sqrt(map / scale);
}

bool mech_problem_is_finite(const struct mech_problem *p)
{
    double sum = 0.;

    for (int32_t i = 0; i < p->m; i++) {
        sum += 0. * p->r[i];
    }
    return sum == 0. && (p->schur ? p->schur->finite : mech_mat_is_finite(p->N));
}
