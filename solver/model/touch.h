/* Contacts between bodies by their shapes (contact/contact.h), in the velocities of the model.
 * owner: its simulation, one thread; no allocation but what mech_scene_find takes.
 *
 * Of one contact: rows N, T1, T2 of the velocity of the second body's point against the first's,
 * along frame (n, t1, t2 by rows, right-handed, t1 a function of n alone), then the same of its
 * angular velocity: spinning about n, rolling about t1 and t2. */
#pragma once

#include "solver/contact/contact.h"
#include "solver/model/model.h"

/* Moving bodies with shapes; 0: nothing can touch, or contacts are forces (model/penalty.h). */
int32_t mech_model_touch_bodies(const struct mech_model *m);
/* The document's object of one of them, and its velocities' slots [n]. */
struct mech_touch_body {
    int32_t object, n;
    const int32_t *slot;
};
struct mech_touch_body mech_model_touch_body(const struct mech_model *m, int32_t body);
/* What collider c of a contact is: its object, and its place in that object's geometry. */
void mech_model_touch_collider(const struct mech_model *m, int32_t collider, int32_t *object,
                               int32_t *shape);

/* The moving bodies of a contact; −1: the ground. */
void mech_model_touch_bodies_of(const struct mech_model *m, const struct mech_contact *c,
                                int32_t body[2]);

/* The shape at that place of an object's geometry, in its own frame; NULL: there is none. */
const struct mech_shape *mech_model_touch_shape(const struct mech_model *m, int32_t object,
                                                int32_t place);
/* Name of the object that a collider belongs to. */
const char *mech_model_touch_name(const struct mech_model *m, int32_t collider);
/* The two colliders in the id of a contact. */
void mech_model_touch_pair(uint64_t id, int32_t collider[2]);
/* Whether an id is of two colliders of the model. */
bool mech_model_touch_known(const struct mech_model *m, uint64_t id);

/* Contacts at a point whose gaps are at most the settings' margin + what the bodies may move within
 * `ahead` seconds: at their present velocities, and what gravity adds to them, |g| ahead². Returns
 * as mech_scene_find. */
int mech_model_touch_find(const struct mech_model *m, const struct mech_eval *e, double ahead,
                          struct mech_contact_list *list);
/* Contacts at a point whose gaps are at most the settings' margin + that share of the positions and
 * sizes of both bodies: share 0 and rounding would hide some of those that just touch. */
int mech_model_touch_near(const struct mech_model *m, const struct mech_eval *e, double share,
                          struct mech_contact_list *list);
/* As mech_model_touch_find once more at that point, where the bodies as they were set out by now go
 * farther: a tenth more, so that small changes need no new search. */
int mech_model_touch_widen(const struct mech_model *m, double ahead,
                           struct mech_contact_list *list);
/* The motion of one body with velocities e->v at the point of the last mech_model_touch_find, for
 * sweeps over the scene. */
void mech_model_touch_set_out(const struct mech_model *m, const struct mech_eval *e, int32_t body);
/* Whether one of the bodies, as they have all been set out, moves farther within `ahead` than was
 * looked for. */
bool mech_model_touch_goes_farther(const struct mech_model *m, double ahead);
/* The scene of the shapes; the bodies' motions [mech_model_touch_bodies] as they were set out. */
const struct mech_scene *mech_model_touch_scene(const struct mech_model *m,
                                                const struct mech_scene_motion **motion);
struct mech_material mech_model_touch_material(const struct mech_model *m,
                                               const struct mech_contact *c);

struct mech_touch_rows {
    int32_t n;                           /* velocities of both bodies, the ground's none */
    int32_t slot[2 * MECH_MARKER_SLOTS]; /* those of the first body come first */
    double frame[9];                     /* n, t1, t2 by rows, global */
    double G[6][2 * MECH_MARKER_SLOTS];  /* of the velocities, not of the motions h v */
    int32_t body[2];                     /* moving bodies or −1 */
    double arm[2][3];                    /* m, global, from the bodies' centers of mass */
};
/* Rows of one contact; the poses are those of the last mech_model_touch_find. */
void mech_model_touch_rows(const struct mech_model *m, const struct mech_contact *c,
                           struct mech_touch_rows *out);

/* Of these the frame, the bodies and the arms alone. */
void mech_model_touch_frame(const struct mech_model *m, const struct mech_contact *c,
                            struct mech_touch_rows *out);

/* What rounding may make of the gap of a contact, m; of `rows` the arms are read. With x = p + R a
 * the point on a side, g = n·(x₂ − x₁): a coordinate p is stored to ½ε|p|, and so is the sum x;
 * R has entries of ε, so that R a is known to some ε|a|, with what is lost where shapes are clipped
 * in the frame of one. With |p| ≤ |x| + |a|, and 4 for some,
 *
 *     |δg| ≤ ε Σ (|n|·|x| + 4 |a|) over both sides
 *
 * of which faces that touch were seen to use 0.58 (tests/unit/solver/model/gap.c). Where a
 * coordinate is along n, no motion of less than half its first part is stored at all. */
double mech_model_touch_rounding(const struct mech_contact *c, const struct mech_touch_rows *rows);

/* What the state keeps of a contact: impulse and couple by rows of its frame, as the multipliers of
 * G: l [6], N s and N m s, on the second body. */
void mech_model_touch_record(const struct mech_contact *c, const struct mech_touch_rows *rows,
                             const double l[6], struct mech_touched *out);

/* True when every velocity of the model belongs to a body whose mass matrix is m 1 and an inertia
 * tensor about its centre of mass, so that M is inverted body by body. */
bool mech_model_touch_free(const struct mech_model *m);
/* 1/m of a body with shapes, of any model; HUGE_VAL: not known. */
double mech_model_touch_mobility(const struct mech_model *m, int32_t body);
/* Of such a free body at the last poses: 1/m, and J⁻¹ in global axes by rows (0 for points). */
void mech_model_touch_inertia(const struct mech_model *m, int32_t body, double *inverse_mass,
                              double inverse_inertia[9]);
/* Velocity and angular velocity of such a body's centre of mass in global axes, to and from the
 * slots of v [nv + 1]. */
void mech_model_touch_twist(const struct mech_model *m, int32_t body, const double *v,
                            double twist[6]);
void mech_model_touch_untwist(const struct mech_model *m, int32_t body, const double twist[6],
                              double *v);
