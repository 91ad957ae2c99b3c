/* One block of bytes a participant, and one of the scheme. */
#include "server/coupling/saved.h"

#include "server/coupling/keep.h"
#include "server/instance/snapshots.h"
#include "solver/base/err.h"

#include <stdlib.h>

/* Bytes that a snapshot does not need are returned: it takes less than it may take. */
static int take_part(const struct mechd_engine *e, struct mechd_saved_part *p)
{
    p->bytes = malloc(mechd_engine_snapshot_size(e));
    if (p->bytes == NULL) {
        return MECH_NO_MEMORY;
    }
    p->size = mechd_engine_snapshot_write(e, p->bytes);
    void *const less = realloc(p->bytes, p->size);
    p->bytes = less != NULL ? less : p->bytes;
    return 0;
}

int mechd_saved_take(const struct mechd_coupling *g, struct mechd_saved **out)
{
    struct mechd_saved *const s =
        calloc(1, sizeof *s + (size_t)g->count * sizeof(struct mechd_saved_part));
    *out = NULL;
    if (s == NULL) {
        return MECH_NO_MEMORY;
    }
    s->count = g->count;
    s->opened = g->opened;
    s->time = mechd_engine_time(&g->parts[0].instance->engine);
    int code = 0;
    for (int32_t n = 0; n < g->count && code == 0; n++) {
        code = take_part(&g->parts[n].instance->engine, &s->parts[n]);
        s->parts[n].base = g->parts[n].instance->base;
        s->size += s->parts[n].size;
    }
    if (code == 0 && g->couple != NULL) {
        s->windows = mech_couple_windows(g->couple);
        s->couple_size = mech_couple_saved_size(g->couple);
        s->couple = malloc(s->couple_size + 1);
        code = s->couple != NULL ? 0 : MECH_NO_MEMORY;
    }
    if (code != 0) {
        mechd_saved_free(s, NULL, 0);
        return code;
    }
    if (s->couple != NULL) {
        mech_couple_save(g->couple, s->couple);
        s->size += s->couple_size;
    }
    *out = s;
    return 0;
}

int mechd_saved_return(const struct mechd_saved *s, struct mechd_coupling *g, int32_t *part,
                       bool *reproducible)
{
    *reproducible = true;
    for (*part = 0; *part < s->count; ++*part) {
        bool same = true;
        const struct mechd_saved_part *const p = &s->parts[*part];
        struct mechd_instance *const i = g->parts[*part].instance;
        MECH_TRY(mechd_engine_snapshot_read(&i->engine, p->bytes, p->size, &same));
        i->trial = 0;
        *reproducible = *reproducible && same;
    }
    *part = -1;
    // saved before its start: it starts again, from the outputs of then
    g->opened = s->opened;
    return s->couple != NULL ? mech_couple_restore(g->couple, s->couple, s->couple_size) : 0;
}

void mechd_saved_descend(const struct mechd_saved *s, struct mechd_coupling *g)
{
    for (int32_t n = 0; n < s->count; n++) {
        mechd_snapshots_descend(g->parts[n].instance, s->parts[n].base);
    }
}

/* What the account of instance n pays: of the first one, the state of the coupling too. */
static uint64_t share(const struct mechd_saved *s, int32_t n)
{
    return (uint64_t)s->parts[n].size + (n == 0 ? (uint64_t)s->couple_size : 0);
}

/* And as stored: of a stored instance its state, of the payer's that of the coupling. */
static uint64_t stored_share(const struct mechd_saved *s, const struct mechd_coupling *g, int32_t n)
{
    const uint64_t own = mechd_keep_has(&g->parts[n]) ? (uint64_t)s->parts[n].size : 0;
    return s->stored ? own + (n == g->keep.payer ? (uint64_t)s->couple_size : 0) : 0;
}

/* Of instance n; the quotas in the order of their charges. */
struct charges {
    struct {
        enum mechd_quota which;
        uint64_t amount;
    } of[3];
};

static struct charges charges_of(const struct mechd_saved *s, const struct mechd_coupling *g,
                                 int32_t n, uint64_t snapshots)
{
    return (struct charges){.of = {{MECHD_QUOTA_MEMORY, share(s, n)},
                                   {MECHD_QUOTA_SNAPSHOTS, snapshots},
                                   {MECHD_QUOTA_STORED, stored_share(s, g, n)}}};
}

enum { CHARGES = sizeof((struct charges *)0)->of / sizeof *((struct charges *)0)->of };

/* The first `count` of them. */
static void refund(struct mechd_instance *i, const struct charges *c, int count)
{
    for (int k = 0; k < count; k++) {
        mechd_instance_refund(i, c->of[k].which, c->of[k].amount);
    }
}

/* False: nothing is charged. */
static bool charge(struct mechd_instance *i, const struct charges *c, struct mechd_excess *x)
{
    for (int k = 0; k < CHARGES; k++) {
        if (!mechd_instance_charge(i, c->of[k].which, c->of[k].amount, x)) {
            refund(i, c, k);
            return false;
        }
    }
    return true;
}

bool mechd_saved_charge(struct mechd_saved *s, struct mechd_coupling *g, uint64_t snapshots,
                        struct mechd_excess *x)
{
    for (int32_t n = 0; n < s->count; n++) {
        const struct charges c = charges_of(s, g, n, snapshots);
        if (charge(g->parts[n].instance, &c, x)) {
            continue;
        }
        while (n-- > 0) {
            const struct charges before = charges_of(s, g, n, snapshots);
            refund(g->parts[n].instance, &before, CHARGES);
        }
        return false;
    }
    s->charged = true;
    return true;
}

void mechd_saved_free(struct mechd_saved *s, struct mechd_coupling *g, uint64_t snapshots)
{
    for (int32_t n = 0; s != NULL && n < s->count; n++) {
        if (s->charged) {
            const struct charges c = charges_of(s, g, n, snapshots);
            refund(g->parts[n].instance, &c, CHARGES);
        }
        free(s->parts[n].bytes);
    }
    if (s != NULL) {
        free(s->couple);
    }
    free(s);
}

bool mechd_coupling_keep(struct mechd_coupling_command *k)
{
    if (mechd_saved_take(k->coupling, &k->before) != 0) {
        mechd_coupling_refuse(k, MECHP_OUT_OF_MEMORY,
                              "no memory to save the state before this command");
    }
    return k->before != NULL;
}
