/* The descriptor inside: its parts in growing arrays, all data in one arena. */
#pragma once

#include "solver/sys/descriptor.h"

struct variables {
    int32_t mass, n, offset;
    bool frozen;
    double *w, *f; /* [n] */
};

struct half {
    int32_t variables;
    double *jacobian; /* [rows × n] by rows */
};

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
    double *K, *R, *M; /* [n × n] by columns, or NULL */
};

struct mech_descriptor {
    struct mech_arena arena;
    struct mech_mass *masses;
    struct variables *variables;
    struct constraint *constraints;
    struct stiffness *blocks;
    size_t mass_count, mass_room, variables_count, variables_room;
    size_t constraint_count, constraint_room, block_count, block_room;
    double a, k, r, m;
    struct mech_descriptor_size size;
};

/* Coefficient (row, column) of a stiffness block with the present factors. */
double mech_stiffness_entry(const struct mech_descriptor *d, const struct stiffness *s, size_t at);
