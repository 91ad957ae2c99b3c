/* What a request can want beside outputs (key `want`): one list (wants.def) for the readers of
 * steps, frames and couplings, OpenAPI and the clients. Any thread. */
#pragma once

#include "protocol/wire/json.h"

#define MECHP_WANT(symbol, name, step, frame, coupling, program, doc) MECHP_WANT_##symbol,
enum mechp_want {
#include "protocol/wire/wants.def"
    MECHP_WANT_MEMBERS
};
#undef MECHP_WANT

/* A set of them has this bit of each. */
#define MECHP_WANTS(symbol) (1u << MECHP_WANT_##symbol)

/* What returns them. */
enum mechp_wanted {
    MECHP_WANTED_STEP,     /* of an instance */
    MECHP_WANTED_FRAME,    /* of a binary partner of an instance */
    MECHP_WANTED_COUPLING, /* a step of it */
    MECHP_WANTED_PROGRAM,  /* its answers, as a participant of a coupling */
    MECHP_WANTED_SOURCES
};

/* The name of one, and what it is; NULL where that does not return it, or there is none. */
const char *mechp_want_name(int want, enum mechp_wanted of);
const char *mechp_want_doc(int want, enum mechp_wanted of);

enum { MECHP_WANT_PATH = 32 };
/* Entry k of a list `want` as one of those that are returned there, and its place, for further
 * faults. −1: it is none of them, a fault that lists them. */
int mechp_want_read(const json_t *list, size_t k, enum mechp_wanted of, char path[MECHP_WANT_PATH],
                    struct mech_diag *diag);
