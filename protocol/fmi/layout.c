/* Variables of FMUs from the channels of a model. */
#include "protocol/fmi/layout.h"

#include "solver/base/err.h"
#include "solver/base/hash.h"
#include "solver/base/name.h"
#include "solver/base/text.h"
#include "solver/items/limits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = MECH_NAME_MAX + 32, TEXT_ROOM = 3 * MECH_NAME_MAX };

struct builder {
    struct mechp_fmi_layout *layout;
    const struct mech_sim *sim;
    const struct mech_document *document;
    struct mech_limits *limits; /* [parameters] */
    uint32_t beyond;            /* the next reference behind those of mech_variable */
};

static size_t count_of(const struct mech_sim *sim, enum mech_causality causality)
{
    return mech_sim_variable_count(sim, causality);
}

/* values of all channels of that causality */
static int32_t packed(const struct mech_sim *sim, enum mech_causality causality)
{
    const size_t n = count_of(sim, causality);
    struct mech_variable last;

    if (n == 0) {
        return 0;
    }
    mech_sim_variable(sim, causality, n - 1, &last);
    return last.offset + last.size;
}

/* how many units there are in "N, N m" */
static int32_t parts_of(const char *unit)
{
    int32_t parts = 1;

    for (; *unit; unit++) {
        parts += *unit == ',';
    }
    return parts;
}

/* the part-th unit of a list, copied */
static const char *unit_of(struct mech_arena *arena, const char *units, int32_t part)
{
    const char *from = units;

    for (; part > 0; part--) {
        from = strchr(from, ',') + 2;
    }
    char *const unit = mech_arena_strdup(arena, from);
    if (unit) {
        unit[strcspn(unit, ",")] = '\0';
    }
    return unit;
}

/* --- what the model says of a channel --------------------------------------------------------- */

static const struct mech_input *input_of(const struct builder *b, int32_t channel)
{
    return (const struct mech_input *)b->document->inputs.at + channel;
}

/* a document without outputs has all its sensors for them */
static const struct mech_item *sensor_of(const struct builder *b, int32_t channel)
{
    const struct mech_output_channel *const all = b->document->outputs.at;

    return &b->document->sensors.at[all ? all[channel].sensor.index : channel];
}

static void describe(const struct builder *b, const struct mech_variable *v, char *text)
{
    if (v->causality == MECH_PARAMETER) {
        mech_text_format(text, TEXT_ROOM, "parameter of the model");
    } else if (v->causality == MECH_OUTPUT_VARIABLE) {
        bool first_order;
        const enum mech_output measured = mech_sim_output_variable(b->sim, v->index, &first_order);

        mech_text_format(text, TEXT_ROOM, "%s, by sensor \"%s\"", mech_output_name(measured),
                         sensor_of(b, v->index)->name);
    } else {
        const struct mech_input *const in = input_of(b, v->index);

        if (in->parameter) {
            snprintf(text, TEXT_ROOM, "parameter \"%s\"", in->parameter);
        } else if (in->load.name) {
            snprintf(text, TEXT_ROOM, "load \"%s\"", in->load.name);
        } else {
            mech_text_format(text, TEXT_ROOM, "force on marker \"%s\"", in->marker.name);
        }
    }
}

/* Positions, velocities and states of first order are integrated: an input acts on them with the
 * next step alone, unless it sets a parameter. All others may read forces, accelerations or rates
 * of states. */
static bool is_direct(const struct builder *b, int32_t channel)
{
    static const enum mech_output integrated[] = {
        MECH_OUTPUT_ANGULAR_VELOCITY, MECH_OUTPUT_ANGULAR_VELOCITY_LOCAL,
        MECH_OUTPUT_COORDINATES,      MECH_OUTPUT_COORDINATES_TOTAL,
        MECH_OUTPUT_COORDINATES_T,    MECH_OUTPUT_DISPLACEMENT,
        MECH_OUTPUT_DISTANCE,         MECH_OUTPUT_POSITION,
        MECH_OUTPUT_ROTATION,         MECH_OUTPUT_ROTATION_MATRIX,
        MECH_OUTPUT_VELOCITY,         MECH_OUTPUT_VELOCITY_LOCAL};
    bool first_order;
    const enum mech_output variable = mech_sim_output_variable(b->sim, channel, &first_order);

    if (first_order && variable == MECH_OUTPUT_COORDINATES_T) {
        return true;
    }
    for (size_t i = 0; i < sizeof integrated / sizeof *integrated; i++) {
        if (variable == integrated[i]) {
            return false;
        }
    }
    return true;
}

/* Whether an input sets this parameter. */
static bool is_set_by_input(const struct builder *b, const char *name)
{
    for (size_t i = 0; i < count_of(b->sim, MECH_INPUT); i++) {
        const char *const parameter = input_of(b, (int32_t)i)->parameter;

        if (parameter && strcmp(parameter, name) == 0) {
            return true;
        }
    }
    return false;
}

/* --- building --------------------------------------------------------------------------------- */

/* Equal names of different causalities, and that of time. */
static const char *prefix_of(const struct builder *b, const struct mech_variable *v)
{
    static const char *const prefixes[] = {"input:", "output:", "parameter:"};
    bool taken = strcmp(v->name, "time") == 0;

    for (enum mech_causality k = MECH_INPUT; k < v->causality; k++) {
        taken = taken || mech_sim_variable_find(b->sim, k, v->name) >= 0;
    }
    return taken ? prefixes[v->causality] : "";
}

static enum mechp_fmi_variability variability_of(const struct builder *b,
                                                 const struct mech_variable *v)
{
    return v->causality == MECH_PARAMETER                                   ? MECHP_FMI_TUNABLE
           : v->causality == MECH_INPUT && input_of(b, v->index)->parameter ? MECHP_FMI_DISCRETE
                                                                            : MECHP_FMI_CONTINUOUS;
}

/* The parameter that a variable is or sets, or -1. */
static int32_t parameter_of(const struct builder *b, const struct mech_variable *v)
{
    if (v->causality == MECH_PARAMETER) {
        return v->index;
    }
    return v->causality == MECH_INPUT && input_of(b, v->index)->parameter
               ? mech_sim_variable_find(b->sim, MECH_PARAMETER, input_of(b, v->index)->parameter)
               : -1;
}

/* Unit, range and nominal value of a variable that is a parameter or sets one. */
static int limit(const struct builder *b, const struct mech_variable *v,
                 struct mechp_fmi_variable *out)
{
    const int32_t k = parameter_of(b, v);

    if (k < 0) {
        return 0;
    }
    out->min = b->limits[k].min;
    out->max = b->limits[k].max;
    out->nominal = fabs(b->document->parameters.at[k].value);
    out->unit = mech_arena_strdup(&b->layout->arena, b->limits[k].unit);
    return out->unit ? 0 : MECH_NO_MEMORY;
}

/* A variable of `size` values from `first` on of a channel. */
static int add(struct builder *b, const struct mech_variable *v, int32_t first, int32_t size,
               const char *suffix)
{
    struct mechp_fmi_layout *const l = b->layout;
    struct mechp_fmi_variable *const out = &l->at[l->n];
    const int32_t part = first * parts_of(v->unit) / v->size;
    char name[NAME_ROOM], text[TEXT_ROOM];

    snprintf(name, sizeof name, "%s%s%s", prefix_of(b, v), v->name, suffix);
    describe(b, v, text);
    *out = (struct mechp_fmi_variable){
        .name = mech_arena_strdup(&l->arena, name),
        .unit = unit_of(&l->arena, v->unit, part),
        .description = mech_arena_strdup(&l->arena, text),
        .causality = v->causality,
        .variability = variability_of(b, v),
        .channel = v->index,
        .first = first,
        .size = size,
        .offset = v->offset + first,
        .scalar = v->scalar || l->version == MECHP_FMI_2,
        .direct = v->causality == MECH_OUTPUT_VARIABLE && is_direct(b, v->index),
        .min = -HUGE_VAL,
        .max = HUGE_VAL,
    };
    if (!out->name || !out->unit || !out->description) {
        return MECH_NO_MEMORY;
    }
    l->n++;
    return limit(b, v, out);
}

/* All scalars of a channel; before them in the packed order stand `before` values. */
static int add_scalars(struct builder *b, const struct mech_variable *v, int32_t before)
{
    char suffix[16];

    for (int32_t i = 0; i < v->size; i++) {
        snprintf(suffix, sizeof suffix, "[%d]", (int)(i + 1));
        MECH_TRY(add(b, v, i, 1, v->scalar ? "" : suffix));
        b->layout->at[b->layout->n - 1].reference = (uint32_t)(1 + before + v->offset + i);
    }
    return 0;
}

/* One array of a channel, or one for each of its units. */
static int add_arrays(struct builder *b, const struct mech_variable *v)
{
    const int32_t parts = parts_of(v->unit), size = v->size / parts;
    char suffix[16];

    for (int32_t p = 0; p < parts; p++) {
        snprintf(suffix, sizeof suffix, ":%d", (int)(p + 1));
        MECH_TRY(add(b, v, p * size, size, parts > 1 ? suffix : ""));
        b->layout->at[b->layout->n - 1].reference = p == 0 ? (uint32_t)v->reference : b->beyond++;
    }
    return 0;
}

static int by_reference(const void *a, const void *b)
{
    const uint32_t x = ((const struct mechp_fmi_variable *)a)->reference;
    const uint32_t y = ((const struct mechp_fmi_variable *)b)->reference;

    return (x > y) - (x < y);
}

static int add_all(struct builder *b)
{
    int32_t before = 0;

    for (enum mech_causality k = MECH_INPUT; k <= MECH_PARAMETER; k++) {
        for (size_t i = 0; i < count_of(b->sim, k); i++) {
            struct mech_variable v;

            mech_sim_variable(b->sim, k, i, &v);
            v.unit = v.unit ? v.unit : "";
            /* a sensor of a node without coordinates has no values */
            if (v.size == 0 || (k == MECH_PARAMETER && is_set_by_input(b, v.name))) {
                continue;
            }
            MECH_TRY(b->layout->version == MECHP_FMI_2 ? add_scalars(b, &v, before)
                                                       : add_arrays(b, &v));
        }
        before += packed(b->sim, k);
    }
    return 0;
}

int mechp_fmi_layout_init(struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                          enum mechp_fmi_version version)
{
    struct builder b = {
        .layout = layout, .sim = sim, .document = mech_sim_document(sim), .beyond = 1};
    size_t most = 1, largest = 1;

    *layout = (struct mechp_fmi_layout){.version = version};
    mech_arena_init(&layout->arena, SIZE_MAX);
    for (enum mech_causality k = MECH_INPUT; k <= MECH_PARAMETER; k++) {
        most += (size_t)packed(sim, k);
        b.beyond += (uint32_t)count_of(sim, k);
        largest = (size_t)packed(sim, k) > largest ? (size_t)packed(sim, k) : largest;
    }
    layout->at = mech_arena_alloc(&layout->arena, most, sizeof *layout->at);
    layout->scratch = mech_arena_alloc(&layout->arena, largest, sizeof *layout->scratch);
    b.limits = mech_arena_alloc(&layout->arena, b.document->parameters.n, sizeof *b.limits);
    if (!layout->at || !layout->scratch || !b.limits) {
        return MECH_NO_MEMORY;
    }
    mech_document_limits(b.document, b.limits);
    layout->at[layout->n++] = (struct mechp_fmi_variable){.name = "time",
                                                          .unit = "s",
                                                          .description = "simulation time",
                                                          .causality = MECH_INDEPENDENT,
                                                          .size = 1,
                                                          .scalar = true,
                                                          .min = -HUGE_VAL,
                                                          .max = HUGE_VAL};
    MECH_TRY(add_all(&b));
    qsort(layout->at, layout->n, sizeof *layout->at, by_reference);
    return 0;
}

void mechp_fmi_layout_fini(struct mechp_fmi_layout *layout)
{
    mech_arena_fini(&layout->arena);
    layout->n = 0;
}

void mechp_fmi_layout_get(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                          const struct mechp_fmi_variable *v, double *values)
{
    switch (v->causality) {
    case MECH_INDEPENDENT:
        layout->scratch[0] = mech_sim_time(sim);
        break;
    case MECH_PARAMETER:
        layout->scratch[0] = mech_sim_get_parameter(sim, v->channel);
        break;
    case MECH_INPUT:
        mech_sim_get_input(sim, v->channel, layout->scratch);
        break;
    case MECH_OUTPUT_VARIABLE:
        mech_sim_get_output(sim, v->channel, layout->scratch);
        break;
    }
    memcpy(values, layout->scratch + v->first, (size_t)v->size * sizeof *values);
}

/* --- token ------------------------------------------------------------------------------------ */

static uint64_t hash_of(const struct mechp_fmi_layout *layout, const char *document, size_t size,
                        uint64_t seed)
{
    uint64_t h = mech_hash(document, size, seed);

    for (size_t i = 0; i < layout->n; i++) {
        const struct mechp_fmi_variable *const v = &layout->at[i];
        const int32_t numbers[] = {(int32_t)v->causality,
                                   (int32_t)v->variability,
                                   (int32_t)v->reference,
                                   v->first,
                                   v->size,
                                   v->scalar};
        const double limits[] = {v->min, v->max, v->nominal};

        h = mech_hash(v->name, strlen(v->name), h);
        h = mech_hash(v->unit, strlen(v->unit), h);
        h = mech_hash(numbers, sizeof numbers, h);
        h = mech_hash(limits, sizeof limits, h);
    }
    return mech_hash(&layout->version, sizeof layout->version, h);
}

void mechp_fmi_layout_token(const struct mechp_fmi_layout *layout, const char *document,
                            size_t size, char token[MECHP_FMI_TOKEN])
{
    const uint64_t a = hash_of(layout, document, size, 2), b = hash_of(layout, document, size, 3);

    snprintf(token, MECHP_FMI_TOKEN,
             "{%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64 "}", a >> 32,
             (a >> 16) & 0xffff, a & 0xffff, b >> 48, b & 0xffffffffffff);
}
