/* The compiled model: const after mech_model_compile. Integrators see nothing but this and a state.
 *
 *     (M + M_q(q)) v̇ + C v + K (q − q_ref) + g(q, v, t) = F(t, inputs)  (+ Gᵀ λ, + Hᵀ p)
 *
 * M_q is what depends on the configuration in the mass matrix; few items have it, and it belongs to
 * their records: readers of M must check mech_model_inertia. M, C, K gather every linear,
 * time-invariant term of every item once, each in its leanest form. Items that are not linear
 * (force laws, and what later rooms bring) add to g and to its derivatives through batches, one
 * call per type. F is what acts from outside: loads, Fext, inputs.
 */
#pragma once

#include "solver/base/interrupt.h"
#include "solver/items/document.h"
#include "solver/items/ops.h"
#include "solver/model/state.h"
#include "solver/sys/sets.h"

struct mech_model;

/* What integrators read of a compiled model. */
struct mech_linear_part {
    int32_t nv;               /* velocities; = coordinates for all items so far */
    const struct mech_mat *M; /* kinds DIAG, BAND, DENSE or CSC; never ZERO unless nv = 0;
                               * without M_q */
    const struct mech_mat *C; /* may be ZERO */
    const struct mech_mat *K; /* may be ZERO; acts on q − q_ref */
    const double *q_ref;      /* [nv], or NULL when all are 0 */
};

/* Rows of all interactions between systems of second order, in the document's order:
 * y = H q + b. Rows of one contact stand together; whether it is closed is a matter of its
 * first row. */
struct mech_contact_rows {
    int32_t count;
    const int32_t *start;  /* [count + 1] of the entries of each row of H */
    const int32_t *column; /* velocity indices */
    const int32_t *place;  /* of the same in q */
    const double *value;
    const double *b;             /* [count] m */
    const double *e;             /* [count] restitution, 0 to 1 */
    const double *compliance;    /* [count] m/N, 0: rigid; NULL: all are */
    const double *damping;       /* [count] N s/m of the compliant ones; not read without them */
    const int32_t *interaction;  /* [count] index in the document's interactions */
    const bool *suspended;       /* [count] of interactions that are not active: such a row has no
                                    impulse, whatever its gap; NULL: none is */
    int32_t contacts;            /* not read without sets */
    const struct mech_set *sets; /* [contacts] of the impulses, bounds of a BOX in N (times h they
                                    are impulses); NULL: every row is a unilateral contact */
    enum mech_friction friction; /* the law of all cones */
};

/* Rows of all interactions between first-order systems, in the document's order:
 *
 *     y = C x + D λ + e,   X ẋ = A x + b + B λ
 *
 * with λ in the state's `impulse`, behind the rows of second order, and one set a row. */
struct mech_first_order_rows {
    int32_t count;
    const int32_t *C_start, *C_column; /* [count + 1] of the entries of each row of C; states */
    const double *C_value;
    const int32_t *B_start, *B_row; /* [count + 1] of the entries of each column of B; states */
    const double *B_value;
    const int32_t *D_start, *D_column; /* [count + 1] of the entries of each row of D; rows */
    const double *D_value;
    const double *e;            /* [count] */
    const int32_t *interaction; /* [count] index in the document's interactions */
    const bool *suspended; /* [count] of interactions that are not active: λ = 0; NULL: none */
    const struct mech_set *sets;
};

/* Whether a row of either kind is suspended. */
static inline bool mech_is_suspended(const bool *suspended, int32_t row)
{
    return suspended && suspended[row];
}

/* compile.c */
/* Check and compile a document. `parameters` [document->parameters.n]: values in use, NULL: as the
 * document says. Numbers bound to parameters are written into the document; on faults it must be
 * compiled again with the old values to be as it was. The document must outlive the model. `diag`
 * has no faults before. 0; MECH_INVALID (diag says why); negative. */
int mech_model_compile(struct mech_document *document, const double *parameters,
                       struct mech_diag *diag, struct mech_model **out);
void mech_model_destroy(struct mech_model *m);

const struct mech_state_sizes *mech_model_sizes(const struct mech_model *m);
const struct mech_settings *mech_model_settings(const struct mech_model *m);
/* The interrupt that iterations with this model poll; unset until the owner sets it. */
struct mech_interrupt *mech_model_interrupt(const struct mech_model *m);
const struct mech_contact_settings *mech_model_contact_settings(const struct mech_model *m);
/* [3] m/s² */
const double *mech_model_gravity(const struct mech_model *m);
const struct mech_linear_part *mech_model_linear(const struct mech_model *m);
const struct mech_contact_rows *mech_model_contacts(const struct mech_model *m);
/* Name of the interaction that a row of them belongs to. */
const char *mech_model_contact_name(const struct mech_model *m, int32_t row);
const struct mech_first_order_rows *mech_model_first_order_rows(const struct mech_model *m);
/* The same of one of these. */
const char *mech_model_first_order_name(const struct mech_model *m, int32_t row);
size_t mech_model_memory(const struct mech_model *m);

/* The initial state of the document into a state of the model's sizes: time, q, v, x, z,
 * parameters; everything else 0, `changed` set. */
void mech_model_initial(const struct mech_model *m, struct mech_state *s);

/* Reference coordinates [nv + 1], never NULL. */
const double *mech_model_reference(const struct mech_model *m);

/* nonlinear.c */
/* True when g is empty: no item is nonlinear. */
bool mech_model_is_linear(const struct mech_model *m);
/* True when nothing acts between bodies, or within them but for their own inertia. */
bool mech_model_unconnected(const struct mech_model *m);
/* True when some derivative of g is taken by differences. */
bool mech_model_differenced(const struct mech_model *m);
/* Name of the first nonlinear item, or NULL. */
const char *mech_model_nonlinear_name(const struct mech_model *m);
/* pairs.c */
/* Why the forces at a point are not finite, for people, into out [size]: names the first force
 * element between markers whose own is not, or the first constraint whose value or derivative is
 * not; or the first nonlinear item, it or a neighbor. */
void mech_model_tell_infinite(const struct mech_model *m, const struct mech_eval *e, char *out,
                              size_t size);
/* forces.c */
/* True when F depends on neither time nor inputs with derivatives (given which inputs are set). */
bool mech_model_constant_force(const struct mech_model *m, const struct mech_state *s);

/* F(t) of loads, Fext, inputs and the forces of this step into f [nv + 1] (overwritten).
 * 0; MECH_NOT_FINITE. */
int mech_model_force(const struct mech_model *m, const struct mech_state *s, double t, double *f);
/* After MECH_NOT_FINITE: a sentence with the name of the load or system at fault. */
void mech_model_blame(const struct mech_model *m, const struct mech_state *s, double t, char *text,
                      size_t size);
/* markers.c */
/* Whether something beside F may do work on the bodies of s at time t: loads and gravity on markers
 * that move, or a spring or damper between two markers whose wrench is not 0 at the last poses. */
bool mech_model_pushed(const struct mech_model *m, const struct mech_state *s, double t);
/* compile.c */
/* The part of F that belongs to the objects (offsets of springs, constant forces), [nv + 1]. */
const double *mech_model_item_force(const struct mech_model *m);

/* nonlinear.c */
/* The point (t, q, v) for the functions below; q [nq + 1] and v [nv + 1], ground slot 0. `s`: whose
 * inputs act on moving markers, may be NULL. lambda is NULL: set it where reactions shall act. */
struct mech_eval mech_model_point(const struct mech_model *m, const struct mech_state *s, double t,
                                  const double *q, const double *v);
/* g [nv + 1] += nonlinear left-hand-side terms, M_q v̇ among them where e->vdot is given. */
void mech_model_nonlinear(const struct mech_model *m, const struct mech_eval *e, double *g);
/* f [nv + 1] −= C v + K (q − q_ref) + g at the point; work [nv + 1]. */
void mech_model_resist(const struct mech_model *m, const struct mech_eval *e, double *work,
                       double *f);
/* Pattern of ∂g/∂q and ∂g/∂v as a matrix of ones, ZERO when g is empty. */
const struct mech_mat *mech_model_pattern(const struct mech_model *m);
/* Places of the local tangents in the values of W, whose pattern holds mech_model_pattern; what
 * belongs to the ground goes to values[mech_mat_stored(W)], so make room for one more.
 * 0; MECH_INTERNAL when W lacks an entry; negative. */
int mech_model_places(const struct mech_model *m, struct mech_arena *arena,
                      const struct mech_mat *W, int32_t **out);
/* Length of what that returns, and mech_model_inertia_places. */
size_t mech_model_place_count(const struct mech_model *m);
/* values[places] += c[0] ∂g/∂q + c[1] ∂g/∂v + c[2] M_q; ∂(M_q v̇)/∂q where e->vdot is given. */
void mech_model_tangent(const struct mech_model *m, const struct mech_eval *e, const double c[3],
                        const int32_t *places, double *values);

/* --- a mass matrix that depends on q ---------------------------------------------------------- */

/* True when M_q is not empty. */
bool mech_model_inertia(const struct mech_model *m);
/* Pattern of M_q as a matrix of ones, ZERO when it is empty. */
const struct mech_mat *mech_model_inertia_pattern(const struct mech_model *m);
/* As mech_model_places, of M_q alone. */
int mech_model_inertia_places(const struct mech_model *m, struct mech_arena *arena,
                              const struct mech_mat *W, int32_t **out);
/* values[places] += M_q(q) at the point. */
void mech_model_inertia_add(const struct mech_model *m, const struct mech_eval *e,
                            const int32_t *places, double *values);

/* --- coordinates that are not integrals of velocities ----------------------------------------- */

/* move.c */
/* True when q̇ = v everywhere, so that q and v are numbered alike. */
bool mech_model_flat(const struct mech_model *m);
/* qdot [nq] = T(q) v. */
void mech_model_qdot(const struct mech_model *m, const double *q, const double *v, double *qdot);
/* out [nq] = q ⊕ d, d [nv] a motion in velocity space; out may be q. */
void mech_model_move(const struct mech_model *m, const double *q, const double *d, double *out);
/* out [nv]: the motion of q ⊕ d that follows from a motion dq of q and a change dd of d, [nv] each;
 * out may be dq. False: some node has no such derivative (the caller's MECH_UNSUPPORTED). */
bool mech_model_transport(const struct mech_model *m, const double *d, const double *dq,
                          const double *dd, double *out);
/* d [nv]: the motion whose T(q) d is nearest to the change dq [nq] of coordinates. */
void mech_model_motion(const struct mech_model *m, const double *q, const double *dq, double *d);
/* u [nv] = q − q_ref where q̇ = v, 0 elsewhere: what K acts on. */
void mech_model_displacement(const struct mech_model *m, const double *q, double *u);

/* --- joints: g(q, t) = 0, reactions + Gᵀ λ ---------------------------------------------------- */

/* Rows of all joints, in the document's order; a column nv is the ground's. */
struct mech_joint_rows {
    int32_t count;
    const int32_t *start;  /* [count + 1] of the entries of each row of G */
    const int32_t *column; /* [start[count]] velocities; one may come twice in a row */
    const int32_t *object; /* [count] in the document's objects */
    /* [count] rows that hold velocities, G v + g_t = 0, at every index; their g is 0 */
    const bool *velocity;
    /* [count] −1: g ≤ 0 and λ ≤ 0; +1: g ≥ 0 and λ ≥ 0; 0: g = 0. state->open has, for the
     * others, whether they act. 0 for deactivated rows; their declared side is in
     * `declared` */
    const int8_t *side, *declared;
    bool one_sided, nonholonomic; /* some row is */
    /* [count] rows that repeat others where the model starts, and are left out: their state->open
     * is 1 for good; NULL: none */
    const bool *dropped;
    /* [count] those of them that are deactivated (active is false): they may be violated, and their
     * state->open is MECH_LET_GO; NULL: none */
    const bool *released;
    int32_t released_count;
    bool partial; /* some row may not act: state->open says which */
    bool paired;  /* all rows are of joints between two markers */
};
/* pairs.c */
const struct mech_joint_rows *mech_model_joints(const struct mech_model *m);
/* rows.c */
/* Leave a row out from here on; before any stepper is made. Negative: no memory. */
int mech_model_drop_row(struct mech_model *m, int32_t row);
/* Whether a one-sided row is open at a point that was given, not reached: unless it is at its limit
 * and does not move. Of one row: */
struct mech_side {
    double side;     /* ±1 */
    double g, limit; /* m or rad; as near to its limit it is at it (mech_model_limits) */
    double rate;     /* g_t + G v */
    double speeds;   /* |g_t| and those that make it up (mech_model_limit_speeds) */
    double terms;    /* the sum of the sizes of its terms: their rounding is in rate */
    double L;        /* of its lengths, ε L is what rounding leaves of g */
    double h;        /* s; of a step: ε L/h is what rounding leaves of speeds */
};
bool mech_model_side_open(const struct mech_side *s);
/* compile.c */
/* Which one-sided rows act is unknown, as after any q that was not reached by steps. */
void mech_model_forget_sides(const struct mech_model *m, struct mech_state *s);
/* Parts of a state whose numbers belong to items. */
enum mech_part { MECH_PART_Q, MECH_PART_V, MECH_PART_X, MECH_PART_Z };
struct mech_owner {
    enum mech_category category;
    int32_t item;  /* in the document; −1: not known */
    int32_t index; /* of the number among those of the item in this part */
};
/* owners.c */
/* Numbers of that part. */
int32_t mech_model_part_size(const struct mech_model *m, enum mech_part part);
/* out [mech_model_part_size]: whose each number is. */
void mech_model_part_owners(const struct mech_model *m, enum mech_part part,
                            struct mech_owner *out);
/* pairs.c */
/* Name of the joint that a row belongs to. */
const char *mech_model_joint_name(const struct mech_model *m, int32_t row);
/* markers.c */
/* Poses of all markers, and coordinates of all equations, that matter, at a point.
 * mech_model_nonlinear and mech_model_tangent do it themselves; the functions below read those of
 * the last one of the three. */
void mech_model_pose(const struct mech_model *m, const struct mech_eval *e);
/* pairs.c */
/* g [count] */
void mech_model_joint_residual(const struct mech_model *m, const struct mech_eval *e, double *g);
/* values [start[count]] of G */
void mech_model_joint_jacobian(const struct mech_model *m, double *values);
/* gt = ∂g/∂t, bias = g̈ − G v̇; [count] each */
void mech_model_joint_rate(const struct mech_model *m, const struct mech_eval *e, double *gt,
                           double *bias);
/* A row that fixes one coordinate at a function of time: g = factor q − c(t), or its velocity:
 * factor v = c(t). Models with M_q have none: they are taken out of a constant M. */
struct mech_pin {
    int32_t row;          /* of λ */
    int32_t slot, q_slot; /* of the velocity and of the coordinate */
    double factor;
    bool velocity; /* q follows by integration */
};
/* pins.c */
/* All of them, ascending by row, into out [mech_joint_rows.count] (NULL: they are only counted);
 * returns how many. */
int32_t mech_model_pins(const struct mech_model *m, struct mech_pin *out);
/* True when nothing but these rows keeps the model from being linear, active or not. */
bool mech_model_is_linear_but_pins(const struct mech_model *m);
/* The first row that is none of them, or the number of rows. */
int32_t mech_model_first_unpinned(const struct mech_model *m);
/* pairs.c */
/* What items keep from step to step (turns of a hinge), in z: after a step, or when q was set. */
void mech_model_keep(const struct mech_model *m, struct mech_state *s);
/* turns.c */
/* The first object whose law does not hold at what it keeps in z, or the first object, marker or
 * sensor whose angle counts turns and that turns by half a turn or more in `size` seconds, the
 * length of the last steps, at the velocities of the state; and why. Or −1 and NULL. */
int32_t mech_model_beyond(const struct mech_model *m, const struct mech_state *s, double size,
                          enum mech_category *of, const char **reason);
/* Which numbers of z [sizes.z] snapshots of format 3 by earlier builds lack; how many. */
int32_t mech_model_late(const struct mech_model *m, const bool **of);
/* markers.c */
/* True when forces on this marker turn with q: they go to state->wrench, not into f. */
bool mech_model_marker_moves(const struct mech_model *m, int32_t marker);

/* penalty.c */
/* True when shapes act on each other by forces, which are part of g; and when those have a
 * tangent: the bodies are few. */
bool mech_model_penalty(const struct mech_model *m);
bool mech_model_penalty_coupled(const struct mech_model *m);

/* energy.c */
/* Mechanical energy at a point with its ground slots, J:
 *
 *     ½ vᵀ M v + ½ uᵀ K u − f_objectsᵀ u + springs' own − Σ m a · p
 *
 * f_objects: constant forces of objects; a: gravity and accelerations that act by number. Nothing
 * of other loads, of inputs, of force laws. NaN: no memory. */
double mech_model_energy(const struct mech_model *m, const struct mech_eval *e);

/* compile.c */
/* First-order states: ẋ = A x + r(t), where systems of their own X ẋ = A x + b have been divided by
 * X; without what interactions add. */
const struct mech_mat *mech_model_first_order(const struct mech_model *m);
/* X and the A beside it: X ẋ = A x + X r(t). X is NULL where it is 1; then the A is the one
 * above. */
const struct mech_mat *mech_model_first_order_mass(const struct mech_model *m,
                                                   const struct mech_mat **A);
/* r [nx] += X⁻¹ B λ; impulse: that of a state, where λ stands */
void mech_model_first_order_push(const struct mech_model *m, const double *impulse, double *r);
/* forces.c */
/* r(t) [nx + 1] (overwritten). 0; MECH_NOT_FINITE. */
int mech_model_rate(const struct mech_model *m, const struct mech_state *s, double t, double *r);

/* compile.c */
/* of [nv] = number of the node or object that each velocity belongs to; returns how many there are.
 * Those of one stand side by side. */
int32_t mech_model_owners(const struct mech_model *m, int32_t *of);
/* Path of the item that owns velocity `column`: "/objects/2" or "/nodes/0". */
void mech_model_owner(const struct mech_model *m, int32_t column, char *path, size_t size);
/* The same for a first-order state; the object where a node serves one. "": there is no such
 * state. */
void mech_model_first_order_owner(const struct mech_model *m, int32_t column, char *path,
                                  size_t size);
/* The name of the item that owns velocity `column`. */
const char *mech_model_owner_name(const struct mech_model *m, int32_t column);

/* --- channels --------------------------------------------------------------------------------- */

enum mech_input_kind { MECH_INPUT_LOAD, MECH_INPUT_MARKER, MECH_INPUT_PARAMETER };
struct mech_channel_info {
    const char *name;
    int32_t size, offset; /* values; offset of the first among all inputs (outputs) */
    bool scalar;
    const char *unit;              /* "N, N m": three forces, then three moments */
    enum mech_kinematic kinematic; /* of an output */
    enum mech_input_kind kind;     /* of an input */
    int32_t parameter;             /* of a parameter input: which */
};
size_t mech_model_inputs(const struct mech_model *m);
const struct mech_channel_info *mech_model_input(const struct mech_model *m, size_t i);
size_t mech_model_outputs(const struct mech_model *m);
const struct mech_channel_info *mech_model_output(const struct mech_model *m, size_t i);
int32_t mech_model_output_size(const struct mech_model *m);
/* channels.c */
/* What output channel i measures. *first_order: of coordinates of first order. */
enum mech_output mech_model_output_variable(const struct mech_model *m, size_t i,
                                            bool *first_order);
/* flows.c */
/* out [packed inputs] = velocities conjugate to the inputs in a state: u out is the power of the
 * forces by inputs u, W; 0 of parameters and of inputs of first-order systems. Sets the poses. */
void mech_model_input_flows(const struct mech_model *m, const struct mech_state *s, double *out);
/* forces.c */
/* Value of one packed input at time t, whether it is set or the model's own. */
double mech_model_input_value(const struct mech_model *m, const struct mech_state *s, int32_t input,
                              size_t i, double t);
/* Generalized force of `values` at a marker: f [nv + 1] +=. */
void mech_model_marker_force(const struct mech_model *m, int32_t marker, const double *values,
                             double *f);

/* outputs.c */
/* Values of output channel i in the state. */
void mech_model_output_values(const struct mech_model *m, const struct mech_state *s, size_t i,
                              double *values);
/* As mech_sim_item_output, by index. */
struct mech_output_request {
    enum mech_category category;
    int32_t index;
    enum mech_output variable;
    enum mech_configuration configuration;
    const double *local; /* [3] or NULL */
};
int mech_model_item_output(const struct mech_model *m, const struct mech_state *s,
                           const struct mech_output_request *r, size_t capacity, double *values,
                           size_t *count);
uint32_t mech_model_item_outputs(const struct mech_model *m, enum mech_category category,
                                 int32_t index);
/* compile.c */
/* Index of the item, or -1. */
int32_t mech_model_find(const struct mech_model *m, enum mech_category category, const char *name);

/* Scratch for one simulation; released by the code that marks it. */
struct mech_arena *mech_model_scratch(const struct mech_model *m);
