/* modelDescription.xml of an FMU for co-simulation, from a model's variables: FMI 2.0.5, section
 * 2.2 and 4.3; FMI 3.0.2, sections 2.4 and 4.4. The same model gives the same bytes.
 *
 * Starts are the values in the present state of the simulation, which is fresh. Parameters, and
 * inputs that set them, have units, minimum and maximum where they are the whole value of a field
 * (layout.h), and the magnitude of their value in the model, if it is not 0, as the nominal one;
 * the model has none for others. Outputs of positions and velocities depend, at one time, on the
 * inputs alone that set parameters; of others the dependencies are not written, which says that
 * they may depend on all.
 */
#pragma once

#include "protocol/fmi/layout.h"
#include "protocol/wire/text.h"

/* What the FMU's binary can do: attributes of the element CoSimulation. */
struct mechp_fmi_abilities {
    bool state;            /* get and set the FMU's state */
    bool serialized_state; /* … as bytes too */
    bool directional_derivatives;
    bool adjoint_derivatives; /* 3.0 */
    bool variable_step;       /* communication steps of any size */
    bool input_derivatives;   /* 2.0: canInterpolateInputs */
    int output_derivatives;   /* highest order of derivatives of outputs */
    bool event_mode;          /* 3.0: has an event mode, may return early from a step */
    bool updates;             /* 3.0: intermediate update within a step */
};

struct mechp_fmi_about {
    const char *name;       /* of the model; NULL: "model" */
    const char *identifier; /* of the binary: its file without extension, a C identifier */
    const char *token;      /* mechp_fmi_layout_token */
    struct mechp_fmi_abilities can;
    /* paths of the files that are compiled, below sources, then NULL; NULL: there are none. 3.0 has
     * them in another file (sources.h) */
    const char *const *sources;
    const char *server; /* of an FMU that connects to one, which then has settings (settings.h): the
                           lane that is the default; NULL: it does not */
};

/* Append the document. 0; MECH_NO_MEMORY. */
int mechp_fmi_description(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                          const struct mechp_fmi_about *about, struct mechp_text *w);

/* Categories of the FMU's log, closed by NULL: names and descriptions. */
struct mechp_fmi_category {
    const char *name, *description;
};
extern const struct mechp_fmi_category mechp_fmi_categories[];
