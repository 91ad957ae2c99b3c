/* Snapshots of an instance to the store. */
#include "server/instance/durable.h"
#include "server/instance/entry.h"
#include "server/instance/snapshots.h"

int mechd_durable_snapshot(struct mechd_instance *i, struct mechd_snapshot *s,
                           struct mechd_ticket *t)
{
    if (i->durable.key == 0) {
        return 0;
    }
    struct mechd_entry *const x = mechd_entry_create(i, MECHD_RECORD_SNAPSHOT, s->size);
    if (x == NULL) {
        return MECH_NO_MEMORY;
    }
    char *room = x->room;
    x->r.number = s->id;
    x->r.base = mechd_snapshots_stored(i, s->parent);
    x->r.present = !i->durable.dirty;
    x->r.time = s->time;
    x->r.bytes = mechd_entry_append(&room, s->bytes, s->size);
    x->r.size = s->size;
    s->stored = true;
    mechd_entry_post(x, t);
    return 0;
}

int mechd_durable_forget(struct mechd_instance *i, const struct mechd_snapshot *s,
                         struct mechd_ticket *t)
{
    if (i->durable.key == 0) {
        return 0;
    }
    struct mechd_entry *const x = mechd_entry_create(i, MECHD_RECORD_DELETE_SNAPSHOT, 0);
    if (x == NULL) {
        return MECH_NO_MEMORY;
    }
    x->r.number = s->id;
    x->r.base = mechd_snapshots_stored(i, s->parent);
    mechd_entry_post(x, t);
    return 0;
}
