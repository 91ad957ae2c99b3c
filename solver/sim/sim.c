/* Life of a simulation, and what it is: sizes, variables, memory. */
#include "solver/base/err.h"
#include "solver/base/name.h"
#include "solver/model/balance.h"
#include "solver/sim/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Three state blocks and the forces of a command in one piece. */
static int allocate_state(struct mech_sim *s)
{
    s->sizes = *mech_model_sizes(s->model);
    s->sizes.carry = s->type->carry ? s->type->carry(s->model) : 0;
    const size_t block = mech_state_bytes(&s->sizes) / sizeof(double);

    const size_t markers = s->document->markers.n;

    const size_t outputs = mech_sim_output_size(s);

    s->memory =
        calloc(3 * block + (size_t)s->sizes.v + 1 + 6 * markers + outputs, sizeof *s->memory);
    if (!s->memory) {
        return MECH_NO_MEMORY;
    }
    mech_state_place(&s->sizes, s->memory, &s->now);
    mech_state_place(&s->sizes, s->memory + block, &s->next);
    mech_state_place(&s->sizes, s->memory + 2 * block, &s->point);
    s->extra = s->memory + 3 * block;
    s->wrench = s->extra + s->sizes.v + 1;
    s->shown = s->wrench + 6 * markers;
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const size_t entries = rows->count ? (size_t)rows->start[rows->count] : 0;
    s->joint_scratch =
        mech_arena_alloc(&s->arena, 4 * (size_t)rows->count + entries, sizeof *s->joint_scratch);
    return s->joint_scratch ? 0 : MECH_NO_MEMORY;
}

static int collect_names(struct mech_sim *s)
{
    for (int c = 0; c < 3; c++) {
        const size_t n = mech_sim_variable_count(s, (enum mech_causality)c);

        MECH_TRY(mech_names_init(&s->names[c], &s->arena, n));
        for (size_t i = 0; i < n; i++) {
            struct mech_variable v;

            mech_sim_variable(s, (enum mech_causality)c, i, &v);
            MECH_FOLD(mech_names_add(&s->names[c], v.name, (int32_t)i));
        }
    }
    return 0;
}

static int32_t first_row(const struct mech_joint_rows *rows, int32_t r)
{
    while (r > 0 && rows->object[r - 1] == rows->object[r]) {
        r--;
    }
    return r;
}

/* Joints that the initial positions violate: by more than 1e-6 of the model's extent (or 1e-6 rad),
 * what six written digits give; the first step closes smaller gaps. */
static bool joints_fit(struct mech_sim *s, struct mech_diag *diag)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const struct mech_eval e =
        mech_model_point(s->model, &s->now, s->now.at->time, s->now.q, s->now.v);
    bool fit = true;

    if (!diag || rows->count == 0) {
        return true;
    }
    /* the multipliers' place is free until the start system fills it */
    mech_model_pose(s->model, &e);
    mech_model_joint_residual(s->model, &e, s->now.lambda);
    mech_model_joint_gaps(s->model, 1e-6, s->joint_scratch);
    for (int32_t r = 0; r < rows->count; r++) {
        const bool released = rows->released && rows->released[r];
        const double miss = s->now.lambda[r];
        char path[MECH_DIAG_PATH];

        snprintf(path, sizeof path, "/objects/%d", (int)rows->object[r]);
        /* a one-sided row may be at any distance on its side */
        if (!released && !isfinite(miss)) {
            mech_diag_add(diag, path,
                          "equation %d of the joint \"%s\" is not finite at the initial positions",
                          (int)(r - first_row(rows, r)), mech_model_joint_name(s->model, r));
            fit = false;
        } else if (!released && fabs(miss) > s->joint_scratch[r] && !(rows->side[r] * miss > 0.)) {
            mech_diag_add(diag, path,
                          "the initial positions miss equation %d of the joint \"%s\" by %.3g",
                          (int)(r - first_row(rows, r)), mech_model_joint_name(s->model, r), miss);
            fit = false;
        }
        s->now.lambda[r] = 0.;
    }
    return fit;
}

/* Rows that were left out: a fault where they contradict the others, a warning for each joint. */
static int tell_dropped(struct mech_sim *s, struct mech_diag *diag)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    struct mech_step_result result = {.iterations = 0};
    struct mech_rates rates;
    char path[MECH_DIAG_PATH];

    int code = mech_rates_init(&rates, s->model, s->document->solver.linear, &result);
    const int32_t wrong = code ? -1 : mech_rates_contradiction(&rates, &s->now);
    mech_rates_fini(&rates);
    if (wrong >= 0) {
        snprintf(path, sizeof path, "/objects/%d", (int)rows->object[wrong]);
        mech_diag_add(diag, path, "the joint \"%s\" contradicts other joints",
                      mech_model_joint_name(s->model, wrong));
        return MECH_INVALID;
    }
    for (int32_t r = 0, count = 0; r < rows->count; r++) {
        const bool last = r + 1 == rows->count || rows->object[r + 1] != rows->object[r];

        count += s->dropped[r];
        if (last && count > 0) {
            snprintf(path, sizeof path, "/objects/%d", (int)rows->object[r]);
            mech_diag_warn(diag, path,
                           "the joint \"%s\" repeats other joints: %d of its equations are left "
                           "out, and their reactions are 0",
                           mech_model_joint_name(s->model, r), (int)count);
        }
        count = last ? 0 : count;
    }
    return code;
}

static bool moves(const struct mech_sim *s)
{
    bool any = false;

    for (int32_t i = 0; i < s->sizes.v; i++) {
        any = any || s->now.v[i] != 0.;
    }
    return any;
}

/* Warnings where the initial velocities do not suit the joints, and what becomes of them. `before`:
 * how far those of the document are off, as far as there are any. Two-sided rows: the first step
 * does not close what the scheme does not look at, and energy is lost over many. */
static void tell_speeds(const struct mech_sim *s, const struct mech_drift *before,
                        struct mech_diag *diag)
{
    static const double least = 1e-6;
    struct mech_drift after;
    char path[MECH_DIAG_PATH];

    mech_sim_drift(s, &s->now, &after);
    const bool left = after.velocity > least;
    const struct mech_drift *const told = left ? &after : before;
    if (!(told->velocity > least)) {
        return;
    }
    snprintf(path, sizeof path, "/objects/%d", (int)told->object);
    mech_diag_warn(
        diag, path, "the initial velocities violate the joint \"%s\" by %.3g: %s",
        told->worst_velocity, told->velocity,
        !left ? "they are replaced by the nearest consistent velocities"
        : told->sided
            ? "the first step removes the violation by an impact at the limit of the joint"
            : "give consistent velocities, or set solver.velocityProjection");
}

/* A state that cannot be shown is no start: MECH_INVALID, or MECH_NOT_FINITE without a diag. */
static int check_finite(struct mech_sim *s, struct mech_diag *diag)
{
    struct mech_unshown why;

    if (mech_sim_state_fits(s, &s->now, MECH_SHOWS_NOW, &why) == 0) {
        return 0;
    }
    if (!diag) {
        return mech_sim_refuse(s, &why);
    }
    mech_diag_add(diag, why.place, "%s is not finite at the start", why.what);
    return MECH_INVALID;
}

/* The initial state with consistent v̇, without rows that repeat others; the reason goes to diag,
 * if there is one. */
static int start(struct mech_sim *s, struct mech_diag *diag)
{
    struct mech_step_result result;
    struct mech_drift before = {.rows = 0};
    bool again;
    int code;

    do {
        result = (struct mech_step_result){.iterations = 0};
        mech_model_initial(s->model, &s->now);
        s->has_trial = false;
        s->shows = MECH_SHOWS_NONE;
        if (!joints_fit(s, diag)) {
            return MECH_INVALID;
        }
        MECH_TRY(mech_sim_check_overlaps(s, diag));
        if (diag && moves(s)) {
            mech_sim_drift(s, &s->now, &before);
        }
        code = s->type->start(s->stepper, &s->now, &result);
        again = code == MECH_SINGULAR && mech_sim_may_drop(s, &result);
        if (again) {
            MECH_TRY(mech_sim_drop_row(s, result.dependent - 1, diag));
        }
    } while (again);
    if (code == 0) {
        s->now.at->changed = 0;
        code = s->dropped_count > 0 && diag ? tell_dropped(s, diag) : 0;
        if (code == 0 && diag) {
            tell_speeds(s, &before, diag);
        }
        return code ? code : check_finite(s, diag);
    }
    if (code > 0 && diag) {
        mech_diag_add(diag, result.place, "%s",
                      result.reason[0] ? result.reason : mech_err_text(code));
        return MECH_INVALID;
    }
    return code;
}

int mech_sim_create(struct mech_document *document, struct mech_diag *diag, struct mech_sim **out)
{
    const struct mech_interrupt never = {.wanted = NULL};

    return mech_sim_create_asking(document, &never, diag, out);
}

/* The start; before a state is read, initial positions may violate joints activated later. */
static int start_anew(struct mech_sim *s, bool for_state, struct mech_diag *diag)
{
    if (for_state) {
        mech_model_initial(s->model, &s->point);
        diag = mech_sim_missed_joint(s, &s->point) ? NULL : diag;
    }
    return start(s, diag);
}

static int create(struct mech_document *document, const struct mech_interrupt *ask, bool for_state,
                  struct mech_diag *diag, struct mech_sim **out)
{
    struct mech_sim *const s = calloc(1, sizeof *s);
    struct mech_machine machine;

    *out = NULL;
    if (!s) {
        return MECH_NO_MEMORY;
    }
    mech_arena_init(&s->arena, 0);
    int code = mech_machine_build(document, ask, NULL, NULL, diag, &machine);
    if (code == 0) {
        s->document = document;
        s->interrupt = *ask;
        mech_sim_take(s, &machine);
        code = allocate_state(s);
        code = code ? code : collect_names(s);
        code = code ? code : start_anew(s, for_state, diag);
        if (code >= 0 && mech_interrupted(mech_model_interrupt(s->model))) {
            code = MECH_CANCELLED;
        }
        mech_sim_set_interrupt(s, NULL, NULL);
    }
    if (code) {
        s->document = NULL; /* stays the caller's */
        mech_sim_destroy(s);
        return code;
    }
    mech_sim_snapshot_init(s);
    *out = s;
    return 0;
}

int mech_sim_create_asking(struct mech_document *document, const struct mech_interrupt *ask,
                           struct mech_diag *diag, struct mech_sim **out)
{
    return create(document, ask, false, diag, out);
}

int mech_sim_create_for_state(struct mech_document *document, const struct mech_interrupt *ask,
                              struct mech_diag *diag, struct mech_sim **out)
{
    return create(document, ask, true, diag, out);
}

int mech_sim_check(struct mech_document *document, struct mech_diag *diag)
{
    const struct mech_interrupt never = {.wanted = NULL};

    return mech_sim_check_asking(document, &never, diag);
}

int mech_sim_check_asking(struct mech_document *document, const struct mech_interrupt *ask,
                          struct mech_diag *diag)
{
    struct mech_sim *s = NULL;
    const int code = mech_sim_create_asking(document, ask, diag, &s);

    if (code == 0) {
        s->document = NULL; /* stays the caller's */
        mech_sim_destroy(s);
    }
    return code;
}

void mech_sim_destroy(struct mech_sim *s)
{
    if (!s) {
        return;
    }
    struct mech_machine machine = {s->model, s->type, s->stepper};

    if (s->has_rates) {
        mech_rates_fini(&s->rates);
    }
    mech_machine_fini(&machine);
    mech_arena_fini(&s->arena);
    mech_document_destroy(s->document);
    mech_sim_events_fini(s);
    mech_sim_switches_fini(s);
    free(s->signals);
    free(s->trial_outputs);
    free(s->memory);
    free(s);
}

/* Starts from the document's initial state; the previous state is kept in s->next. */
static int begin_again(struct mech_sim *s, bool same)
{
    const uint32_t edits = s->now.at->edits;

    mech_state_copy(&s->now, &s->next);
    s->has_trial = false;
    const int code = start(s, NULL);
    s->now.at->edits = edits;
    if (code) {
        mech_state_copy(&s->next, &s->now);
        s->shows = MECH_SHOWS_NONE;
        if (!same) {
            (void)mech_sim_model_back(s);
        }
    }
    return code;
}

int mech_sim_reset(struct mech_sim *s)
{
    const struct mech_parameters *const p = &s->document->parameters;
    bool same = !s->astray && !s->redropped;

    for (size_t i = 0; i < p->n; i++) {
        same = same && memcmp(&p->at[i].value, &s->now.parameter[i], sizeof(double)) == 0;
    }
    if (!same) {
        struct mech_diag diag;

        if (s->redropped) {
            MECH_TRY(mech_sim_drop_rows(s, NULL));
        }
        mech_diag_init(&diag);
        const int code = mech_sim_rebuild(s, NULL, &diag);
        mech_diag_fini(&diag);
        if (code) {
            (void)mech_sim_model_back(s);
            return code;
        }
        s->astray = false;
    }
    mech_model_initial(s->model, &s->point);
    if (mech_sim_missed_joint(s, &s->point)) {
        (void)mech_sim_model_back(s);
        return MECH_MISMATCH;
    }
    const int code = begin_again(s, same);

    s->redropped = s->redropped && code != 0;
    return code;
}

const struct mech_document *mech_sim_document(const struct mech_sim *s)
{
    return s->document;
}

const char *mech_sim_integrator(const struct mech_sim *s)
{
    return s->type->name;
}

size_t mech_sim_memory(const struct mech_sim *s)
{
    return sizeof *s + s->document->arena.total + mech_model_memory(s->model) + s->arena.total +
           3 * s->now.size +
           ((size_t)s->sizes.v + 1 + 6 * s->document->markers.n + mech_sim_output_size(s)) *
               sizeof(double);
}

/* --- what it is ------------------------------------------------------------------------------- */

struct mech_sizes mech_sim_sizes(const struct mech_sim *s)
{
    return (struct mech_sizes){.q = s->sizes.q,
                               .v = s->sizes.v,
                               .x = s->sizes.x,
                               .lambda = s->sizes.lambda,
                               .z = s->sizes.z,
                               .impulse = s->sizes.impulse,
                               .contact = s->sizes.contact};
}

double mech_sim_time(const struct mech_sim *s)
{
    return s->now.at->time;
}

uint64_t mech_sim_step_count(const struct mech_sim *s)
{
    return s->now.at->steps;
}

double mech_sim_step_size(const struct mech_sim *s)
{
    return s->document->solver.step_size;
}

double mech_sim_start_time(const struct mech_sim *s)
{
    return s->document->solver.start_time;
}

int32_t mech_sim_variable_find(const struct mech_sim *s, enum mech_causality causality,
                               const char *name)
{
    return causality < MECH_INDEPENDENT ? mech_names_find(&s->names[causality], name)
           : strcmp(name, "time") == 0  ? 0
                                        : -1;
}
