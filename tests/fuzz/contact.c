/* Shapes of any size in any places: whatever their types take is built, and what touches is
 * reported with finite numbers, unit normals and ascending ids, the same twice.
 *
 * An input: bodies and colliders, each by the byte of its type and the numbers of its table, then
 * placements (frames by three angles), reaches and a margin. */
#include "solver/contact/contact.h"
#include "solver/base/err.h"
#include "solver/items/item.h"
#include "solver/items/shape/shape.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>

enum { BODIES = 4, COLLIDERS = 6, ROWS = 24 };

struct world {
    struct fuzz_bytes bytes;
    struct mech_arena arena;
    struct mech_diag diag;
    struct mech_collider colliders[COLLIDERS];
    struct mech_placement at[BODIES];
    double reach[BODIES];
    int32_t n;
};

/* R = Rx Ry Rz of any three angles, by rows. */
static void take_frame(struct fuzz_bytes *b, double p[3], double R[9])
{
    struct mech_shape_place place;
    memset(&place, 0, sizeof place);
    for (int k = 0; k < 3; k++) {
        place.position[k] = fuzz_real(b);
        place.rotation[k] = fuzz_real(b);
    }
    mech_shape_frame(&place, p, R);
}

/* Rows of three numbers. */
static int take_rows(struct world *w, struct mech_mat *out)
{
    struct mech_triplet t[3 * ROWS];
    const int32_t rows = (int32_t)fuzz_below(&w->bytes, ROWS) + 1;
    for (int32_t k = 0; k < 3 * rows; k++) {
        t[k] = (struct mech_triplet){k / 3, k % 3, fuzz_real(&w->bytes)};
    }
    return mech_mat_from_triplets(&w->arena, rows, 3, t, 3 * (size_t)rows, out);
}

/* A number that its field takes; the reader of documents refuses all others. */
static double take_number(struct world *w, const struct mech_field *f)
{
    const double value = fuzz_real(&w->bytes);
    return mech_field_admits(f, value) ? value : 1.;
}

static int take_field(struct world *w, const struct mech_field *f, char *description)
{
    void *const at = description + f->offset;
    if (f->kind == MECH_REAL || f->kind == MECH_REALS) {
        for (uint32_t k = 0; k < (f->kind == MECH_REALS ? f->count : 1); k++) {
            ((double *)at)[k] = take_number(w, f);
        }
    } else if (f->kind == MECH_INT) {
        *(int32_t *)at = (int32_t)take_number(w, f);
    } else if (f->kind == MECH_MATRIX) {
        return take_rows(w, at);
    }
    return 0;
}

/* The k-th type of shape, wrapping around. */
static const struct mech_item_type *type_at(uint32_t k)
{
    for (;;) {
        for (const struct mech_item_type *const *t = mech_item_types; *t != NULL; t++) {
            if ((*t)->category == MECH_SHAPE && k-- == 0) {
                return *t;
            }
        }
    }
}

/* One more collider, unless its type refuses the numbers. False: no memory. */
static bool take_collider(struct world *w)
{
    const struct mech_item_type *const type = type_at(fuzz_below(&w->bytes, 16));
    char *const description = mech_arena_alloc(&w->arena, 1, type->table.size);
    struct mech_collider *const c = &w->colliders[w->n];
    if (description == NULL) {
        return false;
    }
    memset(description, 0, type->table.size);
    mech_table_defaults(&type->table, description);
    for (size_t k = 0; k < type->table.count; k++) {
        if (take_field(w, &type->table.fields[k], description) != 0) {
            return false;
        }
    }
    mech_diag_fini(&w->diag);
    mech_diag_init(&w->diag);
    *c = (struct mech_collider){.category = 1, .mask = INT32_MAX};
    const int32_t body = (int32_t)fuzz_below(&w->bytes, BODIES + 1) - 1;
    c->body = type->ops.shape->fixed ? -1 : body;
    if (type->check != NULL) {
        type->check(description, "", &w->diag);
    }
    const int code = mech_shape_build(type, description, &w->arena, "", &w->diag, &c->shape);
    if (code == 0 && mech_diag_clean(&w->diag)) {
        mech_shape_frame((const struct mech_shape_place *)(const void *)description, c->p, c->R);
        w->n++;
    }
    return code >= 0;
}

static void check(const struct mech_contact_list *list)
{
    for (int32_t k = 0; k < list->n; k++) {
        const struct mech_contact *const c = &list->at[k];
        const double *const n = c->normal;
        const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        bool good = fabs(length - 1.) < 1e-9 && isfinite(c->gap) &&
                    c->collider[0] < c->collider[1] && (k == 0 || list->at[k - 1].id < c->id);
        for (int i = 0; i < 3; i++) {
            good = good && isfinite(c->point[0][i]) && isfinite(c->point[1][i]);
        }
        if (!good) {
            (void)fprintf(stderr, "%d and %d: normal %g %g %g, gap %g, points %g %g %g, %g %g %g\n",
                          (int)c->collider[0], (int)c->collider[1], n[0], n[1], n[2], c->gap,
                          c->point[0][0], c->point[0][1], c->point[0][2], c->point[1][0],
                          c->point[1][1], c->point[1][2]);
            fuzz_fail("a contact that cannot be");
        }
    }
}

/* For people: what an input is. */
static void tell(const struct world *w)
{
    for (int32_t k = 0; k < w->n; k++) {
        const struct mech_collider *const c = &w->colliders[k];
        (void)fprintf(stderr, "%d: %s on %d, radius %g, half %g, box %g %g %g, at %g %g %g\n",
                      (int)k, c->shape.type->name, (int)c->body, c->shape.radius,
                      c->shape.half_length, c->shape.half[0], c->shape.half[1], c->shape.half[2],
                      c->p[0], c->p[1], c->p[2]);
    }
    for (int k = 0; k < BODIES; k++) {
        (void)fprintf(stderr, "body %d at %g %g %g, reach %g\n", k, w->at[k].p[0], w->at[k].p[1],
                      w->at[k].p[2], w->reach[k]);
    }
}

static void find(struct world *w)
{
    const struct mech_scene_description d = {
        .colliders = w->colliders, .n = w->n, .bodies = BODIES};
    const struct mech_scene_query query = {
        .at = w->at, .reach = w->reach, .margin = fabs(fuzz_real(&w->bytes))};
    struct mech_contact_list lists[2] = {{.n = 0}, {.n = 0}};
    struct mech_scene *scene = NULL;
    if (mech_scene_create(&d, &scene) != 0) {
        return;
    }
    const int first = mech_scene_find(scene, &query, &lists[0]);
    const int second = mech_scene_find(scene, &query, &lists[1]);
    if (first != second) {
        fuzz_fail("two outcomes of one query");
    }
    if (first == 0) {
        check(&lists[0]);
        if (lists[0].n != lists[1].n ||
            (lists[0].n > 0 &&
             memcmp(lists[0].at, lists[1].at, (size_t)lists[0].n * sizeof *lists[0].at) != 0)) {
            fuzz_fail("two lists of one query");
        }
    }
    mech_contact_list_fini(&lists[0]);
    mech_contact_list_fini(&lists[1]);
    mech_scene_destroy(scene);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world *const w = calloc(1, sizeof *w);
    if (w == NULL) {
        return 0;
    }
    w->bytes = (struct fuzz_bytes){data, size};
    mech_arena_init(&w->arena, 1 << 26);
    mech_diag_init(&w->diag);
    const uint32_t colliders = 2 + fuzz_below(&w->bytes, COLLIDERS - 1);
    bool good = true;
    for (uint32_t k = 0; k < colliders && good; k++) {
        good = take_collider(w);
    }
    for (int k = 0; k < BODIES; k++) {
        take_frame(&w->bytes, w->at[k].p, w->at[k].R);
        w->reach[k] = fabs(fuzz_real(&w->bytes));
    }
    if (getenv("MECHD_FUZZ_TELL") != NULL) {
        tell(w);
    }
    if (good && w->n > 0) {
        find(w);
    }
    mech_diag_fini(&w->diag);
    mech_arena_fini(&w->arena);
    free(w);
    return 0;
}
