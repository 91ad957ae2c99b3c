/* From a document to something that steps: compile, check the integrator, factor the mass once so
 * that a singular one is named here, create the stepper. */
#include "solver/base/err.h"
#include "solver/base/guess.h"
#include "solver/lsol/lsol.h"
#include "solver/model/touch.h"
#include "solver/sim/internal.h"
#include "solver/vi/vi.h"

#include <string.h>

static const char *const default_integrator = "GeneralizedAlpha";

static void tell_integrators(const char *name, struct mech_diag *diag)
{
    struct mech_guess g = {.text = name};

    for (const struct mech_stepper_type *const *t = mech_stepper_types; *t; t++) {
        mech_guess_try(&g, (*t)->name);
    }
    const char *const meant = mech_guess_result(&g);
    mech_diag_add(diag, "/solver/integrator", "there is no integrator \"%s\"%s%s%s", name,
                  meant ? ", did you mean \"" : "; GET /v1/types lists them", meant ? meant : "",
                  meant ? "\"?" : "");
}

/* Names in the solver settings that must be members of a registry. */
static const struct mech_stepper_type *check_settings(const struct mech_settings *settings,
                                                      struct mech_diag *diag)
{
    const char *const name = settings->integrator ? settings->integrator : default_integrator;
    const struct mech_stepper_type *const type = mech_stepper_find(name);

    if (!type) {
        tell_integrators(name, diag);
    }
    if (settings->linear && !mech_lsol_find(settings->linear)) {
        mech_diag_add(diag, "/solver/linear", "there is no linear solver \"%s\"", settings->linear);
    }
    if (settings->vi.type && !(type && type->nonsmooth) && !mech_vi_find(settings->vi.type)) {
        mech_diag_add(diag, "/solver/vi/type", "there is no complementarity solver \"%s\"",
                      settings->vi.type);
    }
    return type;
}

/* Implicit schemes need the tangent of contacts by penalty, which few bodies have. */
static void check_penalty(const struct mech_model *m, const struct mech_stepper_type *type,
                          struct mech_diag *diag)
{
    if (mech_model_penalty(m) && !mech_model_penalty_coupled(m) && !type->explicit_scheme) {
        mech_diag_add(
            diag, "/solver/integrator",
            "%s supports contacts by penalty of up to 32 bodies; use RK44 or VelocityVerlet",
            type->name);
    }
}

/* What this model asks of its integrator. */
static void check_scheme(const struct mech_document *document, const struct mech_model *m,
                         const struct mech_stepper_type *type, struct mech_diag *diag)
{
    if (mech_model_joints(m)->count > 0 && mech_model_sizes(m)->v == 0) {
        mech_diag_add(diag, "/objects",
                      "\"%s\" is a joint of a model in which nothing moves: a joint needs a node "
                      "with coordinates",
                      mech_model_joint_name(m, 0));
    }
    if (!type) {
        return;
    }
    const int32_t taken = type->pins ? mech_model_pins(m, NULL) : 0;
    if (mech_model_joints(m)->count - mech_model_joints(m)->released_count > taken &&
        !type->joints) {
        mech_diag_add(diag, "/solver/integrator",
                      "%s does not support joints, and \"%s\" is one; use GeneralizedAlpha or "
                      "TrapezoidalIndex2",
                      type->name,
                      mech_model_joint_name(m, type->pins ? mech_model_first_unpinned(m) : 0));
    }
    if (mech_model_first_order_rows(m)->count > 0 && !type->first_order) {
        mech_diag_add(diag, "/solver/integrator",
                      "%s supports no interactions between systems of first order; use EulerMoreau",
                      type->name);
    }
    if (mech_model_sizes(m)->v > 0 && type->first_order) {
        mech_diag_add(diag, "/solver/integrator",
                      "%s supports only systems of first order and their interactions; \"%s\" is "
                      "of second order",
                      type->name, mech_model_owner_name(m, 0));
    }
    if (!mech_model_flat(m) && !type->rotations) {
        mech_diag_add(diag, "/solver/integrator",
                      "%s does not support rotations in space; use GeneralizedAlpha", type->name);
    }
    if (mech_model_touch_bodies(m) > 0 && !type->contacts) {
        const struct mech_touch_body first = mech_model_touch_body(m, 0);

        mech_diag_add(
            diag, "/solver/integrator",
            "%s does not support contacts between bodies, and \"%s\" has geometry; use MoreauJean",
            type->name, document->objects.at[first.object].name);
    }
    check_penalty(m, type, diag);
    if (type->check) {
        type->check(m, diag);
    }
}

enum { INDEFINITE_MOST = 20000 };

/* The coordinate at which a symmetric mass matrix turns out not to be positive definite in *where,
 * or -1. Large ones that are not diagonal are not asked: a factor more would cost as much as a
 * start. 0 or negative. */
static int find_indefinite(const struct mech_mat *M, int32_t *where)
{
    struct mech_lsol *s = NULL;

    *where = -1;
    if (M->kind == MECH_MAT_DIAG) {
        for (int32_t i = 0; i < M->rows && *where < 0; i++) {
            *where = M->values[i] > 0. ? -1 : i;
        }
        return 0;
    }
    if (!M->symmetric || M->rows > INDEFINITE_MOST) {
        return 0;
    }
    int code = mech_lsol_create("cholmod", M, &s);

    code = code ? code : mech_lsol_factor(s, M);
    if (code > 0) {
        *where = s ? mech_lsol_where(s) : 0;
    }
    mech_lsol_destroy(s);
    return code < 0 ? code : 0;
}

/* A mass matrix that cannot be factored, or is none, is the document's fault. 0 or negative. */
static int check_mass(const struct mech_model *m, struct mech_diag *diag)
{
    const struct mech_linear_part *const part = mech_model_linear(m);
    struct mech_lsol *mass = NULL;

    if (part->nv == 0) {
        return 0;
    }
    int code = mech_lsol_create(NULL, part->M, &mass);
    int32_t where = 0;
    if (code == 0) {
        mech_lsol_listen(mass, mech_model_interrupt(m));
        code = mech_lsol_factor(mass, part->M);
        where = code == MECH_SINGULAR ? mech_lsol_where(mass) : 0;
    }
    mech_lsol_destroy(mass);
    if (mech_interrupted(mech_model_interrupt(m))) {
        return MECH_CANCELLED;
    }
    if (code > 0) {
        char path[MECH_DIAG_PATH];

        mech_model_owner(m, where, path, sizeof path);
        mech_diag_add(diag, path, "the mass matrix is singular (coordinate %d)", (int)where);
        return 0;
    }
    MECH_TRY(code);
    MECH_TRY(find_indefinite(part->M, &where));
    if (where >= 0) {
        char path[MECH_DIAG_PATH];

        mech_model_owner(m, where, path, sizeof path);
        mech_diag_add(diag, path, "the mass matrix is not positive definite (coordinate %d)",
                      (int)where);
    }
    return 0;
}

int mech_machine_step(struct mech_machine *machine, struct mech_diag *diag)
{
    struct mech_step_result result = {.iterations = 0};
    const int code = machine->type->create(machine->model, &result, &machine->stepper);

    if (code > 0 && mech_model_interrupt(machine->model)->came) {
        return MECH_CANCELLED;
    }
    if (code > 0 && diag) {
        const char *const place = result.place[0]            ? result.place
                                  : code == MECH_UNSUPPORTED ? "/solver/linear"
                                                             : "/solver";
        mech_diag_add(diag, place, "%s", result.reason[0] ? result.reason : mech_err_text(code));
    }
    return code > 0 ? MECH_INVALID : code;
}

static int build(struct mech_document *document, const struct mech_interrupt *ask,
                 const double *parameters, const struct mech_sim *of, struct mech_diag *diag,
                 struct mech_machine *out)
{
    const int compiled = mech_model_compile(document, parameters, diag, &out->model);
    if (compiled < 0) {
        return compiled;
    }
    if (out->model) {
        *mech_model_interrupt(out->model) = *ask;
    }
    out->type = check_settings(&document->solver, diag);
    if (compiled > 0) {
        return compiled;
    }
    if (mech_interrupted(mech_model_interrupt(out->model))) {
        return MECH_CANCELLED;
    }
    check_scheme(document, out->model, out->type, diag);
    MECH_TRY(check_mass(out->model, diag));
    if (!mech_diag_clean(diag)) {
        return MECH_INVALID;
    }
    const int32_t rows = mech_model_joints(out->model)->count;
    for (int32_t r = 0; of && of->dropped && rows == of->sizes.lambda && r < rows; r++) {
        if (of->dropped[r]) {
            MECH_TRY(mech_model_drop_row(out->model, r));
        }
    }
    return mech_machine_step(out, diag);
}

int mech_machine_build(struct mech_document *document, const struct mech_interrupt *ask,
                       const double *parameters, const struct mech_sim *of, struct mech_diag *diag,
                       struct mech_machine *out)
{
    // a fault that is in `diag` already is none of this document
    struct mech_diag own;

    *out = (struct mech_machine){0};
    mech_diag_init(&own);
    const int code = build(document, ask, parameters, of, &own, out);
    mech_diag_append(diag, &own, "");
    mech_diag_fini(&own);
    if (code) {
        mech_machine_fini(out);
    }
    return code;
}

void mech_machine_fini(struct mech_machine *machine)
{
    if (machine->type && machine->stepper) {
        machine->type->destroy(machine->stepper);
    }
    mech_model_destroy(machine->model);
    *machine = (struct mech_machine){0};
}

void mech_sim_take(struct mech_sim *s, const struct mech_machine *machine)
{
    struct mech_machine old = {s->model, s->type, s->stepper};
    const bool came = s->model && mech_sim_interrupted(s);

    if (s->has_rates) {
        mech_rates_fini(&s->rates);
        s->has_rates = false;
    }
    mech_machine_fini(&old);
    s->model = machine->model;
    s->shows = MECH_SHOWS_NONE;
    s->type = machine->type;
    s->stepper = machine->stepper;
    s->differenced = mech_model_differenced(s->model);
    mech_sim_watch(s);
    mech_model_interrupt(s->model)->came = came; // visible to the caller that began the work
}

void mech_sim_watch(const struct mech_sim *s)
{
    *mech_model_interrupt(s->model) = s->interrupt;
}

bool mech_sim_interrupted(const struct mech_sim *s)
{
    return mech_model_interrupt(s->model)->came;
}

void mech_sim_set_interrupt(struct mech_sim *s, bool (*wanted)(void *context), void *context)
{
    s->interrupt = (struct mech_interrupt){.wanted = wanted, .context = context};
    mech_sim_watch(s);
}

int mech_sim_rebuild(struct mech_sim *s, const double *parameters, struct mech_diag *diag)
{
    struct mech_machine machine;
    const struct mech_interrupt never = {.wanted = NULL}; // a running simulation must survive
    int code = mech_machine_build(s->document, &never, parameters, s, diag, &machine);

    if (code == 0 && memcmp(mech_model_sizes(machine.model), mech_model_sizes(s->model),
                            sizeof(struct mech_state_sizes)) != 0) {
        mech_diag_add(diag, "/parameters", "would change the number of coordinates");
        mech_machine_fini(&machine);
        code = MECH_INVALID;
    }
    if (code == 0 &&
        s->sizes.carry != (machine.type->carry ? machine.type->carry(machine.model) : 0)) {
        mech_diag_add(diag, "/solver/integrator",
                      "%s would store other data in the state than now: create a new instance",
                      machine.type->name);
        mech_machine_fini(&machine);
        code = MECH_INVALID;
    }
    if (code == 0) {
        mech_sim_take(s, &machine);
        return 0;
    }

    /* the numbers in the document are those of the failed attempt: put the old ones back */
    struct mech_diag ignored;
    struct mech_model *again = NULL;
    mech_diag_init(&ignored);
    (void)mech_model_compile(s->document, s->now.parameter, &ignored, &again);
    mech_model_destroy(again);
    mech_diag_fini(&ignored);
    return code;
}
