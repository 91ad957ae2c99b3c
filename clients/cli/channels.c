/* Names and units, by requests to the server. */
#include "clients/cli/channels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t value_count(struct mechc_json v)
{
    return mechc_json_kind(v) == '[' ? mechc_json_count(v) : 1;
}

/* Room for so many. */
static bool make(struct mechctl_channels *c, size_t total)
{
    c->at = calloc(total ? total : 1, sizeof *c->at);
    return c->at;
}

/* The next one: a value of that name, or a component of it. NULL: no memory. */
static struct mechctl_channel *add(struct mechctl_channels *to, struct mechc_json name,
                                   bool component, size_t index)
{
    char behind[32] = "";
    if (component) {
        snprintf(behind, sizeof behind, "[%zu]", index);
    }
    struct mechctl_channel *const c = &to->at[to->count];
    c->name = mechctl_text(name, behind);
    if (!c->name) {
        return NULL;
    }
    to->count++;
    to->width = mechctl_width(c->name) > to->width ? mechctl_width(c->name) : to->width;
    return c;
}

/* Name and number of values of a part of a layout. */
static bool part_of(struct mechc_json entry, struct mechc_json *name, uint64_t *count)
{
    struct mechc_json v;
    return mechc_json_member(entry, "count", &v) && mechc_json_unsigned(v, count) &&
           mechc_json_member(entry, "name", name);
}

/* Of a coupling, from the layout that it shows: its outputs have no units. */
static int read_layout(struct mechctl *m, const char *id, struct mechctl_channels *out)
{
    struct mechc_json reply, layout, name;
    const int code = mechctl_get(m, MECHCTL_PATH("v1", "couplings", id), &reply);
    if (code != MECHCTL_DONE || !mechc_json_member(reply, "layout", &layout)) {
        return code;
    }
    size_t total = 0;
    uint64_t n = 0;
    for (struct mechc_json_walk w = mechc_json_walk(layout); mechc_json_next(&w);) {
        total += part_of(w.value, &name, &n) ? n : 0;
    }
    if (!make(out, total)) {
        return MECHCTL_FAILED;
    }
    for (struct mechc_json_walk w = mechc_json_walk(layout); mechc_json_next(&w);) {
        for (size_t i = 0; part_of(w.value, &name, &n) && i < n; i++) {
            if (!add(out, name, n > 1, i)) {
                return MECHCTL_FAILED;
            }
        }
    }
    return MECHCTL_DONE;
}

/* Of one output, with its unit. */
static bool add_output(struct mechctl_channels *to, struct mechc_json name, struct mechc_json value,
                       struct mechc_json variables)
{
    struct mechc_json unit = {0};
    char *const text = mechctl_text(name, "");
    const bool has = text && mechctl_unit(variables, text, &unit);
    free(text);
    for (size_t i = 0; i < value_count(value); i++) {
        struct mechctl_channel *const c = add(to, name, mechc_json_kind(value) == '[', i);
        if (!c) {
            return false;
        }
        if (has) {
            mechc_json_text(unit, c->unit, sizeof c->unit);
        }
    }
    return true;
}

static int read_outputs(struct mechctl *m, const char *id, struct mechctl_channels *out)
{
    struct mechc_json reply, variables, values;
    int code = mechctl_get(m, MECHCTL_PATH("v1", "instances", id, "variables"), &variables);
    if (code == MECHCTL_DONE) {
        code = mechctl_hold(m, &variables);
    }
    if (code == MECHCTL_DONE) {
        code = mechctl_get(m, MECHCTL_PATH("v1", "instances", id, "outputs"), &reply);
    }
    if (code != MECHCTL_DONE || !mechc_json_member(reply, "outputs", &values)) {
        return code;
    }
    mechc_json_member(variables, "items", &variables);
    size_t total = 0;
    for (struct mechc_json_walk w = mechc_json_walk(values); mechc_json_next(&w);) {
        total += value_count(w.value);
    }
    if (!make(out, total)) {
        return MECHCTL_FAILED;
    }
    for (struct mechc_json_walk w = mechc_json_walk(values); mechc_json_next(&w);) {
        if (!add_output(out, w.key, w.value, variables)) {
            return MECHCTL_FAILED;
        }
    }
    return MECHCTL_DONE;
}

int mechctl_channels_read(struct mechctl *m, const char *id, struct mechctl_channels *out)
{
    *out = (struct mechctl_channels){0};
    const int code =
        mechctl_option(m, "coupling") ? read_layout(m, id, out) : read_outputs(m, id, out);
    if (code != MECHCTL_DONE) {
        mechctl_channels_free(out);
    }
    return code;
}

bool mechctl_channels_same(const struct mechctl_channels *a, const struct mechctl_channels *b)
{
    bool same = a->count == b->count;
    for (size_t k = 0; same && k < a->count; k++) {
        same =
            strcmp(a->at[k].name, b->at[k].name) == 0 && strcmp(a->at[k].unit, b->at[k].unit) == 0;
    }
    return same;
}

void mechctl_channels_free(struct mechctl_channels *c)
{
    for (size_t k = 0; k < c->count; k++) {
        free(c->at[k].name);
    }
    free(c->at);
    *c = (struct mechctl_channels){0};
}
