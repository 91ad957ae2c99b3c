/* Couplings of the daemon whose windows take long: Jacobi with 2, 3 and 4 participants of 100,000
 * internal steps a window, of a daemon with two workers beside one with one. A unit is a window, by
 * the wall. With two free cores two participants take half as long; on one core both are alike.
 *
 *     bench-service-couple [--quick] [--json]
 */
#include "tests/bench/bench.h"
#include "tests/bench/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4, BODY = 4096 };

static const char model[] =
    "{\"model\":{\"mechd\":1,\"nodes\":[{\"name\":\"n\",\"type\":\"NodePoint2D\","
    "\"referenceCoordinates\":"
    "[0,0],\"initialVelocities\":[1,0]}],\"objects\":[{\"name\":\"m\",\"type\":\"MassPoint2D\","
    "\"node\":\"n\",\"physicsMass\":1},{\"name\":\"s\",\"type\":\"CoordinateSpringDamper\","
    "\"markers\":[\"g\",\"x\"],\"stiffness\":110}],\"markers\":[{\"name\":\"g\",\"type\":"
    "\"MarkerGroundCoordinate\"},{\"name\":\"x\",\"type\":\"MarkerNodeCoordinate\",\"node\":\"n\","
    "\"coordinate\":0}],\"loads\":[{\"name\":\"F\",\"type\":\"LoadCoordinate\",\"marker\":\"x\","
    "\"load\":0}],\"sensors\":[{\"name\":\"p\",\"type\":\"SensorNode\",\"node\":\"n\","
    "\"outputVariable\":\"Coordinates\"}],\"inputs\":[{\"name\":\"F\",\"load\":\"F\"}],"
    "\"outputs\":[{\"name\":\"p\",\"sensor\":\"p\"}],\"solver\":{\"integrator\":"
    "\"GeneralizedAlpha\",\"stepSize\":5e-7}}}";

/* One daemon, and the path that steps its coupling of so many participants. */
struct side {
    struct served server;
    char path[MOST + 1][64];
};

static double wall(const void *side)
{
    (void)side;
    return served_now_ns();
}

/* A ring of instances of its own. */
static void couple(struct side *s, int count)
{
    char body[BODY];
    int at = snprintf(body, sizeof body,
                      "{\"stepSize\":0.05,\"scheme\":{\"type\":\"Jacobi\"},"
                      "\"participants\":[");
    for (int i = 0; i < count; i++) {
        char path[64];
        (void)snprintf(path, sizeof path, "/v1/instances/of%d-%d", count, i);
        served_expect(&s->server, "PUT", path, model, 201);
        at += snprintf(body + at, sizeof body - (size_t)at,
                       "%s{\"name\":\"p%d\",\"instance\":\"of%d-%d\"}", i > 0 ? "," : "", i, count,
                       i);
    }
    at += snprintf(body + at, sizeof body - (size_t)at, "],\"connections\":[");
    for (int i = 0; i < count; i++) {
        at += snprintf(body + at, sizeof body - (size_t)at,
                       "%s{\"from\":\"p%d.p[0]\",\"to\":\"p%d.F\",\"factor\":100}",
                       i > 0 ? "," : "", i, (i + 1) % count);
    }
    (void)snprintf(body + at, sizeof body - (size_t)at, "]}");
    served_couple(&s->server, body, s->path[count]);
}

static void start(struct side *s, const char *workers)
{
    const char *const more[] = {"--workers", workers, NULL};
    served_mechd(&s->server, more);
    for (int count = 2; count <= MOST; count++) {
        couple(s, count);
    }
}

struct row {
    const struct side *side;
    int count;
};

static void windows(void *row, uint64_t count)
{
    const struct row *const r = row;
    char body[32];
    (void)snprintf(body, sizeof body, "{\"count\":%llu}", (unsigned long long)count);
    served_expect(&r->side->server, "POST", r->side->path[r->count], body, 200);
}

int main(int argc, char **argv)
{
    static struct side one, two;
    bench_begin("service-couple", argc, argv);
    bench_time_by(wall); // from here on what is started may use all cores
    start(&one, "1");
    start(&two, "2");
    for (int count = 2; count <= MOST; count++) {
        struct row ours = {&two, count}, bare = {&one, count};
        char what[64];
        (void)snprintf(what, sizeof what, "window, %d long participants, 2 workers / 1", count);
        bench_beside(bench_text(what), windows, &ours, windows, &bare);
    }
    served_stop(&two.server);
    served_stop(&one.server);
    return bench_end();
}
