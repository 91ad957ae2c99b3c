/* The tables of the FMI standards' functions, from their lists. */
#include "protocol/fmi/symbols.h"

const struct mechp_fmi_symbol mechp_fmi2_symbols[] = {
#define MECHP_FMI2(group, states, type, name, arguments)                                           \
    {"fmi2" #name, offsetof(struct mechp_fmi2, name), MECHP_FMI_##group, (unsigned)(states)},
#include "protocol/fmi/fmi2.def"
#undef MECHP_FMI2
    {NULL, 0, MECHP_FMI_COMMON, 0},
};

const struct mechp_fmi_symbol mechp_fmi3_symbols[] = {
#define MECHP_FMI3(group, states, type, name, arguments)                                           \
    {"fmi3" #name, offsetof(struct mechp_fmi3, name), MECHP_FMI_##group, (unsigned)(states)},
#include "protocol/fmi/fmi3.def"
#undef MECHP_FMI3
    {NULL, 0, MECHP_FMI_COMMON, 0},
};
