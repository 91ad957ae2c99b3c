/* Insertion, counts and offsets, vectors of a descriptor; see descriptor.h. */
#include "solver/sys/descriptor_internal.h"

#include "solver/base/err.h"

#include <stdlib.h>
#include <string.h>

int mech_descriptor_create(struct mech_descriptor **out)
{
    struct mech_descriptor *const d = calloc(1, sizeof *d);

    *out = d;
    if (!d) {
        return MECH_NO_MEMORY;
    }
    mech_arena_init(&d->arena, 0);
    d->a = d->factor[0] = 1.;
    return 0;
}

void mech_descriptor_destroy(struct mech_descriptor *d)
{
    if (d) {
        free(d->masses);
        free(d->variables);
        free(d->constraints);
        free(d->blocks);
        mech_arena_fini(&d->arena);
        free(d);
    }
}

/* --- insertion -------------------------------------------------------------------------------- */

/* room for one more of `size` bytes; NULL: no memory */
static void *grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return array;
    }
    const size_t next = *room ? 2 * *room : 16;
    void *const larger = realloc(array, next * size);

    *room = larger ? next : *room;
    return larger;
}

/* copy of n numbers in the arena, zeros for NULL */
static int keep(struct mech_descriptor *d, const double *from, size_t n, double **out)
{
    *out = mech_arena_alloc(&d->arena, n, sizeof **out);
    if (!*out) {
        return MECH_NO_MEMORY;
    }
    if (from) {
        memcpy(*out, from, n * sizeof **out);
    }
    return 0;
}

int mech_descriptor_add_mass(struct mech_descriptor *d, const struct mech_mass *mass, int32_t *at)
{
    struct mech_mass copy = *mass;

    MECH_TRY(mech_mass_init(&d->arena, &copy));
    void *const larger = grow(d->masses, d->mass_count, &d->mass_room, sizeof *d->masses);

    if (!larger) {
        return MECH_NO_MEMORY;
    }
    d->masses = larger;
    *at = (int32_t)d->mass_count;
    d->masses[d->mass_count++] = copy;
    return 0;
}

int mech_descriptor_add_variables(struct mech_descriptor *d, const struct mech_variables *spec,
                                  int32_t *at)
{
    if (spec->mass < 0 || (size_t)spec->mass >= d->mass_count) {
        return MECH_INVALID;
    }
    struct variables v = {
        .mass = spec->mass, .n = d->masses[spec->mass].n, .offset = -1, .frozen = spec->frozen};

    MECH_TRY(keep(d, spec->w, (size_t)v.n, &v.w));
    MECH_TRY(keep(d, spec->f, (size_t)v.n, &v.f));
    void *const larger =
        grow(d->variables, d->variables_count, &d->variables_room, sizeof *d->variables);

    if (!larger) {
        return MECH_NO_MEMORY;
    }
    d->variables = larger;
    *at = (int32_t)d->variables_count;
    d->variables[d->variables_count++] = v;
    return 0;
}

static bool is_variables(const struct mech_descriptor *d, int32_t index)
{
    return index >= 0 && (size_t)index < d->variables_count;
}

static int keep_half(struct mech_descriptor *d, const struct mech_constraint_half *spec,
                     size_t rows, struct half *out)
{
    if (!is_variables(d, spec->variables)) {
        return MECH_INVALID;
    }
    const int32_t n = d->variables[spec->variables].n;

    *out = (struct half){.variables = spec->variables, .n = spec->list ? spec->listed : n};
    for (int32_t j = 0; spec->list && j < spec->listed; j++) {
        if (spec->list[j] < 0 || spec->list[j] >= n) {
            return MECH_INVALID;
        }
    }
    if (spec->list) {
        out->list = mech_arena_alloc(&d->arena, (size_t)spec->listed, sizeof *out->list);
        if (!out->list) {
            return MECH_NO_MEMORY;
        }
        memcpy(out->list, spec->list, (size_t)spec->listed * sizeof *out->list);
    }
    return keep(d, spec->jacobian, rows * (size_t)out->n, &out->jacobian);
}

int mech_descriptor_add_constraint(struct mech_descriptor *d, const struct mech_constraint *spec,
                                   int32_t *at)
{
    const size_t rows = (size_t)spec->set.rows;
    struct constraint c = {
        .set = spec->set, .flags = spec->flags, .offset = -1, .count = spec->count};

    if (spec->set.rows < 1 || spec->set.rows > MECH_SET_ROWS || spec->count < 0) {
        return MECH_INVALID;
    }
    c.halves = mech_arena_alloc(&d->arena, (size_t)spec->count, sizeof *c.halves);
    if (!c.halves) {
        return MECH_NO_MEMORY;
    }
    for (int32_t k = 0; k < spec->count; k++) {
        MECH_TRY(keep_half(d, &spec->halves[k], rows, &c.halves[k]));
    }
    MECH_TRY(keep(d, spec->b, rows, &c.b));
    MECH_TRY(keep(d, spec->cfm, rows, &c.cfm));
    MECH_TRY(keep(d, spec->l, rows, &c.l));
    void *const larger =
        grow(d->constraints, d->constraint_count, &d->constraint_room, sizeof *d->constraints);

    if (!larger) {
        return MECH_NO_MEMORY;
    }
    d->constraints = larger;
    *at = (int32_t)d->constraint_count;
    d->constraints[d->constraint_count++] = c;
    return 0;
}

/* a dense array, a matrix of any form, or neither */
static int keep_part(struct mech_descriptor *d, const double *dense, const struct mech_mat *mat,
                     int32_t n, struct mech_mat *out)
{
    *out = (struct mech_mat){.kind = MECH_MAT_ZERO, .rows = n, .cols = n};
    if (dense) {
        out->kind = MECH_MAT_DENSE;
        return keep(d, dense, (size_t)n * (size_t)n, &out->values);
    }
    if (mat && (mat->rows != n || mat->cols != n)) {
        return MECH_INVALID;
    }
    return mat ? mech_mat_copy(&d->arena, mat, out) : 0;
}

int mech_descriptor_add_stiffness(struct mech_descriptor *d, const struct mech_stiffness *spec,
                                  int32_t *at)
{
    struct stiffness s = {.count = spec->count};
    const double *const from[] = {spec->K, spec->R, spec->M};
    const struct mech_mat *const mats[] = {spec->K_mat, spec->R_mat, spec->M_mat};

    if (spec->count < 1) {
        return MECH_INVALID;
    }
    s.variables = mech_arena_alloc(&d->arena, (size_t)spec->count, sizeof *s.variables);
    if (!s.variables) {
        return MECH_NO_MEMORY;
    }
    for (int32_t k = 0; k < spec->count; k++) {
        if (!is_variables(d, spec->variables[k])) {
            return MECH_INVALID;
        }
        s.variables[k] = spec->variables[k];
        s.n += d->variables[spec->variables[k]].n;
    }
    s.at = mech_arena_alloc(&d->arena, (size_t)s.n, sizeof *s.at);
    if (!s.at) {
        return MECH_NO_MEMORY;
    }
    for (int k = 0; k < 3; k++) {
        MECH_TRY(keep_part(d, from[k], mats[k], s.n, &s.part[k]));
    }
    void *const larger = grow(d->blocks, d->block_count, &d->block_room, sizeof *d->blocks);

    if (!larger) {
        return MECH_NO_MEMORY;
    }
    d->blocks = larger;
    *at = (int32_t)d->block_count;
    d->blocks[d->block_count++] = s;
    return 0;
}

/* --- changes, counts, offsets ----------------------------------------------------------------- */

void mech_descriptor_freeze(struct mech_descriptor *d, int32_t variables, bool frozen)
{
    d->variables[variables].frozen = frozen;
}

void mech_descriptor_flag(struct mech_descriptor *d, int32_t constraint, uint32_t flags)
{
    d->constraints[constraint].flags = flags;
}

void mech_descriptor_mass_factor(struct mech_descriptor *d, double a)
{
    d->a = a;
}

double mech_descriptor_get_mass_factor(const struct mech_descriptor *d)
{
    return d->a;
}

void mech_descriptor_stiffness_factors(struct mech_descriptor *d, double k, double r, double m)
{
    d->factor[0] = k;
    d->factor[1] = r;
    d->factor[2] = m;
}

bool mech_descriptor_lumped(const struct mech_descriptor *d)
{
    for (size_t i = 0; i < d->variables_count; i++) {
        if (d->variables[i].offset >= 0 && d->masses[d->variables[i].mass].kind == MECH_MASS_NONE) {
            return false;
        }
    }
    for (size_t i = 0; i < d->block_count; i++) {
        for (int k = 0; k < 3; k++) {
            if (d->factor[k] != 0. && d->blocks[i].part[k].kind != MECH_MAT_ZERO) {
                return false;
            }
        }
    }
    return true;
}

struct mech_descriptor_size mech_descriptor_close(struct mech_descriptor *d)
{
    d->size = (struct mech_descriptor_size){.variables = (int32_t)d->variables_count,
                                            .constraints = (int32_t)d->constraint_count,
                                            .blocks = (int32_t)d->block_count};
    for (size_t i = 0; i < d->variables_count; i++) {
        struct variables *const v = &d->variables[i];

        v->offset = v->frozen ? -1 : d->size.velocities;
        d->size.velocities += v->frozen ? 0 : v->n;
        d->size.frozen += v->frozen;
    }
    for (size_t i = 0; i < d->constraint_count; i++) {
        struct constraint *const c = &d->constraints[i];

        c->offset = c->flags ? -1 : d->size.rows;
        d->size.rows += c->flags ? 0 : c->set.rows;
    }
    for (size_t i = 0; i < d->block_count; i++) {
        const struct stiffness *const s = &d->blocks[i];
        int32_t at = 0;

        for (int32_t p = 0; p < s->count; p++) {
            const struct variables *const v = &d->variables[s->variables[p]];

            for (int32_t j = 0; j < v->n; j++) {
                s->at[at++] = v->offset < 0 ? -1 : v->offset + j;
            }
        }
    }
    return d->size;
}

struct mech_descriptor_size mech_descriptor_sizes(const struct mech_descriptor *d)
{
    return d->size;
}

int32_t mech_descriptor_variables_offset(const struct mech_descriptor *d, int32_t variables)
{
    return d->variables[variables].offset;
}

int32_t mech_descriptor_constraint_offset(const struct mech_descriptor *d, int32_t constraint)
{
    return d->constraints[constraint].offset;
}

/* --- vectors ---------------------------------------------------------------------------------- */

void mech_descriptor_f(const struct mech_descriptor *d, double *f)
{
    for (size_t i = 0; i < d->variables_count; i++) {
        const struct variables *const v = &d->variables[i];

        if (v->offset >= 0) {
            memcpy(f + v->offset, v->f, (size_t)v->n * sizeof *f);
        }
    }
}

void mech_descriptor_b(const struct mech_descriptor *d, double *b)
{
    for (size_t i = 0; i < d->constraint_count; i++) {
        const struct constraint *const c = &d->constraints[i];

        if (c->offset >= 0) {
            memcpy(b + c->offset, c->b, (size_t)c->set.rows * sizeof *b);
        }
    }
}

void mech_descriptor_d(const struct mech_descriptor *d, double *out)
{
    double *const b = out + d->size.velocities;

    mech_descriptor_f(d, out);
    mech_descriptor_b(d, b);
    for (int32_t i = 0; i < d->size.rows; i++) {
        b[i] = -b[i];
    }
}

void mech_descriptor_get_w(const struct mech_descriptor *d, double *w)
{
    for (size_t i = 0; i < d->variables_count; i++) {
        const struct variables *const v = &d->variables[i];

        if (v->offset >= 0) {
            memcpy(w + v->offset, v->w, (size_t)v->n * sizeof *w);
        }
    }
}

void mech_descriptor_get_l(const struct mech_descriptor *d, double *l)
{
    for (size_t i = 0; i < d->constraint_count; i++) {
        const struct constraint *const c = &d->constraints[i];

        if (c->offset >= 0) {
            memcpy(l + c->offset, c->l, (size_t)c->set.rows * sizeof *l);
        }
    }
}

void mech_descriptor_get_unknowns(const struct mech_descriptor *d, double *out)
{
    mech_descriptor_get_w(d, out);
    mech_descriptor_get_l(d, out + d->size.velocities);
}

void mech_descriptor_set_w(struct mech_descriptor *d, const double *w)
{
    for (size_t i = 0; i < d->variables_count; i++) {
        struct variables *const v = &d->variables[i];

        if (v->offset >= 0) {
            memcpy(v->w, w + v->offset, (size_t)v->n * sizeof *w);
        }
    }
}

void mech_descriptor_set_l(struct mech_descriptor *d, const double *l)
{
    for (size_t i = 0; i < d->constraint_count; i++) {
        struct constraint *const c = &d->constraints[i];

        if (c->offset >= 0) {
            memcpy(c->l, l + c->offset, (size_t)c->set.rows * sizeof *l);
        }
    }
}

void mech_descriptor_set_unknowns(struct mech_descriptor *d, const double *x)
{
    mech_descriptor_set_w(d, x);
    mech_descriptor_set_l(d, x + d->size.velocities);
}

int32_t mech_descriptor_sets(const struct mech_descriptor *d, struct mech_set *out)
{
    int32_t count = 0;

    for (size_t i = 0; i < d->constraint_count; i++) {
        if (d->constraints[i].offset >= 0) {
            out[count++] = d->constraints[i].set;
        }
    }
    return count;
}
