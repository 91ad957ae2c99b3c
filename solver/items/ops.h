/* Operations of item types: how the model compiles descriptions and asks them for values.
 *
 * An item sees its own coordinates only. While a model is compiled, each object gets a site: the
 * global places (slots) of its local coordinates, in this order: the coordinates of its nodes, or
 * of its markers, or those that it brings itself. It writes local blocks through terms.h, which
 * puts them into their places. Slot `ground` is the fixed coordinate of the ground: always 0, and
 * what is added to it is dropped.
 *
 * Linear, time-invariant terms are folded into M, C, K and a constant force once. What is left
 * becomes one record per item, contiguous per type, evaluated by one call per type.
 */
#pragma once

#include "solver/items/item.h"
#include "solver/items/scope.h"
#include "solver/items/terms.h"

enum { MECH_MARKER_SLOTS = 6, MECH_RECORD_COORDINATES = 4 };

/* What an object sees while it is compiled. */
struct mech_site {
    struct mech_arena *arena;                 /* lives as long as the model */
    const struct mech_parameters *parameters; /* names */
    const double *values;                     /* [parameters->n] values */
    const int32_t *slot;                      /* [n] of the local coordinates */
    int32_t n;
    bool first_order; /* the coordinates are first-order states */
    const char *path; /* "/objects/3" */
    struct mech_diag *diag;
};

/* The point at which records are evaluated. Vectors have their ground slot. */
struct mech_eval {
    double t;
    const double *q, *v; /* total coordinates, velocities */
    const double *q_ref; /* reference coordinates */
};

/* The configuration in which an output is asked for. */
struct mech_view {
    struct mech_eval at;
    const double *vdot; /* accelerations, or NULL: not known in this configuration */
    enum mech_configuration configuration;
    const int32_t *slot; /* [n] */
    int32_t n;
    const double *local; /* [3] local position */
    void *record;        /* of the object, or NULL */
};

/* --- nodes ------------------------------------------------------------------------------------ */

struct mech_node_ops {
    bool first_order; /* coordinates are first-order states x */
    int32_t (*size)(const void *description);
    /* [size] each; velocity is not written by first-order nodes. */
    void (*start)(const void *description, double *reference, double *displacement,
                  double *velocity);
    uint32_t outputs; /* mask of 1u << enum mech_output; mech_coordinate_output computes them */
};

/* --- objects ---------------------------------------------------------------------------------- */

/* Which items an object is attached to. */
struct mech_attachment {
    const struct mech_ref *refs; /* [n] nodes or markers */
    size_t n;
    const char *field; /* the document's key; a list when `list` */
    bool list;
};

struct mech_object_ops {
    bool body;                               /* has mass of its own: no two on one node */
    bool system;                             /* may stand in interactions */
    int32_t (*own)(const void *description); /* coordinates that it brings; NULL: none */
    /* displacement = q − 0 for own coordinates; [own] each */
    void (*start)(const void *description, double *q, double *v);
    void (*nodes)(const void *description, struct mech_attachment *out);   /* NULL: none */
    void (*markers)(const void *description, struct mech_attachment *out); /* NULL: none */
    uint32_t marker_kinds; /* mask of 1u << enum mech_marker_kind that it takes */
    /* With the site known: sizes against coordinates, kinds of coordinates. May be NULL. */
    void (*fit)(const void *description, const struct mech_site *site);
    /* Linear terms. 0 or negative. May be NULL. */
    int (*linear)(const void *description, struct mech_terms *terms);
    /* The external force of a linear system and the data that it reads. May be NULL. */
    void (*excitation)(const void *description, const struct mech_values **force,
                       const struct mech_vector **z);
    /* Body: rows 0–2 ∂(velocity of a point)/∂v, rows 3–5 ∂(angular velocity)/∂v [6][n], and the
     * rotation matrix R [9], all constant. A reason, or NULL when it is fine. NULL: not a body. */
    const char *(*jacobian)(const void *description, const double local[3],
                            double J[6][MECH_MARKER_SLOTS], double R[9]);
    /* Nonlinear part; all NULL or 0 for linear types. `record` fills one record and returns 1 when
     * this item needs one, 0 when it does not, negative: no memory. */
    size_t record_size;
    int32_t record_coordinates; /* local coordinates of a record, at most MECH_RECORD_COORDINATES */
    int (*record)(const void *description, const struct mech_site *site, void *record);
    /* g [.. ground] += left-hand-side terms of `n` records */
    void (*force)(void *records, size_t n, const struct mech_eval *e, double *g);
    /* values[place] += cq ∂g/∂q + cv ∂g/∂v, place [n × coordinates²] by rows of each record */
    void (*tangent)(void *records, size_t n, const struct mech_eval *e, const double c[2],
                    const int32_t *place, double *values);
    bool (*differenced)(const void *record); /* its derivatives are taken by differences */
    void (*release)(void *record);           /* what the arena does not hold */
    /* Outputs: mask, and values: at most `capacity` are written, *count says how many there are.
     * 0, or MECH_UNSUPPORTED. */
    uint32_t outputs;
    int (*output)(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count);
    size_t visualization; /* offset of its struct mech_visualization, 0: has none */
};

/* --- markers, loads, sensors ------------------------------------------------------------------ */

enum mech_marker_kind { MECH_MARKER_COORDINATE, MECH_MARKER_POSITION, MECH_MARKER_RIGID };

/* Where a marker puts forces: generalized force at slot[i] = Σ_r J[r][i] w[r]. */
struct mech_marker_map {
    enum mech_marker_kind kind;
    bool first_order;
    int32_t n;
    int32_t slot[MECH_MARKER_SLOTS];
    double J[6][MECH_MARKER_SLOTS]; /* rows: force, torque; a coordinate marker uses row 0 */
    double R[9];                    /* rotation of the body, by rows */
};

/* The item that a marker sits on, as the model resolved it. */
struct mech_seat {
    const struct mech_item *item; /* NULL: the ground */
    const int32_t *slot;
    int32_t n;
    bool first_order;
};

struct mech_marker_ops {
    enum mech_marker_kind kind;
    /* The node or object that it sits on; NULL: the ground. */
    const struct mech_ref *(*seat)(const void *description, enum mech_category *category);
    /* A reason, with the field at fault in *field, or NULL when it is fine. */
    const char *(*map)(const void *description, const struct mech_seat *seat,
                       struct mech_marker_map *out, const char **field);
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

struct mech_relation_ops {
    const struct mech_mat *(*H)(const void *description);
    const struct mech_vector *(*b)(const void *description); /* empty: zeros */
};

struct mech_law_ops {
    int32_t dimension; /* rows of one contact */
    double (*restitution)(const void *description);
};

/* --- shared by types -------------------------------------------------------------------------- */

/* Coordinates, Coordinates_t, Coordinates_tt of a view: what nodes and coordinate systems offer.
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
/* The output variables that every body has, from its motion. MECH_UNSUPPORTED: not one of them. */
int mech_motion_output(const struct mech_motion *motion, enum mech_output variable, size_t capacity,
                       double *values, size_t *count);

/* Names of all output variables, closed by NULL: choices of the sensors' field. */
extern const char *const mech_output_names[];

static inline uint32_t mech_output_bit(enum mech_output variable)
{
    return 1u << variable;
}
