/* The request that makes a coupling again: what was asked, as it was asked, and where something was
 * left out, the preset that acts. Ids of instances stay those that were given. */
#include "server/coupling/outside.h"

#include "protocol/wire/queries.h"
#include "server/call/query.h"
#include "server/call/service.h"

#include <math.h>

static void write_names(char *const *names, size_t count, struct mechp_text *w)
{
    mechp_text_array(w);
    for (size_t k = 0; k < count; k++) {
        mechp_text_string(w, names[k]);
    }
    mechp_text_end(w);
}

static void write_inputs(const void *of, struct mechp_text *w)
{
    const struct mechd_outside *const o = of;
    write_names(o->inputs, o->input_count, w);
}

static void write_outputs(const void *of, struct mechp_text *w)
{
    const struct mechd_outside *const o = of;
    write_names(o->outputs, o->output_count, w);
}

static void write_participant(const struct mechd_part *p, struct mechp_text *w)
{
    const struct mechd_outside *const o = p->outside;
    struct mechp_body_coupling_participant body = {.name = p->name};
    if (o == NULL) {
        body.instance = p->instance->id;
        MECHP_WRITE(coupling_participant, &body, w);
        return;
    }
    const bool rollback = o->rollback;
    const struct mechp_body_coupling_partner partner = {
        .inputs.items = {write_inputs, o},
        .outputs.items = {write_outputs, o},
        .rollback = &rollback,
        .patience = o->patience,
    };
    body.partner.inner = MECHP_INNER(coupling_partner, &partner);
    MECHP_WRITE(coupling_participant, &body, w);
}

static void write_participants(const void *of, struct mechp_text *w)
{
    const struct mechd_coupling *const g = of;
    mechp_text_array(w);
    for (int32_t n = 0; n < g->count; n++) {
        write_participant(&g->parts[n], w);
    }
    mechp_text_end(w);
}

/* A list as it was given, if there is something in it. */
static const json_t *given(const json_t *list)
{
    return json_array_size(list) > 0 ? list : NULL;
}

bool mechd_document_make(const struct mechd_reading *r)
{
    static const bool yes = true;
    const struct mech_couple_options *const o = &r->options;
    struct mechd_coupling *const g = r->g;
    const struct mechp_body_coupling_scheme scheme = {
        .type = r->scheme.type,
        .relative_tolerance = o->relative_tolerance,
        .absolute_tolerance = o->absolute_tolerance,
        .max_iterations = o->max_iterations,
        .relaxation = o->relaxation,
        .reuse = o->reuse,
        .filter = o->filter,
        .order = given(r->scheme.order),
    };
    const struct mechp_body_coupling_waveform waveform = {o->waveform, &yes};
    const struct mechp_body_coupling_adaptive adaptive = {
        o->adaptive_relative, o->adaptive_absolute, o->minimum, o->maximum};
    struct mechp_body_couple_request body = {
        .name = g->name,
        .participants.items = {write_participants, g},
        .connections.of = given(r->in.connections.of),
        .bonds.of = given(r->in.bonds.of),
        .scheme.inner = MECHP_INNER(coupling_scheme, &scheme),
        .hold = o->hold,
        .step_size = g->step_size,
        .outputs.of = r->in.outputs.of, // of none chosen none are shown
    };
    if (o->waveform > 0) {
        body.waveform.inner = MECHP_INNER(coupling_waveform, &waveform);
    }
    if (o->maximum > 0.) {
        body.adaptive.inner = MECHP_INNER(coupling_adaptive, &adaptive);
    }
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    MECHP_WRITE(couple_request, &body, &w);
    g->document = mechp_text_take(&w, &g->document_size);
    mechp_text_fini(&w);
    return g->document != NULL;
}

bool mechd_couplings_override(struct mechd_call *c, json_t *document)
{
    struct mechp_query_couple asked;
    MECHD_ASK(couple, c, &asked);
    const char *const type = asked.type;
    const double window = asked.window;
    if (!json_is_object(document)) {
        return true; // refused by its reader, as is a type that is no UTF-8
    }
    return (type == NULL ||
            json_object_set_new(document, "scheme",
                                json_pack("{s:o}", "type", json_string_nocheck(type))) == 0) &&
           (isnan(window) || json_object_set_new(document, "stepSize", json_real(window)) == 0);
}
