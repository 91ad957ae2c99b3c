/* The table of couplings, references to one, its time, and what commands show of its state. */
#include "server/coupling/coupling.h"

#include "protocol/wire/bodies_coupling.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void mechd_couplings_init(struct mechd_couplings *t)
{
    *t = (struct mechd_couplings){.serial = 0};
    pthread_mutex_init(&t->m, NULL);
}

void mechd_couplings_fini(struct mechd_couplings *t)
{
    while (t->newest != NULL) {
        struct mechd_coupling *const g = t->newest;
        t->newest = g->next;
        mechd_coupling_unref(g);
    }
    pthread_mutex_destroy(&t->m);
}

struct mechd_coupling *mechd_coupling_find(struct mechd_couplings *t, const char *id)
{
    pthread_mutex_lock(&t->m);
    struct mechd_coupling *g = t->newest;
    for (; g != NULL; g = g->next) {
        if (strcmp(g->face->id, id) == 0) {
            mechd_coupling_ref(g);
            break;
        }
    }
    pthread_mutex_unlock(&t->m);
    return g;
}

int mechd_coupling_list(struct mechd_couplings *t, struct mechd_coupling ***out, size_t *count)
{
    pthread_mutex_lock(&t->m);
    size_t n = (size_t)t->count;
    struct mechd_coupling **const all = calloc(n + 1, sizeof *all);
    *count = all != NULL ? n : 0;
    for (struct mechd_coupling *g = t->newest; all != NULL && g != NULL; g = g->next) {
        mechd_coupling_ref(g);
        all[--n] = g;
    }
    pthread_mutex_unlock(&t->m);
    *out = all;
    return all != NULL ? 0 : MECH_NO_MEMORY;
}

int mechd_couplings_count(struct mechd_couplings *t)
{
    pthread_mutex_lock(&t->m);
    const int count = t->count;
    pthread_mutex_unlock(&t->m);
    return count;
}

bool mechd_coupling_end(struct mechd_coupling *g)
{
    if (!mechd_stop_raise(&g->ended, MECHD_STOP_DELETED)) {
        return false;
    }
    for (int32_t n = 0; n < g->count; n++) {
        (void)mechd_instance_stop(g->parts[n].instance);
    }
    return true;
}

void mechd_coupling_ref(struct mechd_coupling *g)
{
    atomic_fetch_add(&g->refs, 1);
}

void mechd_coupling_unref(struct mechd_coupling *g)
{
    if (g != NULL && atomic_fetch_sub(&g->refs, 1) == 1) {
        g->calls->destroy(g);
    }
}

void mechd_coupling_refuse(struct mechd_coupling_command *k, enum mechp_code code,
                           const char *detail)
{
    if (k->code == MECHP_OK) {
        k->code = code;
        mech_text_format(k->detail, sizeof k->detail, "%s", detail);
    }
}

void mechd_coupling_note_time(struct mechd_coupling *g)
{
    const double time = mechd_coupling_time(g);
    pthread_mutex_lock(&g->m);
    g->time = time;
    g->windows = g->opened ? mech_couple_windows(g->couple) : 0;
    pthread_mutex_unlock(&g->m);
}

void mechd_coupling_write_outputs(const void *coupling, struct mechp_text *w)
{
    const struct mechd_coupling *const g = coupling;
    mechp_text_object(w);
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_part *const p = &g->parts[n];
        if (p->shown) {
            mechd_engine_get_outputs(&p->instance->engine, p->outputs);
        }
    }
    for (size_t k = 0; k < g->shown_count; k++) {
        const struct mechd_shown *const o = &g->shown[k];
        const struct mechd_part *const p = &g->parts[o->part];
        struct mech_variable v;
        mechd_engine_variable(&p->instance->engine, MECH_OUTPUT_VARIABLE, (size_t)o->index, &v);
        mechp_text_key_of(w, (const char *const[]){p->name, ".", v.name}, 3);
        mechd_write_value(&v, p->outputs + v.offset, w);
    }
    mechp_text_end(w);
}

double mechd_coupling_time(const struct mechd_coupling *g)
{
    return g->opened ? mech_couple_time(g->couple)
                     : mechd_engine_time(&g->parts[0].instance->engine);
}

double mechd_coupling_scale(const struct mechd_coupling *g, double t, double h)
{
    double scale = h;
    for (int32_t n = 0; n < g->count; n++) {
        scale = fmax(scale, mechd_engine_scale(&g->parts[n].instance->engine, t, h));
    }
    return scale;
}

void mechd_coupling_write_state(struct mechd_coupling *g, struct mechp_text *w)
{
    const struct mechp_body_coupling_commit_reply body = {
        mechd_coupling_time(g), mech_couple_windows(g->couple), {mechd_coupling_write_outputs, g}};
    MECHP_WRITE(coupling_commit_reply, &body, w);
}

bool mechd_coupling_warns(const struct mechd_coupling *g, double size,
                          char text[MECHD_COUPLING_WARNING])
{
    if (!(size > g->stable_most)) {
        return false;
    }
    if (g->stable_most > 0.) {
        mech_text_format(text, MECHD_COUPLING_WARNING,
                         "windows of %.9g s are unstable: %.9g s is the largest stable size by the "
                         "stability report of window %" PRIu64,
                         size, g->stable_most, g->stable_window);
    } else {
        mech_text_format(text, MECHD_COUPLING_WARNING,
                         "windows of %.9g s are unstable: no size is stable by the stability "
                         "report of window %" PRIu64,
                         size, g->stable_window);
    }
    return true;
}
