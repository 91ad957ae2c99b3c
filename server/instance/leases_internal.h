/* One lease of a list. Internal to leases.c and leases_tell.c, which hold the list's m. */
#pragma once

#include "server/instance/leases.h"

struct mechd_lease {
    struct mechd_lease *next;
    uint64_t number; /* 1 … 2^52, random */
    int role;
    double seconds;   /* idle time; 0: does not expire */
    uint64_t expires; /* ns; UINT64_MAX: not by the clock */
    int acts;         /* of its holder, in progress */
    enum mechd_lease_of of;
    char name[MECH_NAME_MAX + 1];
    char **channels; /* [channel_count], one piece of memory; or NULL */
    size_t channel_count;
};

/* It has not ended: an act of its holder is in progress, or its time is not over. */
bool mechd_lease_lasts(const struct mechd_lease *x, uint64_t now);
/* One that lasts, by its number; NULL: there is none. */
struct mechd_lease *mechd_lease_find(const struct mechd_leases *l, uint64_t number, uint64_t now);
