/* Numbers that may depend on time; see timed.h. */
#include "solver/items/timed.h"

#include "solver/base/err.h"

int mech_timed_read(struct mech_timed *x, const struct mech_values *values, size_t i,
                    const struct mech_scope *scope, const char *path, struct mech_diag *diag)
{
    *x = (struct mech_timed){.number = 0.};
    if (i >= values->n) {
        return 0;
    }
    x->number = values->number[i];
    if (values->series && values->series[i].t.n) {
        x->curve = mech_arena_alloc(scope->arena, 1, sizeof *x->curve);
        return x->curve ? mech_curve_init(x->curve, scope->arena, &values->series[i])
                        : MECH_NO_MEMORY;
    }
    if (values->text && values->text[i]) {
        x->vars = scope->vars;
        const int code = mech_scope_compile(scope, values->text[i], path, diag, &x->value);

        return code < 0 ? code : 0;
    }
    return 0;
}

/* Variables and how they move: t, and the inner value. The number of them. */
static size_t move_to(const struct mech_timed *x, double t, struct mech_expr_motion along[2])
{
    along[0] = (struct mech_expr_motion){1., 0.};
    x->vars[0] = t;
    if (!x->inner) {
        return 1;
    }
    double inner[3];

    mech_timed_motion(x->inner, t, inner);
    x->vars[1] = inner[0];
    along[1] = (struct mech_expr_motion){inner[1], inner[2]};
    return 2;
}

double mech_timed_value(const struct mech_timed *x, double t)
{
    if (x->curve) {
        double at[3];

        mech_curve_at(x->curve, t, at);
        return at[0];
    }
    if (!x->value) {
        return x->number;
    }
    if (x->inner) {
        x->vars[1] = mech_timed_value(x->inner, t);
    }
    x->vars[0] = t;
    return mech_expr_value(x->value);
}

void mech_timed_motion(const struct mech_timed *x, double t, double y[3])
{
    if (x->curve) {
        mech_curve_at(x->curve, t, y);
        return;
    }
    if (!x->value) {
        y[0] = x->number;
        y[1] = y[2] = 0.;
        return;
    }
    struct mech_expr_motion along[2];
    const size_t moving = move_to(x, t, along);

    if (x->rate) {
        double rate[3];

        mech_expr_along(x->rate, x->vars, along, moving, rate);
        y[0] = mech_expr_value(x->value);
        y[1] = rate[0];
        y[2] = rate[1];
        return;
    }
    mech_expr_along(x->value, x->vars, along, moving, y);
}

void mech_timed_fini(struct mech_timed *x)
{
    mech_expr_destroy(x->value);
    mech_expr_destroy(x->rate);
}
