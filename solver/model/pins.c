/* Coordinates held by constraints: rows of joints and of equations that fix one coordinate, or its
 * velocity, at a function of time. */
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
    const struct mech_seat_of *const on = &m->kinematics.objects[pair->object];
    const struct mech_pose *const pose[2] = {&m->kinematics.poses[pair->marker[0]],
                                             &m->kinematics.poses[pair->marker[1]]};
    double G[MECH_PAIR_ROWS][12] = {{0.}};

    if (pair->rows != 1 || !pair->ops->linear) {
        return false;
    }
    const int32_t k = only_slot(m, on);

    if (k < 0) {
        return false;
    }
    pair->ops->jacobian(pair->record, pose, G);
    /* the slots of both markers are consecutive */
    *out = (struct mech_pin){.row = pair->row,
                             .slot = on->slot[k],
                             .q_slot = on->q_slot[k],
                             .factor = G[0][k < m->kinematics.markers[pair->marker[0]].n ? 0 : 6],
                             .velocity = m->rows.joints.velocity[pair->row]};
    return out->factor != 0.;
}

/* Whether row r of equations, G its entries, fixes one coordinate. */
static bool pin_of_row(const struct mech_model *m, const struct mech_equation_of *q, int32_t r,
                       const double *G, struct mech_pin *out)
{
    int32_t found = -1;

    for (int32_t i = 0; i < q->point.n; i++) {
        if (G[i] != 0. && q->slot[i] < m->sizes.v) {
            if (found >= 0) {
                return false;
            }
            found = i;
        }
    }
    if (found < 0) {
        return false;
    }
    *out = (struct mech_pin){.row = q->row + r,
                             .slot = q->slot[found],
                             .q_slot = q->q_slot[found],
                             .factor = G[found],
                             .velocity = m->rows.joints.velocity[q->row + r]};
    return true;
}

static bool is_idle(const struct mech_model *m, size_t o)
{
    const struct mech_seat_of *const on = &m->kinematics.objects[o];

    return on->pair >= 0 ? m->rows.pairs[on->pair].idle
                         : on->equation >= 0 && m->rows.equations[on->equation].idle;
}

/* Multipliers of an object into *rows, and how many of them pin: the pins into out unless NULL. */
static int32_t pins_of_object(const struct mech_model *m, size_t o, int32_t *rows,
                              struct mech_pin *out)
{
    struct mech_pin pin;
    int32_t n = 0;

    *rows = 0;
    if (m->kinematics.objects[o].pair >= 0) {
        *rows = m->rows.pairs[m->kinematics.objects[o].pair].rows;
        n = pin_of(m, &m->rows.pairs[m->kinematics.objects[o].pair], &pin);
        if (n && out) {
            *out = pin;
        }
        return n;
    }
    if (m->kinematics.objects[o].equation < 0) {
        return 0;
    }
    const struct mech_equation_of *const q = &m->rows.equations[m->kinematics.objects[o].equation];
    const bool constant = q->ops->constant ? q->ops->constant(q->record) : !q->ops->stiffness;

    *rows = q->rows;
    const double *G = constant ? mech_equation_jacobian(q) : NULL;
    for (int32_t r = 0; r < q->rows && constant; r++, G += q->point.n) {
        if (pin_of_row(m, q, r, G, &pin)) {
            if (out) {
                out[n] = pin;
            }
            n++;
        }
    }
    return n;
}

int32_t mech_model_pins(const struct mech_model *m, struct mech_pin *out)
{
    int32_t n = 0, rows;

    for (size_t o = 0; o < m->document->objects.n; o++) {
        n += is_idle(m, o) ? 0 : pins_of_object(m, o, &rows, out ? out + n : NULL);
    }
    return n;
}

int32_t mech_model_first_unpinned(const struct mech_model *m)
{
    int32_t rows;

    for (size_t o = 0; o < m->document->objects.n; o++) {
        if (!is_idle(m, o) && pins_of_object(m, o, &rows, NULL) < rows) {
            return m->kinematics.objects[o].pair >= 0
                       ? m->rows.pairs[m->kinematics.objects[o].pair].row
                       : m->rows.equations[m->kinematics.objects[o].equation].row;
        }
    }
    return m->rows.joints.count;
}

bool mech_model_is_linear_but_pins(const struct mech_model *m)
{
    size_t records = 0;
    bool all = true;

    for (size_t b = 0; b < m->terms.batch_count; b++) {
        records += m->terms.batches[b].n;
    }
    for (size_t o = 0; o < m->document->objects.n && all; o++) {
        const int32_t p = m->kinematics.objects[o].pair;
        int32_t rows;

        /* also of deactivated ones: the data of a scheme does not depend on them */
        all = pins_of_object(m, o, &rows, NULL) == rows && (p < 0 || rows > 0);
    }
    return records == 0 && m->kinematics.moving_count == 0 && !m->kinematics.curved &&
           !m->terms.has_inertia && all;
}
