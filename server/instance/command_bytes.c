/* Packing and replaying of step commands. */
#include "server/instance/command_bytes.h"
#include "solver/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { CHECKSUM = sizeof(uint64_t) };

struct packer {
    unsigned char *at; /* NULL: only counted */
    size_t n;
};

static void put(struct packer *p, const void *from, size_t size)
{
    if (p->at != NULL && size > 0) {
        memcpy(p->at + p->n, from, size);
    }
    p->n += size;
}

static void put_i32(struct packer *p, int32_t value)
{
    put(p, &value, sizeof value);
}

static size_t input_size(const struct mechd_engine *e, int32_t index)
{
    struct mech_variable v;
    mechd_engine_variable(e, MECH_INPUT, (size_t)index, &v);
    return (size_t)v.size;
}

static void pack(const struct mechd_engine *e, const struct mech_step_request *r, struct packer *p)
{
    const uint64_t checksum = 0; // once all is there
    const uint8_t kind = (uint8_t)r->kind;
    put(p, &checksum, CHECKSUM);
    put(p, &kind, 1);
    put(p, &r->count, sizeof r->count);
    put(p, r->kind == MECH_STEP_UNTIL ? &r->until : &r->size, sizeof r->size);
    put_i32(p, (int32_t)r->input_count);
    put_i32(p, (int32_t)r->force_count);
    for (size_t k = 0; k < r->input_count; k++) {
        const struct mech_input_change *const in = &r->inputs[k];
        const size_t size = input_size(e, in->index) * sizeof(double);
        put_i32(p, in->index);
        put_i32(p, in->values != NULL ? in->order : -1);
        if (in->values != NULL) {
            put(p, in->values, size);
            put(p, in->derivatives, in->order > 0 ? (size_t)in->order * size : 0);
        }
    }
    for (size_t k = 0; k < r->force_count; k++) {
        put_i32(p, r->forces[k].marker);
        put(p, r->forces[k].values, sizeof r->forces[k].values);
    }
}

unsigned char *mechd_command_bytes(const struct mechd_engine *e, const struct mech_step_request *r,
                                   size_t *size)
{
    struct packer p = {.at = NULL};
    pack(e, r, &p);
    unsigned char *const bytes = malloc(p.n);
    *size = p.n;
    if (bytes != NULL) {
        p = (struct packer){.at = bytes};
        pack(e, r, &p);
        mechd_command_seal(bytes, p.n);
    }
    return bytes;
}

static uint64_t checksum_of(const unsigned char *bytes, size_t size)
{
    return mech_hash(bytes + CHECKSUM, size - CHECKSUM, 0);
}

void mechd_command_seal(void *bytes, size_t size)
{
    const uint64_t checksum = checksum_of(bytes, size);
    memcpy(bytes, &checksum, CHECKSUM);
}

struct unpacker {
    const unsigned char *at;
    size_t left;
    bool short_of;
};

static void get(struct unpacker *u, void *to, size_t size)
{
    if (u->left < size) {
        u->short_of = true;
        memset(to, 0, size);
        return;
    }
    memcpy(to, u->at, size);
    u->at += size;
    u->left -= size;
}

static int32_t get_i32(struct unpacker *u)
{
    int32_t value = 0;
    get(u, &value, sizeof value);
    return value;
}

/* One input; its numbers go to *numbers, which moves on. */
static bool get_input(const struct mechd_engine *e, struct unpacker *u,
                      struct mech_input_change *in, double **numbers)
{
    const int32_t index = get_i32(u);
    const int32_t order = get_i32(u);
    *in = (struct mech_input_change){.index = index};
    if (u->short_of || index < 0 || order < -1 || order > 2 ||
        (size_t)index >= mechd_engine_variable_count(e, MECH_INPUT)) {
        return false;
    }
    if (order >= 0) {
        const size_t size = input_size(e, index);
        get(u, *numbers, (size_t)(1 + order) * size * sizeof(double));
        in->order = order;
        in->values = *numbers;
        in->derivatives = *numbers + size;
        *numbers += (size_t)(1 + order) * size;
    }
    return !u->short_of;
}

static int step(const struct mechd_engine *e, const struct mech_step_request *r)
{
    struct mech_step_report report;
    bool done = false;
    int outcome = mechd_engine_step_begin(e, r, &report);
    while (outcome == 0 && !done) {
        outcome = mechd_engine_step_advance(e, UINT64_MAX, &done);
    }
    if (outcome == 0) {
        mechd_engine_step_finish(e);
    }
    return outcome;
}

int mechd_command_replay(const struct mechd_engine *e, const void *bytes, size_t size)
{
    struct unpacker u = {.at = bytes, .left = size};
    struct mech_step_request r = {.kind = MECH_STEP_SIZE};
    uint64_t checksum = 0;
    uint8_t kind = 0;
    get(&u, &checksum, CHECKSUM);
    if (u.short_of || checksum != checksum_of(bytes, size)) {
        return MECH_MISMATCH;
    }
    get(&u, &kind, 1);
    get(&u, &r.count, sizeof r.count);
    get(&u, &r.size, sizeof r.size);
    r.until = r.size;
    const int32_t inputs = get_i32(&u), forces = get_i32(&u);
    if (u.short_of || kind > MECH_STEP_COUNT || inputs < 0 || forces < 0 || (size_t)inputs > size ||
        (size_t)forces > size) {
        return MECH_MISMATCH;
    }
    r.kind = (enum mech_step_kind)kind;

    // numbers are at most as many as there are bytes
    struct mech_input_change *const changes = calloc((size_t)inputs + 1, sizeof *changes);
    struct mech_marker_force *const pushes = calloc((size_t)forces + 1, sizeof *pushes);
    double *const numbers = malloc(size + sizeof *numbers);
    double *next = numbers;
    int outcome = changes != NULL && pushes != NULL && numbers != NULL ? 0 : MECH_NO_MEMORY;
    for (int32_t k = 0; outcome == 0 && k < inputs; k++) {
        outcome = get_input(e, &u, &changes[k], &next) ? 0 : MECH_MISMATCH;
    }
    for (int32_t k = 0; outcome == 0 && k < forces; k++) {
        pushes[k].marker = get_i32(&u);
        get(&u, pushes[k].values, sizeof pushes[k].values);
    }
    if (outcome == 0 && (u.short_of || u.left > 0)) {
        outcome = MECH_MISMATCH;
    }
    if (outcome == 0) {
        r.inputs = changes;
        r.input_count = (size_t)inputs;
        r.forces = pushes;
        r.force_count = (size_t)forces;
        outcome = step(e, &r);
    }
    free(changes);
    free(pushes);
    free(numbers);
    return outcome;
}
