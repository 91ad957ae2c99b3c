/* Inputs, parameters, outputs, variables, and any output variable of any item. */
#include "protocol/bind/bind.h"
#include "protocol/wire/bodies_values.h"
#include "protocol/wire/json.h"
#include "server/call/rows.h"
#include "server/call/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETER_MOST = 256 };

/* After a change, the impulses of joints that it took up. */
static struct mechp_written impulses(const struct mechd_call *c)
{
    const struct mechd_instance *const i = c->job.instance;
    const bool some = mechd_call_changes(c) && mechd_has_taken(i);
    return (struct mechp_written){some ? mechd_write_taken : NULL, i};
}

/* Time and all outputs as a table of one row. */
static enum mechd_progress write_row(struct mechd_call *c, enum mechd_form form)
{
    const struct mechd_instance *i = c->job.instance;
    struct mechd_column *columns = mechd_rows_columns(i);
    double *row = mechd_doubles(c, i->output_size + 1);
    if (columns == NULL || row == NULL) {
        free(columns);
        free(row);
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the row");
    }
    row[0] = mechd_engine_time(&i->engine);
    for (size_t k = 0; k < i->output_size; k++) {
        row[k + 1] = i->published.values[k];
    }
    struct mechd_rows r = {
        .form = form, .text = &c->text, .columns = columns, .count = i->channel_count + 1};
    mechd_rows_begin(&r, 1);
    mechd_rows_add(&r, row);
    mechd_rows_end(&r);
    free(columns);
    free(row);
    return MECHD_DONE;
}

static enum mechd_progress run_outputs(struct mechd_call *c)
{
    const int form = mechd_form(c, mechd_forms_of_rows);
    if (form < 0 || !mechd_form_begin(c, (enum mechd_form)form)) {
        return MECHD_DONE;
    }
    if (form != MECHD_FORM_JSON) {
        return write_row(c, (enum mechd_form)form);
    }
    const struct mechd_instance *const i = c->job.instance;
    const struct mechd_packed packed = {&i->engine, MECH_OUTPUT_VARIABLE, i->published.values};
    const struct mechp_body_outputs body = {mechd_engine_time(&i->engine),
                                            {mechd_write_packed, &packed}};
    MECHP_WRITE(outputs, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_OUTPUTS = {.run = run_outputs};

/* Number of values of all variables of one causality. */
static size_t packed_size(const struct mechd_engine *engine, enum mech_causality causality)
{
    const size_t n = mechd_engine_variable_count(engine, causality);
    struct mech_variable v = {.offset = 0};
    if (n > 0) {
        mechd_engine_variable(engine, causality, n - 1, &v);
    }
    return (size_t)v.offset + (size_t)v.size;
}

static enum mechd_progress run_get_inputs(struct mechd_call *c)
{
    const struct mechd_engine *engine = &c->job.instance->engine;
    double *packed = mechd_doubles(c, packed_size(engine, MECH_INPUT));
    if (packed == NULL) {
        return MECHD_DONE;
    }
    for (size_t k = 0; k < mechd_engine_variable_count(engine, MECH_INPUT); k++) {
        struct mech_variable v;
        mechd_engine_variable(engine, MECH_INPUT, k, &v);
        mechd_engine_get_input(engine, (int32_t)k, packed + v.offset);
    }
    const struct mechd_packed all = {engine, MECH_INPUT, packed};
    const struct mechp_body_inputs body = {
        mechd_engine_time(engine), {mechd_write_packed, &all}, impulses(c)};
    MECHP_WRITE(inputs, &body, &c->text);
    free(packed);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_GET_INPUTS = {.run = run_get_inputs};

static enum mechd_progress run_set_inputs(struct mechd_call *c)
{
    // {"inputs": {…}}, or over HTTP the object of names itself
    const bool whole = !mechd_call_named(c);
    struct mechp_body_set_inputs_request given;
    MECHP_READ(set_inputs_request, c->body, &c->diag, &given);
    // with faults, the inputs are read for their own and nothing is set
    struct mechd_inputs in;
    int outcome = 0;
    mechd_read_inputs(c, whole ? given.inputs : c->body, whole ? given.derivatives : NULL,
                      whole ? "/inputs" : "", &in);
    if (mech_diag_clean(&c->diag) && c->code == MECHP_OK) {
        outcome = mechd_engine_set_inputs(&c->job.instance->engine, in.changes, in.count, &c->diag);
    }
    mechd_inputs_fini(&in);
    if (outcome < 0 || outcome == MECH_NOT_FINITE) {
        return mechd_fail_outcome(c, outcome);
    }
    if (!mech_diag_clean(&c->diag) || c->code != MECHP_OK) {
        return MECHD_DONE;
    }
    mechd_instance_changed(c->job.instance, 0);
    return run_get_inputs(c);
}

const struct mechd_operation mechd_operation_SET_INPUTS = {.run = run_set_inputs};

static enum mechd_progress run_get_parameters(struct mechd_call *c)
{
    const struct mechd_engine *engine = &c->job.instance->engine;
    const size_t n = mechd_engine_variable_count(engine, MECH_PARAMETER);
    double *packed = mechd_doubles(c, n);
    if (packed == NULL) {
        return MECHD_DONE;
    }
    for (size_t k = 0; k < n; k++) {
        struct mech_variable v;
        mechd_engine_variable(engine, MECH_PARAMETER, k, &v);
        packed[v.offset] = mechd_engine_get_parameter(engine, (int32_t)k);
    }
    const struct mechd_packed all = {engine, MECH_PARAMETER, packed};
    const struct mechp_body_parameters body = {
        mechd_engine_time(engine), {mechd_write_packed, &all}, impulses(c)};
    MECHP_WRITE(parameters, &body, &c->text);
    free(packed);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_GET_PARAMETERS = {.run = run_get_parameters};

static enum mechd_progress run_set_parameters(struct mechd_call *c)
{
    const struct mechd_engine *engine = &c->job.instance->engine;
    const bool whole = !mechd_call_named(c);
    struct mechp_body_set_parameters_request in;
    MECHP_READ(set_parameters_request, c->body, &c->diag, &in);
    const json_t *const all = whole ? in.parameters : c->body;
    const char *base = whole ? "/parameters" : "";
    if (!json_is_object(all) || json_object_size(all) > PARAMETER_MOST) {
        mech_diag_add(&c->diag, base, "expected an object of at most %d parameters",
                      PARAMETER_MOST);
        return MECHD_DONE;
    }

    // read all of them, then set all at once
    int32_t index[PARAMETER_MOST];
    double values[PARAMETER_MOST];
    size_t n = 0;
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)all, name, value)
    {
        struct mech_path path = {.length = 0};
        if (whole) {
            (void)mech_path_push(&path, "parameters");
        }
        (void)mech_path_push(&path, name);
        size_t count = 0;
        index[n] = mechd_engine_variable_find(engine, MECH_PARAMETER, name);
        if (index[n] < 0) {
            mechd_engine_lacks(engine, MECH_PARAMETER, name, path.text, &c->diag);
        } else if (json_is_string(value) && json_string_value(value)[0] == '=') {
            mech_diag_add(&c->diag, path.text, MECHP_NO_EXPRESSION);
        } else if (!json_is_number(value)) {
            mech_diag_add(&c->diag, path.text, "must be a number");
        } else if (mechp_json_numbers(value, path.text, &c->diag, 1, &values[n], &count)) {
            n++;
        }
    }
    if (!mech_diag_clean(&c->diag)) {
        return MECHD_DONE;
    }
    const int outcome = mechd_engine_set_parameters(engine, n, index, values, &c->diag);
    if (outcome != 0) {
        return outcome == MECH_INVALID ? MECHD_DONE : mechd_fail_outcome(c, outcome);
    }
    mechd_instance_changed(c->job.instance, 0);
    return run_get_parameters(c);
}

const struct mechd_operation mechd_operation_SET_PARAMETERS = {.run = run_set_parameters};

/* A variable, and the engine that has it. */
struct shown {
    const struct mechd_engine *engine;
    struct mech_variable of;
};

/* What an input or parameter has now. */
static void write_start(const void *of, struct mechp_text *w)
{
    const struct shown *const s = of;
    double values[MECH_ITEM_OUTPUT_MAX];
    if (s->of.causality == MECH_PARAMETER) {
        mechp_text_number(w, mechd_engine_get_parameter(s->engine, s->of.index));
    } else {
        mechd_engine_get_input(s->engine, s->of.index, values);
        mechd_write_value(&s->of, values, w);
    }
}

static void write_shape(const void *of, struct mechp_text *w)
{
    const struct shown *const s = of;
    mechp_text_array(w);
    if (!s->of.scalar) {
        mechp_text_integer(w, s->of.size);
    }
    mechp_text_end(w);
}

static void write_variable(const struct shown *s, struct mechp_text *w)
{
    static const char *const causality[] = {"input", "output", "parameter", "independent"};
    const struct mech_variable *const v = &s->of;
    const bool starts = v->causality == MECH_PARAMETER ||
                        (v->causality == MECH_INPUT && v->size <= MECH_ITEM_OUTPUT_MAX);
    const struct mechp_body_variable body = {.name = v->name,
                                             .causality = causality[v->causality],
                                             .variability = v->causality != MECH_PARAMETER
                                                                ? "continuous"
                                                            : v->tunable ? "tunable"
                                                                         : "fixed",
                                             .unit = v->unit != NULL ? v->unit : "",
                                             .shape = {write_shape, s},
                                             .reference = v->reference,
                                             .start = {starts ? write_start : NULL, s}};
    MECHP_WRITE(variable, &body, w);
}

static void write_variables(const void *engine, struct mechp_text *w)
{
    struct shown s = {
        .engine = engine,
        .of = {
            .name = "time", .causality = MECH_INDEPENDENT, .size = 1, .scalar = true, .unit = "s"}};
    mechp_text_array(w);
    write_variable(&s, w);
    for (enum mech_causality k = MECH_INPUT; k <= MECH_PARAMETER; k++) {
        for (size_t n = 0; n < mechd_engine_variable_count(s.engine, k); n++) {
            mechd_engine_variable(s.engine, k, n, &s.of);
            write_variable(&s, w);
        }
    }
    mechp_text_end(w);
}

static enum mechd_progress run_variables(struct mechd_call *c)
{
    const struct mechp_body_variable_list body = {{write_variables, &c->job.instance->engine}};
    MECHP_WRITE(variable_list, &body, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_VARIABLES = {.run = run_variables};
