/* Rings in slots, and a bit for each slot that may not be empty. A slot of level k > 0 is spread
 * over the levels below when the first of its ticks comes. */
#include "server/os/wheel.h"

enum { MASK = MECHD_WHEEL_SLOTS - 1, WORDS = MECHD_WHEEL_SLOTS / 64 };

static void append(struct mechd_timer **ring, struct mechd_timer *t)
{
    struct mechd_timer *const first = *ring;
    if (first == NULL) {
        t->next = t->before = t;
        *ring = t;
    } else {
        t->next = first;
        t->before = first->before;
        t->before->next = t;
        first->before = t;
    }
    t->ring = ring;
}

static void take_out(struct mechd_timer *t)
{
    struct mechd_timer **const ring = t->ring;
    if (t->next == t) {
        *ring = NULL;
    } else {
        t->next->before = t->before;
        t->before->next = t->next;
        if (*ring == t) {
            *ring = t->next;
        }
    }
    t->ring = NULL;
}

/* The tick from which on a timer may fire. */
static uint64_t tick_of(uint64_t due)
{
    const uint64_t whole = due >> MECHD_WHEEL_TICK;
    return whole + ((due & (((uint64_t)1 << MECHD_WHEEL_TICK) - 1)) != 0);
}

static void place(struct mechd_wheel *w, struct mechd_timer *t)
{
    const uint64_t most = ((uint64_t)1 << (MECHD_WHEEL_BITS * MECHD_WHEEL_LEVELS)) - 1;
    uint64_t tick = tick_of(t->due);
    if (tick <= w->now) {
        append(&w->ready, t);
        return;
    }
    if (tick - w->now > most) {
        tick = w->now + most;
    }
    int level = 0;
    while ((tick - w->now) >> (MECHD_WHEEL_BITS * (level + 1)) != 0) {
        level++;
    }
    const size_t slot = (size_t)(tick >> (MECHD_WHEEL_BITS * level)) & MASK;
    append(&w->slots[level][slot], t);
    w->busy[level][slot / 64] |= (uint64_t)1 << (slot % 64);
}

void mechd_wheel_init(struct mechd_wheel *w, uint64_t now)
{
    *w = (struct mechd_wheel){.now = now >> MECHD_WHEEL_TICK};
}

void mechd_wheel_insert(struct mechd_wheel *w, struct mechd_timer *t, uint64_t due)
{
    t->due = due;
    w->count++;
    place(w, t);
}

void mechd_wheel_remove(struct mechd_wheel *w, struct mechd_timer *t)
{
    take_out(t);
    w->count--;
}

/* How many slots from `slot` on, 1 to 256, the next one of a level is that is not empty; 0: there
 * is none. Bits of slots that removals have emptied go. */
static uint64_t ahead(struct mechd_wheel *w, int level, size_t slot)
{
    for (size_t seen = 0; seen <= WORDS; seen++) {
        const size_t word = ((slot + 1) / 64 + seen) % WORDS;
        uint64_t bits = w->busy[level][word];
        if (seen == 0) {
            bits &= UINT64_MAX << ((slot + 1) % 64);
        }
        for (; bits != 0; bits &= bits - 1) {
            const size_t at = 64 * word + (size_t)__builtin_ctzll(bits);
            if (w->slots[level][at] != NULL) {
                const uint64_t distance = (at - slot) & MASK;
                return distance != 0 ? distance : MECHD_WHEEL_SLOTS;
            }
            w->busy[level][word] &= ~((uint64_t)1 << (at % 64));
        }
    }
    return 0;
}

/* The next tick at which a slot has to be looked at; UINT64_MAX: never. */
static uint64_t next_tick(struct mechd_wheel *w)
{
    uint64_t next = UINT64_MAX;
    for (int level = 0; level < MECHD_WHEEL_LEVELS; level++) {
        const uint64_t now = w->now >> (MECHD_WHEEL_BITS * level);
        const uint64_t distance = ahead(w, level, (size_t)now & MASK);
        if (distance != 0) {
            const uint64_t tick = (now + distance) << (MECHD_WHEEL_BITS * level);
            next = tick < next ? tick : next;
        }
    }
    return next;
}

/* Place again what a slot holds, in its order. */
static void spread(struct mechd_wheel *w, int level, size_t slot)
{
    struct mechd_timer *rest = w->slots[level][slot];
    w->slots[level][slot] = NULL;
    w->busy[level][slot / 64] &= ~((uint64_t)1 << (slot % 64));
    if (rest != NULL) {
        rest->before->next = NULL;
    }
    while (rest != NULL) {
        struct mechd_timer *const t = rest;
        rest = t->next;
        place(w, t);
    }
}

void mechd_wheel_advance(struct mechd_wheel *w, uint64_t now)
{
    const uint64_t to = now >> MECHD_WHEEL_TICK;
    while (w->now < to) {
        const uint64_t next = next_tick(w);
        if (next > to) {
            w->now = to;
            return;
        }
        w->now = next;
        for (int level = MECHD_WHEEL_LEVELS - 1; level >= 0; level--) {
            const int shift = MECHD_WHEEL_BITS * level;
            if (next >> shift << shift == next) {
                spread(w, level, (size_t)(next >> shift) & MASK);
            }
        }
    }
}

void mechd_wheel_drain(struct mechd_wheel *w)
{
    for (int level = 0; level < MECHD_WHEEL_LEVELS; level++) {
        for (size_t slot = 0; slot < MECHD_WHEEL_SLOTS; slot++) {
            while (w->slots[level][slot] != NULL) {
                struct mechd_timer *const t = w->slots[level][slot];
                take_out(t);
                append(&w->ready, t);
            }
        }
    }
}

struct mechd_timer *mechd_wheel_pop(struct mechd_wheel *w)
{
    struct mechd_timer *const t = w->ready;
    if (t != NULL) {
        mechd_wheel_remove(w, t);
    }
    return t;
}

void mechd_wheel_put_first(struct mechd_wheel *w, struct mechd_timer *t)
{
    append(&w->ready, t);
    w->ready = t;
    w->count++;
}

uint64_t mechd_wheel_next(struct mechd_wheel *w)
{
    if (w->ready != NULL) {
        return w->ready->due;
    }
    const uint64_t tick = w->count > 0 ? next_tick(w) : UINT64_MAX;
    return tick < UINT64_MAX >> MECHD_WHEEL_TICK ? tick << MECHD_WHEEL_TICK : UINT64_MAX;
}
