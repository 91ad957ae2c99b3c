/* Bases of small motions by the singular values of G; see motions.h. Cost: 20 n³. */
#include "solver/analysis/motions.h"

#include "solver/base/err.h"
#include "solver/linalg/eig.h"

#include <string.h>

/* Rows of G that count. */
struct wanted {
    const struct mech_model *model;
    const struct mech_state *state;
    const double *values; /* of G */
    bool velocity;        /* those at velocity level too */
};

static bool counts(const struct wanted *w, int32_t r)
{
    return (w->velocity || !mech_model_joints(w->model)->velocity[r]) && w->state->open[r] == 0.;
}

/* A basis of what they allow. */
static int basis_of(struct mech_motions *b, const struct wanted *w, double **basis,
                    int32_t *columns)
{
    const struct mech_joint_rows *const rows = mech_model_joints(w->model);
    const size_t n = (size_t)b->n;
    int32_t count = 0, at = 0;

    *basis = mech_arena_alloc(&b->arena, n * n, sizeof **basis);
    double *const G = mech_arena_alloc(&b->arena, (size_t)rows->count * n, sizeof *G);
    if (!*basis || !G) {
        return MECH_NO_MEMORY;
    }
    for (int32_t r = 0; r < rows->count; r++) {
        count += counts(w, r);
    }
    for (int32_t r = 0; r < rows->count; r++) {
        for (int32_t k = rows->start[r]; k < rows->start[r + 1] && counts(w, r); k++) {
            if (rows->column[k] < b->n) {
                G[(size_t)rows->column[k] * (size_t)count + (size_t)at] += w->values[k];
            }
        }
        at += counts(w, r);
    }
    for (int32_t i = 0; i < b->n && count == 0; i++) {
        (*basis)[(size_t)i * (n + 1)] = 1.;
    }
    return count ? mech_eig_null(count, b->n, G, *basis, columns) : 0;
}

int mech_motions_init(struct mech_motions *b, const struct mech_model *m,
                      const struct mech_state *s)
{
    const struct mech_joint_rows *const rows = mech_model_joints(m);
    const struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);
    const int32_t n = mech_model_sizes(m)->v;

    *b = (struct mech_motions){.n = n, .positions = n, .velocities = n};
    mech_arena_init(&b->arena, 0);
    if (rows->count == 0) {
        return 0;
    }
    double *const values =
        mech_arena_alloc(&b->arena, (size_t)rows->start[rows->count], sizeof *values);
    if (!values) {
        return MECH_NO_MEMORY;
    }
    mech_model_pose(m, &e);
    mech_model_joint_jacobian(m, values);
    struct wanted w = {m, s, values, true};
    MECH_TRY(basis_of(b, &w, &b->V, &b->velocities));
    if (rows->nonholonomic) {
        w.velocity = false;
        return basis_of(b, &w, &b->Q, &b->positions);
    }
    b->Q = b->V;
    b->positions = b->velocities;
    return 0;
}

void mech_motions_fini(struct mech_motions *b)
{
    mech_arena_fini(&b->arena);
    *b = (struct mech_motions){0};
}

void mech_motions_column(int32_t n, const double *basis, int32_t j, double *out)
{
    if (basis) {
        memcpy(out, basis + (size_t)j * (size_t)n, (size_t)n * sizeof *out);
        return;
    }
    memset(out, 0, (size_t)n * sizeof *out);
    out[j] = 1.;
}

void mech_motions_project(int32_t n, const double *basis, int32_t columns, const double *x,
                          double *out, size_t stride)
{
    for (int32_t k = 0; k < columns; k++) {
        double sum = basis ? 0. : x[k];

        for (int32_t i = 0; basis && i < n; i++) {
            sum += basis[(size_t)k * (size_t)n + (size_t)i] * x[i];
        }
        out[(size_t)k * stride] = sum;
    }
}
