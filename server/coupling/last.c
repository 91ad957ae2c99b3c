#include "server/coupling/last.h"

#include "protocol/wire/bodies_coupling.h"
#include "server/coupling/coupling.h"
#include "solver/base/text.h"

static const char *name_of(const struct mechd_coupling_command *k)
{
    return k->kind == MECHD_COUPLING_STEP    ? "step"
           : k->kind == MECHD_COUPLING_TRIAL ? "trial"
           : k->kind == MECHD_COUPLING_RESET ? "reset"
                                             : NULL;
}

void mechd_last_note(const struct mechd_coupling_command *k)
{
    const char *const name = name_of(k);
    struct mechd_coupling *const g = k->coupling;
    if (name == NULL) {
        return;
    }
    struct mechd_coupling_last *const last = &g->last;
    pthread_mutex_lock(&g->m);
    last->command = name;
    last->code = k->code;
    last->windows = k->kind != MECHD_COUPLING_RESET ? k->done : 0;
    last->iterations = k->iterations;
    last->evaluations = k->evaluations;
    last->residual = k->residual;
    if (k->code != MECHP_OK) {
        mech_text_format(last->detail, sizeof last->detail, "%s", k->detail);
    }
    pthread_mutex_unlock(&g->m);
}

void mechd_last_lost(struct mechd_coupling *g)
{
    pthread_mutex_lock(&g->m);
    g->last.code = MECHP_STORAGE_FAILED;
    mech_text_format(g->last.detail, sizeof g->last.detail,
                     "its changes could not be stored and were undone");
    pthread_mutex_unlock(&g->m);
}

void mechd_last_write(const void *of, struct mechp_text *w)
{
    const struct mechd_coupling_last *const last = of;
    const bool failed = last->code != MECHP_OK;
    if (last->command == NULL) {
        mechp_text_null(w);
        return;
    }
    const struct mechp_body_coupling_last body = {.command = last->command,
                                                  .windows = last->windows,
                                                  .iterations = last->iterations,
                                                  .evaluations = last->evaluations,
                                                  .residual = last->residual,
                                                  .code = failed ? mechp_code((int)last->code)->text
                                                                 : NULL,
                                                  .detail = failed ? last->detail : NULL};
    MECHP_WRITE(coupling_last, &body, w);
}
