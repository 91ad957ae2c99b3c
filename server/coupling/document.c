/* The request that makes a coupling again: what was asked, as it was asked, and where something was
 * left out, the preset that acts. Ids of instances stay those that were given. */
#include "server/coupling/outside.h"

#include "protocol/wire/json.h"
#include "server/call/service.h"

#include <stdlib.h>
#include <string.h>

/* A member as it was given, if it was. */
static void write_given(struct mechp_text *w, const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);
    if (json_array_size(value) > 0) {
        mechp_text_key(w, key);
        mechp_json_write(value, w);
    }
}

static void write_partner(const struct mechd_outside *o, struct mechp_text *w)
{
    mechp_text_key(w, "partner");
    mechp_text_object(w);
    for (int side = 0; side < 2; side++) {
        const size_t count = side == 0 ? o->input_count : o->output_count;
        mechp_text_key(w, side == 0 ? "inputs" : "outputs");
        mechp_text_array(w);
        for (size_t k = 0; k < count; k++) {
            mechp_text_string(w, (side == 0 ? o->inputs : o->outputs)[k]);
        }
        mechp_text_end(w);
    }
    mechp_text_key(w, "rollback");
    mechp_text_bool(w, o->rollback);
    mechp_text_member_number(w, "patience", (double)o->patience / 1e9);
    mechp_text_end(w);
}

static void write_participants(const struct mechd_coupling *g, struct mechp_text *w)
{
    mechp_text_key(w, "participants");
    mechp_text_array(w);
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_part *const p = &g->parts[n];
        mechp_text_object(w);
        mechp_text_member_string(w, "name", p->name);
        if (p->outside != NULL) {
            write_partner(p->outside, w);
        } else {
            mechp_text_member_string(w, "instance", p->instance->id);
        }
        mechp_text_end(w);
    }
    mechp_text_end(w);
}

static void write_scheme(const struct mechd_reading *r, struct mechp_text *w)
{
    const struct mech_couple_options *const o = &r->options;
    mechp_text_key(w, "scheme");
    mechp_text_object(w);
    mechp_text_member_string(w, "type", o->scheme);
    mechp_text_member_number(w, "relativeTolerance", o->relative_tolerance);
    mechp_text_member_number(w, "absoluteTolerance", o->absolute_tolerance);
    mechp_text_member_integer(w, "maxIterations", o->max_iterations);
    mechp_text_member_number(w, "relaxation", o->relaxation);
    mechp_text_member_integer(w, "reuse", o->reuse);
    mechp_text_member_number(w, "filter", o->filter);
    write_given(w, json_object_get(r->document, "scheme"), "order");
    mechp_text_end(w);
}

static void write_windows(const struct mechd_reading *r, struct mechp_text *w)
{
    const struct mech_couple_options *const o = &r->options;
    mechp_text_member_integer(w, "hold", o->hold);
    if (o->waveform > 0) {
        mechp_text_key(w, "waveform");
        mechp_text_object(w);
        mechp_text_member_integer(w, "degree", o->waveform);
        mechp_text_key(w, "substeps");
        mechp_text_bool(w, true);
        mechp_text_end(w);
    }
    mechp_text_member_number(w, "stepSize", r->g->step_size);
    if (o->maximum > 0.) {
        mechp_text_key(w, "adaptive");
        mechp_text_object(w);
        mechp_text_member_number(w, "relativeTolerance", o->adaptive_relative);
        mechp_text_member_number(w, "absoluteTolerance", o->adaptive_absolute);
        mechp_text_member_number(w, "minimum", o->minimum);
        mechp_text_member_number(w, "maximum", o->maximum);
        mechp_text_end(w);
    }
}

bool mechd_document_make(const struct mechd_reading *r)
{
    struct mechd_coupling *const g = r->g;
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    mechp_text_object(&w);
    mechp_text_member_string(&w, "name", g->name);
    write_participants(g, &w);
    write_given(&w, r->document, "connections");
    write_given(&w, r->document, "bonds");
    write_scheme(r, &w);
    write_windows(r, &w);
    mechp_text_end(&w);
    g->document = mechp_text_take(&w, &g->document_size);
    mechp_text_fini(&w);
    return g->document != NULL;
}
