/* mechctl outputs: names, values and units of an instance's outputs. */
#include "clients/cli/cli.h"

const struct mechctl_command mechctl_outputs = {
    .name = "outputs",
    .group = MECHCTL_STEPS,
    .arguments = "ID",
    .summary = "print the outputs of an instance",
    .least = 1,
    .most = 1,
    .run = mechctl_run_values,
};
