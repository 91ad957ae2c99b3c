/* Editing a live simulation: change, build, look whether the state can be shown, take; or undo and
 * build what was. */
#include "solver/sim/edit.h"

#include "solver/base/err.h"
#include "solver/sim/internal.h"

/* The model as changed, with which the outputs of the present state are finite. */
static int take(struct mech_sim *s, const struct mech_edit *edit, struct mech_diag *diag)
{
    const struct mech_taking how = {s->now.parameter, edit->closed};
    struct mech_state *const state = &s->point;
    struct mech_unshown why;

    MECH_TRY(edit->apply(s->document, edit->context, diag));
    mech_state_copy(&s->now, state);
    MECH_TRY(mech_sim_change_model(s, state, &how, diag));
    if (mech_sim_outputs_fit(s, state, MECH_SHOWS_NOW, &why)) {
        const int code = mech_sim_refuse(s, &why);

        mech_diag_add(diag, "", "%s", mech_sim_refusal(s));
        return code;
    }
    mech_state_copy(state, &s->now);
    return 0;
}

int mech_sim_edit(struct mech_sim *s, const struct mech_edit *edit, struct mech_diag *diag)
{
    const int code = take(s, edit, diag);

    if (code == 0) {
        s->now.at->changed |= MECH_CHANGED_RATES;
        s->now.at->edits += !edit->carried;
        s->has_trial = false;
        return 0;
    }

    /* numbers that expressions give are those of the failed attempt: build the old ones again */
    edit->undo(s->document, edit->context);
    (void)mech_sim_model_back(s);
    return code;
}

uint32_t mech_sim_edits(const struct mech_sim *s)
{
    return s->now.at->edits;
}

void mech_sim_edit_undo(struct mech_sim *s, const struct mech_edit *edit, uint32_t edits)
{
    edit->undo(s->document, edit->context);
    mech_sim_forget_taken(s);
    s->now.at->edits = edits;
    s->has_trial = false;
    s->astray = true;
}
