/* Reference results of an FMU: what its outputs are when it is stepped from its start without any
 * input set, so that its importer can check that it runs there as it does here. In the
 * archive they are described as the layered standard FMI-LS-REF 1.0 has it (related files with
 * their roles).
 */
#pragma once

#include "protocol/fmi/layout.h"
#include "protocol/wire/text.h"

enum {
    MECHP_FMI_RESULT_STEPS = 100, /* communication steps, of ten steps of the solver each */
    MECHP_FMI_RESULT_MOST = 1000, /* coordinates beyond which there are none: they take time */
    /* iterations of Newton's method and of contacts, times coordinates, after which rows end */
    MECHP_FMI_RESULT_WORK = 5000000
};

/* Append rows of comma-separated values: names, then time and each element of all outputs at the
 * start and after every step, up to the first that fails, or with which the work is above
 * MECHP_FMI_RESULT_WORK: the same rows on every machine. Nothing is appended for a model that is
 * too large or has no outputs. The simulation is in its present state again afterwards. 0;
 * MECH_NO_MEMORY; MECH_MISMATCH: it cannot be restored; MECH_CANCELLED: its interrupt asked. */
int mechp_fmi_results(enum mechp_fmi_version version, struct mech_sim *sim, struct mechp_text *w);

/* Append the manifest of the folder extra/org.fmi-standard.fmi-ls-ref, in which these are
 * results.csv. */
void mechp_fmi_results_manifest(struct mechp_text *w);
