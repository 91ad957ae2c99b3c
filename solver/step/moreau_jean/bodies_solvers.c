/* Which solvers find the impulses of a Moreau–Jean step, and what of them is taken; see
 * bodies.h.
 *
 * One member of vi.h after the other. What none of them brings to its tolerance is accepted up to
 * contact.acceptable, but not where it does work. Impulses of bodies that are wedged may be any
 * multiple of what holds itself in balance, N P = 0, and what is left of speeds times these is
 * energy. With f(P) = ½ PᵀN P + P·q, what P adds to kinetic energy beside no impulses at all, and
 * P·b, a solution has f = P·c − ½ PᵀN P ≤ 0 under any law, and without friction sweeps from P = 0
 * never raise it. So f ≤ 0 is asked for, by more than the rounding of its terms. Where members
 * that start from the impulses of the last step find nothing, they start once more from none.
 *
 * Impulses of a body between walls that close diverge, up to where they are accepted beside a slide
 * or beside what else presses: what is not solved is refused where a certificate proves that there
 * is no solution (vi/certificate.h). Impulses of a body 1e9 times heavier than what it stands on
 * are no such: they miss what doubles cannot balance, and no certificate refutes them. */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/step/conflict.h"
#include "solver/step/moreau_jean/bodies.h"
#include "solver/vi/chain.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* iterations of members that were not requested */
enum { FACTORS = 50, OTHERS = 2000 };
/* turns of few contacts, and what a member that factors gets after them */
enum { TURNS = 4, LONG_FACTORS = 300 };

/* What a factoring member leaves of few contacts within so many tolerances is the rounding of N,
 * which no other undercuts by much; it is accepted, and reported, up to contact.acceptable. */
static const double rounding = 100.;

bool mech_moreau_bodies_hurries(const struct mech_moreau_bodies *s, int32_t contacts)
{
    const struct mech_vi_settings *const vi = &mech_model_settings(s->model)->vi;

    return contacts < MECH_ACCEPTABLE_FROM && !vi->type && vi->on_failure != MECH_ON_FAILURE_ACCEPT;
}

/* The k-th member that is tried, and its iterations; false: there are no more. Few contacts get
 * short turns of a member that sweeps and of the next, which starts where the sweeps have come to:
 * either stalls where the other progresses. Members tried because others failed get less time
 * where there are many contacts: a step that fails is reported soon. */
static bool turn_of(const struct mech_moreau_bodies *s, const char *const *names, int k,
                    const char **name, int32_t *most)
{
    const struct mech_vi_settings *const vi = &mech_model_settings(s->model)->vi;
    const bool many = s->impacts.sets >= MECH_ACCEPTABLE_FROM && !vi->type;
    const bool hurries = mech_moreau_bodies_hurries(s, s->impacts.sets) &&
                         mech_vi_find(names[0])->sweeps && names[1];
    const int turns = hurries ? 2 * TURNS : 0;
    int members = 0;

    while (names[members]) {
        members++;
    }
    *most = vi->max_iterations;
    if (k < turns) {
        *name = names[k % 2];
        *most = k % 2 ? FACTORS : MECH_FEW_SWEEPS;
    } else if (hurries) {
        /* all of them once more, the first at the end */
        *name = k - turns < members ? names[(k - turns + 1) % members] : NULL;
        *most = mech_vi_find(names[(k - turns + 1) % members])->factors ? LONG_FACTORS : *most;
    } else {
        *name = k < members ? names[k] : NULL;
        *most = !many || !*name                ? *most
                : k == 0                       ? s->acceptable > 0. ? MECH_ACCEPTABLE_AFTER : *most
                : mech_vi_find(*name)->factors ? FACTORS
                                               : OTHERS;
    }
    *most = *most < vi->max_iterations ? *most : vi->max_iterations;
    return *name;
}

/* Run one member from `trial`. */
static int run(struct mech_moreau_bodies *s, const char *name, int32_t most,
               struct mech_vi_result *out)
{
    const struct mech_vi_settings *const vi = &mech_model_settings(s->model)->vi;
    const struct mech_vi_limits limits = {vi->tolerance, most, mech_model_interrupt(s->model)};
    const struct mech_problem p = mech_moreau_bodies_problem(s);
    int i = 0;

    while (mech_vi_types[i] && strcmp(mech_vi_types[i]->name, name) != 0) {
        i++;
    }
    if (!mech_vi_types[i] || i >= MECH_IMPACT_SOLVERS_MOST ||
        (mech_problem_kinds(&p) & ~mech_vi_types[i]->kinds) != 0) {
        return MECH_UNSUPPORTED;
    }
    if (!s->solver[i]) {
        MECH_TRY(mech_vi_types[i]->create(s->most, &s->solver[i]));
    }
    const int code = mech_vi_types[i]->solve(s->solver[i], &p, &limits, s->trial, out);

    if (code == 0 || code == MECH_VI_NOT_CONVERGED) {
        s->used = mech_vi_types[i]->name;
    }
    return code;
}

/* Who meets in set i. */
static struct mech_conflict_names names_of(const void *self, int32_t i)
{
    const struct mech_moreau_bodies *const s = self;
    const struct mech_impact_set *const who = &s->impacts.who[i];

    if (who->kind == MECH_IMPACT_LAW) {
        return (struct mech_conflict_names){{mech_model_contact_name(s->model, who->of), NULL}};
    }
    if (who->kind == MECH_IMPACT_SIDE) {
        return (struct mech_conflict_names){{mech_model_joint_name(s->model, who->of), NULL}};
    }
    const int32_t *const collider = s->list.at[who->of].collider;

    return (struct mech_conflict_names){{mech_model_touch_name(s->model, collider[0]),
                                         mech_model_touch_name(s->model, collider[1])}};
}

/* What is compared with contact.acceptable. */
static double off_by(const struct mech_vi_result *r)
{
    return fmax(r->level, r->acceptance / MECH_ACCEPTABLE_SLACK);
}

/* Whether what is off by `least` is taken as it is, before the k-th try: all turns are the 1,000
 * iterations after which contact.acceptable is taken. */
static bool enough(const struct mech_moreau_bodies *s, bool few, int k, double least)
{
    const double tolerance = mech_model_settings(s->model)->vi.tolerance;

    return least <= s->acceptable &&
           (!few || k >= 2 * TURNS || (k > 1 && least <= rounding * tolerance));
}

double mech_moreau_bodies_work(struct mech_moreau_bodies *s, const double *P)
{
    const struct mech_problem p = mech_moreau_bodies_problem(s);
    const size_t m = (size_t)p.m;
    double work = 0., rounds = 0.;

    mech_problem_speed(&p, P, s->c);
    for (size_t i = 0; i < m; i++) {
        work += 0.5 * P[i] * (s->c[i] + s->q[i]);
        for (size_t j = 0; j < m && P[i] != 0.; j++) {
            rounds += DBL_EPSILON * fabs(P[i] * s->N.values[i * m + j] * P[j]);
        }
    }
    return work + rounds > 0. ? fmax(work, rounds) : 0.;
}

/* What the members have come to. */
struct found {
    int first, code;  /* of the first member that says something, and of the last */
    double least;     /* what the best is off by */
    double work, off; /* J, and the residual, of the last that is acceptable but for its work */
};

/* Whether sweeps over the bodies, or the method of second order over them, were this member. */
static bool was_tried(const struct mech_moreau_bodies *s, const char *name)
{
    return mech_vi_find(name)->sweeps ||
           (s->sweeps.second && strcmp(name, mech_body_newton_name()) == 0);
}

/* The members one after the other, from s->impacts.guess; what is best into s->best. */
static struct found run_from_guess(struct mech_moreau_bodies *s, bool accepts, bool again,
                                   struct mech_step_result *result)
{
    const char *const type = mech_model_settings(s->model)->vi.type;
    const struct mech_problem p = mech_moreau_bodies_problem(s);
    const char *const asked[] = {type, NULL};
    const char *const *const names = type ? asked : mech_vi_default(mech_problem_kinds(&p), p.m);
    const size_t bytes = (size_t)p.m * sizeof *s->trial;
    const bool few = p.count < MECH_ACCEPTABLE_FROM;
    struct found out = {MECH_UNSUPPORTED, MECH_UNSUPPORTED, HUGE_VAL, 0., 0.};
    const char *name;
    int32_t most;

    for (int k = 0;
         turn_of(s, names, k, &name, &most) && out.code > 0 && !enough(s, few, k, out.least); k++) {
        struct mech_vi_result here = {
            .residual = HUGE_VAL, .level = HUGE_VAL, .acceptance = HUGE_VAL};

        if (s->sweeps.failed && !again && !type && was_tried(s, name) && (k == 0 || !few)) {
            continue;
        }
        memcpy(s->trial, out.least < HUGE_VAL ? s->best : s->impacts.guess, bytes);
        out.code = run(s, name, most, &here);
        result->vi_iterations += here.iterations;
        out.first =
            out.first == MECH_UNSUPPORTED || out.first == MECH_SINGULAR ? out.code : out.first;
        const double off = off_by(&here);

        double work = 0.;

        if (out.code == MECH_VI_NOT_CONVERGED && !accepts && (again || off <= s->acceptable)) {
            work = mech_moreau_bodies_work(s, s->trial);
        }
        if (work > 0.) {
            /* no start for others either; what is in conflict it may still show */
            out.work = work;
            out.off = here.level;
            if (!(out.least < HUGE_VAL)) {
                memcpy(s->best, s->trial, bytes);
            }
        } else if (out.code == 0 || (out.code == MECH_VI_NOT_CONVERGED && off < out.least)) {
            out.least = off;
            result->residual = here.level;
            memcpy(s->best, s->trial, bytes);
        }
    }
    return out;
}

/* Why no impulses are a solution, from what P has come to, or is accepted with, into
 * result->reason. False: there may be some. */
static bool tells_conflict(const struct mech_moreau_bodies *s, const double *P, bool accepted,
                           struct mech_step_result *result)
{
    const struct mech_problem p = mech_moreau_bodies_problem(s);
    const struct mech_conflict_of of = {.self = s, .accepted = accepted, .names = names_of};
    const struct mech_vi_limits limits = {.tolerance = mech_model_settings(s->model)->vi.tolerance,
                                          .interrupt = mech_model_interrupt(s->model)};

    return mech_conflict_tell(&p, &limits, P, &of, result->reason, sizeof result->reason);
}

/* Whether s->best, which is accepted without being solved, is no solution as there is none. A
 * search costs as much as a thousand iterations: of many contacts it is worth that where they miss
 * more of what presses than is accepted, as beside a slide. */
static bool is_refuted(struct mech_moreau_bodies *s, struct mech_step_result *result)
{
    const struct mech_problem p = mech_moreau_bodies_problem(s);
    const double tolerance = mech_model_settings(s->model)->vi.tolerance;
    const double accepted = MECH_ACCEPTABLE_SLACK * s->acceptable;
    const bool few = p.count < MECH_ACCEPTABLE_FROM;

    mech_acceptance_form(s->accept, &p);
    mech_acceptance_weigh(s->accept, &p);
    mech_problem_speed(&p, s->best, s->c);
    return mech_acceptance_pressing(s->accept, &p, s->best, s->c) >
               (few ? fmin(rounding * tolerance, accepted) : accepted) &&
           tells_conflict(s, s->best, true, result);
}

static int not_solved(struct mech_moreau_bodies *s, const struct found *found,
                      struct mech_step_result *result)
{
    const double residual = found->least;
    const int code = found->first;
    const struct mech_vi_settings *const vi = &mech_model_settings(s->model)->vi;

    if (code == MECH_UNSUPPORTED) {
        mech_text_format(
            result->reason, sizeof result->reason,
            "the complementarity solver \"%.32s\" does not support these contacts, or not %d rows",
            vi->type ? vi->type : "", (int)s->impacts.count);
        return code;
    }
    const bool any = residual < HUGE_VAL || found->work > 0.;

    /* without impulses of a solver, from those that it started with */
    if (tells_conflict(s, any ? s->best : s->impacts.guess, false, result)) {
        return MECH_VI_NOT_CONVERGED;
    }
    if (!any) {
        mech_text_format(result->reason, sizeof result->reason,
                         "no complementarity solver found finite impulses of %d contacts",
                         (int)s->impacts.sets);
        return code;
    }
    if (found->work > 0.) {
        mech_text_format(result->reason, sizeof result->reason,
                         "the impulses of %d contacts have residual %.3g and would add %.3g J to "
                         "kinetic energy, also when the solver starts from zero impulses",
                         (int)s->impacts.sets, found->off, found->work);
        return code;
    }
    mech_text_format(
        result->reason, sizeof result->reason,
        "the impulses of %d contacts have residual %.3g after %d iterations, wanted %.3g "
        "(contact.acceptable, solver.vi)",
        (int)s->impacts.sets, residual, (int)result->vi_iterations, vi->tolerance);
    return code;
}

int mech_moreau_bodies_run(struct mech_moreau_bodies *s, struct mech_step_result *result)
{
    const bool accepts = mech_model_settings(s->model)->vi.on_failure == MECH_ON_FAILURE_ACCEPT;
    struct found found = run_from_guess(s, accepts, false, result);
    bool warm = found.work > 0.;

    for (int32_t i = 0; i < s->impacts.count && !warm; i++) {
        warm = s->impacts.guess[i] != 0.;
    }
    if (found.code > 0 && !accepts && warm && found.least > s->acceptable && s->acceptable > 0.) {
        memset(s->impacts.guess, 0, (size_t)s->impacts.count * sizeof *s->impacts.guess);
        found = run_from_guess(s, accepts, true, result);
    }
    if (found.code < 0) {
        return found.code;
    }
    result->residual = found.least < HUGE_VAL ? result->residual : 0.;
    if (found.code > 0 && (accepts || found.least <= s->acceptable) && found.least < HUGE_VAL) {
        if (!accepts && is_refuted(s, result)) {
            return MECH_VI_NOT_CONVERGED;
        }
        s->accepted = true;
        s->off = result->residual;
        found.code = 0;
    }
    return found.code ? not_solved(s, &found, result) : 0;
}
