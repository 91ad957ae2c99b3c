/* Partners: what a binary hello has agreed on, by lease. The order of values both ways is fixed
 * here; what the partner may change is told by its lease (instance/leases.h). owner: the
 * instance's. */
#pragma once

#include "protocol/frame/frame.h"
#include "protocol/wire/text.h"
#include "server/auth/tokens.h"
#include "server/instance/instance.h"

enum { MECHD_PARTNERS_MOST = 16, MECHD_PENDING_MOST = 64, MECHD_ORDER_MOST = 2 };
/* A partner without a role that has been silent for this long may be replaced by a new one, ns. */
static const uint64_t mechd_lease_ns = 60000000000u;

struct mechd_pending {
    double time;    /* from which the values hold */
    double *values; /* [input_size × (order + 1)] */
    bool used;      /* set within a command that is not over */
};

/* Room for a frame's inputs as the simulation takes them. */
struct mechd_partner_room {
    struct mech_input_change *changes; /* [input_count] */
    double *derivatives;               /* [input_size × order] each input's together */
};

/* What a hello was let in by: a token, which a reload may take away. */
struct mechd_pass {
    bool has_token; /* or else the key of the connection, which every frame is asked for */
    struct mechd_token who;
    unsigned turn; /* of the tokens when it was known last */
};

struct mechd_partner {
    struct mechd_partner *next;
    uint64_t lease;
    bool clocked;  /* the lease ends by the clock */
    bool borrowed; /* it was taken elsewhere, and outlives the partner */
    uint64_t used; /* last message, ns */
    struct mechd_pass pass;
    uint64_t trial;   /* id of its last trial in the instance */
    int32_t *inputs;  /* [input_count] indices of variables */
    int32_t *outputs; /* [output_count] */
    size_t input_count, output_count;
    size_t input_size, output_size; /* values */
    int32_t order;
    unsigned want;  /* bits of enum mechd_partner_want (partner_wants.h) */
    double *matrix; /* [outputs × inputs of the instance] the jacobian; NULL: not wanted */
    double *packed; /* [all outputs of the instance] scratch */
    struct mechd_partner_room step;                   /* inputs of the command in progress */
    struct mechd_partner_room set;                    /* inputs that are being set */
    struct mechd_pending pending[MECHD_PENDING_MOST]; /* forces for later, sorted by time */
    int pending_count;
};

struct mechd_hello {
    const json_t *body;
    uint64_t lease; /* of the frame: one that has been taken before; 0: a new one, by `role` */
    const struct mechd_pass *pass; /* its name is the holder's when the body has none */
};

/* Make a partner from a hello; faults go to diag. 0; MECH_INVALID; MECH_MISMATCH (*holder stands
 * against it); MECH_UNSUPPORTED (too many active partners); negative. */
int mechd_partner_hello(struct mechd_instance *i, const struct mechd_hello *hello,
                        struct mech_diag *diag, struct mechd_holder *holder,
                        struct mechd_partner **out);
/* Is the token of its hello still known, and may it still step? */
bool mechd_partner_still(struct mechd_instance *i, struct mechd_partner *p);
/* By lease, or NULL; notes that it was heard. */
struct mechd_partner *mechd_partner_find(struct mechd_instance *i, uint64_t lease);
/* By lease, if that lets it do this, and with `sets` set all its inputs; mechd_leases_end follows.
 * NULL: *holder stands against it. */
struct mechd_partner *mechd_partner_begin(struct mechd_instance *i, uint64_t lease,
                                          enum mechd_act act, bool sets,
                                          struct mechd_holder *holder);
/* Those whose lease has ended are no partners any more. */
void mechd_partners_prune(struct mechd_instance *i);
/* The partner goes, and its lease unless that was taken elsewhere. */
void mechd_partner_bye(struct mechd_instance *i, struct mechd_partner *p);
void mechd_partners_destroy(struct mechd_partner *first);

/* The hello's JSON reply. */
void mechd_partner_write(struct mechd_instance *i, const struct mechd_partner *p,
                         struct mechp_text *w);

/* The partner's inputs from `count` values: all inputs, then their first derivatives … They stand
 * in room->changes and point into `values`. 0; MECH_MISMATCH (wrong count). */
int mechd_partner_inputs(const struct mechd_instance *i, const struct mechd_partner *p,
                         const double *values, uint32_t count,
                         const struct mechd_partner_room *room);
/* Set them. 0; MECH_MISMATCH; otherwise as mech_sim_set_inputs: nothing is set. */
int mechd_partner_set(struct mechd_instance *i, const struct mechd_partner *p, const double *values,
                      uint32_t count);
/* The partner's outputs picked from all of them. */
void mechd_partner_pick(const struct mechd_instance *i, const struct mechd_partner *p,
                        const double *packed, double *out);

/* Keep values for a later time. 0; MECH_MISMATCH; MECH_UNSUPPORTED (too many wait); negative. */
int mechd_partner_keep(struct mechd_partner *p, double time, const double *values, uint32_t count);
/* Set what has become due at the present time, in the order of stamps; what has been sent by
 * partners whose lease has ended is dropped. */
void mechd_partners_due(struct mechd_instance *i);
/* A command is over: forget what has been set in it, or keep it for the next try. */
void mechd_partners_used(struct mechd_instance *i, bool forget);
/* Time has gone back: what waits was meant for another course of things and is dropped. */
void mechd_partners_rewind(struct mechd_instance *i);
/* Time of the next force that waits, or infinity. */
double mechd_partners_next(const struct mechd_instance *i);
