/* What acts in the step that has led to a state: the set for which derivatives of that step
 * hold. */
#include "solver/model/touch.h"
#include "solver/sim/analysis.h"
#include "solver/sim/internal.h"

/* FNV-1a */
static uint64_t mix(uint64_t so_far, uint64_t value)
{
    return (so_far ^ value) * 1099511628211u;
}

static bool pushes(const struct mech_touched *t)
{
    return t->impulse[0] != 0. || t->impulse[1] != 0. || t->impulse[2] != 0.;
}

/* A one-sided row of a joint that acts. */
static bool holds(const struct mech_sim *s, const struct mech_state *state, int32_t row)
{
    return mech_model_joints(s->model)->side[row] != 0 && state->open[row] == 0.;
}

uint64_t mech_sim_acting(const struct mech_sim *s, const struct mech_state *state)
{
    const struct mech_joint_rows *const joints = mech_model_joints(s->model);
    uint64_t sum = 14695981039346656037u;

    for (int32_t i = 0; i < s->sizes.impulse; i++) {
        sum = mix(sum, state->impulse[i] != 0.);
    }
    for (int32_t i = 0; i < joints->count && joints->one_sided; i++) {
        sum = mix(sum, holds(s, state, i));
    }
    for (size_t i = 0; i < (size_t)state->at->touched; i++) {
        sum = pushes(&state->touched[i]) ? mix(sum, state->touched[i].id) : sum;
    }
    return sum;
}

static void add(struct mech_active_set *set, const struct mech_active *one)
{
    if (set->count < set->room) {
        set->at[set->count++] = *one;
    }
    set->total++;
}

static void list_interactions(const struct mech_sim *s, const struct mech_state *state,
                              struct mech_active_set *set)
{
    const struct mech_contact_rows *const rows = mech_model_contacts(s->model);
    const struct mech_first_order_rows *const laws = mech_model_first_order_rows(s->model);
    const struct mech_interaction *const all = s->document->interactions.at;

    for (int32_t r = 0, first = 0; r < rows->count + laws->count; r++) {
        const bool behind = r >= rows->count;
        const int32_t *const of = behind ? laws->interaction - rows->count : rows->interaction;

        first = r == rows->count || of[r] != of[first] ? r : first;
        if (state->impulse[r] != 0.) {
            add(set, &(struct mech_active){
                         .of = MECH_LOGGED_INTERACTION, .row = r - first, .item = all[of[r]].name});
        }
    }
}

static void list_joints(const struct mech_sim *s, const struct mech_state *state,
                        struct mech_active_set *set)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);

    for (int32_t r = 0, first = 0; r < rows->count && rows->one_sided; r++) {
        first = rows->object[r] != rows->object[first] ? r : first;
        if (holds(s, state, r)) {
            add(set, &(struct mech_active){.of = MECH_LOGGED_JOINT,
                                           .row = r - first,
                                           .item = mech_model_joint_name(s->model, r)});
        }
    }
}

static void list_bodies(const struct mech_sim *s, const struct mech_state *state,
                        struct mech_active_set *set)
{
    uint64_t last = UINT64_MAX;

    for (size_t i = 0; i < (size_t)state->at->touched; i++) {
        const struct mech_touched *const t = &state->touched[i];
        int32_t collider[2];

        if (!pushes(t) || t->id >> 24 == last) {
            continue;
        }
        last = t->id >> 24;
        mech_model_touch_pair(t->id, collider);
        add(set, &(struct mech_active){.of = MECH_LOGGED_BODIES,
                                       .item = mech_model_touch_name(s->model, collider[0]),
                                       .with = mech_model_touch_name(s->model, collider[1])});
    }
}

void mech_sim_list_active(const struct mech_sim *s, const struct mech_state *state,
                          struct mech_active_set *set)
{
    set->count = 0;
    set->total = 0;
    list_interactions(s, state, set);
    list_joints(s, state, set);
    list_bodies(s, state, set);
}
