/* The scheme of a request for a coupling. What it must fulfil is what solver/couple/create.c
 * refuses, one fault after the other; here all are found, each with its place. */
#include "server/coupling/outside.h"

#include "protocol/wire/json.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void read_order(struct mechd_reading *r, const json_t *list)
{
    const struct mechd_coupling *const g = r->g;
    if (json_array_size(list) != (size_t)g->count) {
        mechd_reading_fault(r, "/scheme/order", "each of the %d participants must be listed once",
                            g->count);
        return;
    }
    for (int32_t k = 0; k < g->count; k++) {
        const char *const name = json_string_value(json_array_get(list, (size_t)k));
        int32_t n = name != NULL ? mechd_reading_part(r, name) : g->count;
        if (n < 0) {
            struct mech_guess guess;
            mechd_reading_fault(r, "/scheme/order",
                                "each of the %d participants must be listed once; there is no "
                                "participant '%.64s'%s",
                                g->count, name, mechd_reading_hint(r, &guess, name));
            return;
        }
        for (int32_t before = 0; before < k; before++) {
            n = r->turns[before] == n ? g->count : n;
        }
        if (n == g->count) {
            mechd_reading_fault(r, "/scheme/order",
                                "each of the %d participants must be listed once", g->count);
            return;
        }
        r->turns[k] = n;
    }
    r->options.order = r->turns;
}

/* A member of the request, or where it is not there, its preset. */
static int32_t integer_or(int64_t given, int32_t preset)
{
    return given == INT64_MIN ? preset : (int32_t)given;
}

static void read_waveform(struct mechd_reading *r)
{
    static const char path[] = "/waveform";
    const struct mechp_json_in part = {r->in.waveform.of, path, r->diag};
    struct mechp_body_coupling_waveform in;
    if (part.object == NULL) {
        return;
    }
    mechp_shape_only(part.object, path, &mechp_body_coupling_waveform, r->diag);
    MECHP_READ_IN(coupling_waveform, &part, &in);
    r->options.waveform = integer_or(in.degree, 1);
    mechd_reading_must(r, in.substeps == NULL || *in.substeps, path, "substeps",
                       "must be true with waveform: its values are those of the substeps");
}

static void read_adaptive(struct mechd_reading *r)
{
    static const char path[] = "/adaptive";
    struct mech_couple_options *const o = &r->options;
    const struct mechp_json_in part = {r->in.adaptive.of, path, r->diag};
    struct mechp_body_coupling_adaptive in;
    if (part.object == NULL) {
        return;
    }
    mechp_shape_only(part.object, path, &mechp_body_coupling_adaptive, r->diag);
    MECHP_READ_IN(coupling_adaptive, &part, &in);
    o->adaptive_relative = mechd_reading_or(in.relative_tolerance, 1e-4);
    o->adaptive_absolute = mechd_reading_or(in.absolute_tolerance, 1e-9);
    o->minimum = mechd_reading_or(in.minimum, 1e-9);
    o->maximum = mechd_reading_or(in.maximum, 1e9);
    mechd_reading_must(r, o->adaptive_relative >= 0., path, "relativeTolerance",
                       "must be 0 or greater");
    mechd_reading_must(r, o->adaptive_absolute >= 0., path, "absoluteTolerance",
                       "must be 0 or greater");
    mechd_reading_must(r, o->minimum > 0., path, "minimum", "must be greater than 0");
    mechd_reading_must(r, o->maximum >= o->minimum, path, "maximum",
                       "must be at least the minimum");
}

/* Numbers that are not of this scheme are not looked at. */
static void check_numbers(const struct mechd_reading *r, const struct mech_scheme_type *type)
{
    static const char path[] = "/scheme";
    const struct mech_couple_options *const o = &r->options;
    if (type->iterates) {
        mechd_reading_must(r, o->relative_tolerance >= 0., path, "relativeTolerance",
                           "must be 0 or greater");
        mechd_reading_must(r, o->absolute_tolerance > 0., path, "absoluteTolerance",
                           "must be greater than 0");
    }
    if (type->iterates && !type->matrix) {
        mechd_reading_must(r, o->relaxation > 0. && o->relaxation <= 2., path, "relaxation",
                           "must be greater than 0 and at most 2");
    }
    mechd_reading_must(r, o->filter >= 0. && o->filter < 1., path, "filter",
                       "must be from 0 to below 1");
}

static void check_partners(const struct mechd_reading *r, const struct mech_scheme_type *type)
{
    const struct mech_couple_options *const o = &r->options;
    const bool iterates = type != NULL && type->iterates;
    const bool again = iterates || o->adaptive_relative != 0. || o->adaptive_absolute != 0.;
    for (int32_t n = 0; n < r->g->count; n++) {
        const struct mechd_outside *const partner = r->g->parts[n].outside;
        char path[64], text[160];
        snprintf(path, sizeof path, "/participants/%d", (int)r->g->parts[n].listed);
        if (partner != NULL && (o->hold > 2 || o->waveform > 0)) {
            mechd_reading_fault(r, path,
                                "an external program steps whole windows: waveform is not "
                                "possible, and hold must be 0 to 2");
        }
        if (partner != NULL && !partner->rollback) {
            mech_text_format(text, sizeof text,
                             "%.60s: %.30s repeats windows, and this participant cannot roll back",
                             r->g->parts[n].name, iterates ? type->name : "error control");
            mechd_reading_must(r, !again, path, "partner/rollback", text);
        }
    }
}

static void check_bonds(const struct mechd_reading *r, const struct mech_scheme_type *type)
{
    if (json_array_size(r->in.bonds.of) > 0 && !type->bonds) {
        mechd_reading_fault(r, "/bonds", "%s does not support bonds", type->name);
    }
    if (type->bonds && r->options.hold != 0) {
        mechd_reading_fault(r, "/hold", "%s holds efforts over a window: hold must be 0",
                            type->name);
    }
}

/* What is said of a type that is none (NULL: not a text): the nearest one, or all of them. */
static void say_types(const char *type, char *out, size_t size)
{
    struct mech_guess g = {.text = type != NULL ? type : ""};
    for (int k = 0; mech_scheme_types[k] != NULL; k++) {
        mech_guess_try(&g, mech_scheme_types[k]->name);
    }
    if (mech_guess_result(&g) != NULL) {
        mech_text_format(out, size, "there is no scheme '%.64s'%s", type, mech_guess_hint(&g));
        return;
    }
    mech_text_format(out, size, "there are ");
    for (int k = 0; mech_scheme_types[k] != NULL; k++) {
        mech_text_append(out, size, "%s%s", k > 0 ? ", " : "", mech_scheme_types[k]->name);
    }
}

void mechd_read_scheme(struct mechd_reading *r)
{
    static const char path[] = "/scheme";
    struct mech_couple_options *const o = &r->options;
    const struct mechp_json_in part = {r->in.scheme.of, path, r->diag};
    struct mechp_body_coupling_scheme *const in = &r->scheme;
    char names[192];
    *o = (struct mech_couple_options){.relative_tolerance = 1e-9, .absolute_tolerance = 1e-12};
    o->hold = integer_or(r->in.hold, 0);
    read_waveform(r);
    read_adaptive(r);
    if (part.object == NULL) {
        mechd_reading_fault(r, path, "must be an object with \"type\"");
        return;
    }
    mechp_shape_only(part.object, path, &mechp_body_coupling_scheme, r->diag);
    MECHP_READ_IN(coupling_scheme, &part, in);
    o->relative_tolerance = mechd_reading_or(in->relative_tolerance, 1e-9);
    o->absolute_tolerance = mechd_reading_or(in->absolute_tolerance, 1e-12);
    o->relaxation = mechd_reading_or(in->relaxation, 1.);
    o->filter = mechd_reading_or(in->filter, 0.);
    o->max_iterations = integer_or(in->max_iterations, 50);
    o->reuse = integer_or(in->reuse, 0);
    if (in->order != NULL && !r->lost) {
        read_order(r, in->order);
    }
    o->scheme = json_string_value(in->type);
    const struct mech_scheme_type *const type =
        o->scheme != NULL ? mech_scheme_find(o->scheme) : NULL;
    r->type = type;
    check_partners(r, type);
    if (type != NULL) {
        check_numbers(r, type);
        check_bonds(r, type);
        mechd_reading_must(
            r, !type->matrix || o->waveform == 0, "", "waveform",
            "this scheme iterates on the values at the ends of windows: waveform is not possible");
    } else {
        say_types(o->scheme, names, sizeof names);
        mechd_reading_must(r, false, path, "type", names);
    }
}
