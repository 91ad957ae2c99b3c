/* The model document as C structs: what POST /v1/instances carries, read and written by walking
 * mech_document_table. Nothing here is compiled or resolved yet; sim (solver/sim/mech.h) does that.
 *
 * owner: one thread until it is handed to mech_sim_create, which keeps it. Everything inside lives
 * in the document's own arena.
 */
#pragma once

#include "solver/base/arena.h"
#include "solver/items/item.h"

/* A number of the document that an expression over the parameters gives, or a flag: whether that
 * is not 0. */
struct mech_binding {
    void *target;     /* double, or bool: inside a description, a vector, a matrix … */
    bool flag;        /* target is a bool */
    const char *text; /* without its "=" */
    const char *path; /* place in the document, for messages */
};

struct mech_bindings {
    struct mech_binding *at; /* [n], sorted by target once the document is complete */
    size_t n, capacity;
};

/* An interaction between Lagrangian systems: y = H q + b and a law on (y, multiplier). */
struct mech_interaction {
    bool active; /* else its rows stay, and their multipliers are 0 */
    const char *name;
    struct mech_refs systems; /* objects; H's columns run over their coordinates in this order */
    struct mech_item relation;
    struct mech_item law;
};

/* A channel into the model. Exactly one of load, parameter, marker is given. */
struct mech_input {
    const char *name;
    struct mech_ref load;   /* component of a load (all of it when component is -1) */
    const char *parameter;  /* a tunable parameter */
    struct mech_ref marker; /* a force (and torque) on a marker */
    int32_t component;      /* -1: the whole vector */
};

/* A channel out of the model: a sensor, or one component of it (-1: the whole vector). */
struct mech_output_channel {
    const char *name;
    struct mech_ref sensor;
    int32_t component;
};

struct mech_newton_settings {
    double relative_tolerance, absolute_tolerance;
    int32_t max_iterations;
    bool modified;
};

/* Who divides internal steps into substeps: schemes with an estimate of their own always; the
 * others never, or when Newton's method fails, or by an estimated error too. */
enum mech_adaptive_mode {
    MECH_ADAPTIVE_BY_SCHEME,
    MECH_ADAPTIVE_ON_FAILURE,
    MECH_ADAPTIVE_BY_ERROR
};

/* Step size control of the integrators that estimate their error. */
struct mech_adaptive_settings {
    int32_t mode; /* enum mech_adaptive_mode */
    bool dense;   /* substeps of explicit schemes may end beyond the step */
    double absolute_tolerance, relative_tolerance;
    double initial_step, minimum_step, maximum_step; /* s; initial, maximum 0: the internal step */
    double max_increase, safety;
};

enum mech_on_failure { MECH_ON_FAILURE_ERROR, MECH_ON_FAILURE_ACCEPT };

struct mech_vi_settings {
    const char *type; /* a complementarity solver, NULL: chosen by size */
    double tolerance;
    int32_t max_iterations;
    int32_t on_failure; /* enum mech_on_failure */
};

/* What the event-driven scheme counts as closed. */
struct mech_event_settings {
    double rest_speed;    /* m/s, of a rebound below which a contact stays closed */
    double gap_tolerance; /* m, at the start */
    int32_t max_events;   /* in one internal step */
};

struct mech_settings {
    const char *integrator; /* a member of step/steppers.def; default "GeneralizedAlpha" */
    double start_time;      /* s */
    double step_size;       /* internal step h, s */
    double spectral_radius;
    bool velocity_projection;                  /* joints: v is made to fit after each step */
    double theta, gamma, activation_threshold; /* Moreau–Jean; theta of Euler–Moreau too */
    double relation_gamma;                     /* Euler–Moreau */
    double newmark_beta, newmark_gamma;        /* Newmark */
    const char *linear;                        /* a linear solver, NULL: chosen by structure */
    struct mech_adaptive_settings adaptive;
    struct mech_event_settings events;
    struct mech_newton_settings newton;
    struct mech_vi_settings vi;
};

enum mech_contact_method { MECH_CONTACT_NONSMOOTH, MECH_CONTACT_PENALTY };
enum mech_contact_friction { MECH_FRICTION_COULOMB, MECH_FRICTION_ASSOCIATED };
enum mech_interpenetration { MECH_INTERPENETRATION_RESOLVE, MECH_INTERPENETRATION_REFUSE };

/* How bodies touch each other by their shapes. */
struct mech_contact_settings {
    int32_t method;           /* enum mech_contact_method */
    int32_t friction;         /* enum mech_contact_friction */
    int32_t interpenetration; /* enum mech_interpenetration: of the start */
    double acceptable;        /* residual taken where the tolerance is not met; 0: none */
    double depth;             /* m, overlap from which a start is refused */
    double recovery_speed;    /* m/s, at most, at which overlaps are undone */
    double min_bounce_speed;  /* m/s, slower impacts have no rebound */
    double margin;            /* m, added to the distance at which contacts are considered */
    int32_t capacity;         /* most contacts of a step; 0: 16 for each moving shape, and 64 */
    bool jointed;             /* bodies that a joint connects touch each other too */
};

struct mech_document {
    struct mech_arena arena;
    struct mech_bindings bindings;
    /* what mech_document_table describes */
    int32_t version; /* "mechd": 1 */
    const char *name;
    double gravity[3]; /* m/s² */
    struct mech_parameters parameters;
    struct mech_items nodes, objects, markers, loads, sensors;
    struct mech_structs interactions; /* struct mech_interaction */
    struct mech_structs inputs;       /* struct mech_input */
    struct mech_structs outputs;      /* struct mech_output_channel */
    struct mech_structs materials;    /* struct mech_material (solver/items/material.h) */
    struct mech_contact_settings contact;
    struct mech_settings solver;
};

extern const struct mech_table mech_document_table;
extern const struct mech_table mech_interaction_table;
extern const struct mech_table mech_input_table;
extern const struct mech_table mech_output_channel_table;
extern const struct mech_table mech_settings_table;
extern const struct mech_table mech_contact_settings_table;
extern const struct mech_table mech_vi_table;
extern const struct mech_table mech_visualization_table;

enum mech_graphic_shape {
    MECH_GRAPHIC_BOX,
    MECH_GRAPHIC_SPHERE,
    MECH_GRAPHIC_CYLINDER,
    MECH_GRAPHIC_LINE
};

/* Visualization of a body: shapes in its local frame. */
struct mech_graphic {
    int32_t shape;    /* enum mech_graphic_shape, index into mech_graphic_shapes */
    double center[3]; /* m, local frame; first end of a cylinder or line */
    double size[3];   /* m, edges of a box; vector to the second end of a cylinder or line */
    double radius;    /* m */
    double color[4];  /* red green blue alpha, 0 to 1 */
};
extern const char *const mech_graphic_shapes[]; /* closed by NULL */

struct mech_visualization {
    bool show;
    double color[4];
    struct mech_structs graphics; /* struct mech_graphic; none: drawn by default */
};

/* An empty document with all defaults. `limit`: bytes its arena may take, 0: no limit. Negative: no
 * memory. */
int mech_document_create(size_t limit, struct mech_document **out);
void mech_document_destroy(struct mech_document *d);

/* The list of a category (NODE … SENSOR). */
struct mech_items *mech_document_items(struct mech_document *d, enum mech_category category);

/* The list of such structs in a document, of which fields of kind MECH_SHARED name one, and its
 * key; NULL: there is none. */
const struct mech_structs *mech_document_list(const struct mech_document *d,
                                              const struct mech_table *table, const char **key);

/* Note that *target comes from an expression. text and path are copied; the evaluating code checks
 * the range. Negative: no memory. */
int mech_document_bind(struct mech_document *d, double *target, const char *text, const char *path);

/* The same of a flag. */
int mech_document_bind_flag(struct mech_document *d, bool *target, const char *text,
                            const char *path);

/* The binding of a number or a flag, or NULL. */
const struct mech_binding *mech_document_binding(const struct mech_document *d, const void *target);
