/* Couplings into the table and out of it, and what is freed with one. */
#include "server/coupling/face.h"
#include "server/coupling/keep.h"
#include "server/coupling/outside.h"
#include "server/coupling/reading.h"
#include "server/coupling/share.h"

#include "server/call/service.h"
#include "server/instance/host.h"
#include "server/instance/traits.h"
#include "solver/base/err.h"

#include <math.h>
#include <stdlib.h>

/* From here on the leases of its instances show its id. */
static void name_leases(struct mechd_coupling *g)
{
    const struct mechd_lease_wish wish = {.role = -1, .seconds = (double)NAN, .name = g->face->id};
    for (int32_t n = 0; n < g->count; n++) {
        struct mechd_holder holder;
        // one that has been revoked meanwhile has no name: the next command sees that
        (void)mechd_leases_change(&g->parts[n].instance->leases, g->parts[n].lease, &wish, &holder);
    }
}

int mechd_coupling_add(struct mechd_couplings *t, struct mechd_coupling *g)
{
    pthread_mutex_lock(&t->m);
    const int outcome =
        t->count < MECHD_COUPLINGS_MOST ? mechd_face_open(g, &t->serial) : MECH_UNSUPPORTED;
    if (outcome == 0) {
        name_leases(g);
        g->next = t->newest;
        t->newest = g;
        t->count++;
        mechd_coupling_ref(g);
    }
    pthread_mutex_unlock(&t->m);
    if (outcome == 0) {
        (void)mechd_store_given(g->service->host.store, MECHD_NUMBER_COUPLING, g->id);
    }
    return outcome;
}

int mechd_coupling_restore(struct mechd_couplings *t, struct mechd_coupling *g, uint64_t number)
{
    uint64_t serial = number - 1;
    pthread_mutex_lock(&t->m);
    int outcome = t->count < MECHD_COUPLINGS_MOST ? mechd_face_open(g, &serial) : MECH_UNSUPPORTED;
    if (outcome == 0 && g->id != number) {
        mechd_face_close(g);
        outcome = MECH_INVALID;
    }
    if (outcome == 0) {
        name_leases(g);
        g->next = t->newest;
        t->newest = g;
        t->count++;
        t->serial = number > t->serial ? number : t->serial;
        mechd_coupling_ref(g);
        mechd_outsides_open(g, g->face->id);
    }
    pthread_mutex_unlock(&t->m);
    return outcome;
}

bool mechd_coupling_remove(struct mechd_couplings *t, struct mechd_coupling *g)
{
    pthread_mutex_lock(&t->m);
    struct mechd_coupling **at = &t->newest;
    while (*at != NULL && *at != g) {
        at = &(*at)->next;
    }
    const bool found = *at == g;
    if (found) {
        *at = g->next;
        t->count--;
    }
    pthread_mutex_unlock(&t->m);
    if (found) {
        (void)mechd_stop_raise(&g->ended, MECHD_STOP_DELETED);
        mechd_keep_close(g);
        mechd_face_close(g);
        mechd_outsides_end(g);
        for (int32_t n = 0; n < g->count; n++) {
            (void)mechd_instance_stop(g->parts[n].instance);
            mechd_instance_use(g->parts[n].instance);
            (void)mechd_leases_drop(&g->parts[n].instance->leases, g->parts[n].lease);
        }
        mechd_coupling_unref(g);
    }
    return found;
}

void mechd_coupling_destroy(struct mechd_coupling *g)
{
    mechd_trial_drop(g);
    mechd_keep_fini(g);
    mechd_coupling_snapshots_free(g);
    for (int32_t n = 0; n < g->count && g->parts != NULL; n++) {
        struct mechd_part *const p = &g->parts[n];
        if (p->instance != NULL && p->lease != 0) {
            (void)mechd_leases_drop(&p->instance->leases, p->lease);
        }
        if (p->outside != NULL) {
            mechd_outside_remove(g->service->outsides, p->outside);
            mechd_outside_unref(p->outside);
            mechd_instance_close(p->instance); // its memory was charged
        }
        if (p->instance != NULL) {
            mechd_instance_refund(p->instance, MECHD_QUOTA_MEMORY, p->charged);
            mechd_instance_unref(p->instance);
        }
        free(p->in);
        free(p->out);
        free(p->changes);
        free(p->numbers);
        free(p->outputs);
        free(p->moments);
        free(p->jacobian);
        free(p->taylor);
        free(p->sums);
        free(p->start);
    }
    free(g->shown);
    if (g->face != NULL) {
        mechd_instance_close(g->face);
        mechd_instance_unref(g->face);
    }
    mech_couple_destroy(g->couple);
    mechd_reading_free(g->reading);
    mechd_share_fini(g);
    free(g->name);
    free(g->document);
    free(g->parts);
    free(g->order);
    for (int32_t n = 0; n < g->connection_count; n++) {
        free(g->connections[n]);
    }
    free(g->connections);
    free(g->bonds);
    pthread_mutex_destroy(&g->m);
    pthread_mutex_destroy(&g->nap_m);
    free(g);
}
