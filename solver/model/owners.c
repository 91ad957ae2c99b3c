/* Whose numbers the numbers of a state are. Cost: one pass over nodes, objects and what is kept. */
#include "solver/model/internal.h"

/* Numbers in a row of one item, from slot on. */
static void claim(struct mech_owner *out, const int32_t *slot, int32_t n,
                  const struct mech_owner *item)
{
    for (int32_t k = 0; k < n; k++) {
        out[slot[k]] = *item;
        out[slot[k]].index = k;
    }
}

static bool has_part(const struct mech_seat_of *seat, enum mech_part part)
{
    const enum mech_part own = seat->data          ? MECH_PART_Z
                               : seat->first_order ? MECH_PART_X
                                                   : MECH_PART_V;
    return own == part || (own == MECH_PART_V && part == MECH_PART_Q);
}

static void claim_seat(const struct mech_seat_of *seat, enum mech_part part,
                       const struct mech_owner *item, struct mech_owner *out)
{
    if (part == MECH_PART_Q) {
        claim(out, seat->q_slot, seat->nq, item);
    } else {
        claim(out, seat->slot, seat->n, item);
    }
}

/* Where in z the numbers begin that other items than nodes keep from step to step. */
static void begin_kept(const struct mech_model *m, struct mech_owner *out)
{
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        if (m->rows.pairs[p].z < m->kinematics.kept) {
            out[m->rows.pairs[p].z] = (struct mech_owner){MECH_OBJECT, m->rows.pairs[p].object, 0};
        }
    }
    for (size_t k = 0; k < m->kinematics.keeper_count; k++) {
        const int32_t marker = m->kinematics.keepers[k];
        out[m->kinematics.marker_seats[marker].z] = (struct mech_owner){MECH_MARKER, marker, 0};
    }
    for (size_t k = 0; k < m->channels.count; k++) {
        const struct mech_channel *const c = &m->channels.at[k];
        for (int32_t j = 0; j < c->z_count; j++) {
            out[c->z + j] = (struct mech_owner){c->category, c->item, j};
        }
    }
    for (size_t k = 0; m->kinematics.sensor_z && k < m->document->sensors.n; k++) {
        if (m->kinematics.sensor_z[k] >= 0) {
            out[m->kinematics.sensor_z[k]] = (struct mech_owner){MECH_SENSOR, (int32_t)k, 0};
        }
    }
}

int32_t mech_model_part_size(const struct mech_model *m, enum mech_part part)
{
    const int32_t sizes[] = {[MECH_PART_Q] = m->sizes.q,
                             [MECH_PART_V] = m->sizes.v,
                             [MECH_PART_X] = m->sizes.x,
                             [MECH_PART_Z] = m->sizes.z};
    return sizes[part];
}

void mech_model_part_owners(const struct mech_model *m, enum mech_part part, struct mech_owner *out)
{
    const int32_t n = mech_model_part_size(m, part);
    const struct mech_document *const d = m->document;

    for (int32_t k = 0; k < n; k++) {
        out[k] = (struct mech_owner){MECH_NODE, -1, 0};
    }
    if (part == MECH_PART_Z) {
        begin_kept(m, out);
    }
    // of objects, whose slots repeat those of the nodes that they are on; then of these
    for (size_t i = 0; i < d->objects.n && part != MECH_PART_Z; i++) {
        if (d->objects.at[i].type->ops.object->own && has_part(&m->kinematics.objects[i], part)) {
            claim_seat(&m->kinematics.objects[i], part,
                       &(struct mech_owner){MECH_OBJECT, (int32_t)i, 0}, out);
        }
    }
    for (size_t i = 0; i < d->nodes.n; i++) {
        if (has_part(&m->kinematics.nodes[i], part)) {
            claim_seat(&m->kinematics.nodes[i], part,
                       &(struct mech_owner){MECH_NODE, (int32_t)i, 0}, out);
        }
    }
    // what pairs, markers and sensors keep goes on until the next begins
    for (int32_t k = 1; k < n && part == MECH_PART_Z; k++) {
        if (out[k].item < 0 && (k < m->kinematics.kept || out[k - 1].category == MECH_SENSOR)) {
            out[k] = out[k - 1];
            out[k].index++;
        }
    }
}
