/* Partners: the agreement of a binary hello, by lease. It defines the order of values in both
 * directions; the lease determines what the partner may change (instance/leases.h). owner: the
 * instance's. */
#pragma once

#include "protocol/frame/frame.h"
#include "protocol/wire/text.h"
#include "server/auth/tokens.h"
#include "server/instance/instance.h"

enum { MECHD_PARTNERS_MOST = 16, MECHD_PENDING_MOST = 64, MECHD_ORDER_MOST = 2 };
/* A partner without a role that has been inactive for this long may be replaced by a new one, ns.
 * */
static const uint64_t mechd_lease_ns = 60000000000u;

struct mechd_pending {
    double time;    /* from which the values hold */
    double *values; /* [input_size × (order + 1)] */
    bool used;      /* set within a command in progress */
};

/* Buffer for a frame's inputs in the simulation's form. */
struct mechd_partner_room {
    struct mech_input_change *changes; /* [input_count] */
    double *derivatives;               /* [input_size × order] each input's together */
};

/* Authorization of a hello: a token, which a reload may remove. */
struct mechd_pass {
    bool has_token; /* otherwise the key of the connection, which is checked for every frame */
    struct mechd_token who;
    unsigned turn; /* of the tokens at the last check */
};

struct mechd_partner {
    struct mechd_partner *next;
    uint64_t lease;
    bool clocked;  /* the lease expires */
    bool borrowed; /* it was taken elsewhere, and remains after the partner */
    uint64_t used; /* last message, ns */
    struct mechd_pass pass;
    uint64_t trial;   /* id of its last trial in the instance */
    int32_t *inputs;  /* [input_count] indices of variables */
    int32_t *outputs; /* [output_count] */
    size_t input_count, output_count;
    size_t input_size, output_size; /* values */
    int32_t order;
    unsigned want;  /* a set of MECHP_WANTS */
    double *matrix; /* [output_size × inputs of the instance] the jacobian; NULL: not wanted */
    bool early;     /* its steps and trials end at events */
    struct mech_event_log log; /* of the step in progress, if it looks for events; room for one */
    struct mech_logged first;
    double *packed;                                   /* [all outputs of the instance] scratch */
    struct mechd_partner_room step;                   /* inputs of the command in progress */
    struct mechd_partner_room set;                    /* inputs that are being set */
    struct mechd_pending pending[MECHD_PENDING_MOST]; /* forces for later, sorted by time */
    int pending_count;
};

struct mechd_hello {
    const json_t *body;
    uint64_t lease;                /* of the frame: an existing one; 0: a new one, by `role` */
    const struct mechd_pass *pass; /* its name is the holder's if the body has none */
};

/* Make a partner from a hello; faults go to diag. 0; MECH_INVALID; MECH_MISMATCH (the lease of
 * *holder conflicts); MECH_UNSUPPORTED (too many active partners); negative. */
int mechd_partner_hello(struct mechd_instance *i, const struct mechd_hello *hello,
                        struct mech_diag *diag, struct mechd_holder *holder,
                        struct mechd_partner **out);
/* True if the token of its hello is still known, and may still step. */
bool mechd_partner_still(struct mechd_instance *i, struct mechd_partner *p);
/* By lease, if that permits this, and with `sets` to set all its inputs; mechd_leases_end follows.
 * NULL: the lease of *holder conflicts. */
struct mechd_partner *mechd_partner_begin(struct mechd_instance *i, uint64_t lease,
                                          enum mechd_act act, bool sets,
                                          struct mechd_holder *holder);
/* Remove partners whose lease has ended. */
void mechd_partners_prune(struct mechd_instance *i);
/* Remove the partner, and its lease unless that was taken elsewhere. */
void mechd_partner_bye(struct mechd_instance *i, struct mechd_partner *p);
void mechd_partners_destroy(struct mechd_instance *i);

/* The hello's JSON reply. */
void mechd_partner_write(struct mechd_instance *i, const struct mechd_partner *p,
                         struct mechp_text *w);

/* The partner's inputs from `count` values: all inputs, then their first derivatives … They are
 * stored in room->changes and point into `values`. 0; MECH_MISMATCH (wrong count). */
int mechd_partner_inputs(const struct mechd_instance *i, const struct mechd_partner *p,
                         const double *values, uint32_t count,
                         const struct mechd_partner_room *room);
/* Set them. 0; MECH_MISMATCH; otherwise as mech_sim_set_inputs: nothing is set. */
int mechd_partner_set(struct mechd_instance *i, const struct mechd_partner *p, const double *values,
                      uint32_t count);
/* The partner's outputs picked from all of them. */
void mechd_partner_pick(const struct mechd_instance *i, const struct mechd_partner *p,
                        const double *packed, double *out);

/* Store values for a later time. 0; MECH_MISMATCH; MECH_UNSUPPORTED (too many wait); negative. */
int mechd_partner_keep(struct mechd_partner *p, double time, const double *values, uint32_t count);
/* Set the values that are due at the present time, in the order of stamps; those of partners whose
 * lease has ended are dropped. */
void mechd_partners_due(struct mechd_instance *i);
/* A command is over: drop the values set in it, or keep them for the next attempt. */
void mechd_partners_used(struct mechd_instance *i, bool forget);
/* Time has gone back: waiting values belong to the abandoned future and are dropped. */
void mechd_partners_rewind(struct mechd_instance *i);
/* Time of the next force that waits, or infinity. */
double mechd_partners_next(const struct mechd_instance *i);
