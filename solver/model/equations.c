/* Objects with equations between their coordinates: G and the reaction Gᵀ λ in local blocks.
 *
 *     g −= Gᵀ λ,   ∂(Gᵀ λ)/∂q = Gᵀ's own slope
 *
 * The local coordinates of the last point are kept, so that G can be computed after the forces at
 * the same point. */
#include "solver/base/err.h"
#include "solver/model/internal.h"

#include <stdio.h>
#include <string.h>

/* Entries of a local block: more is refused, so that products of sizes stay in range. */
enum { MOST_ENTRIES = 4000000 };

/* Sizes that can be had, or a fault. */
static bool fits(const struct mech_equation_of *q, const struct mech_site *site)
{
    const int64_t n = site->n, rows = q->rows;

    if (site->curved || site->first_order) {
        mech_diag_add(site->diag, site->path,
                      "needs second-order coordinates whose rates are their velocities");
        return false;
    }
    if (rows * n > MOST_ENTRIES || (q->ops->stiffness && n * n > MOST_ENTRIES)) {
        mech_diag_add(site->diag, site->path, "couples too many coordinates: %d with %d equations",
                      (int)site->n, (int)q->rows);
        return false;
    }
    return true;
}

int mech_equation_add(struct mech_model *m, size_t o, struct mech_diag *diag)
{
    const struct mech_item *const item = &m->document->objects.at[o];
    struct mech_equation_of *const q = &m->rows.equations[m->rows.equation_count];
    char path[MECH_DIAG_PATH];

    mech_item_path(MECH_OBJECT, o, NULL, path, sizeof path);
    const struct mech_site site = mech_site_of(m, o, path, diag);
    *q = (struct mech_equation_of){.ops = item->type->ops.object->equation,
                                   .object = (int32_t)o,
                                   .row = m->sizes.lambda,
                                   .slot = site.slot,
                                   .q_slot = site.q_slot};
    q->rows = q->ops->rows(item->description, &site);
    if (!fits(q, &site) || q->rows == 0) {
        return 0;
    }
    q->record = mech_arena_alloc(&m->arena, 1, q->ops->record_size);
    q->local = mech_arena_alloc(&m->arena, 3 * (size_t)site.n, sizeof *q->local);
    if (!q->record || !q->local) {
        return MECH_NO_MEMORY;
    }
    q->point.n = site.n;
    const int32_t high = q->ops->stiffness && site.n > q->rows ? site.n : q->rows;
    const size_t block = (size_t)high * (size_t)site.n, values = 3 * (size_t)q->rows;
    q->block = mech_arena_alloc(&m->arena, block > values ? block : values, sizeof *q->block);
    if (!q->block) {
        return MECH_NO_MEMORY;
    }
    const int r = q->ops->record(item->description, &site, q->record);
    if (r < 0) {
        return r;
    }
    q->idle = r == 0;
    m->kinematics.objects[o].equation = (int32_t)m->rows.equation_count;
    m->kinematics.objects[o].record = q->record;
    m->sizes.lambda += q->rows;
    m->terms.place_count += q->ops->stiffness ? (size_t)site.n * (size_t)site.n : 0;
    m->rows.equation_count++;
    return 0;
}

/* --- evaluation ------------------------------------------------------------------------------- */

void mech_equation_read(const struct mech_seat_of *on, const struct mech_eval *e, double *local,
                        struct mech_equation_point *out)
{
    const int32_t n = on->n;

    for (int32_t i = 0; i < n; i++) {
        local[i] = e->q[on->q_slot[i]];
        local[n + i] = e->q_ref[on->q_slot[i]];
        local[2 * n + i] = e->v[on->slot[i]];
    }
    *out = (struct mech_equation_point){e->t, local, local + n, local + 2 * (size_t)n, n};
}

void mech_equations_gather(const struct mech_model *m, const struct mech_eval *e)
{
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        struct mech_equation_of *const q = &m->rows.equations[k];

        mech_equation_read(&m->kinematics.objects[q->object], e, q->local, &q->point);
    }
}

const double *mech_equation_jacobian(const struct mech_equation_of *q)
{
    memset(q->block, 0, (size_t)q->rows * (size_t)q->point.n * sizeof *q->block);
    q->ops->jacobian(q->record, &q->point, q->block);
    return q->block;
}

void mech_equations_force(const struct mech_model *m, const struct mech_eval *e, double *g)
{
    for (size_t k = 0; k < m->rows.equation_count && e->lambda; k++) {
        const struct mech_equation_of *const q = &m->rows.equations[k];

        if (q->idle) {
            continue;
        }
        const double *G = mech_equation_jacobian(q);

        for (int32_t r = 0; r < q->rows; r++, G += q->point.n) {
            const double lambda = e->lambda[q->row + r];

            for (int32_t i = 0; i < q->point.n; i++) {
                g[q->slot[i]] -= G[i] * lambda;
            }
        }
    }
}

void mech_equations_tangent(const struct mech_model *m, const struct mech_eval *e, double c,
                            const int32_t *places, double *values)
{
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        const struct mech_equation_of *const q = &m->rows.equations[k];
        const size_t count = q->ops->stiffness ? (size_t)q->point.n * (size_t)q->point.n : 0;

        if (count && e->lambda && !q->idle) {
            memset(q->block, 0, count * sizeof *q->block);
            q->ops->stiffness(q->record, &q->point, e->lambda + q->row, q->block);
            for (size_t i = 0; i < count; i++) {
                values[places[i]] -= c * q->block[i];
            }
        }
        places += count;
    }
}

void mech_equations_residual(const struct mech_model *m, double *g)
{
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        const struct mech_equation_of *const q = &m->rows.equations[k];

        if (q->idle || m->rows.joints.velocity[q->row]) {
            memset(g + q->row, 0, (size_t)q->rows * sizeof *g);
        } else {
            q->ops->residual(q->record, &q->point, g + q->row);
        }
    }
}

void mech_equations_jacobian(const struct mech_model *m, double *values)
{
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        const struct mech_equation_of *const q = &m->rows.equations[k];

        const size_t size = (size_t)q->rows * (size_t)q->point.n * sizeof *values;

        if (q->idle) {
            memset(values + m->rows.joints.start[q->row], 0, size);
        } else {
            memcpy(values + m->rows.joints.start[q->row], mech_equation_jacobian(q), size);
        }
    }
}

void mech_equation_values(const struct mech_equation_of *q, const double *of[3])
{
    const size_t rows = (size_t)q->rows;

    memset(q->block, 0, 3 * rows * sizeof *q->block);
    q->ops->residual(q->record, &q->point, q->block);
    q->ops->rate(q->record, &q->point, q->block + rows, q->block + 2 * rows);
    for (size_t k = 0; k < 3; k++) {
        of[k] = q->block + k * rows;
    }
}

void mech_equations_rate(const struct mech_model *m, double *gt, double *bias)
{
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        const struct mech_equation_of *const q = &m->rows.equations[k];

        if (!q->idle) {
            q->ops->rate(q->record, &q->point, gt + q->row, bias + q->row);
        }
    }
}
