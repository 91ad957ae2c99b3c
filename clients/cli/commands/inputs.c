/* mechctl inputs: names, values and units of an instance's inputs. */
#include "clients/cli/cli.h"

const struct mechctl_command mechctl_inputs = {
    .name = "inputs",
    .group = MECHCTL_STEPS,
    .arguments = "ID",
    .summary = "print the inputs of an instance",
    .least = 1,
    .most = 1,
    .run = mechctl_run_values,
};
