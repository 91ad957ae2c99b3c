/* Trials of a coupling: windows whose end is kept, and can be committed. */
#include "server/coupling/face.h"
#include "server/coupling/saved.h"

#include "server/instance/host.h"
#include "server/instance/lives.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <inttypes.h>
#include <stdio.h>

void mechd_trial_drop(struct mechd_coupling *g)
{
    mechd_saved_free(g->trial, g, 0);
    g->trial = NULL;
}

void mechd_trial_keep(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    if (mechd_saved_take(g, &g->trial) != 0) {
        mechd_coupling_refuse(k, MECHP_OUT_OF_MEMORY, "no memory for the end of the trial");
    } else if (!mechd_saved_charge(g->trial, g, 0, &k->call->excess)) {
        char detail[sizeof k->detail];
        mechd_trial_drop(g);
        mechd_coupling_refuse(k, MECHP_QUOTA_EXCEEDED,
                              mechd_excess_tell(&k->call->excess, detail, sizeof detail));
    } else {
        g->trials = mechd_lives_next(g->face, MECHD_COUNTED_TRIAL, g->trials);
    }
}

void mechd_trial_offer(struct mechd_coupling *g)
{
    // what changes an instance discards its trials: so it is seen that the end fits no more
    for (int32_t n = 0; n < g->count; n++) {
        struct mechd_instance *const i = g->parts[n].instance;
        g->parts[n].trial = mechd_lives_trial(i);
    }
}

/* The participant that has changed since; NULL: none. */
static const struct mechd_part *changed(const struct mechd_coupling *g)
{
    for (int32_t n = 0; n < g->count; n++) {
        if (g->parts[n].instance->trial != g->parts[n].trial) {
            return &g->parts[n];
        }
    }
    return NULL;
}

void mechd_trial_commit(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    struct mechp_text *const w = &k->call->text;
    char detail[sizeof k->detail];
    if (g->trial == NULL || k->trial != g->trials) {
        char number[24], before[MECHD_LIVES_WORDS];
        snprintf(number, sizeof number, "%" PRIu64, k->trial);
        mech_text_format(detail, sizeof detail, "there is no trial %s%s", number,
                         mechd_lives_tell(g->face, MECHD_COUNTED_TRIAL, number, before));
        mechd_coupling_refuse(k, MECHP_NO_TRIAL, detail);
        return;
    }
    const struct mechd_part *const other = changed(g);
    if (other != NULL) {
        mech_text_format(detail, sizeof detail,
                         "participant %s has been changed since trial %" PRIu64, other->name,
                         k->trial);
        mechd_trial_drop(g);
        mechd_coupling_refuse(k, MECHP_NO_TRIAL, detail);
        return;
    }
    if (!mechd_coupling_keep(k)) {
        return;
    }
    bool reproducible = true;
    int32_t part = -1;
    const int outcome = mechd_saved_return(g->trial, g, &part, &reproducible);
    mechd_trial_drop(g);
    if (outcome != 0) {
        mechd_coupling_refuse(k, mechp_code_of_outcome(outcome), mech_err_text(outcome));
        return;
    }
    for (int32_t n = 0; n < g->count; n++) {
        mechd_instance_stepped(g->parts[n].instance, 0);
    }
    mechd_face_stepped(g);
    mechd_coupling_write_state(g, w);
}
