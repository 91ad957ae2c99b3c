/* What is done with a generated model, and what must hold: one session of requests, which end
 * through whatever brings them to a daemon.
 *
 *  - a reply is JSON with null only where the row of its route has it (NaN and infinity would be
 *    null), no status is 500 or above but 503, and it comes within a limit
 *  - a refused request leaves state, inputs, parameters and model as they were, byte for byte, its
 *    snapshots and the list of instances too, and a refused creation no instance
 *  - the same requests on a second instance give the same replies, byte for byte
 *  - models are mostly accepted; those that the checks accept are created
 *  - a restored snapshot, a clone, a reset, a trial that is kept, a run and a batch lead to the
 *    same bytes as what they stand for
 *  - a passive model does not gain energy, with friction between bodies neither
 *  - two solvers find the same, in problems and in steps, where there is one answer */
#pragma once

#include "tests/fuzz/generate.h"

struct session_reply {
    int status; /* 0: no answer */
    char *text; /* [size], malloc'd, ends with a NUL; may be NULL */
    size_t size;
    bool later; /* before the request: it need not wait for the answer, if it comes by HTTP */
};

enum { SESSION_TYPES = 256 };

struct session {
    struct generate g;
    const char *id; /* of the instance; its twin is called <id>-twin */
    /* bring one request to the daemon */
    void (*send)(void *context, const char *method, const char *path, const char *body,
                 struct session_reply *reply);
    void *context;
    const struct mech_item_type *focus;
    uint32_t broken; /* percent of models */
    bool served;     /* through the doors of a daemon that others use too */
    bool trace;      /* requests to stderr */
    /* results */
    bool accepted, focused;
    bool stepped;              /* two steps of the accepted model succeeded */
    bool holds[SESSION_TYPES]; /* types of the accepted model */
    uint64_t requests, faults;
    char fault[4000];     /* the first */
    bool coupled;         /* two instances of the model were */
    const char *own;      /* instance of requests from rows; NULL: there is none */
    const char *coupling; /* and its coupling, if it has one */
    bool later;           /* as of a reply: of the next request */
    char operation[64];   /* one that the daemon has answered with; "o-0": there is none */
    json_t *model;        /* its model */
    bool twin;            /* another instance gets the same requests */
    uint32_t slow;        /* runs and sweeps that were stopped because they took long */
    bool same_numbers;    /* and it counts its trials from the same number */
};

void session_run(struct session *s);
/* Factor on the time that a reply or a session may take: MECHD_TESTS_DEADLINE, at least 1. */
double session_patience(void);
