/* Options of …/system, and GET …/system: the descriptor of an instance at its present
 * state, made for the request. */
#include "server/operations/system.h"
#include "protocol/wire/bodies_system.h"

#include "server/call/query.h"
#include "solver/base/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- options ---------------------------------------------------------------------------------- */

static void freeze(struct mechd_call *c, struct mech_sim_system *s, const char *path,
                   const char *name)
{
    if (mech_sim_system_freeze(s, name) != 0) {
        mech_diag_add(&c->diag, path, "no item \"%.64s\" has velocities", name);
    }
}

/* Names in an array, or in one text as a list of words. */
static void freeze_all(struct mechd_call *c, const struct mechd_system_choice *choice,
                       struct mech_sim_system *s)
{
    const json_t *const names = choice->names;
    const char *const text = json_is_string(names) ? json_string_value(names) : choice->frozen;
    char path[48];
    for (size_t k = 0; k < json_array_size(names); k++) {
        const char *name = json_string_value(json_array_get(names, k));
        snprintf(path, sizeof path, "/frozen/%zu", k);
        freeze(c, s, path, name != NULL ? name : "");
    }
    char *const copy = text != NULL ? strdup(text) : NULL;
    char *at = copy;
    const char *why = "no memory for it";
    char *name = NULL;
    int code = text != NULL && copy == NULL ? -1 : mech_item_next(&at, &name, &why);
    for (; code > 0; code = mech_item_next(&at, &name, &why)) {
        freeze(c, s, "/frozen", name);
    }
    if (code < 0) {
        mech_diag_add(&c->diag, "/frozen", "%s", why);
    }
    free(copy);
    if (names != NULL && text == NULL && !json_is_array(names)) {
        mech_diag_add(&c->diag, "/frozen", "a list of names is needed");
    }
}

struct mech_sim_system *mechd_system_open(struct mechd_call *c,
                                          const struct mechd_system_choice *choice)
{
    const struct mechp_system_options *const o = choice->options;
    const struct mech_point now = {.time = NAN};
    const struct mech_system_query q = {.level =
                                            o->level >= 0 ? o->level : MECH_LEVEL_BY_INTEGRATOR,
                                        .step = o->step,
                                        .all_contacts = o->contacts == 1,
                                        .bilateral = choice->bilateral,
                                        .mass = o->mass,
                                        .stiffness = o->stiffness,
                                        .damping = o->damping};
    struct mech_sim_system *s = NULL;
    if (mechd_call_faulty(c)) {
        return NULL;
    }
    int outcome = mech_sim_system(c->job.instance->sim, &now, &q, &s);
    struct mechd_effort effort;
    mechd_call_watch(c, &effort);
    if (outcome == 0 && mechd_effort_ends(c->job.instance)) {
        mech_sim_system_destroy(s);
        s = NULL;
        outcome = MECH_CANCELLED;
    }
    mechd_call_unwatch(c, &effort);
    if (outcome == MECH_INVALID) {
        mech_diag_add(&c->diag, "/step", "must be positive");
    } else if (outcome != 0) {
        mechd_fail_outcome(c, outcome);
    } else {
        freeze_all(c, choice, s);
    }
    if (mechd_call_faulty(c)) {
        mech_sim_system_destroy(s);
        return NULL;
    }
    return s;
}

struct mech_sim_system *mechd_system_asked(struct mechd_call *c)
{
    struct mechp_query_system asked = {.bilateral = MECHP_NO_WORD};
    MECHD_ASK(system, c, &asked);
    const struct mechd_system_choice choice = {.options = &asked.options,
                                               .names = asked.frozen.array,
                                               .frozen = asked.frozen.text,
                                               .bilateral = asked.bilateral == 1};
    return mechd_system_open(c, &choice);
}

/* --- pieces ----------------------------------------------------------------------------------- */

void mechd_system_shape(const void *part, struct mechp_text *w)
{
    const struct mechd_system_part *const p = part;
    int32_t rows = 0;
    int32_t cols = 0;
    mech_sim_system_size(p->of, p->part, &rows, &cols);
    mechp_text_array(w);
    mechp_text_integer(w, rows);
    if (!mech_system_part(p->part)->vector) {
        mechp_text_integer(w, cols);
    }
    mechp_text_end(w);
}

const char *mechd_system_level(const struct mech_sim_system_info *info)
{
    return info->level == MECH_LEVEL_VELOCITY ? "velocity" : "acceleration";
}

/* --- GET …/system ----------------------------------------------------------------------------- */

static void write_parts(const void *of, struct mechp_text *w)
{
    mechp_text_array(w);
    for (int k = 0; mech_system_part(k) != NULL; k++) {
        const struct mechd_system_part part = {of, k};
        const struct mechp_body_system_part_description body = {
            .name = mech_system_part(k)->name,
            .doc = mech_system_part(k)->doc,
            .shape = {mechd_system_shape, &part}};
        MECHP_WRITE(system_part_description, &body, w);
    }
    mechp_text_end(w);
}

static void write_summary(struct mechd_call *c, const struct mech_sim_system *s)
{
    struct mech_sim_system_info info;
    mech_sim_system_info(s, &info);
    const struct mechp_body_system_factors factors = {
        .mass = info.mass, .stiffness = info.stiffness, .damping = info.damping};
    const struct mechp_body_system_counts counts = {.velocities = info.size.velocities,
                                                    .rows = info.size.rows,
                                                    .variables = info.size.variables,
                                                    .frozen = info.size.frozen,
                                                    .masses = info.masses,
                                                    .constraints = info.size.constraints,
                                                    .blocks = info.size.blocks};
    const struct mechp_body_system_reply body = {.time = info.time,
                                                 .level = mechd_system_level(&info),
                                                 .step = info.step,
                                                 .theta = info.theta,
                                                 .friction =
                                                     info.associated ? "associated" : "coulomb",
                                                 .factors = MECHP_INNER(system_factors, &factors),
                                                 .linear = info.linear,
                                                 .lumped = info.lumped,
                                                 .counts = MECHP_INNER(system_counts, &counts),
                                                 .parts = {write_parts, s}};
    MECHP_WRITE(system_reply, &body, &c->text);
}

static enum mechd_progress run_system(struct mechd_call *c)
{
    const int form = mechd_form(c, 1u << MECHD_FORM_JSON | 1u << MECHD_FORM_ARCHIVE);
    struct mech_sim_system *const s = form >= 0 ? mechd_system_asked(c) : NULL;
    unsigned char *bytes = NULL;
    size_t size = 0;
    if (s != NULL && form == MECHD_FORM_JSON) {
        write_summary(c, s);
    } else if (s != NULL) {
        const int outcome = mech_sim_system_archive(s, &bytes, &size);
        if (outcome != 0) {
            mechd_fail_outcome(c, outcome);
        } else {
            mechd_form_answer(c, MECHD_FORM_ARCHIVE, (const char *)bytes, size);
        }
        free(bytes);
    }
    mech_sim_system_destroy(s);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_SYSTEM = {.run = run_system};
