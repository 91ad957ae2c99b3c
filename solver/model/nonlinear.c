/* The nonlinear part g(q, v, t) and its tangents: one call per type. */
#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "solver/model/penalty.h"
#include "solver/model/touch_internal.h"

#include <string.h>

bool mech_model_is_linear(const struct mech_model *m)
{
    return m->terms.place_count == 0 && !m->rows.penalty && m->rows.pair_count == 0 &&
           m->rows.equation_count == 0 && !m->kinematics.curved;
}

bool mech_model_unconnected(const struct mech_model *m)
{
    bool alone = !m->rows.penalty && m->rows.pair_count == 0 && m->rows.equation_count == 0 &&
                 m->terms.C.kind == MECH_MAT_ZERO && m->terms.K.kind == MECH_MAT_ZERO;

    for (size_t b = 0; b < m->terms.batch_count; b++) {
        alone = alone && (m->terms.batches[b].n == 0 || m->terms.batches[b].ops->body);
    }
    return alone;
}

bool mech_model_differenced(const struct mech_model *m)
{
    for (size_t b = 0; b < m->terms.batch_count; b++) {
        const struct mech_batch *const batch = &m->terms.batches[b];

        for (size_t r = 0; r < batch->n; r++) {
            if (batch->ops->differenced &&
                batch->ops->differenced(batch->records + r * batch->ops->record_size)) {
                return true;
            }
        }
    }
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        const struct mech_pair_ops *const ops = m->rows.pairs[p].ops;

        if (!m->rows.pairs[p].idle && ops->differenced &&
            ops->differenced(m->rows.pairs[p].record)) {
            return true;
        }
    }
    return false;
}

const char *mech_model_nonlinear_name(const struct mech_model *m)
{
    for (size_t b = 0; b < m->terms.batch_count; b++) {
        if (m->terms.batches[b].n) {
            return m->document->objects.at[m->terms.batches[b].first].name;
        }
    }
    if (m->rows.pair_count) {
        return m->document->objects.at[m->rows.pairs[0].object].name;
    }
    if (m->rows.equation_count) {
        return m->document->objects.at[m->rows.equations[0].object].name;
    }
    if (m->kinematics.moving_count) {
        return m->kinematics.marker_seats[m->kinematics.moving[0].marker].item->name;
    }
    if (m->rows.penalty) {
        return m->document->objects.at[m->rows.touch->bodies[0].object].name;
    }
    return m->kinematics.curved ? m->document->nodes.at[0].name : NULL;
}

struct mech_eval mech_model_point(const struct mech_model *m, const struct mech_state *s, double t,
                                  const double *q, const double *v)
{
    return (struct mech_eval){
        .t = t, .q = q, .v = v, .q_ref = m->kinematics.q_ref, .state = s, .z = s ? s->z : NULL};
}

void mech_model_nonlinear(const struct mech_model *m, const struct mech_eval *e, double *g)
{
    for (size_t b = 0; b < m->terms.batch_count; b++) {
        m->terms.batches[b].ops->force(m->terms.batches[b].records, m->terms.batches[b].n, e, g);
    }
    if (m->kinematics.posed_count || m->rows.equation_count) {
        mech_model_pose(m, e);
        mech_moving_force(m, e, g);
        mech_pairs_force(m, e, g);
        mech_equations_force(m, e, g);
    }
    if (m->rows.penalty) {
        mech_penalty_force(m, e, g);
    }
}

void mech_model_resist(const struct mech_model *m, const struct mech_eval *e, double *work,
                       double *f)
{
    const struct mech_linear_part *const part = &m->terms.linear;

    if (part->K->kind != MECH_MAT_ZERO) {
        const double *u = e->q;

        if (m->kinematics.curved) {
            mech_model_displacement(m, e->q, work);
            u = work;
        } else if (part->q_ref) {
            for (int32_t i = 0; i < part->nv; i++) {
                work[i] = e->q[i] - part->q_ref[i];
            }
            u = work;
        }
        mech_mat_mul(part->K, -1., u, 1., f);
    }
    if (part->C->kind != MECH_MAT_ZERO) {
        mech_mat_mul(part->C, -1., e->v, 1., f);
    }
    if (!mech_model_is_linear(m)) {
        memset(work, 0, ((size_t)part->nv + 1) * sizeof *work);
        mech_model_nonlinear(m, e, work);
        for (int32_t i = 0; i < part->nv; i++) {
            f[i] -= work[i];
        }
    }
}

const struct mech_mat *mech_model_pattern(const struct mech_model *m)
{
    return &m->terms.pattern;
}

/* Places of all couplings of these slots; -1 among them: W lacks an entry. */
static size_t places_of(const struct mech_model *m, const int32_t *slot, int32_t n,
                        const struct mech_mat *W, int32_t *places)
{
    const int32_t ground = (int32_t)mech_mat_stored(W);

    for (int32_t k = 0; k < n * n; k++) {
        const int32_t row = slot[k / n], col = slot[k % n];
        const bool free = row < m->sizes.v && col < m->sizes.v;

        if (!free) {
            places[k] = ground;
            continue;
        }
        const double *const at = mech_mat_place(W, row, col);
        places[k] = at ? (int32_t)(at - W->values) : -1;
    }
    return (size_t)n * (size_t)n;
}

/* of all records, or of those with M_q; returns how many */
static size_t places_of_records(const struct mech_model *m, bool inertia, const struct mech_mat *W,
                                int32_t *places)
{
    size_t n = 0;

    for (size_t b = 0; b < m->terms.batch_count; b++) {
        const struct mech_batch *const batch = &m->terms.batches[b];
        const int32_t *const start = batch->start;

        for (size_t r = 0; r < batch->n && (batch->inertia || !inertia); r++) {
            n += places_of(m, batch->slot + start[r], start[r + 1] - start[r], W, places + n);
        }
    }
    return n;
}

static int complete(const int32_t *places, size_t n)
{
    size_t k = 0;

    while (k < n && places[k] >= 0) {
        k++;
    }
    return k < n ? MECH_INTERNAL : 0;
}

size_t mech_model_place_count(const struct mech_model *m)
{
    return m->terms.place_count;
}

int mech_model_places(const struct mech_model *m, struct mech_arena *arena,
                      const struct mech_mat *W, int32_t **out)
{
    int32_t *const places = mech_arena_alloc(arena, m->terms.place_count, sizeof *places);
    size_t n = 0;

    if (!places) {
        return MECH_NO_MEMORY;
    }
    n = places_of_records(m, false, W, places);
    for (size_t k = 0; k < m->kinematics.moving_count; k++) {
        const struct mech_seat *const seat =
            &m->kinematics.marker_seats[m->kinematics.moving[k].marker];

        n += places_of(m, seat->slot, seat->n, W, places + n);
    }
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        int32_t slot[MECH_PAIR_SLOTS];
        const int32_t count = mech_pair_slots(m, &m->rows.pairs[p], slot);

        n += places_of(m, slot, count, W, places + n);
    }
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        const struct mech_equation_of *const q = &m->rows.equations[k];

        n += q->ops->stiffness ? places_of(m, q->slot, q->point.n, W, places + n) : 0;
    }
    int32_t coupled = 0;
    const int32_t *const slot = mech_penalty_slots(m, &coupled);
    n += places_of(m, slot, coupled, W, places + n);
    *out = places;
    return complete(places, n);
}

void mech_model_tangent(const struct mech_model *m, const struct mech_eval *e, const double c[3],
                        const int32_t *places, double *values)
{
    const int32_t *const all = places;

    for (size_t b = 0; b < m->terms.batch_count; b++) {
        const struct mech_batch *const batch = &m->terms.batches[b];

        batch->ops->tangent(batch->records, batch->n, e, c, places, values);
        places += batch->places;
    }
    if (m->kinematics.posed_count || m->rows.equation_count) {
        if (!e->posed) {
            mech_model_pose(m, e);
        }
        places = mech_pairs_tangent(m, e, c, places, values);
        mech_equations_tangent(m, e, c[0], places, values);
    }
    if (m->rows.penalty) {
        /* its places are the last */
        mech_penalty_tangent(m, e, c, all + m->terms.place_count - mech_penalty_places(m), values);
    }
}

/* --- M_q -------------------------------------------------------------------------------------- */

bool mech_model_inertia(const struct mech_model *m)
{
    return m->terms.has_inertia;
}

const struct mech_mat *mech_model_inertia_pattern(const struct mech_model *m)
{
    return &m->terms.inertia;
}

int mech_model_inertia_places(const struct mech_model *m, struct mech_arena *arena,
                              const struct mech_mat *W, int32_t **out)
{
    int32_t *const places = mech_arena_alloc(arena, m->terms.place_count, sizeof *places);

    if (!places) {
        return MECH_NO_MEMORY;
    }
    *out = places;
    return complete(places, places_of_records(m, true, W, places));
}

void mech_model_inertia_add(const struct mech_model *m, const struct mech_eval *e,
                            const int32_t *places, double *values)
{
    static const double alone[3] = {0., 0., 1.};

    for (size_t b = 0; b < m->terms.batch_count; b++) {
        const struct mech_batch *const batch = &m->terms.batches[b];

        if (batch->inertia) {
            batch->ops->tangent(batch->records, batch->n, e, alone, places, values);
            places += batch->places;
        }
    }
}
