/* Couplings of tables of functions. */
#include "solver/couple/drive.h"

#include "solver/base/err.h"

static void perform(const struct mech_couple_partner *p, struct mech_couple_task *task)
{
    const struct mech_couple_functions *const f = p->functions;
    switch (task->action) {
    case MECH_COUPLE_OUTPUTS:
        task->code = f->outputs(p->self, task);
        break;
    case MECH_COUPLE_TRIAL:
        task->code = f->trial(p->self, task);
        break;
    case MECH_COUPLE_COMMIT:
        task->code = f->commit(p->self, task);
        break;
    case MECH_COUPLE_DISCARD:
        task->code = !f->discard ? 0 : f->discard(p->self, task);
        break;
    }
}

static int run(struct mech_couple *c, const struct mech_couple_partner *partners)
{
    struct mech_couple_batch b;
    MECH_TRY(mech_couple_next(c, &b));
    while (b.count > 0) {
        for (int32_t i = 0; i < b.count; i++) {
            perform(partners + b.tasks[i].participant, b.tasks + i);
        }
        MECH_FOLD(mech_couple_next(c, &b));
    }
    return mech_couple_report(c)->outcome;
}

int mech_couple_run_start(struct mech_couple *c, const struct mech_couple_partner *partners,
                          double time)
{
    MECH_TRY(mech_couple_start(c, time));
    return run(c, partners);
}

int mech_couple_run_window(struct mech_couple *c, const struct mech_couple_partner *partners,
                           double size)
{
    MECH_TRY(mech_couple_begin(c, size));
    return run(c, partners);
}
