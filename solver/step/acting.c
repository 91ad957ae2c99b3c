#include "solver/step/acting.h"

#include "solver/base/hash.h"
#include "solver/linalg/v3.h"
#include "solver/model/touch.h"

#include <math.h>

/* Shares of a bound within which a multiplier is at it: solvers leave about 1e-8. */
static const double at_bound = 1e-6;

/* Of one contact; of a pair all that its points have. A relay has 1 << enum mech_relay. */
enum { STICKS = 1, SLIDES = 2, SPINS = 4, ROLLS = 8 };

enum mech_relay mech_relay_of(const struct mech_set *box, double unit, double l)
{
    const double lower = box->lower * unit, upper = box->upper * unit;
    const double range = isfinite(upper - lower) ? upper - lower : fabs(l);

    return l <= lower + at_bound * range   ? MECH_RELAY_LOWER
           : l >= upper - at_bound * range ? MECH_RELAY_UPPER
                                           : MECH_RELAY_BETWEEN;
}

bool mech_row_holds(const struct mech_model *m, const struct mech_state *s, int32_t row)
{
    return mech_model_joints(m)->side[row] != 0 && s->open[row] == 0.;
}

static uint64_t mix(uint64_t so_far, uint64_t value)
{
    return mech_hash(&value, sizeof value, so_far);
}

/* Whether a part of an impulse is as large as its law lets it be, as one that cannot be is. */
static bool full(double part, double most)
{
    return part >= (1. - at_bound) * most;
}

/* Of a cone with the normal part n > 0. */
static unsigned zone(double mu, double n, double along)
{
    return full(along, mu * n) ? SLIDES : STICKS;
}

static unsigned zone_of_set(const struct mech_set *set, double unit, const double *l)
{
    if (set->kind == MECH_SET_BILATERAL) {
        return STICKS;
    }
    if (set->kind == MECH_SET_BOX) {
        return 1u << mech_relay_of(set, unit, l[0]);
    }
    if (set->kind == MECH_SET_UNILATERAL || l[0] == 0.) {
        return l[0] != 0.;
    }
    unsigned found = zone(set->mu, l[0], set->rows > 2 ? hypot(l[1], l[2]) : fabs(l[1]));
    if (set->kind == MECH_SET_ROLLING) {
        found |= full(fabs(l[3]), set->spinning * l[0]) ? SPINS : 0u;
        found |= full(hypot(l[4], l[5]), set->rolling * l[0]) ? ROLLS : 0u;
    }
    return found;
}

/* Length of what a vector has across a normal. */
static double across(const double x[3], const double n[3])
{
    double rest[3] = {x[0], x[1], x[2]};

    mech_v3_add(rest, -mech_v3_dot(x, n), n, rest);
    return mech_v3_norm(rest);
}

static unsigned zone_of_touched(const struct mech_model *m, const struct mech_touched *t)
{
    struct mech_contact c = {.id = t->id};

    mech_model_touch_pair(t->id, c.collider);
    const struct mech_material material = mech_model_touch_material(m, &c);
    const double n = mech_v3_dot(t->impulse, t->n);
    unsigned found = zone(material.friction, n, across(t->impulse, t->n));

    if (material.spinning > 0. || material.rolling > 0.) {
        found |= full(fabs(mech_v3_dot(t->couple, t->n)), material.spinning * n) ? SPINS : 0u;
        found |= full(across(t->couple, t->n), material.rolling * n) ? ROLLS : 0u;
    }
    return found;
}

static uint64_t mix_interactions(const struct mech_model *m, const struct mech_state *s,
                                 uint64_t so_far)
{
    const struct mech_contact_rows *const rows = mech_model_contacts(m);
    const struct mech_first_order_rows *const laws = mech_model_first_order_rows(m);
    static const struct mech_set alone = {.kind = MECH_SET_UNILATERAL, .rows = 1};

    for (int32_t r = 0, k = 0; r < rows->count; k++) {
        const struct mech_set *const set = rows->sets ? &rows->sets[k] : &alone;

        so_far = mix(so_far, zone_of_set(set, s->at->last_step, s->impulse + r));
        r += set->rows;
    }
    for (int32_t r = 0; r < laws->count; r++) {
        so_far = mix(so_far, zone_of_set(&laws->sets[r], 1., s->impulse + rows->count + r));
    }
    return so_far;
}

uint64_t mech_acting(const struct mech_model *m, const struct mech_state *s, uint64_t so_far)
{
    const struct mech_joint_rows *const joints = mech_model_joints(m);
    const size_t touched = (size_t)s->at->touched;

    so_far = mix_interactions(m, s, so_far);
    for (int32_t i = 0; i < joints->count && joints->one_sided; i++) {
        so_far = mix(so_far, mech_row_holds(m, s, i));
    }
    for (size_t i = 0; i < touched;) {
        const uint64_t pair = mech_touched_pair(&s->touched[i]);
        unsigned found = 0;

        for (; i < touched && mech_touched_pair(&s->touched[i]) == pair; i++) {
            const struct mech_touched *const t = &s->touched[i];

            found |= mech_touched_pushes(t) ? zone_of_touched(m, t) : 0u;
        }
        so_far = found ? mix(mix(so_far, pair), found) : so_far;
    }
    return so_far;
}
