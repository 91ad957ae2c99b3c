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

/* The force law of an object at the point, where its poses are. */
static void evaluate_law(const struct mech_model *m, const struct mech_eval *e, int32_t object,
                         double *g)
{
    const struct mech_seat_of *const on = &m->kinematics.objects[object];
    const struct mech_pose *pose[2];
    double W[12] = {0.};

    if (on->pair < 0) {
        m->document->objects.at[object].type->ops.object->force(on->record, 1, e, g);
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

/* The largest of S where an object acts. */
static double size_at(const struct mech_model *m, int32_t object, const double *S)
{
    const struct mech_seat_of *const on = &m->kinematics.objects[object];
    int32_t own[MECH_PAIR_SLOTS];
    const int32_t n = on->pair < 0 ? on->n : mech_pair_slots(m, &m->rows.pairs[on->pair], own);
    const int32_t *const slot = on->pair < 0 ? on->slot : own;
    double size = 0.;

    for (int32_t i = 0; i < n; i++) {
        size = slot[i] < m->sizes.v ? fmax(size, S[slot[i]]) : size;
    }
    return size;
}

/* Kinks that make no difference beside the other forces are as they were. */
static void keep_kinks(const struct mech_model *m, const struct mech_eval *e,
                       const struct mech_expr_way *was, double *work, struct mech_expr_way *way)
{
    double *const S = work + m->sizes.v + 1;
    bool known = false;

    for (size_t k = 0; k < m->switches.count; k++) {
        struct mech_switch *const one = &m->switches.at[k];

        if (one->bend > 0. && !known) {
            mech_model_force_sizes(m, e, work, S);
            known = true;
        }
        if (one->bend == 0. ||
            (one->bend > 0. && one->bend <= rounding * size_at(m, one->item, S))) {
            way[k].kinks = was[k].kinks;
        }
    }
}

void mech_model_switch_ways(const struct mech_model *m, const struct mech_state *s,
                            const struct mech_expr_way *was, double *work,
                            struct mech_expr_way *way)
{
    struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);

    if (m->switches.laws) {
        memset(work, 0, ((size_t)m->sizes.v + 1) * sizeof *work);
        mech_model_pose(m, &e);
    }
    for (size_t k = 0; k < m->switches.count; k++) {
        struct mech_switch *const one = &m->switches.at[k];

        way[k] = (struct mech_expr_way){.jumps = MECH_SWITCH_IDLE};
        one->bend = -1.;
        if (acts(m, s, k)) {
            evaluate(m, s, &e, k, work);
            // at once: expressions share variables
            way[k] = mech_expr_way(one->of, one->vars);
            one->bend = was ? bend_of(one, &was[k], &way[k]) : -1.;
        }
    }
    if (was) {
        e.lambda = m->sizes.lambda > 0 ? s->lambda : NULL;
        keep_kinks(m, &e, was, work, way);
    }
}
