/* The table of the programs that take part in couplings: found by coupling and name when one says
 * hello, and by its lease with each frame. Both are searched by the thread of a door, also for
 * frames of strangers: a search looks at one chain, about one entry, however many there are. */
#include "server/call/outside_internal.h"

#include "solver/base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- one index -------------------------------------------------------------------------------- */

static void begin(struct mechd_outside_index *x)
{
    pthread_mutex_init(&x->m, NULL);
    x->chains = x->few;
    x->size = sizeof x->few / sizeof *x->few;
}

static void end(struct mechd_outside_index *x)
{
    if (x->chains != x->few) {
        free(x->chains);
    }
    pthread_mutex_destroy(&x->m);
}

static void push(struct mechd_outside **chains, size_t size, enum mechd_outside_key key,
                 struct mechd_outside *o)
{
    struct mechd_outside **const at = &chains[o->in[key].hash % size];
    o->in[key].next = *at;
    *at = o;
}

/* Twice the chains, where there is memory for them; else they get longer. m is held. */
static void grow(struct mechd_outside_index *x, enum mechd_outside_key key)
{
    const size_t size = 2 * x->size;
    struct mechd_outside **const chains = calloc(size, sizeof(struct mechd_outside *));
    for (size_t k = 0; k < x->size && chains != NULL; k++) {
        while (x->chains[k] != NULL) {
            struct mechd_outside *const o = x->chains[k];
            x->chains[k] = o->in[key].next;
            push(chains, size, key, o);
        }
    }
    if (chains != NULL) {
        if (x->chains != x->few) {
            free(x->chains);
        }
        x->chains = chains;
        x->size = size;
    }
}

void mechd_outside_list(struct mechd_outside_index *x, enum mechd_outside_key key,
                        struct mechd_outside *o, uint64_t hash)
{
    pthread_mutex_lock(&x->m);
    if (x->count >= x->size) {
        grow(x, key);
    }
    o->in[key].hash = hash;
    push(x->chains, x->size, key, o);
    x->count++;
    pthread_mutex_unlock(&x->m);
}

bool mechd_outside_unlist(struct mechd_outside_index *x, enum mechd_outside_key key,
                          struct mechd_outside *o)
{
    pthread_mutex_lock(&x->m);
    struct mechd_outside **at = &x->chains[o->in[key].hash % x->size];
    while (*at != NULL && *at != o) {
        at = &(*at)->in[key].next;
    }
    const bool found = *at == o;
    if (found) {
        *at = o->in[key].next;
        x->count--;
    }
    pthread_mutex_unlock(&x->m);
    return found;
}

/* --- all of them ------------------------------------------------------------------------------ */

void mechd_outsides_init(struct mechd_outsides *t, struct mechd_tokens *tokens)
{
    *t = (struct mechd_outsides){.tokens = tokens};
    for (int k = 0; k < MECHD_OUTSIDE_KEYS; k++) {
        begin(&t->by[k]);
    }
}

void mechd_outsides_fini(struct mechd_outsides *t)
{
    for (int k = 0; k < MECHD_OUTSIDE_KEYS; k++) {
        end(&t->by[k]);
    }
}

void mechd_outsides_close(struct mechd_outsides *t)
{
    struct mechd_outside_index *const x = &t->by[MECHD_OUTSIDE_BY_NAME];
    (void)mechd_stop_raise(&t->stop, MECHD_STOP_SHUTDOWN);
    pthread_mutex_lock(&x->m);
    for (size_t k = 0; k < x->size; k++) {
        struct mechd_outside *o = x->chains[k];
        for (; o != NULL; o = o->in[MECHD_OUTSIDE_BY_NAME].next) {
            pthread_mutex_lock(&o->m);
            mechd_outside_let_go(o);
            pthread_mutex_unlock(&o->m);
        }
    }
    pthread_mutex_unlock(&x->m);
}

static uint64_t hash_of(const char *coupling, const char *name)
{
    return mech_hash(name, strlen(name), mech_hash(coupling, strlen(coupling), 0));
}

void mechd_outside_add(struct mechd_outsides *t, struct mechd_outside *o, const char *coupling)
{
    snprintf(o->coupling, sizeof o->coupling, "%.31s", coupling);
    o->table = t;
    mechd_outside_ref(o);
    mechd_outside_list(&t->by[MECHD_OUTSIDE_BY_NAME], MECHD_OUTSIDE_BY_NAME, o,
                       hash_of(o->coupling, o->name));
}

void mechd_outside_remove(struct mechd_outsides *t, struct mechd_outside *o)
{
    const bool found =
        mechd_outside_unlist(&t->by[MECHD_OUTSIDE_BY_NAME], MECHD_OUTSIDE_BY_NAME, o);
    pthread_mutex_lock(&o->m);
    o->of = NULL;
    o->pays = NULL;
    mechd_outside_dismiss(o, NULL); // the coupling is over: it does not wait for a question
    o->table = NULL;                // a hello that has found it before is refused
    pthread_mutex_unlock(&o->m);
    if (found) {
        mechd_outside_unref(o);
    }
}

struct mechd_outside *mechd_outside_named(struct mechd_outsides *t, const char *coupling,
                                          const char *name)
{
    struct mechd_outside_index *const x = &t->by[MECHD_OUTSIDE_BY_NAME];
    const uint64_t hash = hash_of(coupling, name);
    pthread_mutex_lock(&x->m);
    struct mechd_outside *o = x->chains[hash % x->size];
    while (o != NULL && (strcmp(o->coupling, coupling) != 0 || strcmp(o->name, name) != 0)) {
        o = o->in[MECHD_OUTSIDE_BY_NAME].next;
        x->visited++;
    }
    if (o != NULL) {
        mechd_outside_ref(o);
    }
    pthread_mutex_unlock(&x->m);
    return o;
}

struct mechd_outside *mechd_outside_leased(struct mechd_outsides *t, uint64_t lease)
{
    struct mechd_outside_index *const x = &t->by[MECHD_OUTSIDE_BY_LEASE];
    pthread_mutex_lock(&x->m);
    struct mechd_outside *o = x->chains[lease % x->size];
    while (o != NULL && o->in[MECHD_OUTSIDE_BY_LEASE].hash != lease) {
        o = o->in[MECHD_OUTSIDE_BY_LEASE].next;
        x->visited++;
    }
    if (o != NULL) {
        // it is in the index no longer than in the other one, which has a reference
        mechd_outside_ref(o);
    }
    pthread_mutex_unlock(&x->m);
    return o;
}
