/* The functions of the FMI standards as tables: an importer walks one to look up what a library
 * exports, tests walk them to see that an FMU exports all of its kind and refuses what its state
 * does not allow.
 *
 *     for (const struct mechp_fmi_symbol *s = mechp_fmi3_symbols; s->name; s++) {
 *         void *const f = dlsym(library, s->name);
 *         memcpy((char *)&functions + s->offset, &f, sizeof f);
 *     }
 *
 * Constant data, for any thread. */
#pragma once

#include "protocol/fmi/fmi2.h"
#include "protocol/fmi/fmi3.h"

enum mechp_fmi_group {
    MECHP_FMI_COMMON,   /* every FMU has it */
    MECHP_FMI_EXCHANGE, /* FMUs for model exchange alone */
    MECHP_FMI_COSIM,    /* FMUs for co-simulation alone */
    MECHP_FMI_SCHEDULED /* 3.0: FMUs for scheduled execution alone */
};

struct mechp_fmi_symbol {
    const char *name; /* as exported: "fmi3DoStep"; NULL closes the table */
    size_t offset;    /* of its pointer in struct mechp_fmi2 or mechp_fmi3 */
    enum mechp_fmi_group group;
    unsigned states; /* in which it may be called in co-simulation, bits; 0: never */
};

extern const struct mechp_fmi_symbol mechp_fmi2_symbols[];
extern const struct mechp_fmi_symbol mechp_fmi3_symbols[];
