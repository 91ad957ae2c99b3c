/* mech.h: the solver's façade. A document goes in; a simulation comes out and is stepped.
 *
 * A struct mech_sim has one owner at a time: one thread calls it, two simulations share nothing.
 * Nothing here does I/O or reads a clock; nothing allocates inside a step.
 *
 *   struct mech_sim *s;
 *   if (mech_sim_create(doc, &diag, &s) == 0) {
 *       const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 200};
 *       struct mech_step_report report;
 *       if (mech_sim_step(s, &r, &report) == 0) { … mech_sim_time(s) … }
 *   }
 */
#pragma once

#include "solver/base/err.h"
#include "solver/base/interrupt.h"
#include "solver/items/document.h"
#include "solver/sim/plan.h"
#include "solver/step/event_log.h"

struct mech_sim;
struct mech_shape;

/* --- life ------------------------------------------------------------------------------------ */

/* Check, resolve and compile a document; on success the simulation owns it, otherwise the caller
 * still does. All faults are added to `diag`; those that it has already are others' and change
 * nothing. 0; MECH_INVALID (diag says why); negative.
 * Sources of faults: dangling or duplicate names, sizes that disagree, singular mass, expressions
 * that do not parse or evaluate, an integrator that cannot take this model, step size …  */
int mech_sim_create(struct mech_document *document, struct mech_diag *diag, struct mech_sim **out);

/* The same, which polls the interrupt between its stages and while it factors a large matrix.
 * MECH_CANCELLED: interrupted; then the contents of `diag` have no meaning. */
int mech_sim_create_asking(struct mech_document *document, const struct mech_interrupt *ask,
                           struct mech_diag *diag, struct mech_sim **out);
/* The same for a document whose state is read next: where joints have been activated, its initial
 * positions may miss them. */
int mech_sim_create_for_state(struct mech_document *document, const struct mech_interrupt *ask,
                              struct mech_diag *diag, struct mech_sim **out);

/* Only the checks of mech_sim_create; the document stays the caller's. */
int mech_sim_check(struct mech_document *document, struct mech_diag *diag);
int mech_sim_check_asking(struct mech_document *document, const struct mech_interrupt *ask,
                          struct mech_diag *diag);

void mech_sim_destroy(struct mech_sim *s);

const struct mech_document *mech_sim_document(const struct mech_sim *s);
/* Name of the integrator, also where the document does not specify it. */
const char *mech_sim_integrator(const struct mech_sim *s);

/* Back to the initial state; inputs unset, parameters as in the document. Fails only where fields
 * have been changed since: outcomes of the start system (MECH_SINGULAR), MECH_NOT_FINITE, and
 * MECH_MISMATCH: the initial positions violate a joint that has been activated or changed; the
 * state is then unchanged. */
int mech_sim_reset(struct mech_sim *s);

/* Bytes held: document, compiled model, state, scratch. */
size_t mech_sim_memory(const struct mech_sim *s);

/* --- what it is ------------------------------------------------------------------------------ */

struct mech_sizes {
    int32_t q, v, x, lambda, z; /* coordinates, velocities, first-order states, multipliers, data */
    int32_t impulse;            /* rows of all interactions */
    int32_t contact;            /* room for contacts between shapes */
};
struct mech_sizes mech_sim_sizes(const struct mech_sim *s);

double mech_sim_time(const struct mech_sim *s);         /* s */
uint64_t mech_sim_step_count(const struct mech_sim *s); /* internal steps since the start */
double mech_sim_step_size(const struct mech_sim *s);    /* h of the document, s */
double mech_sim_start_time(const struct mech_sim *s);   /* its startTime, s */

/* FMI's view of the model's inputs, outputs and parameters. */
enum mech_causality { MECH_INPUT, MECH_OUTPUT_VARIABLE, MECH_PARAMETER, MECH_INDEPENDENT };

struct mech_variable {
    const char *name;
    enum mech_causality causality;
    int32_t reference; /* FMI value reference: 0 is time, then inputs, outputs, parameters */
    int32_t index;     /* within its causality */
    int32_t size;      /* number of values (1 for a scalar) */
    bool scalar;       /* written as a number; otherwise as an array of `size` */
    bool tunable;
    const char *unit;              /* or ""; "N, N m": three forces, then three moments */
    enum mech_kinematic kinematic; /* of an output, also of one without a unit (coordinates) */
    int32_t offset; /* of the first value in the packed vector of all inputs (outputs, …) */
};

size_t mech_sim_variable_count(const struct mech_sim *s, enum mech_causality causality);
void mech_sim_variable(const struct mech_sim *s, enum mech_causality causality, size_t index,
                       struct mech_variable *out);
/* Index of that name, or -1. */
int32_t mech_sim_variable_find(const struct mech_sim *s, enum mech_causality causality,
                               const char *name);

/* --- inputs, parameters, outputs ------------------------------------------------------------- */

/* Set input `index` from the current time on: `values` [size]; derivatives [order × size] are the
 * first, second … time derivatives with which it is extrapolated (order 0 to 2). It holds until it
 * is set again. NULL values give the input back to the model (the load's own value or expression).
 * The change is a change at a communication point: v̇ and λ are computed anew with the next step.
 * 0; MECH_NOT_FINITE (nothing changed). */
int mech_sim_set_input(struct mech_sim *s, int32_t index, const double *values, int32_t order,
                       const double *derivatives);

/* An input over a step, in τ = t − start: a polynomial, or samples joined by straight lines. After
 * the step the input holds its value at the end. `tau` and `values` are read until the command is
 * over (mech_sim_step returns, or mech_sim_step_finish or mech_sim_step_abandon): the caller keeps
 * them until then; the struct itself is read by begin only. */
struct mech_input_signal {
    double start;         /* s: the time of τ = 0 */
    int32_t n;            /* coefficients, from that of τ^0 on, or samples; at least 1 */
    const double *tau;    /* [n] of the samples, ascending; NULL: a polynomial */
    const double *values; /* [n × size] by coefficient or sample */
};

/* One of several inputs that are set together. */
struct mech_input_change {
    int32_t index;
    int32_t order;             /* of the derivatives, 0 to 2 */
    const double *values;      /* [size]; NULL: reset to the model's value */
    const double *derivatives; /* [order × size] first, then second; NULL when order is 0 */
    /* in a step alone, of an input that is no parameter, in place of values; NULL: those */
    const struct mech_input_signal *signal;
};

/* Set all of them, as mech_sim_set_input does, or none. 0; MECH_NOT_FINITE; MECH_INVALID (no such
 * input, or parameters with which there is no model: diag); negative. */
int mech_sim_set_inputs(struct mech_sim *s, const struct mech_input_change *inputs, size_t count,
                        struct mech_diag *diag);

/* Whether it is set; else the model's own value acts. Of a parameter always. */
bool mech_sim_input_is_set(const struct mech_sim *s, int32_t index);
/* values [size] at the current time. */
void mech_sim_get_input(const struct mech_sim *s, int32_t index, double *values);

/* Set several parameters at once: everything bound to them is computed anew and checked; on a fault
 * (diag) nothing changes. 0; MECH_INVALID; negative. */
int mech_sim_set_parameters(struct mech_sim *s, size_t count, const int32_t *index,
                            const double *values, struct mech_diag *diag);
double mech_sim_get_parameter(const struct mech_sim *s, int32_t index);

/* Outputs in the current state: all values packed ([mech_sim_output_size]), or one channel. */
size_t mech_sim_output_size(const struct mech_sim *s);
void mech_sim_get_outputs(const struct mech_sim *s, double *values);
void mech_sim_get_output(const struct mech_sim *s, int32_t index, double *values);
/* What an output measures, also where its sensor does not name it (SensorLoad). *first_order: of
 * coordinates of first order, whose rates follow inputs at once. */
enum mech_output mech_sim_output_variable(const struct mech_sim *s, int32_t index,
                                          bool *first_order);

enum { MECH_ITEM_OUTPUT_MAX = 16 };

struct mech_item_query {
    enum mech_category category;
    const char *name;
    enum mech_output variable;
    enum mech_configuration configuration;
    const double *local; /* [3] local position on a body, NULL: the origin */
};

/* Any output variable of any item (nodes, objects, markers, loads, sensors), in any configuration,
 * at a local position (bodies; NULL: the origin). Writes at most `capacity` values, *count says how
 * many there are. 0; MECH_NOT_FOUND (no such item); MECH_UNSUPPORTED (it has no such variable, or
 * not in this configuration). Coordinates of a large system may need a large capacity: call with
 * capacity 0 first. */
int mech_sim_item_output(const struct mech_sim *s, const struct mech_item_query *query,
                         size_t capacity, double *values, size_t *count);

/* Bit mask (1u << enum mech_output) of the variables of an item; 0 if there is no such item. */
uint32_t mech_sim_item_outputs(const struct mech_sim *s, enum mech_category category,
                               const char *name);

/* --- stepping -------------------------------------------------------------------------------- */

enum mech_step_kind { MECH_STEP_SIZE, MECH_STEP_UNTIL, MECH_STEP_COUNT };

struct mech_marker_force {
    int32_t marker;   /* index in the document's markers */
    double values[6]; /* coordinate marker: [0]; position: force; rigid: force, torque */
};

enum { MECH_FLOW_ORDER = 3, MECH_FLOW_MOMENTS = MECH_FLOW_ORDER + 2 };

/* Outputs within a command, behind internal steps of an engine that reports them. The solver does
 * not: there a smaller step gives the same. Of a command that fails it has no meaning. It is the
 * caller's. */
struct mech_trace {
    const int32_t *outputs; /* [output_count] indices of those that are wanted */
    size_t output_count;
    size_t width;       /* numbers of a row: 1 + the sizes of these outputs */
    double *rows;       /* [room × width]; of the first `count`: the time, s, and their values */
    size_t room, count; /* the times do not descend */
    uint64_t total;     /* with rows for which there was no room */
};

struct mech_step_request {
    enum mech_step_kind kind;
    double size;                            /* STEP_SIZE: communication step H > 0, s */
    double until;                           /* STEP_UNTIL: end time > now, s */
    uint64_t count;                         /* STEP_COUNT: internal steps of size h, > 0 */
    const struct mech_marker_force *forces; /* [force_count], acting during this step only */
    size_t force_count;
    /* [input_count] set at the start of this step, and latched once it is committed: a trial that
     * is dropped and a step that fails leave no trace of them; of an input that is named twice the
     * last one holds. Read by begin only, but for the arrays of signals */
    const struct mech_input_change *inputs;
    size_t input_count;
    bool trial; /* keep the committed state; mech_sim_commit takes the end state */
    /* [MECH_FLOW_MOMENTS × packed inputs] or NULL: written by advance until the command is over,
     * its first (MECH_FLOW_ORDER + 1) × packed inputs numbers are ∫ τ^r w dt, r = 0 first, of the
     * velocity w conjugate to each input (a load on a marker: that of the marker along the load; 0
     * of parameters), τ from the start, by the trapezoidal rule through the internal steps: an
     * input Σ u_r τ^r has done the work Σ u_r ∫ τ^r w dt, J. The rest is scratch */
    double *moments;
    /* Events of the step are added to it, from begin on; NULL: they are not looked for, which costs
     * nothing. Names in it are the document's. Of a step that fails they have no meaning. */
    struct mech_event_log *events;
    /* End after the first internal step with an event (FMI's early return); needs `events`. */
    bool early_return;
    /* Of an engine that has them, outputs within the step are added to it; NULL: not wanted. */
    struct mech_trace *trace;
};

/* The internal steps that the request takes from the committed state on. 0; MECH_INVALID: it is
 * refused. */
int mech_sim_plan(const struct mech_sim *s, const struct mech_step_request *r,
                  struct mech_step_plan *out);

/* Where a command has ended. */
enum mech_step_ended {
    MECH_ENDED_AS_REQUESTED, /* at its end, with or without an event there */
    MECH_ENDED_AT_EVENT      /* before: the internal step that led here has an event */
};

/* How far the joints are off at the end of a command; positions that index 2 lets drift, velocities
 * that index 3 does. The names are the model's. */
struct mech_drift {
    int32_t rows, left_out;    /* of joints; of these, left out as repeating others */
    double position, velocity; /* largest of g, of ġ: m or rad, and per second */
    const char *worst_position, *worst_velocity; /* the joints, NULL when there are none */
    int32_t object;                              /* worst_velocity's, in the document */
    bool sided;                                  /* worst_velocity's row is one-sided */
};

struct mech_step_report {
    uint64_t steps;         /* internal steps done */
    double step_size;       /* the internal step used */
    uint64_t iterations;    /* Newton iterations, all steps */
    uint64_t vi_iterations; /* complementarity iterations, all steps */
    uint64_t substeps;      /* of schemes that divide internal steps by their error */
    uint64_t refused;       /* substeps undone: too inaccurate, or failed */
    uint64_t impacts;       /* found by event-driven schemes, and of joints that its inputs took
                               up; simultaneous ones are one */
    int32_t taken;          /* parameters among its inputs took joints up: once each beginning
                               (mech_sim_taken, edit.h, has their impulses) */
    double residual;        /* largest final residual of any step */
    /* J that impulses of contacts, and with them those of joints, have added to kinetic energy, by
     * Moreau–Jean schemes: Newton's law with friction or several restitutions can, and joints by
     * the order of the step */
    double impact_gain;
    int32_t contacts;   /* active interaction rows, and contacts between shapes, of the last
                               step */
    const char *linear; /* linear solver used, "" if none */
    const char *vi;     /* complementarity solver used, "" if none */
    bool differenced;   /* some Jacobian was taken by differences (a point of a law aside) */
    enum mech_step_ended ended;
    struct mech_drift drift;
    /* an item of the document whose law does not hold where it ends, or that turns too fast for its
     * turns to be counted; −1: none */
    int32_t beyond;
    enum mech_category beyond_of; /* an object, a marker or a sensor */
    const char *beyond_reason;    /* why, or NULL: all hold */
    int32_t outcome;              /* 0 or enum mech_outcome */
    double failed_time;           /* when outcome is not 0: start of the failing internal step */
    char reason[160]; /* when outcome is not 0: a sentence with the item's name if known */
};

/* One command, whole: begin, advance until done, finish. On any outcome the state is as before. */
int mech_sim_step(struct mech_sim *s, const struct mech_step_request *r,
                  struct mech_step_report *report);

/* The interrupt that long iterations poll, also within one internal step. `wanted` NULL: none. A
 * step, a derivation or an equilibrium that is interrupted ends with MECH_CANCELLED and does not
 * change the state. Polled on the computing thread; it may cost about as much as reading the
 * clock. Once it has returned true, that holds until that call of advance, or of statics,
 * returns. */
void mech_sim_set_interrupt(struct mech_sim *s, bool (*wanted)(void *context), void *context);

/* The same in slices, so that a pool can be fair and a long command can be cancelled:
 * begin → advance … → finish, or abandon at any time. Between begin and finish the committed state
 * is what every reader sees, and no other change is allowed.
 * begin: 0; MECH_INVALID (H not positive and finite, until ≤ now, count 0, over 1e12 steps, a force
 * or an input that cannot be, an early return without events); MECH_NOT_FINITE (events are asked
 * for where a body has no place); negative. */
int mech_sim_step_begin(struct mech_sim *s, const struct mech_step_request *r,
                        struct mech_step_report *report);
/* At most `most` internal steps. 0 with *done; or an outcome: the command is over, nothing is
 * changed. Numbers below 2.2e-308 count as zero in a step (solver/base/subnormal.h). */
int mech_sim_step_advance(struct mech_sim *s, uint64_t most, bool *done);
void mech_sim_step_finish(struct mech_sim *s); /* commits, or keeps the trial */
void mech_sim_step_abandon(struct mech_sim *s);
bool mech_sim_stepping(const struct mech_sim *s);
/* False while a command steps with other parameters, which came among its inputs, or a derivation
 * (analysis.h) does: then the outputs of the committed state cannot be had until it is over. */
bool mech_sim_readable(const struct mech_sim *s);

/* Trials: a trial's end state is readable until it is committed, or discarded by any change. */
bool mech_sim_has_trial(const struct mech_sim *s);
/* MECH_NOT_FOUND: there is no trial; negative: nothing changed. */
int mech_sim_commit(struct mech_sim *s);
void mech_sim_discard_trial(struct mech_sim *s);
double mech_sim_trial_time(const struct mech_sim *s);
void mech_sim_trial_outputs(const struct mech_sim *s, double *values);

/* --- state ----------------------------------------------------------------------------------- */

/* Parts of the state by name; pointers into it, valid until the next change. */
struct mech_state_view {
    double time;
    /* sizes: mech_sim_sizes; vdot and a as v */
    const double *q, *v, *vdot, *a, *lambda, *impulse, *x, *z;
};
void mech_sim_state(const struct mech_sim *s, struct mech_state_view *out);

/* One contact of the last internal step between the shapes of two bodies. */
struct mech_contact_view {
    struct {
        const char *body;  /* object */
        const char *shape; /* name, or NULL */
        int32_t place;     /* of the shape in the body's geometry */
    } of[2];
    double point[3];   /* m, halfway between the surfaces, where the step looked for contacts */
    double normal[3];  /* from the first to the second */
    double gap;        /* m, there */
    double impulse[3]; /* N s, of the step, global, on the second body */
    double force[3];   /* N, the impulse over the step */
    double couple[3];  /* N m s, of the step, against rolling and spinning, on the second body */
};
/* The compiled shape at that place of an object's geometry (solver/items/shape/shape.h), in its own
 * frame; NULL: there is none. */
const struct mech_shape *mech_sim_shape(const struct mech_sim *s, size_t object, size_t place);
size_t mech_sim_contacts(const struct mech_sim *s);
void mech_sim_contact(const struct mech_sim *s, size_t i, struct mech_contact_view *out);

/* Set any of time, q, v, x, z (NULL or NaN time: unchanged); v̇ and λ follow with the next step.
 * Euler parameters get length 1, rotation vectors π at most. 0; MECH_NOT_FINITE (nothing changed;
 * of Euler parameters of length 0, and of a state with an output that is not finite, too). */
int mech_sim_set_state(struct mech_sim *s, const struct mech_state_view *in);
/* Directly after that, for readers: v̇, a and λ that the next step begins with; 0 of what the
 * scheme has none of before a step, and where they cannot be found, which the next step reports.
 * It finds them anew. 0; negative. */
int mech_sim_show_rates(struct mech_sim *s);

/* No infinity and no NaN among x [n]. A committed state has none, nor have its outputs: what would
 * lead to one (a step, a state, inputs, parameters, a field, a snapshot) is MECH_NOT_FINITE. */
bool mech_sim_all_finite(const double *x, size_t n);
/* Why the last change was refused as MECH_NOT_FINITE; until the next one. Steps say it in their
 * report. */
const char *mech_sim_refusal(const struct mech_sim *s);

/* Everything that the next step reads, as bytes: a header (magic, version, layout hash, byte order,
 * library versions, BLAS kernel), the state block, parameters and inputs. Write needs room for
 * mech_sim_snapshot_size bytes, the most that a snapshot of this model takes, and returns how many
 * it wrote: fewer when there are fewer contacts than it has room for. Read, of just these: 0;
 * MECH_MISMATCH (another layout, version, byte order or a damaged block: nothing changed);
 * *reproducible false: results may differ, in the last bits if another kernel or version wrote it,
 * in any if fields have been changed since (which a snapshot does not hold: they stay). */
size_t mech_sim_snapshot_size(const struct mech_sim *s);
size_t mech_sim_snapshot_write(const struct mech_sim *s, void *bytes);
int mech_sim_snapshot_read(struct mech_sim *s, const void *bytes, size_t size, bool *reproducible);
/* Write the end state of the trial, which is there: read, it is the state that a commit gives. */
size_t mech_sim_trial_write(const struct mech_sim *s, void *bytes);
/* Read a snapshot of another simulation whose document says the same as this one's: fields
 * that either has changed are no difference. */
int mech_sim_snapshot_adopt(struct mech_sim *s, const void *bytes, size_t size, bool *reproducible);
/* Time of the state in such bytes, s, as they say it; NaN where they are too few. */
double mech_sim_snapshot_time(const void *bytes, size_t size);
/* Are the fields still those of a snapshot that was written here and not damaged? */
bool mech_sim_snapshot_has_fields(const struct mech_sim *s, const void *bytes);
/* A hash of all that the next step reads: time, q, v, x, z, accelerations, multipliers, impulses,
 * inputs, parameters, joints' activity and contacts, to the bit. Two simulations whose documents
 * say the same now and that have the same hash go on with the same bits in one build on one kernel.
 * Fields of the document that have been changed (sim/edit.h) are no part of a state, nor of the
 * hash: the caller compares the documents. */
uint64_t mech_sim_state_hash(const struct mech_sim *s);

/* The same within one process, at the price of a memcpy: `memory` of mech_sim_saved_size bytes, any
 * alignment, that no other code writes to; it is trusted (no checksum) and must not leave the
 * process. Also for another simulation of the same layout. Restore: 0; MECH_MISMATCH (another
 * layout, or parameters with which there is no model: nothing changed); negative. */
size_t mech_sim_saved_size(const struct mech_sim *s);
void mech_sim_save(const struct mech_sim *s, void *memory);
int mech_sim_restore(struct mech_sim *s, const void *memory);

/* --- equations at any point ------------------------------------------------------------------ */

enum mech_want {
    MECH_WANT_LHS,         /* [v] LHS terms of the objects: d v + k q (Exudyn) */
    MECH_WANT_RHS,         /* [v] loads − LHS: f of M v̇ = f */
    MECH_WANT_FORCES,      /* [v] F(v, q, t, z) = F_ext − C v − K q (Siconos' computeForces) */
    MECH_WANT_MASS,        /* [v × v] */
    MECH_WANT_DFDQ,        /* [v × v] ∂forces/∂q by motions along v, −K for linear systems */
    MECH_WANT_DFDV,        /* [v × v] ∂forces/∂v, −C for linear systems */
    MECH_WANT_FIRST_ORDER, /* [q + v + x] ẋ of x = [q; v; x] (Siconos' computeRhs) */
    MECH_WANT_RHS_JACOBIAN,        /* [(q+v+x) × (q+v+x)] of the first-order form */
    MECH_WANT_CONSTRAINTS,         /* [lambda] g(q, t) of the joints; 0 of rows at velocity level */
    MECH_WANT_CONSTRAINT_JACOBIAN, /* [lambda × v] G; rows that are open are 0 */
    MECH_WANT_COUNT
};
extern const char *const mech_want_names[]; /* "lhs", "rhs", "forces", "mass", … closed by NULL */

struct mech_point {
    double time;                 /* NaN: now */
    const double *q, *v, *x, *z; /* NULL: as in the current state */
};

/* rows and columns of what would be written. */
void mech_sim_want_shape(const struct mech_sim *s, enum mech_want want, int32_t *rows,
                         int32_t *cols);
/* Vectors: [rows]; matrices: dense by rows [rows × cols]. The state does not change.
 * 0; MECH_SINGULAR (mass and joints, for FIRST_ORDER and its Jacobian); MECH_NOT_FINITE; negative.
 * RHS_JACOBIAN is differenced for models with joints, rotations in space or a mass matrix that
 * depends on q. */
int mech_sim_evaluate(struct mech_sim *s, const struct mech_point *at, enum mech_want want,
                      double *out);

/* The entries of MASS, DFDQ, DFDV or CONSTRAINT_JACOBIAN that are not 0, by columns, in the arena.
 * Same returns. */
int mech_sim_evaluate_sparse(struct mech_sim *s, const struct mech_point *at, enum mech_want want,
                             struct mech_arena *arena, struct mech_triplet **entries,
                             size_t *count);

/* Mechanical energy, J: kinetic, of springs and stiffness matrices, of constant forces of objects,
 * and of weights (m g z). Nothing of loads (LoadMassProportional by numbers excepted), of inputs
 * and of force laws by expression; what these do shows as a change. NaN: no memory. */
double mech_sim_energy(const struct mech_sim *s);
/* The same at the end of a trial; a trial is there. */
double mech_sim_trial_energy(const struct mech_sim *s);

/* --- registries, for /v1/types --------------------------------------------------------------- */

struct mech_integrator_info {
    const char *name;
    const char *doc;
    int32_t order; /* theoretical order of convergence */
    bool explicit_scheme;
    bool nonsmooth;
    bool first_order; /* of systems of first order alone */
};
/* The i-th integrator, linear solver, complementarity solver; NULL (false) past the end. */
bool mech_integrator(size_t i, struct mech_integrator_info *out);
const char *mech_linear_solver(size_t i, const char **doc);
const char *mech_vi_solver(size_t i, const char **doc);
/* "OpenBLAS 0.3.21, kernel Haswell" */
const char *mech_blas_info(void);
/* Keep the BLAS to the calling thread: the same bits for any number of workers. Once, at start. */
void mech_blas_pin(void);
