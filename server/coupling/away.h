/* The engine of an instance that represents a program outside: the variables that the coupling's
 * document declares, the time at the end of the last window, and the outputs that the program
 * answered last. It does not step: its values are set by the tasks of the coupling (outside.c). */
#pragma once

#include "server/engine/engine.h"
#include "solver/base/arena.h"
#include "solver/base/name.h"

struct mechd_outside;
struct mechd_outside_terms;

/* owner: the instance's. */
struct mechd_away {
    struct mechd_outside *outside; /* a reference */
    double time;                   /* s, at the end of the last window */
    uint64_t windows;
    double *inputs, *outputs; /* [input_count], [output_count] as declared */
    double *tried;            /* [output_count] outputs of the last trial */
    struct mech_arena arena;  /* of the names: */
    struct mech_names input_names, output_names;
};

/* Of engines whose self is a mechd_away, which they destroy. */
extern const struct mechd_engine_ops mechd_away_ops;

/* With an outside of its own, at time 0. NULL: no memory. */
struct mechd_away *mechd_away_create(const char *name, const struct mechd_outside_terms *terms);
/* While no engine has it. */
void mechd_away_destroy(struct mechd_away *a);
