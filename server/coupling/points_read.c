/* Sweeps of couplings, from a request: what names stand for, outputs, what a lane holds. */
#include "server/coupling/points.h"

#include "protocol/wire/json.h"
#include "server/coupling/reading.h"
#include "solver/base/name.h"
#include "solver/items/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mechd_points_good(struct mechd_call *c, const struct mechd_coupling *g, size_t before)
{
    if (c->diag.count > before) {
        mech_diag_prefix(c->diag.entries + before, c->diag.count - before, "/coupling");
    }
    if (g == NULL) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
    } else if (g->reading->code != MECHP_OK && c->code == MECHP_OK) {
        mechd_fail(c, g->reading->code, "%s", g->reading->detail);
    }
    return !mechd_call_faulty(c) && c->code == MECHP_OK;
}

/* --- targets ---------------------------------------------------------------------------------- */

static const struct mechp_member *member_of(const struct mechp_shape *shape, const char *key)
{
    const struct mechp_member *m = shape != NULL ? shape->members : NULL;
    while (m != NULL && m->name != NULL && strcmp(m->name, key) != 0) {
        m++;
    }
    return m != NULL && m->name != NULL ? m : NULL;
}

/* The shape that a type has, also behind alternatives and of the items of a list; or NULL. */
static const struct mechp_shape *shape_of(const char *type)
{
    const char *const at = strchr(type, '@');
    return at != NULL ? mechp_shape_named(at) : NULL;
}

/* The number that a pointer leads to, member by member of the shapes. NULL: there is none. */
static const json_t *find_number(const json_t *document, const char *pointer, bool *whole)
{
    const json_t *node = document;
    const struct mechp_shape *shape = mechp_shape_named("@SweepCoupling");
    const char *type = NULL;
    while (node != NULL && *pointer == '/') {
        char key[MECH_NAME_MAX + 1], *end = NULL;
        const size_t size = strcspn(++pointer, "/");
        if (size == 0 || size >= sizeof key) {
            return NULL;
        }
        memcpy(key, pointer, size);
        key[size] = '\0';
        pointer += size;
        if (json_is_array(node)) {
            const unsigned long n = strtoul(key, &end, 10);
            const bool plain = key[0] >= '0' && key[0] <= '9' && (key[0] != '0' || size == 1);
            node = plain && *end == '\0' ? json_array_get(node, n) : NULL;
            continue;
        }
        const struct mechp_member *const m = member_of(shape, key);
        type = m != NULL ? m->type : "";
        shape = shape_of(type);
        node = m != NULL ? json_object_get(node, key) : NULL;
    }
    if (node == NULL || type == NULL || !json_is_number(node)) {
        return NULL;
    }
    *whole = strncmp(type, "integer", strlen("integer")) == 0;
    return *whole || strcmp(type, "number") == 0 ? node : NULL;
}

/* "left/k": a parameter of a participant. False: a fault at the path. */
static bool find_parameter(const struct mechd_coupling *g, const char *name, const char *path,
                           struct mech_diag *diag, struct mechd_swept *out)
{
    const size_t size = strcspn(name, "/");
    const struct mechd_part *p = NULL;
    for (int32_t n = 0; n < g->count; n++) {
        const bool same = strlen(g->parts[n].name) == size &&
                          memcmp(g->parts[n].name, name, size) == 0 && name[size] == '/';
        p = same ? &g->parts[n] : p;
    }
    if (p == NULL) {
        mech_diag_add(diag, path,
                      "\"participant/parameter\" or a pointer to a number is needed, such as "
                      "\"/stepSize\"; there is no participant '%.*s'",
                      (int)(size < MECH_NAME_MAX ? size : MECH_NAME_MAX), name);
        return false;
    }
    const struct mech_parameters *const all = &mech_sim_document(p->instance->sim)->parameters;
    size_t k = 0;
    while (k < all->n && strcmp(all->at[k].name, name + size + 1) != 0) {
        k++;
    }
    if (k == all->n) {
        struct mech_guess guess;
        mech_diag_add(diag, path, "the model of %.64s has no parameter '%.64s'%s", p->name,
                      name + size + 1,
                      mech_hint(&guess, name + size + 1, all->at, mech_diag_full(diag) ? 0 : all->n,
                                sizeof *all->at));
        return false;
    }
    *out =
        (struct mechd_swept){.part = p->listed, .parameter = (int32_t)k, .own = all->at[k].value};
    return true;
}

int32_t mechd_points_target(struct mechd_points *points, const struct mechd_coupling *g,
                            const char *name, const char *path, struct mech_diag *diag)
{
    struct mechd_swept t = {.part = -1};
    if (name[0] == '/') {
        const json_t *const number = find_number(points->document, name, &t.whole);
        if (number == NULL) {
            mech_diag_add(diag, path, "the coupling has no number at '%.100s'", name);
            return -1;
        }
        t.own = json_number_value(number);
    } else if (!find_parameter(g, name, path, diag, &t)) {
        return -1;
    }
    if (points->target_count == MECHD_SWEEP_PARAMETERS) {
        mech_diag_add(diag, path, "at most %d parameters", MECHD_SWEEP_PARAMETERS);
        return -1;
    }
    points->targets[points->target_count] = t;
    return points->target_count++;
}

/* --- rows ------------------------------------------------------------------------------------- */

/* The smallest value that the points give it, or its own; those that no point can have are left
 * out. */
static double smallest(const struct mechd_sweep_plan *plan, const char *pointer, double own)
{
    size_t k = 0;
    while (k < plan->places && strcmp(plan->names[k], pointer) != 0) {
        k++;
    }
    double least = (double)INFINITY;
    for (size_t n = 0; k < plan->places && plan->values != NULL && n < plan->points; n++) {
        const double value = plan->values[n * plan->places + k];
        least = value > 0. && value < least ? value : least;
    }
    return isfinite(least) ? least : own;
}

double mechd_points_window(const struct mechd_coupling *g, const struct mechd_sweep_plan *plan)
{
    const struct mech_couple_options *const o = &g->reading->options;
    const double size = smallest(plan, "/stepSize", g->step_size);
    const double least =
        o->maximum > 0. ? smallest(plan, "/adaptive/minimum", o->minimum) : (double)INFINITY;
    return least < size ? least : size;
}

/* One output behind the others. */
static void add_output(struct mechd_sweep_plan *plan, const struct mechd_part *p, int32_t part,
                       int32_t index)
{
    struct mechd_sweep_output *const o = &plan->outputs[plan->output_count++];
    struct mech_variable v;
    mechd_engine_variable(&p->instance->engine, MECH_OUTPUT_VARIABLE, (size_t)index, &v);
    *o = (struct mechd_sweep_output){
        .part = part, .index = index, .size = v.size, .scalar = v.scalar};
    snprintf(o->name, sizeof o->name, "%s.%s", p->name, v.name);
}

bool mechd_points_outputs(const struct mechd_coupling *g, const json_t *names,
                          struct mech_diag *diag, struct mechd_sweep_plan *plan)
{
    const struct mechd_reading *const r = g->reading;
    size_t all = 0;
    for (int32_t n = 0; n < g->count; n++) {
        all += mechd_engine_variable_count(&g->parts[n].instance->engine, MECH_OUTPUT_VARIABLE);
    }
    if (json_array_size(names) > all) {
        mech_diag_add(diag, "/outputs", "the coupling has %zu", all);
        return true;
    }
    plan->outputs = calloc(all + 1, sizeof *plan->outputs);
    if (plan->outputs == NULL) {
        return false;
    }
    for (size_t k = 0; names == NULL && k < g->shown_count; k++) {
        const struct mechd_shown *const o = &g->shown[k];
        add_output(plan, &g->parts[o->part], o->part, o->index);
    }
    for (size_t k = 0; k < json_array_size(names); k++) {
        const char *const name = json_string_value(json_array_get(names, k));
        int32_t part = 0, index = 0;
        char path[48];
        snprintf(path, sizeof path, "/outputs/%zu", k);
        if (name == NULL) {
            mech_diag_add(diag, path, "\"participant.output\" is needed");
        } else if (mechd_end_find(r, name, MECH_OUTPUT_VARIABLE, path, &part, &index)) {
            add_output(plan, &g->parts[part], part, index);
        }
    }
    return true;
}

void mechd_points_charge(const struct mechd_coupling *g, struct mechd_sweep_plan *plan)
{
    plan->instances = (uint64_t)g->count;
    plan->coordinates = 0;
    plan->memory = mech_couple_saved_size(g->couple);
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_part *const p = &g->parts[n];
        const struct mech_sizes sizes = mech_sim_sizes(p->instance->sim);
        plan->coordinates += (uint64_t)sizes.v + (uint64_t)sizes.x;
        plan->memory += mech_sim_memory(p->instance->sim) +
                        (p->start != NULL ? mechd_engine_snapshot_size(&p->instance->engine) : 0);
    }
}
