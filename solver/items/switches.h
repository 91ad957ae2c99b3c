/* The expressions of a model that have branches (expr.h): force laws with choices, loads with
 * comparisons. Items note them while the model is compiled; events are where one takes another
 * branch. owner: the model. */
#pragma once

#include "solver/base/arena.h"
#include "solver/items/item.h"
#include "solver/items/timed.h"

struct mech_switch {
    const struct mech_expr *of;
    const double *vars;             /* those of its last evaluation */
    const struct mech_timed *timed; /* whose value it is, at a time alone; NULL: of a force law */
    int32_t channel;                /* of the model, of a load or of a system's force; -1: none */
    enum mech_category category;    /* whose it is: an object's or a load's, */
    int32_t item;                   /* in the document */
    int32_t row; /* place among all numbers of this item that may be expressions, from 0 */
};

struct mech_switches {
    struct mech_arena *arena;
    struct mech_switch *at; /* [count] those of one list of an item side by side */
    size_t count, room;
    bool laws; /* some are of force laws */
};

/* Note an expression if it can go several ways. `s` may be NULL, and so may the expression: nothing
 * is noted. 0; MECH_NO_MEMORY. */
int mech_switches_add(struct mech_switches *s, const struct mech_switch *one);
/* That of an object's force law. */
int mech_switches_law(struct mech_switches *s, const struct mech_expr *of, const double *vars,
                      int32_t object, int32_t row);
/* Those of a number of an object that depends on time; `row` is that of the inmost one, which the
 * others follow. */
int mech_switches_timed(struct mech_switches *s, const struct mech_timed *x, int32_t object,
                        int32_t row);
