/* Shapes that touch; see shapes.h. One detection at the state. */
#include "solver/analysis/shapes.h"

#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/linalg/v3.h"
#include "solver/model/touch.h"

#include <math.h>

enum { REASON = 160 };

/* What is not known of a gap: its rounding, and what a solution leaves of the arms, m. */
static double unknown_of(const struct mech_model *m, const struct mech_contact *c)
{
    const double relative = mech_model_settings(m)->newton.relative_tolerance;
    struct mech_touch_rows of;
    double arms = 0.;

    mech_model_touch_frame(m, c, &of);
    for (int side = 0; side < 2; side++) {
        arms += sqrt(mech_v3_dot(of.arm[side], of.arm[side]));
    }
    return mech_model_touch_rounding(c, &of) + relative * arms;
}

/* The contact of the least gap of those that overlap or, with `touching`, touch; −1: none. */
static int32_t worst_of(const struct mech_model *m, const struct mech_contact_list *list,
                        bool touching)
{
    int32_t worst = -1;

    for (int32_t i = 0; i < list->n; i++) {
        const struct mech_contact *const c = &list->at[i];
        const double unknown = unknown_of(m, c);

        if (c->gap < (touching ? unknown : -unknown) &&
            (worst < 0 || c->gap < list->at[worst].gap)) {
            worst = i;
        }
    }
    return worst;
}

static int touch(const struct mech_model *m, const int32_t collider[2], char *reason)
{
    mech_text_format(reason, REASON,
                     "\"%.40s\" and \"%.40s\" touch: small motions about this state are not smooth",
                     mech_model_touch_name(m, collider[0]), mech_model_touch_name(m, collider[1]));
    return MECH_UNSUPPORTED;
}

static int look(const struct mech_model *m, const struct mech_state *s, bool touching, char *reason)
{
    const struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);
    struct mech_contact_list list = {.n = 0};
    const double known = mech_model_settings(m)->newton.relative_tolerance;
    int code = mech_model_touch_near(m, &e, known, &list);

    if (code > 0) {
        mech_text_format(reason, REASON, "%s", mech_err_text(code));
    }
    const int32_t i = code == 0 ? worst_of(m, &list, touching) : -1;

    if (i >= 0 && touching) {
        code = touch(m, list.at[i].collider, reason);
    } else if (i >= 0) {
        mech_text_format(
            reason, REASON,
            "\"%.30s\" and \"%.30s\" overlap by %.3g m: statics have no contacts between shapes",
            mech_model_touch_name(m, list.at[i].collider[0]),
            mech_model_touch_name(m, list.at[i].collider[1]), -list.at[i].gap);
        code = MECH_UNSUPPORTED;
    }
    mech_contact_list_fini(&list);
    return code;
}

int mech_analysis_overlaps(const struct mech_model *m, const struct mech_state *s, char *reason)
{
    return mech_model_touch_bodies(m) > 0 ? look(m, s, false, reason) : 0;
}

int mech_analysis_touches(const struct mech_model *m, const struct mech_state *s, char *reason)
{
    if (mech_model_touch_bodies(m) == 0) {
        return 0;
    }
    for (size_t i = 0; i < s->at->touched; i++) {
        const struct mech_touched *const t = &s->touched[i];

        if (mech_v3_dot(t->impulse, t->n) > 0.) {
            int32_t collider[2];

            mech_model_touch_pair(t->id, collider);
            return touch(m, collider, reason);
        }
    }
    return look(m, s, true, reason);
}
