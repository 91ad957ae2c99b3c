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
    seat->n = seat->nq = n;
    seat->slot = mech_arena_alloc(&m->arena, (size_t)n, sizeof *seat->slot);
    if (!seat->slot) {
        return MECH_NO_MEMORY;
    }
    for (int32_t i = 0; i < n; i++) {
        seat->slot[i] = first + i;
    }
    seat->q_slot = seat->slot;
    return 0;
}

/* Coordinates of their own numbers: once a node before has more coordinates than velocities. */
static int new_q_slots(struct mech_model *m, struct mech_seat_of *seat, int32_t n, int32_t first)
{
    seat->nq = n;
    seat->q_slot = mech_arena_alloc(&m->arena, (size_t)n, sizeof *seat->q_slot);
    if (!seat->q_slot) {
        return MECH_NO_MEMORY;
    }
    for (int32_t i = 0; i < n; i++) {
        seat->q_slot[i] = first + i;
    }
    return 0;
}

/* Give coordinates to nodes and to objects that bring their own. */
static int number_coordinates(struct mech_model *m, struct mech_diag *diag)
{
    const struct mech_document *const d = m->document;
    int64_t v = 0, q = 0, x = 0, z = 0;

    for (size_t i = 0; i < d->nodes.n; i++) {
        const struct mech_item *const item = &d->nodes.at[i];
        const struct mech_node_ops *const ops = item->type->ops.node;
        int64_t *const next = ops->data ? &z : ops->first_order ? &x : &v;
        const int32_t n = ops->size(item->description);
        const int32_t nq = ops->coordinates ? ops->coordinates(item->description) : n;

        m->kinematics.nodes[i].first_order = ops->first_order;
        m->kinematics.nodes[i].data = ops->data;
        m->kinematics.nodes[i].curved = ops->coordinates;
        MECH_TRY(new_slots(m, &m->kinematics.nodes[i], n, (int32_t)*next));
        if (!ops->first_order && (q != v || nq != n)) {
            MECH_TRY(new_q_slots(m, &m->kinematics.nodes[i], nq, (int32_t)q));
        }
        m->kinematics.curved = m->kinematics.curved || ops->coordinates;
        q += ops->first_order ? 0 : nq;
        *next += n;
        if (v + x + z > MOST_COORDINATES) {
            mech_diag_add(diag, "/nodes", "more than %d coordinates", MOST_COORDINATES);
            return MECH_INVALID;
        }
    }
    for (size_t i = 0; i < d->objects.n; i++) {
        const struct mech_item *const item = &d->objects.at[i];
        const struct mech_object_ops *const ops = item->type->ops.object;

        if (ops->own) {
            const int32_t n = ops->own(item->description);

            m->kinematics.objects[i].first_order = ops->first_order;
            MECH_TRY(
                new_slots(m, &m->kinematics.objects[i], n, (int32_t)(ops->first_order ? x : v)));
            if (!ops->first_order && q != v) {
                MECH_TRY(new_q_slots(m, &m->kinematics.objects[i], n, (int32_t)q));
            }
            v += ops->first_order ? 0 : n;
            q += ops->first_order ? 0 : n;
            x += ops->first_order ? n : 0;
        }
        if (v + x > MOST_COORDINATES) {
            mech_diag_add(diag, "/objects", "more than %d coordinates", MOST_COORDINATES);
            return MECH_INVALID;
        }
    }
    m->sizes.q = (int32_t)q;
    m->sizes.v = (int32_t)v;
    m->sizes.x = (int32_t)x;
    m->sizes.z = (int32_t)z;
    return 0;
}

/* Who owns which second-order coordinates. */
static int list_owners(struct mech_model *m)
{
    const size_t nodes = m->document->nodes.n, objects = m->document->objects.n;

    if (!m->kinematics.curved) {
        return 0;
    }
    m->kinematics.seats = mech_arena_alloc(&m->arena, nodes + objects, sizeof *m->kinematics.seats);
    m->kinematics.seat_ops =
        mech_arena_alloc(&m->arena, nodes + objects, sizeof *m->kinematics.seat_ops);
    if (!m->kinematics.seats || !m->kinematics.seat_ops) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < nodes; i++) {
        const struct mech_node_ops *const ops = m->document->nodes.at[i].type->ops.node;

        if (!ops->first_order && m->kinematics.nodes[i].n) {
            m->kinematics.seat_ops[m->kinematics.seat_count] = ops->coordinates ? ops : NULL;
            m->kinematics.seats[m->kinematics.seat_count++] = &m->kinematics.nodes[i];
        }
    }
    for (size_t i = 0; i < objects; i++) {
        if (m->document->objects.at[i].type->ops.object->own && m->kinematics.objects[i].n &&
            !m->kinematics.objects[i].first_order) {
            m->kinematics.seats[m->kinematics.seat_count++] = &m->kinematics.objects[i];
        }
    }
    return 0;
}

static int start_values(struct mech_model *m)
{
    const struct mech_document *const d = m->document;
    const size_t q = (size_t)m->sizes.q + 1, v = (size_t)m->sizes.v + 1;
    const size_t x = (size_t)m->sizes.x + 1, z = (size_t)m->sizes.z + 1;
    const size_t longest = (q > v ? q : v) + (x > z ? x : z);
    double **const vectors[] = {&m->kinematics.q_ref, &m->kinematics.q0, &m->kinematics.v0,
                                &m->kinematics.x_ref, &m->kinematics.x0, &m->kinematics.zeros};
    const size_t lengths[] = {q, q, v, x, x, longest};

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = mech_arena_alloc(&m->arena, lengths[i], sizeof(double));
        if (!*vectors[i]) {
            return MECH_NO_MEMORY;
        }
    }
    for (size_t i = 0; i < d->nodes.n; i++) {
        const struct mech_node_ops *const ops = d->nodes.at[i].type->ops.node;
        const struct mech_seat_of *const seat = &m->kinematics.nodes[i];
        const int32_t first = seat->n ? seat->slot[0] : 0, q_first = seat->nq ? seat->q_slot[0] : 0;

        if (seat->n == 0 || seat->data) {
            continue;
        }
        if (ops->first_order) {
            ops->start(d->nodes.at[i].description, m->kinematics.x_ref + first,
                       m->kinematics.x0 + first, NULL);
            continue;
        }
        ops->start(d->nodes.at[i].description, m->kinematics.q_ref + q_first,
                   m->kinematics.q0 + q_first, m->kinematics.v0 + first);
        for (int32_t k = q_first; k < q_first + seat->nq; k++) {
            m->kinematics.q0[k] += m->kinematics.q_ref[k];
        }
        if (ops->move) {
            ops->move(m->kinematics.q0 + q_first, m->kinematics.zeros, m->kinematics.q0 + q_first);
        }
    }
    for (size_t i = 0; i < d->objects.n; i++) {
        const struct mech_object_ops *const ops = d->objects.at[i].type->ops.object;

        if (ops->own && m->kinematics.objects[i].n) {
            const struct mech_seat_of *const seat = &m->kinematics.objects[i];

            if (seat->first_order) {
                ops->start(d->objects.at[i].description, m->kinematics.x0 + seat->slot[0], NULL);
                continue;
            }
            ops->start(d->objects.at[i].description, m->kinematics.q0 + seat->q_slot[0],
                       m->kinematics.v0 + seat->slot[0]);
        }
    }
    return 0;
}

/* Slots of an object from its nodes; bodies claim their nodes. */
static int attach_to_nodes(struct mech_model *m, size_t i, int32_t *body_of, struct mech_diag *diag)
{
    const struct mech_item *const item = &m->document->objects.at[i];
    const struct mech_object_ops *const ops = item->type->ops.object;
    struct mech_seat_of *const seat = &m->kinematics.objects[i];
    struct mech_attachment at;
    char path[MECH_DIAG_PATH];
    int64_t n = 0, nq = 0;

    ops->nodes(item->description, &at);
    for (size_t k = 0; k < at.n; k++) {
        n += m->kinematics.nodes[at.refs[k].index].n;
        nq += m->kinematics.nodes[at.refs[k].index].nq;
    }
    if (n > MOST_COORDINATES) {
        mech_item_path(MECH_OBJECT, i, at.field, path, sizeof path);
        mech_diag_add(diag, path, "more than %d coordinates", MOST_COORDINATES);
        return 0;
    }
    MECH_TRY(new_slots(m, seat, (int32_t)n, 0));
    MECH_TRY(new_q_slots(m, seat, (int32_t)nq, 0));
    n = nq = 0;
    for (size_t k = 0; k < at.n; k++) {
        const int32_t node = at.refs[k].index;
        const struct mech_seat_of *const from = &m->kinematics.nodes[node];

        mech_item_path(MECH_OBJECT, i, at.field, path, sizeof path);
        if (at.list) {
            snprintf(path + strlen(path), sizeof path - strlen(path), "/%zu", k);
        }
        if (from->data) {
            mech_diag_add(diag, path, "is a node of data, which has no equations");
        }
        if (k > 0 && from->first_order != seat->first_order) {
            mech_diag_add(diag, path, "mixes first-order and second-order nodes");
        }
        seat->first_order = from->first_order;
        seat->curved = seat->curved || from->curved;
        memcpy(seat->slot + n, from->slot, (size_t)from->n * sizeof *from->slot);
        memcpy(seat->q_slot + nq, from->q_slot, (size_t)from->nq * sizeof *from->q_slot);
        n += from->n;
        nq += from->nq;
        seat->first = k ? seat->first : (int32_t)n;
        const bool shared = ops->element && body_of[node] >= 0 &&
                            m->document->objects.at[body_of[node]].type->ops.object->element;

        if (ops->body && body_of[node] >= 0 && !shared) {
            mech_diag_add(diag, path, "the node \"%s\" belongs to \"%s\" already",
                          m->document->nodes.at[node].name,
                          m->document->objects.at[body_of[node]].name);
        } else if (ops->body) {
            body_of[node] = (int32_t)i;
        }
    }
    return 0;
}

/* The coordinate behind a velocity of a seat: nodes of vectors have them side by side. */
static int32_t q_slot_of(const struct mech_model *m, const struct mech_seat *on, int32_t slot)
{
    for (int32_t k = 0; k < on->n && k < on->nq; k++) {
        if (on->slot[k] == slot) {
            return on->q_slot[k];
        }
    }
    return m->sizes.q;
}

/* Most coordinates that markers bring to a connector. */
static int64_t most_slots(const struct mech_model *m, const struct mech_attachment *at)
{
    int64_t n = 0;

    for (size_t k = 0; k < at->n; k++) {
        const int32_t i = at->refs[k].index;

        n += m->kinematics.markers[i].kind == MECH_MARKER_COORDINATES ||
                     m->kinematics.markers[i].flexible
                 ? m->kinematics.marker_seats[i].n
                 : MECH_MARKER_SLOTS;
    }
    return n;
}

/* All coordinates behind a marker to the end of a seat. */
static void take_all(const struct mech_seat *on, struct mech_seat_of *seat, int32_t *n)
{
    memcpy(seat->slot + *n, on->slot, (size_t)on->n * sizeof *on->slot);
    memcpy(seat->q_slot + *n, on->q_slot, (size_t)on->n * sizeof *on->q_slot);
    *n += on->n;
}

/* Slots of a connector from its markers. */
static int attach_to_markers(struct mech_model *m, size_t i, struct mech_diag *diag)
{
    const struct mech_item *const item = &m->document->objects.at[i];
    const struct mech_object_ops *const ops = item->type->ops.object;
    struct mech_seat_of *const seat = &m->kinematics.objects[i];
    struct mech_attachment at;
    int32_t n = 0;

    ops->markers(item->description, &at);
    if (most_slots(m, &at) > MOST_COORDINATES) {
        char path[MECH_DIAG_PATH];

        mech_item_path(MECH_OBJECT, i, at.field, path, sizeof path);
        mech_diag_add(diag, path, "more than %d coordinates", MOST_COORDINATES);
        return 0;
    }
    MECH_TRY(new_slots(m, seat, (int32_t)most_slots(m, &at), 0));
    MECH_TRY(new_q_slots(m, seat, (int32_t)most_slots(m, &at), 0));
    for (size_t k = 0; k < at.n; k++) {
        const struct mech_marker_map *const map = &m->kinematics.markers[at.refs[k].index];

        if (!(ops->marker_kinds & 1u << map->kind)) {
            char path[MECH_DIAG_PATH];

            mech_item_path(MECH_OBJECT, i, at.field, path, sizeof path);
            snprintf(path + strlen(path), sizeof path - strlen(path), "/%zu", k);
            mech_diag_add(diag, path, "the marker \"%s\" is of another kind than this needs",
                          at.refs[k].name);
        }
        const struct mech_seat *const on = &m->kinematics.marker_seats[at.refs[k].index];

        if (map->kind == MECH_MARKER_COORDINATES) {
            take_all(on, seat, &n);
        }
        for (int32_t j = 0; j < map->n; j++) {
            /* of a coordinate's marker; elsewhere poses are used, not coordinates */
            seat->q_slot[n] =
                map->kind == MECH_MARKER_COORDINATE ? q_slot_of(m, on, map->slot[j]) : m->sizes.q;
            seat->slot[n++] = map->flexible ? on->slot[j] : map->slot[j];
        }
        seat->first = k ? seat->first : n;
        seat->first_order = seat->first_order || map->first_order;
    }
    seat->n = seat->nq = n;
    return 0;
}

static void place_marker(struct mech_model *m, size_t i, struct mech_diag *diag)
{
    const struct mech_item *const item = &m->document->markers.at[i];
    const struct mech_marker_ops *const ops = item->type->ops.marker;
    struct mech_marker_map *const map = &m->kinematics.markers[i];
    /* the ground's slots are nv and nq */
    struct mech_seat seat = {.slot = &m->sizes.v, .q_slot = &m->sizes.q, .n = 1, .nq = 1};
    const char *field = NULL;
    bool data = false;

    map->kind = ops->kind;
    if (ops->seat) {
        enum mech_category category = MECH_NODE;
        const struct mech_ref *const ref = ops->seat(item->description, &category);
        const struct mech_seat_of *const on = category == MECH_NODE
                                                  ? &m->kinematics.nodes[ref->index]
                                                  : &m->kinematics.objects[ref->index];

        data = on->data;
        field = data ? "node" : NULL;
        seat =
            (struct mech_seat){.item = &mech_document_items(m->document, category)->at[ref->index],
                               .slot = on->slot,
                               .q_slot = on->q_slot,
                               .n = on->n,
                               .nq = on->nq,
                               .first_order = on->first_order};
    }
    m->kinematics.marker_seats[i] = seat;
    map->first_order = seat.first_order;
    const char *reason = data ? "is a node of data, on which nothing can act"
                              : ops->map(item->description, &seat, map, &field);
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

    m->kinematics.body_of = body_of;

    m->kinematics.nodes = mech_arena_alloc(&m->arena, d->nodes.n, sizeof *m->kinematics.nodes);
    m->kinematics.objects =
        mech_arena_alloc(&m->arena, d->objects.n, sizeof *m->kinematics.objects);
    m->kinematics.markers =
        mech_arena_alloc(&m->arena, d->markers.n, sizeof *m->kinematics.markers);
    /* bodies may add a centre of mass each */
    m->kinematics.marker_seats = mech_arena_alloc(&m->arena, d->markers.n + d->objects.n,
                                                  sizeof *m->kinematics.marker_seats);
    if (!body_of || !m->kinematics.nodes || !m->kinematics.objects || !m->kinematics.markers ||
        !m->kinematics.marker_seats) {
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
        if (body_of[i] < 0 && !m->kinematics.nodes[i].first_order && m->kinematics.nodes[i].n > 0) {
            char path[MECH_DIAG_PATH];

            mech_item_path(MECH_NODE, i, NULL, path, sizeof path);
            mech_diag_add(diag, path, "no body gives this node a mass: singular mass matrix");
        }
    }
    MECH_TRY(list_owners(m));
    return mech_diag_clean(diag) ? start_values(m) : 0;
}
