/* Grids and lists of parameter sets. */
#include "server/operations/sweep_points.h"

#include "protocol/wire/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Add a name to the plan: its place, or -1 (reported). A name that is already there keeps its
 * place. */
static int place_of(struct mechd_call *c, const struct mech_document *document,
                    struct mechd_sweep_plan *plan, const char *name, const char *path)
{
    for (size_t k = 0; k < plan->places; k++) {
        if (strcmp(plan->names[k], name) == 0) {
            return (int)k;
        }
    }
    size_t index = 0;
    while (index < document->parameters.n &&
           strcmp(document->parameters.at[index].name, name) != 0) {
        index++;
    }
    if (index == document->parameters.n) {
        const struct mech_parameters *const all = &document->parameters;
        struct mech_guess g;
        mech_diag_add(
            &c->diag, path, "the model has no parameter '%.64s'%s", name,
            mech_hint(&g, name, all->at, mech_diag_full(&c->diag) ? 0 : all->n, sizeof *all->at));
        return -1;
    }
    if (plan->places == MECHD_SWEEP_PARAMETERS) {
        mech_diag_add(&c->diag, path, "at most %d parameters", MECHD_SWEEP_PARAMETERS);
        return -1;
    }
    const size_t k = plan->places++;
    snprintf(plan->names[k], sizeof plan->names[k], "%s", name);
    plan->index[k] = (int32_t)index;
    return (int)k;
}

/* Values of all points, at first the document's. False: reported. */
static bool make_values(struct mechd_call *c, const struct mech_document *document,
                        struct mechd_sweep_plan *plan)
{
    plan->values = calloc((size_t)plan->points * plan->places + 1, sizeof *plan->values);
    if (plan->values == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for %u points", plan->points);
        return false;
    }
    for (size_t point = 0; point < plan->points; point++) {
        for (size_t k = 0; k < plan->places; k++) {
            plan->values[point * plan->places + k] = document->parameters.at[plan->index[k]].value;
        }
    }
    return true;
}

/* --- grids ------------------------------------------------------------------------------------ */

/* One axis: its values. NULL: reported. */
static double *read_axis(struct mechd_call *c, const json_t *axis, const char *path, size_t *count)
{
    double *values = NULL;
    if (json_is_array(axis) && json_array_size(axis) > 0) {
        const size_t most = json_array_size(axis);
        values = calloc(most, sizeof *values);
        if (values != NULL && !mechp_json_numbers(axis, path, &c->diag, most, values, count)) {
            free(values);
            return NULL;
        }
    } else if (json_is_object(axis)) {
        double from = 0., to = 0.;
        int64_t n = 0;
        static const char *const keys[] = {"from", "to", "count", NULL};
        mechp_json_only(axis, path, keys, &c->diag);
        if (!mechp_json_number(axis, "from", &c->diag, &from) ||
            !mechp_json_number(axis, "to", &c->diag, &to) ||
            !mechp_json_integer(axis, "count", &c->diag, 1, MECHD_SWEEP_POINTS, &n)) {
            mech_diag_add(&c->diag, path, "expected numbers, or {\"from\", \"to\", \"count\"}");
            return NULL;
        }
        *count = (size_t)n;
        values = calloc(*count, sizeof *values);
        for (size_t k = 0; values != NULL && k < *count; k++) {
            // both ends as they are given
            const double s = *count > 1 ? (double)k / (double)(*count - 1) : 0.;
            values[k] = k > 0 && k + 1 == *count ? to : from + s * (to - from);
        }
    } else {
        mech_diag_add(&c->diag, path, "expected numbers, or {\"from\", \"to\", \"count\"}");
        return NULL;
    }
    if (values == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the values");
    }
    return values;
}

/* All axes; the product of their sizes. */
static double read_axes(struct mechd_call *c, const struct mech_document *document,
                        struct mechd_sweep_plan *plan, const json_t *grid,
                        double *axes[MECHD_SWEEP_PARAMETERS], size_t counts[MECHD_SWEEP_PARAMETERS])
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
        const int k = place_of(c, document, plan, name, path.text);
        if (k >= 0) {
            axes[k] = read_axis(c, axis, path.text, &counts[k]);
            points *= (double)counts[k];
        }
    }
    return points;
}

static void read_grid(struct mechd_call *c, const struct mech_document *document,
                      struct mechd_sweep_plan *plan, const json_t *grid)
{
    double *axes[MECHD_SWEEP_PARAMETERS] = {NULL};
    size_t counts[MECHD_SWEEP_PARAMETERS] = {0};
    const double points = read_axes(c, document, plan, grid, axes, counts);
    if (points > MECHD_SWEEP_POINTS) {
        mech_diag_add(&c->diag, "/parameters/grid", "%.0f points; at most %d", points,
                      MECHD_SWEEP_POINTS);
    }
    plan->points = points <= MECHD_SWEEP_POINTS ? (uint32_t)points : 0;
    if (!mechd_call_faulty(c) && c->code == MECHP_OK && make_values(c, document, plan)) {
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
static void read_point(struct mechd_call *c, const struct mech_document *document,
                       struct mechd_sweep_plan *plan, const json_t *point, size_t at)
{
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
        const int k = place_of(c, document, plan, name, path.text);
        if (k >= 0 && plan->values != NULL) {
            plan->values[at * plan->places + (size_t)k] = mechp_json_value(value);
        }
        mech_path_cut(&path, mark);
    }
}

static void read_list(struct mechd_call *c, const struct mech_document *document,
                      struct mechd_sweep_plan *plan, const json_t *list)
{
    if (json_array_size(list) == 0 || json_array_size(list) > MECHD_SWEEP_POINTS) {
        mech_diag_add(&c->diag, "/parameters/list", "1 to %d points", MECHD_SWEEP_POINTS);
        return;
    }
    plan->points = (uint32_t)json_array_size(list);
    for (size_t k = 0; k < plan->points; k++) {
        read_point(c, document, plan, json_array_get(list, k), k);
    }
    if (mechd_call_faulty(c) || !make_values(c, document, plan)) {
        return;
    }
    for (size_t k = 0; k < plan->points; k++) {
        read_point(c, document, plan, json_array_get(list, k), k);
    }
}

void mechd_sweep_points_read(struct mechd_call *c, const struct mech_document *document,
                             struct mechd_sweep_plan *plan)
{
    static const char *const keys[] = {"grid", "list", NULL};
    const json_t *parameters = json_object_get(c->body, "parameters");
    const json_t *grid = json_object_get(parameters, "grid");
    const json_t *list = json_object_get(parameters, "list");
    plan->names = calloc(MECHD_SWEEP_PARAMETERS, sizeof *plan->names);
    plan->index = calloc(MECHD_SWEEP_PARAMETERS, sizeof *plan->index);
    if (plan->names == NULL || plan->index == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the parameters");
        return;
    }
    if (json_is_object(parameters)) {
        mechp_json_only(parameters, "/parameters", keys, &c->diag);
    }
    if (json_is_object(grid) && list == NULL) {
        read_grid(c, document, plan, grid);
    } else if (json_is_array(list) && grid == NULL) {
        read_list(c, document, plan, list);
    } else {
        mech_diag_add(&c->diag, "/parameters",
                      "expected {\"grid\": {name: values}} or {\"list\": [{name: value}]}");
    }
}
