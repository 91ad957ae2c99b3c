/* Contacts between bodies: one sweep of block Gauss–Seidel over 500 spheres that have fallen into
 * a box, without its beginning and end (/coord.: per contact), with and without AVX2, and the
 * solve of 50 sweeps, against a program for spheres under Coulomb's law alone (floors_spheres.h).
 * "Bodies" are the same scene with three different moments of inertia. Bars of AVX2 count where
 * it is there.
 */
#include "tests/bench/bench.h"
#include "tests/bench/floors_spheres.h"
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

/* one unit: a sweep of all contacts; many sweeps of one solve */
static void sweeps_run(struct scene *s, uint64_t count, enum mech_contact_kernel kernel)
{
    s->options.max_sweeps = (int32_t)count;
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

static void measure(const char *law, enum mech_friction friction, struct floor_spheres *floor)
{
    static const char *const who[2] = {"spheres", "bodies"};
    struct scene *const s = scene_create(friction);
    char what[64];

    (void)fprintf(stderr, "%s: %d contacts of %d spheres, %d of the floor\n", law,
                  s->pile->contacts, s->pile->count, floor->touches);
    bench_coordinates(s->pile->contacts);
    for (int boxes = 0; boxes < 2; boxes++) {
        /* with other inertias the same scene is one of general bodies */
        for (int32_t i = 0; i < s->pile->count && boxes; i++) {
            s->pile->inverse_inertia[9 * i] *= 1.1;
        }
        (void)snprintf(what, sizeof what, "%s, %s, a sweep, baseline", law, who[boxes]);
        bench_compare(bench_text(what), sweeps_baseline, s, floor_spheres_sweep, floor);
        (void)snprintf(what, sizeof what, "%s, %s, a sweep", law, who[boxes]);
        if (__builtin_cpu_supports("avx2")) {
            bench_compare(bench_text(what), sweeps_fast, s, floor_spheres_sweep, floor);
        } else {
            bench_skip(bench_text(what), "the processor has no AVX2");
        }
        (void)snprintf(what, sizeof what, "%s, %s, 50 sweeps", law, who[boxes]);
        if (__builtin_cpu_supports("avx2")) {
            bench_compare(bench_text(what), step_run, s, floor_spheres_solve, floor);
        } else {
            bench_skip(bench_text(what), "the processor has no AVX2");
        }
    }
    bench_coordinates(0);
    scene_destroy(s);
}

int main(int argc, char **argv)
{
    struct floor_spheres floor;

    bench_begin("contacts", argc, argv);
    floor_spheres_init(&floor, margin, 400);
    measure("coulomb", MECH_COULOMB, &floor);
    measure("associated", MECH_ASSOCIATED, &floor);
    floor_spheres_fini(&floor);
    return bench_end();
}
