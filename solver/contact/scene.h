/* Inside of a scene: what contact.h promises, in parts. */
#pragma once

#include "solver/contact/pair.h"

#include <stddef.h>

struct mech_scene {
    int32_t n, bodies;
    struct mech_collider *colliders; /* [n] */
    struct mech_convex *placed; /* [n] each collider's shape and its frame, at the last query */
    double *frames;             /* [12 × n] the frames: p, then R by rows */
    bool *plain;                /* [n] its frame is the body's */
    double *boxes; /* [6 × n] low and high corner, global, half of what can be a gap around */
    int32_t *bounded, *unbounded; /* [n together] colliders with and without finite bounds */
    int32_t bounded_count, unbounded_count;
    int32_t *order; /* [n] the bounded by their low corners along some axis, at the last query */
    /* pairs by types: kind[i] × kinds + kind[j] of two colliders i, j */
    int32_t *kind; /* [n] */
    int32_t kinds;
    const struct mech_shape_pair **pair; /* [kinds²] or NULL */
    bool *turned;                        /* [kinds²] */
    /* bodies that never touch: of body b those above it, apart[apart_start[b]] … ascending */
    int32_t *apart_start, *apart;
    /* candidates: i << 32 | j, i < j, ascending */
    uint64_t *candidates, *sorting;
    size_t candidate_count, candidate_capacity;
};

/* Frames and boxes at a query. 0 or MECH_NOT_FINITE. */
int mech_scene_place(struct mech_scene *s, const struct mech_scene_query *query);
/* Candidates from the boxes, without what the filters exclude. 0 or negative. */
int mech_scene_candidates(struct mech_scene *s, const struct mech_scene_query *query);
/* Whether two colliders may touch at all. */
bool mech_scene_may(const struct mech_scene *s, int32_t i, int32_t j);
