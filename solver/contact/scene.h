/* Inside of a scene: what contact.h promises, in parts. */
#pragma once

#include "solver/contact/broad.h"
#include "solver/contact/flush.h"
#include "solver/contact/pair.h"

#include <stddef.h>

/* A collider at the last query. */
struct mech_scene_place {
    double p[3], R[9]; /* global, R by rows */
    double reach;      /* m */
    int32_t body, kind, group, category, mask;
    bool plain; /* its frame is the body's */
};

struct mech_scene {
    int32_t n, bodies;
    struct mech_collider *colliders; /* [n] */
    struct mech_convex *placed;      /* [n] shapes and their frames */
    struct mech_scene_place *place;  /* [n] */
    /* those with finite bounds: which, their bodies, and boxes with half of what can be a gap */
    int32_t *bounded, *bounded_body; /* [bounded_count], ascending */
    struct mech_bounds *box;         /* [bounded_count] */
    int32_t *unbounded;              /* [unbounded_count] */
    int32_t bounded_count, unbounded_count;
    struct mech_broad broad;
    /* pairs by types: kinds × kind of the first + kind of the second */
    int32_t kinds;
    const struct mech_shape_pair **pair; /* [kinds²] or NULL */
    bool *turned;                        /* [kinds²] */
    /* bodies that never touch: of body b those above it, apart[apart_start[b]] … */
    int32_t *apart_start, *apart;
    struct mech_flush flush;
    double margin; /* m, of the last query */
    /* candidates of the unbounded: i << 32 | j, i < j, ascending */
    uint64_t *candidates, *sorting;
    size_t candidate_count, candidate_capacity;
};

/* Frames and boxes at a query. 0 or MECH_NOT_FINITE. */
int mech_scene_place(struct mech_scene *s, const struct mech_scene_query *query);
/* Candidates: broad.pair of places in `bounded`, and those of the unbounded, planes by their
 * distance to the boxes. Both before filters. 0 or negative. */
int mech_scene_candidates(struct mech_scene *s, const struct mech_scene_query *query);
/* Whether two colliders may touch at all. */
bool mech_scene_may(const struct mech_scene *s, int32_t i, int32_t j);

/* Contacts of colliders i < j, which may touch, placed anywhere, with gaps up to reach, after those
 * of the list, ascending by id. 0; MECH_NOT_FINITE; negative. */
int mech_scene_touch(const struct mech_scene *s, const int32_t collider[2],
                     const struct mech_convex *const at[2], double reach,
                     struct mech_contact_list *list);
