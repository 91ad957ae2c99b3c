/* A committed point of an instance of an FMU, or the end of a step: all that its next step reads.
 * owner: the engine. */
#pragma once

#include "server/engine/fmu_channels.h"

/* Packed numbers of inputs, each [size of all inputs]: u(t) = value + rate τ + second τ²/2 with τ =
 * t − since. */
enum { MECHD_FMU_VALUE, MECHD_FMU_RATE, MECHD_FMU_SECOND, MECHD_FMU_SINCE, MECHD_FMU_INPUT_PARTS };

struct mechd_fmu_point {
    double time; /* s */
    uint64_t steps;
    bool over;       /* the FMU has asked to end the simulation here */
    double *numbers; /* one block: inputs, outputs, rates, parameters, held */
    double *inputs;  /* [MECHD_FMU_INPUT_PARTS × inputs] */
    double *outputs, *parameters;
    double *rates; /* [outputs] their derivatives by time at the end of a step; NaN: not known */
    /* [mechd_fmu_point_held] what the FMU itself has there, as part of its state: values of inputs
     * and parameters, NaN where they are not known; of each input how many derivatives (2.0) */
    double *held;
    size_t number_count;
    unsigned char *state; /* [state_size] of the FMU, or NULL: it saves none */
    size_t state_size;
};

size_t mechd_fmu_point_held(const struct mechd_fmu_channels *c);
/* Room for the numbers of these channels. 0; MECH_NO_MEMORY. */
int mechd_fmu_point_init(const struct mechd_fmu_channels *c, struct mechd_fmu_point *out);
void mechd_fmu_point_fini(struct mechd_fmu_point *p);
/* Numbers, time and steps of another point of the same channels; the state of `to` stays. */
void mechd_fmu_point_copy(const struct mechd_fmu_point *from, struct mechd_fmu_point *to);

/* Inputs [size of all inputs] at a time. */
void mechd_fmu_point_inputs(const struct mechd_fmu_point *p, const struct mechd_fmu_channels *c,
                            double time, double *out);

/* As bytes, with the hash of the archive: a point with a state of at most `most` bytes takes
 * mechd_fmu_point_size. Read: 0; MECH_MISMATCH: bytes of another FMU, or damaged, and the point is
 * as before; MECH_NO_MEMORY. */
size_t mechd_fmu_point_size(const struct mechd_fmu_point *p, size_t most);
size_t mechd_fmu_point_write(const struct mechd_fmu_point *p, uint64_t hash, void *bytes);
int mechd_fmu_point_read(struct mechd_fmu_point *p, uint64_t hash, const void *bytes, size_t size);
