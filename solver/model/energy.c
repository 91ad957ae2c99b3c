/* Mechanical energy: ½ vᵀ M v, and the potential of what has one.
 *
 *     V = ½ uᵀ K u − fᵀ u + c          coordinates: u = q − q_ref, f constant forces of objects
 *       + Σ V_i                        springs between markers, elastic bodies
 *       − Σ m a · p                    gravity, accelerations of loads that are numbers
 *
 * p is the global position of a centre of mass, so that a weight at height z has m g z. */
#include "solver/linalg/v3.h"
#include "solver/model/penalty.h"

/* of M, K and the constant forces of objects */
static double of_coordinates(const struct mech_model *m, const struct mech_eval *e)
{
    const size_t n = (size_t)m->sizes.v;
    struct mech_arena *const scratch = mech_model_scratch(m);
    const struct mech_arena_mark mark = mech_arena_mark(scratch);
    double *const u = mech_arena_alloc(scratch, n, sizeof *u);
    double *const product = mech_arena_alloc(scratch, n, sizeof *product);
    double sum = m->terms.potential;

    if (!u || !product) {
        return NAN;
    }
    if (m->terms.M.kind != MECH_MAT_ZERO) {
        mech_mat_mul(&m->terms.M, 1., e->v, 0., product);
        for (size_t i = 0; i < n; i++) {
            sum += 0.5 * e->v[i] * product[i];
        }
    }
    mech_model_displacement(m, e->q, u);
    if (m->terms.K.kind != MECH_MAT_ZERO) {
        mech_mat_mul(&m->terms.K, 1., u, 0., product);
        for (size_t i = 0; i < n; i++) {
            sum += 0.5 * u[i] * product[i];
        }
    }
    for (size_t i = 0; i < n; i++) {
        sum -= m->terms.item_force[i] * u[i];
    }
    mech_arena_release(scratch, mark);
    return sum;
}

static double of_gravity(const struct mech_model *m, const struct mech_eval *e)
{
    const int32_t first = (int32_t)m->document->markers.n;
    double sum = 0.;

    for (int32_t i = first; i < first + (int32_t)m->kinematics.centre_count; i++) {
        const struct mech_item *const item = m->kinematics.marker_seats[i].item;
        double center[3];

        mech_model_pose_marker(m, i, e);
        sum -= item->type->ops.object->mass(item->description, center) *
               mech_v3_dot(m->document->gravity, m->kinematics.poses[i].p);
    }
    return sum;
}

/* of accelerations on masses, where they are plain numbers */
static double of_loads(const struct mech_model *m, const struct mech_eval *e)
{
    double sum = 0.;

    for (size_t l = 0; l < m->document->loads.n; l++) {
        const struct mech_item *const item = &m->document->loads.at[l];
        const struct mech_load_ops *const ops = item->type->ops.load;

        if (ops->variable != MECH_OUTPUT_ACCELERATION) {
            continue;
        }
        const int32_t marker = ops->marker(item->description)->index;

        mech_model_pose_marker(m, marker, e);
        for (int32_t k = 0; k < ops->size; k++) {
            const struct mech_channel *const c = &m->channels.at[m->terms.loads[l].channel + k];
            double w[6];

            if (!mech_timed_varies(&c->source) && c->input < 0) {
                ops->wrench(item->description, k, &m->kinematics.markers[marker], w);
                sum -= c->source.number * mech_v3_dot(w, m->kinematics.poses[marker].p);
            }
        }
    }
    return sum;
}

double mech_model_energy(const struct mech_model *m, const struct mech_eval *e)
{
    double sum = of_coordinates(m, e) + of_gravity(m, e) + of_loads(m, e);

    for (size_t b = 0; b < m->terms.batch_count; b++) {
        const struct mech_batch *const batch = &m->terms.batches[b];

        if (batch->ops->energy) {
            sum += batch->ops->energy(batch->records, batch->n, e);
        }
    }
    mech_model_pose(m, e);
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        const struct mech_pair_of *const pair = &m->rows.pairs[p];
        const struct mech_pose *const pose[2] = {&m->kinematics.poses[pair->marker[0]],
                                                 &m->kinematics.poses[pair->marker[1]]};

        if (pair->ops->energy && !pair->idle) {
            const double stored = pair->ops->energy(pair->record, e, pose);

            sum += isnan(stored) ? 0. : stored;
        }
    }
    return m->rows.penalty ? sum + mech_penalty_energy(m, e) : sum;
}
