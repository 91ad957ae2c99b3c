/* A short array of blocks, made with the first trial that is kept. */
#include "server/instance/trials.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many more, and bytes, on the instance's account. False: *x says why not. */
static bool charge(struct mechd_instance *i, uint64_t count, size_t size, struct mechd_excess *x)
{
    if (!mechd_instance_charge(i, MECHD_QUOTA_SNAPSHOTS, count, x)) {
        return false;
    }
    if (!mechd_instance_charge(i, MECHD_QUOTA_MEMORY, size, x)) {
        mechd_instance_refund(i, MECHD_QUOTA_SNAPSHOTS, count);
        return false;
    }
    return true;
}

static void refund(struct mechd_instance *i, uint64_t count, size_t size)
{
    mechd_instance_refund(i, MECHD_QUOTA_SNAPSHOTS, count);
    mechd_instance_refund(i, MECHD_QUOTA_MEMORY, size);
}

/* Take one out; the others keep their order. What it counts is refunded by the caller. */
static void take_out(struct mechd_trials *all, const struct mechd_kept_trial *t)
{
    const size_t k = (size_t)(t - all->at);
    free(all->at[k].bytes);
    all->count--;
    memmove(&all->at[k], &all->at[k + 1], ((size_t)all->count - k) * sizeof *t);
}

/* The end of the last trial into fresh memory. NULL: there is none, *outcome says why. */
static void *write_end(struct mechd_instance *i, size_t most, size_t *size, int *outcome)
{
    const bool there = i->trial != 0 && mechd_engine_has_trial(&i->engine);
    void *const bytes = there ? malloc(most) : NULL;
    *outcome = bytes != NULL ? 0 : there ? MECH_NO_MEMORY : MECH_NOT_FOUND;
    if (bytes == NULL) {
        return NULL;
    }
    *size = mechd_engine_trial_write(&i->engine, bytes);
    void *const less = realloc(bytes, *size);
    return less != NULL ? less : bytes;
}

int mechd_trials_keep(struct mechd_instance *i, const char *name, struct mechd_excess *x,
                      const struct mechd_kept_trial **out)
{
    const size_t most = mechd_engine_snapshot_size(&i->engine);
    const struct mechd_kept_trial *const old = mechd_trials_find(i, name);
    const uint64_t more = old == NULL;
    size_t size = 0;
    int outcome = 0;
    *x = (struct mechd_excess){.which = MECHD_QUOTAS};
    if (i->kept == NULL) {
        i->kept = calloc(1, sizeof *i->kept);
    }
    if (i->kept == NULL) {
        return MECH_NO_MEMORY;
    }
    struct mechd_trials *const all = i->kept;
    if ((more && all->count == MECHD_TRIALS_MOST) || !charge(i, more, most, x)) {
        return MECH_UNSUPPORTED;
    }
    void *const bytes = write_end(i, most, &size, &outcome);
    if (bytes == NULL) {
        refund(i, more, most);
        return outcome;
    }
    refund(i, 0, most - size + (old != NULL ? old->size : 0));
    if (old != NULL) {
        take_out(all, old);
    }
    struct mechd_kept_trial *const t = &all->at[all->count++];
    *t = (struct mechd_kept_trial){.number = i->trial,
                                   .time = mechd_engine_trial_time(&i->engine),
                                   .size = size,
                                   .bytes = bytes};
    snprintf(t->name, sizeof t->name, "%s", name);
    *out = t;
    return 0;
}

const struct mechd_kept_trial *mechd_trials_find(const struct mechd_instance *i, const char *name)
{
    for (int k = 0; i->kept != NULL && k < i->kept->count; k++) {
        if (strcmp(i->kept->at[k].name, name) == 0) {
            return &i->kept->at[k];
        }
    }
    return NULL;
}

const struct mechd_kept_trial *mechd_trials_numbered(const struct mechd_instance *i,
                                                     uint64_t number)
{
    for (int k = 0; i->kept != NULL && k < i->kept->count; k++) {
        if (i->kept->at[k].number == number) {
            return &i->kept->at[k];
        }
    }
    return NULL;
}

int mechd_trials_commit(struct mechd_instance *i, const struct mechd_kept_trial *t)
{
    return mechd_engine_snapshot_read(&i->engine, t->bytes, t->size, NULL);
}

void mechd_trials_drop(struct mechd_instance *i, const struct mechd_kept_trial *t)
{
    refund(i, 1, t->size);
    take_out(i->kept, t);
}

void mechd_trials_drop_all(struct mechd_instance *i)
{
    for (int k = 0; i->kept != NULL && k < i->kept->count; k++) {
        refund(i, 1, i->kept->at[k].size);
        free(i->kept->at[k].bytes);
    }
    free(i->kept);
    i->kept = NULL;
}
