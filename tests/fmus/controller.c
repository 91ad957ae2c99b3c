/* An FMU of the tests, for co-simulation by FMI 2.0 and 3.0: y = gain (u + x), and x grows by u h
 * in a step of h: with derivatives of u by its integral (2.0), with intermediate update by four
 * parts, in the middle of each of which u may be set, and behind which y may be read (3.0). What it
 * does instead is asked for by the parameter "mood".
 *
 * Value references: 0 time, 1 u, 2 y, 3 gain (which is not negative), 4 on (boolean; false: y = 0),
 * 5 mood (Int32), 6 how often u has been set. */
#define _GNU_SOURCE
#include "tests/fmus/controller.h"
#include "protocol/fmi/fmi2.h"
#include "protocol/fmi/fmi3.h"
#include "server/engine/fmu_verbs.h"
#include "tests/fmus/states.h"

#include <fcntl.h>
#include <float.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

#define MECHP_FMI2(group, states, type, name, arguments) EXPORTED type fmi2##name arguments;
#include "protocol/fmi/fmi2.def"
#undef MECHP_FMI2
#define MECHP_FMI3(group, states, type, name, arguments) EXPORTED type fmi3##name arguments;
#include "protocol/fmi/fmi3.def"
#undef MECHP_FMI3

struct component {
    double time, u, gain, x, sets, rates[2];
    bool on, returns_early, updates, hides; /* hides: y within a step */
    bool returned;                          /* early from this step */
    int mood;
    mechp_fmi3_log *log;
    mechp_fmi3_intermediate *update;
    void *environment;
};

static struct component *make(void)
{
    struct component *const c = calloc(1, sizeof *c);
    if (c != NULL) {
        c->gain = 1.;
        c->on = true;
    }
    return c;
}

static double *number(struct component *c, unsigned reference)
{
    return reference == 0   ? &c->time
           : reference == 1 ? &c->u
           : reference == 3 ? &c->gain
           : reference == 6 ? &c->sets
                            : NULL;
}

/* 0, or 3: an error. */
static int get(struct component *c, const unsigned vr[], size_t n, double values[])
{
    for (size_t k = 0; k < n; k++) {
        const double *const at = number(c, vr[k]);
        if (at == NULL && vr[k] != 2) {
            return MECHP_FMI3_ERROR;
        }
        values[k] = at != NULL ? *at : c->on ? c->gain * (c->u + c->x) : 0.;
    }
    return 0;
}

static int set(struct component *c, const unsigned vr[], size_t n, const double values[])
{
    for (size_t k = 0; k < n; k++) {
        double *const at = number(c, vr[k]);
        if (at == NULL || vr[k] == 0 || vr[k] == 6 || (vr[k] == 3 && values[k] < 0.)) {
            return MECHP_FMI3_ERROR;
        }
        *at = values[k];
        c->sets += vr[k] == 1;
    }
    return 0;
}

/* What is refused to it is an error of the step, and what is not refused is none. */
static bool can_reach_out(int mood)
{
    static const char path[] = "/tmp/mechd-tests-fmu-was-here";
    switch (mood) {
    case CONTROLLER_WRITES:
        return open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) >= 0;
    case CONTROLLER_READS:
        return open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0;
    case CONTROLLER_FORKS:
        return fork() >= 0;
    case CONTROLLER_CONNECTS:
        return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0;
    case CONTROLLER_GROWS:
        return mmap(NULL, (size_t)100 << 30, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
    default:
        return true;
    }
}

/* A message as those of its process (server/engine/fmu_pipe.h), with so much of the answer to a
 * step that it has reached a time: the FMU does not want to end, and there was no event but one of
 * no kind. */
static void forge(uint32_t verb, double reached, uint32_t size)
{
    const uint32_t head[] = {0x554d4631, verb, size}, rest[] = {0, 0, 1, 0, 0, 0, 0, 0};
    unsigned char bytes[sizeof head + sizeof reached + sizeof rest];
    memcpy(bytes, head, sizeof head);
    memcpy(bytes + sizeof head, &reached, sizeof reached);
    memcpy(bytes + sizeof head + sizeof reached, rest, sizeof rest);
    (void)!write(STDIN_FILENO, bytes, sizeof head + size);
}

/* A message, if messages are wanted. */
static void say(const struct component *c, const char *text)
{
    if (c->log != NULL) {
        c->log(c->environment, MECHP_FMI3_OK, "steps", text);
    }
}

static int step_in_parts(struct component *c, double time, double size)
{
    enum { PARTS = 4 };
    const bool logs = c->mood == CONTROLLER_LOGS;
    const bool waits =
        c->returns_early && (c->mood == CONTROLLER_WAITS || c->mood == CONTROLLER_IGNORES || logs);
    for (int k = 0; k < PARTS && !c->returned; k++) {
        bool early = false;
        double early_time = 0.;
        c->updates = true;
        c->update(c->environment, time + (k + 0.5) * size / PARTS, c->mood != CONTROLLER_QUIET,
                  true, false, c->returns_early, &early, &early_time);
        c->x += c->u * size / PARTS;
        do {
            if (logs) {
                say(c, "it waits");
            }
            c->update(c->environment,
                      time + (c->mood == CONTROLLER_STRAYS ? 2. : (k + 1.) / PARTS) * size, false,
                      true, true, c->returns_early, &early, &early_time);
        } while (waits && k == 0 && !early);
        c->updates = false;
        c->returned = waits && c->mood != CONTROLLER_IGNORES;
    }
    c->time = time + (c->returned ? size / PARTS : size);
    return 0;
}

static int step(struct component *c, double time, double size)
{
    volatile int forever = 1;
    switch (c->mood) {
    case CONTROLLER_CRASHES:
        (void)raise(SIGSEGV);
        return MECHP_FMI3_FATAL;
    case CONTROLLER_ABORTS:
        abort();
    case CONTROLLER_EXITS:
        exit(7);
    case CONTROLLER_LOOPS:
        while (forever) {
        }
        break;
    case CONTROLLER_LOGS:
        while (forever && c->update == NULL) {
            say(c, "it computes for ever");
        }
        break;
    case CONTROLLER_BABBLES:
        (void)!write(STDIN_FILENO, "what the daemon does not expect at all", 38);
        break;
    case CONTROLLER_FORGES:
        forge(MECHD_FMU_DONE, 0., 0);
        break;
    case CONTROLLER_FORGES_FAILURE:
        forge(MECHD_FMU_FAILED, 0., 0);
        break;
    case CONTROLLER_ANSWERS_TWICE:
        forge(MECHD_FMU_DONE, time + size, sizeof time + sizeof(uint32_t));
        break;
    case CONTROLLER_FORGES_EVENTS:
        forge(MECHD_FMU_DONE, time + size, sizeof time + 8 * sizeof(uint32_t));
        exit(7);
    case CONTROLLER_DISCARDS:
        return MECHP_FMI3_DISCARD;
    default:
        break;
    }
    if (!can_reach_out(c->mood)) {
        return MECHP_FMI3_ERROR;
    }
    say(c, "a step of the controller");
    if (c->update != NULL) {
        return step_in_parts(c, time, size);
    }
    c->x += size * (c->u + size * (c->rates[0] / 2. + size * c->rates[1] / 6.));
    c->u += size * (c->rates[0] + size * c->rates[1] / 2.);
    c->time = time + size;
    return 0;
}

/* Of y by u, with x held. */
static int derive(const struct component *c, unsigned unknown, unsigned known, double seed,
                  double *out)
{
    *out = c->on ? c->gain * seed : 0.;
    return unknown == 2 && known == 1 ? 0 : MECHP_FMI3_ERROR;
}

/* Of y, by time: x' = u. */
static int rates(const struct component *c, const unsigned vr[], size_t n, const int orders[],
                 double values[])
{
    for (size_t k = 0; k < n; k++) {
        if (orders[k] != 1 || (vr[k] != 2 && vr[k] != 6) || c->mood == CONTROLLER_SHORT) {
            return c->mood == CONTROLLER_SHORT ? MECHP_FMI3_DISCARD : MECHP_FMI3_ERROR;
        }
        values[k] = vr[k] == 2 && c->on ? c->gain * (c->rates[0] + c->u) : 0.;
    }
    return 0;
}

static int set_mood(struct component *c, const unsigned vr[], size_t n, const int values[])
{
    if (n != 1 || vr[0] != 5) {
        return MECHP_FMI3_ERROR;
    }
    c->mood = values[0];
    return 0;
}

/* --- 2.0 -------------------------------------------------------------------------------------- */

void *fmi2Instantiate(const char *name, enum mechp_fmi2_kind kind, const char *guid,
                      const char *resources, const struct mechp_fmi2_callbacks *callbacks,
                      int visible, int logging)
{
    callbacks->logger(callbacks->environment, name, MECHP_FMI2_OK, "life", "%s is made of %d", guid,
                      2);
    return strcmp(guid, CONTROLLER_TOKEN) == 0 ? make() : NULL;
}

void fmi2FreeInstance(void *c)
{
    free(c);
}

enum mechp_fmi2_status fmi2SetupExperiment(void *c, int has_tolerance, double tolerance,
                                           double start, int has_stop, double stop)
{
    ((struct component *)c)->time = start;
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2EnterInitializationMode(void *c)
{
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2ExitInitializationMode(void *c)
{
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2GetReal(void *c, const unsigned vr[], size_t n, double values[])
{
    return (enum mechp_fmi2_status)get(c, vr, n, values);
}

enum mechp_fmi2_status fmi2SetReal(void *c, const unsigned vr[], size_t n, const double values[])
{
    return (enum mechp_fmi2_status)set(c, vr, n, values);
}

enum mechp_fmi2_status fmi2SetRealInputDerivatives(void *c, const unsigned vr[], size_t n,
                                                   const int orders[], const double values[])
{
    if (n != 1 || vr[0] != 1 || orders[0] < 1 || orders[0] > 2) {
        return MECHP_FMI2_ERROR;
    }
    ((struct component *)c)->rates[orders[0] - 1] = values[0];
    return MECHP_FMI2_OK;
}

enum mechp_fmi2_status fmi2GetRealOutputDerivatives(void *c, const unsigned vr[], size_t n,
                                                    const int orders[], double values[])
{
    return (enum mechp_fmi2_status)rates(c, vr, n, orders, values);
}

enum mechp_fmi2_status fmi2SetInteger(void *c, const unsigned vr[], size_t n, const int values[])
{
    return (enum mechp_fmi2_status)set_mood(c, vr, n, values);
}

enum mechp_fmi2_status fmi2GetBoolean(void *c, const unsigned vr[], size_t n, int values[])
{
    values[0] = ((struct component *)c)->on ? 1 : 0;
    return vr[0] == 4 && n == 1 ? MECHP_FMI2_OK : MECHP_FMI2_ERROR;
}

enum mechp_fmi2_status fmi2SetBoolean(void *c, const unsigned vr[], size_t n, const int values[])
{
    ((struct component *)c)->on = values[0] != 0;
    return vr[0] == 4 && n == 1 ? MECHP_FMI2_OK : MECHP_FMI2_ERROR;
}

enum mechp_fmi2_status fmi2DoStep(void *c, double time, double size, int no_set_before)
{
    return (enum mechp_fmi2_status)step(c, time, size);
}

enum mechp_fmi2_status fmi2GetDirectionalDerivative(void *c, const unsigned unknown[],
                                                    size_t n_unknown, const unsigned known[],
                                                    size_t n_known, const double seed[],
                                                    double out[])
{
    return n_unknown != 1 || n_known != 1
               ? MECHP_FMI2_ERROR
               : (enum mechp_fmi2_status)derive(c, unknown[0], known[0], seed[0], out);
}

/* --- 3.0 -------------------------------------------------------------------------------------- */

void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources,
                                  bool visible, bool logging, bool event_mode, bool early_return,
                                  const uint32_t intermediate[], size_t n_intermediate,
                                  void *environment, mechp_fmi3_log *log,
                                  mechp_fmi3_intermediate *update)
{
    const bool good = strcmp(token, CONTROLLER_TOKEN) == 0 ||
                      (strcmp(token, CONTROLLER_EVENTLESS) == 0 && !event_mode) ||
                      (strcmp(token, CONTROLLER_UNNAMED) == 0 && n_intermediate == 0);
    struct component *const c = good ? make() : NULL;
    if (c != NULL) {
        c->log = logging ? log : NULL;
        // what may be set within its steps is named before
        c->update = n_intermediate > 0 && intermediate[0] == 1 ? update : NULL;
        c->hides = n_intermediate < 2 || intermediate[1] != 2;
        c->environment = environment;
        c->returns_early = early_return;
    }
    return c;
}

void fmi3FreeInstance(void *i)
{
    free(i);
}

enum mechp_fmi3_status fmi3EnterInitializationMode(void *i, bool has_tolerance, double tolerance,
                                                   double start, bool has_stop, double stop)
{
    ((struct component *)i)->time = start;
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3ExitInitializationMode(void *i)
{
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status fmi3GetFloat64(void *i, const uint32_t vr[], size_t n, double values[],
                                      size_t n_values)
{
    const struct component *const c = i;
    return n == n_values && !(c->updates && (c->hides || c->mood == CONTROLLER_HIDES))
               ? (enum mechp_fmi3_status)get(i, vr, n, values)
               : MECHP_FMI3_ERROR;
}

enum mechp_fmi3_status fmi3SetFloat64(void *i, const uint32_t vr[], size_t n, const double values[],
                                      size_t n_values)
{
    const struct component *const c = i;
    return n == n_values && !(c->updates && c->mood == CONTROLLER_KEEPS)
               ? (enum mechp_fmi3_status)set(i, vr, n, values)
               : MECHP_FMI3_ERROR;
}

enum mechp_fmi3_status fmi3SetInt32(void *i, const uint32_t vr[], size_t n, const int32_t values[],
                                    size_t n_values)
{
    return n == n_values ? (enum mechp_fmi3_status)set_mood(i, vr, n, values) : MECHP_FMI3_ERROR;
}

enum mechp_fmi3_status fmi3DoStep(void *i, double time, double size, bool no_set_before,
                                  bool *event, bool *terminate, bool *early, double *last)
{
    struct component *const c = i;
    const int mood = c->mood;
    const double next = (double)((long)(time / 0.25) + 1) * 0.25;
    *event = *early = false;
    if (mood == CONTROLLER_RETURNS && c->returns_early && next < time + size) {
        *early = true;
        size = next - time;
    }
    *terminate = mood == CONTROLLER_ENDS || mood == CONTROLLER_STOPS;
    // it has added up steps of its own, and is off by an ulp
    *last = mood == CONTROLLER_STOPS  ? time + 0.5 * size
            : mood == CONTROLLER_ENDS ? (time + size) * (1. + DBL_EPSILON)
                                      : time + size;
    c->returned = false;
    const enum mechp_fmi3_status status = (enum mechp_fmi3_status)step(i, time, size);
    if (c->returned) {
        *early = true;
        *last = c->time;
    }
    return status;
}

enum mechp_fmi3_status fmi3GetOutputDerivatives(void *i, const uint32_t vr[], size_t n,
                                                const int32_t orders[], double values[],
                                                size_t n_values)
{
    return n == n_values ? (enum mechp_fmi3_status)rates(i, vr, n, orders, values)
                         : MECHP_FMI3_ERROR;
}

enum mechp_fmi3_status fmi3GetDirectionalDerivative(void *i, const uint32_t unknowns[],
                                                    size_t n_unknowns, const uint32_t knowns[],
                                                    size_t n_knowns, const double seed[],
                                                    size_t n_seed, double out[], size_t n_out)
{
    return n_unknowns != 1 || n_knowns != 1 || n_seed != 1 || n_out != 1
               ? MECHP_FMI3_ERROR
               : (enum mechp_fmi3_status)derive(i, unknowns[0], knowns[0], seed[0], out);
}

enum mechp_fmi3_status fmi3GetAdjointDerivative(void *i, const uint32_t unknowns[],
                                                size_t n_unknowns, const uint32_t knowns[],
                                                size_t n_knowns, const double seed[], size_t n_seed,
                                                double out[], size_t n_out)
{
    // y alone depends on its one input
    if (n_knowns != 1 || knowns[0] != 1 || n_out != 1 || n_seed != n_unknowns) {
        return MECHP_FMI3_ERROR;
    }
    out[0] = 0.;
    for (size_t k = 0; k < n_unknowns; k++) {
        double part = 0.;
        if (unknowns[k] != 6 && derive(i, unknowns[k], 1, seed[k], &part) != 0) {
            return MECHP_FMI3_ERROR;
        }
        out[0] += part;
    }
    return MECHP_FMI3_OK;
}

/* A state is the component itself. */
STATES3(struct component)

enum mechp_fmi3_status fmi3SetFMUState(void *i, void *state)
{
    // the receiver of its log is of this process, and no part of a state
    struct component *const c = i;
    const struct component own = *c;
    memcpy(c, state, sizeof *c);
    c->log = own.log;
    c->update = own.update;
    c->environment = own.environment;
    return MECHP_FMI3_OK;
}
