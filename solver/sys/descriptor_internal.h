/* The descriptor inside: its parts in growing arrays, all data in one arena. */
#pragma once

#include "solver/sys/descriptor.h"

struct variables {
    int32_t mass, n, offset;
    bool frozen;
    double *w, *f; /* [n] */
};

struct half {
    int32_t variables, n;
    int32_t *list;    /* [n] velocities of the block, or NULL: all of them in order */
    double *jacobian; /* [rows × n] by rows */
};

/* Where entry j of a half is in its block. */
static inline int32_t mech_half_at(const struct half *h, int32_t j)
{
    return h->list ? h->list[j] : j;
}

struct constraint {
    struct mech_set set;
    uint32_t flags;
    int32_t offset, count;
    struct half *halves;
    double *b, *cfm, *l; /* [set.rows] */
};

struct stiffness {
    int32_t count, n;
    int32_t *variables;
    int32_t *at;             /* [n] offsets in w, −1: frozen; since the last close */
    struct mech_mat part[3]; /* K, R, M' [n × n] */
};

struct mech_descriptor {
    struct mech_arena arena;
    struct mech_mass *masses;
    struct variables *variables;
    struct constraint *constraints;
    struct stiffness *blocks;
    size_t mass_count, mass_room, variables_count, variables_room;
    size_t constraint_count, constraint_room, block_count, block_room;
    double a, factor[3]; /* of M; of K, R, M' */
    struct mech_descriptor_size size;
};
