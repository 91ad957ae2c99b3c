/* Bytes of a point: a head, the numbers, the state. The head's checksum is over all behind it. */
#include "server/engine/fmu_point.h"

#include "solver/base/err.h"
#include "solver/base/hash.h"

#include <stdlib.h>
#include <string.h>

struct head {
    char magic[8];
    uint64_t hash; /* of the archive */
    uint64_t check;
    double time;
    uint64_t steps, numbers, state, over;
};

static const char magic[8] = "mechfmu3";

size_t mechd_fmu_point_held(const struct mechd_fmu_channels *c)
{
    return c->size[MECH_INPUT] + c->size[MECH_PARAMETER] + c->count[MECH_INPUT];
}

int mechd_fmu_point_init(const struct mechd_fmu_channels *c, struct mechd_fmu_point *out)
{
    const size_t inputs = MECHD_FMU_INPUT_PARTS * c->size[MECH_INPUT];
    const size_t outputs = c->size[MECH_OUTPUT_VARIABLE];
    const size_t parameters = c->size[MECH_PARAMETER];
    *out = (struct mechd_fmu_point){.number_count = inputs + 2 * outputs + parameters +
                                                    mechd_fmu_point_held(c)};
    out->numbers = calloc(out->number_count + 1, sizeof *out->numbers);
    if (out->numbers == NULL) {
        return MECH_NO_MEMORY;
    }
    out->inputs = out->numbers;
    out->outputs = out->inputs + inputs;
    out->rates = out->outputs + outputs;
    out->parameters = out->rates + outputs;
    out->held = out->parameters + parameters;
    return 0;
}

void mechd_fmu_point_fini(struct mechd_fmu_point *p)
{
    free(p->numbers);
    free(p->state);
    *p = (struct mechd_fmu_point){.time = 0.};
}

void mechd_fmu_point_copy(const struct mechd_fmu_point *from, struct mechd_fmu_point *to)
{
    memcpy(to->numbers, from->numbers, from->number_count * sizeof *to->numbers);
    to->time = from->time;
    to->steps = from->steps;
    to->over = from->over;
}

void mechd_fmu_point_inputs(const struct mechd_fmu_point *p, const struct mechd_fmu_channels *c,
                            double time, double *out)
{
    const size_t n = c->size[MECH_INPUT];
    for (size_t k = 0; k < n; k++) {
        const double *const u = p->inputs + k;
        const double tau = time - u[MECHD_FMU_SINCE * n];
        out[k] = u[MECHD_FMU_VALUE * n] + tau * u[MECHD_FMU_RATE * n] +
                 0.5 * tau * tau * u[MECHD_FMU_SECOND * n];
    }
}

size_t mechd_fmu_point_size(const struct mechd_fmu_point *p, size_t most)
{
    return sizeof(struct head) + p->number_count * sizeof(double) + most;
}

size_t mechd_fmu_point_write(const struct mechd_fmu_point *p, uint64_t hash, void *bytes)
{
    const size_t numbers = p->number_count * sizeof(double);
    const size_t behind = numbers + p->state_size;
    char *const at = (char *)bytes + sizeof(struct head);
    struct head head = {.hash = hash,
                        .time = p->time,
                        .steps = p->steps,
                        .numbers = p->number_count,
                        .over = p->over,
                        .state = p->state_size};
    memcpy(head.magic, magic, sizeof magic);
    memcpy(at, p->numbers, numbers);
    if (p->state_size > 0) {
        memcpy(at + numbers, p->state, p->state_size);
    }
    head.check = mech_hash(at, behind, p->steps);
    memcpy(bytes, &head, sizeof head);
    return sizeof head + behind;
}

int mechd_fmu_point_read(struct mechd_fmu_point *p, uint64_t hash, const void *bytes, size_t size)
{
    struct head head;
    if (size < sizeof head) {
        return MECH_MISMATCH;
    }
    memcpy(&head, bytes, sizeof head);
    const size_t behind = size - sizeof head, numbers = p->number_count * sizeof(double);
    const char *const at = (const char *)bytes + sizeof head;
    if (memcmp(head.magic, magic, sizeof magic) != 0 || head.hash != hash ||
        head.numbers != p->number_count || behind < numbers || head.state != behind - numbers ||
        head.check != mech_hash(at, behind, head.steps)) {
        return MECH_MISMATCH;
    }
    unsigned char *const state = malloc((size_t)head.state + 1);
    if (state == NULL) {
        return MECH_NO_MEMORY;
    }
    memcpy(state, at + numbers, (size_t)head.state);
    memcpy(p->numbers, at, numbers);
    free(p->state);
    p->state = state;
    p->state_size = (size_t)head.state;
    p->time = head.time;
    p->steps = head.steps;
    p->over = head.over != 0;
    return 0;
}
