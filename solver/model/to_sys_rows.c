/* Constraints of a model's descriptor: each source adds its own, in the order of `sources`; what
 * else can push is one more function there. See to_sys.h. */
#include "solver/base/err.h"
#include "solver/model/balance.h"
#include "solver/model/to_sys_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_slot(const void *x, const void *y)
{
    const struct mech_system_place *const p = x, *const q = y;

    return p->slot != q->slot ? (p->slot < q->slot ? -1 : 1)
           : p->row != q->row ? (p->row < q->row ? -1 : 1)
                              : 0;
}

/* The half of at [count], sorted, all on one block of variables; in the scratch arena. */
static int make_half(struct mech_system_build *b, const struct mech_system_place *at, size_t count,
                     int32_t rows, struct mech_constraint_half *out)
{
    const int32_t block = b->owner[at->slot];
    const struct mech_system_variables *const v = &b->out->variables[block];
    int32_t *const list = mech_arena_alloc(&b->scratch, count, sizeof *list);
    int32_t listed = 0;

    if (!list) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < count; k++) {
        if (k == 0 || at[k].slot != at[k - 1].slot) {
            list[listed++] = at[k].slot - v->first;
        }
    }
    double *const x = mech_arena_alloc(&b->scratch, (size_t)listed * (size_t)rows, sizeof *x);
    int32_t j = -1;

    if (!x) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < count; k++) {
        j += k == 0 || at[k].slot != at[k - 1].slot;
        x[at[k].row * listed + j] += at[k].value;
    }
    *out = (struct mech_constraint_half){.variables = block,
                                         .jacobian = x,
                                         .list = listed < v->n ? list : NULL,
                                         .listed = listed < v->n ? listed : 0};
    return 0;
}

int mech_system_group(struct mech_system_build *b, struct mech_system_group *g)
{
    struct mech_system *const s = b->out;
    const struct mech_arena_mark mark = mech_arena_mark(&b->scratch);
    struct mech_constraint_half *const halves =
        mech_arena_alloc(&b->scratch, g->count, sizeof *halves);
    const int32_t rows = g->about.set.rows;
    const double cfm[MECH_SET_ROWS] = {g->about.cfm};
    int32_t count = 0, at;

    if (!halves) {
        return MECH_NO_MEMORY;
    }
    qsort(g->at, g->count, sizeof *g->at, by_slot);
    for (size_t k = 0, end = 0; k < g->count; k = end) {
        for (end = k; end < g->count && b->owner[g->at[end].slot] == b->owner[g->at[k].slot];) {
            end++;
        }
        MECH_TRY(make_half(b, g->at + k, end - k, rows, &halves[count++]));
    }
    const struct mech_constraint spec = {.set = g->about.set,
                                         .halves = halves,
                                         .count = count,
                                         .b = g->b,
                                         .cfm = cfm,
                                         .l = g->l,
                                         .flags = g->about.flags};

    MECH_TRY(mech_descriptor_add_constraint(s->descriptor, &spec, &at));
    mech_arena_release(&b->scratch, mark);
    s->constraints[s->constraint_count++] = g->about;
    return 0;
}

/* --- joints ----------------------------------------------------------------------------------- */

/* Of all rows: G, b without the sign of their side, and g with the limits, lengths and speeds of
 * one-sided ones, where they count. */
struct joints {
    double *G, *b, *g, *limit, *L, *speeds;
};

/* One-sided rows of a step: the gap that is known before it is solved, at q ⊕ (1 − θ) h v. */
static int look_ahead(struct mech_system_build *b, struct joints *j, double *scratch)
{
    const struct mech_joint_rows *const rows = &b->m->rows.joints;
    const struct mech_gap_step step = mech_system_step(b);
    const size_t n = (size_t)rows->count + 1, entries = (size_t)rows->start[rows->count] + 1;
    double *const G = scratch, *const g = G + entries, *const gt = g + n, *const none = gt + n;
    struct mech_eval at;

    MECH_TRY(mech_system_middle(b, &at));
    mech_model_pose(b->m, &at);
    mech_model_joint_residual(b->m, &at, g);
    mech_model_joint_jacobian(b->m, G);
    mech_model_joint_rate(b->m, &at, gt, none);
    for (int32_t r = 0; r < rows->count; r++) {
        const double side = rows->side[r];

        for (int32_t k = rows->start[r]; k < rows->start[r + 1] && side != 0.; k++) {
            j->G[k] = G[k];
        }
        if (side != 0.) {
            j->b[r] = gt[r] + side * mech_gap_rest(&step, side * g[r]);
        }
    }
    return 0;
}

static int look_at_joints(struct mech_system_build *b, struct joints *j)
{
    const struct mech_joint_rows *const rows = &b->m->rows.joints;
    const size_t n = (size_t)rows->count + 1, entries = (size_t)rows->start[rows->count] + 1;
    double *const room = mech_arena_alloc(&b->scratch, 2 * entries + 8 * n, sizeof *room);
    struct mech_eval at = *b->e;

    if (!room) {
        return MECH_NO_MEMORY;
    }
    double *const spare = room + entries + 5 * n;
    *j = (struct joints){.G = room, .b = room + entries, .g = room + entries + n};
    j->limit = j->g + n;
    j->L = j->limit + n;
    j->speeds = j->L + n;
    at.posed = false;
    mech_model_pose(b->m, &at);
    mech_model_joint_residual(b->m, &at, j->g);
    mech_model_joint_jacobian(b->m, j->G);
    mech_model_limits(b->m, j->limit);
    mech_model_joint_sizes(b->m, j->L);
    mech_model_limit_speeds(b->m, j->speeds);
    if (b->request->level == MECH_LEVEL_ACCELERATION) {
        mech_model_joint_rate(b->m, &at, spare, j->b);
        return 0;
    }
    at.t += b->request->h;
    mech_model_pose(b->m, &at);
    mech_model_joint_rate(b->m, &at, j->b, spare);
    return rows->one_sided ? look_ahead(b, j, spare) : 0;
}

/* Why a row does not act, or 0. Of a step all do that are not left out: their gap is in b. */
static uint32_t joint_flags(const struct mech_system_build *b, const struct joints *j, int32_t r)
{
    const struct mech_joint_rows *const rows = &b->m->rows.joints;
    const double open = b->e->state->open[r];
    struct mech_side of = {.side = rows->side[r],
                           .g = j->g[r],
                           .limit = j->limit[r],
                           .speeds = j->speeds[r],
                           .L = j->L[r],
                           .h = mech_model_settings(b->m)->step_size};

    if (rows->dropped && rows->dropped[r]) {
        return MECH_CONSTRAINT_REDUNDANT;
    }
    if (b->request->level == MECH_LEVEL_VELOCITY || open != MECH_SIDE_UNKNOWN) {
        return b->request->level != MECH_LEVEL_VELOCITY && open != 0. ? MECH_CONSTRAINT_FREE : 0;
    }
    for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
        const double part = j->G[k] * b->e->v[rows->column[k]];

        of.rate += part;
        of.terms += fabs(part);
    }
    return mech_model_side_open(&of) ? MECH_CONSTRAINT_FREE : 0;
}

static int add_joints(struct mech_system_build *b)
{
    const struct mech_joint_rows *const rows = &b->m->rows.joints;
    const bool velocity = b->request->level == MECH_LEVEL_VELOCITY;
    struct joints j;

    if (rows->count == 0) {
        return 0;
    }
    MECH_TRY(look_at_joints(b, &j));
    for (int32_t r = 0; r < rows->count; r++) {
        const double s = rows->side[r] < 0 ? -1. : 1.;
        const size_t most = (size_t)(rows->start[r + 1] - rows->start[r]);
        const struct mech_arena_mark mark = mech_arena_mark(&b->scratch);
        struct mech_system_group g = {
            .about = {.source = MECH_SOURCE_JOINT,
                      .item = rows->object[r],
                      .row = r,
                      .mirrored = s < 0.,
                      .set = {.kind = rows->side[r] ? MECH_SET_UNILATERAL : MECH_SET_BILATERAL,
                              .rows = 1},
                      .flags = joint_flags(b, &j, r),
                      .position = j.g[r]},
            .at = mech_arena_alloc(&b->scratch, most, sizeof *g.at),
            .b = {s * j.b[r]},
            .l = {s * b->e->state->lambda[r] * (velocity ? b->request->h : 1.)}};

        if (!g.at) {
            return MECH_NO_MEMORY;
        }
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            if (rows->column[k] < b->m->sizes.v && j.G[k] != 0.) {
                g.at[g.count++] = (struct mech_system_place){0, rows->column[k], s * j.G[k]};
            }
        }
        MECH_TRY(mech_system_group(b, &g));
        mech_arena_release(&b->scratch, mark);
    }
    return 0;
}

/* --- interactions ----------------------------------------------------------------------------- */

/* H q + b and H v of a row. */
static void look_at_row(const struct mech_system_build *b, int32_t row, double *y, double *rate)
{
    const struct mech_contact_rows *const rows = &b->m->rows.contacts;

    *y = rows->b[row];
    *rate = 0.;
    for (int32_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
        *y += rows->value[k] * b->e->q[rows->place[k]];
        *rate += rows->value[k] * b->e->v[rows->column[k]];
    }
}

static struct mech_set set_of(const struct mech_system_build *b, int32_t contact)
{
    const struct mech_contact_rows *const rows = &b->m->rows.contacts;
    struct mech_set set = {.kind = MECH_SET_UNILATERAL, .rows = 1};

    if (rows->sets) {
        set = rows->sets[contact];
    }
    if (b->request->level == MECH_LEVEL_VELOCITY) {
        set.lower *= b->request->h;
        set.upper *= b->request->h;
    }
    return set;
}

/* The contact whose rows begin with `row`. */
static int add_contact(struct mech_system_build *b, struct mech_set set, int32_t row)
{
    const struct mech_contact_rows *const rows = &b->m->rows.contacts;
    const struct mech_settings *const settings = &b->m->document->solver;
    const struct mech_state *const state = b->e->state;
    const bool velocity = b->request->level == MECH_LEVEL_VELOCITY;
    const bool gap = set.kind == MECH_SET_UNILATERAL || set.kind == MECH_SET_CONE;
    const struct mech_gap_step step = mech_system_step(b);
    const double last = state->at->last_step;
    const size_t most = (size_t)(rows->start[row + set.rows] - rows->start[row]);
    const struct mech_arena_mark mark = mech_arena_mark(&b->scratch);
    struct mech_system_group g = {.about = {.source = MECH_SOURCE_INTERACTION,
                                            .item = rows->interaction[row],
                                            .row = row,
                                            .set = set},
                                  .at = mech_arena_alloc(&b->scratch, most, sizeof *g.at)};

    if (!g.at) {
        return MECH_NO_MEMORY;
    }
    for (int32_t r = 0; r < set.rows; r++) {
        double y, rate;

        look_at_row(b, row + r, &y, &rate);
        if (r == 0) {
            const double h = velocity ? b->request->h : settings->step_size;
            const double ahead = y + settings->gamma * h * rate;

            g.about.position = y;
            const bool far =
                gap && !b->request->all_contacts && ahead > settings->activation_threshold;

            g.about.flags =
                (far ? MECH_CONSTRAINT_FREE : 0u) |
                (mech_is_suspended(rows->suspended, row) ? MECH_CONSTRAINT_DISABLED : 0u);
        }
        g.b[r] = velocity ? rows->e[row + r] * rate : 0.;
        if (velocity && rows->compliance && rows->compliance[row + r] > 0.) {
            g.b[r] = mech_gap_soft(&step, rows->compliance[row + r], rows->damping[row + r], y,
                                   rate, &g.about.cfm);
        }
        g.l[r] = velocity    ? state->impulse[row + r]
                 : last > 0. ? state->impulse[row + r] / last
                             : 0.;
        for (int32_t k = rows->start[row + r]; k < rows->start[row + r + 1]; k++) {
            g.at[g.count++] = (struct mech_system_place){r, rows->column[k], rows->value[k]};
        }
    }
    MECH_TRY(mech_system_group(b, &g));
    mech_arena_release(&b->scratch, mark);
    return 0;
}

static int add_interactions(struct mech_system_build *b)
{
    const struct mech_contact_rows *const rows = &b->m->rows.contacts;

    if (rows->count == 0) {
        return 0;
    }
    for (int32_t row = 0, contact = 0; row < rows->count; contact++) {
        const struct mech_set set = set_of(b, contact);

        MECH_TRY(add_contact(b, set, row));
        row += set.rows;
    }
    return 0;
}

/* --- all -------------------------------------------------------------------------------------- */

int mech_system_rows(struct mech_system_build *b)
{
    static int (*const sources[])(struct mech_system_build *) = {add_joints, add_interactions,
                                                                 mech_system_touches};

    MECH_TRY(mech_system_find_touches(b));
    const size_t most =
        (size_t)b->m->rows.joints.count + (size_t)b->m->rows.contacts.count + (size_t)b->touches.n;

    b->out->constraints = mech_arena_alloc(&b->out->arena, most, sizeof *b->out->constraints);
    if (!b->out->constraints) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < sizeof sources / sizeof *sources; k++) {
        MECH_TRY(sources[k](b));
    }
    return 0;
}
