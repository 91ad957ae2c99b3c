/* The variables of an FMU that an instance shows: its numbers, as float64.
 *
 * Inputs and outputs are variables of that causality, scalars and arrays; parameters are scalars of
 * causality parameter that are not constant. Integers, booleans (0 and 1) and enumerations are
 * numbers too; an int64 beyond 2^53 is rounded. Texts, binaries and clocks are not shown. The size
 * of an array is that at the start values of structural parameters. Values of one causality are
 * packed in the order of the description.
 *
 * const once made; any thread. Source: FMI 3.0.2, sections 2.2.2 and 2.4.7. */
#pragma once

#include "server/engine/fmu_description.h"
#include "solver/sim/mech.h"

enum { MECHD_FMU_CAUSALITIES = MECH_PARAMETER + 1 };
enum { MECHD_FMU_VALUES_MOST = 1 << 20 /* numbers of all variables of one causality */ };

struct mechd_fmu_channel {
    struct mech_variable v;
    const struct mechd_fmu_variable *of;
};

struct mechd_fmu_channels {
    struct mechd_fmu_channel *at[MECHD_FMU_CAUSALITIES]; /* [count] by enum mech_causality */
    size_t count[MECHD_FMU_CAUSALITIES];
    size_t size[MECHD_FMU_CAUSALITIES]; /* numbers, packed */
};

/* Of a description, which must outlive them. 0; MECH_NO_MEMORY; MECH_UNSUPPORTED: too many numbers,
 * or an array whose size is not known (diag). */
int mechd_fmu_channels_make(const struct mechd_fmu_description *d, struct mechd_fmu_channels *out,
                            struct mech_diag *diag);
void mechd_fmu_channels_fini(struct mechd_fmu_channels *c);

/* Whether a variable is one of those. */
bool mechd_fmu_variable_shown(const struct mechd_fmu_variable *v);

/* Index of that name, or -1. */
int32_t mechd_fmu_channels_find(const struct mechd_fmu_channels *c, enum mech_causality causality,
                                const char *name);

/* Start values of one causality, packed, into out [size]; 0 where the description has none. */
void mechd_fmu_channels_start(const struct mechd_fmu_channels *c, enum mech_causality causality,
                              double *out);

/* Whether the channel takes this value: finite, within its type and its limits. False: the reason
 * is a fault at `path`. */
bool mechd_fmu_channel_takes(const struct mechd_fmu_channel *c, double value, const char *path,
                             struct mech_diag *diag);

/* Whether it has derivatives: a continuous real one. */
bool mechd_fmu_channel_has_slopes(const struct mechd_fmu_channel *c);

/* Whether it is one that may be set or read within a step of 3.0 too. */
bool mechd_fmu_channel_is_within(const struct mechd_fmu_channel *c);

/* Numbers [n] as elements of a type, and back; `elements` at any address. */
void mechd_fmu_encode(enum mechd_fmu_type type, const double *values, size_t n, void *elements);
void mechd_fmu_decode(enum mechd_fmu_type type, const void *elements, size_t n, double *values);
/* Bytes of an element; 0: the type has no numbers. */
size_t mechd_fmu_element(enum mechd_fmu_type type);
