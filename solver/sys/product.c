/* Products of a descriptor, block by block; see descriptor.h. */
#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "solver/sys/descriptor_internal.h"

#include <math.h>
#include <string.h>

/* y += block × x over the variables of a stiffness block that are not frozen */
static void add_stiffness(const struct mech_descriptor *d, const struct stiffness *s,
                          const double *x, double *y)
{
    for (int k = 0; k < 3; k++) {
        struct mech_mat_walk w = {.a = &s->part[k]};

        while (d->factor[k] != 0. && mech_mat_next(&w)) {
            if (s->at[w.row] >= 0 && s->at[w.col] >= 0) {
                y[s->at[w.row]] += d->factor[k] * w.value * x[s->at[w.col]];
            }
        }
    }
}

void mech_descriptor_H(const struct mech_descriptor *d, const double *w, double *out)
{
    memset(out, 0, (size_t)d->size.velocities * sizeof *out);
    for (size_t i = 0; i < d->variables_count; i++) {
        const struct variables *const v = &d->variables[i];

        if (v->offset >= 0) {
            mech_mass_add(&d->masses[v->mass], d->a, w + v->offset, out + v->offset);
        }
    }
    for (size_t i = 0; i < d->block_count; i++) {
        add_stiffness(d, &d->blocks[i], w, out);
    }
}

static double half_dot(const struct mech_descriptor *d, const struct half *h, int32_t row,
                       const double *w)
{
    const struct variables *const v = &d->variables[h->variables];
    double sum = 0.;

    for (int32_t i = 0; i < h->n && v->offset >= 0; i++) {
        sum += h->jacobian[row * h->n + i] * w[v->offset + mech_half_at(h, i)];
    }
    return sum;
}

void mech_descriptor_G(const struct mech_descriptor *d, const double *w, double *out)
{
    for (size_t i = 0; i < d->constraint_count; i++) {
        const struct constraint *const c = &d->constraints[i];

        for (int32_t r = 0; r < c->set.rows && c->offset >= 0; r++) {
            out[c->offset + r] = 0.;
            for (int32_t k = 0; k < c->count; k++) {
                out[c->offset + r] += half_dot(d, &c->halves[k], r, w);
            }
        }
    }
}

void mech_descriptor_Gt(const struct mech_descriptor *d, const double *l, double *out)
{
    memset(out, 0, (size_t)d->size.velocities * sizeof *out);
    for (size_t i = 0; i < d->constraint_count; i++) {
        const struct constraint *const c = &d->constraints[i];

        for (int32_t k = 0; k < c->count && c->offset >= 0; k++) {
            const struct half *const h = &c->halves[k];
            const struct variables *const v = &d->variables[h->variables];

            for (int32_t r = 0; r < c->set.rows && v->offset >= 0; r++) {
                for (int32_t j = 0; j < h->n; j++) {
                    out[v->offset + mech_half_at(h, j)] +=
                        h->jacobian[r * h->n + j] * l[c->offset + r];
                }
            }
        }
    }
}

/* y [l] += E l */
static void add_compliance(const struct mech_descriptor *d, const double *l, double *y)
{
    for (size_t i = 0; i < d->constraint_count; i++) {
        const struct constraint *const c = &d->constraints[i];

        for (int32_t r = 0; r < c->set.rows && c->offset >= 0; r++) {
            y[c->offset + r] += c->cfm[r] * l[c->offset + r];
        }
    }
}

void mech_descriptor_product(const struct mech_descriptor *d, const double *x, double *out)
{
    const double *const l = x + d->size.velocities;
    double *const c = out + d->size.velocities;

    mech_descriptor_H(d, x, out);
    for (size_t i = 0; i < d->constraint_count; i++) {
        const struct constraint *const row = &d->constraints[i];

        for (int32_t k = 0; k < row->count && row->offset >= 0; k++) {
            const struct half *const h = &row->halves[k];
            const struct variables *const v = &d->variables[h->variables];

            for (int32_t r = 0; r < row->set.rows && v->offset >= 0; r++) {
                for (int32_t j = 0; j < h->n; j++) {
                    out[v->offset + mech_half_at(h, j)] -=
                        h->jacobian[r * h->n + j] * l[row->offset + r];
                }
            }
        }
    }
    mech_descriptor_G(d, x, c);
    add_compliance(d, l, c);
}

static void solve_masses(const struct mech_descriptor *d, double *x)
{
    for (size_t i = 0; i < d->variables_count; i++) {
        const struct variables *const v = &d->variables[i];

        if (v->offset >= 0) {
            mech_mass_solve(&d->masses[v->mass], x + v->offset, x + v->offset);
            for (int32_t j = 0; j < v->n; j++) {
                x[v->offset + j] /= d->a;
            }
        }
    }
}

int mech_descriptor_schur(const struct mech_descriptor *d, const struct mech_inverse *inverse,
                          const bool *enabled, const double *l, double *work, double *out)
{
    if (!inverse && !mech_descriptor_lumped(d)) {
        return MECH_UNSUPPORTED;
    }
    if (!inverse && d->a == 0.) {
        return MECH_SINGULAR;
    }
    for (int32_t i = 0; i < d->size.rows; i++) {
        out[i] = enabled && !enabled[i] ? 0. : l[i];
    }
    mech_descriptor_Gt(d, out, work);
    if (inverse) {
        MECH_TRY(inverse->solve(inverse->self, work));
    } else {
        solve_masses(d, work);
    }
    mech_descriptor_G(d, work, out);
    add_compliance(d, l, out);
    for (int32_t i = 0; i < d->size.rows && enabled; i++) {
        out[i] = enabled[i] ? out[i] : 0.;
    }
    return 0;
}

void mech_descriptor_project(const struct mech_descriptor *d, const bool *enabled, double *l)
{
    for (size_t i = 0; i < d->constraint_count; i++) {
        const struct constraint *const c = &d->constraints[i];

        if (c->offset >= 0 && (!enabled || enabled[c->offset])) {
            mech_set_project(&c->set, l + c->offset);
        }
    }
}

void mech_descriptor_project_unknowns(const struct mech_descriptor *d, double *x)
{
    mech_descriptor_project(d, NULL, x + d->size.velocities);
}

void mech_descriptor_diagonal(const struct mech_descriptor *d, double *out)
{
    for (size_t i = 0; i < d->variables_count; i++) {
        const struct variables *const v = &d->variables[i];

        for (int32_t j = 0; j < v->n && v->offset >= 0; j++) {
            out[v->offset + j] = d->a * mech_mass_entry(&d->masses[v->mass], j, j);
        }
    }
    for (size_t i = 0; i < d->block_count; i++) {
        const struct stiffness *const s = &d->blocks[i];

        for (int k = 0; k < 3; k++) {
            struct mech_mat_walk w = {.a = &s->part[k]};

            while (d->factor[k] != 0. && mech_mat_next(&w)) {
                if (w.row == w.col && s->at[w.row] >= 0) {
                    out[s->at[w.row]] += d->factor[k] * w.value;
                }
            }
        }
    }
    for (size_t i = 0; i < d->constraint_count; i++) {
        const struct constraint *const c = &d->constraints[i];

        if (c->offset >= 0) {
            memcpy(out + d->size.velocities + c->offset, c->cfm, (size_t)c->set.rows * sizeof *out);
        }
    }
}

/* How far c is from what its row allows. */
static double violation(const struct mech_set *set, int32_t row, double l, double c)
{
    switch (set->kind) {
    case MECH_SET_BILATERAL:
        return fabs(c);
    case MECH_SET_BOX:
        return l <= set->lower ? -c : l >= set->upper ? c : fabs(c);
    default:
        return row == 0 ? -c : 0.;
    }
}

struct mech_feasibility mech_descriptor_feasibility(const struct mech_descriptor *d, double *work)
{
    struct mech_feasibility worst = {0., 0.};
    double *const c = work + d->size.velocities;

    mech_descriptor_get_w(d, work);
    mech_descriptor_G(d, work, c);
    for (size_t i = 0; i < d->constraint_count; i++) {
        const struct constraint *const at = &d->constraints[i];
        const bool gap = at->set.kind != MECH_SET_BILATERAL && at->set.kind != MECH_SET_BOX;

        for (int32_t r = 0; r < at->set.rows && at->offset >= 0; r++) {
            const double value = c[at->offset + r] + at->cfm[r] * at->l[r] + at->b[r];

            worst.violation = fmax(worst.violation, violation(&at->set, r, at->l[r], value));
            if (gap && r == 0) {
                worst.complementarity = fmax(worst.complementarity, fabs(at->l[r] * value));
            }
        }
    }
    return worst;
}
