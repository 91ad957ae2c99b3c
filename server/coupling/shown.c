/* Outputs that a coupling shows: those named by its request, in that order, or those of all
 * participants. */
#include "server/coupling/reading.h"

#include "server/call/service.h"
#include "server/instance/instance.h"
#include "solver/base/err.h"

#include <stdio.h>
#include <stdlib.h>

/* A participant without its instance has a fault of its own. */
static bool all_found(const struct mechd_reading *r)
{
    bool found = !r->lost;
    for (int32_t n = 0; n < r->g->count; n++) {
        found = found && r->g->parts[n].instance != NULL;
    }
    return found;
}

/* Number of the outputs of the participants before this one: their places in a list of all. */
static size_t outputs_before(const struct mechd_coupling *g, int32_t part)
{
    size_t count = 0;
    for (int32_t n = 0; n < part; n++) {
        const struct mechd_instance *const i = g->parts[n].instance;
        count += i != NULL ? mechd_engine_variable_count(&i->engine, MECH_OUTPUT_VARIABLE) : 0;
    }
    return count;
}

static void add(struct mechd_coupling *g, int32_t part, int32_t index)
{
    struct mechd_part *const p = &g->parts[part];
    struct mech_variable v;
    mechd_engine_variable(&p->instance->engine, MECH_OUTPUT_VARIABLE, (size_t)index, &v);
    g->shown[g->shown_count++] =
        (struct mechd_shown){.part = part, .index = index, .offset = v.offset, .size = v.size};
    p->shown = true;
}

static void add_all(struct mechd_coupling *g)
{
    for (int32_t n = 0; n < g->count; n++) {
        const size_t count = outputs_before(g, n + 1) - outputs_before(g, n);
        for (size_t k = 0; k < count; k++) {
            add(g, n, (int32_t)k);
        }
    }
}

/* `taken` [all outputs]: those that have been named. */
static void add_named(const struct mechd_reading *r, const json_t *names, bool *taken)
{
    struct mechd_coupling *const g = r->g;
    for (size_t k = 0; k < json_array_size(names); k++) {
        const char *const name = json_string_value(json_array_get(names, k));
        char path[48];
        int32_t part = 0, index = 0;
        snprintf(path, sizeof path, "/outputs/%zu", k);
        if (name == NULL) {
            mechd_reading_fault(r, path, "\"participant.output\" is needed");
        } else if (mechd_end_find(r, name, MECH_OUTPUT_VARIABLE, path, &part, &index)) {
            bool *const one = &taken[outputs_before(g, part) + (size_t)index];
            if (*one) {
                mechd_reading_fault(r, path, "%.100s is named twice", name);
                continue;
            }
            *one = true;
            add(g, part, index);
        }
    }
}

void mechd_read_shown(struct mechd_reading *r)
{
    struct mechd_coupling *const g = r->g;
    const json_t *const names = r->in.outputs.of;
    const size_t all = outputs_before(g, g->count);
    if (json_array_size(names) > all && all_found(r)) {
        mechd_reading_fault(r, "/outputs", "the participants have %zu", all);
        return;
    }
    bool *const taken = calloc(all + 1, sizeof *taken);
    g->shown = calloc(all + 1, sizeof *g->shown);
    if (taken == NULL || g->shown == NULL) {
        mechd_reading_fail(r, MECHP_OUT_OF_MEMORY, mech_err_text(MECH_NO_MEMORY));
    } else if (names != NULL) {
        add_named(r, names, taken);
    } else {
        add_all(g);
    }
    free(taken);
}
