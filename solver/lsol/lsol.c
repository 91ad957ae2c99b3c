/* Linear solvers: the registry, the choice by estimated cost, and what all members share: the
 * check of the pattern and of finite values. */
#include "solver/lsol/lsol.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mech_lsol {
    const struct mech_lsol_type *type;
    void *self;
    struct mech_mat shape; /* kind, order and band of create; no values */
    size_t stored;
    int32_t where;
    bool ready; /* a factor succeeded */
};

const struct mech_lsol_type *const mech_lsol_types[] = {
#define MECH_LSOL(name) &mech_lsol_##name,
#include "solver/lsol/lsols.def"
#undef MECH_LSOL
    NULL,
};

const struct mech_lsol_type *mech_lsol_find(const char *name)
{
    for (size_t i = 0; mech_lsol_types[i]; i++) {
        if (strcmp(mech_lsol_types[i]->name, name) == 0) {
            return mech_lsol_types[i];
        }
    }
    return NULL;
}

/* The cheapest member that suits any values, or NULL. */
static const struct mech_lsol_type *cheapest(const struct mech_mat *a)
{
    const struct mech_lsol_type *best = NULL;
    double least = HUGE_VAL;
    for (size_t i = 0; mech_lsol_types[i]; i++) {
        const struct mech_lsol_type *const type = mech_lsol_types[i];
        const double cost = type->definite || type->iterative ? -1. : type->cost(a);
        if (cost >= 0. && cost < least) {
            best = type;
            least = cost;
        }
    }
    return best;
}

int mech_lsol_create(const char *name, const struct mech_mat *a, struct mech_lsol **out)
{
    *out = NULL;
    if (a->rows != a->cols) {
        return MECH_UNSUPPORTED;
    }
    const struct mech_lsol_type *const type = !name ? cheapest(a) : mech_lsol_find(name);
    if (!type) {
        return !name ? MECH_UNSUPPORTED : MECH_NOT_FOUND;
    }
    // a matrix without any place has no pivot either
    if (a->kind == MECH_MAT_ZERO && a->rows > 0) {
        return MECH_SINGULAR;
    }
    if (type->cost(a) < 0.) {
        return MECH_UNSUPPORTED;
    }
    struct mech_lsol *const s = calloc(1, sizeof *s);
    if (!s) {
        return MECH_NO_MEMORY;
    }
    s->type = type;
    s->shape = *a;
    s->shape.values = NULL;
    s->shape.colptr = NULL;
    s->shape.rowind = NULL;
    s->stored = mech_mat_stored(a);
    s->where = -1;
    const int code = type->create(a, &s->self);
    if (code != 0) {
        free(s);
        return code;
    }
    *out = s;
    return 0;
}

void mech_lsol_destroy(struct mech_lsol *s)
{
    if (s) {
        s->type->destroy(s->self);
        free(s);
    }
}

void mech_lsol_listen(struct mech_lsol *s, struct mech_interrupt *interrupt)
{
    if (s->type->listen) {
        s->type->listen(s->self, interrupt);
    }
}

const char *mech_lsol_name(const struct mech_lsol *s)
{
    return s->type->name;
}

/* Column of the first value that is not finite. */
static int32_t first_not_finite(const struct mech_mat *a)
{
    struct mech_mat_walk w = {.a = a};
    while (mech_mat_next(&w)) {
        if (!isfinite(w.value)) {
            return w.col;
        }
    }
    return 0;
}

int mech_lsol_factor(struct mech_lsol *s, const struct mech_mat *a)
{
    s->ready = false;
    if (a->kind != s->shape.kind || a->rows != s->shape.rows || a->cols != s->shape.cols ||
        a->lower != s->shape.lower || a->upper != s->shape.upper ||
        a->symmetric != s->shape.symmetric || mech_mat_stored(a) != s->stored) {
        return MECH_INTERNAL;
    }
    if (!mech_mat_is_finite(a)) {
        s->where = first_not_finite(a);
        return MECH_SINGULAR;
    }
    s->where = -1;
    const int code = s->type->factor(s->self, a, &s->where);
    s->ready = code == 0;
    return code;
}

int32_t mech_lsol_where(const struct mech_lsol *s)
{
    return s->where;
}

int mech_lsol_solve(struct mech_lsol *s, double *x, int32_t count)
{
    assert(s->ready);
    return s->type->solve(s->self, x, count);
}
