/* The registry of pairs of shapes, and the list that they fill. */
#include "solver/contact/pair.h"

#include "solver/base/err.h"
#include "solver/linalg/v3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MECH_SHAPE_PAIR(name) extern const struct mech_shape_pair mech_shape_pair_##name;
#include "solver/contact/pairs.def"
#undef MECH_SHAPE_PAIR

static const struct mech_shape_pair *const pairs[] = {
#define MECH_SHAPE_PAIR(name) &mech_shape_pair_##name,
#include "solver/contact/pairs.def"
#undef MECH_SHAPE_PAIR
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

static bool takes(const struct mech_shape_pair *pair, const struct mech_shape *first,
                  const struct mech_shape *second)
{
    if (!pair->first) {
        return first->ops->support && second->ops->support;
    }
    if (strcmp(pair->first, first->type->name) != 0) {
        return false;
    }
    for (int i = 0; i < MECH_PAIR_SECONDS && pair->second[i]; i++) {
        if (strcmp(pair->second[i], second->type->name) == 0) {
            return true;
        }
    }
    return false;
}

const struct mech_shape_pair *mech_shape_pair_find(const struct mech_shape *a,
                                                   const struct mech_shape *b, bool *turned)
{
    const struct mech_shape_pair *any = NULL;

    *turned = false;
    for (int i = 0; i < PAIRS; i++) {
        if (!pairs[i]->first) {
            any = !any && takes(pairs[i], a, b) ? pairs[i] : any;
        } else if (takes(pairs[i], a, b)) {
            return pairs[i];
        } else if (takes(pairs[i], b, a)) {
            *turned = true;
            return pairs[i];
        }
    }
    return any;
}

const struct mech_shape_pair *mech_shape_pair_named(const char *first,
                                                    const struct mech_shape *second)
{
    for (int i = 0; i < PAIRS; i++) {
        const struct mech_shape_pair *const p = pairs[i];

        for (int k = 0; k < MECH_PAIR_SECONDS && p->first && p->second[k]; k++) {
            if (strcmp(p->first, first) == 0 && strcmp(p->second[k], second->type->name) == 0) {
                return p;
            }
        }
    }
    return NULL;
}

void mech_contact_list_fini(struct mech_contact_list *list)
{
    free(list->at);
    *list = (struct mech_contact_list){.at = NULL};
}

int mech_contact_list_reserve(struct mech_contact_list *list, int32_t n)
{
    if (n <= list->capacity) {
        return 0;
    }
    struct mech_contact *const at = realloc(list->at, (size_t)n * sizeof *at);

    if (!at) {
        return MECH_NO_MEMORY;
    }
    list->at = at;
    list->capacity = n;
    return 0;
}

static int grow(struct mech_contact_list *list)
{
    const int32_t capacity = list->capacity > 0 ? 2 * list->capacity : 64;

    /* twice as many as an int32_t counts are none */
    return capacity > list->capacity ? mech_contact_list_reserve(list, capacity) : MECH_NO_MEMORY;
}

void mech_touching_add(struct mech_touching *t, uint32_t feature, const double normal[3],
                       const double first[3], const double second[3], double gap)
{
    struct mech_contact_list *const list = t->list;

    if (gap > t->reach || t->code != 0) {
        return;
    }
    // what lengths come to whose squares overflow, or of which one is nothing beside the other
    double sum = gap;
    for (int i = 0; i < 3; i++) {
        sum += first[i] + second[i];
    }
    if (!isfinite(sum) || !(fabs(mech_v3_dot(normal, normal) - 1.) <= 1e-9)) {
        t->code = MECH_NOT_FINITE;
        return;
    }
    if (list->n == list->capacity && (t->code = grow(list)) != 0) {
        return;
    }
    struct mech_contact *const c = &list->at[list->n++];
    const double sign = t->turned ? -1. : 1.;

    c->id = (uint64_t)(uint32_t)t->collider[0] << 44 | (uint64_t)(uint32_t)t->collider[1] << 24 |
            feature;
    c->collider[0] = t->collider[0];
    c->collider[1] = t->collider[1];
    for (int i = 0; i < 3; i++) {
        c->normal[i] = sign * normal[i];
        c->point[t->turned][i] = first[i];
        c->point[!t->turned][i] = second[i];
    }
    c->gap = gap;
}

void mech_touching_add_rounded(struct mech_touching *t, uint32_t feature, const double normal[3],
                               const double first[3], const double second[3],
                               const double radius[2])
{
    double a[3], b[3], between[3];

    mech_v3_add(second, -1., first, between);
    mech_v3_add(first, radius[0], normal, a);
    mech_v3_add(second, -radius[1], normal, b);
    mech_touching_add(t, feature, normal, a, b,
                      mech_v3_dot(between, normal) - radius[0] - radius[1]);
}
