/* Snapshots of one instance, in memory: numbered, bounded in count and bytes. owner: the
 * instance's. */
#pragma once

#include "server/instance/instance.h"

enum { MECHD_SNAPSHOTS_MOST = 64 };
static const size_t mechd_snapshots_bytes = (size_t)1 << 30; /* of one instance */

struct mechd_snapshot {
    uint64_t id;
    double time;
    size_t size;
    void *bytes; /* mech_sim_snapshot_write */
};

struct mechd_snapshots {
    uint64_t last; /* id of the newest */
    int count;
    size_t bytes;
    struct mechd_snapshot at[MECHD_SNAPSHOTS_MOST];
};

/* 0; MECH_UNSUPPORTED (too many, too large, or a quota: x->which, else MECHD_QUOTAS); negative. */
int mechd_snapshots_take(struct mechd_instance *i, struct mechd_excess *x,
                         struct mechd_snapshot **out);
/* Add one that was taken in another process, with its bytes copied; regardless of quotas. 0;
 * MECH_UNSUPPORTED; negative. */
int mechd_snapshots_keep(struct mechd_instance *i, uint64_t id, double time, const void *bytes,
                         size_t size);
/* Number the next one above this, which another process may have assigned. 0 or negative. */
int mechd_snapshots_go_on(struct mechd_instance *i, uint64_t last);
/* By the text of its id, or NULL. */
struct mechd_snapshot *mechd_snapshots_find(struct mechd_instance *i, const char *id);
void mechd_snapshots_delete(struct mechd_instance *i, struct mechd_snapshot *s);
void mechd_snapshots_destroy(struct mechd_snapshots *s);
