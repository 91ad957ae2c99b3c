/* Models of chains.h. */
#include "tests/bench/chains.h"

#include "protocol/bind/bind.h"
#include "tests/bench/scenes.h"

#include <stdio.h>
#include <stdlib.h>

/* Longer texts make documents beyond the bound of mechp_bind_read. */
static const size_t text_most = 100u << 20;

static void comma(FILE *f, int i)
{
    (void)fputs(i ? "," : "", f);
}

/* --- links ------------------------------------------------------------------------------------ */

static void link_bodies(FILE *f, int n, bool plane)
{
    (void)fputs("\"nodes\":[", f);
    for (int i = 0; i < n; i++) {
        comma(f, i);
        (void)fprintf(
            f, "{\"name\":\"n%d\",\"type\":\"%s\",\"referenceCoordinates\":[%.17g,0,0%s]}", i,
            plane ? "NodeRigidBody2D" : "NodeRigidBodyEP", i + 0.5, plane ? "" : ",1,0,0,0");
    }
    (void)fputs("],\"objects\":[{\"name\":\"g\",\"type\":\"Ground\"}", f);
    for (int i = 0; i < n; i++) {
        (void)fprintf(f,
                      ",{\"name\":\"b%d\",\"type\":\"RigidBody%s\",\"node\":\"n%d\","
                      "\"physicsMass\":1,\"physicsInertia\":%s}",
                      i, plane ? "2D" : "", i, plane ? "0.0833" : "[0.01,0.0833,0.0833,0,0,0]");
    }
}

static void link_joints(FILE *f, int n, bool plane)
{
    static const char about_y[] = ",\"rotationMarker0\":[[1,0,0],[0,0,1],[0,-1,0]],"
                                  "\"rotationMarker1\":[[1,0,0],[0,0,1],[0,-1,0]]";

    for (int i = 0; i < n; i++) {
        (void)fprintf(f, ",{\"name\":\"j%d\",\"type\":\"%s\",\"markers\":[\"e%d\",\"s%d\"]%s}", i,
                      plane ? "RevoluteJoint2D" : "RevoluteJointZ", i, i,
                      plane || i % 2 ? "" : about_y);
    }
    (void)fputs("],\"markers\":[", f);
    for (int i = 0; i < n; i++) {
        comma(f, i);
        if (i == 0) {
            (void)fputs("{\"name\":\"e0\",\"type\":\"MarkerBodyRigid\",\"object\":\"g\"}", f);
        } else {
            (void)fprintf(f,
                          "{\"name\":\"e%d\",\"type\":\"MarkerBodyRigid\",\"object\":\"b%d\","
                          "\"localPosition\":[0.5,0,0]}",
                          i, i - 1);
        }
        (void)fprintf(f,
                      ",{\"name\":\"s%d\",\"type\":\"MarkerBodyRigid\",\"object\":\"b%d\","
                      "\"localPosition\":[-0.5,0,0]}",
                      i, i);
    }
    (void)fprintf(f, "],\"gravity\":[0,%s],", plane ? "-9.81,0" : "0,-9.81");
}

/* --- items ------------------------------------------------------------------------------------ */

static void items(FILE *f, int n, bool formula)
{
    (void)fputs("\"nodes\":[", f);
    for (int i = 0; i < n; i++) {
        comma(f, i);
        (void)fprintf(f, "{\"name\":\"n%d\",\"type\":\"Node1D\",\"initialVelocities\":[%g]}", i,
                      1e-3 * (i % 5 - 2));
    }
    (void)fputs("],\"objects\":[", f);
    for (int i = 0; i < n; i++) {
        comma(f, i);
        (void)fprintf(f,
                      "{\"name\":\"m%d\",\"type\":\"Mass1D\",\"node\":\"n%d\","
                      "\"physicsMass\":1},{\"name\":\"k%d\",\"type\":\"CoordinateSpringDamper\","
                      "\"markers\":[\"x%d\",\"x%d\"],\"stiffness\":1000,\"damping\":0.1%s}",
                      i, i, i, i, i + 1,
                      formula ? ",\"springForceUserFunction\":\"=k*u+0.1*k*u^3+d*v\"" : "");
    }
    (void)fputs("],\"markers\":[{\"name\":\"x0\",\"type\":\"MarkerGroundCoordinate\"}", f);
    for (int i = 0; i < n; i++) {
        (void)fprintf(f,
                      ",{\"name\":\"x%d\",\"type\":\"MarkerNodeCoordinate\",\"node\":\"n%d\","
                      "\"coordinate\":0}",
                      i + 1, i);
    }
    (void)fprintf(f,
                  "],\"loads\":[{\"name\":\"F\",\"type\":\"LoadCoordinate\",\"marker\":\"x%d\","
                  "\"load\":1}],",
                  n);
}

/* --- runs ------------------------------------------------------------------------------------- */

struct mech_document *chain_read(const char *text, size_t size)
{
    struct mech_document *document = NULL;
    struct mech_diag diag;
    json_t *const value = json_loadb(text, size, 0, NULL);

    mech_diag_init(&diag);
    if (value && size > text_most) {
        struct mech_path path = {.length = 0};

        if (mech_document_create(0, &document) ||
            mechp_bind_read_table(value, &mech_document_table, document, document, &path, &diag)) {
            exit(2);
        }
    } else if (value && mechp_bind_read(value, "", &diag, &document)) {
        document = NULL;
    }
    for (size_t i = 0; i < diag.count; i++) {
        (void)fprintf(stderr, "%s: %s\n", diag.entries[i].path, diag.entries[i].text);
    }
    mech_diag_fini(&diag);
    json_decref(value);
    return document;
}

struct chain *chain_create(enum chain_kind kind, int n, const char *linear)
{
    char settings[160];

    (void)snprintf(settings, sizeof settings,
                   "\"integrator\":\"GeneralizedAlpha\",\"stepSize\":0.001%s%s%s",
                   linear ? ",\"linear\":\"" : "", linear ? linear : "", linear ? "\"" : "");
    return chain_solved_by(kind, n, settings);
}

struct chain *chain_solved_by(enum chain_kind kind, int n, const char *settings)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const f = open_memstream(&text, &size);

    if (!f) {
        exit(2);
    }
    (void)fputs("{\"mechd\":1,", f);
    if (kind == CHAIN_PLANE || kind == CHAIN_SPACE) {
        link_bodies(f, n, kind == CHAIN_PLANE);
        link_joints(f, n, kind == CHAIN_PLANE);
    } else {
        items(f, n, kind == CHAIN_FORMULA);
    }
    (void)fprintf(f, "\"solver\":{%s}}", settings);
    if (fclose(f) != 0) {
        exit(2);
    }
    struct chain *const c = chain_of(chain_read(text, size), 1000);
    free(text);
    return c;
}

struct chain *chain_of(struct mech_document *document, uint64_t turn)
{
    struct chain *const c = calloc(1, sizeof *c);

    if (!c) {
        exit(2);
    }
    c->sim = scene_create(document);
    c->units = 1;
    c->turn = turn;
    c->start = malloc(mech_sim_saved_size(c->sim));
    if (!c->start) {
        exit(2);
    }
    mech_sim_save(c->sim, c->start);
    return c;
}

void chain_destroy(struct chain *c)
{
    mech_sim_destroy(c->sim);
    free(c->start);
    free(c);
}

void chain_step(void *chain, uint64_t count)
{
    struct chain *const c = chain;

    for (uint64_t left = count * c->units; left > 0;) {
        const uint64_t now = left < c->turn - c->done ? left : c->turn - c->done;
        const struct mech_step_request request = {.kind = MECH_STEP_COUNT, .count = now};
        struct mech_step_report report;

        if (mech_sim_step(c->sim, &request, &report) != 0) {
            (void)fprintf(stderr, "a step failed: %s\n", report.reason);
            exit(2);
        }
        c->steps += now;
        c->iterations += report.iterations;
        left -= now;
        c->done += now;
        if (c->done == c->turn) {
            c->done = 0;
            if (mech_sim_restore(c->sim, c->start) != 0) {
                exit(2);
            }
        }
    }
}
