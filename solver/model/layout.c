/* Second pass: coordinates of nodes and of objects that bring their own, the places of markers,
 * initial and reference values. Each object's local coordinates become a list of slots. */
#include "solver/base/err.h"
#include "solver/model/internal.h"

#include <stdio.h>
#include <string.h>

/* Coordinates of a model: more is refused, so that indices and their products stay in range. */
enum { MOST_COORDINATES = 4000000 };

static int new_slots(struct mech_model *m, struct mech_seat_of *seat, int32_t n, int32_t first)
{
    seat->n = n;
    seat->slot = mech_arena_alloc(&m->arena, (size_t)n, sizeof *seat->slot);
    if (!seat->slot) {
        return MECH_NO_MEMORY;
    }
    for (int32_t i = 0; i < n; i++) {
        seat->slot[i] = first + i;
    }
    return 0;
}

/* Give coordinates to nodes and to objects that bring their own. */
static int number_coordinates(struct mech_model *m, struct mech_diag *diag)
{
    const struct mech_document *const d = m->document;
    int64_t v = 0, x = 0;

    for (size_t i = 0; i < d->nodes.n; i++) {
        const struct mech_item *const item = &d->nodes.at[i];
        const struct mech_node_ops *const ops = item->type->ops.node;
        int64_t *const next = ops->first_order ? &x : &v;
        const int32_t n = ops->size(item->description);

        m->nodes[i].first_order = ops->first_order;
        MECH_TRY(new_slots(m, &m->nodes[i], n, (int32_t)*next));
        *next += n;
        if (v + x > MOST_COORDINATES) {
            mech_diag_add(diag, "/nodes", "more than %d coordinates", MOST_COORDINATES);
            return MECH_INVALID;
        }
    }
    for (size_t i = 0; i < d->objects.n; i++) {
        const struct mech_item *const item = &d->objects.at[i];
        const struct mech_object_ops *const ops = item->type->ops.object;

        if (ops->own) {
            const int32_t n = ops->own(item->description);

            MECH_TRY(new_slots(m, &m->objects[i], n, (int32_t)v));
            v += n;
        }
        if (v + x > MOST_COORDINATES) {
            mech_diag_add(diag, "/objects", "more than %d coordinates", MOST_COORDINATES);
            return MECH_INVALID;
        }
    }
    m->sizes.q = m->sizes.v = (int32_t)v;
    m->sizes.x = (int32_t)x;
    return 0;
}

static int start_values(struct mech_model *m)
{
    const struct mech_document *const d = m->document;
    const size_t v = (size_t)m->sizes.v + 1, x = (size_t)m->sizes.x + 1;
    double **const vectors[] = {&m->q_ref, &m->q0, &m->v0, &m->x_ref, &m->x0, &m->zeros};
    const size_t lengths[] = {v, v, v, x, x, v > x ? v : x};

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = mech_arena_alloc(&m->arena, lengths[i], sizeof(double));
        if (!*vectors[i]) {
            return MECH_NO_MEMORY;
        }
    }
    for (size_t i = 0; i < d->nodes.n; i++) {
        const struct mech_node_ops *const ops = d->nodes.at[i].type->ops.node;
        const struct mech_seat_of *const seat = &m->nodes[i];
        const int32_t first = seat->n ? seat->slot[0] : 0;

        if (ops->first_order) {
            ops->start(d->nodes.at[i].description, m->x_ref + first, m->x0 + first, NULL);
            continue;
        }
        ops->start(d->nodes.at[i].description, m->q_ref + first, m->q0 + first, m->v0 + first);
        for (int32_t k = first; k < first + seat->n; k++) {
            m->q0[k] += m->q_ref[k];
        }
    }
    for (size_t i = 0; i < d->objects.n; i++) {
        const struct mech_object_ops *const ops = d->objects.at[i].type->ops.object;

        if (ops->own && m->objects[i].n) {
            const int32_t first = m->objects[i].slot[0];

            ops->start(d->objects.at[i].description, m->q0 + first, m->v0 + first);
        }
    }
    return 0;
}

/* Slots of an object from its nodes; bodies claim their nodes. */
static int attach_to_nodes(struct mech_model *m, size_t i, int32_t *body_of, struct mech_diag *diag)
{
    const struct mech_item *const item = &m->document->objects.at[i];
    const struct mech_object_ops *const ops = item->type->ops.object;
    struct mech_seat_of *const seat = &m->objects[i];
    struct mech_attachment at;
    char path[MECH_DIAG_PATH];
    int64_t n = 0;

    ops->nodes(item->description, &at);
    for (size_t k = 0; k < at.n; k++) {
        n += m->nodes[at.refs[k].index].n;
    }
    if (n > MOST_COORDINATES) {
        mech_item_path(MECH_OBJECT, i, at.field, path, sizeof path);
        mech_diag_add(diag, path, "more than %d coordinates", MOST_COORDINATES);
        return 0;
    }
    MECH_TRY(new_slots(m, seat, (int32_t)n, 0));
    n = 0;
    for (size_t k = 0; k < at.n; k++) {
        const int32_t node = at.refs[k].index;
        const struct mech_seat_of *const from = &m->nodes[node];

        mech_item_path(MECH_OBJECT, i, at.field, path, sizeof path);
        if (at.list) {
            snprintf(path + strlen(path), sizeof path - strlen(path), "/%zu", k);
        }
        if (k > 0 && from->first_order != seat->first_order) {
            mech_diag_add(diag, path, "mixes first-order and second-order nodes");
        }
        seat->first_order = from->first_order;
        memcpy(seat->slot + n, from->slot, (size_t)from->n * sizeof *from->slot);
        n += from->n;
        if (ops->body && body_of[node] >= 0) {
            mech_diag_add(diag, path, "the node \"%s\" belongs to \"%s\" already",
                          m->document->nodes.at[node].name,
                          m->document->objects.at[body_of[node]].name);
        } else if (ops->body) {
            body_of[node] = (int32_t)i;
        }
    }
    return 0;
}

/* Slots of a connector from its markers. */
static int attach_to_markers(struct mech_model *m, size_t i, struct mech_diag *diag)
{
    const struct mech_item *const item = &m->document->objects.at[i];
    const struct mech_object_ops *const ops = item->type->ops.object;
    struct mech_seat_of *const seat = &m->objects[i];
    struct mech_attachment at;
    int32_t n = 0;

    ops->markers(item->description, &at);
    MECH_TRY(new_slots(m, seat, (int32_t)at.n * MECH_MARKER_SLOTS, 0));
    for (size_t k = 0; k < at.n; k++) {
        const struct mech_marker_map *const map = &m->markers[at.refs[k].index];

        if (!(ops->marker_kinds & 1u << map->kind)) {
            char path[MECH_DIAG_PATH];

            mech_item_path(MECH_OBJECT, i, at.field, path, sizeof path);
            snprintf(path + strlen(path), sizeof path - strlen(path), "/%zu", k);
            mech_diag_add(diag, path, "the marker \"%s\" is of another kind than this needs",
                          at.refs[k].name);
        }
        for (int32_t j = 0; j < map->n; j++) {
            seat->slot[n++] = map->slot[j];
        }
        seat->first_order = seat->first_order || map->first_order;
    }
    seat->n = n;
    return 0;
}

static void place_marker(struct mech_model *m, size_t i, struct mech_diag *diag)
{
    const struct mech_item *const item = &m->document->markers.at[i];
    const struct mech_marker_ops *const ops = item->type->ops.marker;
    struct mech_marker_map *const map = &m->markers[i];
    struct mech_seat seat = {.slot = &m->sizes.v, .n = 1}; /* the ground's slot is nv */
    const char *field = NULL;

    map->kind = ops->kind;
    if (ops->seat) {
        enum mech_category category = MECH_NODE;
        const struct mech_ref *const ref = ops->seat(item->description, &category);
        const struct mech_seat_of *const on =
            category == MECH_NODE ? &m->nodes[ref->index] : &m->objects[ref->index];

        seat =
            (struct mech_seat){.item = &mech_document_items(m->document, category)->at[ref->index],
                               .slot = on->slot,
                               .n = on->n,
                               .first_order = on->first_order};
    }
    map->first_order = seat.first_order;
    const char *reason = ops->map(item->description, &seat, map, &field);
    if (reason) {
        char path[MECH_DIAG_PATH];

        mech_item_path(MECH_MARKER, i, field, path, sizeof path);
        mech_diag_add(diag, path, "%s", reason);
    }
}

int mech_layout(struct mech_model *m, struct mech_diag *diag)
{
    const struct mech_document *const d = m->document;
    int32_t *const body_of = mech_arena_alloc(&m->arena, d->nodes.n, sizeof *body_of);

    m->nodes = mech_arena_alloc(&m->arena, d->nodes.n, sizeof *m->nodes);
    m->objects = mech_arena_alloc(&m->arena, d->objects.n, sizeof *m->objects);
    m->markers = mech_arena_alloc(&m->arena, d->markers.n, sizeof *m->markers);
    if (!body_of || !m->nodes || !m->objects || !m->markers) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(number_coordinates(m, diag));
    for (size_t i = 0; i < d->nodes.n; i++) {
        body_of[i] = -1;
    }

    /* bodies, then the markers on them, then the connectors between those */
    for (size_t i = 0; i < d->objects.n; i++) {
        if (d->objects.at[i].type->ops.object->nodes) {
            MECH_TRY(attach_to_nodes(m, i, body_of, diag));
        }
    }
    for (size_t i = 0; i < d->markers.n; i++) {
        place_marker(m, i, diag);
    }
    for (size_t i = 0; i < d->objects.n; i++) {
        if (d->objects.at[i].type->ops.object->markers) {
            MECH_TRY(attach_to_markers(m, i, diag));
        }
    }
    for (size_t i = 0; i < d->nodes.n; i++) {
        if (body_of[i] < 0 && !m->nodes[i].first_order) {
            char path[MECH_DIAG_PATH];

            mech_item_path(MECH_NODE, i, NULL, path, sizeof path);
            mech_diag_add(diag, path, "no body gives this node a mass: singular mass matrix");
        }
    }
    return mech_diag_clean(diag) ? start_values(m) : 0;
}
