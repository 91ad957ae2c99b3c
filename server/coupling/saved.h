/* State of a coupling and of all its instances as bytes in memory, to return to: of a trial, of a
 * snapshot, and of a command that may fail. owner: its holder; saving and returning need all
 * instances, as the owner of the command in progress. */
#pragma once

#include "server/coupling/coupling.h"

struct mechd_saved_part {
    void *bytes; /* [size] as mechd_engine_snapshot_write */
    size_t size;
    uint64_t base; /* of the instance (instance.h) */
};

struct mechd_saved {
    double time;      /* s */
    uint64_t windows; /* since the start of the coupling */
    bool opened;      /* of the coupling: its outputs at its start were known */
    size_t size;      /* bytes of all */
    void *couple;     /* [couple_size] as mech_couple_save; NULL: saved before its start */
    size_t couple_size;
    int uses;     /* of a snapshot: restores in progress, less 1 when it is deleted; locked by the
                     coupling's m */
    bool stored;  /* it is charged as stored too: set before */
    bool charged; /* its parts are charged to the accounts of their instances */
    int32_t count;
    struct mechd_saved_part parts[]; /* [count] of the participants in their order */
};

/* The present state. 0; MECH_NO_MEMORY, with *out NULL. */
int mechd_saved_take(const struct mechd_coupling *g, struct mechd_saved **out);
/* Go back to it. Nothing is published, and a trial of an instance is gone. 0; or the outcome of the
 * participant *part, whose instance has another model by now (MECH_MISMATCH) or fields with which
 * outputs are not finite (MECH_NOT_FINITE), or negative: those before it have gone back, it and
 * those after it have not. *reproducible false: as mech_sim_snapshot_read has it, of any. */
int mechd_saved_return(const struct mechd_saved *s, struct mechd_coupling *g, int32_t *part,
                       bool *reproducible);
/* The states descend from the snapshots from which they descended then, as far as these are there:
 * after a return to a state of before. As the owner of all. */
void mechd_saved_descend(const struct mechd_saved *s, struct mechd_coupling *g);
/* Charge its bytes to the accounts of the instances, those of the scheme to the first one's (as
 * stored, to the payer's of keep.h), and `snapshots` of them. False: *x says which quota, and
 * nothing is charged; without x never. */
bool mechd_saved_charge(struct mechd_saved *s, struct mechd_coupling *g, uint64_t snapshots,
                        struct mechd_excess *x);
/* Free it, and refund what has been charged, `snapshots` as above. NULL is accepted. */
void mechd_saved_free(struct mechd_saved *s, struct mechd_coupling *g, uint64_t snapshots);

/* --- bytes of the store (saved_bytes.c) ------------------------------------------------------- */

/* In the layout of this version and this byte order; one that is taken after the coupling's start.
 */
size_t mechd_saved_bytes_size(const struct mechd_saved *s);
void mechd_saved_bytes_write(const struct mechd_saved *s, const struct mechd_coupling *g,
                             void *bytes);
/* A new one, not charged; whether the states fit the models, its return says. 0; MECH_MISMATCH,
 * with the reason: of another version, of other participants, or damaged; MECH_NO_MEMORY. */
int mechd_saved_bytes_read(const struct mechd_coupling *g, const void *bytes, size_t size,
                           struct mechd_saved **out, char reason[160]);
