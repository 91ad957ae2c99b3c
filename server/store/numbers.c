/* Blocks of numbers in the database. */
#include "server/store/numbers.h"

#include <stdlib.h>
#include <time.h>

/* What a killed process leaves out at most is one and a half of a block: more than are assigned
 * while the disk writes once. Ids that clients choose are recorded one by one. */
static const uint64_t blocks[MECHD_NUMBERS] = {
    [MECHD_NUMBER_INSTANCE] = 1024,    [MECHD_NUMBER_OPERATION] = 1024,
    [MECHD_NUMBER_INCARNATION] = 1024, [MECHD_NUMBER_COUPLING] = 1024,
    [MECHD_NUMBER_PART] = 1024,        [MECHD_NUMBER_TRIAL] = 1 << 20,
    [MECHD_NUMBER_CHOSEN] = 0,         [MECHD_NUMBER_FAR] = 0,
    [MECHD_NUMBER_FMU] = 1024};

static const char *const names[MECHD_NUMBERS] = {[MECHD_NUMBER_INSTANCE] = "instances",
                                                 [MECHD_NUMBER_OPERATION] = "operations",
                                                 [MECHD_NUMBER_INCARNATION] = "incarnation",
                                                 [MECHD_NUMBER_COUPLING] = "couplings",
                                                 [MECHD_NUMBER_PART] = "parts",
                                                 [MECHD_NUMBER_TRIAL] = "trials",
                                                 [MECHD_NUMBER_CHOSEN] = "chosen",
                                                 [MECHD_NUMBER_FAR] = "far",
                                                 [MECHD_NUMBER_FMU] = "fmus"};

/* A second has 2^20 incarnations: more than instances are made in it. */
static uint64_t incarnation_by_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec << 20 | (uint64_t)now.tv_nsec >> 10;
}

/* All of them, a block ahead or none, in one transaction. False: not stored. */
static bool write_all(struct mechd_numbers_given *n, const struct mechd_database *d, bool ahead)
{
    bool good = d->ops->begin(d->self);
    for (int k = 0; good && k < MECHD_NUMBERS; k++) {
        const struct mechd_record r = {
            .kind = ahead ? MECHD_RECORD_NUMBER : MECHD_RECORD_LAST_NUMBER,
            .id = names[k],
            .number = atomic_load(&n->of[k].given) + (ahead ? blocks[k] : 0)};
        good = d->ops->apply(d->self, &r);
        atomic_store(&n->of[k].known, r.number);
    }
    good = good && d->ops->commit(d->self);
    if (!good) {
        d->ops->undo(d->self);
    }
    for (int k = 0; good && k < MECHD_NUMBERS; k++) {
        atomic_store(&n->of[k].stored, atomic_load(&n->of[k].known));
    }
    return good;
}

/* What stands for a number in a database without it, of an earlier version: runs of couplings had a
 * number of their own, and trials began at the incarnation of the process. */
static uint64_t inherited(const struct mechd_numbers_given *n, const struct mechd_database *d,
                          enum mechd_numbers which)
{
    uint64_t last = 0;
    if (which == MECHD_NUMBER_PART) {
        (void)d->ops->number(d->self, "coupling-runs", &last);
    } else if (which == MECHD_NUMBER_TRIAL && n->of[MECHD_NUMBER_INCARNATION].last > 0) {
        last = n->of[MECHD_NUMBER_INCARNATION].first - 1;
    }
    return last;
}

void mechd_numbers_read(struct mechd_numbers_given *n, const struct mechd_database *d)
{
    for (int k = 0; k < MECHD_NUMBERS; k++) {
        n->of[k].last = inherited(n, d, (enum mechd_numbers)k);
        (void)d->ops->number(d->self, names[k], &n->of[k].last);
        const uint64_t least = k == MECHD_NUMBER_INCARNATION ? incarnation_by_clock() : 0;
        n->of[k].first = n->of[k].last + 1 > least ? n->of[k].last + 1 : least;
        atomic_init(&n->of[k].given, n->of[k].first - 1);
        atomic_init(&n->of[k].stored, n->of[k].last);
    }
    if (!write_all(n, d, true)) {
        for (int k = 0; k < MECHD_NUMBERS; k++) {
            atomic_store(&n->of[k].known, 0);
        }
    }
}

void mechd_numbers_end(struct mechd_numbers_given *n, const struct mechd_database *d)
{
    (void)write_all(n, d, false);
}

uint64_t mechd_store_last(struct mechd_store *s, enum mechd_numbers which)
{
    return mechd_store_numbers(s)->of[which].last;
}

uint64_t mechd_store_incarnation(struct mechd_store *s)
{
    return s != NULL ? mechd_store_numbers(s)->of[MECHD_NUMBER_INCARNATION].first
                     : incarnation_by_clock();
}

/* --- another block ---------------------------------------------------------------------------- */

struct block {
    struct mechd_record r; /* first */
    struct mechd_number *number;
};

/* The atomic is at least this. */
static void raise_to(_Atomic uint64_t *value, uint64_t least)
{
    uint64_t now = atomic_load(value);
    while (now < least && !atomic_compare_exchange_weak(value, &now, least)) {
    }
}

/* A number that could not be stored is stored again with the next one. Two threads may post theirs
 * in either order: the larger one stays. */
static void block_done(struct mechd_record *r)
{
    struct block *const x = (struct block *)r;
    if (r->outcome != 0) {
        atomic_store(&x->number->known, 0);
    } else {
        raise_to(&x->number->stored, r->number);
    }
    free(x);
}

bool mechd_store_given(struct mechd_store *s, enum mechd_numbers which, uint64_t number)
{
    if (s == NULL) {
        return true;
    }
    struct mechd_number *const n = &mechd_store_numbers(s)->of[which];
    raise_to(&n->given, number);
    // recorded when half of them are left
    const uint64_t given = atomic_load(&n->given);
    uint64_t known = atomic_load(&n->known);
    const uint64_t block = blocks[which];
    if (given + block / 2 <= known ||
        !atomic_compare_exchange_strong(&n->known, &known, given + block)) {
        return number <= atomic_load(&n->stored);
    }
    struct block *const x = malloc(sizeof *x);
    if (x == NULL) {
        atomic_store(&n->known, 0);
        return number <= atomic_load(&n->stored);
    }
    x->r = (struct mechd_record){.kind = MECHD_RECORD_NUMBER,
                                 .id = names[which],
                                 .number = given + block,
                                 .done = block_done};
    x->number = n;
    mechd_store_post(s, &x->r);
    return number <= atomic_load(&n->stored);
}
