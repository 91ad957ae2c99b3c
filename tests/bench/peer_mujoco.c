/* The chain of links in space in MuJoCo (minimal coordinates, Euler's semi-implicit steps), through
 * its C interface; measured beside ours where the library is installed. */
#define _GNU_SOURCE /* mkstemp */
#include "tests/bench/peer_mujoco.h"

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct peer_chain {
    mjModel *model;
    mjData *data;
    uint64_t done;
};

static void links(FILE *f, int n)
{
    (void)fputs("<mujoco><option timestep=\"0.001\" gravity=\"0 0 -9.81\"><flag contact=\"disable\""
                " constraint=\"disable\"/></option><size njmax=\"0\" nconmax=\"0\"/><worldbody>",
                f);
    for (int i = 0; i < n; i++) {
        (void)fprintf(f,
                      "<body pos=\"%d 0 0\"><joint type=\"hinge\" axis=\"%s\"/><inertial pos="
                      "\"0.5 0 0\" mass=\"1\" diaginertia=\"0.01 0.0833 0.0833\"/>",
                      i ? 1 : 0, i % 2 ? "0 0 1" : "0 1 0");
    }
    for (int i = 0; i < n; i++) {
        (void)fputs("</body>", f);
    }
    (void)fputs("</worldbody></mujoco>", f);
}

void peer_chain_destroy(struct peer_chain *c)
{
    if (c) {
        mj_deleteData(c->data);
        mj_deleteModel(c->model);
        free(c);
    }
}

struct peer_chain *peer_chain_create(int n)
{
    char path[] = "/tmp/bench-chain-XXXXXX", error[300] = "";
    struct peer_chain *const c = calloc(1, sizeof *c);
    const int fd = mkstemp(path);
    FILE *const f = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (!c || !f) {
        exit(2);
    }
    links(f, n);
    if (fclose(f) == 0) {
        c->model = mj_loadXML(path, NULL, error, sizeof error);
    }
    (void)unlink(path);
    c->data = c->model ? mj_makeData(c->model) : NULL;
    if (!c->data) {
        (void)fprintf(stderr, "no chain of %d links of the peer: %s\n", n, error);
        peer_chain_destroy(c);
        return NULL;
    }
    return c;
}

void peer_chain_step(void *chain, uint64_t count)
{
    struct peer_chain *const c = chain;

    for (uint64_t i = 0; i < count; i++) {
        if (c->done++ % 1000 == 0) {
            mj_resetData(c->model, c->data);
        }
        mj_step(c->model, c->data);
    }
}
