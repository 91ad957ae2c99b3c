/* Two states, number by number. Cost: O(n log n) in the numbers that differ. */
#include "solver/sim/compare.h"

#include "solver/base/err.h"
#include "solver/sim/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const mech_difference_names[MECH_DIFFERS_KINDS] = {
    [MECH_DIFFERS_JOINT] = "joint",
    [MECH_DIFFERS_PARAMETER] = "parameter",
    [MECH_DIFFERS_INPUT] = "input",
    [MECH_DIFFERS_RATE] = "inputRate",
    [MECH_DIFFERS_CURVATURE] = "inputCurvature",
    [MECH_DIFFERS_COORDINATE] = "coordinate",
    [MECH_DIFFERS_VELOCITY] = "velocity",
    [MECH_DIFFERS_STATE] = "state",
    [MECH_DIFFERS_KEPT] = "kept"};

const char *const mech_activity_names[MECH_ACTIVITIES] = {[MECH_ACTS] = "acts",
                                                          [MECH_OPEN] = "open",
                                                          [MECH_UNDECIDED] = "undecided",
                                                          [MECH_DEACTIVATED] = "deactivated"};

/* Both states and what has been found. */
struct comparing {
    struct mech_sim *s;
    const struct mech_state *of[2];
    const struct mech_closeness *close;
    struct mech_owner *owners; /* [most of q, v, x, z] scratch */
    struct mech_comparison *out;
    size_t found;
};

static bool differ(const struct comparing *c, double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) != isnan(b);
    }
    return fabs(b - a) > c->close->absolute + c->close->relative * fmax(fabs(a), fabs(b));
}

static void add(struct comparing *c, const struct mech_difference *d)
{
    c->out->items[c->found++] = *d;
    c->out->counts[d->kind]++;
}

static void compare_numbers(struct comparing *c, const struct mech_difference *at, double a,
                            double b)
{
    if (differ(c, a, b)) {
        struct mech_difference d = *at;
        d.values[0] = a;
        d.values[1] = b;
        add(c, &d);
    }
}

static enum mech_activity activity(double open)
{
    return open == 0.                  ? MECH_ACTS
           : open == MECH_SIDE_UNKNOWN ? MECH_UNDECIDED
           : open == MECH_LET_GO       ? MECH_DEACTIVATED
                                       : MECH_OPEN;
}

static void compare_joints(struct comparing *c)
{
    const struct mech_joint_rows *const joints = mech_model_joints(c->s->model);

    for (int32_t r = 0, first = 0; r < joints->count; r++) {
        const enum mech_activity a = activity(c->of[0]->open[r]), b = activity(c->of[1]->open[r]);

        first = joints->object[r] == joints->object[first] ? first : r;
        if (a != b) {
            add(c, &(struct mech_difference){.kind = MECH_DIFFERS_JOINT,
                                             .name = mech_model_joint_name(c->s->model, r),
                                             .index = r - first,
                                             .values = {a, b}});
        }
    }
}

static void compare_parameters(struct comparing *c)
{
    for (int32_t k = 0; k < c->s->sizes.parameter; k++) {
        const struct mech_difference at = {.kind = MECH_DIFFERS_PARAMETER,
                                           .name = c->s->document->parameters.at[k].name};
        compare_numbers(c, &at, c->of[0]->parameter[k], c->of[1]->parameter[k]);
    }
}

/* Value (order 0) or derivative of an input that is set. */
static double input_of(const struct mech_state *p, int32_t at, int order)
{
    return p->input_set[at] != 0. ? p->input[4 * (size_t)at + (size_t)order] : NAN;
}

static void compare_inputs(struct comparing *c)
{
    for (size_t k = 0; k < mech_model_inputs(c->s->model); k++) {
        const struct mech_channel_info *const in = mech_model_input(c->s->model, k);

        // a parameter that is an input is among the parameters
        for (int32_t n = 0; n < in->size && in->kind != MECH_INPUT_PARAMETER; n++) {
            for (int order = 0; order < 3; order++) {
                const double a = input_of(c->of[0], in->offset + n, order);
                const double b = input_of(c->of[1], in->offset + n, order);
                const struct mech_difference at = {
                    .kind = (enum mech_difference_kind)(MECH_DIFFERS_INPUT + order),
                    .name = in->name,
                    .index = n};
                // one that is not set has no derivatives
                if (order == 0) {
                    compare_numbers(c, &at, a, b);
                } else {
                    compare_numbers(c, &at, isnan(a) ? 0. : a, isnan(b) ? 0. : b);
                }
            }
        }
    }
}

static void compare_part(struct comparing *c, enum mech_part part, enum mech_difference_kind kind)
{
    const int32_t n = mech_model_part_size(c->s->model, part);
    const double *x[2];

    for (int i = 0; i < 2; i++) {
        const struct mech_state *const p = c->of[i];
        const double *const parts[] = {
            [MECH_PART_Q] = p->q, [MECH_PART_V] = p->v, [MECH_PART_X] = p->x, [MECH_PART_Z] = p->z};
        x[i] = parts[part];
    }
    mech_model_part_owners(c->s->model, part, c->owners);
    for (int32_t k = 0; k < n; k++) {
        const struct mech_owner *const o = &c->owners[k];
        const struct mech_items *const items = mech_document_items(c->s->document, o->category);
        const struct mech_difference at = {.kind = kind,
                                           .name = o->item >= 0 ? items->at[o->item].name : NULL,
                                           .index = o->item >= 0 ? o->index : k};
        compare_numbers(c, &at, x[0][k], x[1][k]);
    }
}

static double size_of(const struct mech_difference *d)
{
    const double size = fabs(d->values[1] - d->values[0]);

    return isnan(size) || d->kind == MECH_DIFFERS_JOINT ? INFINITY : size;
}

/* Place in the state of those that are as large: they have been found in that order. */
struct ordered {
    struct mech_difference d;
    size_t place;
};

static int by_size(const void *a, const void *b)
{
    const struct ordered *const x = a, *const y = b;
    const double dx = size_of(&x->d), dy = size_of(&y->d);

    if (x->d.kind != y->d.kind) {
        return x->d.kind < y->d.kind ? -1 : 1;
    }
    return dx > dy ? -1 : dx < dy ? 1 : x->place < y->place ? -1 : x->place > y->place;
}

static int sort(struct comparing *c)
{
    struct ordered *const all = malloc((c->found + 1) * sizeof *all);

    if (!all) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < c->found; k++) {
        all[k] = (struct ordered){c->out->items[k], k};
    }
    qsort(all, c->found, sizeof *all, by_size);
    for (size_t k = 0; k < c->found; k++) {
        c->out->items[k] = all[k].d;
    }
    free(all);
    return 0;
}

static int compare(struct comparing *c)
{
    const struct mech_state_sizes *const n = &c->s->sizes;
    const size_t most = (size_t)n->q + (size_t)n->v + (size_t)n->x + (size_t)n->z +
                        (size_t)n->lambda + 3 * (size_t)n->input + (size_t)n->parameter;
    const size_t widest = (size_t)n->q + (size_t)n->v + (size_t)n->x + (size_t)n->z;

    c->out->items = malloc((most + 1) * sizeof *c->out->items);
    c->owners = malloc((widest + 1) * sizeof *c->owners);
    if (!c->out->items || !c->owners) {
        return MECH_NO_MEMORY;
    }
    compare_joints(c);
    compare_parameters(c);
    compare_inputs(c);
    compare_part(c, MECH_PART_Q, MECH_DIFFERS_COORDINATE);
    compare_part(c, MECH_PART_V, MECH_DIFFERS_VELOCITY);
    compare_part(c, MECH_PART_X, MECH_DIFFERS_STATE);
    compare_part(c, MECH_PART_Z, MECH_DIFFERS_KEPT);
    return sort(c);
}

int mech_sim_compare(struct mech_sim *s, const struct mech_snapshot_bytes of[2],
                     const struct mech_closeness *close, struct mech_comparison *out)
{
    struct mech_state first = {.block = NULL};
    struct comparing c = {
        .s = s, .of = {&first, &s->point}, .close = close, .owners = NULL, .out = out};
    double *const block = malloc(s->now.size);
    int code = block ? 0 : MECH_NO_MEMORY;

    memset(out, 0, sizeof *out);
    if (code == 0) {
        code = mech_sim_snapshot_open(s, of[0].bytes, of[0].size);
    }
    if (code == 0) {
        memcpy(block, s->point.block, s->now.size);
        mech_state_place(&s->sizes, block, &first);
        code = mech_sim_snapshot_open(s, of[1].bytes, of[1].size);
    }
    if (code == 0) {
        /* how often fields have been changed, no step reads */
        first.at->edits = s->point.at->edits;
        for (int i = 0; i < 2; i++) {
            out->times[i] = c.of[i]->at->time;
            out->steps[i] = c.of[i]->at->steps;
        }
        out->identical = memcmp(block, s->point.block, s->now.size) == 0;
        code = compare(&c);
    }
    free(c.owners);
    free(block);
    return code;
}

void mech_comparison_fini(struct mech_comparison *c)
{
    free(c->items);
    c->items = NULL;
}
