/* The list of an instance's chosen streams. */
#include "server/instance/picks.h"

#include "protocol/frame/frame.h"
#include "server/instance/host.h"
#include "solver/base/err.h"

#include <stdlib.h>
#include <string.h>

struct mechd_pick *mechd_pick_create(size_t count)
{
    struct mechd_pick *const p = calloc(1, sizeof *p + count * sizeof *p->channels);
    if (p != NULL) {
        atomic_init(&p->refs, 1);
        p->count = count;
    }
    return p;
}

static void ref(struct mechd_pick *p)
{
    atomic_fetch_add(&p->refs, 1);
}

void mechd_pick_unref(struct mechd_pick *p)
{
    if (p != NULL && atomic_fetch_sub(&p->refs, 1) == 1) {
        free(p);
    }
}

int mechd_picks_add(struct mechd_instance *i, struct mechd_pick *p)
{
    if (i->picks == NULL) {
        struct mechd_picks *const list = calloc(1, sizeof *list);
        if (list == NULL) {
            return MECH_NO_MEMORY;
        }
        pthread_mutex_lock(&i->p);
        i->picks = list;
        pthread_mutex_unlock(&i->p);
    }
    if (i->picks->count == MECHD_PICKS_MOST) {
        return MECH_UNSUPPORTED;
    }
    pthread_mutex_lock(&i->p);
    i->picks->at[i->picks->count++] = p;
    pthread_mutex_unlock(&i->p);
    atomic_fetch_add_explicit(&i->host->counters.picks, 1, memory_order_relaxed);
    mechd_tell_picked(i);
    return 0;
}

struct mechd_pick *mechd_picks_find(const struct mechd_instance *i, const char *name)
{
    for (int k = 0; i->picks != NULL && k < i->picks->count; k++) {
        if (strcmp(i->picks->at[k]->name, name) == 0) {
            return i->picks->at[k];
        }
    }
    return NULL;
}

void mechd_picks_remove(struct mechd_instance *i, struct mechd_pick *p)
{
    struct mechd_picks *const list = i->picks;
    int at = 0;
    while (list->at[at] != p) {
        at++;
    }
    pthread_mutex_lock(&i->p);
    list->count--;
    memmove(list->at + at, list->at + at + 1, (size_t)(list->count - at) * sizeof(void *));
    pthread_mutex_unlock(&i->p);
    atomic_fetch_sub_explicit(&i->host->counters.picks, 1, memory_order_relaxed);
    mechd_pick_unref(p);
    mechd_tell_picked(i);
}

int mechd_picks_hold(struct mechd_instance *i, struct mechd_pick **out)
{
    pthread_mutex_lock(&i->p);
    const int count = i->picks != NULL ? i->picks->count : 0;
    for (int k = 0; k < count; k++) {
        out[k] = i->picks->at[k];
        ref(out[k]);
    }
    pthread_mutex_unlock(&i->p);
    return count;
}

void mechd_picks_destroy(struct mechd_instance *i)
{
    if (i->picks == NULL) {
        return;
    }
    for (int k = 0; k < i->picks->count; k++) {
        mechd_pick_unref(i->picks->at[k]);
    }
    atomic_fetch_sub_explicit(&i->host->counters.picks, i->picks->count, memory_order_relaxed);
    free(i->picks);
}

void mechd_pick_frame(const struct mechd_instance *i, const struct mechd_pick *p, const double *all,
                      unsigned char *out)
{
    if (p->all) {
        mechp_frame_put_values(out, all, (uint32_t)i->output_size);
    }
    for (size_t k = 0; k < p->count; k++) {
        const struct mech_variable *const v = &i->channels[p->channels[k]];
        mechp_frame_put_values(out, all + v->offset, (uint32_t)v->size);
        out += 8 * (size_t)v->size;
    }
}
