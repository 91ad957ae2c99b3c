/* Colliders of one body whose faces lie against each other, and contacts that only the seam between
 * them would make.
 *
 * A floor of adjacent boxes is one surface. A body that slides over it meets, at each seam, the
 * edge and the covered face of the next box, which no real floor has. A contact on collider B is
 * such a one when its normal, from its point x, leads into a collider A that is flush with B, or x
 * is on A too and A reaches over the plane of that normal, and a motion out of A there along A's
 * own normal also leaves B. At the foot of a step B continues, and the contact stays; so do those
 * at the bottom of a groove. A plane has no edges, and none of its contacts is of a seam.
 *
 * owner: a scene; built once, read by one thread. */
#pragma once

#include "solver/contact/contact.h"

#include <stdbool.h>
#include <stddef.h>

/* Of collider c: at[start[c]] … at[start[c + 1] − 1], ascending. */
struct mech_flush {
    int32_t *start, *at; /* [n + 1]; NULL: no collider has any */
};

/* Flush are two colliders of one body, convex, meshes or a plane, whose gap is at most 1e-6 of the
 * smaller (flush_from.h). 0 or negative. */
int mech_flush_build(const struct mech_collider *colliders, int32_t n, int32_t bodies,
                     struct mech_flush *out);
void mech_flush_fini(struct mech_flush *f);
/* Bytes held, for n colliders. */
size_t mech_flush_memory(const struct mech_flush *f, int32_t n);

/* A mesh that a shape touches, and what is flush with it. */
struct mech_flush_of {
    const struct mech_scene *scene;
    int32_t mesh, other; /* colliders */
    const int32_t *at;   /* [n] colliders */
    int32_t n;
};
/* Whether x, in the mesh's frame, is also on one of the flush ones that `other` may touch: a border
 * of the mesh is none there. */
bool mech_flush_goes_on(const struct mech_flush_of *f, const double x[3]);

/* A contact of another collider with collider c, in the frame of c's body. */
struct mech_flush_contact {
    const double *x, *n;               /* the point on c, the direction out of c */
    double gap;                        /* m */
    const struct mech_collider *other; /* placed in this frame */
};
/* Whether a contact of collider c is one of the seam with its neighbour. An open mesh hides what is
 * below it only where the other collider is in it as well, both above and below: there may be a
 * room under a mesh, with walls. What only grazes a rim is not in it: a board against a shelf and
 * the beam below it, or, far behind a wall that faces one way, a plank against the jamb of its door
 * (which the mesh itself takes for what has come through the wall). */
bool mech_flush_hides(const struct mech_collider *c, const struct mech_collider *neighbour,
                      const struct mech_flush_contact *contact);
