/* Contacts between bodies: one sweep of block Gauss–Seidel over 500 spheres that have fallen into a
 * box, per contact and without its beginning and end, and the whole solve of a step. A bespoke
 * program for spheres alone needs 15 ns per contact and sweep, 10 with AVX2; Chrono 71. Bars: the
 * solve of 50 sweeps 3 ms (Chrono 8.6 with detection); with AVX2 a sweep takes at most 0.95 of one
 * without. "Bodies" are the same scene with three different moments of inertia.
 */
#include "tests/bench/bench.h"
#include "tests/unit/solver/vi/piles.h"

#include <stdio.h>

enum { SWEEPS = 50 };

/* so that the pile has the 1,900 contacts that others count in theirs */
static const double margin = 1.2e-2;

struct scene {
    struct pile *pile;
    struct mech_body_contacts *solver;
    struct mech_contact_bodies bodies;
    struct mech_body_contact *contacts; /* as they were before the step */
    double *velocity;
    struct mech_body_contacts_options options;
};

static void solve(struct scene *s)
{
    struct pile *const p = s->pile;
    struct mech_body_contacts_result result;

    memcpy(p->velocity, s->velocity, 6 * (size_t)p->count * sizeof *p->velocity);
    memcpy(p->contact, s->contacts, (size_t)p->contacts * sizeof *p->contact);
    if (mech_body_contacts_solve(s->solver, &s->bodies, p->contact, p->contacts, &s->options,
                                 &result) < 0) {
        abort();
    }
    bench_use(&result.residual);
}

/* one unit: one contact and sweep; many sweeps of one solve */
static void sweeps_run(struct scene *s, uint64_t count, enum mech_contact_kernel kernel)
{
    const uint64_t all = (uint64_t)s->pile->contacts;

    s->options.max_sweeps = (int32_t)((count + all - 1) / all);
    s->options.kernel = kernel;
    solve(s);
}

static void sweeps_baseline(void *context, uint64_t count)
{
    sweeps_run(context, count, MECH_KERNEL_BASELINE);
}

static void sweeps_fast(void *context, uint64_t count)
{
    sweeps_run(context, count, MECH_KERNEL_FASTEST);
}

/* one unit: a solve of 50 sweeps */
static void step_run(void *context, uint64_t count)
{
    struct scene *const s = context;

    s->options.max_sweeps = SWEEPS;
    s->options.kernel = MECH_KERNEL_FASTEST;
    for (uint64_t k = 0; k < count; k++) {
        solve(s);
    }
}

static void fall(struct scene *s, int steps)
{
    struct pile *const p = s->pile;
    const double h = 5e-3;

    for (int k = 0; k <= steps; k++) {
        struct mech_body_contacts_result result;

        pile_find(p, h);
        pile_fall(p, h);
        if (k < steps) {
            s->options.max_sweeps = SWEEPS;
            (void)mech_body_contacts_solve(s->solver, &s->bodies, p->contact, p->contacts,
                                           &s->options, &result);
            pile_move(p, h);
        }
    }
}

static struct scene *scene_create(enum mech_friction friction)
{
    struct scene *const s = pile_memory(1, sizeof *s);

    s->pile = pile_of_spheres(500, 8, 1);
    s->pile->margin = margin;
    s->bodies = pile_bodies(s->pile);
    s->options = (struct mech_body_contacts_options){.friction = friction};
    if (mech_body_contacts_create(s->pile->count, s->pile->most, &s->solver) != 0) {
        abort();
    }
    fall(s, 400);
    s->velocity = pile_memory(6 * (size_t)s->pile->count, sizeof *s->velocity);
    s->contacts = pile_memory((size_t)s->pile->contacts, sizeof *s->contacts);
    memcpy(s->velocity, s->pile->velocity, 6 * (size_t)s->pile->count * sizeof(double));
    memcpy(s->contacts, s->pile->contact, (size_t)s->pile->contacts * sizeof *s->contacts);
    return s;
}

static void scene_destroy(struct scene *s)
{
    mech_body_contacts_destroy(s->solver);
    pile_destroy(s->pile);
    free(s->velocity);
    free(s->contacts);
    free(s);
}

static void measure(const char *law, enum mech_friction friction)
{
    static const char *const who[2] = {"spheres", "bodies"};
    static char names[8][64];
    static int named = 0;
    struct scene *const s = scene_create(friction);

    (void)fprintf(stderr, "%s: %d contacts of %d spheres\n", law, s->pile->contacts,
                  s->pile->count);
    for (int boxes = 0; boxes < 2; boxes++) {
        /* with other inertias the same scene is one of general bodies */
        for (int32_t i = 0; i < s->pile->count && boxes; i++) {
            s->pile->inverse_inertia[9 * i] *= 1.1;
        }
        char *const sweep = names[named++], *const step = names[named++];

        (void)snprintf(sweep, sizeof names[0], "%s, %s, a sweep / baseline", law, who[boxes]);
        bench_compare(sweep, sweeps_fast, s, sweeps_baseline, s, 0.95);
        (void)snprintf(step, sizeof names[0], "%s, %s, 50 sweeps", law, who[boxes]);
        bench_limit(step, step_run, s, 3e6);
    }
    scene_destroy(s);
}

int main(int argc, char **argv)
{
    bench_begin("contacts", argc, argv);
    measure("coulomb", MECH_COULOMB);
    measure("associated", MECH_ASSOCIATED);
    return bench_end();
}
