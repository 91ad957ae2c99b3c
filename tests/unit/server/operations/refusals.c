/* What an engine refuses is answered with its own reason, and leaves the instance as it was. A disk
 * turns; the marker on it is moved so far out that its speed at the initial turn rate overflows. */
#define _GNU_SOURCE /* memmem */
#include "server/instance/snapshots.h"
#include "tests/unit/server/local.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char disk[] =
    "{\"model\":{\"mechd\":1,\"nodes\":[{\"name\":\"n\",\"type\":\"NodeRigidBody2D\","
    "\"initialVelocities\":"
    "[0,0,1e10]}],\"objects\":[{\"name\":\"d\",\"type\":\"RigidBody2D\",\"node\":\"n\","
    "\"physicsMass\":1,\"physicsInertia\":1}],\"markers\":[{\"name\":\"rim\",\"type\":"
    "\"MarkerBodyPosition\",\"object\":\"d\",\"localPosition\":[1,0,0]}],\"sensors\":[{\"name\":"
    "\"speed\",\"type\":\"SensorMarker\",\"marker\":\"rim\",\"outputVariable\":\"Velocity\"}],"
    "\"outputs\":[{\"name\":\"speed\",\"sensor\":\"speed\"}],\"solver\":{\"integrator\":"
    "\"ExplicitEuler\",\"stepSize\":0.01}}}";

/* The answer to it, which has this status and this in its text. */
static void expect(struct mechd *d, struct local_request request, int status, const char *part)
{
    struct local_reply reply;
    CU_ASSERT_EQUAL_FATAL(local_call(d, &request, &reply), 0);
    const bool has =
        reply.text != NULL && memmem(reply.text, reply.size, part, strlen(part)) != NULL;
    if (reply.status != status || !has) {
        (void)fprintf(stderr, "%s %s: %d %.*s (not %d %s)\n", request.method, request.path,
                      reply.status, (int)reply.size, reply.text != NULL ? reply.text : "", status,
                      part);
    }
    CU_ASSERT_EQUAL(reply.status, status);
    CU_ASSERT(has);
    free(reply.text);
}

#define OF(rest) "/v1/instances/i-1" rest

static void starts_and_snapshots_that_cannot_be_shown_are_refused(void)
{
    struct mechd *const d = local_start(NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    expect(d, (struct local_request){"POST", "/v1/instances", disk, .scope = NULL}, 201, "i-1");
    expect(d, (struct local_request){.method = "POST", .path = OF("/snapshots")}, 201, "s-1");
    expect(d, (struct local_request){"PUT", OF("/state"), "{\"v\":[0,0,2]}", .scope = NULL}, 200,
           "");
    expect(d,
           (struct local_request){"PUT", OF("/objects/rim/fields/localPosition?category=markers"),
                                  "{\"value\":[1e305,0,0]}", .scope = NULL},
           200, "");
    expect(d, (struct local_request){.method = "POST", .path = OF("/snapshots/s-1/restore")}, 422,
           "with the fields that were changed after the snapshot: the output \\\"speed\\\" would "
           "be infinite");
    expect(d, (struct local_request){.method = "POST", .path = OF("/reset")}, 422,
           "the output \\\"speed\\\" would be infinite");
    // it has its state, and goes on from it
    expect(d, (struct local_request){.method = "GET", .path = OF("/outputs")}, 200, "2e+305");
    expect(d, (struct local_request){"POST", OF("/step"), "{\"count\":1}", .scope = NULL}, 200,
           "\"step\":1");
    CU_ASSERT(local_clear(d, 20000));
    local_stop(d);
}

static void a_checkpoint_needs_a_time_that_comes(void)
{
    struct mechd *const d = local_start(NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    for (int k = 0; k < 2; k++) {
        char text[128];
        (void)snprintf(text, sizeof text,
                       "{\"example\":\"mass1d\",\"durability\":{\"mode\":\"checkpoint\","
                       "\"seconds\":%s}}",
                       k == 0 ? "-1" : "1000001");
        expect(d, (struct local_request){"POST", "/v1/instances", text, .scope = NULL}, 422,
               "\"pointer\":\"/durability/seconds\"");
    }
    expect(d,
           (struct local_request){"POST", "/v1/instances",
                                  "{\"example\":\"mass1d\",\"durability\":{\"mode\":"
                                  "\"checkpoint\",\"steps\":0}}",
                                  .scope = NULL},
           422, "\"pointer\":\"/durability/steps\"");
    expect(d, (struct local_request){.method = "GET", .path = "/v1/instances"}, 200,
           "\"items\":[]");
    local_stop(d);
}

static void more_snapshots_than_may_be_are_refused(void)
{
    struct mechd *const d = local_start(NULL, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    expect(d, (struct local_request){"POST", "/v1/instances", disk, .scope = NULL}, 201, "i-1");
    for (int k = 1; k <= MECHD_SNAPSHOTS_MOST; k++) {
        CU_ASSERT_EQUAL(local_status(d, "POST", OF("/snapshots"), NULL), 201);
    }
    expect(d, (struct local_request){.method = "POST", .path = OF("/snapshots")}, 429,
           "at most 64 snapshots and ");
    // it is taken in the place of one that is deleted
    CU_ASSERT_EQUAL(local_status(d, "DELETE", OF("/snapshots/s-3"), NULL), 204);
    expect(d, (struct local_request){.method = "POST", .path = OF("/snapshots")}, 201, "\"s-65\"");
    CU_ASSERT(local_clear(d, 20000));
    local_stop(d);
}

UNIT_TESTS(UNIT_TEST(a_checkpoint_needs_a_time_that_comes),
           UNIT_TEST(more_snapshots_than_may_be_are_refused),
           UNIT_TEST(starts_and_snapshots_that_cannot_be_shown_are_refused))
