/* Narrow phase: what two shapes have in contact, by pairs of their types.
 *
 * A pair is one file pair_<name>.c and one line in pairs.def; it may serve several types on its
 * second side. It gets the shapes in the order of its types and reports contacts by
 * mech_touching_add; the scene swaps them where its colliders are in the other order. Pairs that
 * no line lists use the first line that takes any two convex shapes (first NULL).
 *
 * The result of a pair depends only on the placements, it allocates nothing, and it is never NaN:
 * where centers coincide any unit normal will do; lengths whose squares overflow, or between
 * which doubles have no direction, end the search with MECH_NOT_FINITE. All gaps up to `reach` are
 * reported, overlaps along the least translation that separates the shapes. Features number the
 * touching parts of the two shapes, and stay while the same vertices, edges and faces touch. */
#pragma once

#include "solver/contact/contact.h"
#include "solver/contact/convex.h"

struct mech_flush_of;

struct mech_touching {
    struct mech_contact_list *list;
    double reach; /* m: gaps beyond are dropped */
    int32_t collider[2];
    bool turned;                       /* the pair's first shape is the second collider */
    const struct mech_flush_of *flush; /* of the pair's first shape (flush.h); NULL: nothing is */
    int code;                          /* MECH_NOT_FINITE; negative: no memory */
};

/* One point of contact, points on the surfaces of the pair's first and second shape, normal from
 * the first to the second, feature below MECH_FEATURES_MOST. Dropped when the gap is not within
 * reach. Features of one call need not come sorted. */
void mech_touching_add(struct mech_touching *t, uint32_t feature, const double normal[3],
                       const double first[3], const double second[3], double gap);
/* The same for shapes that are rounded by radii: points on the cores, gap of the cores. */
void mech_touching_add_rounded(struct mech_touching *t, uint32_t feature, const double normal[3],
                               const double first[3], const double second[3],
                               const double radius[2]);

enum { MECH_PAIR_SECONDS = 5 };

struct mech_shape_pair {
    const char *first; /* name of a shape's type; NULL: any with a support function */
    const char *second[MECH_PAIR_SECONDS];
    void (*find)(const struct mech_convex *first, const struct mech_convex *second,
                 struct mech_touching *out);
};

/* The pair for shapes a and b, *turned when its first type is b's; NULL: they never touch. */
const struct mech_shape_pair *mech_shape_pair_find(const struct mech_shape *a,
                                                   const struct mech_shape *b, bool *turned);
/* The line that lists these types, in this order; NULL: none. For pairs that are made of
 * others; those of planes read no more of the plane than its frame and its shape's normal. */
const struct mech_shape_pair *mech_shape_pair_named(const char *first,
                                                    const struct mech_shape *second);
