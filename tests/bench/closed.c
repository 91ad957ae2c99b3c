/* Closed systems of links, a wall of boxes, and memory, through the public façade. Nets and
 * rings: steps of generalized-α with two Newton iterations or so, against two iterations of a
 * program that assembles the same matrix and factors it by KLU (floors_graph.h). The net hangs
 * from 21 points: 20 rows of 20 rods across and 21 columns of 20 rods down, 820 bodies in the
 * plane. Rings of 64 rods hang from one point. The wall: 25 boxes, against 50 sweeps of a program
 * for spheres alone; and one of 64 at the default settings, against 50 sweeps of it.
 */
#include "tests/bench/bench.h"
#include "tests/bench/chains.h"
#include "tests/bench/floors_graph.h"
#include "tests/bench/floors_spheres.h"
#include "tests/bench/scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COLUMNS = 21, ROWS = 20, RODS_MOST = 1024, JOINTS_MOST = 2048, RING = 64 };

/* rods of length 1 between points; the first end and the second */
struct rods {
    int count, joints, space;
    double x[RODS_MOST][3], angle[RODS_MOST]; /* centre, and direction about z */
    struct floor_joint joint[JOINTS_MOST];
};

static int rod(struct rods *r, double x, double y, double angle)
{
    r->x[r->count][0] = x;
    r->x[r->count][1] = y;
    r->angle[r->count] = angle;
    return r->count++;
}

/* Ends (−1 first, 1 second) of two rods are one point; rod −1: the ground. */
static void tie(struct rods *r, int a, int end_a, int b, int end_b)
{
    struct floor_joint *const j = &r->joint[r->joints++];
    const int body[2] = {a, b}, end[2] = {end_a, end_b};
    *j = (struct floor_joint){.body = {a, b}};
    for (int k = 0; k < 2; k++) {
        if (body[k] >= 0) {
            j->arm[k][0] = 0.5 * end[k] * cos(r->angle[body[k]]);
            j->arm[k][1] = 0.5 * end[k] * sin(r->angle[body[k]]);
        }
    }
}

static void make_net(struct rods *r)
{
    int across[ROWS][COLUMNS - 1];
    const double down = -0.5 * 3.14159265358979312;
    memset(r, 0, sizeof *r);
    for (int row = 0; row < ROWS; row++) {
        for (int k = 0; k < COLUMNS - 1; k++) {
            across[row][k] = rod(r, k + 0.5, -row - 1., 0.);
        }
    }
    for (int k = 0; k < COLUMNS; k++) {
        for (int row = 0; row < ROWS; row++) {
            const int own = rod(r, k, -row - 0.5, down);
            tie(r, row > 0 ? own - 1 : -1, 1, own, -1);
            if (k > 0) {
                tie(r, own, 1, across[row][k - 1], 1);
            }
            if (k < COLUMNS - 1) {
                tie(r, own, 1, across[row][k], -1);
            }
        }
    }
}

static void make_ring(struct rods *r, int space)
{
    const double turn = 2. * 3.14159265358979312 / RING, size = 0.5 / tan(0.5 * turn);
    memset(r, 0, sizeof *r);
    r->space = space;
    for (int k = 0; k < RING; k++) {
        (void)rod(r, -size * sin(k * turn), size * cos(k * turn), k * turn + 3.14159265358979312);
    }
    for (int k = 0; k < RING; k++) {
        tie(r, k, 1, (k + 1) % RING, -1);
    }
    tie(r, -1, 0, 0, -1);
}

/* One end of a joint as a marker. */
static void write_marker(FILE *f, const struct rods *r, int j, int side)
{
    const struct floor_joint *const joint = &r->joint[j];
    const int b = joint->body[side], other = joint->body[1 - side];
    const double *const arm = joint->arm[side], *const far = joint->arm[1 - side];
    (void)fprintf(f, "%s{\"name\":\"m%d-%d\",\"type\":\"MarkerBodyRigid\",", j || side ? "," : "",
                  j, side);
    if (b < 0) {
        (void)fprintf(f, "\"object\":\"g\",\"localPosition\":[%.17g,%.17g,0]}",
                      r->x[other][0] + far[0], r->x[other][1] + far[1]);
    } else {
        const double along = arm[0] * cos(r->angle[b]) + arm[1] * sin(r->angle[b]);
        (void)fprintf(f, "\"object\":\"b%d\",\"localPosition\":[%.17g,0,0]}", b, along);
    }
}

static struct mech_document *rods_document(const struct rods *r)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const f = open_memstream(&text, &size);
    if (f == NULL) {
        exit(2);
    }
    (void)fprintf(f, "{\"mechd\":1,\"gravity\":[3,-9,%d],\"nodes\":[", r->space);
    for (int b = 0; b < r->count; b++) {
        (void)fprintf(f,
                      "%s{\"name\":\"n%d\",\"type\":\"%s\",\"referenceCoordinates\":[%.17g,%.17g,",
                      b ? "," : "", b, r->space ? "NodeRigidBodyEP" : "NodeRigidBody2D", r->x[b][0],
                      r->x[b][1]);
        if (r->space) {
            (void)fprintf(f, "0,%.17g,0,0,%.17g]}", cos(0.5 * r->angle[b]), sin(0.5 * r->angle[b]));
        } else {
            (void)fprintf(f, "%.17g]}", r->angle[b]);
        }
    }
    (void)fputs("],\"objects\":[{\"name\":\"g\",\"type\":\"Ground\"}", f);
    for (int b = 0; b < r->count; b++) {
        (void)fprintf(f,
                      ",{\"name\":\"b%d\",\"type\":\"RigidBody%s\",\"node\":\"n%d\","
                      "\"physicsMass\":1,\"physicsInertia\":%s}",
                      b, r->space ? "" : "2D", b,
                      r->space ? "[0.01,0.0833,0.0833,0,0,0]" : "0.0833");
    }
    for (int j = 0; j < r->joints; j++) {
        (void)fprintf(f, ",{\"name\":\"j%d\",\"type\":\"%s\",\"markers\":[\"m%d-0\",\"m%d-1\"]}", j,
                      r->space ? "SphericalJoint" : "RevoluteJoint2D", j, j);
    }
    (void)fputs("],\"markers\":[", f);
    for (int j = 0; j < r->joints; j++) {
        write_marker(f, r, j, 0);
        write_marker(f, r, j, 1);
    }
    (void)fputs("],\"solver\":{\"integrator\":\"GeneralizedAlpha\",\"stepSize\":0.001}}", f);
    if (fclose(f) != 0) {
        exit(2);
    }
    struct mech_document *const document = chain_read(text, size);
    free(text);
    return document;
}

static void measure_rods(const char *what, struct rods *r)
{
    if (!bench_wants(what)) {
        return;
    }
    struct chain *const c = chain_of(rods_document(r), 100);
    struct floor_graph floor;
    floor_graph_init(&floor, r->count, r->joint, r->joints, r->space);
    floor.iterations = 2;
    bench_coordinates(r->count * (r->space ? 6 : 3));
    bench_compare(what, chain_step, c, floor_graph_run, &floor);
    bench_coordinates(0);
    (void)fprintf(stderr, "%s: %.2f iterations a step\n", what,
                  (double)c->iterations / (double)c->steps);
    floor_graph_fini(&floor);
    chain_destroy(c);
}

/* --- boxes ------------------------------------------------------------------------------------ */

enum { WALL = 5, LARGE = 8 };

/* n rows of n boxes of 0.2 m, every other row moved by half a box; 50 sweeps, or to the defaults'
 * accuracy. */
static struct mech_document *wall_document(int n, bool sweeps)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const f = open_memstream(&text, &size);
    if (f == NULL) {
        exit(2);
    }
    (void)fprintf(f,
                  "{\"mechd\":1,\"gravity\":[0,0,-9.81],\"solver\":{\"integrator\":\"MoreauJean\","
                  "\"theta\":1,\"stepSize\":0.005%s},\"materials\":[{\"name\":\"m\","
                  "\"friction\":0.4}],\"nodes\":[",
                  sweeps ? ",\"vi\":{\"onFailure\":\"accept\",\"maxIterations\":50}" : "");
    for (int b = 0; b < n * n; b++) {
        (void)fprintf(f,
                      "%s{\"name\":\"n%d\",\"type\":\"NodeRigidBodyEP\",\"referenceCoordinates\":"
                      "[%.17g,0,%.17g,1,0,0,0]}",
                      b ? "," : "", b, 0.21 * (b % n) + 0.1 * (b / n % 2), 0.1 + 0.2 * (b / n));
    }
    (void)fputs("],\"objects\":[{\"name\":\"g\",\"type\":\"Ground\",\"geometry\":[{\"shape\":"
                "\"Plane\",\"material\":\"m\"}]}",
                f);
    for (int b = 0; b < n * n; b++) {
        (void)fprintf(
            f,
            ",{\"name\":\"b%d\",\"type\":\"RigidBody\",\"node\":\"n%d\",\"physicsMass\":8,"
            "\"physicsInertia\":[0.0533,0.0533,0.0533,0,0,0],\"geometry\":[{\"shape\":"
            "\"Box\",\"size\":[0.2,0.2,0.2],\"material\":\"m\"}]}",
            b, b);
    }
    (void)fputs("]}", f);
    if (fclose(f) != 0) {
        exit(2);
    }
    struct mech_document *const document = chain_read(text, size);
    free(text);
    return document;
}

static void measure_wall(void)
{
    static const char what[] = "a wall of 25 boxes";
    if (!bench_wants(what)) {
        return;
    }
    struct floor_spheres floor;
    struct mech_sim *const sim = scene_create(wall_document(WALL, true));
    // at rest: before, some steps take five times as long
    scene_step(sim, 1000);
    (void)fprintf(stderr, "%s: %zu contacts\n", what, mech_sim_contacts(sim));
    floor_spheres_init(&floor, 0., 400);
    bench_compare(what, scene_step, sim, floor_spheres_solve, &floor);
    floor_spheres_fini(&floor);
    mech_sim_destroy(sim);
}

/* Boxes at the default settings, counted; and beside 50 sweeps of the same, which they shall not
 * cost 3 times. */
static void measure_large_wall(void)
{
    static const char what[] = "a wall of 64 boxes, default settings";
    static const char beside[] = "a wall of 64 boxes, default settings / 50 sweeps";
    if (!bench_wants(what) && !bench_wants(beside)) {
        return;
    }
    struct mech_sim *const sim = scene_create(wall_document(LARGE, false));
    struct mech_sim *const sweeps = scene_create(wall_document(LARGE, true));
    scene_step(sim, 20);
    scene_step(sweeps, 20);
    bench_tell(what, scene_step, sim);
    bench_beside(beside, scene_step, sim, scene_step, sweeps);
    mech_sim_destroy(sim);
    mech_sim_destroy(sweeps);
}

/* --- memory ----------------------------------------------------------------------------------- */

static double resident(void)
{
    long pages = 0, in_memory = 0;
    FILE *const f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld", &pages, &in_memory) != 2) {
        exit(2);
    }
    (void)fclose(f);
    return (double)in_memory * (double)sysconf(_SC_PAGESIZE);
}

/* Bytes that a chain of n masses adds to a process of its own, after its first step; where a loss
 * is planted the chain is longer than what is counted. */
static void measure_memory(int32_t n)
{
    char what[64];
    int ends[2];
    double bytes = 0.;
    (void)snprintf(what, sizeof what, "chain %d, bytes a coordinate", (int)n);
    if (!bench_wants(what) || pipe(ends) != 0) {
        return;
    }
    const pid_t child = fork();
    if (child == 0) {
        const double before = resident();
        struct mech_sim *const sim =
            scene_create(scene_chain((int32_t)(bench_plant() * n), SCENE_BANDED));
        scene_step(sim, 1);
        bytes = resident() - before;
        _exit(write(ends[1], &bytes, sizeof bytes) == (ssize_t)sizeof bytes ? 0 : 2);
    }
    if (child < 0 || read(ends[0], &bytes, sizeof bytes) != (ssize_t)sizeof bytes) {
        exit(2);
    }
    (void)waitpid(child, NULL, 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    bench_value(bench_text(what), bytes / n);
}

int main(int argc, char **argv)
{
    static struct rods r;
    bench_begin("closed", argc, argv);
    for (int32_t n = 10000; n <= 1000000; n *= 10) {
        measure_memory(n);
    }
    make_ring(&r, 0);
    measure_rods("ring of 64 in the plane", &r);
    make_ring(&r, 1);
    measure_rods("ring of 64 in space", &r);
    make_net(&r);
    measure_rods("net of 820 bodies", &r);
    measure_wall();
    measure_large_wall();
    return bench_end();
}
