/* Actions a second of MuJoCo alone, through its C interface on one thread: COUNT copies of the
 * double pendulum of server/examples (two bars of 1 m and 1 kg, hinges, a torque at the first), an
 * action of which lasts 10 steps of 1 ms by its default integrator.
 *
 *     peer-envs COUNT ACTIONS       prints actions of a copy a second
 *     peer-envs --version           prints that of MuJoCo
 *
 * tests/bench/peer_envs.py runs it beside mechd.envs. */
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 10, SEEN = 4 };

/* inertia of a bar about its middle: m L^2 / 12 */
static const char text[] =
    "<mujoco><option timestep=\"0.001\" gravity=\"0 -9.81 0\"><flag contact=\"disable\"/></option>"
    "<worldbody><body><joint name=\"hinge\" type=\"hinge\" axis=\"0 0 1\"/><inertial pos=\"0.5 0 "
    "0\""
    " mass=\"1\" diaginertia=\"0.083333 0.083333 0.083333\"/><body pos=\"1 0 0\"><joint "
    "type=\"hinge\""
    " axis=\"0 0 1\"/><inertial pos=\"0.5 0 0\" mass=\"1\" diaginertia=\"0.083333 0.083333 "
    "0.083333\"/>"
    "</body></body></worldbody><actuator><motor joint=\"hinge\"/></actuator></mujoco>";

static mjModel *load(void)
{
    char path[] = "/tmp/bench-envs-XXXXXX", error[300] = "";
    const int fd = mkstemp(path);
    FILE *const f = fd >= 0 ? fdopen(fd, "w") : NULL;
    mjModel *model = NULL;

    if (f) {
        (void)fputs(text, f);
        model = fclose(f) == 0 ? mj_loadXML(path, NULL, error, sizeof error) : NULL;
        (void)unlink(path);
    }
    if (!model) {
        (void)fprintf(stderr, "no model of the peer: %s\n", error);
        exit(2);
    }
    return model;
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    const long count = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
    const long actions = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        (void)puts(mj_versionString());
        return 0;
    }
    if (count < 1 || count > 10000 || actions < 1) {
        (void)fputs("peer-envs COUNT ACTIONS | --version\n", stderr);
        return 2;
    }
    mjModel *const model = load();
    mjData **const copies = calloc((size_t)count, sizeof *copies);
    double *const seen = calloc((size_t)count * SEEN, sizeof *seen);
    for (long k = 0; copies && k < count; k++) {
        copies[k] = mj_makeData(model);
    }
    if (!copies || !seen) {
        return 2;
    }

    // the observation of an action is copied, as an environment returns it
    const double begin = now();
    for (long a = 0; a < actions; a++) {
        for (long k = 0; k < count; k++) {
            mjData *const d = copies[k];
            d->ctrl[0] = sin((double)(a + k));
            for (int s = 0; s < STEPS; s++) {
                mj_step(model, d);
            }
            for (int j = 0; j < 2; j++) {
                seen[k * SEEN + j] = d->qpos[j];
                seen[k * SEEN + 2 + j] = d->qvel[j];
            }
        }
    }
    const double took = now() - begin;

    printf("%.6g\n", (double)count * (double)actions / took);
    for (long k = 0; k < count; k++) {
        mj_deleteData(copies[k]);
    }
    mj_deleteModel(model);
    free(copies);
    free(seen);
    return 0;
}
