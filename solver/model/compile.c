/* From a document to a model: resolve, lay out, assemble, connect channels and contacts. Each pass
 * names what it reads of the passes before it, and runs only when all of that was built without a
 * fault; so as many faults as possible are reported at once. */
#include "solver/base/err.h"
#include "solver/items/unknown.h"
#include "solver/model/penalty.h"
#include "solver/model/touch_internal.h"

#include <stdlib.h>
#include <string.h>

static int use_parameters(struct mech_model *m, const double *values)
{
    const struct mech_parameters *const p = &m->document->parameters;
    double *const own = mech_arena_alloc(&m->arena, p->n, sizeof *own);

    if (!own) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < p->n; i++) {
        own[i] = values ? values[i] : p->at[i].value;
    }
    m->parameters = own;
    m->sizes.parameter = (int32_t)p->n;
    return 0;
}

/* What passes build. */
enum {
    RESOLVED = 1 << 0,  /* names, references, numbers of the document */
    LAID_OUT = 1 << 1,  /* slots, start values, where markers put forces */
    ASSEMBLED = 1 << 2, /* matrices, records, pairs, poses */
    CHANNELS = 1 << 3,
    INPUTS = 1 << 4,
    SENSORS = 1 << 5,
    OUTPUTS = 1 << 6,
    CONTACTS = 1 << 7,
    FIRST_ORDER_ROWS = 1 << 8,
    SHAPES = 1 << 9,
    SCENE = 1 << 10,
    PENALTY = 1 << 11
};

static int compile(struct mech_model *m, const double *parameters, struct mech_diag *diag)
{
    static const struct {
        int (*run)(struct mech_model *, struct mech_diag *);
        uint32_t builds, reads;
    } passes[] = {
        {mech_resolve, RESOLVED, 0},
        {mech_layout, LAID_OUT, RESOLVED},
        {mech_assemble, ASSEMBLED, RESOLVED | LAID_OUT},
        {mech_channels, CHANNELS, RESOLVED | LAID_OUT | ASSEMBLED},
        {mech_inputs, INPUTS, RESOLVED | LAID_OUT | ASSEMBLED | CHANNELS},
        {mech_sensors, SENSORS, RESOLVED},
        {mech_turns_of_sensors, 0, RESOLVED | LAID_OUT | ASSEMBLED | CHANNELS | SENSORS},
        {mech_outputs, OUTPUTS, RESOLVED | LAID_OUT | ASSEMBLED | SENSORS},
        {mech_contacts, CONTACTS, RESOLVED | LAID_OUT},
        {mech_first_order_rows, FIRST_ORDER_ROWS, RESOLVED | LAID_OUT},
        {mech_touch_shapes, SHAPES, RESOLVED | LAID_OUT | ASSEMBLED},
        {mech_touch_scene, SCENE, RESOLVED | LAID_OUT | ASSEMBLED | SHAPES},
        {mech_penalty, PENALTY, RESOLVED | LAID_OUT | ASSEMBLED | SHAPES | SCENE},
        {mech_channels_fold, 0, LAID_OUT | ASSEMBLED | CHANNELS | INPUTS},
    };
    uint32_t built = 0;

    MECH_TRY(use_parameters(m, parameters));
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        const size_t faults = diag->total;

        if ((passes[i].reads & built) == passes[i].reads) {
            MECH_TRY(passes[i].run(m, diag));
            built |= diag->total == faults ? passes[i].builds : 0;
        }
    }
    if (mech_diag_clean(diag)) {
        return 0;
    }
    MECH_TRY(mech_document_unknown(m->document, "", &m->arena, diag));
    return MECH_INVALID;
}

int mech_model_compile(struct mech_document *document, const double *parameters,
                       struct mech_diag *diag, struct mech_model **out)
{
    struct mech_model *const m = calloc(1, sizeof *m);

    *out = NULL;
    if (!m) {
        return MECH_NO_MEMORY;
    }
    m->document = document;
    mech_arena_init(&m->arena, 0);
    mech_arena_init(&m->scratch, 0);
    m->switches.arena = &m->arena;
    m->interrupt = mech_arena_alloc(&m->arena, 1, sizeof *m->interrupt);
    const int r = m->interrupt ? compile(m, parameters, diag) : MECH_NO_MEMORY;
    if (r) {
        mech_model_destroy(m);
        return r;
    }
    *out = m;
    return 0;
}

void mech_model_destroy(struct mech_model *m)
{
    if (!m) {
        return;
    }
    for (size_t b = 0; b < m->terms.batch_count; b++) {
        const struct mech_batch *const batch = &m->terms.batches[b];

        for (size_t r = 0; r < batch->n && batch->ops->release; r++) {
            batch->ops->release(batch->records + r * batch->ops->record_size);
        }
    }
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        if (m->rows.pairs[p].ops->release) {
            m->rows.pairs[p].ops->release(m->rows.pairs[p].record);
        }
    }
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        if (m->rows.equations[k].ops->release) {
            m->rows.equations[k].ops->release(m->rows.equations[k].record);
        }
    }
    for (size_t i = 0; i < m->channels.count; i++) {
        mech_timed_fini(&m->channels.at[i].source);
    }
    mech_touch_fini(m->rows.touch);
    mech_penalty_fini(m->rows.penalty);
    mech_arena_fini(&m->arena);
    mech_arena_fini(&m->scratch);
    free(m);
}

void mech_model_initial(const struct mech_model *m, struct mech_state *s)
{
    const size_t q = (size_t)m->sizes.q + 1, v = (size_t)m->sizes.v + 1;

    memset(s->block, 0, s->size);
    s->at->time = m->document->solver.start_time;
    s->at->changed = 1;
    memcpy(s->q, m->kinematics.q0, q * sizeof(double));
    memcpy(s->v, m->kinematics.v0, v * sizeof(double));
    memcpy(s->q_start, m->kinematics.q0, q * sizeof(double));
    memcpy(s->v_start, m->kinematics.v0, v * sizeof(double));
    memcpy(s->x, m->kinematics.x0, ((size_t)m->sizes.x + 1) * sizeof(double));
    memcpy(s->z, m->kinematics.z0, ((size_t)m->sizes.z + 1) * sizeof(double));
    memcpy(s->parameter, m->parameters, (size_t)m->sizes.parameter * sizeof(double));
    mech_model_keep(m, s);
    mech_model_forget_sides(m, s);
}

void mech_model_forget_sides(const struct mech_model *m, struct mech_state *s)
{
    for (int32_t r = 0; r < m->rows.joints.count; r++) {
        s->open[r] = m->rows.joints.released && m->rows.joints.released[r] ? MECH_LET_GO
                     : m->rows.dropped && m->rows.dropped[r]               ? 1.
                     : m->rows.joints.side[r]                              ? MECH_SIDE_UNKNOWN
                                                                           : 0.;
    }
}

int32_t mech_model_owners(const struct mech_model *m, int32_t *of)
{
    const size_t nodes = m->document->nodes.n, objects = m->document->objects.n;
    int32_t count = 0;

    for (size_t i = 0; i < nodes + objects; i++) {
        const struct mech_seat_of *const on =
            i < nodes ? &m->kinematics.nodes[i] : &m->kinematics.objects[i - nodes];
        const bool owns = i < nodes || m->document->objects.at[i - nodes].type->ops.object->own;

        for (int32_t k = 0; k < on->n && owns && !on->first_order; k++) {
            of[on->slot[k]] = count;
        }
        count += on->n && owns && !on->first_order;
    }
    return count;
}

/* The item that owns a velocity; its index in its category. */
static enum mech_category owner_of(const struct mech_model *m, int32_t column, size_t *index)
{
    for (size_t i = 0; i < m->document->objects.n; i++) {
        const struct mech_seat_of *const on = &m->kinematics.objects[i];
        const struct mech_object_ops *const ops = m->document->objects.at[i].type->ops.object;

        for (int32_t k = 0; k < on->n && (ops->body || ops->own) && !on->first_order; k++) {
            if (on->slot[k] == column) {
                *index = i;
                return MECH_OBJECT;
            }
        }
    }
    *index = 0;
    for (size_t i = 0; i < m->document->nodes.n; i++) {
        const struct mech_seat_of *const on = &m->kinematics.nodes[i];

        if (!on->first_order && on->n && column >= on->slot[0] && column < on->slot[0] + on->n) {
            *index = i;
            break;
        }
    }
    return MECH_NODE;
}

void mech_model_owner(const struct mech_model *m, int32_t column, char *path, size_t size)
{
    size_t index;
    const enum mech_category category = owner_of(m, column, &index);

    mech_item_path(category, index, NULL, path, size);
}

void mech_model_first_order_owner(const struct mech_model *m, int32_t column, char *path,
                                  size_t size)
{
    const size_t objects = m->document->objects.n, nodes = m->document->nodes.n;

    mech_text_copy(path, size, "");
    for (size_t i = 0; i < objects + nodes && !path[0]; i++) {
        const struct mech_seat_of *const on =
            i < objects ? &m->kinematics.objects[i] : &m->kinematics.nodes[i - objects];

        for (int32_t k = 0; k < on->n && on->first_order && !path[0]; k++) {
            if (on->slot[k] == column) {
                mech_item_path(i < objects ? MECH_OBJECT : MECH_NODE, i < objects ? i : i - objects,
                               NULL, path, size);
            }
        }
    }
}

const char *mech_model_owner_name(const struct mech_model *m, int32_t column)
{
    size_t index;

    return owner_of(m, column, &index) == MECH_OBJECT ? m->document->objects.at[index].name
                                                      : m->document->nodes.at[index].name;
}

/* --- what it is ------------------------------------------------------------------------------- */

const struct mech_state_sizes *mech_model_sizes(const struct mech_model *m)
{
    return &m->sizes;
}

const struct mech_settings *mech_model_settings(const struct mech_model *m)
{
    return &m->document->solver;
}

struct mech_interrupt *mech_model_interrupt(const struct mech_model *m)
{
    return m->interrupt;
}

const struct mech_linear_part *mech_model_linear(const struct mech_model *m)
{
    return &m->terms.linear;
}

const struct mech_contact_settings *mech_model_contact_settings(const struct mech_model *m)
{
    return &m->document->contact;
}

const double *mech_model_gravity(const struct mech_model *m)
{
    return m->document->gravity;
}

const struct mech_contact_rows *mech_model_contacts(const struct mech_model *m)
{
    return &m->rows.contacts;
}

const char *mech_model_contact_name(const struct mech_model *m, int32_t row)
{
    const struct mech_interaction *const all = m->document->interactions.at;

    return all[m->rows.contacts.interaction[row]].name;
}

const struct mech_first_order_rows *mech_model_first_order_rows(const struct mech_model *m)
{
    return &m->rows.first_rows;
}

const char *mech_model_first_order_name(const struct mech_model *m, int32_t row)
{
    const struct mech_interaction *const all = m->document->interactions.at;

    return all[m->rows.first_rows.interaction[row]].name;
}

size_t mech_model_memory(const struct mech_model *m)
{
    const size_t scene =
        m->rows.touch && m->rows.touch->scene ? mech_scene_memory(m->rows.touch->scene) : 0;

    return sizeof *m + m->arena.total + m->scratch.total + scene;
}

const double *mech_model_reference(const struct mech_model *m)
{
    return m->kinematics.q_ref;
}

const double *mech_model_item_force(const struct mech_model *m)
{
    return m->terms.item_force;
}

const struct mech_mat *mech_model_first_order(const struct mech_model *m)
{
    return &m->terms.A;
}

const struct mech_mat *mech_model_first_order_mass(const struct mech_model *m,
                                                   const struct mech_mat **A)
{
    *A = m->terms.first.has_mass ? &m->terms.first.A : &m->terms.A;
    return m->terms.first.has_mass ? &m->terms.first.X : NULL;
}

void mech_model_first_order_push(const struct mech_model *m, const double *impulse, double *r)
{
    const struct mech_first_order_rows *const rows = &m->rows.first_rows;
    const struct mech_first_order *const first = &m->terms.first;

    for (int32_t i = 0; i < rows->count; i++) {
        if (mech_is_suspended(rows->suspended, i)) {
            continue;
        }
        for (int32_t k = rows->B_start[i]; k < rows->B_start[i + 1]; k++) {
            const int32_t j = rows->B_row[k];
            const double push = rows->B_value[k] * impulse[m->rows.contacts.count + i];

            if (!first->has_mass) {
                r[j] += push;
                continue;
            }
            for (size_t l = first->start[j]; l < first->start[j + 1]; l++) {
                r[first->row[l]] += first->value[l] * push;
            }
        }
    }
}

size_t mech_model_inputs(const struct mech_model *m)
{
    return m->document->inputs.n;
}

const struct mech_channel_info *mech_model_input(const struct mech_model *m, size_t i)
{
    return &m->channels.inputs[i];
}

size_t mech_model_outputs(const struct mech_model *m)
{
    return m->channels.output_count;
}

const struct mech_channel_info *mech_model_output(const struct mech_model *m, size_t i)
{
    return &m->channels.outputs[i];
}

int32_t mech_model_output_size(const struct mech_model *m)
{
    return m->channels.output_size;
}

int32_t mech_model_find(const struct mech_model *m, enum mech_category category, const char *name)
{
    return category <= MECH_SENSOR ? mech_names_find(&m->names[category], name) : -1;
}

struct mech_arena *mech_model_scratch(const struct mech_model *m)
{
    /* the model is const to its readers; its scratch is the one thing that they may use up */
    union {
        const struct mech_arena *from;
        struct mech_arena *to;
    } scratch = {.from = &m->scratch};

    return scratch.to;
}
