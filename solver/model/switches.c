/* Which way the expressions of a model go in a state: each is evaluated there, which leaves the
 * values of its variables behind. Of force laws the objects that have them alone are evaluated. */
#include "solver/model/switches.h"

#include "solver/base/err.h"
#include "solver/model/balance.h"
#include "solver/model/internal.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* of the magnitudes of forces that are added up: some ε */
static const double rounding = 16. * DBL_EPSILON;

/* A system's forces come behind the motions that it prescribes. */
static int32_t rows_before(const struct mech_model *m, const struct mech_channel *c)
{
    const int32_t own = c->category == MECH_OBJECT ? m->kinematics.objects[c->item].equation : -1;

    return own >= 0 ? m->rows.equations[own].rows : 0;
}

int mech_switches_channels(struct mech_model *m)
{
    for (size_t i = 0; i < m->channels.count; i++) {
        const struct mech_channel *const c = &m->channels.at[i];
        const struct mech_switch one = {.of = c->source.value,
                                        .vars = c->source.vars,
                                        .timed = &c->source,
                                        .channel = (int32_t)i,
                                        .category = c->category,
                                        .item = c->item,
                                        .row = rows_before(m, c) + c->row};

        MECH_TRY(mech_switches_add(&m->switches, &one));
    }
    return 0;
}

size_t mech_model_switches(const struct mech_model *m)
{
    return m->switches.count;
}

const char *mech_model_switch_name(const struct mech_model *m, size_t k, int32_t *row)
{
    const struct mech_switch *const one = &m->switches.at[k];

    *row = one->row;
    return mech_document_items(m->document, one->category)->at[one->item].name;
}

/* Whether an object is not active. */
static bool is_idle(const struct mech_model *m, int32_t object)
{
    const struct mech_seat_of *const on = &m->kinematics.objects[object];

    return (on->pair >= 0 && m->rows.pairs[on->pair].idle) ||
           (on->equation >= 0 && m->rows.equations[on->equation].idle);
}

/* g += the forces of an object's law at the point, where its poses are. */
static void add_forces(const struct mech_model *m, const struct mech_eval *e, int32_t object,
                       double *g)
{
    const struct mech_seat_of *const on = &m->kinematics.objects[object];

    if (on->pair < 0) {
        m->document->objects.at[object].type->ops.object->force(on->record, 1, e, g);
    } else {
        mech_pair_force(m, &m->rows.pairs[on->pair], e, g);
    }
}

/* The variables of its law become those of the point. */
static void evaluate_law(const struct mech_model *m, const struct mech_eval *e, int32_t object,
                         double *g)
{
    const struct mech_seat_of *const on = &m->kinematics.objects[object];
    const struct mech_pose *pose[2];
    double W[12] = {0.};

    if (on->pair < 0) {
        add_forces(m, e, object, g);
        return;
    }
    const struct mech_pair_of *const p = &m->rows.pairs[on->pair];
    mech_pair_poses(m, p, pose);
    p->ops->wrench(p->record, e, pose, W);
}

/* Whether k is the first of the force laws of its object, whose rows come from one evaluation. */
static bool is_first_law(const struct mech_model *m, size_t k)
{
    const struct mech_switch *const one = &m->switches.at[k];
    const struct mech_switch *const before = k > 0 ? one - 1 : NULL;

    return !before || before->timed || before->category != one->category ||
           before->item != one->item;
}

/* Whether the value of expression k is one of the model's in this state. */
static bool acts(const struct mech_model *m, const struct mech_state *s, size_t k)
{
    const struct mech_switch *const one = &m->switches.at[k];

    if (one->channel < 0) {
        return !is_idle(m, one->item);
    }
    const int32_t input = m->channels.at[one->channel].input;
    return input < 0 || s->input_set[input] == 0.;
}

/* Expression k, which acts: its variables become those of the state. */
static void evaluate(const struct mech_model *m, const struct mech_state *s,
                     const struct mech_eval *e, size_t k, double *g)
{
    const struct mech_switch *const one = &m->switches.at[k];

    if (one->channel >= 0) {
        (void)mech_model_channel_value(m, s, (size_t)one->channel, e->t);
    } else if (one->timed) {
        (void)mech_timed_value(one->timed, e->t);
    } else if (is_first_law(m, k)) {
        evaluate_law(m, e, one->item, g);
    }
}

/* By how much its value would differ with the kinks that it had; −1: it has them, or its jumps
 * differ. */
static double bend_of(const struct mech_switch *one, const struct mech_expr_way *was,
                      const struct mech_expr_way *is)
{
    if (one->timed || was->jumps != is->jumps || was->kinks == is->kinks) {
        return -1.;
    }
    return fabs(mech_expr_at(one->of, one->vars) -
                mech_expr_kinked(one->of, one->vars, was->kinks));
}

/* Slots of the velocities on which an object acts, in `own` those of a pair. */
static const int32_t *slots_of(const struct mech_model *m, int32_t object, int32_t *own, int32_t *n)
{
    const struct mech_seat_of *const on = &m->kinematics.objects[object];

    *n = on->pair < 0 ? on->n : mech_pair_slots(m, &m->rows.pairs[on->pair], own);
    return on->pair < 0 ? on->slot : own;
}

/* Whether the kinks that a law had make a difference of more than rounding beside S to any of its
 * forces. with, without [nv + 1]: scratch, 0 at its slots, before and after. */
static bool differs(const struct mech_model *m, struct mech_eval e, const struct mech_switch *one,
                    uint64_t kinks, double *const work[3])
{
    double *const with = work[0], *const without = work[1], *const S = work[2];
    int32_t own[MECH_PAIR_SLOTS], n;
    const int32_t *const slot = slots_of(m, one->item, own, &n);
    struct mech_instead instead = {.of = one->of};
    bool some = false;

    add_forces(m, &e, one->item, without);
    // at once: expressions share variables
    instead.value = mech_expr_kinked(one->of, one->vars, kinks);
    e.instead = &instead;
    add_forces(m, &e, one->item, with);
    for (int32_t i = 0; i < n; i++) {
        const double by = fabs(with[slot[i]] - without[slot[i]]);

        some = some || (slot[i] < m->sizes.v && !(by <= rounding * S[slot[i]]));
    }
    for (int32_t i = 0; i < n; i++) {
        with[slot[i]] = without[slot[i]] = 0.;
    }
    return some;
}

/* Kinks that make no difference beside the other forces are as they were. Beside a part of these
 * they make none beside all: what loads or springs hold at rest does not ask for contacts. */
static void keep_kinks(const struct mech_model *m, const struct mech_eval *e,
                       const struct mech_expr_way *was, double *work, const double *bend,
                       struct mech_expr_way *way)
{
    const size_t n = (size_t)m->sizes.v + 1;
    double *const parts[3] = {work, work + n, work + 2 * n};
    size_t open = 0;

    for (size_t k = 0; k < m->switches.count; k++) {
        way[k].kinks = bend[k] == 0. ? was[k].kinks : way[k].kinks;
        open += bend[k] > 0.;
    }
    if (open > 0) {
        memset(work, 0, 2 * n * sizeof *work);
    }
    for (int part = 0; part < MECH_FORCE_PARTS && open > 0; part++) {
        mech_model_force_sizes_part(m, e, part, work, parts[2]);
        for (size_t k = 0; k < m->switches.count; k++) {
            if (bend[k] > 0. && way[k].kinks != was[k].kinks &&
                !differs(m, *e, &m->switches.at[k], was[k].kinks, parts)) {
                way[k].kinks = was[k].kinks;
                open--;
            }
        }
    }
}

void mech_model_switch_ways(const struct mech_model *m, const struct mech_state *s,
                            const struct mech_expr_way *was, double *work, double *bend,
                            struct mech_expr_way *way)
{
    struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);

    if (m->switches.laws) {
        memset(work, 0, ((size_t)m->sizes.v + 1) * sizeof *work);
        mech_model_pose(m, &e);
    }
    for (size_t k = 0; k < m->switches.count; k++) {
        const struct mech_switch *const one = &m->switches.at[k];

        way[k] = (struct mech_expr_way){.jumps = MECH_SWITCH_IDLE};
        bend[k] = -1.;
        if (acts(m, s, k)) {
            evaluate(m, s, &e, k, work);
            // at once: expressions share variables
            way[k] = mech_expr_way(one->of, one->vars);
            bend[k] = was ? bend_of(one, &was[k], &way[k]) : -1.;
        }
    }
    if (was) {
        e.lambda = m->sizes.lambda > 0 ? s->lambda : NULL;
        keep_kinks(m, &e, was, work, bend, way);
    }
}
