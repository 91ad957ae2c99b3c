/* Snapshots of one instance, in memory: numbered, bounded in count and bytes. owner: the
 * instance's.
 *
 * They form a tree. The state of an instance descends from the snapshot that was last taken of it
 * or restored, whatever has been done with it since (steps, committed trials, changes of values);
 * after a reset, or with the state of another instance, from none. A new snapshot has that one as
 * its parent. When one is deleted, what descends from it descends from its parent. */
#pragma once

#include "server/instance/instance.h"

enum { MECHD_SNAPSHOTS_MOST = 64 };
static const size_t mechd_snapshots_bytes = (size_t)1 << 30; /* of one instance */

struct mechd_snapshot {
    uint64_t id;
    uint64_t parent; /* id, or 0: none */
    bool stored;     /* on disk too */
    double time;
    size_t size;
    void *bytes; /* mech_sim_snapshot_write */
};

struct mechd_snapshots {
    uint64_t last; /* id of the newest */
    int count;
    size_t bytes;
    struct mechd_snapshot at[MECHD_SNAPSHOTS_MOST];
    /* Numbers of those that could not be stored, 0: none; partner: the store */
    _Atomic uint64_t failed[MECHD_SNAPSHOTS_MOST];
};

/* 0; MECH_UNSUPPORTED (too many, too large, or a quota: x->which, else MECHD_QUOTAS);
 * MECH_CANCELLED: its number cannot be recorded (instance/lives.h); negative. */
int mechd_snapshots_take(struct mechd_instance *i, struct mechd_excess *x,
                         struct mechd_snapshot **out);
/* Add one that was taken in another process: id, parent, time, size and bytes, which are copied;
 * regardless of quotas. 0; MECH_UNSUPPORTED; negative. */
int mechd_snapshots_keep(struct mechd_instance *i, const struct mechd_snapshot *taken);
/* The one with this number if it is stored, else the next of its ancestors that is: 0, none. */
uint64_t mechd_snapshots_stored(const struct mechd_instance *i, uint64_t id);
/* Number the next one above this, which another process may have assigned. 0 or negative. */
int mechd_snapshots_go_on(struct mechd_instance *i, uint64_t last);
/* All are read: what would descend from one that is not there descends from none. */
void mechd_snapshots_settle(struct mechd_instance *i);
/* By the text of its id, or NULL. */
struct mechd_snapshot *mechd_snapshots_find(struct mechd_instance *i, const char *id);
/* The state becomes that of the snapshot, and descends from it. *reproducible may be NULL. As
 * mechd_engine_snapshot_read. */
int mechd_snapshots_restore(struct mechd_instance *i, const struct mechd_snapshot *s,
                            bool *reproducible);
/* The state is one of before, which descended from the snapshot of this number: as long as that is
 * there, else from none. */
void mechd_snapshots_descend(struct mechd_instance *i, uint64_t base);
/* What descends from it descends from its parent. */
void mechd_snapshots_delete(struct mechd_instance *i, struct mechd_snapshot *s);
/* The one with this number could not be stored: from now on it is not found, and it goes with
 * mechd_snapshots_lose. Any thread. */
void mechd_snapshots_fail(struct mechd_instance *i, uint64_t number);
void mechd_snapshots_lose(struct mechd_instance *i);
/* The one with this number, or the next of its ancestors that did not fail: 0, none. */
uint64_t mechd_snapshots_present(const struct mechd_instance *i, uint64_t id);
void mechd_snapshots_destroy(struct mechd_instance *i);
