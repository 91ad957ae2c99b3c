/* Inputs of an instance of an FMU that vary over a command: by the derivatives that they were set
 * with, and by signals (sim/mech.h). An FMU that can follow them has their courses with each step;
 * of one that cannot, or does not, inputs with derivatives hold their value at its start, which is
 * logged once, and signals are refused. owner: the instance's. */
#pragma once

#include "server/engine/fmu_instance.h"

/* Why the FMU does not follow an input, or samples of it, within its steps; NULL: it does. */
const char *mechd_fmu_unfollowed(const struct mechd_fmu_session *s,
                                 const struct mechd_fmu_channel *input, bool sampled);

/* What is held of them, zeroed. 0; MECH_NO_MEMORY. Fini in any case. */
int mechd_fmu_follow_init(struct mechd_fmu_instance *f);
void mechd_fmu_follow_fini(struct mechd_fmu_instance *f);

/* The signals of a command that has been accepted, in place of those of the last one. */
void mechd_fmu_follow_begin(struct mechd_fmu_instance *f, const struct mech_input_change *inputs,
                            size_t count);
/* Inputs with signals hold, in f->end, their values at a time. */
void mechd_fmu_follow_hold(struct mechd_fmu_instance *f, double time);
/* Before a step from `time` on: the process has the courses of all inputs that vary from there. */
int mechd_fmu_follow_send(struct mechd_fmu_instance *f, double time, double size);
