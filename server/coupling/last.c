#include "server/coupling/last.h"

#include "server/coupling/coupling.h"

#include <stdio.h>

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
        snprintf(last->detail, sizeof last->detail, "%s", k->detail);
    }
    pthread_mutex_unlock(&g->m);
}

void mechd_last_lost(struct mechd_coupling *g)
{
    pthread_mutex_lock(&g->m);
    g->last.code = MECHP_STORAGE_FAILED;
    snprintf(g->last.detail, sizeof g->last.detail,
             "what it changed could not be stored and is undone");
    pthread_mutex_unlock(&g->m);
}

void mechd_last_write(struct mechd_coupling *g, struct mechp_text *w)
{
    pthread_mutex_lock(&g->m);
    const struct mechd_coupling_last last = g->last;
    pthread_mutex_unlock(&g->m);
    mechp_text_key(w, "last");
    if (last.command == NULL) {
        mechp_text_null(w);
        return;
    }
    mechp_text_object(w);
    mechp_text_member_string(w, "command", last.command);
    mechp_text_member_unsigned(w, "windows", last.windows);
    mechp_text_member_unsigned(w, "iterations", last.iterations);
    mechp_text_member_unsigned(w, "evaluations", last.evaluations);
    mechp_text_key(w, "residual");
    mechp_text_number_or_null(w, last.residual);
    if (last.code != MECHP_OK) {
        mechp_text_member_string(w, "code", mechp_code((int)last.code)->text);
        mechp_text_member_string(w, "detail", last.detail);
    }
    mechp_text_end(w);
}
