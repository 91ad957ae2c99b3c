/* Moreau–Jean time stepping with impacts (solver/README.md; J.-J. Moreau, M. Jean, 1987; V. Acary,
 * B. Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, Springer 2008, chapter 10).
 * First order. Two integrators: moreau_jean/ops.h.
 */
#include "solver/step/moreau_jean/ops.h"

#include "solver/base/err.h"
#include "solver/model/touch.h"
#include "solver/vi/vi.h"

#include <stdlib.h>

struct stepper {
    const struct mech_moreau_jean_ops *ops;
    void *of; /* the integrator that ops are of */
};

static const struct mech_moreau_jean_ops *ops_of(const struct mech_model *m)
{
    const bool linear = mech_model_is_linear(m) || mech_model_is_linear_but_pins(m);

    return linear && mech_model_sizes(m)->x == 0 && mech_model_touch_bodies(m) == 0
               ? &mech_moreau_jean_linear
               : &mech_moreau_jean_bodies;
}

static void check(const struct mech_model *m, struct mech_diag *d)
{
    const struct mech_settings *const settings = mech_model_settings(m);
    const struct mech_contact_rows *const rows = mech_model_contacts(m);
    const int32_t most = ops_of(m)->rows_most;
    if (rows && rows->count > most) {
        mech_diag_add(d, "/interactions", "%d contact rows; MoreauJean supports at most %d",
                      (int)rows->count, (int)most);
    }
    if (rows && rows->compliance && settings->theta == 0.) {
        mech_diag_add(d, "/solver/theta", "must be above 0 for contacts with a compliance");
    }
    const struct mech_vi_type *const vi =
        settings->vi.type ? mech_vi_find(settings->vi.type) : NULL;
    if (settings->vi.type && !vi) {
        mech_diag_add(d, "/solver/vi/type", "there is no complementarity solver \"%s\"",
                      settings->vi.type);
    }
    uint32_t kinds = 1u << MECH_SET_UNILATERAL;
    kinds |= mech_model_touch_bodies(m) > 0 ? 1u << MECH_SET_CONE : 0u;
    for (int32_t i = 0; rows && rows->sets && i < rows->contacts; i++) {
        kinds |= 1u << rows->sets[i].kind;
    }
    if (vi && (kinds & ~vi->kinds) != 0) {
        mech_diag_add(d, "/solver/vi/type", "\"%s\" does not support the laws of this model: %s",
                      vi->name, vi->doc);
    }
}

static int32_t carry(const struct mech_model *m)
{
    const struct mech_moreau_jean_ops *const ops = ops_of(m);

    return ops->carry ? ops->carry(m) : 0;
}

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    struct stepper *const s = calloc(1, sizeof *s);

    if (!s) {
        return MECH_NO_MEMORY;
    }
    s->ops = ops_of(m);
    const int code = s->ops->create(m, result, &s->of);

    if (code != 0) {
        free(s);
        return code;
    }
    *self = s;
    return 0;
}

static int start(void *self, struct mech_state *state, struct mech_step_result *result)
{
    const struct stepper *const s = self;

    return s->ops->start(s->of, state, result);
}

static int step(void *self, struct mech_state *state, double h, double t_end,
                struct mech_step_result *result)
{
    const struct stepper *const s = self;

    return s->ops->step(s->of, state, h, t_end, result);
}

static const char *linear(const void *self)
{
    const struct stepper *const s = self;

    return s->ops->linear(s->of);
}

static const char *vi(const void *self)
{
    const struct stepper *const s = self;

    return s->ops->vi(s->of);
}

static void destroy(void *self)
{
    struct stepper *const s = self;

    if (s) {
        s->ops->destroy(s->of);
        free(s);
    }
}

const struct mech_stepper_type mech_stepper_moreau_jean = {
    .name = "MoreauJean",
    .doc = "time stepping of impacts, joints and contacts (settings theta, gamma)",
    .order = 1,
    .nonsmooth = true,
    .contacts = true,
    .joints = true,
    .pins = true,
    .rotations = true,
    .check = check,
    .carry = carry,
    .create = create,
    .start = start,
    .step = step,
    .linear = linear,
    .vi = vi,
    .destroy = destroy,
};
