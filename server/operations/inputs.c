/* Inputs of a request: {"name": number | array | null} with derivatives {"name": [d1, d2]}. */
#include "protocol/wire/json.h"
#include "server/call/shapes.h"

#include <stdlib.h>

enum { ORDER_MOST = 2 };

/* True if no lease prevents the caller from setting an input; otherwise refused. */
static bool may_set(struct mechd_call *c, const char *name)
{
    struct mechd_instance *i = c->job.instance;
    struct mechd_holder holder;
    if (!mechd_call_changes(c) || mechd_leases_may_set(&i->leases, c->lease, name, &holder)) {
        return true;
    }
    mechd_fail_lease(c, i, &holder);
    return false;
}

/* Sum of the sizes of the inputs named; a name that does not exist is a fault. */
static size_t count_values(struct mechd_call *c, const json_t *inputs, struct mech_path *path)
{
    const struct mechd_engine *engine = &c->job.instance->engine;
    size_t all = 0;
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)inputs, name, value)
    {
        const int32_t index = mechd_engine_variable_find(engine, MECH_INPUT, name);
        if (index < 0) {
            const size_t mark = mech_path_push(path, name);
            mechd_engine_lacks(engine, MECH_INPUT, name, path->text, &c->diag);
            mech_path_cut(path, mark);
            continue;
        }
        struct mech_variable v;
        mechd_engine_variable(engine, MECH_INPUT, (size_t)index, &v);
        all += (size_t)v.size;
    }
    return all;
}

/* Numbers, as many as the input has. */
static void read_numbers(struct mechd_call *c, const json_t *value, const char *path, size_t size,
                         double *out)
{
    size_t count = 0;
    if (mechp_json_numbers(value, path, &c->diag, size, out, &count) && count != size) {
        mech_diag_add(&c->diag, path, "expected %zu numbers, found %zu", size, count);
    }
}

/* Derivatives of one input: [first, second …], each a number or an array of the input's size; for a
 * single value also a number, the first. Returns the order. */
static int32_t read_derivatives(struct mechd_call *c, const json_t *given, const char *name,
                                size_t size, double *out)
{
    if (given == NULL) {
        return 0;
    }
    struct mech_path path = {.length = 0};
    (void)mech_path_push(&path, "inputDerivatives");
    (void)mech_path_push(&path, name);
    if (json_is_number(given) && size == 1) {
        read_numbers(c, given, path.text, 1, out);
        return 1;
    }
    if (!json_is_array(given) || json_array_size(given) > ORDER_MOST) {
        mech_diag_add(&c->diag, path.text, "expected a list of at most %d derivatives", ORDER_MOST);
        return 0;
    }
    for (size_t k = 0; k < json_array_size(given); k++) {
        read_numbers(c, json_array_get(given, k), path.text, size, out + k * size);
    }
    return (int32_t)json_array_size(given);
}

/* Where the reader is: in the request, and in the memory for its numbers. */
struct cursor {
    struct mech_path path;
    double *at;
};

/* One input that exists. */
static void read_input(struct mechd_call *c, const char *name, const json_t *value,
                       const json_t *derivatives, struct cursor *to, struct mech_input_change *in)
{
    const struct mechd_engine *engine = &c->job.instance->engine;
    struct mech_variable v;
    *in = (struct mech_input_change){.index = mechd_engine_variable_find(engine, MECH_INPUT, name)};
    if (json_is_null(value)) {
        return;
    }
    mechd_engine_variable(engine, MECH_INPUT, (size_t)in->index, &v);
    const size_t size = (size_t)v.size;
    const size_t mark = mech_path_push(&to->path, name);
    read_numbers(c, value, to->path.text, size, to->at);
    mech_path_cut(&to->path, mark);
    in->values = to->at;
    in->derivatives = to->at + size;
    in->order = read_derivatives(c, json_object_get(derivatives, name), name, size, to->at + size);
    to->at += size * (size_t)(1 + in->order);
}

void mechd_read_inputs(struct mechd_call *c, const json_t *inputs, const json_t *derivatives,
                       const char *base, struct mechd_inputs *out)
{
    const struct mechd_engine *engine = &c->job.instance->engine;
    const size_t all = mechd_engine_variable_count(engine, MECH_INPUT);
    struct cursor to = {.path = {.length = 0}};
    const char *name = NULL;
    json_t *value = NULL;
    *out = (struct mechd_inputs){.count = 0};
    if (!json_is_object(inputs)) {
        mech_diag_add(&c->diag, base, "expected an object of inputs");
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)derivatives, name, value)
    {
        if (json_object_get(inputs, name) == NULL) {
            mech_diag_add(&c->diag, "/inputDerivatives", "input '%.64s' is not given", name);
        }
    }

    // names first: with all of them known, one piece of memory holds the rest
    if (*base != '\0') {
        (void)mech_path_push(&to.path, base + 1);
    }
    const size_t numbers = (1 + ORDER_MOST) * count_values(c, inputs, &to.path);
    const size_t given = json_object_size(inputs);
    const size_t n = given < all ? given : all;
    out->changes = malloc(n * sizeof *out->changes + numbers * sizeof(double) + 1);
    if (out->changes == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the inputs");
        return;
    }
    to.at = (double *)(void *)(out->changes + n);
    json_object_foreach((json_t *)(uintptr_t)inputs, name, value)
    {
        if (mechd_engine_variable_find(engine, MECH_INPUT, name) >= 0 && may_set(c, name)) {
            read_input(c, name, value, derivatives, &to, &out->changes[out->count]);
            out->count++;
        }
    }
}

void mechd_inputs_fini(struct mechd_inputs *in)
{
    free(in->changes);
}
