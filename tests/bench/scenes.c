/* Documents of scenes.h, written through the field tables. */
#include "tests/bench/scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field of a description by its document key. */
static void *field(struct mech_item *item, const char *key)
{
    const struct mech_field *const f = mech_table_find(&item->type->table, key);
    if (f == NULL) {
        (void)fprintf(stderr, "%s has no field %s\n", item->type->name, key);
        exit(2);
    }
    return (char *)item->description + f->offset;
}

static void *room(struct mech_document *d, size_t count, size_t size)
{
    void *const at = mech_arena_alloc(&d->arena, count, size);
    if (at == NULL) {
        (void)fprintf(stderr, "no memory\n");
        exit(2);
    }
    return at;
}

static void item_init(struct mech_document *d, struct mech_item *item, enum mech_category category,
                      const char *type, const char *name)
{
    item->type = mech_item_type_find(category, type);
    item->name = name;
    if (item->type == NULL) {
        (void)fprintf(stderr, "there is no %s\n", type);
        exit(2);
    }
    item->description = room(d, 1, item->type->table.size);
    mech_table_defaults(&item->type->table, item->description);
}

/* --- matrices and vectors
 * ----------------------------------------------------------------------- */

static double coupling(int32_t n, int32_t i, int32_t j, enum scene_form form)
{
    double sum = i - j == 1 || j - i == 1 ? 1000. : 0.;
    if (form == SCENE_DENSE) {
        const double distance = i - j;
        sum += 1. / (1. + distance * distance);
    }
    return i == j || i < 0 || j < 0 || i >= n || j >= n ? 0. : sum;
}

/* Stiffness of springs between all masses that are coupled, times `scale`. */
static struct mech_mat springs(struct mech_document *d, int32_t n, enum scene_form form,
                               double scale)
{
    const size_t size = (size_t)n;
    const bool dense = form == SCENE_DENSE;
    struct mech_mat a = {.kind = dense ? MECH_MAT_DENSE : MECH_MAT_BAND,
                         .rows = n,
                         .cols = n,
                         .lower = dense ? 0 : 1,
                         .upper = dense ? 0 : 1,
                         .symmetric = true};
    a.values = room(d, dense ? size * size : 3 * size, sizeof *a.values);
    for (int32_t j = 0; j < n; j++) {
        const int32_t from = dense || j == 0 ? 0 : j - 1;
        const int32_t to = dense || j == n - 1 ? n - 1 : j + 1;
        double sum = j == 0 ? 1000. : 0.;
        for (int32_t i = 0; dense ? i < n : i < 3; i++) {
            sum += coupling(n, dense ? i : j - 1 + i, j, form);
        }
        for (int32_t i = from; i <= to; i++) {
            const double x = scale * (i == j ? sum : -coupling(n, i, j, form));
            if (dense) {
                a.values[(size_t)j * size + (size_t)i] = x;
            } else {
                a.values[(size_t)(j - i + 1) * size + (size_t)i] = x;
            }
        }
    }
    return a;
}

static struct mech_mat identity(struct mech_document *d, int32_t n)
{
    struct mech_mat a = {.kind = MECH_MAT_DIAG, .rows = n, .cols = n, .symmetric = true};
    a.values = room(d, (size_t)n, sizeof *a.values);
    for (int32_t i = 0; i < n; i++) {
        a.values[i] = 1.;
    }
    return a;
}

static struct mech_vector vector(struct mech_document *d, int32_t n)
{
    return (struct mech_vector){.x = room(d, (size_t)n, sizeof(double)), .n = (size_t)n};
}

/* --- documents
 * ------------------------------------------------------------------------------------ */

/* One system of n unit masses with forces of 0; its description in the only object. */
static struct mech_document *begin(int32_t n, double h)
{
    struct mech_document *d = NULL;
    if (mech_document_create(0, &d) != 0) {
        return NULL;
    }
    d->version = 1;
    d->name = "bench";
    d->objects.at = room(d, 1, sizeof *d->objects.at);
    d->objects.n = 1;
    struct mech_item *const system = d->objects.at;
    item_init(d, system, MECH_OBJECT, "LagrangianLinearTIDS", "s");
    *(struct mech_mat *)field(system, "M") = identity(d, n);
    *(struct mech_vector *)field(system, "q0") = vector(d, n);
    *(struct mech_vector *)field(system, "v0") = vector(d, n);
    *(struct mech_values *)field(system, "Fext") =
        (struct mech_values){.number = vector(d, n).x, .n = (size_t)n};
    d->solver.integrator = "MoreauJean";
    d->solver.step_size = h;
    return d;
}

/* y = H q + b with Newton's law, H from triplets */
static void contact(struct mech_document *d, struct mech_triplet *t, size_t count,
                    struct mech_vector b, double e)
{
    struct mech_interaction *const in = room(d, 1, sizeof *in);
    d->interactions = (struct mech_structs){.at = in, .n = 1};
    in->active = true;
    in->name = "c";
    in->systems.refs = room(d, 1, sizeof *in->systems.refs);
    in->systems.refs[0] = (struct mech_ref){.name = "s", .index = -1};
    in->systems.n = 1;
    item_init(d, &in->relation, MECH_RELATION, "LagrangianLinearTIR", NULL);
    item_init(d, &in->law, MECH_LAW, "NewtonImpact", NULL);
    const struct mech_mat *const M = field(d->objects.at, "M");
    if (mech_mat_from_triplets(&d->arena, (int32_t)b.n, M->cols, t, count,
                               field(&in->relation, "H")) != 0) {
        (void)fprintf(stderr, "no memory\n");
        exit(2);
    }
    *(struct mech_vector *)field(&in->relation, "b") = b;
    *(double *)field(&in->law, "e") = e;
}

struct mech_document *scene_chain(int32_t n, enum scene_form form)
{
    struct mech_document *const d = begin(n, 1e-3);
    if (d == NULL) {
        return NULL;
    }
    struct mech_item *const system = d->objects.at;
    *(struct mech_mat *)field(system, "K") = springs(d, n, form, 1.);
    *(struct mech_mat *)field(system, "C") = springs(d, n, form, form == SCENE_DENSE ? 1e-3 : 1e-4);
    ((struct mech_values *)field(system, "Fext"))->number[n - 1] = 1.;
    double *const v = ((struct mech_vector *)field(system, "v0"))->x;
    for (int32_t i = 0; i < n; i++) {
        v[i] = 1e-3 * (i % 5 - 2);
    }
    struct mech_triplet t = {0, n - 1, -1.};
    struct mech_vector b = vector(d, 1);
    b.x[0] = 1e-3;
    contact(d, &t, 1, b, 0.5);
    return d;
}

struct mech_document *scene_beads(int32_t n)
{
    struct mech_document *const d = begin(n, 5e-4);
    if (d == NULL) {
        return NULL;
    }
    struct mech_triplet *const t = room(d, 2 * (size_t)n, sizeof *t);
    struct mech_vector b = vector(d, n);
    size_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        ((struct mech_vector *)field(d->objects.at, "q0"))->x[i] = 1. + 0.25 * i;
        ((struct mech_values *)field(d->objects.at, "Fext"))->number[i] = -9.81;
        t[count++] = (struct mech_triplet){i, i, 1.};
        if (i > 0) {
            t[count++] = (struct mech_triplet){i, i - 1, -1.};
        }
        b.x[i] = i > 0 ? -0.2 : -0.1;
    }
    contact(d, t, count, b, 0.9);
    return d;
}

struct mech_document *scene_ball(void)
{
    struct mech_document *const d = begin(1, 5e-3);
    if (d == NULL) {
        return NULL;
    }
    ((struct mech_vector *)field(d->objects.at, "q0"))->x[0] = 1.;
    ((struct mech_values *)field(d->objects.at, "Fext"))->number[0] = -9.81;
    struct mech_triplet t = {0, 0, 1.};
    contact(d, &t, 1, vector(d, 1), 0.9);
    return d;
}

/* --- simulations
 * ----------------------------------------------------------------------------------- */

struct mech_sim *scene_create(struct mech_document *document)
{
    struct mech_diag diag;
    struct mech_sim *sim = NULL;
    mech_diag_init(&diag);
    const int code = document != NULL ? mech_sim_create(document, &diag, &sim) : MECH_NO_MEMORY;
    if (code != 0) {
        (void)fprintf(stderr, "no simulation: %s\n", mech_err_text(code));
        for (size_t i = 0; i < diag.count; i++) {
            (void)fprintf(stderr, "  %s: %s\n", diag.entries[i].path, diag.entries[i].text);
        }
        exit(2);
    }
    mech_diag_fini(&diag);
    return sim;
}

void scene_step(void *sim, uint64_t count)
{
    const struct mech_step_request request = {.kind = MECH_STEP_COUNT, .count = count};
    struct mech_step_report report;
    if (mech_sim_step(sim, &request, &report) != 0) {
        (void)fprintf(stderr, "a step failed: %s\n", report.reason);
        exit(2);
    }
}
