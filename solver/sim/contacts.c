/* Contacts between shapes: what the last step left, and overlaps at the start. */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/model/touch.h"
#include "solver/sim/internal.h"

#include <stdio.h>

/* An object's shape. */
static const struct mech_item *shape_of(const struct mech_document *d, int32_t object,
                                        int32_t place)
{
    const struct mech_item *const item = &d->objects.at[object];
    const struct mech_items *const geometry =
        (const void *)((const char *)item->description + item->type->ops.object->geometry);

    return &geometry->at[place];
}

const struct mech_shape *mech_sim_shape(const struct mech_sim *s, size_t object, size_t place)
{
    return mech_model_touch_shape(s->model, (int32_t)object, (int32_t)place);
}

size_t mech_sim_contacts(const struct mech_sim *s)
{
    return s->now.at->touched;
}

void mech_sim_contact(const struct mech_sim *s, size_t i, struct mech_contact_view *out)
{
    const struct mech_touched *const t = &s->now.touched[i];
    const double h = s->now.at->last_step;
    int32_t collider[2];

    *out = (struct mech_contact_view){.gap = t->gap};
    mech_model_touch_pair(t->id, collider);
    for (int side = 0; side < 2; side++) {
        int32_t object, place;

        mech_model_touch_collider(s->model, collider[side], &object, &place);
        out->of[side].body = s->document->objects.at[object].name;
        out->of[side].shape = shape_of(s->document, object, place)->name;
        out->of[side].place = place;
    }
    mech_v3_add(out->point, 1., t->p, out->point);
    mech_v3_add(out->normal, 1., t->n, out->normal);
    /* records of contacts by penalty hold forces */
    const bool forces = mech_model_penalty(s->model);
    mech_v3_add(out->impulse, forces ? h : 1., t->impulse, out->impulse);
    mech_v3_add(out->couple, forces ? h : 1., t->couple, out->couple);
    if (forces || h > 0.) {
        mech_v3_add(out->force, forces ? 1. : 1. / h, t->impulse, out->force);
    }
}

/* A fault for each pair of shapes that overlaps too far, at its first point. */
static void tell_overlaps(const struct mech_sim *s, const struct mech_contact_list *list,
                          struct mech_diag *diag)
{
    const double depth = s->document->contact.depth;
    uint64_t told = UINT64_MAX;

    for (int32_t i = 0; i < list->n; i++) {
        const struct mech_contact *const c = &list->at[i];
        int32_t object[2], place[2];
        char path[MECH_DIAG_PATH];

        if (!(c->gap < -depth) || c->id >> 24 == told) {
            continue;
        }
        told = c->id >> 24;
        for (int side = 0; side < 2; side++) {
            mech_model_touch_collider(s->model, c->collider[side], &object[side], &place[side]);
        }
        snprintf(path, sizeof path, "/objects/%d/geometry/%d", (int)object[1], (int)place[1]);
        mech_diag_add(diag, path, "overlaps \"%s\" (shape %d) by %.3g m at the start",
                      s->document->objects.at[object[0]].name, (int)place[0], -c->gap);
    }
}

int mech_sim_check_overlaps(struct mech_sim *s, struct mech_diag *diag)
{
    const struct mech_eval e =
        mech_model_point(s->model, &s->now, s->now.at->time, s->now.q, s->now.v);
    struct mech_contact_list list = {.n = 0};

    if (!diag || (mech_model_touch_bodies(s->model) == 0 && !mech_model_penalty(s->model)) ||
        s->document->contact.interpenetration != MECH_INTERPENETRATION_REFUSE) {
        return 0;
    }
    const size_t before = diag->total;
    const int code = mech_model_touch_find(s->model, &e, 0., &list);
    if (code == 0) {
        tell_overlaps(s, &list, diag);
    } else if (code > 0) {
        mech_diag_add(diag, "/objects", "%s", mech_err_text(code));
    }
    mech_contact_list_fini(&list);
    return code < 0 ? code : diag->total > before ? MECH_INVALID : 0;
}
