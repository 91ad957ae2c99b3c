/* GET …/objects/{name}/outputs/{variable}: any output variable of an object, node, marker, load or
 * sensor, in any configuration, at a local position of a body. */
#include "protocol/wire/bodies_values.h"
#include "protocol/wire/json.h"
#include "server/call/query.h"
#include "server/call/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "x,y,z" or a list of three numbers, or nothing. False: a fault. */
static bool read_local(struct mechd_call *c, const struct mechp_listed *given, double *local)
{
    const char *const text = given->text;
    size_t count = 3;
    if (text == NULL) {
        return given->array == NULL ||
               (mechp_json_numbers(given->array, "/localPosition", &c->diag, 3, local, &count) &&
                count == 3);
    }
    char wrapped[128];
    snprintf(wrapped, sizeof wrapped, *text == '[' ? "%s" : "[%s]", text);
    struct mechp_json_fault fault;
    json_t *value = NULL;
    const bool ok = mechp_json_parse(wrapped, strlen(wrapped), NULL, &fault, &value) == 0 &&
                    mechp_json_numbers(value, "/localPosition", &c->diag, 3, local, &count) &&
                    count == 3;
    json_decref(value);
    return ok;
}

/* The output variable of the item that was probably meant; `has`: bits of its own. */
static const char *output_hint(struct mech_guess *g, uint32_t has)
{
    for (int k = 0; k < MECH_OUTPUT_COUNT; k++) {
        if ((has & UINT32_C(1) << k) != 0) {
            mech_guess_try(g, mech_output_name((enum mech_output)k));
        }
    }
    return mech_guess_hint(g);
}

static enum mechd_progress run_item_output(struct mechd_call *c)
{
    const struct mech_sim *sim = c->job.instance->sim;
    const char *name = mechd_call_value(c, "name");
    const char *text = mechd_call_value(c, "variable");
    const int variable = mech_output_find(text);
    struct mechp_query_item asked;
    MECHD_ASK(item, c, &asked);
    const int category = asked.category >= 0 ? asked.category : MECH_OBJECT;
    const int configuration = asked.configuration >= 0 ? asked.configuration : MECH_CURRENT;
    double local[3] = {0., 0., 0.};
    if (!read_local(c, &asked.local_position, local) && mech_diag_clean(&c->diag)) {
        mech_diag_add(&c->diag, "/localPosition", "expected three numbers: x,y,z");
    }
    if (!mech_diag_clean(&c->diag)) {
        return MECHD_DONE;
    }
    const enum mech_category in = (enum mech_category)category;
    const uint32_t has = mech_sim_item_outputs(sim, in, name);
    if (has == 0 && mechd_item(c, in, name) == NULL) {
        return MECHD_DONE;
    }
    if (variable < 0) {
        struct mech_guess g = {.text = text};
        return mechd_fail(c, MECHP_NOT_FOUND, "there is no output variable %.64s%s", text,
                          output_hint(&g, has));
    }

    // how many, then the values
    size_t count = 0;
    int outcome = mech_sim_item_output(
        sim,
        &(struct mech_item_query){in, name, (enum mech_output)variable,
                                  (enum mech_configuration)configuration, local},
        0, NULL, &count);
    double *values = outcome == 0 ? mechd_doubles(c, count) : NULL;
    if (values != NULL) {
        outcome = mech_sim_item_output(
            sim,
            &(struct mech_item_query){in, name, (enum mech_output)variable,
                                      (enum mech_configuration)configuration, local},
            count, values, &count);
    }
    if (outcome == MECH_UNSUPPORTED) {
        mechd_fail(c, MECHP_NOT_FOUND, "%.64s has no %.64s in this configuration", name, text);
    } else if (outcome != 0) {
        mechd_fail_outcome(c, outcome);
    } else if (values != NULL) {
        const struct mechp_body_item_output body = {
            .time = mech_sim_time(sim),
            .name = name,
            .variable = text,
            .configuration = mech_configuration_names[configuration],
            .unit = mech_output_unit((enum mech_output)variable),
            .value = {values, count}};
        MECHP_WRITE(item_output, &body, &c->text);
    }
    free(values);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_ITEM_OUTPUT = {.run = run_item_output};
