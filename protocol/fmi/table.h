/* resources/proxy.json of an FMU that connects to a server: what its binary, which has no reader of
 * models, needs to know of the model's variables.
 *
 *     {"token": "{…}", "version": 3, "server": "tcp://127.0.0.1:5558", "stepSize": 0.001,
 *      "inputs": [{"name": "force", "size": 1, "scalar": true, "start": [80]}], "outputs": […],
 *      "parameters": [{"name": "m", "start": [1.6]}],
 *      "variables": [{"name": "force", "reference": 1, "causality": 0, "variability": 0,
 *                     "channel": 0, "first": 0, "size": 1, "scalar": true}]}
 *
 * Channels are those of the model, in order, with their values in the present state of the
 * simulation, which is fresh; causality and variability are the numbers of enum
 * mech_causality and enum mechp_fmi_variability.
 */
#pragma once

#include "protocol/fmi/layout.h"
#include "protocol/wire/text.h"

/* Append it. server: the default of proxy:server. 0; MECH_NO_MEMORY. */
int mechp_fmi_table(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                    const char *token, const char *server, struct mechp_text *w);
