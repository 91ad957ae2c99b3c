/* Bespoke floor of a chain of items: masses and springs as arrays of plain structs, one call per
 * type, generalized-α with one Newton iteration a step, whose matrix is assembled through slots and
 * factored anew. owner: the caller; exits with 2 where there is no memory.
 */
#pragma once

#include <stdint.h>

enum floor_law {
    FLOOR_LINEAR, /* k u + d v */
    FLOOR_CUBIC   /* k u + 0.1 k u³ + d v */
};

struct floor_spring {
    int32_t a, b; /* coordinates; a slot beyond the last one is ground */
    double k, d;
};

struct floor_items {
    int32_t n;
    enum floor_law law;
    struct floor_spring *spring;                  /* [n] */
    double *mass, *q, *v, *a, *aux, *main, *next; /* [n + 1], the last one for the ground */
    double *r;                                    /* residual and increment */
    uint64_t done;
};

void floor_items_init(struct floor_items *f, int32_t n, enum floor_law law);
void floor_items_fini(struct floor_items *f);
/* one unit is a step */
void floor_items_step(void *items, uint64_t count);
