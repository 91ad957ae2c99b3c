/* Coordinates held by constraints: rows of joints that fix one coordinate at a function of time. */
#include "solver/model/internal.h"

/* The free slot of a pair, when it is the only one: its place among the object's, or -1. */
static int32_t only_slot(const struct mech_model *m, const struct mech_seat_of *on)
{
    int32_t found = -1;

    for (int32_t k = 0; k < on->n; k++) {
        if (on->slot[k] < m->sizes.v) {
            if (found >= 0) {
                return -1;
            }
            found = k;
        }
    }
    return found;
}

/* Whether a pair fixes one coordinate, and how. */
static bool pin_of(const struct mech_model *m, const struct mech_pair_of *pair,
                   struct mech_pin *out)
{
    const struct mech_seat_of *const on = &m->objects[pair->object];
    const struct mech_pose *const pose[2] = {&m->poses[pair->marker[0]],
                                             &m->poses[pair->marker[1]]};
    double G[MECH_PAIR_ROWS][12] = {{0.}};

    if (pair->rows != 1 || !pair->ops->linear || m->joints.velocity[pair->row]) {
        return false;
    }
    const int32_t k = only_slot(m, on);

    if (k < 0) {
        return false;
    }
    pair->ops->jacobian(pair->record, pose, G);
    /* the slots of both markers stand one behind the other */
    *out = (struct mech_pin){pair->row, on->slot[k], on->q_slot[k],
                             G[0][k < m->markers[pair->marker[0]].n ? 0 : 6]};
    return out->factor != 0.;
}

int32_t mech_model_pins(const struct mech_model *m, struct mech_pin *out)
{
    int32_t n = 0;

    for (size_t p = 0; p < m->pair_count; p++) {
        struct mech_pin pin;

        if (pin_of(m, &m->pairs[p], &pin)) {
            if (out) {
                out[n] = pin;
            }
            n++;
        }
    }
    return n;
}

int32_t mech_model_first_unpinned(const struct mech_model *m)
{
    int32_t row = 0;

    /* rows that are no pair's stand between those that are */
    for (size_t p = 0; p < m->pair_count; p++) {
        struct mech_pin pin;

        if (m->pairs[p].rows == 0) {
            continue;
        }
        if (m->pairs[p].row != row || !pin_of(m, &m->pairs[p], &pin)) {
            return row;
        }
        row++;
    }
    return row;
}

bool mech_model_is_linear_but_pins(const struct mech_model *m)
{
    size_t records = 0;

    for (size_t b = 0; b < m->batch_count; b++) {
        records += m->batches[b].n;
    }
    return records == 0 && m->moving_count == 0 && m->equation_count == 0 && !m->curved &&
           !m->has_inertia && (size_t)mech_model_pins(m, NULL) == m->pair_count;
}
