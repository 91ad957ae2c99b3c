/* Descriptors to bytes and back; see archive.h. One walk writes, counts (bytes NULL) and another
 * reads through the same functions that insert, so that a damaged archive is refused as a wrong
 * insertion would be. */
#include "solver/sys/archive.h"

#include "solver/base/err.h"
#include "solver/base/hash.h"
#include "solver/linalg/mat_walk.h"
#include "solver/sys/descriptor_internal.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t magic = 0x3253444453434d4du; /* "MMCSDDS2" */

/* --- writing ---------------------------------------------------------------------------------- */

struct writer {
    unsigned char *bytes; /* NULL: counts only */
    size_t size;
};

static void write_bytes(struct writer *w, const void *from, size_t size)
{
    if (w->bytes && size) {
        memcpy(w->bytes + w->size, from, size);
    }
    w->size += size;
}

static void write_number(struct writer *w, int64_t x)
{
    write_bytes(w, &x, sizeof x);
}

static void write_doubles(struct writer *w, const double *x, size_t n)
{
    write_number(w, x ? (int64_t)n : -1);
    if (x) {
        write_bytes(w, x, n * sizeof *x);
    }
}

static void write_mass(struct writer *w, const struct mech_mass *m)
{
    write_number(w, m->kind);
    write_number(w, m->n);
    write_number(w, m->half);
    write_bytes(w, &m->m, sizeof m->m);
    write_bytes(w, m->J, sizeof m->J);
    write_doubles(w, m->values, (size_t)mech_mass_values(m));
}

static void write_constraint(struct writer *w, const struct constraint *c)
{
    const size_t rows = (size_t)c->set.rows;
    const double numbers[] = {c->set.mu, c->set.spinning, c->set.rolling, c->set.lower,
                              c->set.upper};

    write_number(w, c->set.kind);
    write_number(w, c->set.rows);
    write_number(w, c->flags);
    write_number(w, c->count);
    write_bytes(w, numbers, sizeof numbers);
    write_doubles(w, c->b, rows);
    write_doubles(w, c->cfm, rows);
    write_doubles(w, c->l, rows);
    for (int32_t k = 0; k < c->count; k++) {
        const struct half *const h = &c->halves[k];

        write_number(w, h->variables);
        write_number(w, h->list ? h->n : -1);
        for (int32_t j = 0; h->list && j < h->n; j++) {
            write_number(w, h->list[j]);
        }
        write_doubles(w, h->jacobian, rows * (size_t)h->n);
    }
}

/* the stored places, one after the other */
static void write_matrix(struct writer *w, const struct mech_mat *a)
{
    struct mech_mat_walk count = {.a = a}, walk = {.a = a};
    int64_t n = 0;

    while (mech_mat_next(&count)) {
        n++;
    }
    write_number(w, n);
    while (mech_mat_next(&walk)) {
        write_number(w, walk.row);
        write_number(w, walk.col);
        write_bytes(w, &walk.value, sizeof walk.value);
    }
}

static void write_stiffness(struct writer *w, const struct stiffness *s)
{
    write_number(w, s->count);
    for (int32_t k = 0; k < s->count; k++) {
        write_number(w, s->variables[k]);
    }
    for (int k = 0; k < 3; k++) {
        write_matrix(w, &s->part[k]);
    }
}

static void write_all(struct writer *w, const struct mech_descriptor *d)
{
    const double factors[] = {d->a, d->factor[0], d->factor[1], d->factor[2]};

    write_bytes(w, &magic, sizeof magic);
    write_number(w, (int64_t)d->mass_count);
    write_number(w, (int64_t)d->variables_count);
    write_number(w, (int64_t)d->constraint_count);
    write_number(w, (int64_t)d->block_count);
    write_bytes(w, factors, sizeof factors);
    for (size_t i = 0; i < d->mass_count; i++) {
        write_mass(w, &d->masses[i]);
    }
    for (size_t i = 0; i < d->variables_count; i++) {
        write_number(w, d->variables[i].mass);
        write_number(w, d->variables[i].frozen);
        write_doubles(w, d->variables[i].w, (size_t)d->variables[i].n);
        write_doubles(w, d->variables[i].f, (size_t)d->variables[i].n);
    }
    for (size_t i = 0; i < d->constraint_count; i++) {
        write_constraint(w, &d->constraints[i]);
    }
    for (size_t i = 0; i < d->block_count; i++) {
        write_stiffness(w, &d->blocks[i]);
    }
}

size_t mech_descriptor_bytes(const struct mech_descriptor *d)
{
    struct writer w = {NULL, 0};

    write_all(&w, d);
    return w.size + sizeof(uint64_t);
}

void mech_descriptor_save(const struct mech_descriptor *d, unsigned char *bytes)
{
    struct writer w = {bytes, 0};

    write_all(&w, d);
    const uint64_t hash = mech_hash(bytes, w.size, 0);

    write_bytes(&w, &hash, sizeof hash);
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reader {
    const unsigned char *bytes;
    size_t left;
    bool failed;
    struct mech_arena scratch;
};

static void read_bytes(struct reader *r, void *to, size_t size)
{
    memset(to, 0, size);
    if (r->failed || size > r->left) {
        r->failed = true;
        return;
    }
    memcpy(to, r->bytes, size);
    r->bytes += size;
    r->left -= size;
}

/* in 0 … most */
static int32_t read_number(struct reader *r, int64_t most)
{
    int64_t x;

    read_bytes(r, &x, sizeof x);
    r->failed |= x < 0 || x > most;
    return r->failed ? 0 : (int32_t)x;
}

/* a copy in the scratch arena, NULL when none was written; n: how many there must be, −1: any */
static double *read_doubles(struct reader *r, int64_t n)
{
    int64_t count;

    read_bytes(r, &count, sizeof count);
    if (count == -1) {
        return NULL;
    }
    if (r->failed || count < 0 || (size_t)count > r->left / sizeof(double) ||
        (n >= 0 && n != count)) {
        r->failed = true;
        return NULL;
    }
    double *const x = mech_arena_alloc(&r->scratch, (size_t)count, sizeof *x);

    if (!x) {
        r->failed = true;
        return NULL;
    }
    read_bytes(r, x, (size_t)count * sizeof *x);
    return x;
}

static int load_mass(struct reader *r, struct mech_descriptor *d)
{
    struct mech_mass mass = {.kind = (enum mech_mass_kind)read_number(r, MECH_MASS_KINDS - 1)};
    int32_t at;

    mass.n = read_number(r, 1 << 26);
    mass.half = read_number(r, mass.n);
    read_bytes(r, &mass.m, sizeof mass.m);
    read_bytes(r, mass.J, sizeof mass.J);
    const int64_t values = mech_mass_values(&mass);

    mass.values = read_doubles(r, values);
    if (!mass.values && values > 0) {
        return MECH_MISMATCH;
    }
    return r->failed ? MECH_MISMATCH : mech_descriptor_add_mass(d, &mass, &at);
}

static int load_variables(struct reader *r, struct mech_descriptor *d)
{
    struct mech_variables v = {.mass = read_number(r, (int64_t)d->mass_count - 1)};
    int32_t at;

    if (r->failed) {
        return MECH_MISMATCH;
    }
    v.frozen = read_number(r, 1) != 0;
    v.w = read_doubles(r, d->masses[v.mass].n);
    v.f = read_doubles(r, d->masses[v.mass].n);
    return r->failed ? MECH_MISMATCH : mech_descriptor_add_variables(d, &v, &at);
}

static void load_half(struct reader *r, const struct mech_descriptor *d, int32_t rows,
                      struct mech_constraint_half *out)
{
    const int32_t v = read_number(r, (int64_t)d->variables_count - 1);
    int64_t listed = 0;

    read_bytes(r, &listed, sizeof listed);
    if (r->failed || listed < -1 || listed > (int64_t)(r->left / sizeof listed)) {
        r->failed = true;
        return;
    }
    *out = (struct mech_constraint_half){.variables = v, .listed = (int32_t)listed};
    int32_t *const list =
        listed < 0 ? NULL : mech_arena_alloc(&r->scratch, (size_t)listed, sizeof *list);

    for (int64_t j = 0; list && j < listed; j++) {
        list[j] = read_number(r, d->variables[v].n - 1);
    }
    r->failed |= listed >= 0 && !list;
    out->list = list;
    out->jacobian = r->failed ? NULL : read_doubles(r, rows * (list ? listed : d->variables[v].n));
}

static int load_constraint(struct reader *r, struct mech_descriptor *d)
{
    struct mech_constraint c = {.set.kind = (enum mech_set_kind)read_number(r, MECH_SET_ROLLING)};
    double numbers[5];
    int32_t at;

    c.set.rows = read_number(r, MECH_SET_ROWS);
    c.flags = (uint32_t)read_number(r, 31);
    c.count = read_number(r, (int64_t)(r->left / sizeof(int64_t)));
    read_bytes(r, numbers, sizeof numbers);
    c.set.mu = numbers[0];
    c.set.spinning = numbers[1];
    c.set.rolling = numbers[2];
    c.set.lower = numbers[3];
    c.set.upper = numbers[4];
    c.b = read_doubles(r, c.set.rows);
    c.cfm = read_doubles(r, c.set.rows);
    c.l = read_doubles(r, c.set.rows);
    struct mech_constraint_half *const halves =
        mech_arena_alloc(&r->scratch, (size_t)c.count, sizeof *halves);

    if (!halves || r->failed) {
        return MECH_MISMATCH;
    }
    for (int32_t k = 0; k < c.count && !r->failed; k++) {
        load_half(r, d, c.set.rows, &halves[k]);
    }
    c.halves = halves;
    return r->failed ? MECH_MISMATCH : mech_descriptor_add_constraint(d, &c, &at);
}

static void load_matrix(struct reader *r, int32_t n, struct mech_mat *out)
{
    enum { BYTES = 24 }; /* of one place */
    const int32_t count = read_number(r, (int64_t)(r->left / BYTES));
    struct mech_triplet *const t = mech_arena_alloc(&r->scratch, (size_t)count, sizeof *t);

    for (int32_t k = 0; k < count && t && !r->failed; k++) {
        t[k].row = read_number(r, n - 1);
        t[k].col = read_number(r, n - 1);
        read_bytes(r, &t[k].value, sizeof t[k].value);
    }
    r->failed |= !t;
    r->failed = r->failed || mech_mat_from_triplets(&r->scratch, n, n, t, (size_t)count, out) != 0;
}

static int load_stiffness(struct reader *r, struct mech_descriptor *d)
{
    const int32_t count = read_number(r, (int64_t)(r->left / sizeof(int64_t)));
    int32_t *const variables = mech_arena_alloc(&r->scratch, (size_t)count, sizeof *variables);
    struct mech_stiffness s = {.variables = variables, .count = count};
    struct mech_mat mats[3];
    int64_t n = 0;
    int32_t at;

    for (int32_t k = 0; k < count && variables && !r->failed; k++) {
        variables[k] = read_number(r, (int64_t)d->variables_count - 1);
        n += r->failed ? 0 : d->variables[variables[k]].n;
    }
    if (!variables || r->failed) {
        return MECH_MISMATCH;
    }
    if (n > INT32_MAX) {
        return MECH_MISMATCH;
    }
    for (int k = 0; k < 3 && !r->failed; k++) {
        load_matrix(r, (int32_t)n, &mats[k]);
    }
    s.K_mat = &mats[0];
    s.R_mat = &mats[1];
    s.M_mat = &mats[2];
    return r->failed ? MECH_MISMATCH : mech_descriptor_add_stiffness(d, &s, &at);
}

static int load_all(struct reader *r, struct mech_descriptor *d)
{
    static int (*const load[])(struct reader *, struct mech_descriptor *) = {
        load_mass, load_variables, load_constraint, load_stiffness};
    int32_t counts[4];
    double factors[4];

    for (int k = 0; k < 4; k++) {
        counts[k] = read_number(r, (int64_t)(r->left / sizeof(int64_t)));
    }
    read_bytes(r, factors, sizeof factors);
    for (int k = 0; k < 4; k++) {
        for (int32_t i = 0; i < counts[k]; i++) {
            const int code = load[k](r, d);

            if (code) {
                return code < 0 ? code : MECH_MISMATCH;
            }
        }
    }
    mech_descriptor_mass_factor(d, factors[0]);
    mech_descriptor_stiffness_factors(d, factors[1], factors[2], factors[3]);
    mech_descriptor_close(d);
    return r->failed || r->left ? MECH_MISMATCH : 0;
}

int mech_descriptor_load(const unsigned char *bytes, size_t size, struct mech_descriptor **out)
{
    struct reader r = {.bytes = bytes, .left = size};
    uint64_t first, hash;

    *out = NULL;
    if (size < 2 * sizeof hash) {
        return MECH_MISMATCH;
    }
    memcpy(&hash, bytes + size - sizeof hash, sizeof hash);
    r.left -= sizeof hash;
    read_bytes(&r, &first, sizeof first);
    if (first != magic || hash != mech_hash(bytes, size - sizeof hash, 0)) {
        return MECH_MISMATCH;
    }
    MECH_TRY(mech_descriptor_create(out));
    mech_arena_init(&r.scratch, 0);
    const int code = load_all(&r, *out);

    mech_arena_fini(&r.scratch);
    if (code) {
        mech_descriptor_destroy(*out);
        *out = NULL;
    }
    return code;
}
