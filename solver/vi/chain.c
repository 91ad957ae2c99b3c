/* A chain of complementarity solvers; see chain.h. */
#include "solver/vi/chain.h"

#include "solver/base/err.h"
#include "solver/sys/acceptance.h"
#include "solver/vi/certificate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIVOTING_ROWS = 200 }; /* up to which pivoting comes first */

const char *const *mech_vi_default(uint32_t kinds, int32_t rows)
{
    static const char *const bilateral[] = {"bilateral", "minres", "semismooth", NULL};
    static const char *const few[] = {"lemke", "psor", "semismooth", NULL};
    static const char *const many[] = {"psor", "lemke", "semismooth", NULL};
    static const char *const cones[] = {"nsgs", "semismooth", "admm", NULL};
    static const char *const rolling[] = {"psor", "apgd", "admm", NULL};

    if (kinds & 1u << MECH_SET_ROLLING) {
        return rolling;
    }
    if (kinds & (1u << MECH_SET_CONE | 1u << MECH_SET_BOX)) {
        return cones;
    }
    if (kinds == 1u << MECH_SET_BILATERAL) {
        return bilateral;
    }
    return rows <= PIVOTING_ROWS ? few : many;
}

/* As mech_vi_default where N is not formed. */
static const char *const *default_implicit(uint32_t kinds)
{
    static const char *const bilateral[] = {"minres", "admm", "apgd", NULL};
    static const char *const others[] = {"apgd", "admm", "barzilai", NULL};

    return kinds == 1u << MECH_SET_BILATERAL ? bilateral : others;
}

static const char *const *default_of(const struct mech_problem *p)
{
    const uint32_t kinds = mech_problem_kinds(p);

    return p->schur ? default_implicit(kinds) : mech_vi_default(kinds, p->m);
}

static int run(const struct mech_vi_type *type, const struct mech_problem *p,
               const struct mech_vi_limits *limits, double *l, struct mech_vi_result *result)
{
    void *self = NULL;
    int (*const create)(int32_t most, void **self) =
        p->schur ? type->create_implicit : type->create;
    int code = create ? create(p->m, &self) : MECH_UNSUPPORTED;

    if (code == 0) {
        code = type->solve(self, p, limits, l, result);
    }
    type->destroy(self);
    return code;
}

/* mech_acceptance_pressing of l; c [m]: N l + r */
static double pressing(const struct mech_problem *p, struct mech_acceptance *a, const double *l,
                       double *c)
{
    mech_acceptance_form(a, p);
    mech_acceptance_weigh(a, p);
    mech_problem_speed(p, l, c);
    return mech_acceptance_pressing(a, p, l, c);
}

/* Whether there is a certificate that l, which was accepted, is no solution: where only a slide
 * makes it one, an l that diverges looks the same (acceptance.h). 1, also where the search for it
 * was interrupted; 0 or MECH_NO_MEMORY. */
static int refuted(const struct mech_problem *p, const struct mech_vi_limits *limits,
                   const double *l)
{
    struct mech_acceptance *a = NULL;

    if (p->schur || p->friction != MECH_COULOMB || !(mech_problem_kinds(p) & MECH_VI_FRICTION)) {
        return 0;
    }
    double *const work = malloc(((size_t)p->m + 1) * sizeof *work);
    int code = work ? mech_acceptance_create(p->m, &a) : MECH_NO_MEMORY;

    if (code == 0 && pressing(p, a, l, work) > limits->tolerance) {
        code = mech_certificate_find(p, limits->tolerance, limits->interrupt, l, work);
        code = code == 0 && limits->interrupt && limits->interrupt->came ? 1 : code;
    }
    mech_acceptance_destroy(a);
    free(work);
    return code;
}

int mech_vi_solve(const char *name, const struct mech_problem *p,
                  const struct mech_vi_limits *limits, double *l, struct mech_vi_result *result)
{
    const char *const asked[] = {name, NULL};
    const char *const *const names = name ? asked : default_of(p);
    const size_t bytes = (size_t)p->m * sizeof *l;
    double *const trial = malloc(bytes + sizeof *l);
    struct mech_vi_result best = {.residual = HUGE_VAL, .acceptance = HUGE_VAL, .solver = ""};
    int32_t iterations = 0;
    int first = MECH_NOT_FOUND, code = MECH_NOT_FOUND;

    *result = best;
    if (!trial) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; names[k] && code != 0; k++) {
        if (k > 0 && limits->interrupt && limits->interrupt->came) {
            break; /* the members that are left have nothing to add */
        }
        const struct mech_vi_type *const type = mech_vi_find(names[k]);
        struct mech_vi_result here = {.residual = HUGE_VAL, .acceptance = HUGE_VAL};

        if (!type) {
            break;
        }
        memcpy(trial, l, bytes);
        code = run(type, p, limits, trial, &here);
        first = k == 0 || first == MECH_UNSUPPORTED || first == MECH_SINGULAR ? code : first;
        if (code < 0) {
            first = code;
            break;
        }
        iterations += here.iterations;
        if (code == 0 || (code == MECH_VI_NOT_CONVERGED && here.acceptance < best.acceptance)) {
            memcpy(l, trial, bytes);
            best = here;
            best.solver = type->name;
        }
    }
    free(trial);
    *result = best;
    result->iterations = iterations;
    if (code == 0) {
        const int none = refuted(p, limits, l);

        return none > 0 ? MECH_VI_NOT_CONVERGED : none;
    }
    return code == 0 ? 0 : first;
}
