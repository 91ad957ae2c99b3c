/* Operations of item types: how the model compiles descriptions and asks them for values.
 *
 * An item sees its own coordinates only. While a model is compiled, each object gets a site: the
 * global places (slots) of its local coordinates, in this order: the coordinates of its nodes, or
 * of its markers, or those that it brings itself. It writes local blocks through terms.h, which
 * puts them into their places. Slot `ground` is the fixed coordinate of the ground: always 0, and
 * additions to it are ignored.
 *
 * Linear, time-invariant terms are folded into M, C, K and a constant force once. What is left
 * becomes one record per item, contiguous per type, evaluated by one call per type.
 */
#pragma once

#include "solver/items/item.h"
#include "solver/items/scope.h"
#include "solver/items/terms.h"

enum {
    MECH_MARKER_SLOTS = 6,
    MECH_FLEX_SLOTS = 100, /* velocities of a deformable body that markers can sit on */
    MECH_RECORD_COORDINATES = 1000,
    MECH_PAIR_ROWS = 6
};

/* The meaning of a node's coordinates, for bodies. */
enum mech_node_kind {
    MECH_NODE_GENERIC,
    MECH_NODE_POINT_2D, /* x y */
    MECH_NODE_POINT,    /* x y z */
    MECH_NODE_RIGID_2D, /* x y φ */
    MECH_NODE_SLOPE_2D, /* x y, then both components of the slope ∂r/∂x */
    /* q: x y z and 4 Euler parameters, or, when as many as v, a rotation vector; v: global
     * velocity, local angular one */
    MECH_NODE_RIGID
};

/* What an object sees while it is compiled. */
struct mech_site {
    struct mech_arena *arena;                 /* lives as long as the model */
    const struct mech_parameters *parameters; /* names */
    const double *values;                     /* [parameters->n] values */
    const int32_t *slot;                      /* [n] of the local velocities (and forces) */
    const int32_t *q_slot;                    /* [nq] of the local coordinates in q */
    int32_t n, nq;
    int32_t z;                      /* of a pair: the first of its numbers in the state's z */
    const int32_t *held;            /* of a pair: that of its operations */
    int32_t first;                  /* of the n, what the first of its nodes or markers brings */
    enum mech_node_kind kind;       /* of the nodes that it sits on, GENERIC where they differ */
    enum mech_node_kind first_kind; /* of the first of them */
    bool first_order;               /* the coordinates are first-order states */
    bool curved;                    /* some coordinates are not the integrals of the velocities */
    const char *path;               /* "/objects/3" */
    struct mech_diag *diag;
    struct mech_switches *switches; /* expressions with several ways are noted there; NULL: not */
    int32_t item;                   /* 3 */
};

/* Another value of a force law than its own, of the value alone and not of slopes: what one of its
 * branches does. */
struct mech_instead {
    const struct mech_expr *of;
    double value; /* N, or N m */
};

/* The point at which records are evaluated. Vectors have their ground slot. */
struct mech_eval {
    double t;
    const double *q, *v; /* total coordinates, velocities */
    const double *q_ref; /* reference coordinates */
    /* whose inputs and data the loads on moving markers read; NULL: those loads do not act */
    const struct mech_state *state;
    const double *lambda; /* multipliers whose reactions act; NULL: none do */
    const double *z;      /* what pairs keep from step to step; NULL: as at the start, 0 */
    const double *vdot;   /* accelerations on which M_q(q) acts; NULL: M_q v̇ is left out */
    const struct mech_instead *instead; /* of the value of a force law; NULL: each has its own */
    bool posed; /* mech_model_nonlinear came before with the same q and v: its poses serve */
    bool exact; /* tangents are derivatives, whatever they cost; else as Newton's method wants */
};

/* Where the coordinates of a node, or of a body, are. */
struct mech_seat {
    const struct mech_item *item; /* NULL: the ground */
    const int32_t *slot;          /* [n] velocities */
    const int32_t *q_slot;        /* [nq] coordinates */
    int32_t n, nq;
    bool first_order;
    int32_t z; /* place in z of what a marker keeps from step to step, where its map says so */
};

/* What the coordinates of a deformable body or node do to one of its points, for any number of
 * them. Its pose operation writes J and slope, which come zeroed. */
struct mech_flex {
    double *J;     /* [6][n] ∂(v, omega)/∂velocities */
    double *slope; /* [6][n][n] ∂J[r][i]/∂q_j; j moves as velocity j does */
    /* the model's, from slope and the velocities v */
    double *turning; /* [6][n] Σ_i slope[r][i][j] v_i: ∂(v, omega)/∂q at constant velocities */
    double bias[6];  /* accelerations at v̇ = 0 */
};

/* Whether J follows from the pose: translations, and behind them the rotation about z, or about the
 * body's axes, the columns of R. GENERAL: it does not, or is not known to. */
enum mech_pose_kind { MECH_POSE_GENERAL, MECH_POSE_PLANE, MECH_POSE_SPACE };

/* A point that moves with a body or node: where it is, how it moves, and what its coordinates do to
 * it. Global axes. A coordinate's marker has displacement and velocity in p[0] and v[0].
 *
 * Rotating columns of J are body-fixed axes a_k (or fixed ones): δa_k = a_j × a_k, and their
 * velocity column is a_k × arm. What depends on q follows from that, in model/pairs.c. */
struct mech_pose {
    double p[3], v[3]; /* m, m/s */
    double R[9];       /* rotation of the body, by rows */
    double omega[3];   /* rad/s */
    double arm[3];     /* m, from the point that the translations move to p */
    double turn[3];    /* where p[0] is an angle and w[0] a torque: its axis; else 0 */
    /* Counted: a coordinate turns the body about its own z axis, which is fixed in space. That
     * coordinate with all its turns, rad, and by how much it is more than in the reference. */
    bool counted;
    double angle, turned;
    int32_t n;                      /* velocities that move it */
    const int32_t *slot;            /* [n] */
    double J[6][MECH_MARKER_SLOTS]; /* ∂(v, omega)/∂velocities */
    struct mech_flex *flex; /* of what is deformable: in place of J and its rules; or NULL */
    /* A pose operation that sets another kind than GENERAL writes the same entries each time: what
     * it finds is then not zeroed, but what it wrote at an earlier point. */
    enum mech_pose_kind kind;
    const struct mech_pose *like; /* of the same body: its R and omega serve; or NULL */
    bool lean; /* kind SPACE: J is not written; its readers call mech_pose_complete */
};

/* What a pair settles by while the model is compiled. */
struct mech_settling {
    const struct mech_pose *reference[2]; /* of its markers */
    double start[2];          /* `turned` of these at the start, rad; 0: no coordinate counts */
    struct mech_arena *arena; /* for what it makes */
    const char *warning;      /* set, behind the name of the object; or NULL */
};

/* The configuration of a requested output. */
struct mech_view {
    struct mech_eval at;
    const double *vdot; /* accelerations, or NULL: not known in this configuration */
    enum mech_configuration configuration;
    const int32_t *slot;   /* [n] velocities */
    const int32_t *q_slot; /* [nq] coordinates */
    int32_t n, nq;
    const double *local; /* [3] local position */
    void *record;        /* of the object, or NULL */
    void *settled;       /* of a pair: its record also where it is not active; or NULL */
    /* a pair's markers; or the point of a body or node, and the same in the reference */
    const struct mech_pose *pose[2];
    double start; /* of Rotation of a marker: `turned` of its pose at the start, rad; else 0 */
    const struct mech_equation_point *point; /* of an object with equations */
    int32_t rows;                            /* of a joint */
    const double *lambda;                    /* [rows], or NULL: not known in this configuration */
};

/* --- nodes ------------------------------------------------------------------------------------ */

struct mech_node_ops {
    bool first_order; /* coordinates are first-order states x */
    /* With first_order: they are data z instead, outside all equations; `start` gets NULL for what
     * is not their initial values. */
    bool data;
    bool flexible; /* its poses fill flex */
    enum mech_node_kind kind;
    int32_t (*size)(const void *description); /* velocities */
    /* How many coordinates, where they are not the integrals of the velocities: then rate and move
     * are needed. A node whose q̇ = v leaves all three NULL. */
    int32_t (*coordinates)(const void *description);
    void (*rate)(const double *q, const double *v, double *qdot); /* q̇ = T(q) v */
    /* out = q ⊕ d: the coordinates after a motion by d = h v at constant v */
    void (*move)(const double *q, const double *d, double *out);
    /* The motion [size] of q ⊕ d that follows from a motion dq of q and a change dd of d: a matter
     * of what velocities mean, not of q. NULL beside a move: derivatives of steps are differenced.
     */
    void (*transport)(const double *d, const double *dq, const double *dd, double *out);
    /* [coordinates], [coordinates], [size]; velocity is not written by first-order nodes. */
    void (*start)(const void *description, double *reference, double *displacement,
                  double *velocity);
    /* Pose of the node; NULL: it has none. */
    void (*pose)(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 struct mech_pose *out);
    uint32_t outputs; /* mask of 1u << enum mech_output; mech_coordinate_output computes those of
                         coordinates, mech_pose_output the others */
};

/* --- objects ---------------------------------------------------------------------------------- */

/* Which items an object is attached to. */
struct mech_attachment {
    const struct mech_ref *refs; /* [n] nodes or markers */
    size_t n;
    const char *field; /* the document's key; a list when `list` */
    bool list;
};

/* Two position or rigid markers (or coordinates) that act on each other. A new type is written in
 * terms of the two poses; the model multiplies by their J and adds the terms that depend on q.
 *
 * A twist T [12] is (v, ω) of the first pose, then of the second; a wrench W [12] is the force and
 * torque on each. A motion δ [12] is (δp, δθ) of each, global axes.
 *
 * A force element gives W (and its slopes). A joint gives g, and G with ġ = G T + g_t; W = Gᵀ λ
 * follows from that.
 *
 * To add a joint: one file items/joint_<name>.c with record (copies the description), rows,
 * residual, jacobian, rate and stiffness; .markers, .marker_kinds, .pair and outputs in its object
 * table; one line in items.def. connector/distance_constraint.c is a short one to start from. The
 * conformance test of pairs (tests/conformance/pairs.c) differences all of it. */
struct mech_pair_ops {
    size_t record_size;
    /* Fill a record; 1, or 0: not active; negative: no memory. An object that is not active keeps
     * its rows and its numbers in z, and only its `keep` is called, whose part of the record is
     * valid. */
    int (*record)(const void *description, const struct mech_site *site, void *record);
    void (*release)(void *record);           /* memory outside the arena; NULL: none */
    bool (*differenced)(const void *record); /* its slopes are taken by differences; NULL: no */
    /* --- force elements: NULL for joints --- */
    void (*wrench)(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                   double W[12]);
    /* Wx += ∂W/∂δ at T held, Wt += ∂W/∂T (both come zeroed) */
    void (*slope)(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                  double Wx[12][12], double Wt[12][12]);
    /* Potential energy, J: W without its dampers is −∂/∂δ of it. NULL, or NaN: not known. */
    double (*energy)(void *record, const struct mech_eval *e,
                     const struct mech_pose *const pose[2]);
    /* Numbers that it keeps from step to step, such as turns: how many. They are stored in the
     * state's z from site->z on, which is e->z. */
    int32_t data;
    /* z [data]: from what they were before a step to what they are at these poses, after it, or at
     * the start, from 0. May be called twice: it changes nothing then. */
    void (*keep)(void *record, const struct mech_pose *const pose[2], double *z);
    bool late; /* snapshots of format 3 may lack these numbers: 0 then, and set again */
    /* Once, while the model is compiled, behind `record` and also where that is not active: what
     * the poses in the reference configuration say. 0, or negative: no memory. NULL: nothing. */
    int (*settle)(void *record, struct mech_settling *at);
    /* z [data]: why its law does not hold where it is, a part of a sentence, or NULL. NULL: it
     * always holds. */
    const char *(*beyond)(const void *record, const double *z);
    /* --- joints: rows NULL for force elements --- */
    int32_t (*rows)(const void *description); /* multipliers, at most MECH_PAIR_ROWS */
    /* [6] which motions of its frame a joint holds that has no choice, three translations and three
     * rotations, 1: held; `record` gets them as site->held. NULL: it needs none */
    const int32_t *held;
    /* Of coordinates' markers, G constant: explicit schemes take such a row out of the equations
     * when it holds one coordinate alone. */
    bool linear;
    void (*residual)(void *record, double t, const struct mech_pose *const pose[2], double *g);
    void (*jacobian)(void *record, const struct mech_pose *const pose[2], double G[][12]);
    /* gt = ∂g/∂t; bias = g̈ − G Ṫ (what is left of g̈ at Ṫ = 0). Both come zeroed. */
    void (*rate)(void *record, double t, const struct mech_pose *const pose[2], double *gt,
                 double *bias);
    /* Wx += ∂(Gᵀ λ)/∂δ (comes zeroed); NULL: G does not depend on the poses */
    void (*stiffness)(void *record, const struct mech_pose *const pose[2], const double *lambda,
                      double Wx[12][12]);
    /* How far these poses are from the nearest where the rows have no slopes: reach[0] by which the
     * points move beside each other, m, and reach[1] by which the frames turn, rad. Both come
     * infinite. NULL: they have slopes everywhere. */
    void (*reach)(const void *record, const struct mech_pose *const pose[2], double reach[2]);
    /* g and G at once, for speed, where both poses are of kind SPACE or of the ground and g does
     * not depend on time: G by rows of the coordinates of both bodies, 6 or none each. false: it
     * is not so, and the model does it by residual and jacobian. NULL: never. */
    bool (*frames)(void *record, const struct mech_pose *const pose[2], double *g, double *G);
    /* ∂(Jᵀ Gᵀ λ)/∂q where both poses are of kind SPACE or of the ground, in the coordinates of both
     * bodies, for speed. Writes blocks of 3 × 3 and returns which: bit 4 i + j. 0: the model does
     * it by stiffness. NULL: never. */
    uint32_t (*curvature)(void *record, const struct mech_pose *const pose[2], const double *lambda,
                          double T[12][12]);
    /* Mask of rows that hold velocities: ġ = G T + g_t = 0 without any g behind it (rolling); their
     * residual is not requested and stays 0. NULL: none. */
    uint32_t (*velocity)(const void *description);
    /* −1: the rows hold g ≤ 0 with λ ≤ 0, +1: g ≥ 0 with λ ≥ 0, 0: g = 0. NULL: 0. */
    int32_t (*side)(const void *description);
};

/* Where equations between coordinates are asked: the object's local coordinates (see the head of
 * this file), total as in q, their reference, and their velocities; 0 for the ground. */
struct mech_equation_point {
    double t;
    const double *q, *ref, *v; /* [n] m or rad, and per second */
    int32_t n;
};

/* Equations between the coordinates of nodes or markers, which bring one multiplier a row:
 *
 *     g(q, t) = 0,  ġ = G v + g_t     or, at velocity level,  G v + g_t = 0 without any g
 *
 * The reaction on the local coordinates is Gᵀ λ. To add such a type: a file with these operations
 * and .equation in its object table, beside .nodes, .markers (of kinds COORDINATE and COORDINATES)
 * or .own, and one line in items.def. connector/coordinate_vector_constraint.c is one.
 * tests/conformance/equations.c differences all of it. */
struct mech_equation_ops {
    size_t record_size;
    /* Fill a record; 1, or 0: not active; negative: no memory. */
    int (*record)(const void *description, const struct mech_site *site, void *record);
    void (*release)(void *record);                                          /* NULL: nothing */
    int32_t (*rows)(const void *description, const struct mech_site *site); /* multipliers */
    bool (*velocity)(const void *description);                              /* NULL: no */
    /* g [rows]; G [rows][n], which comes zeroed */
    void (*residual)(void *record, const struct mech_equation_point *at, double *g);
    void (*jacobian)(void *record, const struct mech_equation_point *at, double *G);
    /* gt = ∂g/∂t; bias = g̈ − G v̇ (what is left of g̈ at v̇ = 0); [rows] each, both come zeroed.
     * At velocity level gt is what G v is added to, bias the rest of its derivative. */
    void (*rate)(void *record, const struct mech_equation_point *at, double *gt, double *bias);
    /* K [n][n] += ∂(Gᵀ λ)/∂q (comes zeroed); NULL: G does not depend on q */
    void (*stiffness)(void *record, const struct mech_equation_point *at, const double *lambda,
                      double *K);
    /* Whether this record's G is constant although there is a stiffness; NULL: it is not. */
    bool (*constant)(const void *record);
};

struct mech_object_ops {
    bool body;                               /* has mass of its own: no two on one node */
    bool element;                            /* a body that shares nodes with other elements */
    bool flexible;                           /* a body whose poses fill flex */
    bool system;                             /* may take part in interactions */
    int32_t (*own)(const void *description); /* coordinates that it brings; NULL: none */
    bool first_order;                        /* those are first-order states */
    /* displacement = q − 0 for own coordinates; [own] each; first-order states: v is NULL */
    void (*start)(const void *description, double *q, double *v);
    void (*nodes)(const void *description, struct mech_attachment *out);   /* NULL: none */
    void (*markers)(const void *description, struct mech_attachment *out); /* NULL: none */
    uint32_t marker_kinds; /* mask of 1u << enum mech_marker_kind that it takes */
    /* With the site known: sizes against coordinates, kinds of coordinates. May be NULL. */
    void (*fit)(const void *description, const struct mech_site *site);
    /* Linear terms. 0 or negative. May be NULL. */
    int (*linear)(const void *description, struct mech_terms *terms);
    /* The external force of a linear system (of first order: what stands beside A x), and the data
     * that it reads; its field. May be NULL. */
    const char *excitation_field;
    void (*excitation)(const void *description, const struct mech_values **force,
                       const struct mech_vector **z);
    /* Body: motion of a point. NULL: not a body. The caller zeroed *out and set its n and slot. */
    void (*pose)(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 const double local[3], struct mech_pose *out);
    /* Body on which gravity acts: its mass, and the centre of mass in its frame. May be NULL. */
    double (*mass)(const void *description, double center[3]);
    /* Pose of the centre of mass, as `pose`, where it is no point of the body; NULL: it is one. */
    void (*centre)(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                   struct mech_pose *out);
    /* Body whose points have a constant J: rows 0–2 ∂(velocity of a point)/∂v, rows 3–5 ∂(angular
     * velocity)/∂v [6][n], and R [9] in which body-fixed loads are given, constant for them. A
     * reason, or NULL when it is fine. NULL: J moves with the body. */
    const char *(*jacobian)(const void *description, const double local[3],
                            double J[6][MECH_MARKER_SLOTS], double R[9]);
    /* Nonlinear part; all NULL or 0 for linear types. `record` fills one record and returns 1 when
     * this item needs one, 0 when it does not, negative: no memory. */
    size_t record_size;
    /* Local velocities of a record, the first of the object's; 0: all of the object's, which differ
     * from record to record (its `n`, which the record keeps). At most MECH_RECORD_COORDINATES. */
    int32_t record_coordinates;
    int (*record)(const void *description, const struct mech_site *site, void *record);
    /* Whether its mass matrix depends on q: what `linear` writes into M, positive definite, and
     * M_q(q) of its record. Then `force` adds M_q v̇ where e->vdot is given, `tangent` takes its
     * derivative by q and c[2], and `energy` counts ½ vᵀ M_q v. NULL: it never does. */
    bool (*inertia)(const void *description);
    /* g [.. ground] += left-hand-side terms of `n` records */
    void (*force)(void *records, size_t n, const struct mech_eval *e, double *g);
    /* values[place] += c[0] ∂g/∂q + c[1] ∂g/∂v + c[2] ∂g/∂v̇, place: for each record the square of
     * its coordinates, by rows. Without `inertia` there are only c[0] and c[1]. */
    void (*tangent)(void *records, size_t n, const struct mech_eval *e, const double c[3],
                    const int32_t *place, double *values);
    /* Potential energy of `n` records, J, and ½ vᵀ M_q v. NULL: none, or not known. */
    double (*energy)(void *records, size_t n, const struct mech_eval *e);
    bool (*differenced)(const void *record);  /* its derivatives are taken by differences */
    void (*release)(void *record);            /* memory outside the arena */
    const struct mech_pair_ops *pair;         /* acts between two markers; NULL: does not */
    const struct mech_equation_ops *equation; /* equations between coordinates; NULL: none */
    /* Outputs: mask, and values: at most `capacity` are written, *count is their number.
     * 0, or MECH_UNSUPPORTED. */
    uint32_t outputs;
    int (*output)(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count);
    /* Body that is a line along its local x axis: its length, for pictures. NULL: it is none. */
    double (*line)(const void *description);
    size_t geometry;      /* offset of its struct mech_items of shapes, 0: has none */
    size_t visualization; /* offset of its struct mech_visualization, 0: has none */
};

/* --- markers, loads, sensors ------------------------------------------------------------------ */

enum mech_marker_kind {
    MECH_MARKER_COORDINATE,
    MECH_MARKER_POSITION,
    MECH_MARKER_RIGID,
    MECH_MARKER_MASS,       /* all of a body's mass */
    MECH_MARKER_ROTATION,   /* a rotation: one coordinate of more than one velocity */
    MECH_MARKER_COORDINATES /* all coordinates of its seat, however many: n is 0, there is no J */
};

/* Where a marker puts forces: generalized force at slot[i] = Σ_r J[r][i] w[r]. A marker that moves
 * has no constant J: the model asks for its pose at each evaluation, and the R given here is 1. */
struct mech_marker_map {
    enum mech_marker_kind kind;
    bool first_order, moving;
    bool flexible; /* moves with all n velocities of its seat; slot is not used */
    double mass;   /* kg, of a mass marker */
    int32_t kept;  /* numbers that it keeps from step to step in z, from seat->z on; 0: none */
    int32_t n;
    int32_t slot[MECH_MARKER_SLOTS];
    double J[6][MECH_MARKER_SLOTS]; /* rows: force, torque; a coordinate marker uses row 0 */
    double R[9];                    /* rotation of the body, by rows */
};

struct mech_marker_ops {
    enum mech_marker_kind kind;
    /* The node or object that it sits on; NULL: the ground. */
    const struct mech_ref *(*seat)(const void *description, enum mech_category *category);
    /* A reason, with the field at fault in *field, or NULL when it is fine. */
    const char *(*map)(const void *description, const struct mech_seat *seat,
                       struct mech_marker_map *out, const char **field);
    /* The caller zeroed *out and set its n and slot. */
    void (*pose)(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 struct mech_pose *out);
    /* z [map.kept]: from what they were before a step to what they are at the pose of e, after it,
     * or at the start, from 0. As `keep` of a pair. NULL: it keeps nothing. */
    void (*keep)(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 double *z);
};

struct mech_load_ops {
    int32_t size;              /* components */
    uint32_t markers;          /* mask of 1u << enum mech_marker_kind that it can act on */
    enum mech_output variable; /* what it is: Force or Torque */
    const struct mech_ref *(*marker)(const void *description);
    const struct mech_values *(*values)(const void *description);
    /* Generalized force of component c = 1: w [6] at the marker, to be multiplied by its J. */
    void (*wrench)(const void *description, int32_t c, const struct mech_marker_map *map,
                   double w[6]);
    bool (*body_fixed)(const void *description); /* the wrench turns with the marker; NULL: no */
};

struct mech_sensor_ops {
    enum mech_category target;
    bool body;         /* the object must be a body */
    const char *field; /* that names the target */
    const struct mech_ref *(*ref)(const void *description);
    enum mech_output (*variable)(const void *description);
    const double *(*local)(const void *description); /* NULL: none */
};

/* --- interactions ----------------------------------------------------------------------------- */

/* y = H q + b between systems of second order; between those of first order
 *
 *     y = H x + D λ + b,   M ẋ = A x + … + B λ
 */
struct mech_relation_ops {
    const char *field; /* of H, for messages */
    const struct mech_mat *(*H)(const void *description);
    const struct mech_vector *(*b)(const void *description); /* empty: zeros */
    const struct mech_mat *(*B)(const void *description);    /* NULL: of second order */
    const struct mech_mat *(*D)(const void *description);    /* beside B; no rows: 0 */
};

enum mech_law_kind {
    MECH_LAW_UNILATERAL, /* 0 ≤ ẏ⁺ + e ẏ⁻ ⊥ p ≥ 0 while the contact is closed; with a compliance s
                            a spring and a damper that push: s f = max(0, −y − s d ẏ) */
    MECH_LAW_FRICTION, /* the same on its first row, with Coulomb's friction on the others */
    MECH_LAW_EQUALITY, /* ẏ⁺ = 0 always; of first order y = 0 */
    MECH_LAW_RELAY,    /* lower ≤ λ ≤ upper against ẏ⁺, always; of first order against y */
    MECH_LAW_COMPLEMENTARITY /* of first order alone: 0 ≤ y ⊥ λ ≥ 0 */
};
/* What one contact obeys. Its rows stand together in H. */
struct mech_contact_law {
    enum mech_law_kind kind;
    int32_t rows;        /* 1; FRICTION 2 (N, T) or 3 (N, T1, T2) */
    double e[3];         /* restitution of each row, 0 to 1 */
    double mu;           /* FRICTION */
    double lower, upper; /* RELAY, N; of first order as λ */
    double compliance;   /* s ≥ 0, UNILATERAL, m/N; 0: rigid */
    double damping;      /* d ≥ 0, N s/m, of a compliant contact */
};
struct mech_law_ops {
    void (*contact)(const void *description, struct mech_contact_law *out); /* comes zeroed */
};

/* --- shared by types -------------------------------------------------------------------------- */

/* Coordinates, CoordinatesTotal, Coordinates_t, Coordinates_tt of a view: what nodes and coordinate
 * systems offer.
 * In the reference configuration Coordinates are the reference coordinates (as in Exudyn), in all
 * others displacements from them. Same returns as mech_object_ops.output. */
int mech_coordinate_output(const struct mech_view *view, enum mech_output variable, size_t capacity,
                           double *values, size_t *count);

/* A fault under site->path/field unless a (when given) is n × n, or the list (when given) has n
 * numbers. */
void mech_fit_square(const struct mech_site *site, const char *field, const struct mech_mat *a);
void mech_fit_length(const struct mech_site *site, const char *field, size_t n);

/* What a body has at a local point. */
struct mech_motion {
    double position[3], displacement[3], velocity[3];
    double rotation[9]; /* matrix by rows */
    double omega[3], omega_local[3];
};
/* The output variables of a body's or node's point from the poses of the view; accelerations need
 * view->vdot. An `output` operation of objects: the description is not read. */
int mech_pose_output(const void *description, const struct mech_view *view,
                     enum mech_output variable, size_t capacity, double *values, size_t *count);
/* a [6]: acceleration and angular acceleration of a pose at v̇ = 0. */
void mech_pose_bias(const struct mech_pose *pose, double a[6]);

/* The output variables that every body has, from its motion. MECH_UNSUPPORTED: not one of them. */
int mech_motion_output(const struct mech_motion *motion, enum mech_output variable, size_t capacity,
                       double *values, size_t *count);

/* Poses into *out, whose R is 1 and whose other numbers are 0: a point with n coordinates, and a
 * local position of a frame in space, of one x, y, φ. */
void mech_point_pose(const struct mech_seat *seat, const struct mech_eval *e, int32_t n,
                     struct mech_pose *out);
void mech_rigid_pose(const struct mech_seat *seat, const struct mech_eval *e, const double local[3],
                     struct mech_pose *out);
/* pose and transport of nodes of MECH_NODE_RIGID, whatever their coordinates */
void mech_rigid_node_pose(const void *description, const struct mech_seat *seat,
                          const struct mech_eval *e, struct mech_pose *out);
void mech_rigid_transport(const double *d, const double *dq, const double *dd, double *out);
/* Writes J of a lean pose. */
void mech_pose_complete(struct mech_pose *pose);
void mech_rigid_2d_pose(const struct mech_seat *seat, const struct mech_eval *e,
                        const double local[3], struct mech_pose *out);

/* The pose of a body's centre of mass. */
void mech_centre_pose(const struct mech_seat *seat, const struct mech_eval *e,
                      struct mech_pose *out);

/* What mech_coordinate_output computes, and mech_pose_output of points and of frames. */
enum {
    MECH_FIRST_ORDER_OUTPUTS = 1u << MECH_OUTPUT_COORDINATES | 1u << MECH_OUTPUT_COORDINATES_T |
                               1u << MECH_OUTPUT_COORDINATES_TOTAL,
    MECH_COORDINATE_OUTPUTS = MECH_FIRST_ORDER_OUTPUTS | 1u << MECH_OUTPUT_COORDINATES_TT,
    MECH_POINT_OUTPUTS = 1u << MECH_OUTPUT_POSITION | 1u << MECH_OUTPUT_DISPLACEMENT |
                         1u << MECH_OUTPUT_VELOCITY | 1u << MECH_OUTPUT_ACCELERATION,
    MECH_RIGID_OUTPUTS = MECH_POINT_OUTPUTS | 1u << MECH_OUTPUT_VELOCITY_LOCAL |
                         1u << MECH_OUTPUT_ACCELERATION_LOCAL | 1u << MECH_OUTPUT_ROTATION_MATRIX |
                         1u << MECH_OUTPUT_ROTATION | 1u << MECH_OUTPUT_ANGULAR_VELOCITY |
                         1u << MECH_OUTPUT_ANGULAR_VELOCITY_LOCAL |
                         1u << MECH_OUTPUT_ANGULAR_ACCELERATION |
                         1u << MECH_OUTPUT_ANGULAR_ACCELERATION_LOCAL
};

/* What the model gives for any body that may have geometry. */
enum { MECH_CONTACT_OUTPUTS = 1u << MECH_OUTPUT_CONTACT_FORCE | 1u << MECH_OUTPUT_CONTACT_TORQUE };

/* Mask of the output variables that items of this type have; 0 for sensors. */
uint32_t mech_item_type_outputs(const struct mech_item_type *type);

/* Names of all output variables, closed by NULL: choices of the sensors' field. */
extern const char *const mech_output_names[];

static inline uint32_t mech_output_bit(enum mech_output variable)
{
    return 1u << variable;
}
