/* Friction problems of systems with stiffness: `bodies` of 1 kg in a row, each on springs to its
 * neighbours and pressed on a floor, H = 1 + h² K of bandwidth 3, G = 1. N = G H⁻¹ Gᵀ is full:
 * formed it costs m solves with H and 2 m² flops a product; through the factors of H a product
 * costs as much as the pattern does.
 * A unit is a whole solution from the data, to 1e-8. No bars: where one overtakes the other decides
 * what stand-alone problems do (solver/sim/problem.c).
 */
#include "tests/bench/bench.h"

#include "solver/lsol/lsol.h"
#include "solver/vi/schur.h"
#include "solver/vi/vi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRICTION_ROWS = 3, BODIES_MOST = 1000 };

struct work {
    int32_t m;
    const struct mech_vi_type *type;
    struct mech_arena arena;
    struct mech_mat H, G, N;
    struct mech_set *sets;
    double *r, *l;
};

static void *room(struct work *w, size_t count, size_t size)
{
    void *const at = mech_arena_alloc(&w->arena, count, size);
    if (at == NULL) {
        (void)fprintf(stderr, "no memory\n");
        exit(2);
    }
    return at;
}

static void must(int code)
{
    if (code != 0) {
        (void)fprintf(stderr, "a problem was not solved: %d\n", code);
        exit(2);
    }
}

static void begin(struct work *w, int32_t bodies, const char *solver)
{
    const double k = 25.; /* h² K: 1e6 N/m at h = 5 ms */
    *w = (struct work){.m = FRICTION_ROWS * bodies, .type = mech_vi_find(solver)};
    mech_arena_init(&w->arena, 0);
    const size_t m = (size_t)w->m;
    struct mech_triplet *const t = room(w, 4 * m, sizeof *t);
    size_t n = 0;
    for (int32_t i = 0; i < w->m; i++) {
        t[n++] = (struct mech_triplet){i, i, 1.};
    }
    must(mech_mat_from_triplets(&w->arena, w->m, w->m, t, n, &w->G));
    n = 0;
    for (int32_t i = 0; i < w->m; i++) {
        const bool last = i + FRICTION_ROWS >= w->m;
        t[n++] = (struct mech_triplet){i, i, 1. + (i < FRICTION_ROWS || last ? k : 2. * k)};
        if (!last) {
            t[n++] = (struct mech_triplet){i, i + FRICTION_ROWS, -k};
            t[n++] = (struct mech_triplet){i + FRICTION_ROWS, i, -k};
        }
    }
    must(mech_mat_from_triplets(&w->arena, w->m, w->m, t, n, &w->H));
    w->N = (struct mech_mat){.kind = MECH_MAT_DENSE, .rows = w->m, .cols = w->m, .symmetric = true};
    w->N.values = room(w, m * m, sizeof *w->N.values);
    w->sets = room(w, (size_t)bodies, sizeof *w->sets);
    w->r = room(w, m, sizeof *w->r);
    w->l = room(w, m, sizeof *w->l);
    for (int32_t i = 0; i < bodies; i++) {
        w->sets[i] = (struct mech_set){.kind = MECH_SET_CONE, .rows = FRICTION_ROWS, .mu = 0.3};
        w->r[3 * i] = i % 7 == 3 ? 0.05 : -0.05;
        w->r[3 * i + 1] = 0.02 * (i % 5 - 1);
        w->r[3 * i + 2] = 0.01 * (i % 3);
    }
}

static void solve(struct work *w, struct mech_problem p)
{
    const struct mech_vi_limits limits = {.tolerance = 1e-8, .max_iterations = 100000};
    struct mech_vi_result result;
    void *self = NULL;
    p.m = w->m;
    p.r = w->r;
    p.sets = w->sets;
    p.count = w->m / FRICTION_ROWS;
    p.friction = MECH_ASSOCIATED;
    memset(w->l, 0, (size_t)w->m * sizeof *w->l);
    must((p.schur != NULL ? w->type->create_implicit : w->type->create)(w->m, &self));
    must(w->type->solve(self, &p, &limits, w->l, &result));
    w->type->destroy(self);
}

static void formed(void *context, uint64_t count)
{
    struct work *const w = context;
    for (uint64_t i = 0; i < count; i++) {
        struct mech_lsol *H = NULL;
        must(mech_lsol_create(NULL, &w->H, &H));
        must(mech_lsol_factor(H, &w->H));
        memset(w->N.values, 0, (size_t)w->m * (size_t)w->m * sizeof *w->N.values);
        for (int32_t j = 0; j < w->m; j++) {
            w->N.values[(size_t)j * (size_t)(w->m + 1)] = 1.;
        }
        must(mech_lsol_solve(H, w->N.values, w->m));
        solve(w, (struct mech_problem){.N = &w->N});
        mech_lsol_destroy(H);
    }
    bench_use(w->l);
}

static void implicit(void *context, uint64_t count)
{
    struct work *const w = context;
    for (uint64_t i = 0; i < count; i++) {
        struct mech_schur_system *s = NULL;
        must(mech_schur_create(&w->H, &w->G, NULL, &s));
        solve(w, (struct mech_problem){.schur = mech_schur_of(s)});
        mech_schur_destroy(s);
    }
    bench_use(w->l);
}

int main(int argc, char **argv)
{
    static const char *const solvers[] = {"apgd", "admm"};
    bench_begin("friction", argc, argv);
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
        for (int32_t bodies = 10; bodies <= BODIES_MOST / (bench_is_quick() ? 10 : 3);
             bodies *= 3) {
            struct work w;
            char what[64];
            begin(&w, bodies, solvers[k]);
            (void)snprintf(what, sizeof what, "%s, %d rows, implicit / formed", solvers[k],
                           (int)w.m);
            bench_beside(bench_text(what), implicit, &w, formed, &w);
            mech_arena_fini(&w.arena);
        }
    }
    return bench_end();
}
