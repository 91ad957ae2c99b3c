/* Pieces of replies and requests that several operations share. As owner of the instance, or with a
 * simulation that is not shared. */
#pragma once

#include "protocol/wire/body.h"
#include "server/call/call.h"

/* An instance's description; `whole` includes data of the simulation, which requires ownership;
 * `reproducible` after a restore, or NULL. */
void mechd_write_instance(struct mechd_instance *i, bool whole, const bool *reproducible,
                          struct mechp_text *w);

/* One value or an array of them, as the variable says. */
void mechd_write_value(const struct mech_variable *v, const double *values, struct mechp_text *w);

/* {"name": value, …} of all variables of that causality; `packed` holds all their values. */
void mechd_write_values(const struct mechd_engine *engine, enum mech_causality causality,
                        const double *packed, struct mechp_text *w);

/* The same as a value of a body. */
struct mechd_packed {
    const struct mechd_engine *engine;
    enum mech_causality causality;
    const double *values; /* all of them */
};
void mechd_write_packed(const void *packed, struct mechp_text *w);

/* Whether the last change of parameters or of inputs took up joints; then their impulses,
 * {"name": [N s, …], …}. */
bool mechd_has_taken(const struct mechd_instance *i);
void mechd_write_taken(const void *instance, struct mechp_text *w);

/* Inputs of a request, ready for a step or to be set. */
struct mechd_inputs {
    struct mech_input_change *changes; /* [count], their numbers behind them */
    size_t count;
};
/* Read {"name": number | array | null}, with derivatives {"name": [d1, d2]} (may be NULL); `base`
 * is the place of `inputs` for messages. Faults go to c->diag or c->code. Fini in any case. */
void mechd_read_inputs(struct mechd_call *c, const json_t *inputs, const json_t *derivatives,
                       const char *base, struct mechd_inputs *out);
void mechd_inputs_fini(struct mechd_inputs *in);

/* Refuse by an outcome of an analysis with its reason; a request that is not supported
 * (MECH_INVALID, MECH_UNSUPPORTED) is a fault of the request. */
void mechd_fail_reason(struct mechd_call *c, int outcome, const char *reason);

/* A list of rows, a value of a body. */
struct mechd_matrix {
    const double *values; /* [rows x cols] */
    int32_t rows, cols;
};
void mechd_write_matrix(const void *matrix, struct mechp_text *w);
/* Entries of a matrix, as a list of [row, column, value]. */
struct mechd_entries {
    const struct mech_triplet *at; /* [count] */
    size_t count;
};
void mechd_write_entries(const void *entries, struct mechp_text *w);
/* Numbers as a part of a body, absent where there are none; they live until it is written. */
struct mechp_part mechd_numbers_part(const struct mechp_numbers *numbers);
/* One label a value of the model's variables, as a list: "force", or "force/0", "force/1" of a
 * vector. */
struct mechd_labels {
    const struct mechd_instance *instance;
    enum mech_causality causality;
    bool parameters; /* false: without the inputs that are parameters */
};
void mechd_write_labels(const void *labels, struct mechp_text *w);
/* Those of one variable, as entries of a list. */
void mechd_write_label(const struct mech_variable *v, struct mechp_text *w);

/* The item of that name; NULL: refused with NOT_FOUND, and with the one that was probably meant. */
const struct mech_item *mechd_item(struct mechd_call *c, enum mech_category category,
                                   const char *name);

/* A fault at `path`, of a member that is needed, unless it has one already: it is there, but no
 * good. */
void mechd_need(struct mechd_call *c, const char *path, const char *text);

/* Memory for n doubles, or NULL: refused with OUT_OF_MEMORY. */
double *mechd_doubles(struct mechd_call *c, size_t n);

/* Exactly n numbers of a request, or one without a list, which the caller frees; their place for
 * faults, which go to c->diag. NULL: not given, or no memory, which is refused. */
double *mechd_read_numbers(struct mechd_call *c, const json_t *given, const char *path, int32_t n);

/* How far a command goes: exactly one of size (above 0), until and count, each absent as in a body
 * (protocol/wire/body.h), into kind, size and count, if there is no fault yet. Faults go to
 * c->diag. */
struct mechd_extent {
    double size, until;
    int64_t count;
};
void mechd_set_extent(struct mechd_call *c, struct mechd_extent given,
                      struct mech_step_request *out);

/* Faults of labels (names with texts) and of a time to live (seconds); each null for none, or NULL.
 */
void mechd_check_traits(struct mechd_call *c, const json_t *labels, const json_t *ttl);
