/* Contact geometry: which shapes of moving bodies touch, where, and how far they are apart.
 *
 *   mech_scene_create(colliders, n, bodies, &scene);
 *   MECH_TRY(mech_scene_find(scene, &query, &list));       // at one set of placements
 *   for (i < list.n) … list.at[i].gap, .normal, .point …
 *
 * Detection has no memory: the same placements give the same contacts, in the same order, with the
 * same ids, whatever came before. What a contact keeps from step to step (impulses) is found again
 * by its id. owner of a scene: one simulation, one thread; find allocates only when there are more
 * contacts or candidates than ever before.
 *
 * Methods: sweep or grid over bounding boxes; closed forms for spheres, planes and capsules; convex
 * shapes by GJK and expanding polytopes for the direction, then what faces what is cut and up to
 * four points of it kept; meshes by their triangles in a tree of boxes. */
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
