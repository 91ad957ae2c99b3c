/* Questions about variables that need no simulation. */
#include "protocol/fmi/layout.h"

#include <stdlib.h>

static int by_reference(const void *a, const void *b)
{
    const uint32_t x = ((const struct mechp_fmi_variable *)a)->reference;
    const uint32_t y = ((const struct mechp_fmi_variable *)b)->reference;

    return (x > y) - (x < y);
}

const struct mechp_fmi_variable *mechp_fmi_layout_find(const struct mechp_fmi_layout *layout,
                                                       uint32_t reference)
{
    const struct mechp_fmi_variable key = {.reference = reference};

    return bsearch(&key, layout->at, layout->n, sizeof key, by_reference);
}

bool mechp_fmi_has_update(const struct mechp_fmi_variable *v)
{
    return v->causality == MECH_OUTPUT_VARIABLE ||
           (v->causality == MECH_INPUT && v->variability == MECHP_FMI_CONTINUOUS);
}
