/* Every example of the daemon does for 60 s what its title says, as far as its outputs show it. */
#include "tests/unit/model.h"

#include <dirent.h>

/* What an output does over the samples, which are 0.05 s apart. */
struct course {
    double least, most, last;
    double late_least, late_most; /* of the last 10 s */
    int turns;                    /* how often it changed its direction */
    int late_turns;
};

enum claim {
    RESTS,  /* stays within `a` of its last value during the last 10 s */
    GROWS,  /* by more than `a` during the last 10 s */
    SWINGS, /* turns at least ten times during the last 10 s, over more than `a` */
    STAYS,  /* between a and b all the time */
    ENDS    /* between a and b */
};

/* Which value of the packed outputs of which example does what. */
static const struct {
    const char *example;
    int value;
    enum claim claim;
    double a, b;
} claims[] = {
    {"ball-at-rest", 0, RESTS, 1e-9, 0.},
    {"ball-at-rest", 0, ENDS, 0.0999, 0.1001},
    /* a step may end overlapped by h v/2: 4.2 m/s over half of 5 ms */
    {"bouncing-ball", 0, STAYS, 0.0895, 1.},
    {"box-stack", 0, STAYS, -1e-3, 1e-3},
    {"box-stack", 2, STAYS, 1.89, 1.91},
    {"bridge-rectifier", 0, STAYS, -11., 11.},
    {"chain-100", 1, STAYS, -2., 0.0011},
    {"column-of-beads", 0, RESTS, 1e-6, 0.},
    {"column-of-beads", 2, ENDS, 1.8, 1.91},
    {"double-pendulum", 1, STAYS, -1e3, 1e3},
    {"driven-oscillator", 0, SWINGS, 0.1, 0.},
    {"flexible-cantilever", 1, SWINGS, 0.1, 0.},
    {"four-bar", 0, GROWS, 60., 0.},  /* the crank's angle, ten times round */
    {"four-bar", 1, SWINGS, 0.1, 0.}, /* the rocker's */
    {"mass1d", 0, GROWS, 4.9, 0.},
    {"robot-arm", 0, STAYS, -3.2, 3.2},
    {"slider-crank", 0, SWINGS, 0.19, 0.}, /* twice the crank of 0.1 m */
    {"slider-crank", 0, STAYS, 0.199, 0.401},
    {"sliding-sphere", 1, RESTS, 1e-6, 0.},
    {"sliding-sphere", 1, ENDS, 0.714, 0.7144}, /* 5/7 */
    {"spheres-in-a-box", 1, RESTS, 1e-3, 0.},
    {"spinning-top", 2, STAYS, 0.03, 0.07},
    {"spring-mass-damper", 0, ENDS, 0.5199, 0.5201},
    {"tilted-table", 0, STAYS, -1e6, 1e6},
};
enum { CLAIMS = sizeof claims / sizeof *claims, SAMPLES = 1200, LATE = 1000, OUTPUTS = 400 };

static struct mech_sim *read_example(const char *path)
{
    char *const text = calloc(1, 1 << 20);
    struct mech_diag diag;
    struct mech_sim *s = NULL;
    FILE *const f = fopen(path, "r");

    CU_ASSERT_FATAL(text && f);
    text[fread(text, 1, (1 << 20) - 1, f)] = '\0';
    fclose(f);
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(model_read(text, &diag, &s), 0);
    mech_diag_fini(&diag);
    free(text);
    return s;
}

static void follow(struct course *c, int sample, double before, double *direction, double now)
{
    const bool late = sample >= LATE;

    c->least = sample ? fmin(c->least, now) : now;
    c->most = sample ? fmax(c->most, now) : now;
    c->late_least = sample > LATE ? fmin(c->late_least, now) : now;
    c->late_most = sample > LATE ? fmax(c->late_most, now) : now;
    c->last = now;
    if (sample && (now - before) * *direction < 0.) {
        c->turns++;
        c->late_turns += late;
    }
    *direction = sample && now != before ? now - before : *direction;
}

static bool keeps(const struct course *c, enum claim claim, double a, double b)
{
    const double late = c->late_most - c->late_least;

    switch (claim) {
    case RESTS:
        return late <= a;
    case GROWS:
        return late > a;
    case SWINGS:
        return late > a && c->late_turns >= 10;
    case STAYS:
        return c->least >= a && c->most <= b;
    default:
        return c->last >= a && c->last <= b;
    }
}

/* 60 s of an example; its claims. */
static int run(const char *name, const char *path)
{
    static struct course course[OUTPUTS];
    static double now[OUTPUTS], before[OUTPUTS], direction[OUTPUTS];
    struct mech_sim *const s = read_example(path);
    const size_t n = mech_sim_output_size(s);
    int code = 0, count = 0;

    memset(course, 0, sizeof course);
    memset(direction, 0, sizeof direction);
    CU_ASSERT_FATAL(n > 0 && n <= OUTPUTS);
    for (int k = 0; k < SAMPLES && code == 0; k++) {
        code = model_step(s, 0.05);
        mech_sim_get_outputs(s, now);
        for (size_t i = 0; i < n; i++) {
            code = code == 0 && !isfinite(now[i]) ? MECH_INTERNAL : code;
            follow(&course[i], k, before[i], &direction[i], now[i]);
            before[i] = now[i];
        }
    }
    CU_ASSERT_EQUAL(code, 0);
    for (int k = 0; k < CLAIMS; k++) {
        const struct course *const c = &course[claims[k].value];

        if (strcmp(claims[k].example, name) != 0) {
            continue;
        }
        const bool kept = keeps(c, claims[k].claim, claims[k].a, claims[k].b);
        count++;
        CU_ASSERT(kept);
        if (!kept || code) {
            fprintf(stderr, "%s, value %d: %g to %g, late %g to %g, %d turns, %d late, at %g\n",
                    name, claims[k].value, c->least, c->most, c->late_least, c->late_most, c->turns,
                    c->late_turns, model_state(s).time);
        }
    }
    mech_sim_destroy(s);
    return count;
}

static void examples_do_for_a_minute_what_their_titles_say(void)
{
    DIR *const folder = opendir(MECH_TESTS_FOLDER "/../server/examples");

    CU_ASSERT_FATAL(folder != NULL);
    for (const struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        char name[300], path[1024];
        const char *const end = strstr(e->d_name, ".json");

        if (!end) {
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(end - e->d_name), e->d_name);
        snprintf(path, sizeof path, "%s/../server/examples/%s", MECH_TESTS_FOLDER, e->d_name);
        CU_ASSERT(run(name, path) > 0);
    }
    closedir(folder);
}

UNIT_TESTS(UNIT_TEST(examples_do_for_a_minute_what_their_titles_say))
