/* The FMUs that clients have uploaded, each under an id.
 *
 * They are in memory and in folders of their own; nothing of them is stored: they end with the
 * process, as their instances do. Instances of a deleted one continue, and its folder with them: it
 * is charged to the account of its token, and counts for the limits of the server, until the last
 * reference to its package is dropped. An id is not assigned again, with a store also not by a
 * later process: an old one never means another program. shared, locked by m (a leaf), which the
 * thread that drops it takes. */
#pragma once

#include "server/auth/accounts.h"
#include "server/engine/fmu_engine.h"
#include "server/store/store.h"
#include "solver/base/name.h"

#include <pthread.h>

enum { MECHD_FMUS_MOST = 256 /* of a server, with deleted ones in use */ };
/* bytes of all archives and what is unpacked of them */
static const uint64_t mechd_fmus_bytes = (uint64_t)4 << 30;

struct mechd_fmu {
    struct mechd_fmu *next;
    char id[MECH_NAME_MAX + 1];
    char owner[MECH_NAME_MAX + 1];     /* name of the token; "": without an owner */
    struct mechd_fmu_package *package; /* a reference */
};

struct mechd_fmus {
    pthread_mutex_t m;
    struct mechd_fmu *first, *last; /* in the order of their upload */
    size_t count;                   /* in the list */
    size_t held;                    /* those, and deleted ones in use */
    uint64_t bytes;                 /* of held ones */
    uint64_t serial;                /* of the last id */
    bool on;                        /* const once running; false: none are hosted */
    /* const once running */
    struct mechd_store *store; /* that has the highest number so far, or NULL */
    const char *series;        /* of ids */
    char program[512];         /* mechd-fmu */
    char root[512];            /* absolute: where archives are unpacked */
    struct mechd_fmu_settings settings;
    struct mechd_fmu_places places; /* of their processes; shared */
};

/* Empty, and none are hosted. */
void mechd_fmus_init(struct mechd_fmus *f);
/* From now on they are, by the program mechd-fmu beside the one of this process. They are unpacked
 * below TMPDIR, or if that is not set in the state directory, which this process has locked and in
 * which earlier ones may have left some; NULL: in /tmp. Memory and time of a call as in the
 * settings; so many instances at a time. 0, or negative with a sentence. */
int mechd_fmus_open(struct mechd_fmus *f, const char *state,
                    const struct mechd_fmu_settings *limits, int processes, char *fault,
                    size_t size);
/* Ids continue behind those of earlier processes on the store; NULL: they begin at 1. They have
 * this series (server/os/ids.h). Both outlive all uploading. Before the first upload. */
void mechd_fmus_number(struct mechd_fmus *f, struct mechd_store *store, const char *series);
/* Once nothing else has a reference to a package of its: before the accounts' end. */
void mechd_fmus_fini(struct mechd_fmus *f);

/* Adds a package that is in no table under a new id, which is copied to id [MECH_NAME_MAX + 1]; the
 * table takes a reference. 0; MECH_NO_MEMORY; MECH_UNSUPPORTED: a limit, of the account if x->which
 * is one, else of the server. */
int mechd_fmus_add(struct mechd_fmus *f, struct mechd_fmu_package *package,
                   struct mechd_account *account, char *id, struct mechd_excess *x);

/* The package of that id, with a reference; NULL: there is none. `owner` [MECH_NAME_MAX + 1] may be
 * NULL. */
struct mechd_fmu_package *mechd_fmus_find(struct mechd_fmus *f, const char *id, char *owner);

/* Removes it. `owner`: only that of this token; NULL: any. 0; MECH_NOT_FOUND; MECH_UNSUPPORTED: of
 * another owner. */
int mechd_fmus_remove(struct mechd_fmus *f, const char *id, const char *owner);

/* Copies of all entries, in order, each with a reference to its package: mechd_fmus_list_free. 0;
 * MECH_NO_MEMORY. */
int mechd_fmus_list(struct mechd_fmus *f, struct mechd_fmu **out, size_t *count);
void mechd_fmus_list_free(struct mechd_fmu *list, size_t count);
