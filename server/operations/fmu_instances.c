/* From `fmu` and `start` of a body to an engine that has begun. */
#include "server/operations/fmu_instances.h"

#include "protocol/wire/json.h"
#include "server/call/service.h"
#include "server/call/shapes.h"

#include <stdlib.h>

/* Numbers and booleans, one or a list of v->size, into values. False: a fault. */
static bool read_values(struct mechd_call *c, const json_t *value, const struct mech_variable *v,
                        const char *path, double *values)
{
    const bool list = json_is_array(value);
    const size_t n = list ? json_array_size(value) : 1;
    if (list == v->scalar || n != (size_t)v->size) {
        mech_diag_add(&c->diag, path, v->scalar ? "must be a number" : "must be %d numbers",
                      (int)v->size);
        return false;
    }
    for (size_t k = 0; k < n; k++) {
        const json_t *const one = list ? json_array_get(value, k) : value;
        if (!json_is_number(one) && !json_is_boolean(one)) {
            mech_diag_add(&c->diag, path, "must be numbers, or true and false");
            return false;
        }
        values[k] = json_is_boolean(one) ? json_is_true(one) : json_number_value(one);
    }
    return true;
}

static void read_one(struct mechd_call *c, const struct mechd_engine *e, const char *name,
                     const json_t *value)
{
    struct mech_path path = {.length = 0};
    struct mech_variable v;
    enum mech_causality causality = MECH_PARAMETER;
    (void)mech_path_push(&path, "start");
    (void)mech_path_push(&path, name);
    int32_t index = mechd_engine_variable_find(e, causality, name);
    if (index < 0) {
        causality = MECH_INPUT;
        index = mechd_engine_variable_find(e, causality, name);
    }
    if (index < 0) {
        mechd_engine_lacks(e, MECH_PARAMETER, name, path.text, &c->diag);
        return;
    }
    mechd_engine_variable(e, causality, (size_t)index, &v);
    double *const values = mechd_doubles(c, (size_t)v.size);
    if (values != NULL && read_values(c, value, &v, path.text, values)) {
        (void)mechd_engine_fmu_start(e, causality, index, values, path.text, &c->diag);
    }
    free(values);
}

/* Its start values. False: refused. */
static bool read_start(struct mechd_call *c, const struct mechd_engine *e, const json_t *start)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)start, name, value)
    {
        read_one(c, e, name, value);
    }
    return !mechd_call_faulty(c) && c->code == MECHP_OK;
}

bool mechd_fmu_engine_ready(struct mechd_call *c, const char *id, const json_t *start,
                            struct mechd_engine *out)
{
    struct mechd_fmus *const fmus = &c->service->fmus;
    struct mechd_fmu_package *const p = mechd_fmus_find(fmus, id, NULL);
    if (p == NULL) {
        mechd_fail(c, MECHP_NOT_FOUND, "there is no FMU %.64s", id);
        return false;
    }
    const int outcome = mechd_engine_of_fmu(p, &fmus->settings, out, &c->diag);
    mechd_fmu_package_unref(p);
    if (outcome != 0) {
        mechd_fail_outcome(c, outcome);
        return false;
    }
    if (!read_start(c, out, start)) {
        mechd_engine_destroy(out);
        return false;
    }
    return true;
}

bool mechd_fmu_engine(struct mechd_call *c, const char *id, const json_t *start,
                      struct mechd_engine *out)
{
    if (!mechd_fmu_engine_ready(c, id, start, out)) {
        return false;
    }
    const int outcome = mechd_engine_fmu_begin(out);
    if (outcome != 0 && mechd_engine_fmu_is_full(out)) {
        mechd_fail(c, MECHP_LIMIT_REACHED, "%s", mechd_engine_refusal(out));
    } else if (outcome != 0) {
        mechd_fail_reason(c, outcome, mechd_engine_refusal(out));
    }
    if (outcome != 0) {
        mechd_engine_destroy(out);
    }
    return outcome == 0;
}
