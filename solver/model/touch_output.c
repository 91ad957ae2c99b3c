/* Forces of all contacts of one body, means of the last step h:
 *
 *     F = Σ ±P/h,   τ = Σ ±C/h + (arm + c − x) × ±P/h
 *
 * P and C impulse and couple of a contact, arm from the centre of mass to it where the step looked
 * for contacts, c the centre of mass and x the requested point, as they are now. Contacts by
 * penalty: forces at the end of the step in their place. */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/model/touch_internal.h"

#include <string.h>

/* Centre of mass (of the ground: the origin) less the point x of the request. */
static void lever(const struct mech_model *m, const struct mech_state *s,
                  const struct mech_output_request *r, double out[3])
{
    const struct mech_item *const item = &m->document->objects.at[r->index];
    const struct mech_object_ops *const ops = item->type->ops.object;
    const struct mech_seat_of *const on = &m->kinematics.objects[r->index];
    const struct mech_seat seat = {
        .item = item, .slot = on->slot, .q_slot = on->q_slot, .n = on->n, .nq = on->nq};
    const struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);
    struct mech_pose pose = {.R = {[0] = 1., [4] = 1., [8] = 1.}, .n = on->n, .slot = on->slot};
    double center[3] = {0.}, local[3] = {0.}, turned[3];

    if (r->local) {
        memcpy(local, r->local, sizeof local);
    }
    ops->pose(item->description, &seat, &e, local, &pose);
    if (on->n == 0) {
        mech_v3_add(center, -1., pose.p, out);
        return;
    }
    if (ops->mass) {
        (void)ops->mass(item->description, center);
    }
    mech_v3_add(center, -1., local, local);
    mech_m3_mul(pose.R, local, turned);
    memcpy(out, turned, sizeof turned);
}

/* What one side of a contact adds; arm: from the requested point. */
static void add_contact(const struct mech_touched *t, int side, const double arm[3], bool torque,
                        double sum[3])
{
    const double sign = side ? 1. : -1.;
    double moment[3];

    if (!torque) {
        mech_v3_add(sum, sign, t->impulse, sum);
        return;
    }
    mech_v3_cross(arm, t->impulse, moment);
    mech_v3_add(moment, 1., t->couple, moment);
    mech_v3_add(sum, sign, moment, sum);
}

int mech_touch_output(const struct mech_model *m, const struct mech_state *s,
                      const struct mech_output_request *r, size_t capacity, double *values,
                      size_t *count)
{
    const bool torque = r->variable == MECH_OUTPUT_CONTACT_TORQUE;
    double sum[3] = {0.}, from[3], arm[3];

    if (r->configuration != MECH_CURRENT) {
        return MECH_UNSUPPORTED;
    }
    *count = 3;
    if (!s || capacity == 0) {
        return 0;
    }
    lever(m, s, r, from);
    const size_t n =
        m->rows.touch && (m->rows.penalty || s->at->last_step > 0.) ? s->at->touched : 0;
    for (size_t i = 0; i < n; i++) {
        int32_t collider[2];

        mech_model_touch_pair(s->touched[i].id, collider);
        for (int side = 0; side < 2; side++) {
            const struct mech_collider_of *const c = &m->rows.touch->colliders[collider[side]];
            const struct mech_touched *const t = &s->touched[i];

            if (c->object == r->index) {
                mech_v3_add(c->body < 0 ? t->p : t->arm[side], 1., from, arm);
                add_contact(t, side, arm, torque, sum);
            }
        }
    }
    for (size_t k = 0; k < 3 && k < capacity; k++) {
        values[k] = !n ? 0. : m->rows.penalty ? sum[k] : sum[k] / s->at->last_step;
    }
    return 0;
}
