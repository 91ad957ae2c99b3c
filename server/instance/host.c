#include "server/instance/host.h"

#include <assert.h>

void mechd_host_observe(struct mechd_host *h, const struct mechd_observer *o)
{
    assert(h->observer_count < MECHD_OBSERVERS);
    h->observers[h->observer_count++] = *o;
}

void mechd_tell_created(struct mechd_instance *i)
{
    const struct mechd_host *const h = i->host;
    for (int k = 0; k < h->observer_count; k++) {
        if (h->observers[k].created != NULL) {
            h->observers[k].created(h->observers[k].of, i);
        }
    }
}

void mechd_tell_stepped(struct mechd_instance *i, const struct mechd_published *step)
{
    const struct mechd_host *const h = i->host;
    for (int k = 0; k < h->observer_count; k++) {
        if (h->observers[k].stepped != NULL) {
            h->observers[k].stepped(h->observers[k].of, i, step);
        }
    }
}

void mechd_tell_picked(struct mechd_instance *i)
{
    const struct mechd_host *const h = i->host;
    for (int k = 0; k < h->observer_count; k++) {
        if (h->observers[k].picked != NULL) {
            h->observers[k].picked(h->observers[k].of, i);
        }
    }
}

void mechd_tell_undone(struct mechd_host *h, const char *scope)
{
    for (int k = 0; k < h->observer_count; k++) {
        if (h->observers[k].undone != NULL) {
            h->observers[k].undone(h->observers[k].of, scope);
        }
    }
}

void mechd_tell_gone(struct mechd_instance *i)
{
    const struct mechd_host *const h = i->host;
    for (int k = 0; k < h->observer_count; k++) {
        if (h->observers[k].gone != NULL) {
            h->observers[k].gone(h->observers[k].of, i);
        }
    }
}
