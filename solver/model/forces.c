/* F(t): what acts from outside. Each scalar component of a load or of a system's external force is
 * a channel: a number, an expression or an input, and the coordinates on which it acts with their
 * weights. Channels that never change are folded into one constant vector. */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/model/internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Twice the room when an array of the arena is full; the old one stays behind until the end. */
static void *grown(struct mech_arena *arena, void *at, size_t *capacity, size_t size)
{
    const size_t more = *capacity ? 2 * *capacity : 64;
    void *const fresh = mech_arena_alloc(arena, more, size);

    if (fresh && *capacity) {
        memcpy(fresh, at, *capacity * size);
    }
    *capacity = more;
    return fresh;
}

struct mech_channel *mech_channel_new(struct mech_model *m)
{
    if (m->channels.count == m->channels.capacity) {
        m->channels.at =
            grown(&m->arena, m->channels.at, &m->channels.capacity, sizeof *m->channels.at);
        if (!m->channels.at) {
            return NULL;
        }
    }
    struct mech_channel *const c = &m->channels.at[m->channels.count++];

    *c = (struct mech_channel){
        .input = -1, .start = m->channels.entry_count, .end = m->channels.entry_count};
    return c;
}

int mech_channel_entry(struct mech_model *m, int32_t slot, double weight)
{
    if (m->channels.entry_count == m->channels.entry_capacity) {
        m->channels.entries = grown(&m->arena, m->channels.entries, &m->channels.entry_capacity,
                                    sizeof *m->channels.entries);
        if (!m->channels.entries) {
            return MECH_NO_MEMORY;
        }
    }
    m->channels.entries[m->channels.entry_count++] = (struct mech_channel_entry){slot, weight};
    m->channels.at[m->channels.count - 1].end = m->channels.entry_count;
    return 0;
}

/* --- loads and systems ------------------------------------------------------------------------ */

/* t, then z0, z1, …, closed by NULL */
static const char **variable_names(struct mech_arena *arena, size_t z)
{
    const char **const names = mech_arena_alloc(arena, z + 2, sizeof *names);
    char *const text = mech_arena_alloc(arena, z, 24);

    if (!names || !text) {
        return NULL;
    }
    names[0] = "t";
    for (size_t i = 0; i < z; i++) {
        snprintf(text + 24 * i, 24, "z%zu", i);
        names[1 + i] = text + 24 * i;
    }
    return names;
}

/* Value number i of `values` into the newest channel. */
static int set_source(struct mech_model *m, const struct mech_values *values, size_t i,
                      const struct mech_scope *scope, const char *path, struct mech_diag *diag)
{
    struct mech_channel *const c = &m->channels.at[m->channels.count - 1];

    MECH_TRY(mech_timed_read(&c->source, values, i, scope, path, diag));
    m->channels.timed = m->channels.timed || mech_timed_varies(&c->source);
    return 0;
}

static int load_channels(struct mech_model *m, size_t l, struct mech_scope *scope,
                         struct mech_diag *diag)
{
    const struct mech_item *const item = &m->document->loads.at[l];
    const struct mech_load_ops *const ops = item->type->ops.load;
    const struct mech_marker_map *const map =
        &m->kinematics.markers[ops->marker(item->description)->index];
    char path[MECH_DIAG_PATH];

    m->terms.loads[l].channel = (int32_t)m->channels.count;
    if (!(ops->markers & 1u << map->kind)) {
        mech_item_path(MECH_LOAD, l, "marker", path, sizeof path);
        mech_diag_add(diag, path, "the marker is of another kind than this load needs");
    }
    for (int32_t k = 0; k < ops->size; k++) {
        struct mech_channel *const c = mech_channel_new(m);
        double w[6];

        if (!c) {
            return MECH_NO_MEMORY;
        }
        c->category = MECH_LOAD;
        c->item = (int32_t)l;
        c->row = k;
        c->first_order = map->first_order;
        mech_item_path(MECH_LOAD, l, "load", path, sizeof path);
        if (ops->size > 1) {
            snprintf(path + strlen(path), sizeof path - strlen(path), "/%d", (int)k);
        }
        ops->wrench(item->description, k, map, w);
        if (map->moving) {
            struct mech_moving_load load = {
                .moving = m->kinematics.moving_of[ops->marker(item->description)->index],
                .channel = (int32_t)m->channels.count - 1,
                .body_fixed = ops->body_fixed && ops->body_fixed(item->description)};

            memcpy(load.w, w, sizeof load.w);
            MECH_TRY(mech_moving_load_new(m, &load));
        }
        for (int32_t i = 0; i < map->n && !map->moving; i++) {
            double weight = 0.;

            for (int r = 0; r < 6; r++) {
                weight += map->J[r][i] * w[r];
            }
            MECH_TRY(mech_channel_entry(m, map->slot[i], weight));
        }
        MECH_TRY(set_source(m, ops->values(item->description), (size_t)k, scope, path, diag));
    }
    return 0;
}

/* Where a channel of a system acts: on one slot, or through X⁻¹. */
static int system_entries(struct mech_model *m, int32_t slot, bool first_order)
{
    const struct mech_first_order *const f = &m->terms.first;

    if (!first_order || !f->has_mass) {
        return mech_channel_entry(m, slot, 1.);
    }
    for (size_t k = f->start[slot]; k < f->start[slot + 1]; k++) {
        MECH_TRY(mech_channel_entry(m, f->row[k], f->value[k]));
    }
    return 0;
}

static int system_channels(struct mech_model *m, size_t o, struct mech_diag *diag)
{
    const struct mech_item *const item = &m->document->objects.at[o];
    const struct mech_values *force = NULL;
    const struct mech_vector *z = NULL;
    struct mech_scope scope;

    item->type->ops.object->excitation(item->description, &force, &z);
    const char **const names = variable_names(&m->arena, z->n);
    if (!names ||
        mech_scope_init(&scope, &m->arena, names, &m->document->parameters, m->parameters)) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < force->n; i++) {
        char path[MECH_DIAG_PATH];

        if ((!force->text || !force->text[i]) && (!force->series || !force->series[i].t.n) &&
            force->number[i] == 0.) {
            continue;
        }
        struct mech_channel *const c = mech_channel_new(m);
        if (!c) {
            return MECH_NO_MEMORY;
        }
        c->category = MECH_OBJECT;
        c->item = (int32_t)o;
        c->row = (int32_t)i;
        c->z = m->sizes.z;
        c->z_count = (int32_t)z->n;
        c->first_order = m->kinematics.objects[o].first_order;
        mech_item_path(MECH_OBJECT, o, item->type->ops.object->excitation_field, path, sizeof path);
        snprintf(path + strlen(path), sizeof path - strlen(path), "/%zu", i);
        MECH_TRY(system_entries(m, m->kinematics.objects[o].slot[i], c->first_order));
        MECH_TRY(set_source(m, force, i, &scope, path, diag));
    }
    m->sizes.z += (int32_t)z->n;
    return 0;
}

/* z of nodes, and of all systems, side by side, behind what pairs keep */
static int start_data(struct mech_model *m)
{
    int32_t at = m->kinematics.kept;

    m->kinematics.z0 =
        mech_arena_alloc(&m->arena, (size_t)m->sizes.z + 1, sizeof *m->kinematics.z0);
    if (!m->kinematics.z0) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < m->document->nodes.n; i++) {
        const struct mech_item *const item = &m->document->nodes.at[i];

        if (m->kinematics.nodes[i].data && m->kinematics.nodes[i].n) {
            item->type->ops.node->start(item->description, NULL,
                                        m->kinematics.z0 + m->kinematics.nodes[i].slot[0], NULL);
        }
    }
    for (size_t o = 0; o < m->document->objects.n; o++) {
        const struct mech_item *const item = &m->document->objects.at[o];
        const struct mech_values *force = NULL;
        const struct mech_vector *z = NULL;

        if (item->type->ops.object->excitation) {
            item->type->ops.object->excitation(item->description, &force, &z);
            for (size_t i = 0; i < z->n; i++) {
                m->kinematics.z0[at++] = z->x[i];
            }
        }
    }
    return 0;
}

int mech_channels(struct mech_model *m, struct mech_diag *diag)
{
    static const char *const time_only[] = {"t", NULL};
    struct mech_scope scope;

    m->terms.loads = mech_arena_alloc(&m->arena, m->document->loads.n, sizeof *m->terms.loads);
    if (!m->terms.loads ||
        mech_scope_init(&scope, &m->arena, time_only, &m->document->parameters, m->parameters)) {
        return MECH_NO_MEMORY;
    }
    for (size_t l = 0; l < m->document->loads.n; l++) {
        MECH_TRY(load_channels(m, l, &scope, diag));
    }
    for (size_t o = 0; o < m->document->objects.n; o++) {
        if (m->document->objects.at[o].type->ops.object->excitation) {
            MECH_TRY(system_channels(m, o, diag));
        }
    }
    return start_data(m);
}

int mech_channels_fold(struct mech_model *m, struct mech_diag *diag)
{
    (void)diag;
    m->channels.dynamic =
        mech_arena_alloc(&m->arena, m->channels.count, sizeof *m->channels.dynamic);
    if (!m->channels.dynamic) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < m->channels.count; i++) {
        const struct mech_channel *const c = &m->channels.at[i];

        if (mech_timed_varies(&c->source) || c->input >= 0) {
            m->channels.dynamic[m->channels.dynamic_count++] = i;
            continue;
        }
        for (size_t k = c->start; k < c->end; k++) {
            double *const to = c->first_order ? m->terms.rate : m->terms.base;

            to[m->channels.entries[k].slot] += m->channels.entries[k].weight * c->source.number;
        }
    }
    m->terms.base[m->sizes.v] = 0.;
    return mech_switches_channels(m);
}

/* --- evaluation ------------------------------------------------------------------------------- */

/* An input at time t: value and derivatives from the time since which they hold. A value of -0 that
 * does not change keeps its sign. */
static double extrapolate(const double in[4], double t)
{
    const double dt = t - in[3], change = dt * (in[1] + 0.5 * dt * in[2]);

    return change != 0. ? in[0] + change : in[0];
}

static double channel_value(const struct mech_channel *c, const struct mech_state *s, double t)
{
    if (c->input >= 0 && s->input_set[c->input] != 0.) {
        if (s->signals && s->signals[c->input].n > 0) {
            return mech_signal_value(&s->signals[c->input], t);
        }
        return extrapolate(s->input + 4 * (size_t)c->input, t);
    }
    for (int32_t i = 0; c->source.value && i < c->z_count; i++) {
        c->source.vars[1 + i] = s->z[c->z + i];
    }
    return mech_timed_value(&c->source, t);
}

double mech_model_channel_value(const struct mech_model *m, const struct mech_state *s, size_t i,
                                double t)
{
    return channel_value(&m->channels.at[i], s, t);
}

/* f += all channels of that order; 0 or MECH_NOT_FINITE */
static int add_channels(const struct mech_model *m, const struct mech_state *s, double t,
                        bool first_order, double *f)
{
    bool finite = true;

    for (size_t i = 0; i < m->channels.dynamic_count; i++) {
        const struct mech_channel *const c = &m->channels.at[m->channels.dynamic[i]];

        if (c->first_order != first_order) {
            continue;
        }
        const double value = channel_value(c, s, t);
        finite = finite && isfinite(value);
        for (size_t k = c->start; k < c->end; k++) {
            f[m->channels.entries[k].slot] += m->channels.entries[k].weight * value;
        }
    }
    return finite ? 0 : MECH_NOT_FINITE;
}

bool mech_model_constant_force(const struct mech_model *m, const struct mech_state *s)
{
    for (size_t i = 0; i < m->channels.dynamic_count; i++) {
        const struct mech_channel *const c = &m->channels.at[m->channels.dynamic[i]];

        if (c->input >= 0 && s->input_set[c->input] != 0.) {
            const double *const in = s->input + 4 * (size_t)c->input;

            if (s->signals && s->signals[c->input].n > 0) {
                return false;
            }
            if (in[1] != 0. || in[2] != 0.) {
                return false;
            }
        } else if (mech_timed_varies(&c->source)) {
            return false;
        }
    }
    return true;
}

int mech_model_force(const struct mech_model *m, const struct mech_state *s, double t, double *f)
{
    const size_t n = (size_t)m->sizes.v + 1;

    memcpy(f, m->terms.base, n * sizeof *f);
    if (s->extra) {
        for (size_t i = 0; i + 1 < n; i++) {
            f[i] += s->extra[i];
        }
    }
    return add_channels(m, s, t, false, f);
}

void mech_model_outer_sizes(const struct mech_model *m, const struct mech_state *s, double t,
                            double *S)
{
    for (int32_t i = 0; i <= m->sizes.v; i++) {
        S[i] = fabs(m->terms.base[i]) + (s && s->extra && i < m->sizes.v ? fabs(s->extra[i]) : 0.);
    }
    for (size_t i = 0; s && i < m->channels.dynamic_count; i++) {
        const struct mech_channel *const c = &m->channels.at[m->channels.dynamic[i]];
        const double value = c->first_order ? 0. : channel_value(c, s, t);

        for (size_t k = c->start; k < c->end && !c->first_order; k++) {
            S[m->channels.entries[k].slot] += fabs(m->channels.entries[k].weight * value);
        }
    }
}

int mech_model_rate(const struct mech_model *m, const struct mech_state *s, double t, double *r)
{
    memcpy(r, m->terms.rate, ((size_t)m->sizes.x + 1) * sizeof *r);
    return add_channels(m, s, t, true, r);
}

void mech_model_blame(const struct mech_model *m, const struct mech_state *s, double t, char *text,
                      size_t size)
{
    for (size_t i = 0; i < m->channels.dynamic_count; i++) {
        const struct mech_channel *const c = &m->channels.at[m->channels.dynamic[i]];

        if (!isfinite(channel_value(c, s, t))) {
            const bool marker = c->category == MECH_MARKER;
            const struct mech_items *const items = mech_document_items(m->document, c->category);

            snprintf(text, size, "the %s of \"%s\"%s t = %.9g", c->source.curve ? "table" : "force",
                     items->at[c->item].name,
                     c->source.curve ? " has no value at"
                     : marker        ? " (an input) is not finite at"
                                     : " is not finite at",
                     t);
            return;
        }
    }
    mech_text_format(text, size, "a force is not finite at t = %.9g", t);
}

double mech_model_input_value(const struct mech_model *m, const struct mech_state *s, int32_t input,
                              size_t i, double t)
{
    const struct mech_channel_info *const info = &m->channels.inputs[i];

    if (info->kind == MECH_INPUT_PARAMETER) {
        return s->parameter[info->parameter];
    }
    return channel_value(&m->channels.at[m->channels.input_channel[input]], s, t);
}

void mech_model_marker_force(const struct mech_model *m, int32_t marker, const double *values,
                             double *f)
{
    const struct mech_marker_map *const map = &m->kinematics.markers[marker];
    const bool one = map->kind == MECH_MARKER_COORDINATE || map->kind == MECH_MARKER_ROTATION;
    const int rows = one ? 1 : map->kind == MECH_MARKER_RIGID ? 6 : 3;

    for (int32_t i = 0; i < map->n && !map->first_order && !map->moving; i++) {
        for (int r = 0; r < rows; r++) {
            f[map->slot[i]] += map->J[r][i] * values[r];
        }
    }
}
