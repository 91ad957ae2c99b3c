/* The linear systems with impacts that verification runs, with their matrices in any wanted
 * form. */
#pragma once

#include "solver/step/moreau_jean/linear.h"

#include <stdlib.h>
#include <string.h>

enum { LTI_MOST = 256 };

enum lti_form { LTI_LEANEST, LTI_BAND, LTI_DENSE, LTI_CSC, LTI_FORMS };

/* One system, run by mech_moreau_jean_step. owner: the test. */
struct lti_case {
    int32_t n, rows;
    double h, force[LTI_MOST];
    struct mech_moreau_jean_settings settings;
    struct mech_arena arena;
    struct mech_mat M, C, K;
    struct mech_linear_part part;
    struct mech_contact_rows contacts;
    int32_t start[LTI_MOST + 1], column[2 * LTI_MOST], interaction[LTI_MOST];
    double value[2 * LTI_MOST], b[LTI_MOST], e[LTI_MOST];
    struct mech_set
        sets[LTI_MOST]; /* of the contacts, when there are others than unilateral ones */
    int32_t set_count;
    struct mech_moreau_jean core;
    double block[4 * LTI_MOST + 8];
    struct mech_state state;
    struct mech_state_counters at;
    struct mech_step_result result;
};

/* What the generator below needs to know. */
struct lti_bands {
    double M[2], C[2], K[2]; /* main diagonal, both neighbours */
    double last[3];          /* added to the last diagonal entry of M, C, K */
    double first[3];         /* added to the first */
};

static inline double lti_entry(const double band[2], double first, double last, int32_t n,
                               int32_t i, int32_t j)
{
    if (i == j) {
        return band[0] + (i == 0 ? first : 0.) + (i == n - 1 ? last : 0.);
    }
    return i - j == 1 || j - i == 1 ? band[1] : 0.;
}

/* One matrix; which: 0 M, 1 C, 2 K. */
static inline struct mech_mat lti_matrix(struct lti_case *c, const struct lti_bands *bands,
                                         int which, enum lti_form form)
{
    const double *const band = which == 0 ? bands->M : which == 1 ? bands->C : bands->K;
    const int32_t n = c->n;
    const size_t size = (size_t)n;
    struct mech_triplet *const t = mech_arena_alloc(&c->arena, 3 * size, sizeof *t);
    struct mech_mat a = {.kind = MECH_MAT_ZERO, .rows = n, .cols = n, .symmetric = true};
    size_t count = 0;
    for (int32_t j = 0; j < n; j++) {
        for (int32_t i = j > 0 ? j - 1 : 0; i <= j + 1 && i < n; i++) {
            const double x = lti_entry(band, bands->first[which], bands->last[which], n, i, j);
            if (x != 0.) {
                t[count++] = (struct mech_triplet){i, j, x};
            }
        }
    }
    if (count == 0) {
        return a;
    }
    if (form == LTI_LEANEST) {
        (void)mech_mat_from_triplets(&c->arena, n, n, t, count, &a);
        return a;
    }
    a.values =
        mech_arena_alloc(&c->arena, form == LTI_DENSE ? size * size : 3 * size, sizeof *a.values);
    if (form == LTI_CSC) {
        a.kind = MECH_MAT_CSC;
        a.colptr = mech_arena_alloc(&c->arena, size + 1, sizeof *a.colptr);
        a.rowind = mech_arena_alloc(&c->arena, count, sizeof *a.rowind);
    } else if (form == LTI_BAND) {
        a.kind = MECH_MAT_BAND;
        a.lower = a.upper = n > 1 ? 1 : 0;
    } else {
        a.kind = MECH_MAT_DENSE;
    }
    for (size_t k = 0; k < count; k++) {
        const size_t i = (size_t)t[k].row, j = (size_t)t[k].col;
        if (form == LTI_CSC) {
            a.colptr[j + 1]++;
            a.rowind[k] = t[k].row;
            a.values[k] = t[k].value;
        } else if (form == LTI_BAND) {
            a.values[(j + (size_t)a.lower - i) * size + i] = t[k].value;
        } else {
            a.values[j * size + i] = t[k].value;
        }
    }
    for (size_t j = 0; form == LTI_CSC && j < size; j++) {
        a.colptr[j + 1] += a.colptr[j];
    }
    return a;
}

/* Matrices of n rows in the form; θ = ½, γ = ½, no rows, no force. */
static inline void lti_begin(struct lti_case *c, int32_t n, double h, const struct lti_bands *bands,
                             enum lti_form form)
{
    memset(c, 0, sizeof *c);
    c->n = n;
    c->h = h;
    mech_arena_init(&c->arena, 0);
    c->settings = (struct mech_moreau_jean_settings){
        .theta = 0.5, .gamma = 0.5, .vi = {.tolerance = 1e-13, .max_iterations = 1000}};
    c->M = lti_matrix(c, bands, 0, form);
    c->C = lti_matrix(c, bands, 1, form);
    c->K = lti_matrix(c, bands, 2, form);
    c->part = (struct mech_linear_part){.nv = n, .M = &c->M, .C = &c->C, .K = &c->K};
    c->state = (struct mech_state){.block = c->block,
                                   .size = sizeof c->block,
                                   .at = &c->at,
                                   .q = c->block,
                                   .v = c->block + LTI_MOST + 1,
                                   .vdot = c->block + 2 * LTI_MOST + 2,
                                   .impulse = c->block + 3 * LTI_MOST + 3};
}

/* Add y = Σ values q[columns] + b with restitution e; count is 1 or 2. */
static inline void lti_contact(struct lti_case *c, int32_t count, const int32_t *columns,
                               const double *values, double b, double e)
{
    const int32_t at = c->start[c->rows];
    memcpy(c->column + at, columns, (size_t)count * sizeof *columns);
    memcpy(c->value + at, values, (size_t)count * sizeof *values);
    c->b[c->rows] = b;
    c->e[c->rows] = e;
    c->start[++c->rows] = at + count;
}

/* Ready to step; the state is 0. */
static inline void lti_ready(struct lti_case *c)
{
    c->contacts = (struct mech_contact_rows){.count = c->rows,
                                             .start = c->start,
                                             .column = c->column,
                                             .value = c->value,
                                             .b = c->b,
                                             .e = c->e,
                                             .interaction = c->interaction,
                                             .contacts = c->set_count,
                                             .sets = c->set_count > 0 ? c->sets : NULL};
    if (mech_moreau_jean_init(&c->core, &c->part, &c->contacts, &c->settings, c->h) != 0) {
        abort();
    }
}

/* n steps; 0 or the first outcome. */
static inline int lti_run(struct lti_case *c, int32_t steps)
{
    for (int32_t i = 0; i < steps; i++) {
        c->result = (struct mech_step_result){.iterations = 0};
        int32_t where = -1;
        int code = mech_moreau_jean_factor(&c->core, c->h, &where);
        if (code == 0) {
            code = mech_moreau_jean_step(&c->core, c->force, &c->state, &c->result);
        }
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

static inline void lti_end(struct lti_case *c)
{
    mech_moreau_jean_fini(&c->core);
    mech_arena_fini(&c->arena);
}
