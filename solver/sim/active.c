/* What acts in the step that has led to a state: the set for which derivatives of that step
 * hold. */
#include "solver/step/acting.h"

#include "solver/model/touch.h"
#include "solver/sim/analysis.h"
#include "solver/sim/internal.h"

uint64_t mech_sim_acting(const struct mech_sim *s, const struct mech_state *state)
{
    return mech_acting(s->model, state, 0);
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
        if (mech_row_holds(s->model, state, r)) {
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

        if (!mech_touched_pushes(t) || mech_touched_pair(t) == last) {
            continue;
        }
        last = mech_touched_pair(t);
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
