/* Grids and lists of parameter sets. */
#include "server/operations/sweep_points.h"

#include "protocol/wire/bodies.h"
#include "protocol/wire/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Doubles up to here have no gaps between whole numbers. */
static const double whole_most = 9007199254740992.;

/* What is read of one request. */
struct reader {
    struct mechd_call *c;
    const struct mechd_axes *axes;
    struct mechd_sweep_plan *plan;
    struct mechd_axis at[MECHD_SWEEP_PARAMETERS]; /* by the places of the plan */
};

/* Add a name to the plan: its place, or -1 (reported). A name that is already there keeps its
 * place. */
static int place_of(struct reader *r, const char *name, const char *path)
{
    struct mechd_sweep_plan *const plan = r->plan;
    struct mechd_axis axis;
    for (size_t k = 0; k < plan->places; k++) {
        if (strcmp(plan->names[k], name) == 0) {
            return (int)k;
        }
    }
    if (!r->axes->find(r->c, r->axes, name, path, &axis)) {
        return -1;
    }
    if (plan->places == MECHD_SWEEP_PARAMETERS) {
        mech_diag_add(&r->c->diag, path, "at most %d parameters", MECHD_SWEEP_PARAMETERS);
        return -1;
    }
    const size_t k = plan->places++;
    snprintf(plan->names[k], sizeof plan->names[k], "%s", name);
    plan->index[k] = axis.index;
    r->at[k] = axis;
    return (int)k;
}

/* A value that the name can have, or a fault at `path`, or below it with an index from 0. */
static void check(const struct reader *r, int place, double value, const char *path, int index)
{
    char each[MECH_DIAG_PATH];
    const bool whole = fabs(value) <= whole_most && value == trunc(value);
    if (isfinite(value) && (whole || !r->at[place].whole)) {
        return;
    }
    snprintf(each, sizeof each, index < 0 ? "%.180s" : "%.180s/%d", path, index);
    mech_diag_add(&r->c->diag, each,
                  isfinite(value) ? "must be a whole number" : "is beyond the range of numbers");
}

/* Values of all points, at first the document's. False: reported. */
static bool make_values(struct reader *r)
{
    struct mechd_sweep_plan *const plan = r->plan;
    plan->values = calloc((size_t)plan->points * plan->places + 1, sizeof *plan->values);
    if (plan->values == NULL) {
        mechd_fail(r->c, MECHP_OUT_OF_MEMORY, "no memory for %u points", plan->points);
        return false;
    }
    for (size_t point = 0; point < plan->points; point++) {
        for (size_t k = 0; k < plan->places; k++) {
            plan->values[point * plan->places + k] = r->at[k].own;
        }
    }
    return true;
}

/* --- grids ------------------------------------------------------------------------------------ */

/* {"from", "to", "count"}: both ends as they are given. NULL: reported, or no memory. */
static double *read_range(struct reader *r, int place, const json_t *axis, const char *path,
                          size_t *count)
{
    const struct mechp_json_in in = {axis, path, &r->c->diag};
    struct mechp_body_sweep_axis range;
    mechp_shape_only(axis, path, &mechp_body_sweep_axis, in.diag);
    MECHP_READ_IN(sweep_axis, &in, &range);
    if (isnan(range.from) || isnan(range.to) || range.count == INT64_MIN) {
        mech_diag_add(in.diag, path, "expected numbers, or {\"from\", \"to\", \"count\"}");
        return NULL;
    }
    *count = (size_t)range.count;
    double *const values = calloc(*count, sizeof *values);
    for (size_t k = 0; values != NULL && k < *count; k++) {
        const double last = *count > 1 ? (double)(*count - 1) : 1.;
        // whole numbers come out whole
        const double length = range.to - range.from;
        const double part =
            r->at[place].whole ? (double)k * length / last : (double)k / last * length;
        values[k] = k > 0 && k + 1 == *count ? range.to : range.from + part;
    }
    return values;
}

/* One axis: its values. NULL: reported. */
static double *read_axis(struct reader *r, int place, const json_t *axis, const char *path,
                         size_t *count)
{
    struct mechd_call *const c = r->c;
    const bool listed = json_is_array(axis);
    double *values = NULL;
    if (listed && json_array_size(axis) > 0) {
        const size_t most = json_array_size(axis);
        values = calloc(most, sizeof *values);
        if (values != NULL && !mechp_json_numbers(axis, path, &c->diag, most, values, count)) {
            free(values);
            return NULL;
        }
    } else if (json_is_object(axis)) {
        values = read_range(r, place, axis, path, count);
    } else {
        mech_diag_add(&c->diag, path, "expected numbers, or {\"from\", \"to\", \"count\"}");
    }
    if (values == NULL && mech_diag_clean(&c->diag)) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the values");
    }
    const size_t before = c->diag.total;
    for (size_t k = 0; values != NULL && k < *count && (listed || c->diag.total == before); k++) {
        check(r, place, values[k], path, listed ? (int)k : -1);
    }
    return values;
}

/* All axes; the product of their sizes. */
static double read_axes(struct reader *r, const json_t *grid, double *axes[MECHD_SWEEP_PARAMETERS],
                        size_t counts[MECHD_SWEEP_PARAMETERS])
{
    const char *name = NULL;
    json_t *axis = NULL;
    double points = 1.;
    json_object_foreach((json_t *)(uintptr_t)grid, name, axis)
    {
        struct mech_path path = {.length = 0};
        (void)mech_path_push(&path, "parameters");
        (void)mech_path_push(&path, "grid");
        (void)mech_path_push(&path, name);
        const int k = place_of(r, name, path.text);
        if (k >= 0) {
            axes[k] = read_axis(r, k, axis, path.text, &counts[k]);
            points *= (double)counts[k];
        }
    }
    return points;
}

static void read_grid(struct reader *r, const json_t *grid)
{
    struct mechd_call *const c = r->c;
    struct mechd_sweep_plan *const plan = r->plan;
    double *axes[MECHD_SWEEP_PARAMETERS] = {NULL};
    size_t counts[MECHD_SWEEP_PARAMETERS] = {0};
    const double points = read_axes(r, grid, axes, counts);
    if (points > MECHD_SWEEP_POINTS) {
        mech_diag_add(&c->diag, "/parameters/grid", "%.0f points; at most %d", points,
                      MECHD_SWEEP_POINTS);
    }
    plan->points = points <= MECHD_SWEEP_POINTS ? (uint32_t)points : 0;
    if (!mechd_call_faulty(c) && c->code == MECHP_OK && make_values(r)) {
        for (size_t point = 0; point < plan->points; point++) {
            size_t rest = point;
            for (size_t k = plan->places; k-- > 0; rest /= counts[k]) {
                plan->values[point * plan->places + k] = axes[k][rest % counts[k]];
            }
        }
    }
    for (size_t k = 0; k < MECHD_SWEEP_PARAMETERS; k++) {
        free(axes[k]);
    }
}

/* --- lists ------------------------------------------------------------------------------------ */

/* One point of a list: first its names, then, where there is room, its values. */
static void read_point(struct reader *r, const json_t *point, size_t at)
{
    struct mechd_call *const c = r->c;
    struct mechd_sweep_plan *const plan = r->plan;
    const char *name = NULL;
    json_t *value = NULL;
    struct mech_path path = {.length = 0};
    (void)mech_path_push(&path, "parameters");
    (void)mech_path_push(&path, "list");
    (void)mech_path_push_index(&path, at);
    if (!json_is_object(point)) {
        mech_diag_add(&c->diag, path.text, "expected an object of names and numbers");
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)point, name, value)
    {
        const size_t mark = mech_path_push(&path, name);
        if (!json_is_number(value)) {
            mech_diag_add(&c->diag, path.text, "expected a number");
        }
        const int k = place_of(r, name, path.text);
        if (k >= 0 && plan->values == NULL && json_is_number(value)) {
            check(r, k, mechp_json_value(value), path.text, -1);
        } else if (k >= 0 && plan->values != NULL) {
            plan->values[at * plan->places + (size_t)k] = mechp_json_value(value);
        }
        mech_path_cut(&path, mark);
    }
}

static void read_list(struct reader *r, const json_t *list)
{
    struct mechd_call *const c = r->c;
    struct mechd_sweep_plan *const plan = r->plan;
    if (json_array_size(list) == 0 || json_array_size(list) > MECHD_SWEEP_POINTS) {
        mech_diag_add(&c->diag, "/parameters/list", "1 to %d points", MECHD_SWEEP_POINTS);
        return;
    }
    plan->points = (uint32_t)json_array_size(list);
    for (size_t k = 0; k < plan->points; k++) {
        read_point(r, json_array_get(list, k), k);
    }
    if (mechd_call_faulty(c) || !make_values(r)) {
        return;
    }
    for (size_t k = 0; k < plan->points; k++) {
        read_point(r, json_array_get(list, k), k);
    }
}

void mechd_sweep_points_read(struct mechd_call *c, const json_t *parameters,
                             const struct mechd_axes *axes, struct mechd_sweep_plan *plan)
{
    struct reader r = {.c = c, .axes = axes, .plan = plan};
    struct mechp_body_sweep_parameters in;
    MECHP_READ(sweep_parameters, parameters, &c->diag, &in);
    plan->names = calloc(MECHD_SWEEP_PARAMETERS, sizeof *plan->names);
    plan->index = calloc(MECHD_SWEEP_PARAMETERS, sizeof *plan->index);
    if (plan->names == NULL || plan->index == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the parameters");
        return;
    }
    if (json_is_object(parameters)) {
        mechp_shape_only(parameters, "/parameters", &mechp_body_sweep_parameters, &c->diag);
    }
    if (json_is_object(in.grid) && in.list == NULL) {
        read_grid(&r, in.grid);
    } else if (json_is_array(in.list) && in.grid == NULL) {
        read_list(&r, in.list);
    } else {
        mech_diag_add(&c->diag, "/parameters",
                      "expected {\"grid\": {name: values}} or {\"list\": [{name: value}]}");
    }
}
