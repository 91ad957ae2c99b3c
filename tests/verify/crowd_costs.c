/* What the impulses of contacts cost at default settings: over the examples and generated scenes at
 * most three times the cheaper of sweeps alone and the method of second order alone (solver.vi.type
 * nsgs, semismooth). Costs are additions and products, counted where the solvers of contacts are
 * called: the linker leads these calls through this file (--wrap, tests/meson.build). What detects
 * contacts, and forms N for the second order alone, is not in them. */
#include "solver/vi/body_contacts.h"
#include "solver/vi/body_newton_island.h"
#include "solver/vi/vi.h"
#include "tests/verify/crowd.h"
#include "tests/verify/example.h"
#include "tests/verify/pile.h"

#include <dirent.h>
#include <float.h>

/* --- counting --------------------------------------------------------------------------------- */

static struct {
    double done;  /* additions and products */
    double limit; /* members stop there */
} cost;

/* Of a contact: in a sweep, and in a step of the second order; as measured (body_newton.c). */
static const double sweep_flops = 41., newton_flops = 1000.;

int __real_mech_body_contacts_solve(struct mech_body_contacts *self,
                                    const struct mech_contact_bodies *bodies,
                                    struct mech_body_contact *contacts, int32_t count,
                                    const struct mech_body_contacts_options *options,
                                    struct mech_body_contacts_result *result);
int __wrap_mech_body_contacts_solve(struct mech_body_contacts *self,
                                    const struct mech_contact_bodies *bodies,
                                    struct mech_body_contact *contacts, int32_t count,
                                    const struct mech_body_contacts_options *options,
                                    struct mech_body_contacts_result *result);

int __wrap_mech_body_contacts_solve(struct mech_body_contacts *self,
                                    const struct mech_contact_bodies *bodies,
                                    struct mech_body_contact *contacts, int32_t count,
                                    const struct mech_body_contacts_options *options,
                                    struct mech_body_contacts_result *result)
{
    const int code =
        __real_mech_body_contacts_solve(self, bodies, contacts, count, options, result);

    cost.done += sweep_flops * count * result->sweeps;
    return code;
}

int32_t __real_mech_body_newton_island(struct mech_body_newton *s, double goal,
                                       struct mech_interrupt *interrupt);
int32_t __wrap_mech_body_newton_island(struct mech_body_newton *s, double goal,
                                       struct mech_interrupt *interrupt);

int32_t __wrap_mech_body_newton_island(struct mech_body_newton *s, double goal,
                                       struct mech_interrupt *interrupt)
{
    const int32_t steps = __real_mech_body_newton_island(s, goal, interrupt);

    cost.done += steps * (newton_flops * s->count + mech_newton_blocks_flops(&s->blocks));
    return steps;
}

/* A member that takes N: 2 m² an iteration, or the LU of m rows, and as much a contact as above. */
static int counted(const struct mech_vi_type *type, void *self, const struct mech_problem *p,
                   const struct mech_vi_limits *limits, double *l, struct mech_vi_result *result)
{
    const double m = p->m, sets = p->count ? p->count : p->m;
    const double one =
        type->factors ? 2. / 3. * m * m * m + newton_flops * sets : 2. * m * m + sweep_flops * sets;
    const double room = fmax(cost.limit - cost.done, 0.) / one;
    struct mech_vi_limits less = *limits;

    less.max_iterations = (int32_t)fmin(less.max_iterations, fmin(room, INT32_MAX - 1.) + 1.);
    const int code = type->solve(self, p, &less, l, result);

    cost.done += one * result->iterations;
    return code;
}

#define MECH_VI(name)                                                                              \
    static int counted_##name(void *self, const struct mech_problem *p,                            \
                              const struct mech_vi_limits *limits, double *l,                      \
                              struct mech_vi_result *result)                                       \
    {                                                                                              \
        return counted(&mech_vi_##name, self, p, limits, l, result);                               \
    }                                                                                              \
    static struct mech_vi_type type_##name;
#include "solver/vi/vis.def"
#undef MECH_VI

#define MECH_VI(name) &type_##name,
extern const struct mech_vi_type *const __wrap_mech_vi_types[];
const struct mech_vi_type *const __wrap_mech_vi_types[] = {
#include "solver/vi/vis.def"
    NULL};
#undef MECH_VI

/* The real one is called so that its object is linked: GNU ld 2.40 crashes without it where there
 * is debug information. */
const struct mech_vi_type *__real_mech_vi_find(const char *name);
const struct mech_vi_type *__wrap_mech_vi_find(const char *name);
const struct mech_vi_type *__wrap_mech_vi_find(const char *name)
{
    const struct mech_vi_type *const found = __real_mech_vi_find(name);
    int i = 0;

    while (found && strcmp(__wrap_mech_vi_types[i]->name, name) != 0) {
        i++;
    }
    return found ? __wrap_mech_vi_types[i] : NULL;
}

static void take_members(void)
{
#define MECH_VI(name)                                                                              \
    type_##name = mech_vi_##name;                                                                  \
    type_##name.solve = counted_##name;
#include "solver/vi/vis.def"
#undef MECH_VI
}

/* --- scenes ----------------------------------------------------------------------------------- */

/* What so many steps of this document cost with a member of vi.h, NULL: by default. Ends beyond
 * `limit`; HUGE_VAL: a step failed, or nothing in the model asks for that member. */
static double cost_of(const char *document, const char *member, int steps, double limit)
{
    json_error_t error;
    json_t *const value = json_loads(document, 0, &error);
    json_t *const solver = json_object_get(value, "solver");
    struct mech_document *read = NULL;
    struct mech_sim *s = NULL;
    struct mech_diag diag;

    CU_ASSERT_FATAL(value && solver);
    if (member) {
        json_t *const vi = json_object_get(solver, "vi");
        json_t *const changed = json_is_object(vi) ? json_incref(vi) : json_object();

        json_object_set_new(changed, "type", json_string(member));
        json_object_set_new(solver, "vi", changed);
    }
    mech_diag_init(&diag);
    int code = mechp_bind_read(value, "", &diag, &read);

    code = code ? code : mech_sim_create(read, &diag, &s);
    if (!s) {
        mech_document_destroy(read);
    }
    mech_diag_fini(&diag);
    json_decref(value);
    cost.done = 0.;
    cost.limit = limit;
    for (int i = 0; i < steps && code == 0 && cost.done <= limit; i++) {
        const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
        struct mech_step_report report;

        code = mech_sim_step(s, &r, &report);
    }
    mech_sim_destroy(s);
    return code ? HUGE_VAL : cost.done;
}

/* Whether the default costs at most three times the cheaper. */
static bool within_three(const char *name, const char *document, int steps)
{
    static const char *const members[] = {"nsgs", "semismooth"};
    const double whole = cost_of(document, NULL, steps, HUGE_VAL);
    double least = HUGE_VAL;

    for (int k = 0; k < 2 && whole > 0.; k++) {
        /* on from a third it does not matter what it costs */
        least = fmin(least, cost_of(document, members[k], steps, whole / 3.));
    }
    const bool good = whole < HUGE_VAL && whole <= 3. * least;

    if (!good) {
        fprintf(stderr, "%s, %d steps: %.3g by default, %.3g by the cheaper\n", name, steps, whole,
                least);
    }
    return good;
}

/* A document with ' for ", which it frees; as within_three. */
static bool scene(const char *name, char *text, int steps)
{
    for (char *c = text; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    const bool good = within_three(name, text, steps);

    free(text);
    return good;
}

/* --- all of them ------------------------------------------------------------------------------ */

#define STEPPED "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.005}"

static void examples_cost_at_most_three_times_the_cheaper(void)
{
    static const char folder[] = MECH_TESTS_FOLDER "/../server/examples", end[] = ".json";
    DIR *const listed = opendir(folder);
    int count = 0;

    take_members();
    CU_ASSERT_FATAL(listed != NULL);
    for (const struct dirent *e = readdir(listed); e; e = readdir(listed)) {
        const size_t length = strlen(e->d_name), last = sizeof end - 1;
        char path[1024];

        if (length <= last || strcmp(e->d_name + length - last, end) != 0) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        char *const text = example_text(path);

        CU_ASSERT(within_three(e->d_name, text, 200));
        free(text);
        count++;
    }
    closedir(listed);
    CU_ASSERT(count >= 18);
}

static void towers_cost_at_most_three_times_the_cheaper(void)
{
    static const int counts[] = {1, 3, 10, 50};
    static const double cube[] = {0.1, 8.};
    static const char rest[] = STEPPED ", 'materials': [{'name': 'm', 'friction': 0.5}]";
    static const struct {
        const char *name;
        double place[4];
    } starts[] = {{"stands", {0.1, 0., 0., 0.}},
                  {"drops", {0.11, 1e-3, 0., 0.}},
                  {"is turned", {0.16, 0.02, 0.3, 0.}}};

    take_members();
    for (int k = 0; k < 12; k++) {
        char name[100];

        snprintf(name, sizeof name, "a tower of %d that %s", counts[k / 3], starts[k % 3].name);
        CU_ASSERT(scene(name, crowd_cubes(counts[k / 3], cube, starts[k % 3].place, rest), 60));
    }
}

static void walls_cost_at_most_three_times_the_cheaper(void)
{
    take_members();
    CU_ASSERT(scene("a wall of 4 x 4", crowd_wall(4, 4), 40));
    CU_ASSERT(scene("a wall of 8 x 8", crowd_wall(8, 8), 40));
    CU_ASSERT(scene("a wall of 12 x 12", crowd_wall(12, 12), 40));
}

static void heaps_cost_at_most_three_times_the_cheaper(void)
{
    static const double frictions[] = {0.1, 0.5, 1., 2.};

    take_members();
    for (int k = 0; k < 4; k++) {
        for (int boxes = 5; boxes <= 40; boxes *= 2) {
            const struct crowd of = {
                .falling = boxes, .speed = 8., .friction = frictions[k], .seed = 1};
            char name[100];

            snprintf(name, sizeof name, "a heap of %d, friction %g", boxes, frictions[k]);
            CU_ASSERT(scene(name, crowd_text(of), 60));
        }
    }
}

/* Boxes of any sizes, masses, friction and restitution, let go above each other. */
static void what_falls_into_a_heap_costs_at_most_three_times_the_cheaper(void)
{
    static const char *const laws[] = {"coulomb", "associated"};
    static const struct {
        int boxes, seeds, steps;
    } sizes[] = {{1, 3, 100}, {3, 3, 100}, {10, 3, 120}, {30, 2, 120}, {100, 1, 150}};

    take_members();
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < 2 * sizes[k].seeds; i++) {
            char name[100];

            snprintf(name, sizeof name, "%d boxes that fall, seed %d, %s", sizes[k].boxes,
                     i / 2 + 1, laws[i % 2]);
            CU_ASSERT(scene(name, crowd_above(sizes[k].boxes, (uint64_t)i / 2 + 1, laws[i % 2]),
                            sizes[k].steps));
        }
    }
}

static void spheres_cost_at_most_three_times_the_cheaper(void)
{
    take_members();
    for (int spheres = 25; spheres <= 100; spheres *= 2) {
        char name[100];

        snprintf(name, sizeof name, "%d spheres", spheres);
        CU_ASSERT(scene(name, pile_text(spheres, 0.4, STEPPED), 100));
    }
}

UNIT_TESTS(UNIT_TEST(examples_cost_at_most_three_times_the_cheaper),
           UNIT_TEST(towers_cost_at_most_three_times_the_cheaper),
           UNIT_TEST(walls_cost_at_most_three_times_the_cheaper),
           UNIT_TEST(heaps_cost_at_most_three_times_the_cheaper),
           UNIT_TEST(what_falls_into_a_heap_costs_at_most_three_times_the_cheaper),
           UNIT_TEST(spheres_cost_at_most_three_times_the_cheaper))
