/* Sweeps: one model, or one coupling, over many sets of parameters, on all workers.
 *
 * A point is a set of values; it is computed in private: what is swept is built with the values in
 * place of the document's, and stepped to the end (point.h). Points are independent: rows have the
 * same bits for any number of workers. Lanes, one per worker, take point after point and go to the
 * end of the pool's queue every millisecond. A point that fails has a row of NaN and an entry in
 * the errors.
 *
 * Rows are in memory allocated before the first point. With a state directory, the sweep is stored
 * at its beginning and its rows at its end, so that the next process has it; rows of an earlier
 * process remain on disk (keep.c). A sweep cut short by the end of the process is interrupted
 * there. It is charged to the account of its creator (accounts.h). shared: const except where
 * noted; reference counted (the table, lanes, readers).
 */
#pragma once

#include "protocol/wire/text.h"
#include "server/auth/accounts.h"
#include "server/call/rows.h"
#include "server/os/pool.h"
#include "server/sweep/point.h"
#include "solver/base/name.h"

enum {
    MECHD_SWEEPS_MOST = 64,
    MECHD_SWEEP_POINTS = 1000000,
    MECHD_SWEEP_PARAMETERS = 16,
    MECHD_SWEEP_ERRORS = 100,                 /* kept of each */
    MECHD_SWEEP_NAME = 2 * MECH_NAME_MAX + 2, /* "left/k", "left.x" */
    MECHD_SWEEP_BYTES = 64 << 20,             /* of one's rows and values */
    MECHD_SWEEPS_BYTES = 256 << 20,           /* of all */
};

struct mechd_sweep_output {
    char name[MECHD_SWEEP_NAME];
    int32_t part;  /* participant of a coupling; 0 of a model */
    int32_t index; /* among the outputs of the model, or of the participant */
    int32_t size;
    bool scalar;
};

/* The requested sweep. */
struct mechd_sweep_plan {
    const struct mechd_point_ops *ops; /* of its points; NULL: of an earlier process */
    void *of;                        /* the kind's own, read by all lanes; NULL once all are over */
    size_t places;                   /* parameters */
    char (*names)[MECHD_SWEEP_NAME]; /* [places] */
    int32_t *index;                  /* [places] what the kind makes of them */
    uint32_t points;
    double *values; /* [points][places] */
    size_t output_count;
    struct mechd_sweep_output *outputs; /* [output_count] */
    /* to an end: a time, or so many internal steps; of a coupling, windows in place of steps */
    bool counted;
    double until;
    uint64_t count;
    uint64_t every;    /* internal steps from one row to the next; 0: the end alone */
    double start, h;   /* s, of the document's own parameters */
    double least;      /* s, the smallest step that rows up to `until` are made for; 0: none */
    uint64_t capacity; /* rows of a point */
    /* of one point in progress, with the document's own values */
    uint64_t instances, coordinates, memory;
};

struct mechd_sweep_error {
    uint32_t point;
    enum mechp_code code;
    char reason[192];
};

struct mechd_sweep_lane;
struct mechd_ticket;

struct mechd_sweep {
    struct mechd_sweep *next; /* locked by the table */
    struct mechd_service *service;
    _Atomic int refs;
    uint64_t id;
    char *name; /* of the model or the coupling */
    struct mechd_sweep_plan plan;
    size_t bytes; /* of memory charged */
    struct mechd_account *account;
    uint64_t held[MECHD_QUOTA_HELD]; /* of it; the starter's, then the last lane's */
    bool stored;                     /* there is a store */
    struct mechd_column *columns;    /* [column_count] point, parameters, time, outputs */
    size_t column_count, width;
    uint64_t stored_rows;           /* on the disk, of an earlier process */
    double *rows;                   /* [points][capacity][width]; NULL: on the disk */
    uint64_t *row_counts;           /* [points] written before `over` */
    _Atomic bool *over;             /* [points] partner: readers */
    struct mechd_sweep_lane *lanes; /* [lane_count] */
    int lane_count;
    _Atomic uint32_t taken, done, failed; /* points */
    _Atomic int working;                  /* lanes that are not over */
    _Atomic bool over_all;                /* nor is anything being written to disk */
    _Atomic bool kept;                    /* the next process has its rows; before over_all */
    _Atomic bool lost;                    /* a record of it could not be stored */
    struct mechd_stop stop;               /* DELETED */
    pthread_mutex_t m;                    /* of the errors */
    struct mechd_sweep_error errors[MECHD_SWEEP_ERRORS];
    int error_count;
};

/* All of them. shared, locked by m. */
struct mechd_sweeps {
    pthread_mutex_t m;
    struct mechd_sweep *newest;
    uint64_t serial;
    int count;
    _Atomic size_t bytes; /* of those in the table and those that readers still hold */
};

void mechd_sweeps_init(struct mechd_sweeps *t);
/* When the pool is over. */
void mechd_sweeps_fini(struct mechd_sweeps *t);

void mechd_sweep_plan_fini(struct mechd_sweep_plan *p);
/* Bytes of values and rows. */
double mechd_sweep_bytes(const struct mechd_sweep_plan *p);
/* Values of a row: point, parameters, time, outputs. */
size_t mechd_sweep_width(const struct mechd_sweep_plan *p);
/* Take the plan and add the sweep to the table; *out is a reference. 0; MECH_UNSUPPORTED: a quota,
 * given by x->which, or (x->which is MECHD_QUOTAS) too many, or too much in all; negative. If
 * refused, the plan remains the caller's. */
int mechd_sweep_create(struct mechd_service *d, struct mechd_account *account, const char *name,
                       struct mechd_sweep_plan *plan, struct mechd_excess *x,
                       struct mechd_sweep **out);
/* Then: post its beginning to the store if there is one, which takes the ticket, and its lanes to
 * the pool. */
void mechd_sweep_begin(struct mechd_sweep *s, struct mechd_ticket *t);
/* "w-1"; out [MECHD_ID] (server/os/ids.h). */
void mechd_sweep_id(const struct mechd_sweep *s, char *out);
/* A reference, or NULL. */
struct mechd_sweep *mechd_sweep_find(struct mechd_sweeps *t, const char *id);
/* DELETED: a client has ended it; or NONE. Any thread. */
enum mechd_stop_reason mechd_sweep_asked(const struct mechd_sweep *s);
/* Why no point goes on (ends.c). */
enum mechd_stop_reason mechd_sweep_ends(const struct mechd_sweep *s);
/* References to all, oldest first, into a fresh array. Negative: no memory. */
int mechd_sweep_list(struct mechd_sweeps *t, struct mechd_sweep ***out, size_t *count);
/* Remove it from the table, and end it at the next slices. False: it has already been removed. */
bool mechd_sweep_remove(struct mechd_sweeps *t, struct mechd_sweep *s);
/* "running", "finished", "stopped" or "interrupted". */
const char *mechd_sweep_state(struct mechd_sweep *s);
/* The names of its parameters as an array, in the order of the columns. */
void mechd_sweep_write_parameters(const struct mechd_sweep *s, struct mechp_text *w);
/* Why points have failed, as an array of JSON. */
void mechd_sweep_write_errors(struct mechd_sweep *s, struct mechp_text *w);
/* Refund the account; all of it, or the share of a lane. */
void mechd_sweep_give(struct mechd_sweep *s, enum mechd_quota which, uint64_t amount);

/* --- storing (keep.c) ------------------------------------------------------------------------- */

/* Those of the store into the table: before the doors open. 0 or negative. */
int mechd_sweeps_load(struct mechd_service *d);
/* Columns of a plan into s->columns (NULL: no memory), and the widths. */
int mechd_sweep_columns(struct mechd_sweep *s);
/* The beginning to the store if there is one, which takes the ticket. 0 or negative. */
int mechd_sweep_keep(struct mechd_sweep *s, struct mechd_ticket *t);
/* The last lane is over: rows and end to the store. The sweep is over_all then or later. */
void mechd_sweep_keep_end(struct mechd_sweep *s);
/* It has been removed: delete it from the store; the ticket is taken if it was stored. */
void mechd_sweep_forget(struct mechd_sweep *s, struct mechd_ticket *t);
void mechd_sweep_unref(struct mechd_sweep *s);
