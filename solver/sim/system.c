/* Equations of a simulation as a descriptor; see system.h. */
#include "solver/base/err.h"
#include "solver/sim/internal.h"
#include "solver/sim/system_internal.h"
#include "solver/step/slopes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- making it -------------------------------------------------------------------------------- */

/* After every close: which rows answers have. */
static void find_rows(struct mech_sim_system *s)
{
    const struct mech_descriptor *const d = s->system->descriptor;

    s->info.size = mech_descriptor_sizes(d);
    s->info.lumped = mech_descriptor_lumped(d);
    s->info.rows = 0;
    for (int32_t i = 0; i < s->system->constraint_count; i++) {
        const struct mech_set *const set = &s->system->constraints[i].set;
        const int32_t at = mech_descriptor_constraint_offset(d, i);

        for (int32_t r = 0; r < set->rows && at >= 0; r++) {
            if (!s->bilateral || set->kind == MECH_SET_BILATERAL) {
                s->kept[s->info.rows++] = at + r;
            }
        }
    }
}

static int count_masses(const struct mech_system *s)
{
    int32_t most = -1;

    for (int32_t i = 0; i < s->variables_count; i++) {
        most = s->variables[i].mass > most ? s->variables[i].mass : most;
    }
    return most + 1;
}

static double or_else(double x, double preset)
{
    return isnan(x) ? preset : x;
}

/* The blocks at s->sim->point. */
static int build(struct mech_sim *sim, const struct mech_system_request *r,
                 struct mech_system **out)
{
    const struct mech_eval e =
        mech_model_point(sim->model, &sim->point, sim->point.at->time, sim->point.q, sim->point.v);
    struct mech_slopes slopes;
    int code = mech_slopes_init(&slopes, sim->model);

    if (code == 0) {
        mech_slopes_at(&slopes, &e);
        const struct mech_system_terms terms = {slopes.M, slopes.C, slopes.K};
        const bool finite = mech_mat_is_finite(terms.M) && mech_mat_is_finite(terms.C) &&
                            mech_mat_is_finite(terms.K);

        code = finite ? mech_model_to_sys(sim->model, &e, &terms, r, out) : MECH_NOT_FINITE;
    }
    mech_slopes_fini(&slopes);
    return code;
}

/* Forces and rows that left the range of doubles, or have no direction, make no problem. */
static int check_finite(struct mech_sim_system *s)
{
    const size_t n = (size_t)s->info.size.velocities + (size_t)s->info.size.rows;
    double *const d = mech_arena_alloc(&s->arena, n, sizeof *d);

    if (!d) {
        return MECH_NO_MEMORY;
    }
    mech_descriptor_d(s->system->descriptor, d);
    bool finite = mech_sim_all_finite(d, n);
    struct mech_triplet *entries = NULL;
    size_t count = 0;

    MECH_TRY(mech_sim_system_entries(s, mech_sim_system_find("Cq"), &s->arena, &entries, &count));
    for (size_t k = 0; k < count; k++) {
        finite = finite && isfinite(entries[k].value);
    }
    return finite ? 0 : MECH_NOT_FINITE;
}

static int make(struct mech_sim *sim, const struct mech_system_query *q, struct mech_sim_system *s)
{
    const struct mech_settings *const settings = &sim->document->solver;
    const bool velocity = q->level == MECH_LEVEL_BY_INTEGRATOR ? sim->type->nonsmooth
                                                               : q->level == MECH_LEVEL_VELOCITY;
    const struct mech_system_request r = {.level = velocity ? MECH_LEVEL_VELOCITY
                                                            : MECH_LEVEL_ACCELERATION,
                                          .h = or_else(q->step, settings->step_size),
                                          .theta = settings->theta,
                                          .all_contacts = q->all_contacts};
    const double step = velocity ? r.h * r.theta : 0.;

    if (!(r.h > 0.) || isinf(r.h)) {
        return MECH_INVALID;
    }
    MECH_TRY(build(sim, &r, &s->system));
    s->bilateral = q->bilateral;
    s->info = (struct mech_sim_system_info){.level = r.level,
                                            .time = sim->point.at->time,
                                            .step = r.h,
                                            .theta = r.theta,
                                            .mass = or_else(q->mass, 1.),
                                            .stiffness = or_else(q->stiffness, step * step),
                                            .damping = or_else(q->damping, step),
                                            .associated = sim->document->contact.friction ==
                                                          MECH_FRICTION_ASSOCIATED,
                                            .linear = mech_model_is_linear(sim->model),
                                            .masses = count_masses(s->system)};
    mech_descriptor_mass_factor(s->system->descriptor, s->info.mass);
    mech_descriptor_stiffness_factors(s->system->descriptor, s->info.stiffness, s->info.damping,
                                      s->info.mass);
    size_t rows = 0;

    for (int32_t i = 0; i < s->system->constraint_count; i++) {
        rows += (size_t)s->system->constraints[i].set.rows;
    }
    s->kept = mech_arena_alloc(&s->arena, rows, sizeof *s->kept);
    if (!s->kept) {
        return MECH_NO_MEMORY;
    }
    find_rows(s);
    return check_finite(s);
}

int mech_sim_system(struct mech_sim *sim, const struct mech_point *at,
                    const struct mech_system_query *q, struct mech_sim_system **out)
{
    struct mech_sim_system *const s = calloc(1, sizeof *s);

    *out = NULL;
    if (!s) {
        return MECH_NO_MEMORY;
    }
    s->sim = sim;
    mech_arena_init(&s->arena, 0);
    int code = mech_sim_place_point(sim, at);

    code = code ? code : make(sim, q, s);
    if (code) {
        mech_sim_system_destroy(s);
        return code;
    }
    *out = s;
    return 0;
}

void mech_sim_system_destroy(struct mech_sim_system *s)
{
    if (s) {
        mech_lsol_destroy(s->inverse);
        mech_system_destroy(s->system);
        mech_arena_fini(&s->arena);
        free(s);
    }
}

int mech_sim_system_freeze(struct mech_sim_system *s, const char *name)
{
    const struct mech_document *const d = s->sim->document;
    bool found = false;

    for (int32_t i = 0; i < s->system->variables_count; i++) {
        const struct mech_system_variables *const v = &s->system->variables[i];
        const bool of_node =
            v->category == MECH_NODE && strcmp(d->nodes.at[v->item].name, name) == 0;

        if (of_node || strcmp(mech_system_variables_name(s->sim->model, v), name) == 0) {
            mech_descriptor_freeze(s->system->descriptor, i, true);
            found = true;
        }
    }
    if (!found) {
        return MECH_NOT_FOUND;
    }
    mech_lsol_destroy(s->inverse);
    s->inverse = NULL;
    mech_descriptor_close(s->system->descriptor);
    find_rows(s);
    return 0;
}

void mech_sim_system_info(const struct mech_sim_system *s, struct mech_sim_system_info *out)
{
    *out = s->info;
}

/* --- blocks ----------------------------------------------------------------------------------- */

const struct mech_system_variables *mech_sim_system_variables(const struct mech_sim_system *s,
                                                              int32_t i, const char **name,
                                                              int32_t *offset)
{
    const struct mech_system_variables *const v = &s->system->variables[i];

    *name = mech_system_variables_name(s->sim->model, v);
    *offset = mech_descriptor_variables_offset(s->system->descriptor, i);
    return v;
}

const struct mech_system_constraint *mech_sim_system_constraint(const struct mech_sim_system *s,
                                                                int32_t i, const char **name,
                                                                int32_t *offset)
{
    const struct mech_system_constraint *const c = &s->system->constraints[i];

    *name = mech_system_constraint_name(s->sim->model, c);
    *offset = mech_descriptor_constraint_offset(s->system->descriptor, i);
    return c;
}

const char *mech_sim_system_other(const struct mech_sim_system *s, int32_t i)
{
    return mech_system_constraint_other(s->sim->model, &s->system->constraints[i]);
}

const struct mech_system_block *mech_sim_system_block(const struct mech_sim_system *s, int32_t i)
{
    return &s->system->blocks[i];
}

const char *mech_sim_system_mass_name(const struct mech_system_variables *v)
{
    return mech_mass_name(v->kind);
}
