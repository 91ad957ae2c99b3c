/* Variables, masses and stiffness blocks of a model; see to_sys.h. Entries of M, C and K are sorted
 * by the pair of owners that they couple; each pair that remains is a block. */
#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "solver/model/to_sys_internal.h"

#include <stdlib.h>
#include <string.h>

enum { PART_K, PART_R, PART_M };

/* Most velocities of a dense mass block: beyond, its factor costs more than the system's. */
enum { DENSE_MOST = 512 };

/* --- owners ----------------------------------------------------------------------------------- */

/* Blocks of variables by the velocities that an item owns; those of one are adjacent. */
static int find_owners(struct mech_system_build *b)
{
    const struct mech_model *const m = b->m;
    const size_t nodes = m->document->nodes.n, objects = m->document->objects.n;
    const size_t nv = (size_t)m->sizes.v;
    struct mech_system *const s = b->out;
    int32_t *const item = mech_arena_alloc(&b->scratch, nv, sizeof *item);

    b->owner = mech_arena_alloc(&b->scratch, nv, sizeof *b->owner);
    s->variables = mech_arena_alloc(&s->arena, nv, sizeof *s->variables);
    if (!item || !b->owner || !s->variables) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < nodes + objects; i++) {
        const struct mech_seat_of *const on =
            i < nodes ? &m->kinematics.nodes[i] : &m->kinematics.objects[i - nodes];
        const bool owns = i < nodes || m->document->objects.at[i - nodes].type->ops.object->own;

        for (int32_t k = 0; k < on->n && owns && !on->first_order; k++) {
            item[on->slot[k]] = (int32_t)i;
        }
    }
    for (size_t i = 0; i < nv; i++) {
        if (i == 0 || item[i] != item[i - 1]) {
            const bool node = (size_t)item[i] < nodes;

            s->variables[s->variables_count++] = (struct mech_system_variables){
                .category = node ? MECH_NODE : MECH_OBJECT,
                .item = node ? item[i] : item[i] - (int32_t)nodes,
                .first = (int32_t)i,
            };
        }
        b->owner[i] = s->variables_count - 1;
        s->variables[b->owner[i]].n++;
    }
    return 0;
}

/* --- entries ---------------------------------------------------------------------------------- */

/* One coefficient between velocities of the owners a ≤ b, rows and columns counted over both. */
struct entry {
    int32_t a, b, part;
    struct mech_triplet at;
};

static int compare(const void *x, const void *y)
{
    const struct entry *const p = x, *const q = y;

    return p->a != q->a         ? (p->a < q->a ? -1 : 1)
           : p->b != q->b       ? (p->b < q->b ? -1 : 1)
           : p->part != q->part ? (p->part < q->part ? -1 : 1)
                                : 0;
}

static int32_t place(const struct mech_system_build *b, const struct entry *e, int32_t slot)
{
    const struct mech_system_variables *const v = b->out->variables;
    const int32_t own = b->owner[slot];

    return slot - v[own].first + (own != e->a ? v[e->a].n : 0);
}

static int collect(const struct mech_system_build *b, struct entry **out, size_t *count)
{
    const struct mech_mat *const from[] = {b->terms->K, b->terms->C, b->terms->M};
    size_t most = 0;

    for (int k = 0; k < 3; k++) {
        most += mech_mat_stored(from[k]);
    }
    *out = malloc((most + 1) * sizeof **out);
    *count = 0;
    if (!*out) {
        return MECH_NO_MEMORY;
    }
    for (int k = 0; k < 3; k++) {
        struct mech_mat_walk w = {.a = from[k]};

        while (mech_mat_next(&w)) {
            const int32_t p = b->owner[w.row], q = b->owner[w.col];
            struct entry *const e = &(*out)[*count];

            if (w.value != 0.) {
                *e = (struct entry){.a = p < q ? p : q, .b = p < q ? q : p, .part = k};
                e->at = (struct mech_triplet){place(b, e, w.row), place(b, e, w.col), w.value};
                ++*count;
            }
        }
    }
    qsort(*out, *count, sizeof **out, compare);
    return 0;
}

/* --- masses ----------------------------------------------------------------------------------- */

/* m, m, m and an inertia, without any coupling: m 1 and J */
static bool is_body(const struct entry *e, size_t count, struct mech_mass *mass)
{
    double d[3] = {0.};

    memset(mass->J, 0, sizeof mass->J);
    for (size_t k = 0; k < count; k++) {
        const struct mech_triplet t = e[k].at;

        if (t.row >= 3 && t.col >= 3) {
            mass->J[3 * (t.row - 3) + t.col - 3] = t.value;
        } else if (t.row == t.col) {
            d[t.row] = t.value;
        } else {
            return false;
        }
    }
    mass->m = d[0];
    return d[1] == d[0] && d[2] == d[0];
}

/* values of a mass block with its entries, at most `half` from the diagonal */
static int fill(struct mech_system_build *b, const struct entry *e, size_t count, int32_t half,
                struct mech_mass *mass)
{
    const bool equal = mass->kind == MECH_MASS_DIAGONAL;
    double *x;

    mass->half = half;
    mass->values = x =
        mech_arena_alloc(&b->out->arena, (size_t)mech_mass_values(mass), sizeof *mass->values);
    if (!x) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < count; k++) {
        const struct mech_triplet t = e[k].at;
        const size_t n = (size_t)mass->n, row = (size_t)t.row, col = (size_t)t.col;

        x[equal                           ? row
          : mass->kind == MECH_MASS_DENSE ? col * n + row
                                          : (col + (size_t)half - row) * n + row] = t.value;
    }
    return 0;
}

/* The leanest mass that holds the entries of one owner. */
static int find_mass(struct mech_system_build *b, const struct entry *e, size_t count, int32_t n,
                     struct mech_mass *mass)
{
    int32_t half = 0;

    *mass = (struct mech_mass){.kind = MECH_MASS_NONE, .n = n};
    for (size_t k = 0; k < count; k++) {
        const int32_t apart = abs(e[k].at.row - e[k].at.col);

        half = apart > half ? apart : half;
    }
    if (count == 0) {
        return 0;
    }
    if (n == 1) {
        mass->kind = MECH_MASS_SHAFT;
        mass->m = e[0].at.value;
        return 0;
    }
    if (n == 3 && half == 0 && count == 3 && e[0].at.value == e[1].at.value &&
        e[0].at.value == e[2].at.value) {
        mass->kind = MECH_MASS_NODE;
        mass->m = e[0].at.value;
        return 0;
    }
    if (n == 6 && half <= 2 && is_body(e, count, mass)) {
        mass->kind = MECH_MASS_BODY;
        return 0;
    }
    mass->m = 0.;
    memset(mass->J, 0, sizeof mass->J);
    mass->kind = half == 0           ? MECH_MASS_DIAGONAL
                 : 4 * half + 2 <= n ? MECH_MASS_BAND
                 : n <= DENSE_MOST   ? MECH_MASS_DENSE
                                     : MECH_MASS_NONE;
    return mass->kind == MECH_MASS_NONE ? 0 : fill(b, e, count, half, mass);
}

static bool same_mass(const struct mech_mass *a, const struct mech_mass *b)
{
    const size_t values = (size_t)mech_mass_values(a);

    return a->kind == b->kind && a->n == b->n && a->half == b->half && a->m == b->m &&
           memcmp(a->J, b->J, sizeof a->J) == 0 &&
           (values == 0 || memcmp(a->values, b->values, values * sizeof *a->values) == 0);
}

/* Each owner's mass and block of variables. A mass that is not positive definite stays among the
 * entries, of variables without one; what became a mass has part −1. */
static int add_variables(struct mech_system_build *b, struct entry *e, size_t count,
                         const double *f)
{
    const bool velocity = b->request->level == MECH_LEVEL_VELOCITY;
    const double *const w = velocity ? b->e->v : b->e->state->vdot;
    struct mech_descriptor *const d = b->out->descriptor;
    struct mech_mass last[MECH_MASS_KINDS];
    int32_t number[MECH_MASS_KINDS];
    size_t from = 0;

    memset(number, -1, sizeof number);
    for (int32_t i = 0; i < b->out->variables_count; i++) {
        struct mech_system_variables *const v = &b->out->variables[i];
        const struct entry key = {.a = i, .b = i, .part = PART_M};
        struct mech_mass mass;
        size_t end;
        int32_t at;

        while (from < count && compare(&e[from], &key) < 0) {
            from++;
        }
        for (end = from; end < count && compare(&e[end], &key) == 0; end++) {
        }
        MECH_TRY(find_mass(b, e + from, end - from, v->n, &mass));
        if (number[mass.kind] < 0 || !same_mass(&mass, &last[mass.kind])) {
            int code = mech_descriptor_add_mass(d, &mass, &at);

            if (code == MECH_SINGULAR) {
                mass = (struct mech_mass){.kind = MECH_MASS_NONE, .n = v->n};
                code = mech_descriptor_add_mass(d, &mass, &at);
            }
            MECH_TRY(code);
            number[mass.kind] = at;
            last[mass.kind] = mass;
        }
        v->kind = mass.kind;
        v->mass = number[mass.kind];
        for (size_t k = from; k < end && mass.kind != MECH_MASS_NONE; k++) {
            e[k].part = -1;
        }
        from = end;
        const struct mech_variables spec = {v->mass, w + v->first, f + v->first, false};

        MECH_TRY(mech_descriptor_add_variables(d, &spec, &at));
    }
    return 0;
}

/* --- stiffness -------------------------------------------------------------------------------- */

/* The entries e [count] of one pair of owners. */
static int add_block(struct mech_system_build *b, const struct entry *e, size_t count)
{
    struct mech_system *const s = b->out;
    struct mech_system_block *const block = &s->blocks[s->block_count];
    const int32_t on[] = {e->a, e->b},
                  n = s->variables[e->a].n + (e->a != e->b ? s->variables[e->b].n : 0);
    const struct mech_arena_mark mark = mech_arena_mark(&b->scratch);
    struct mech_triplet *const t = mech_arena_alloc(&b->scratch, count, sizeof *t);
    struct mech_mat part[3];
    int32_t at;

    *block = (struct mech_system_block){.a = e->a, .b = e->b};
    for (int p = 0; p < 3; p++) {
        size_t used = 0;

        for (size_t k = 0; k < count && t; k++) {
            if (e[k].part == p) {
                t[used++] = e[k].at;
            }
        }
        block->entries[p] = used;
        MECH_TRY(t ? mech_mat_from_triplets(&b->scratch, n, n, t, used, &part[p]) : MECH_NO_MEMORY);
    }
    const struct mech_stiffness spec = {.variables = on,
                                        .count = e->a == e->b ? 1 : 2,
                                        .K_mat = &part[PART_K],
                                        .R_mat = &part[PART_R],
                                        .M_mat = &part[PART_M]};

    MECH_TRY(mech_descriptor_add_stiffness(s->descriptor, &spec, &at));
    mech_arena_release(&b->scratch, mark);
    s->block_count++;
    return 0;
}

static int add_stiffness(struct mech_system_build *b, struct entry *e, size_t count)
{
    struct mech_system *const s = b->out;
    size_t left = 0, pairs = 0;

    /* what became a mass is done with */
    for (size_t k = 0; k < count; k++) {
        if (e[k].part >= 0) {
            pairs += left == 0 || e[left - 1].a != e[k].a || e[left - 1].b != e[k].b;
            e[left++] = e[k];
        }
    }
    s->blocks = mech_arena_alloc(&s->arena, pairs, sizeof *s->blocks);
    if (!s->blocks) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0, end = 0; k < left; k = end) {
        for (end = k; end < left && e[end].a == e[k].a && e[end].b == e[k].b; end++) {
        }
        MECH_TRY(add_block(b, e + k, end - k));
    }
    return 0;
}

/* --- forces ----------------------------------------------------------------------------------- */

/* f [nv + 1] += scale φ(t) */
static int add_force(struct mech_system_build *b, double t, double scale, double *f)
{
    const struct mech_eval *const e = b->e;
    const size_t n = (size_t)b->m->sizes.v + 1;
    const struct mech_arena_mark mark = mech_arena_mark(&b->scratch);
    double *const force = mech_arena_alloc(&b->scratch, 2 * n, sizeof *force);
    struct mech_eval at = *e;

    if (!force) {
        return MECH_NO_MEMORY;
    }
    at.t = t;
    at.lambda = at.vdot = NULL;
    at.posed = false;
    MECH_TRY(mech_model_force(b->m, e->state, t, force));
    mech_model_resist(b->m, &at, force + n, force);
    for (size_t i = 0; i + 1 < n; i++) {
        f[i] += scale * force[i];
    }
    mech_arena_release(&b->scratch, mark);
    return 0;
}

static void add_product(const struct mech_mat *A, double scale, const double *x, double *f)
{
    if (A->kind != MECH_MAT_ZERO && scale != 0.) {
        mech_mat_mul(A, scale, x, 1., f);
    }
}

static int find_force(struct mech_system_build *b, double *f)
{
    const struct mech_system_request *const r = b->request;
    const double h = r->h, theta = r->theta;

    if (r->level == MECH_LEVEL_ACCELERATION) {
        return add_force(b, b->e->t, 1., f);
    }
    if (theta < 1.) {
        MECH_TRY(add_force(b, b->e->t, h * (1. - theta), f));
    }
    if (theta > 0.) {
        MECH_TRY(add_force(b, b->e->t + h, h * theta, f));
    }
    add_product(b->terms->M, 1., b->e->v, f);
    add_product(b->terms->C, h * theta, b->e->v, f);
    add_product(b->terms->K, -h * h * theta * (1. - theta), b->e->v, f);
    return 0;
}

/* --- all together ----------------------------------------------------------------------------- */

static int build(struct mech_system_build *b)
{
    const struct mech_system_request *const r = b->request;
    struct mech_descriptor *const d = b->out->descriptor;
    double *const f = mech_arena_alloc(&b->scratch, (size_t)b->m->sizes.v + 1, sizeof *f);
    struct entry *entries = NULL;
    size_t count = 0;

    if (!f) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(find_force(b, f));
    MECH_TRY(find_owners(b));
    int code = collect(b, &entries, &count);

    code = code ? code : add_variables(b, entries, count, f);
    code = code ? code : add_stiffness(b, entries, count);
    free(entries);
    MECH_TRY(code);
    MECH_TRY(mech_system_rows(b));
    if (r->level == MECH_LEVEL_VELOCITY) {
        const double step = r->h * r->theta;

        mech_descriptor_stiffness_factors(d, step * step, step, 1.);
    } else {
        mech_descriptor_stiffness_factors(d, 0., 0., 1.);
    }
    mech_descriptor_close(d);
    return 0;
}

int mech_model_to_sys(const struct mech_model *m, const struct mech_eval *e,
                      const struct mech_system_terms *terms, const struct mech_system_request *r,
                      struct mech_system **out)
{
    struct mech_system *const s = calloc(1, sizeof *s);
    struct mech_system_build b = {.m = m, .e = e, .terms = terms, .request = r, .out = s};

    *out = s;
    if (!s) {
        return MECH_NO_MEMORY;
    }
    mech_arena_init(&s->arena, 0);
    mech_arena_init(&b.scratch, 0);
    int code = mech_descriptor_create(&s->descriptor);

    code = code ? code : build(&b);
    mech_contact_list_fini(&b.touches);
    mech_arena_fini(&b.scratch);
    return code;
}

void mech_system_destroy(struct mech_system *s)
{
    if (s) {
        mech_descriptor_destroy(s->descriptor);
        mech_arena_fini(&s->arena);
        free(s);
    }
}

const char *mech_system_variables_name(const struct mech_model *m,
                                       const struct mech_system_variables *v)
{
    const struct mech_document *const d = m->document;

    if (v->category == MECH_OBJECT) {
        return d->objects.at[v->item].name;
    }
    const int32_t body = m->kinematics.body_of[v->item];

    return body >= 0 ? d->objects.at[body].name : d->nodes.at[v->item].name;
}

const char *mech_system_constraint_name(const struct mech_model *m,
                                        const struct mech_system_constraint *c)
{
    const struct mech_interaction *const in = m->document->interactions.at;

    return c->source == MECH_SOURCE_INTERACTION ? in[c->item].name
                                                : m->document->objects.at[c->item].name;
}

const char *mech_system_constraint_other(const struct mech_model *m,
                                         const struct mech_system_constraint *c)
{
    return c->source == MECH_SOURCE_CONTACT ? m->document->objects.at[c->other].name : NULL;
}
