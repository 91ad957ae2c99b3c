/* Contact geometry: which shapes of moving bodies touch, where, and how far they are apart.
 *
 *   mech_scene_create(colliders, n, bodies, &scene);
 *   MECH_TRY(mech_scene_find(scene, &query, &list));       // at one set of placements
 *   for (i < list.n) … list.at[i].gap, .normal, .point …
 *
 * Detection is stateless: the same placements give the same contacts, in the same order, with the
 * same ids, independent of earlier calls. The stored data of a contact (impulses) is found again by
 * its id. owner of a scene: one simulation, one thread; find allocates only when there are more
 * contacts or candidates than ever before.
 *
 * Methods: sweep or grid over bounding boxes; closed forms for spheres, planes and capsules; convex
 * shapes by GJK and expanding polytopes for the direction, then facing features are clipped
 * and up to four points retained; meshes by their triangles in a tree of boxes. */
#pragma once

#include "solver/items/shape/shape.h"

/* One shape on one body. Names and ids refer to its place in the list. */
struct mech_collider {
    int32_t body; /* 0 … bodies − 1; −1: the ground */
    struct mech_shape shape;
    double p[3], R[9]; /* frame of the shape in the body's (in the global one: ground), R by rows */
    struct mech_material material;
    int32_t group, category, mask;
};

enum {
    MECH_COLLIDERS_MOST = 1 << 20,
    MECH_FEATURES_MOST = 1 << 24 /* of one pair: contact points, triangles among them */
};

/* One point of contact between two shapes. */
struct mech_contact {
    /* first collider · 2⁴⁴ + second · 2²⁴ + feature: stays while the same features touch */
    uint64_t id;
    int32_t collider[2]; /* ascending */
    double normal[3];    /* unit, from the first to the second: the second moves along it to open */
    double point[2][3];  /* on each surface, global */
    double gap;          /* (point[1] − point[0]) · normal; < 0: they overlap */
};

struct mech_contact_list {
    struct mech_contact *at; /* [n] ascending by id */
    int32_t n, capacity;
};
/* Room for n contacts, so that no search for fewer allocates. 0 or negative. */
int mech_contact_list_reserve(struct mech_contact_list *list, int32_t n);
void mech_contact_list_fini(struct mech_contact_list *list);

struct mech_placement {
    double p[3], R[9]; /* of a body's frame, global, R by rows */
};

struct mech_scene;

/* Colliders are copied; what their shapes point to stays the caller's. Pairs that never touch: of
 * one body, of two on the ground, those that the filters exclude ((category & mask) both ways;
 * groups), those in `apart` [2 × apart_count], pairs of bodies ascending (jointed ones).
 * 0; MECH_UNSUPPORTED: too many colliders; negative. */
struct mech_scene_description {
    const struct mech_collider *colliders; /* [n] */
    int32_t n, bodies;
    const int32_t *apart;
    int32_t apart_count;
};
int mech_scene_create(const struct mech_scene_description *description, struct mech_scene **out);
void mech_scene_destroy(struct mech_scene *s);
/* Bytes held. */
size_t mech_scene_memory(const struct mech_scene *s);

/* The material of a contact. */
struct mech_material mech_scene_material(const struct mech_scene *s, const struct mech_contact *c);

struct mech_scene_query {
    const struct mech_placement *at; /* [bodies] */
    /* [bodies] how far any point of the body may move toward another, m; NULL: 0 */
    const double *reach;
    double margin; /* m, for all */
};
/* All contacts with gap ≤ margin + the reaches of both bodies, into list (overwritten). 0;
 * MECH_NOT_FINITE: a placement is not, or what touches is not; negative: no memory. */
int mech_scene_find(struct mech_scene *s, const struct mech_scene_query *query,
                    struct mech_contact_list *list);

/* Contacts of two colliders i < j of one that moves and another whose bodies are elsewhere than at
 * the last query: at [2], not read of the ground. Gaps up to reach, into list (overwritten). 0;
 * MECH_NOT_FINITE; negative. */
int mech_scene_touch_at(const struct mech_scene *s, const int32_t collider[2],
                        const struct mech_placement *const at[2], double reach,
                        struct mech_contact_list *list);

/* Rigid motions of the bodies from the placements of the last query on: after t seconds a body's
 * frame is at p + v t, exp(ω× t) R. */
struct mech_scene_motion {
    double v[3], omega[3]; /* global */
    double extent;         /* m: how far turning by 1 moves the body's points, at most */
};
struct mech_scene_sweep {
    const struct mech_scene_motion *motion; /* [bodies] */
    double span;                            /* s */
    double allowed; /* of the colliders' sizes: an overlap at the end that is ignored */
    double close;   /* of the same: a gap at the end that is closed */
    double alike;   /* cosine of the angle by which directions may differ that count as one */
    double sure;    /* of the sizes: how far rows that are sure may bar more than the colliders */
    bool beside;    /* whether passed contacts are listed as well */
};

/* The motion of two colliders that are apart at the last query. */
enum mech_scene_way {
    MECH_WAY_FREE,  /* they pass each other */
    MECH_WAY_KNOWN, /* they start to touch, in known directions */
    MECH_WAY_OTHER  /* they start to touch in others */
};
/* Whether two colliders start to touch within the span, by steps that no approach can outrun
 * (conservative advancement: B. Mirtich, PhD thesis, Berkeley 1996); known [n > 0] are contacts of
 * theirs. OTHER: what touches, or may soon, goes behind the contacts of the list, with the normals
 * and arms of the touch: where a body's frame is at the query, half the gap inward of each point
 * is its place of touch; and the gap from which the motion leads to that of the touch. FREE, where
 * it is asked for: the same of what is near at the end, but for rows that the motion runs into.
 * 0; MECH_NOT_FINITE; negative. */
int mech_scene_sweep(const struct mech_scene *s, const struct mech_scene_sweep *sweep,
                     const struct mech_contact *known, int32_t n, struct mech_contact_list *list,
                     enum mech_scene_way *way);
/* The gap that the row of a contact has at the end of the span. */
double mech_scene_gap_after(const struct mech_scene *s, const struct mech_scene_sweep *sweep,
                            const struct mech_contact *c);
/* Whether a contact's row bars what its colliders do, but for sweep->sure, in this motion: they
 * move too little sideways for an edge to be passed. What two shapes bar each other is no sharper
 * than their roundings r together, and falls away from its tangent plane by d²/2r at most. */
bool mech_scene_bars(const struct mech_scene *s, const struct mech_scene_sweep *sweep,
                     const struct mech_contact *c);
/* Whether a contact's row bars no motion that the colliders themselves do not: its gap is at most
 * 1e-6 of their sizes, or one of them is a half-space. */
bool mech_scene_stands(const struct mech_scene *s, const struct mech_contact *c);
/* How the rows of contacts turn while the bodies keep these velocities, from the last query on:
 * turn [n × 3], m/s², is d/dt of u, the velocity of the second body's point of contact against the
 * first's, in axes that follow the normal by the least rotation. known [n > 0] are all contacts of
 * one pair of colliders that are asked for: it is searched once, and they are quickest to find if
 * they ascend. In closed form for points and vertices on planes; else by the difference to the
 * placements span before the query: 0 of a contact that is not there, or whose gap does not change
 * at the rates there and here. The list is scratch. 0; MECH_NOT_FINITE; negative. */
int mech_scene_turn(const struct mech_scene *s, const struct mech_scene_sweep *sweep,
                    const struct mech_contact *known, int32_t n, struct mech_contact_list *list,
                    double *turn);
/* No less than any |turn| of a contact's colliders, but for features sharper than they are large,
 * m/s². Cheap. */
double mech_scene_turns_most(const struct mech_scene *s, const struct mech_scene_sweep *sweep,
                             const struct mech_contact *c);
/* The size of a contact's colliders: the largest side of the smaller one's box, m; HUGE_VAL: both
 * have no bounds. */
double mech_scene_size(const struct mech_scene *s, const struct mech_contact *c);
