/* Matrices of a descriptor from its blocks; see assemble.h. */
#include "solver/sys/assemble.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "solver/sys/descriptor_internal.h"

#include <stdlib.h>
#include <string.h>

/* triplets in a growing array */
struct triplets {
    struct mech_triplet *at;
    size_t count, room;
    bool failed;
};

static void put(struct triplets *t, int32_t row, int32_t col, double value)
{
    if (value == 0. || t->failed) {
        return;
    }
    if (t->count == t->room) {
        const size_t next = t->room ? 2 * t->room : 256;
        struct mech_triplet *const larger = realloc(t->at, next * sizeof *larger);

        if (!larger) {
            t->failed = true;
            return;
        }
        t->at = larger;
        t->room = next;
    }
    t->at[t->count++] = (struct mech_triplet){row, col, value};
}

static void put_masses(const struct mech_descriptor *d, double a, struct triplets *t)
{
    for (size_t i = 0; i < d->variables_count; i++) {
        const struct variables *const v = &d->variables[i];
        const struct mech_mass *const mass = &d->masses[v->mass];
        const int32_t reach = mech_mass_reach(mass);

        for (int32_t j = 0; j < v->n && v->offset >= 0; j++) {
            for (int32_t k = j > reach ? j - reach : 0; k <= j + reach && k < v->n; k++) {
                put(t, v->offset + k, v->offset + j, a * mech_mass_entry(mass, k, j));
            }
        }
    }
}

/* factors of K, R, M' */
static void put_stiffness(const struct mech_descriptor *d, const double factor[3],
                          struct triplets *t)
{
    for (size_t i = 0; i < d->block_count; i++) {
        const struct stiffness *const s = &d->blocks[i];

        for (int k = 0; k < 3; k++) {
            struct mech_mat_walk w = {.a = &s->part[k]};

            while (factor[k] != 0. && mech_mat_next(&w)) {
                if (s->at[w.row] >= 0 && s->at[w.col] >= 0) {
                    put(t, s->at[w.row], s->at[w.col], factor[k] * w.value);
                }
            }
        }
    }
}

/* rows of a constraint in the matrices; −1: left out. *next counts them. */
static int32_t row_of(const struct constraint *c, bool bilateral, int32_t *next)
{
    const int32_t row = *next;

    if (c->offset < 0 || (bilateral && c->set.kind != MECH_SET_BILATERAL)) {
        return -1;
    }
    *next += c->set.rows;
    return row;
}

static int32_t count_rows(const struct mech_descriptor *d, bool bilateral)
{
    int32_t rows = 0;

    for (size_t i = 0; i < d->constraint_count; i++) {
        row_of(&d->constraints[i], bilateral, &rows);
    }
    return rows;
}

/* G with its rows from `top` and columns from `left`, and transposed if requested */
struct corner {
    int32_t top, left;
    bool transposed, bilateral;
};

static void put_jacobian(const struct mech_descriptor *d, struct corner at, struct triplets *t)
{
    int32_t next = 0;

    for (size_t i = 0; i < d->constraint_count; i++) {
        const struct constraint *const c = &d->constraints[i];
        const int32_t row = row_of(c, at.bilateral, &next);

        for (int32_t k = 0; k < c->count && row >= 0; k++) {
            const struct half *const h = &c->halves[k];
            const struct variables *const v = &d->variables[h->variables];

            for (int32_t e = 0; e < c->set.rows * h->n && v->offset >= 0; e++) {
                const int32_t r = row + e / h->n, w = v->offset + mech_half_at(h, e % h->n);

                put(t, at.top + (at.transposed ? w : r), at.left + (at.transposed ? r : w),
                    h->jacobian[e]);
            }
        }
    }
}

static void put_compliance(const struct mech_descriptor *d, struct corner at, double sign,
                           struct triplets *t)
{
    int32_t next = 0;

    for (size_t i = 0; i < d->constraint_count; i++) {
        const struct constraint *const c = &d->constraints[i];
        const int32_t row = row_of(c, at.bilateral, &next);

        for (int32_t r = 0; r < c->set.rows && row >= 0; r++) {
            put(t, at.top + row + r, at.left + row + r, sign * c->cfm[r]);
        }
    }
}

/* Which halves act on each variables block, and room for one M⁻¹ Jᵀ. */
struct incidence {
    int32_t *start; /* [variables + 1] */
    int32_t *constraint, *half;
    int32_t *row; /* [constraints] in the matrix, −1: left out */
    double *x;    /* [largest block] */
};

static int find_incidence(const struct mech_descriptor *d, bool bilateral,
                          struct mech_arena *scratch, struct incidence *in)
{
    const size_t n = d->variables_count;
    size_t halves = 0, most = 1;
    int32_t next = 0;

    for (size_t i = 0; i < d->constraint_count; i++) {
        halves += (size_t)d->constraints[i].count;
    }
    for (size_t i = 0; i < n; i++) {
        most = (size_t)d->variables[i].n > most ? (size_t)d->variables[i].n : most;
    }
    in->start = mech_arena_alloc(scratch, n + 2, sizeof *in->start);
    in->constraint = mech_arena_alloc(scratch, halves, sizeof *in->constraint);
    in->half = mech_arena_alloc(scratch, halves, sizeof *in->half);
    in->row = mech_arena_alloc(scratch, d->constraint_count, sizeof *in->row);
    in->x = mech_arena_alloc(scratch, most, sizeof *in->x);
    if (!in->start || !in->constraint || !in->half || !in->row || !in->x) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < d->constraint_count; i++) {
        const struct constraint *const c = &d->constraints[i];

        in->row[i] = row_of(c, bilateral, &next);
        for (int32_t k = 0; k < c->count; k++) {
            in->start[c->halves[k].variables + 2]++;
        }
    }
    for (size_t i = 2; i < n + 2; i++) {
        in->start[i] += in->start[i - 1];
    }
    /* start[v + 1] runs from the first to behind the last of v */
    for (size_t i = 0; i < d->constraint_count; i++) {
        for (int32_t k = 0; k < d->constraints[i].count; k++) {
            const int32_t at = in->start[d->constraints[i].halves[k].variables + 1]++;

            in->constraint[at] = (int32_t)i;
            in->half[at] = k;
        }
    }
    return 0;
}

/* rows of two halves on the same variables: J_i M⁻¹ J_jᵀ / a */
static void put_pair(const struct mech_descriptor *d, const struct incidence *in, int32_t a,
                     int32_t b, struct triplets *t)
{
    const struct constraint *const ci = &d->constraints[in->constraint[a]];
    const struct constraint *const cj = &d->constraints[in->constraint[b]];
    const struct half *const hi = &ci->halves[in->half[a]], *const hj = &cj->halves[in->half[b]];
    const struct variables *const v = &d->variables[hi->variables];
    const int32_t row = in->row[in->constraint[a]], col = in->row[in->constraint[b]];

    for (int32_t c = 0; c < cj->set.rows && row >= 0 && col >= 0; c++) {
        memset(in->x, 0, (size_t)v->n * sizeof *in->x);
        for (int32_t k = 0; k < hj->n; k++) {
            in->x[mech_half_at(hj, k)] += hj->jacobian[c * hj->n + k];
        }
        mech_mass_solve(&d->masses[v->mass], in->x, in->x);
        for (int32_t r = 0; r < ci->set.rows; r++) {
            double sum = 0.;

            for (int32_t k = 0; k < hi->n; k++) {
                sum += hi->jacobian[r * hi->n + k] * in->x[mech_half_at(hi, k)];
            }
            put(t, row + r, col + c, sum / d->a);
        }
    }
}

static int put_schur(const struct mech_descriptor *d, bool bilateral, struct triplets *t)
{
    struct mech_arena scratch;
    struct incidence in;

    mech_arena_init(&scratch, 0);
    const int code = find_incidence(d, bilateral, &scratch, &in);

    for (size_t v = 0; code == 0 && v < d->variables_count; v++) {
        for (int32_t a = in.start[v]; a < in.start[v + 1] && d->variables[v].offset >= 0; a++) {
            for (int32_t b = in.start[v]; b < in.start[v + 1]; b++) {
                put_pair(d, &in, a, b, t);
            }
        }
    }
    mech_arena_fini(&scratch);
    return code;
}

static int collect(const struct mech_descriptor *d, enum mech_system_matrix which, bool bilateral,
                   struct triplets *t)
{
    const int32_t n = d->size.velocities;
    const struct corner origin = {.bilateral = bilateral};

    switch (which) {
    case MECH_SYSTEM_H:
        put_masses(d, d->a, t);
        put_stiffness(d, d->factor, t);
        break;
    case MECH_SYSTEM_M:
        put_masses(d, d->a, t);
        put_stiffness(d, (const double[3]){0., 0., d->factor[2]}, t);
        break;
    case MECH_SYSTEM_K:
        put_stiffness(d, (const double[3]){1., 0., 0.}, t);
        break;
    case MECH_SYSTEM_R:
        put_stiffness(d, (const double[3]){0., 1., 0.}, t);
        break;
    case MECH_SYSTEM_G:
        put_jacobian(d, origin, t);
        break;
    case MECH_SYSTEM_GT:
        put_jacobian(d, (struct corner){.transposed = true, .bilateral = bilateral}, t);
        break;
    case MECH_SYSTEM_E:
        put_compliance(d, origin, 1., t);
        break;
    case MECH_SYSTEM_Z:
        put_masses(d, d->a, t);
        put_stiffness(d, d->factor, t);
        put_jacobian(d, (struct corner){.top = n, .bilateral = bilateral}, t);
        put_jacobian(d, (struct corner){.left = n, .transposed = true, .bilateral = bilateral}, t);
        put_compliance(d, (struct corner){.top = n, .left = n, .bilateral = bilateral}, -1., t);
        break;
    default:
        if (!mech_descriptor_lumped(d)) {
            return MECH_UNSUPPORTED;
        }
        if (d->a == 0.) {
            return MECH_SINGULAR;
        }
        MECH_TRY(put_schur(d, bilateral, t));
        put_compliance(d, origin, 1., t);
    }
    return 0;
}

int mech_descriptor_matrix(const struct mech_descriptor *d, enum mech_system_matrix which,
                           bool bilateral, struct mech_arena *arena, struct mech_mat *out)
{
    const int32_t n = d->size.velocities, rows = count_rows(d, bilateral);
    const bool of_rows = which == MECH_SYSTEM_G || which == MECH_SYSTEM_E || which == MECH_SYSTEM_N;
    const bool of_columns =
        which == MECH_SYSTEM_GT || which == MECH_SYSTEM_E || which == MECH_SYSTEM_N;
    const int32_t all = which == MECH_SYSTEM_Z ? n + rows : n;
    struct triplets t = {.failed = false};
    int code = collect(d, which, bilateral, &t);

    code = code ? code : t.failed ? MECH_NO_MEMORY : 0;
    code = code ? code
                : mech_mat_from_triplets(arena, of_rows ? rows : all, of_columns ? rows : all, t.at,
                                         t.count, out);
    free(t.at);
    return code;
}

int32_t mech_descriptor_right_side(const struct mech_descriptor *d, bool bilateral, double *out)
{
    double *const b = out + d->size.velocities;
    int32_t next = 0;

    mech_descriptor_f(d, out);
    for (size_t i = 0; i < d->constraint_count; i++) {
        const struct constraint *const c = &d->constraints[i];
        const int32_t row = row_of(c, bilateral, &next);

        for (int32_t r = 0; r < c->set.rows && row >= 0; r++) {
            b[row + r] = -c->b[r];
        }
    }
    return next;
}
