/* Editing a live simulation: change, build, take; or undo and build what was. */
#include "solver/sim/edit.h"

#include "solver/base/err.h"
#include "solver/sim/internal.h"

int mech_sim_edit(struct mech_sim *s, const struct mech_edit *edit, struct mech_diag *diag)
{
    int code = edit->apply(s->document, edit->context, diag);

    code = code ? code : mech_sim_rebuild(s, s->now.parameter, diag);
    if (code == 0) {
        s->now.at->changed = 1;
        s->now.at->edits++;
        s->has_trial = false;
        return 0;
    }

    /* numbers that expressions give are those of the failed attempt: build the old ones again */
    struct mech_diag ignored;
    edit->undo(s->document, edit->context);
    mech_diag_init(&ignored);
    s->astray = mech_sim_rebuild(s, s->now.parameter, &ignored) != 0;
    mech_diag_fini(&ignored);
    return code;
}
