/* Matrices and vectors of a simulation's descriptor; see system.h. */
#include "solver/base/err.h"
#include "solver/sim/system_internal.h"
#include "solver/sys/archive.h"
#include "solver/sys/assemble.h"
#include "solver/sys/dump.h"

#include <stdlib.h>
#include <string.h>

/* most rows of an N whose columns are back-substitutions */
enum { SCHUR_ROWS_MOST = 4096 };

/* In the order of `parts`. */
enum part {
    PART_H,
    PART_M,
    PART_K,
    PART_C,
    PART_R,
    PART_CQ,
    PART_CQT,
    PART_E,
    PART_Z,
    PART_N,
    PART_F,
    PART_B,
    PART_D,
    PART_DIAGONAL,
    PART_W,
    PART_L,
    PART_UNKNOWNS,
    PARTS
};

static const struct mech_system_part parts[PARTS] = {
    [PART_H] = {"H", "mass M + stiffness K + damping C", false},
    [PART_M] = {"M", "mass matrix, times its factor", false},
    [PART_K] = {"K", "derivative of the resisting forces with respect to motions", false},
    [PART_C] = {"C", "derivative of the resisting forces with respect to velocities", false},
    [PART_R] = {"R", "the same as C", false},
    [PART_CQ] = {"Cq", "Jacobian of the constraints", false},
    [PART_CQT] = {"CqT", "its transpose", false},
    [PART_E] = {"E", "compliance of the constraints, -cfm", false},
    [PART_Z] = {"Z", "the whole matrix [H CqT; Cq E] of {w; -l}", false},
    [PART_N] = {"N", "Cq H^-1 CqT - E of the multipliers", false},
    [PART_F] = {"f", "known terms of the variables", true},
    [PART_B] = {"b", "known terms of the constraints", true},
    [PART_D] = {"d", "{f; -b}", true},
    [PART_DIAGONAL] = {"diagonal", "diagonal of Z", true},
    [PART_W] = {"w", "unknowns of the variables, as they are in the state", true},
    [PART_L] = {"l", "multipliers, as they are in the state", true},
    [PART_UNKNOWNS] = {"unknowns", "{w; l}", true},
};

const struct mech_system_part *mech_system_part(int i)
{
    return i >= 0 && i < PARTS ? &parts[i] : NULL;
}

int mech_sim_system_find(const char *name)
{
    for (int i = 0; i < PARTS; i++) {
        if (strcmp(parts[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

void mech_sim_system_size(const struct mech_sim_system *s, int part, int32_t *rows, int32_t *cols)
{
    const int32_t w = s->info.size.velocities, l = s->info.rows;

    switch ((enum part)part) {
    case PART_CQ:
        *rows = l;
        *cols = w;
        break;
    case PART_CQT:
        *rows = w;
        *cols = l;
        break;
    case PART_E:
    case PART_N:
        *rows = *cols = l;
        break;
    case PART_Z:
        *rows = *cols = w + l;
        break;
    case PART_F:
    case PART_W:
        *rows = w;
        *cols = 1;
        break;
    case PART_B:
    case PART_L:
        *rows = l;
        *cols = 1;
        break;
    case PART_D:
    case PART_DIAGONAL:
    case PART_UNKNOWNS:
        *rows = w + l;
        *cols = 1;
        break;
    default:
        *rows = *cols = w;
    }
}

void mech_sim_system_vector(const struct mech_sim_system *s, int part, double *out)
{
    const struct mech_descriptor *const d = s->system->descriptor;
    const int32_t w = s->info.size.velocities;
    double *l = out + w; /* the part of rows */

    switch ((enum part)part) {
    case PART_F:
        mech_descriptor_f(d, out);
        return;
    case PART_W:
        mech_descriptor_get_w(d, out);
        return;
    case PART_B:
        mech_descriptor_b(d, l = out);
        break;
    case PART_L:
        mech_descriptor_get_l(d, l = out);
        break;
    case PART_D:
        mech_descriptor_d(d, out);
        break;
    case PART_UNKNOWNS:
        mech_descriptor_get_unknowns(d, out);
        break;
    case PART_DIAGONAL:
        mech_descriptor_diagonal(d, out);
        for (int32_t r = 0; r < s->info.size.rows; r++) {
            l[r] = -l[r];
        }
        break;
    default:
        return;
    }
    /* kept rows ascend: the others are closed up in place */
    for (int32_t r = 0; r < s->info.rows; r++) {
        l[r] = l[s->kept[r]];
    }
}

/* N where H is not block-diagonal: a back-substitution for each column. */
static int schur_entries(struct mech_sim_system *s, struct mech_arena *arena,
                         struct mech_triplet **entries, size_t *count)
{
    const size_t all = (size_t)s->info.size.rows, rows = (size_t)s->info.rows;
    double *const l = calloc(2 * all + 1, sizeof *l), *const out = l ? l + all : NULL;
    int code = l ? 0 : MECH_NO_MEMORY;

    *count = 0;
    *entries = mech_arena_alloc(arena, rows * rows, sizeof **entries);
    code = *entries ? code : MECH_NO_MEMORY;
    for (size_t j = 0; j < rows && code == 0; j++) {
        l[s->kept[j]] = 1.;
        code = mech_sim_system_schur(s, MECH_THROUGH_H, NULL, l, out);
        l[s->kept[j]] = 0.;
        for (size_t i = 0; i < rows && code == 0; i++) {
            if (out[s->kept[i]] != 0.) {
                (*entries)[(*count)++] =
                    (struct mech_triplet){(int32_t)i, (int32_t)j, out[s->kept[i]]};
            }
        }
    }
    free(l);
    return code;
}

/* A matrix of the descriptor, or N in `arena`. */
static int matrix(struct mech_sim_system *s, int part, struct mech_arena *arena,
                  struct mech_mat *out)
{
    static const enum mech_system_matrix which[] = {
        [PART_H] = MECH_SYSTEM_H, [PART_M] = MECH_SYSTEM_M,    [PART_K] = MECH_SYSTEM_K,
        [PART_C] = MECH_SYSTEM_R, [PART_R] = MECH_SYSTEM_R,    [PART_CQ] = MECH_SYSTEM_G,
        [PART_E] = MECH_SYSTEM_E, [PART_CQT] = MECH_SYSTEM_GT, [PART_Z] = MECH_SYSTEM_Z,
        [PART_N] = MECH_SYSTEM_N,
    };
    struct mech_triplet *t = NULL;
    size_t count = 0;

    if (part == PART_N && !s->info.lumped) {
        if (s->info.rows > SCHUR_ROWS_MOST) {
            return MECH_UNSUPPORTED;
        }
        MECH_TRY(schur_entries(s, arena, &t, &count));
        return mech_mat_from_triplets(arena, s->info.rows, s->info.rows, t, count, out);
    }
    return mech_descriptor_matrix(s->system->descriptor, which[part], s->bilateral, arena, out);
}

int mech_sim_system_entries(struct mech_sim_system *s, int part, struct mech_arena *arena,
                            struct mech_triplet **entries, size_t *count)
{
    struct mech_mat A;

    *count = 0;
    MECH_TRY(matrix(s, part, arena, &A));
    if (A.kind == MECH_MAT_ZERO) {
        return 0;
    }
    MECH_TRY(mech_mat_triplets(arena, &A, entries, count));
    for (size_t k = 0; k < *count && part == PART_E; k++) {
        (*entries)[k].value = -(*entries)[k].value;
    }
    return 0;
}

static int vector_text(struct mech_sim_system *s, int part, enum mech_dump_format format,
                       char **text)
{
    const size_t most = (size_t)s->info.size.velocities + (size_t)s->info.size.rows;
    double *const x = calloc(most + 1, sizeof *x);
    int32_t rows, cols;

    if (!x) {
        return MECH_NO_MEMORY;
    }
    mech_sim_system_size(s, part, &rows, &cols);
    mech_sim_system_vector(s, part, x);
    const int code = mech_dump_vector(x, rows, format, text);

    free(x);
    return code;
}

int mech_sim_system_text(struct mech_sim_system *s, int part, bool coordinates, char **text)
{
    const enum mech_dump_format format =
        coordinates ? MECH_DUMP_COORDINATES : MECH_DUMP_MATRIX_MARKET;
    struct mech_triplet *t = NULL;
    struct mech_arena arena;
    struct mech_mat A;
    int32_t rows, cols;
    size_t count;

    *text = NULL;
    if (parts[part].vector) {
        return vector_text(s, part, format, text);
    }
    mech_sim_system_size(s, part, &rows, &cols);
    mech_arena_init(&arena, 0);
    int code = mech_sim_system_entries(s, part, &arena, &t, &count);

    code = code ? code : mech_mat_from_triplets(&arena, rows, cols, t, count, &A);
    code = code ? code : mech_dump_matrix(&A, format, text);
    mech_arena_fini(&arena);
    return code;
}

int mech_sim_system_archive(const struct mech_sim_system *s, unsigned char **bytes, size_t *size)
{
    *size = mech_descriptor_bytes(s->system->descriptor);
    *bytes = malloc(*size);
    if (!*bytes) {
        return MECH_NO_MEMORY;
    }
    mech_descriptor_save(s->system->descriptor, *bytes);
    return 0;
}
